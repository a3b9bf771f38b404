"""A person's query in each mode, judged by the order of their own profile.

The own profile is read for two ends only: mode `own`, and the gold standard by which all modes are
measured: its order alone, whatever the mix. The group's ranking is made without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.model import Profiles, Release, ReleasedRow
from index.model import Pool

from .engine import Engine, Ranking
from .errors import UsageError
from .evaluation import Precision, evaluate
from .newcomer import Newcomer

MODES = ("none", "own", "group")


@dataclass(frozen=True)
class Answer:
    """A ranking in one mode, and how close it comes to the gold standard if there is one."""

    mode: str
    ranking: Ranking
    precision: Precision | None
    row: str = ""  # the released row that served, in mode group
    users: int = 0  # how many people share that row
    cut: bool = False  # the query was longer than is searched


class Modes:
    """An engine with the profiles and the release of a workspace, or with a newcomer's."""

    def __init__(
        self,
        engine: Engine,
        profiles: Profiles | None,
        release: Release | None,
        newcomer: Newcomer | None = None,
    ):
        self.engine = engine
        self.profiles = profiles
        self.release = release
        self.newcomer = newcomer  # the one person in profiles, served without a release

    def answer(
        self,
        query: str,
        mode: str,
        user: str | None,
        *,
        pool: int,
        mix: float = 1.0,
        operators: bool = False,
    ) -> Answer:
        """Answer a query in one mode."""
        return self.answers(query, (mode,), user, pool=pool, mix=mix, operators=operators)[0]

    def answers(
        self,
        query: str,
        modes: Sequence[str],
        user: str | None,
        *,
        pool: int,
        mix: float = 1.0,
        operators: bool = False,
    ) -> list[Answer]:
        """Answer a query in several modes over one pool."""
        self.refuse(modes, user)
        found = self.engine.pool(query, pool, operators=operators)
        gold = None
        if user and self.profiles:
            gold = self.engine.by_profile(found, self.profiles.row(user))
        return [self._answer(mode, found, gold, user, mix) for mode in modes]

    def _answer(
        self, mode: str, pool: Pool, gold: Ranking | None, user: str | None, mix: float
    ) -> Answer:
        row = self.row_for(user) if mode == "group" else None
        if mode == "group" and row is None:
            mode = "none"
        if mode == "own" and mix == 1 and gold is not None:
            ranking = gold
        else:
            ranking = self.ranking(pool, mode, user, mix)
        precision = evaluate(ranking.plain_ranks, gold.plain_ranks) if gold is not None else None
        name, users = (row.name, row.users) if row else ("", 0)
        return Answer(mode, ranking, precision, name, users, pool.cut)

    def ranking(self, pool: Pool, mode: str, user: str | None, mix: float) -> Ranking:
        """Order a pool in one mode; where no row serves a newcomer, in the plain order."""
        if mode == "group" and (row := self.row_for(user)):
            return self.engine.by_row(pool, row, mix)
        if mode == "own" and self.profiles and user:
            return self.engine.by_profile(pool, self.profiles.row(user), mix)
        return self.engine.plain(pool)

    def row_for(self, user: str | None) -> ReleasedRow | None:
        """Return the released row that serves a person."""
        if self.newcomer:
            return self.newcomer.row
        return self.release.row_for(user) if self.release and user else None

    def usual_mode(self, user: str | None) -> str:
        """Return the mode in which a person is answered who names none."""
        if not user:
            return "none"
        return "group" if self.release or self.newcomer else "own"

    def refuse(self, modes: Sequence[str], user: str | None) -> None:
        """Refuse modes that can't be answered with what is here."""
        for mode in modes:
            if mode not in MODES:
                raise UsageError(f"mode={mode} must be one of {', '.join(MODES)}")
            if mode != "none" and not user:
                raise UsageError(f"mode {mode} needs a person; name one with --user or --newcomer")
        if "own" in modes and not self.profiles:
            raise UsageError("no profiles here; make them with: veilsearch profiles LOG")
        if "group" in modes and not (self.release or self.newcomer):
            raise UsageError(
                "no release here; make one with: veilsearch anonymize PROFILES -m p-linkability"
            )

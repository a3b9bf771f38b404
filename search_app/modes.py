"""A person's query in each mode, judged by the order of their own profile.

The own profile is read for two ends only: mode `own`, and the gold standard by which all modes are
measured: its order alone, whatever the mix. The group's ranking is made without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.model import Profiles, Release
from index.model import Pool

from .engine import Engine, Ranking
from .errors import UsageError
from .evaluation import Precision, evaluate

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
    """An engine with the profiles and the release of a workspace."""

    def __init__(self, engine: Engine, profiles: Profiles | None, release: Release | None):
        self.engine = engine
        self.profiles = profiles
        self.release = release

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
        name, users = "", 0
        if mode == "group" and self.release and user:
            row = self.release.row_for(user)
            name, users = row.name, row.users
        if mode == "own" and mix == 1 and gold is not None:
            ranking = gold
        else:
            ranking = self.ranking(pool, mode, user, mix)
        precision = evaluate(ranking.plain_ranks, gold.plain_ranks) if gold is not None else None
        return Answer(mode, ranking, precision, name, users, pool.cut)

    def ranking(self, pool: Pool, mode: str, user: str | None, mix: float) -> Ranking:
        """Order a pool in one mode."""
        if mode == "group" and self.release and user:
            return self.engine.by_row(pool, self.release.row_for(user), mix)
        if mode == "own" and self.profiles and user:
            return self.engine.by_profile(pool, self.profiles.row(user), mix)
        return self.engine.plain(pool)

    def usual_mode(self, user: str | None) -> str:
        """Return the mode in which a person is answered who names none."""
        if not user:
            return "none"
        return "group" if self.release else "own"

    def refuse(self, modes: Sequence[str], user: str | None) -> None:
        """Refuse modes that can't be answered with what is here."""
        for mode in modes:
            if mode not in MODES:
                raise UsageError(f"mode={mode} must be one of {', '.join(MODES)}")
            if mode != "none" and not user:
                raise UsageError(f"mode {mode} needs a person; name one with --user")
        if "own" in modes and not self.profiles:
            raise UsageError("no profiles here; make them with: veilsearch profiles LOG")
        if "group" in modes and not self.release:
            raise UsageError(
                "no release here; make one with: veilsearch anonymize PROFILES -m p-linkability"
            )

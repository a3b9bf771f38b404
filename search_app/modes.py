"""A person's query in each mode, judged by the order of their own profile.

The own profile is read for two ends only: mode `own`, and the gold standard by which all modes are
measured: its order alone, whatever the mix. The group's ranking is made without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from anonymizer.model import Profiles, Release, ReleasedRow
from index.model import Pool

from .engine import KEPT, Engine, Ranking
from .errors import UsageError
from .evaluation import Agreement, Precision, agreement, evaluate
from .newcomer import Newcomer
from .request import Request
from .smoothed_rows import SmoothedRows

MODES = ("none", "own", "group")
FURTHER = "group:"  # begins the modes of further releases: group:NAME


@dataclass(frozen=True)
class Answer:
    """A ranking in one mode, and how close it comes to the gold standard if there is one."""

    mode: str
    ranking: Ranking
    precision: Precision | None
    request: Request  # all that the engine was told
    cut: bool = False  # the query was longer than is searched
    gold: Ranking | None = None  # the order by the own profile, to judge by

    @cached_property
    def agreement(self) -> Agreement | None:
        """Return how far the whole ranking agrees with the gold standard if there is one."""
        if self.gold is None:
            return None
        return agreement(self.ranking.plain_ranks, self.gold.plain_ranks)

    @property
    def row(self) -> str:
        """Return the name of the released row that served, if one did."""
        return self.request.row.name if self.request.row else ""

    @property
    def users(self) -> int:
        """Return how many people that row stands for."""
        return self.request.row.users if self.request.row else 0

    @property
    def spare(self) -> bool:
        """Tell whether that row is no group's, but the mean of all groups'."""
        return self.request.row is not None and self.request.row.spare


def _nobody(_user: str) -> Mapping[str, float]:
    raise UsageError("no profiles here; make them with: veilsearch profiles LOG")


def _never() -> bool:
    return False


class Modes:
    """An engine with the profiles and releases of a workspace, or with a newcomer's."""

    def __init__(
        self,
        engine: Engine,
        profiles: Profiles | None,
        release: Release | None,
        newcomer: Newcomer | None = None,
        further: Mapping[str, Release] | None = None,
        smoothed: Mapping[str, SmoothedRows] | None = None,
    ):
        self.engine = engine
        self.profiles = profiles
        self.release = release
        self.newcomer = newcomer  # the one person in profiles, served without a release
        self.further = further or {}  # other releases of the same profiles, by name
        self.smoothed = smoothed or {}  # by mode: what its rows become before the engine gets one
        self.sealed: Callable[[], bool] = _never  # whether the mean of all rows serves nobody
        self._own = lru_cache(KEPT)(profiles.row) if profiles else _nobody

    @property
    def modes(self) -> tuple[str, ...]:
        """Return every mode that can be answered here, further releases last."""
        able = (True, self.profiles is not None, bool(self.release or self.newcomer))
        known = tuple(mode for mode, can in zip(MODES, able, strict=True) if can)
        return known + tuple(f"{FURTHER}{name}" for name in self.further)

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
        plain = Request(query, pool, operators, mix)
        found = self.engine.pool(plain.query, plain.pool, operators=plain.operators)
        own = self._own(user) if user and self.profiles else None
        gold = self.engine.by_profile(found, own) if own is not None else None
        return [self._answer(mode, found, gold, user, plain) for mode in modes]

    def _answer(
        self, mode: str, pool: Pool, gold: Ranking | None, user: str | None, plain: Request
    ) -> Answer:
        request = self.request(plain, mode, user)
        if request.profile is not None and request.mix == 1 and gold is not None:
            ranking = gold
        else:
            ranking = self.engine.rank(pool, request)
        precision = evaluate(ranking.plain_ranks, gold.plain_ranks) if gold is not None else None
        served = mode if mode in ("none", "own") or request.row else "none"
        return Answer(served, ranking, precision, request, pool.cut, gold)

    def request(self, plain: Request, mode: str, user: str | None) -> Request:
        """Return what the engine is told in one mode; where no row serves, the plain request."""
        if mode == "own" and self.profiles and user:
            return replace(plain, profile=self._own(user))
        if mode not in ("none", "own") and (row := self.row_for(user, mode)):
            return self.by_row(plain, mode, row)
        return plain

    def by_row(self, plain: Request, mode: str, row: ReleasedRow) -> Request:
        """Return what the engine is told of a row of a mode's release."""
        if smoothing := self.smoothed.get(mode):
            return replace(plain, row=smoothing.of(row), smoothed=True)
        return replace(plain, row=row)

    def ranking(self, pool: Pool, mode: str, user: str | None, mix: float) -> Ranking:
        """Order a pool in one mode; where no row serves a newcomer, in the plain order."""
        return self.engine.rank(pool, self.request(Request("", len(pool), mix=mix), mode, user))

    def row_for(self, user: str | None, mode: str = "group") -> ReleasedRow | None:
        """Return the released row that serves a person in a mode; none for who was left out."""
        if self.newcomer and mode == "group":
            return self.newcomer.row
        release = self.release_of(mode)
        if release is None or not user or self.leaves_out(user, mode):
            return None
        return release.row_for(user)

    def leaves_out(self, user: str | None, mode: str = "group") -> bool:
        """Tell whether a person has a profile but no row in a mode.

        Nothing of the profile is left, or it was left over and the mean of all rows is sealed.
        """
        release = self.release_of(mode)
        if release is None or not user or self.profiles is None:
            return False
        if not release.serves(user):
            return bool(release.left_out) and user in self.profiles.row_of
        return release.hides_shares and release.row_for(user).spare and self.sealed()

    def release_of(self, mode: str) -> Release | None:
        """Return the release whose rows serve a mode."""
        if mode == "group":
            return self.release
        return self.further.get(mode.removeprefix(FURTHER)) if mode.startswith(FURTHER) else None

    def usual_mode(self, user: str | None) -> str:
        """Return the mode in which a person is answered who names none."""
        if not user:
            return "none"
        return "group" if self.release or self.newcomer else "own"

    def refuse(self, modes: Sequence[str], user: str | None) -> None:
        """Refuse modes that can't be answered with what is here."""
        for mode in modes:
            if mode not in MODES and self.release_of(mode) is None:
                raise UsageError(f"mode={mode} must be one of {', '.join(self._named())}")
            if mode != "none" and not user:
                raise UsageError(f"mode {mode} needs a person; name one with --user or --newcomer")
        if "own" in modes and not self.profiles:
            raise UsageError("no profiles here; make them with: veilsearch profiles LOG")
        if "group" in modes and not (self.release or self.newcomer):
            raise UsageError(
                "no release here; make one with: veilsearch anonymize PROFILES -m p-linkability"
            )

    def _named(self) -> tuple[str, ...]:
        return MODES + tuple(f"{FURTHER}{name}" for name in self.further)

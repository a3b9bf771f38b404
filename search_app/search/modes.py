"""A person's query in each mode, judged by the order of their own profile."""
# The own profile is read for mode `own`, for the gold standard by which all modes are measured, and
# to choose the closest row for a person in no group. The gold standard is the profile's order by
# the same rule. The group's ranking is made without the profile.

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from anonymizer.model import Profiles, Release, ReleasedRow
from anonymizer.rows.closest import closest_row
from index.model import Pool

from ..errors import UsageError
from ..measures.precision import PoolAgreement, PoolPrecision, agreement, evaluate
from ..settings import DEFAULT_METHOD
from .engine import Engine, Ranking
from .newcomer import Newcomer
from .request import COSINES, EVIDENCE, RankingRule, Request
from .rerank import KEPT
from .smoothing import SmoothedRows

Terms = Mapping[str, float]
LayOver = Callable[[str, Terms], Terms]
MODES = ("none", "own", "group")
FURTHER = "group:"  # prefix of the modes of further releases: group:NAME


@dataclass(frozen=True)
class Answer:
    """A ranking in one mode, and how close it comes to the gold standard, if there is one."""

    mode: str
    ranking: Ranking
    precision: PoolPrecision | None
    request: Request  # all that the engine received
    cut: bool = False  # whether only the beginning of the query was searched
    gold: Ranking | None = None  # the own-profile order, by which the ranking is judged

    @cached_property
    def agreement(self) -> PoolAgreement | None:
        """Return how far the whole ranking agrees with the gold standard; None if there is none."""
        if self.gold is None:
            return None
        return agreement(self.ranking.plain_ranks, self.gold.plain_ranks)

    @property
    def standing(self) -> float | None:
        """Return how its interests stand in this search; None where `plain` is."""
        evidence = self.ranking.evidence
        return None if evidence is None or self.foreign else evidence.standing

    @property
    def plain(self) -> bool | None:
        """Return whether the rule `evidence` left the plain order.

        None if it did not rank, or by the row of a group that the person is not in.
        """
        evidence = self.ranking.evidence
        return None if evidence is None or self.foreign else not evidence.gate

    @property
    def row(self) -> str:
        """Return the name of the released row that ordered the pool; empty if none did."""
        return self.request.row.name if self.request.row else ""

    @property
    def users(self) -> int:
        """Return how many people share that row."""
        return self.request.row.users if self.request.row else 0

    @property
    def foreign(self) -> bool:
        """Return whether that row is of a group in which the person is not."""
        return self.request.row is not None and self.request.row.foreign

    @property
    def fallback(self) -> bool:
        """Return whether that row is the fallback row: the mean of all groups' rows."""
        return self.request.row is not None and self.request.row.fallback


def _nobody(_user: str) -> Terms:
    raise UsageError("no profiles here; make them with: veilsearch profiles LOG")


class Modes:
    """An engine, with the profiles and releases of a workspace or the profile of a newcomer."""

    def __init__(
        self,
        engine: Engine,
        profiles: Profiles | None,
        release: Release | None,
        newcomer: Newcomer | None = None,
        further: Mapping[str, Release] | None = None,
        smoothed: Mapping[str, SmoothedRows] | None = None,
        populations: Collection[str] = (),
    ):
        self.engine = engine
        self.profiles = profiles
        self.release = release
        self.newcomer = newcomer  # the only person in `profiles`; in no release
        self.further = further or {}  # other releases of the same profiles, by name
        self.smoothed = smoothed or {}  # by mode: smooths a row before the engine gets it
        # The modes in whose rows an interest can stand; the engine knows these by the mode's name.
        self.populations = frozenset(populations)
        # Asked at each search: a release can be published while the server runs. If it is withheld,
        # the fallback row serves nobody, because it is a mean over all groups.
        self.withheld: Callable[[], bool] = lambda: False
        # Asked at each search, too: lays over the profile of a user what grew from their searches.
        self.lay_over: LayOver = lambda _user, past: past
        # No `lru_cache` of a method: it would hold these modes, and the files of a replaced index.
        row_of = _nobody if profiles is None else lru_cache(KEPT)(profiles.row)
        self._past: Callable[[str], Terms] = row_of
        self._loaded = False  # whether a person's search finds all that it needs
        # The row that was closest to a profile, as long as the profile is the same.
        self._closest: dict[tuple[str, str], tuple[Terms, ReleasedRow | None]] = {}

    def begin_without_profiles(self) -> None:
        """Let people search by what grows from their searches, as nobody here has a past."""
        self.profiles = Profiles.from_rows({})
        self._past = self.profiles.row

    def withhold(self, shown: Callable[[], bool]) -> None:
        """Make nothing of all rows, unless each of them is `shown` to everybody."""
        # Smoothed rows are made from all rows, so they would reveal other groups'. Rows that are
        # published later are smoothed from the next update on, under another name.
        self.withheld = lambda: not shown()
        if self.withheld():
            self.smoothed = {}

    def extended(
        self,
        further: Mapping[str, Release],
        smoothed: Mapping[str, SmoothedRows],
        populations: Collection[str],
    ) -> Modes:
        """Return these modes with `further` releases more; both prepare the same for people."""
        made = copy.copy(self)
        made.further = {**self.further, **further}
        made.smoothed = {**self.smoothed, **smoothed}
        made.populations = self.populations | {*populations}
        return made

    def warm_up(self, rule: RankingRule | None = COSINES) -> None:
        """Load what the first search by `rule`, or without one, would wait for."""
        self.engine.warm_up(rule, self.among("group"))

    def settle(self) -> None:
        """Prepare what people's searches by any rule share; searches need not wait for it."""
        if not self._loaded:
            self.engine.warm_up()
            self._loaded = True
        made = self.engine.evidence(self.among("group"))
        made.settle()
        if self.release:
            for row in range(min(self.release.groups, KEPT // 2)):
                made.direction(self.release.released_row(row).weights)

    def clear(self) -> None:
        """Keep nothing in memory that was prepared for anybody's searches."""
        self._closest.clear()
        self.engine.clear()

    @property
    def modes(self) -> tuple[str, ...]:
        """Return all modes that can be answered here, further releases last."""
        able = (True, self.profiles is not None, bool(self.release or self.newcomer))
        known = tuple(mode for mode, can in zip(MODES, able, strict=True) if can)
        return known + tuple(f"{FURTHER}{name}" for name in self.further)

    def past(self, user: str) -> Terms:
        """Return the profile of `user` in the workspace's profiles; empty if they have none."""
        known = self.profiles is not None and user in self.profiles.row_of
        return self._past(user) if known else {}

    def has_profile(self, user: str | None) -> bool:
        """Return whether `user` has a profile: of the workspace, or one that grew."""
        return self.profiles is not None and bool(user and self.lay_over(user, self.past(user)))

    def _own(self, user: str) -> Terms:
        """Return the profile of `user` with what grew; raise if there is none."""
        return self.lay_over(user, self.past(user)) or self._past(user)

    def answer(
        self,
        query: str,
        mode: str,
        user: str | None,
        *,
        pool: int,
        rule: RankingRule = COSINES,
        operators: bool = False,
    ) -> Answer:
        """Return the answer to `query` in `mode`, ordered by `rule`."""
        return self.answers(query, (mode,), user, pool=pool, rule=rule, operators=operators)[0]

    def answers(
        self,
        query: str,
        modes: Sequence[str],
        user: str | None,
        *,
        pool: int,
        rule: RankingRule = COSINES,
        operators: bool = False,
    ) -> list[Answer]:
        """Return the answer to `query` in each of `modes`; all order the same pool, by `rule`."""
        self.refuse(modes, user)
        plain = Request(query, pool, operators, rule)
        candidates = self.engine.pool(plain.query, plain.pool, operators=plain.operators)
        own = self._own(user) if user and self.profiles is not None else None
        gold = None
        if own is not None:
            gold = self.engine.by_profile(candidates, own, rule, self.among("own"))
        answers = []
        for mode in modes:
            request = self.request(plain, mode, user)
            ranking = gold if request.profile is not None else None
            if ranking is None:
                ranking = self.engine.rank(candidates, request)
            judged = None if gold is None else evaluate(ranking.plain_ranks, gold.plain_ranks)
            # The answer says what really ordered the pool: without a row that was BM25.
            served = mode if mode in ("none", "own") or request.row else "none"
            answers.append(Answer(served, ranking, judged, request, candidates.cut, gold))
        return answers

    def request(self, plain: Request, mode: str, user: str | None) -> Request:
        """Return the engine's request for `user` in `mode`; it is `plain` if no row serves them."""
        if mode == "own" and self.profiles is not None and user:
            return replace(plain, profile=self._own(user), among=self.among(mode))
        if mode not in ("none", "own") and (row := self.row_for(user, mode)):
            return self.by_row(plain, mode, row)
        return plain

    def by_row(self, plain: Request, mode: str, row: ReleasedRow) -> Request:
        """Return `plain` with `row`, smoothed if `mode` smooths the rows of its release."""
        if plain.rule.ranking == EVIDENCE:
            # It takes from a row its direction away from the prior, which smoothing hardly changes.
            return replace(plain, row=row, among=self.among(mode))
        if smoothing := self.smoothed.get(mode):
            return replace(plain, row=smoothing.of(row), smoothed=True)
        return replace(plain, row=row)

    def among(self, mode: str) -> str:
        """Return the population that interests stand among in `mode`; "": the public one."""
        named = mode if mode.startswith(FURTHER) else "group"
        # An order made of other groups' rows would tell of them.
        return "" if self.withheld() or named not in self.populations else named

    def ranking(
        self, pool: Pool, mode: str, user: str | None, rule: RankingRule = COSINES
    ) -> Ranking:
        """Return `pool` ordered for `user` in `mode`; in the plain order if no row serves them."""
        # The query is not needed any more: the pool is found.
        return self.engine.rank(pool, self.request(Request("", len(pool), rule=rule), mode, user))

    def row_for(self, user: str | None, mode: str = "group") -> ReleasedRow | None:
        """Return the released row that serves `user` in `mode`; None if no row does."""
        if self.newcomer and mode == "group":
            return self.newcomer.row
        release = self.release_of(mode)
        if release is None or not user:
            return None
        if release.serves(user):
            row = release.row_for(user)
            return None if row.fallback and self.withheld() else row
        if not self.has_profile(user):
            return None
        closest = self._closest_row(user, mode)
        if closest or release.groups == len(release.rows) or self.withheld():
            return closest
        return release.released_row(release.groups)

    def _closest_row(self, user: str, mode: str) -> ReleasedRow | None:
        """Return the row closest to the profile of `user`, who is in no group of `mode`."""
        release = self.release_of(mode)
        # Nobody is served by another person's row.
        if release is None or not self.stands_outside(user, mode):
            return None
        own = self._own(user)
        before, served = self._closest.get((user, mode), ({}, None))
        if before != own:
            row = closest_row(own, release.group_rows).row
            # Anything can be searched for, and becomes a profile by admission. So no term of the
            # row is shown: else a person who searched for many words could read other people's.
            served = None if row is None else replace(release.released_row(row), foreign=True)
            if len(self._closest) >= KEPT:
                self._closest.clear()
            self._closest[user, mode] = own, served
        return served

    def stands_outside(self, user: str | None, mode: str = "group") -> bool:
        """Return whether the closest row of `mode` serves `user`, if there is one."""
        release = self.release_of(mode)
        if release is None or release.promise.single_person or not self.has_profile(user):
            return False
        return not release.serves(user or "")

    def lacks_row(self, user: str | None, mode: str = "group") -> bool:
        """Return whether `user` has a profile but no row serves them in `mode`."""
        if self.release_of(mode) is None or not self.has_profile(user):
            return False
        return self.row_for(user, mode) is None

    def release_of(self, mode: str) -> Release | None:
        """Return the release whose rows serve `mode`, if there is one."""
        if mode == "group":
            return self.release
        return self.further.get(mode.removeprefix(FURTHER)) if mode.startswith(FURTHER) else None

    def refuse_unknown(self, mode: str, user: str | None) -> None:
        """Refuse `user` if `mode` needs a person and nobody here knows this one."""
        if mode == "none" or not user or (self.newcomer and mode == "group"):
            return
        if self.profiles is not None:
            self._own(user)
        elif release := self.release_of(mode):
            release.row_for(user)

    def usual_mode(self, user: str | None) -> str:
        """Return the mode for a search of `user` that names no mode."""
        if not user:
            return "none"
        return "group" if self.release or self.newcomer else "own"

    def refuse(self, modes: Sequence[str], user: str | None) -> None:
        """Refuse any of `modes` that can't be answered for `user` with what is here."""
        known = MODES + tuple(f"{FURTHER}{name}" for name in self.further)
        for mode in modes:
            if mode not in MODES and self.release_of(mode) is None:
                raise UsageError(f"mode={mode} must be one of {', '.join(known)}")
            if mode != "none" and not user:
                raise UsageError(f"mode {mode} needs a person; name one with --user or --newcomer")
        if "own" in modes and self.profiles is None:
            raise UsageError("no profiles here; make them with: veilsearch profiles LOG")
        if "group" in modes and not (self.release or self.newcomer):
            raise UsageError(
                f"no release here; make one with: veilsearch anonymize PROFILES -m {DEFAULT_METHOD}"
            )

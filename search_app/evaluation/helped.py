"""Who is helped: queries with relevance of their own, in each mode and in two controls.

A control orders a person's pool by what says nothing about them: `stranger` by the row of another
group, drawn at random, and `global-average` by the mean of all rows. What a control gains, any row
gains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.arrays import Floats, Ints, Marks
from anonymizer.model import Progress, Release, ReleasedRow
from index.model import Pool

from ..errors import UsageError
from ..measures.relevance import KINDS, is_kept, judged
from ..search.engine import Ranking
from ..search.modes import Modes
from ..search.request import Request
from .batch import SearchOptions
from .judging import NO_HITS, NO_PROFILE, NOT_TELLING, JudgedByMode, why_not_judged
from .relevance import LabelledQuery, Relevance

PLAIN, STRANGER, AVERAGE = "none", "stranger", "global-average"
CONTROLS = (STRANGER, AVERAGE)
HEAD = "mode,pool,person,query,kind"  # the measures follow


@dataclass(frozen=True)
class Helped(JudgedByMode):
    """Queries judged by relevance of their own."""

    kind: Ints  # query -> its place in KINDS


class Controls:
    """Rows that say nothing about a person: another group's, and the mean of all."""

    def __init__(self, release: Release, seed: int) -> None:
        self._release, self._seed = release, seed

    @cached_property
    def average(self) -> ReleasedRow:
        """Return the mean of the groups' rows, each weighted by its people."""
        rows = self._release.group_rows
        people = self._release.grouping.sizes[: len(rows)]
        mean = (rows.weights.T @ (people / people.sum())).tolist()
        weights = {term: weight for term, weight in zip(rows.terms, mean, strict=True) if weight}
        return ReleasedRow(AVERAGE, int(people.sum()), weights, fallback=True)

    def stranger(self, user: str, row: ReleasedRow | None) -> ReleasedRow | None:
        """Return a row drawn for `user` from the groups' rows but `row`; None if there is none."""
        names = self._release.group_rows.users
        others = [at for at, name in enumerate(names) if row is None or name != row.name]
        if not others:
            return None
        # By the user and not by the order of queries: a person has one stranger.
        rng = np.random.default_rng([self._seed, *user.encode("utf-8", "surrogatepass")])
        return self._release.released_row(others[int(rng.integers(len(others)))])


def help_in(
    modes: Modes,
    relevance: Relevance,
    names: Sequence[str],
    search: SearchOptions,
    seed: int,
    progress: Progress,
) -> Helped:
    """Return the measures of the queries of `relevance` in the modes `names` and the controls.

    Each query is answered as its person. `seed` draws the strangers.
    """
    known = [query for query in relevance.queries if modes.has_profile(query.topic.user)]
    left_out = {NO_PROFILE: len(relevance.queries) - len(known), NO_HITS: 0, NOT_TELLING: 0}
    ways = _ways(modes, names, search, seed)
    kept, marks = list[LabelledQuery](), list[Marks]()
    places: dict[str, list[Ints]] = {name: [] for name in ways}
    pools = search.pools(modes, [query.topic for query in known])
    for number, (query, pool) in enumerate(zip(known, pools, strict=True), 1):
        progress(number)
        relevant = relevance.relevant(query, modes.engine.ids(pool.rows))
        if not is_kept(relevant[None], np.array([len(pool)]))[0]:
            left_out[NOT_TELLING if len(pool) else NO_HITS] += 1
            continue
        kept.append(query)
        marks.append(relevant)
        for name, way in ways.items():
            places[name].append(way(pool, query.topic.user).plain_ranks - 1)
    if not kept:
        raise UsageError(
            f"none of {len(relevance.queries):,} queries can be judged; {why_not_judged(left_out)}"
        )
    users = [query.topic.user for query in kept]
    number_of = {user: at for at, user in enumerate(dict.fromkeys(users), 1)}
    kind = np.array([KINDS.index(query.kind) for query in kept], dtype=np.int64)
    return Helped(
        tuple(query.topic.qid for query in kept),
        np.array([number_of[user] for user in users], dtype=np.int64),
        {name: _measured(marks, some, kind) for name, some in places.items()},
        left_out,
        sum(any(modes.lacks_row(user, name) for name in names) for user in users),
        kind,
    )


def _ways(
    modes: Modes, names: Sequence[str], search: SearchOptions, seed: int
) -> dict[str, Callable[[Pool, str], Ranking]]:
    """Return how each mode of `names`, and the controls, order a pool for a user."""

    def in_mode(name: str) -> Callable[[Pool, str], Ranking]:
        return lambda pool, user: modes.ranking(pool, name, user, search.rule)

    ways = {name: in_mode(name) for name in dict.fromkeys((PLAIN, *names))}
    if modes.release is None:
        return ways
    controls = Controls(modes.release, seed)

    def by_stranger(pool: Pool, user: str) -> Ranking:
        plain = Request("", len(pool), rule=search.rule)
        row = controls.stranger(user, modes.row_for(user))
        return modes.engine.rank(pool, modes.by_row(plain, "group", row) if row else plain)

    def by_average(pool: Pool, _user: str) -> Ranking:
        # It is no row of the release, so it is never smoothed.
        among = modes.among("group")
        return modes.engine.by_row(pool, controls.average, search.rule, among)

    return {**ways, STRANGER: by_stranger, AVERAGE: by_average}


def _measured(marks: Sequence[Marks], places: Sequence[Ints], kind: Ints) -> Mapping[str, Floats]:
    """Return the measures of orders, given as `places`; `marks` say which places are relevant."""
    # A smaller pool is filled up by irrelevant documents, which change no measure.
    wide = max(some.size for some in marks)
    relevant = np.stack([np.pad(some, (0, wide - some.size)) for some in marks])
    orders = np.stack([np.concatenate((some, np.arange(some.size, wide))) for some in places])
    return judged(relevant, orders, kind)

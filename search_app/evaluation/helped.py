"""Who is helped: queries with relevance of their own, in each mode and in two controls.

A control orders a person's pool by what says nothing about them: `stranger` by the row of another
group, drawn at random, and `global-average` by the mean of all rows. What a control gains, any row
gains.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats, Ints, Marks
from anonymizer.model import Progress, Release, ReleasedRow
from index.model import Pool

from ..errors import UsageError
from ..measures.relevance import BY_KIND, GAIN, HARM, KINDS, LOST, RELEVANCE, is_kept, judged
from ..measures.significance import Interval, by_person, intervals, worst_decile
from ..search.engine import Ranking
from ..search.modes import Modes
from ..search.request import Request
from .batch import SearchOptions
from .judging import NO_HITS, NO_PROFILE
from .relevance import LabelledQuery, Relevance

PLAIN, STRANGER, AVERAGE = "none", "stranger", "global-average"
CONTROLS = (STRANGER, AVERAGE)
NOT_TELLING = "not telling"
WHY = {
    NO_PROFILE: "of people without a profile",
    NO_HITS: "that find nothing",
    NOT_TELLING: "with fewer than 2 relevant documents among the first 100, or more than 90 %",
}
HEAD = "mode,pool,person,query,kind"  # the measures follow


@dataclass(frozen=True)
class Helped:
    """All measures by relevance of the kept queries in each mode; people by number."""

    qids: tuple[str, ...]
    person: Ints  # query -> number of its person, from 1
    kind: Ints  # query -> its place in KINDS
    values: Mapping[str, Mapping[str, Floats]]  # mode -> measure -> values, query by query
    left_out: Mapping[str, int]  # why -> queries
    unserved: int  # queries of people without a row, in the plain order

    @property
    def people(self) -> int:
        """Return the number of people with kept queries."""
        return int(self.person.max(initial=0))


class HelpedSummary(NamedTuple):
    """A mode's means over people, by the measures of RELEVANCE."""

    mode: str
    means: Mapping[str, Interval]
    worst_decile: float  # mean gain of the tenth of the people who gain least

    @property
    def loss(self) -> float:
        """Return the mean fall of AP where a query is harmed; 0 if none is."""
        harmed = self.means[HARM].mean
        return self.means[LOST].mean / harmed if harmed else 0.0


class Controls:
    """Rows that say nothing about a person: another group's, and the mean of all."""

    def __init__(self, release: Release, seed: int) -> None:
        self._release, self._seed = release, seed

    @cached_property
    def average(self) -> ReleasedRow:
        """Return the mean of the groups' rows, each weighted by its people."""
        rows = self._release.group_rows
        people = np.array([self._release.released_row(at).users for at in range(len(rows))])
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
    for number, (query, pool) in enumerate(_pools(modes, known, search), 1):
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
        kind,
        {name: _measured(marks, some, kind) for name, some in places.items()},
        left_out,
        sum(any(modes.lacks_row(user, name) for name in names) for user in users),
    )


def _pools(
    modes: Modes, known: Sequence[LabelledQuery], search: SearchOptions
) -> Iterator[tuple[LabelledQuery, Pool]]:
    texts = [query.topic.query for query in known]
    pools = modes.engine.pools(
        texts, search.pool, threads=search.threads, operators=search.operators
    )
    return zip(known, pools, strict=True)


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


def summaries_of(helped: Helped, seed: int) -> list[HelpedSummary]:
    """Return each mode's means over people, with bootstrap intervals drawn from `seed`."""
    table = np.stack([[values[name] for name in RELEVANCE] for values in helped.values.values()])
    people = by_person(table, helped.person)
    # In one call: each interval is drawn from the same people, so modes are comparable.
    drawn = intervals(people.reshape(-1, people.shape[-1]), seed=seed)
    size, gain = len(RELEVANCE), RELEVANCE.index(GAIN)
    return [
        HelpedSummary(
            mode,
            dict(zip(RELEVANCE, drawn[at * size : (at + 1) * size], strict=True)),
            worst_decile(people[at, gain]),
        )
        for at, mode in enumerate(helped.values)
    ]


def why_not_judged(left_out: Mapping[str, int]) -> str:
    """Return how many queries are not judged, and why, from the counts `left_out`."""
    counts = [f"{count:,} {WHY[why]}" for why, count in left_out.items() if count]
    return "not judged: " + (", ".join(counts) or "none")


def rows_of(helped: Helped, pool: int) -> str:
    """Return `helped` as CSV, a line for each query and mode; NaN is empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    shown = [name for name in RELEVANCE if name not in BY_KIND]
    writer.writerow((*HEAD.split(","), *shown))
    for mode, values in helped.values.items():
        columns = [values[name].tolist() for name in shown]
        about = zip(helped.person.tolist(), helped.qids, helped.kind.tolist(), strict=True)
        for (person, qid, kind), *measured in zip(about, *columns, strict=True):
            cells = ["" if math.isnan(value) else value for value in measured]
            writer.writerow((mode, pool, person, qid, KINDS[kind], *cells))
    return text.getvalue()

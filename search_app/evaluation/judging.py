"""Topics with known people -> how close each mode comes to their own-profile order."""
# A topic's person is needed twice: for the gold order, and to find the released row that serves
# them. The results know people by number only. If a pool has no more documents than the gold
# standard, every order has AP 1. Such a query can't tell modes apart and is not judged.

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats, Ints
from anonymizer.storage.records import csv_text
from index.model import Pool

from ..measures.precision import (
    DEPTH,
    MEASURES,
    gold_places,
    measured_by_size,
    random_average_precision,
)
from ..measures.significance import (
    Interval,
    by_person,
    holm,
    intervals,
    randomization,
    worst_decile,
)
from ..search.engine import Ranking
from ..search.modes import Modes
from .batch import SearchOptions
from .topics import Topic

BLOCK = 256  # topics measured at once
HEAD = "mode,pool,person,query,hits"  # the measures follow
NO_PROFILE, NO_HITS, FEW_HITS = "no profile", "no hits", "few hits"
NOT_TELLING = "not telling"
_WHY = {
    NO_PROFILE: "of people without a profile",
    NO_HITS: "that find nothing",
    FEW_HITS: f"that find {DEPTH} documents or fewer, for which every order has AP 1",
    NOT_TELLING: "with fewer than 2 relevant documents among the first 100, or more than 90 %",
}


class Answered(NamedTuple):
    """A topic's pool in the own-profile order and in the order of each mode."""

    topic: Topic
    pool: Pool
    gold: Ranking
    rankings: Mapping[str, Ranking]


@dataclass(frozen=True)
class JudgedByMode:
    """All measures of the judged queries in each mode, and how many queries were not judged."""

    qids: tuple[str, ...]
    person: Ints  # query -> number of its person, from 1
    values: Mapping[str, Mapping[str, Floats]]  # mode -> measure -> values, query by query
    left_out: Mapping[str, int]  # why -> queries
    unserved: int  # queries of people without a row, judged in the plain order

    @property
    def people(self) -> int:
        """Return the number of people with judged queries."""
        return int(self.person.max(initial=0))

    def rows(self, pool: int, head: str, last: Iterable[object], measures: Sequence[str]) -> str:
        """Return CSV with a line for each query and mode, over a `pool`; NaN is empty.

        The columns are those of `head`, whose last one has the values `last`, then `measures`.
        """
        lines: list[tuple[object, ...]] = [(*head.split(","), *measures)]
        about = (self.person.tolist(), self.qids, [*last])
        for mode, values in self.values.items():
            columns = ([_cell(value) for value in values[name].tolist()] for name in measures)
            lines += zip(repeat(mode), repeat(pool), *about, *columns, strict=False)
        return csv_text(lines)


def _cell(value: float) -> float | str:
    return "" if math.isnan(value) else round(value, 12)


@dataclass(frozen=True)
class Judged(JudgedByMode):
    """Queries judged by the own-profile order."""

    hits: Ints  # query -> documents in its pool
    cut: int  # queries of which only the beginning was searched


class ModeSummary(NamedTuple):
    """A mode's means over people."""

    mode: str
    means: Mapping[str, Interval]  # by measure
    worst_decile: float  # mean of the tenth of the people who are served worst


class ModeDifference(NamedTuple):
    """By how much the AP of one mode is above that of another, person by person."""

    mode: str
    above: str
    by: Interval
    p: float  # P-value of the randomization test, corrected by Holm over all pairs


def judge(
    modes: Modes,
    topics: Sequence[Topic],
    names: Sequence[str],
    search: SearchOptions,
    on_answer: Callable[[Answered], object] = lambda _: None,
) -> Judged:
    """Return the measures of `topics`, each answered as its person in each of the modes `names`."""
    known, not_judged = _answerable(modes, topics)
    answers = _answers(modes, known, names, search, not_judged)
    qids: list[str] = []
    users: list[str] = []
    people: dict[str, int] = {}
    person, hits, parts, cut = [], [], [], 0
    while block := list(islice(answers, BLOCK)):
        for answer in block:
            on_answer(answer)
            qids.append(answer.topic.qid)
            users.append(answer.topic.user)
            person.append(people.setdefault(answer.topic.user, len(people) + 1))
            hits.append(len(answer.pool))
            cut += answer.pool.cut
        parts.append({mode: _measured(block, mode) for mode in names})
    return Judged(
        tuple(qids),
        np.array(person, dtype=np.int64),
        {
            mode: {n: np.concatenate([np.empty(0), *(p[mode][n] for p in parts)]) for n in MEASURES}
            for mode in names
        },
        not_judged,
        sum(any(modes.lacks_row(user, mode) for mode in names) for user in users),
        np.array(hits, dtype=np.int64),
        cut,
    )


def _answerable(modes: Modes, topics: Sequence[Topic]) -> tuple[list[Topic], dict[str, int]]:
    """Return the topics of people with a profile, and the number of others."""
    # People without a row count, too: the closest row serves them, or they get the plain order.
    # Means without them would flatter a release that deletes.
    known = [topic for topic in topics if modes.has_profile(topic.user)]
    return known, {NO_PROFILE: len(topics) - len(known), NO_HITS: 0, FEW_HITS: 0}


def _answers(
    modes: Modes,
    topics: Sequence[Topic],
    names: Sequence[str],
    search: SearchOptions,
    not_judged: dict[str, int],
) -> Iterator[Answered]:
    """Answer `topics` in their order; count in `not_judged` those that find too few documents."""
    for topic, pool in zip(topics, search.pools(modes, topics), strict=True):
        if len(pool) <= DEPTH:
            not_judged[FEW_HITS if len(pool) else NO_HITS] += 1
            continue
        gold = modes.ranking(pool, "own", topic.user, search.rule)
        rankings = {
            mode: gold if mode == "own" else modes.ranking(pool, mode, topic.user, search.rule)
            for mode in names
        }
        yield Answered(topic, pool, gold, rankings)


def _measured(answers: Sequence[Answered], mode: str) -> dict[str, Floats]:
    """Return the measures of the orders of `mode`."""
    orders = [gold_places(a.rankings[mode].plain_ranks, a.gold.plain_ranks) for a in answers]
    sizes = np.array([order.size for order in orders])
    return measured_by_size(lambda some: np.stack([orders[at] for at in some.tolist()]), sizes)


def summaries(judged: JudgedByMode, seed: int, worst: str = "AP") -> list[ModeSummary]:
    """Return each mode's means over people, with bootstrap intervals drawn from `seed`.

    Who is served worst is said by the measure `worst`.
    """
    names = list(judged.values)
    measures = list(judged.values[names[0]])
    values = np.stack([[judged.values[mode][name] for name in measures] for mode in names])
    people = by_person(values, judged.person)
    # In one call: each interval is drawn from the same people, so modes are comparable.
    drawn = iter(intervals(people.reshape(-1, people.shape[-1]), seed=seed))
    return [
        ModeSummary(
            mode, dict(zip(measures, islice(drawn, len(measures)), strict=True)), worst_decile(by)
        )
        for mode, by in zip(names, people[:, measures.index(worst)], strict=True)
    ]


def differences(judged: Judged, seed: int) -> list[ModeDifference]:
    """Return how the AP of each pair of modes in `judged` differs, person by person."""
    pairs = list(combinations(judged.values, 2))
    if not pairs:
        return []
    ap = {mode: by_person(values["AP"], judged.person) for mode, values in judged.values.items()}
    above = np.stack([ap[mode] - ap[other] for other, mode in pairs])
    p = holm([randomization(row, seed=seed) for row in above])
    return [
        ModeDifference(mode, other, by, corrected)
        for (other, mode), by, corrected in zip(pairs, intervals(above, seed=seed), p, strict=True)
    ]


def expected_at_random(judged: Judged) -> float:
    """Return the mean AP over people that random orders of the pools in `judged` would have."""
    chance = np.array([random_average_precision(size) for size in judged.hits.tolist()])
    return float(by_person(chance, judged.person).mean())


def why_not_judged(left_out: Mapping[str, int]) -> str:
    """Return how many queries were not judged, and why, from the counts `left_out`."""
    counts = [f"{count:,} {_WHY[why]}" for why, count in left_out.items() if count]
    return "not judged: " + (", ".join(counts) or "none")


def is_ours(output: Path, head: str = HEAD) -> bool:
    """Return whether `output` may be replaced: it has rows under `head`, or it is empty."""
    with output.open("rb") as file:
        return file.readline(200).startswith(head.encode()) or not output.stat().st_size

"""Topics with known people -> how close each mode comes to their own-profile order."""
# A topic's person is needed twice: for the gold order, and to find the released row that serves
# them. The results know people by number only. If a pool has no more documents than the gold
# standard, every order has AP 1. Such a query can't tell modes apart and is not judged.

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats, Ints
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


class Answered(NamedTuple):
    """A topic's pool in the own-profile order and in the order of each mode."""

    topic: Topic
    pool: Pool
    gold: Ranking
    rankings: Mapping[str, Ranking]


@dataclass(frozen=True)
class Judged:
    """All measures of the judged topics in each mode, and how many topics were not judged."""

    qids: tuple[str, ...]
    person: Ints  # query -> number of its person, from 1
    hits: Ints  # query -> documents in its pool
    values: Mapping[str, Mapping[str, Floats]]  # mode -> measure -> values, query by query
    not_judged: Mapping[str, int]  # why -> queries
    cut: int  # queries of which only the beginning was searched
    unserved: int = 0  # queries of people without a row, judged in the plain order

    @property
    def people(self) -> int:
        """Return the number of people with judged queries."""
        return int(self.person.max(initial=0))


class ModeSummary(NamedTuple):
    """A mode's means over people."""

    mode: str
    means: Mapping[str, Interval]  # by measure
    worst_decile: float  # mean AP of the tenth of the people with the lowest AP


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
        np.array(hits, dtype=np.int64),
        {
            mode: {n: np.concatenate([np.empty(0), *(p[mode][n] for p in parts)]) for n in MEASURES}
            for mode in names
        },
        not_judged,
        cut,
        sum(any(modes.lacks_row(user, mode) for mode in names) for user in users),
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
    queries = [topic.query for topic in topics]
    pools = modes.engine.pools(
        queries, search.pool, threads=search.threads, operators=search.operators
    )
    for topic, pool in zip(topics, pools, strict=True):
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


def summaries(judged: Judged, seed: int) -> list[ModeSummary]:
    """Return each mode's means over people, with bootstrap intervals drawn from `seed`."""
    measures, names = list(MEASURES), list(judged.values)
    values = np.stack([[judged.values[mode][name] for name in measures] for mode in names])
    people = by_person(values, judged.person)
    # In one call: each interval is drawn from the same people, so modes are comparable.
    drawn = iter(intervals(people.reshape(-1, people.shape[-1]), seed=seed))
    return [
        ModeSummary(
            mode, dict(zip(measures, islice(drawn, len(measures)), strict=True)), worst_decile(ap)
        )
        for mode, ap in zip(names, people[:, measures.index("AP")], strict=True)
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


def why_not_judged(judged: Judged) -> str:
    """Return how many queries were not judged, and why."""
    words = {
        NO_PROFILE: "of people without a profile",
        NO_HITS: "that find nothing",
        FEW_HITS: f"that find {DEPTH} documents or fewer, for which every order has AP 1",
    }
    counts = [f"{count:,} {words[why]}" for why, count in judged.not_judged.items() if count]
    return "not judged: " + (", ".join(counts) or "none")


def as_csv(judged: Judged, pool: int) -> str:
    """Return `judged` as CSV, a line for each query and mode; people are numbers, NaN is empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*HEAD.split(","), *MEASURES))
    for mode, values in judged.values.items():
        columns = [values[name].tolist() for name in MEASURES]
        about = zip(judged.person.tolist(), judged.qids, judged.hits.tolist(), strict=True)
        for (person, qid, hits), *measured in zip(about, *columns, strict=True):
            cells = ["" if math.isnan(value) else round(value, 12) for value in measured]
            writer.writerow((mode, pool, person, qid, hits, *cells))
    return text.getvalue()


def is_ours(output: Path, head: str = HEAD) -> bool:
    """Return whether `output` may be replaced: it has rows under `head`, or it is empty."""
    with output.open("rb") as file:
        return file.readline(200).startswith(head.encode()) or not output.stat().st_size

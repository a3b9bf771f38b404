"""Topics with known people -> how close each mode comes to their own-profile order.

Whoever asks is needed twice: for the gold order, and to find the released row that serves them.
What is returned knows people by number only. Where no more documents are found than the gold
standard has, every order has AP 1: such a query tells no mode from another and isn't judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.model import Pool

from .engine import Ranking
from .evaluation import DEPTH, MEASURES, gold_places, measured_by_size, random_average_precision
from .modes import Modes
from .significance import Interval, by_person, holm, intervals, randomization, worst_decile
from .topics import Topic

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
BLOCK = 256  # topics whose orders are measured at once
NO_PROFILE, NO_ROW, NO_HITS, FEW_HITS = "no profile", "no row", "no hits", "few hits"


class Search(NamedTuple):
    """How pools are found and ordered."""

    pool: int
    mix: float = 1.0
    operators: bool = False
    threads: int = 1


class Answered(NamedTuple):
    """A topic's pool, in the own-profile order and in each mode's."""

    topic: Topic
    pool: Pool
    gold: Ranking
    rankings: Mapping[str, Ranking]


@dataclass(frozen=True)
class Judged:
    """Every measure of every topic that was judged in each mode, and how many were not."""

    qids: tuple[str, ...]
    person: Ints  # query -> number of who asks, from 1
    hits: Ints  # query -> documents in its pool
    values: Mapping[str, Mapping[str, Floats]]  # mode -> measure -> values, query by query
    left_out: Mapping[str, int]  # why -> queries
    cut: int  # queries of which only the beginning was searched
    unserved: int = 0  # queries of people of whom a release has left nothing: in the plain order

    @property
    def people(self) -> int:
        """Count who asks."""
        return int(self.person.max(initial=0))


class Summary(NamedTuple):
    """A mode's means over people."""

    mode: str
    means: Mapping[str, Interval]  # by measure
    worst_decile: float  # mean AP of the tenth of the people whom the mode serves worst


class Difference(NamedTuple):
    """By how much the AP of one mode is above another's, person by person."""

    mode: str
    above: str
    by: Interval
    p: float  # of the randomization test, corrected by Holm over all pairs


def judge(
    modes: Modes,
    topics: Sequence[Topic],
    asked: Sequence[str],
    search: Search,
    on_answer: Callable[[Answered], object] = lambda _: None,
) -> Judged:
    """Answer each topic in each mode as whoever asks it, and measure the orders."""
    known, left_out = _whom(modes, topics, asked)
    answers = _answers(modes, known, asked, search, left_out)
    qids: list[str] = []
    asking: list[str] = []
    people: dict[str, int] = {}
    person, hits, parts, cut = [], [], [], 0
    while block := list(islice(answers, BLOCK)):
        for answer in block:
            on_answer(answer)
            qids.append(answer.topic.qid)
            asking.append(answer.topic.user)
            person.append(people.setdefault(answer.topic.user, len(people) + 1))
            hits.append(len(answer.pool))
            cut += answer.pool.cut
        parts.append({mode: _measured(block, mode) for mode in asked})
    return Judged(
        tuple(qids),
        np.array(person, dtype=np.int64),
        np.array(hits, dtype=np.int64),
        {mode: _joined([part[mode] for part in parts]) for mode in asked},
        left_out,
        cut,
        sum(any(modes.leaves_out(user, mode) for mode in asked) for user in asking),
    )


def _whom(
    modes: Modes, topics: Sequence[Topic], asked: Sequence[str]
) -> tuple[list[Topic], dict[str, int]]:
    """Return the topics of people who can be answered, and how many others there are.

    Who has a profile, of which a release has left nothing, is answered in the plain order: to leave
    them out of the means would flatter a release that deletes.
    """
    profiles = modes.profiles.row_of if modes.profiles else {}
    served = [(mode, release) for mode in asked if (release := modes.release_of(mode))]
    no_profile = sum(topic.user not in profiles for topic in topics)
    known = [
        topic
        for topic in topics
        if topic.user in profiles
        and all(
            release.serves(topic.user) or modes.leaves_out(topic.user, mode)
            for mode, release in served
        )
    ]
    no_row = len(topics) - len(known) - no_profile
    return known, {NO_PROFILE: no_profile, NO_ROW: no_row, NO_HITS: 0, FEW_HITS: 0}


def _answers(
    modes: Modes,
    topics: Sequence[Topic],
    asked: Sequence[str],
    search: Search,
    left_out: dict[str, int],
) -> Iterator[Answered]:
    """Answer the topics in their order; count those that find too little to be judged."""
    queries = [topic.query for topic in topics]
    pools = modes.engine.pools(
        queries, search.pool, threads=search.threads, operators=search.operators
    )
    for topic, pool in zip(topics, pools, strict=True):
        if len(pool) <= DEPTH:
            left_out[FEW_HITS if len(pool) else NO_HITS] += 1
            continue
        gold = modes.ranking(pool, "own", topic.user, 1.0)
        same = {"own"} if search.mix == 1 else set()
        rankings = {
            mode: gold if mode in same else modes.ranking(pool, mode, topic.user, search.mix)
            for mode in asked
        }
        yield Answered(topic, pool, gold, rankings)


def _measured(answers: Sequence[Answered], mode: str) -> dict[str, Floats]:
    """Measure one mode's orders."""
    orders = [gold_places(a.rankings[mode].plain_ranks, a.gold.plain_ranks) for a in answers]
    sizes = np.array([order.size for order in orders])
    return measured_by_size(lambda some: np.stack([orders[at] for at in some.tolist()]), sizes)


def _joined(parts: Sequence[Mapping[str, Floats]]) -> dict[str, Floats]:
    return {name: np.concatenate([np.empty(0), *(p[name] for p in parts)]) for name in MEASURES}


# -- what it says --------------------------------------------------------------------------------


def summaries(judged: Judged, seed: int) -> list[Summary]:
    """Return each mode's means over people with their intervals; the same people are drawn."""
    names, asked = list(MEASURES), list(judged.values)
    values = np.stack([[judged.values[mode][name] for name in names] for mode in asked])
    people = by_person(values, judged.person)
    found = iter(intervals(people.reshape(-1, people.shape[-1]), seed=seed))
    return [
        Summary(mode, dict(zip(names, islice(found, len(names)), strict=True)), worst_decile(ap))
        for mode, ap in zip(asked, people[:, names.index("AP")], strict=True)
    ]


def differences(judged: Judged, seed: int) -> list[Difference]:
    """Compare the AP of each pair of modes person by person."""
    pairs = list(combinations(judged.values, 2))
    if not pairs:
        return []
    ap = {mode: by_person(each["AP"], judged.person) for mode, each in judged.values.items()}
    above = np.stack([ap[mode] - ap[other] for other, mode in pairs])
    p = holm([randomization(row, seed=seed) for row in above])
    return [
        Difference(mode, other, by, each)
        for (other, mode), by, each in zip(pairs, intervals(above, seed=seed), p, strict=True)
    ]


def expected_at_random(judged: Judged) -> float:
    """Return the AP that random orders of these pools would have, meant over people."""
    chance = np.array([random_average_precision(size) for size in judged.hits.tolist()])
    return float(by_person(chance, judged.person).mean())

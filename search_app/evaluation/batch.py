"""Many topics to a run, block by block, so that memory does not grow with them. [I/O]"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from anonymizer.errors import AnonymizerError
from anonymizer.model import Progress
from index.model import Pool

from ..errors import UsageError
from ..search.modes import Modes
from ..search.request import COSINES, RankingRule
from .runs import RunWriter
from .topics import Topic

BLOCK = 64  # topics ranked before they are written


class SearchOptions(NamedTuple):
    """How pools are found and ordered."""

    pool: int
    rule: RankingRule = COSINES
    operators: bool = False
    threads: int = 1
    described: bool = False  # whether runs begin with what made them

    def describe(self, run: RunWriter, modes: Modes, mode: str | None) -> None:
        """Begin `run` with what makes it, if that is wanted: `mode`, or each person's usual one."""
        if self.described:
            first = {"name": "BM25", "documents": self.pool}
            then = {"name": "re-ranking", "mode": mode or "usual", "rule": self.rule.name}
            run.describe([first, then], modes.engine.size)

    def pools(self, modes: Modes, topics: Iterable[Topic]) -> Iterator[Pool]:
        """Yield the pool of each of `topics`, found in the index of `modes`."""
        queries = [topic.query for topic in topics]
        return modes.engine.pools(
            queries, self.pool, threads=self.threads, operators=self.operators
        )


class RunReport(NamedTuple):
    """What happened in a run: the numbers of topics with a problem, and the seconds it took."""

    empty: list[str]  # nothing was found
    cut: list[str]  # only the beginning of the query was searched
    no_row: list[str]  # the person has no row: answered in the plain order
    seconds: float


def run_topics(
    modes: Modes,
    topics: Sequence[Topic],
    mode: str | None,
    search: SearchOptions,
    top: int,
    run: RunWriter,
    progress: Progress,
) -> RunReport:
    """Answer `topics`, each as its user, and write the `top` best documents; return a report."""
    check_topics(modes, topics, mode)
    in_groups = [t for t in topics if (mode or modes.usual_mode(t.user)) == "group"]
    report = RunReport([], [], [t.qid for t in in_groups if modes.lacks_row(t.user)], 0.0)
    search.describe(run, modes, mode)
    began = time.perf_counter()
    pairs = zip(topics, search.pools(modes, topics), strict=True)
    while block := list(islice(pairs, BLOCK)):
        rankings = [
            modes.ranking(pool, mode or modes.usual_mode(topic.user), topic.user, search.rule)
            for topic, pool in block
        ]
        rows = [ranking.rows[:top] for ranking in rankings]
        ids = np.split(modes.engine.ids(np.concatenate(rows)), np.cumsum([r.size for r in rows]))
        for (topic, pool), ranking, names in zip(block, rankings, ids[:-1], strict=True):
            run.add(topic.qid, names.tolist(), ranking.scores[:top])
            if not names.size:
                report.empty.append(topic.qid)
            if pool.cut:
                report.cut.append(topic.qid)
            progress(run.topics)
    return report._replace(seconds=time.perf_counter() - began)


def check_topics(modes: Modes, topics: Sequence[Topic], mode: str | None) -> None:
    """Refuse topics that can't be answered in `mode`, before any search; name no user."""
    # Each mode and user once: a topic file has many topics of few people.
    seen = set()
    for topic in topics:
        chosen = mode or modes.usual_mode(topic.user)
        if (chosen, topic.user) in seen:
            continue
        seen.add((chosen, topic.user))
        try:
            modes.refuse((chosen,), topic.user)
            modes.refuse_unknown(chosen, topic.user)
        except (UsageError, AnonymizerError) as fault:
            raise type(fault)(f"topic {topic.qid}, line {topic.line}: {fault}") from fault

"""Many topics to rankings, block by block, so that memory stays flat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model import AnonymizerError

from .errors import UsageError
from .modes import Modes
from .topics import Topic

BLOCK = 64


@dataclass(frozen=True)
class Ranked:
    """A topic's documents, best first."""

    topic: Topic
    ids: Sequence[str]
    scores: NDArray[Any]
    cut: bool  # the query was longer than is searched


def check_topics(modes: Modes, topics: Sequence[Topic], mode: str | None) -> None:
    """Refuse what can't be answered before anything is searched: the line, never the user."""
    seen = set()
    for topic in topics:
        asked = mode or modes.usual_mode(topic.user)
        if (asked, topic.user) in seen:
            continue
        seen.add((asked, topic.user))
        try:
            modes.refuse((asked,), topic.user)
            if asked == "own" and modes.profiles:
                modes.profiles.row(topic.user)
            if asked == "group":
                modes.row_for(topic.user)
        except (UsageError, AnonymizerError) as fault:
            raise type(fault)(f"topic {topic.qid}, line {topic.line}: {fault}") from fault


def without_row(modes: Modes, topics: Sequence[Topic], mode: str | None) -> list[str]:
    """Return the topics of people of whom nothing is left: they are answered in the plain order."""
    return [
        topic.qid
        for topic in topics
        if (mode or modes.usual_mode(topic.user)) == "group" and modes.leaves_out(topic.user)
    ]


def rank_topics(
    modes: Modes,
    topics: Sequence[Topic],
    mode: str | None,
    *,
    pool: int,
    top: int,
    mix: float = 1.0,
    threads: int = 1,
    operators: bool = False,
) -> Iterator[Ranked]:
    """Answer topics in their order, each as its user if it has one."""
    queries = [topic.query for topic in topics]
    pools = modes.engine.pools(queries, pool, threads=threads, operators=operators)
    left = zip(topics, pools, strict=True)
    while block := list(islice(left, BLOCK)):
        rankings = [
            modes.ranking(found, mode or modes.usual_mode(topic.user), topic.user, mix)
            for topic, found in block
        ]
        rows = [ranking.rows[:top] for ranking in rankings]
        ids = np.split(modes.engine.ids(np.concatenate(rows)), np.cumsum([r.size for r in rows]))
        for (topic, found), ranking, names in zip(block, rankings, ids[:-1], strict=True):
            yield Ranked(topic, names.tolist(), ranking.scores[:top], found.cut)

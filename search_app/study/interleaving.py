"""Several rankings of one pool mixed into one list, so that clicks compare them.

Team draft: Radlinski, Kurup & Joachims, How Does Clickthrough Data Reflect Retrieval Quality?
(CIKM 2008), for two rankings. Schuth, Sietsma, Whiteson, Lefortier & de Rijke, Multileaved
Comparisons for Fast Online Evaluation (CIKM 2014), for three or more. In each round every ranking
picks once, in random order: its best document that is not in the list yet. The document belongs to
its team, and a click on it counts for that team. So each ranking shows equally many documents, give
or take one, in every prefix of the list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np


class Mixed(NamedTuple):
    """A list made of several rankings: its documents, and the ranking that brought each."""

    documents: tuple[str, ...]
    teams: tuple[int, ...]


def team_draft(rankings: Sequence[Sequence[str]], length: int, rng: np.random.Generator) -> Mixed:
    """Return `length` documents of `rankings` in a list; `rng` draws who picks first in a round.

    A ranking whose documents are all in the list ends the draft, as published. Rankings of one pool
    end together.
    """
    taken: dict[str, int] = {}
    upcoming = [iter(ranking) for ranking in rankings]
    while len(taken) < length:
        # A new order in each round: else one ranking would always stand a place higher.
        for team in rng.permutation(len(rankings)).tolist():
            best = next((document for document in upcoming[team] if document not in taken), None)
            if best is None or len(taken) == length:
                return Mixed(tuple(taken), tuple(taken.values()))
            taken[best] = team
    return Mixed(tuple(taken), tuple(taken.values()))


def credit(mixed: Mixed, clicked: Iterable[str], teams: int) -> tuple[int, ...]:
    """Return for each of `teams` how many of its documents in `mixed` were `clicked`."""
    team_of = dict(zip(*mixed, strict=True))
    counts = Counter(team_of[document] for document in set(clicked) if document in team_of)
    return tuple(counts[team] for team in range(teams))

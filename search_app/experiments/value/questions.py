"""Questions with relevance of their own: which documents of their pools are relevant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.arrays import Ints

from ...errors import UsageError
from ...evaluation.relevance import Relevance
from ...measures.relevance import KINDS, is_kept
from ..data import Questions, Search, Taken, numbered


class Labelled(NamedTuple):
    """Queries with relevance of their own, and what gives the ids of documents."""

    relevance: Relevance
    ids: Callable[[Ints], NDArray[np.object_]]


def labelled_questions(
    labelled: Labelled, users: Sequence[str], search: Search, depth: int, seed: int
) -> Questions:
    """Return the queries of `users` that tell orders apart, with pools of `depth` documents."""
    row_of = {user: row for row, user in enumerate(users)}
    # A person without a profile can only see the plain order.
    known = [query for query in labelled.relevance.queries if query.topic.user in row_of]
    taken: list[Taken] = []
    pools = search([query.topic.query for query in known], depth)
    for query, pool in zip(known, pools, strict=True):
        relevant = labelled.relevance.relevant(query, labelled.ids(pool.rows))
        # Where all documents are relevant, or hardly any is, all orders are judged alike.
        if is_kept(relevant[None], np.array([len(pool)]))[0]:
            user, kind = row_of[query.topic.user], KINDS.index(query.kind)
            taken.append(Taken(user, pool.rows, pool.scores, relevant, kind))
    if not taken:
        raise UsageError(
            f"none of {len(known):,} queries of people with a profile has 2 relevant documents, "
            "and at most 90 %, among the first 100; give labels of the index's documents"
        )
    return numbered(taken, len(users), np.random.default_rng([seed, 0]))

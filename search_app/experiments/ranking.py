"""Scores of whole pools -> orders -> values of every measure, for all questions at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anonymizer.model import Profiles
from index.forward import Forward

from ..evaluation import MEASURES, measured_by_size
from ..rerank import DECIMALS
from .baselines import MODES, Situation
from .data import Questions
from .orders import best_first, places_in
from .outcomes import Block, Floats, Ints


class Gold:
    """The own-profile order of each question's pool: by it all other orders are judged."""

    def __init__(
        self, questions: Questions, profiles: Profiles, forward: Forward, vectors: str
    ) -> None:
        self.questions = questions
        self._own = Situation(questions, profiles, None, forward, vectors, 0, 0)
        self._scores = np.zeros((len(questions), 0))
        self._places: dict[int, Ints] = {}

    def depth(self, pool: int) -> int:
        """Return how many documents the largest pool has, if none may have more than so many."""
        return min(pool, int(self.questions.pools.shape[1]))

    def places(self, depth: int) -> Ints:
        """Return the gold place of each document of the first so many of each pool."""
        if depth not in self._places:
            self._places[depth] = self._placed(depth)
        return self._places[depth]

    def _placed(self, depth: int) -> Ints:
        if self._scores.shape[1] < depth:
            (self._scores,) = MODES["own"].scores(replace(self._own, depth=depth))
        return places_in(best_first(self._scores[:, :depth], self.questions.hits))


def block_of(unit: str, mode: str, pool: int, scores: Sequence[Floats], gold: Gold) -> Block:
    """Judge a mode over the first documents of each pool; several draws are averaged."""
    depth = gold.depth(pool)
    hits = np.minimum(gold.questions.hits, depth)
    places = gold.places(depth)
    orders = [
        np.take_along_axis(places, best_first(drawn[:, :depth], hits), axis=1) for drawn in scores
    ]
    found = [measured_by_size(some.__getitem__, hits) for some in orders]
    means = {name: np.mean([each[name] for each in found], axis=0) for name in MEASURES}
    values = {name: np.round(mean, DECIMALS) for name, mean in means.items()}  # as it is written
    return Block(unit, mode, pool, hits, values)

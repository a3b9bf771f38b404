"""Scores of whole pools to the orders they mean, for all questions at once."""

from __future__ import annotations

import numpy as np

from ..rerank import DECIMALS
from .outcomes import Floats, Ints


def best_first(scores: Floats, hits: Ints) -> Ints:
    """Order each row by score, rounded as search rounds; ties and what is no hit stay behind."""
    keys = -np.round(scores, DECIMALS)
    keys[np.arange(scores.shape[1])[None, :] >= hits[:, None]] = np.inf
    return np.argsort(keys, axis=1, kind="stable").astype(np.int64)


def places_in(order: Ints) -> Ints:
    """Return at which place of each order, from 0, its document stands."""
    places = np.empty_like(order)
    np.put_along_axis(places, order, np.arange(order.shape[1])[None, :], axis=1)
    return places

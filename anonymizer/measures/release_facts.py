"""All facts that release.json states: those of every release, and those of its method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .group_counts import released_weights
from .linkability import facts as general_facts

if TYPE_CHECKING:
    from ..model import Profiles, Release

Facts = dict[str, float | int]


def facts(profiles: Profiles, release: Release) -> Facts:
    """Sum up what release.json states: every value holds for the whole release."""
    return {**general_facts(profiles, release), **own_facts(profiles, release)}


def own_facts(profiles: Profiles, release: Release) -> Facts:
    """Sum up what only releases of this method state; nothing of most."""
    return _kept_of_reduced(profiles, release) if release.lone else {}


def _kept_of_reduced(profiles: Profiles, release: Release) -> Facts:
    """Return how many users were left out, and the shares of users, terms and log that remain.

    What remains of the log is counted in the weights of the profiles, whatever the rows have.
    """
    weights = profiles.weights.data
    _, exponent = np.frexp(weights.max())
    weights = np.ldexp(weights, -exponent)  # lest their sum leaves the range of numbers
    kept = weights[released_weights(profiles, release) > 0]
    terms, terms_kept = (_terms_used(of) for of in (profiles, release.rows))
    return {
        "users_left_out": len(profiles) - len(release.users),
        "users_kept": len(release.users) / len(profiles),
        "distinct_terms_kept": terms_kept / terms,
        "log_size_kept": float(kept.sum() / weights.sum()),
    }


def _terms_used(profiles: Profiles) -> int:
    return int(np.count_nonzero(np.bincount(profiles.weights.indices)))

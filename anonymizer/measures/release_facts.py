"""The facts that release.json states: the general ones, or a method's own in their place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .group_counts import released_weights
from .linkability import facts as general_facts
from .linkability import published_facts

if TYPE_CHECKING:
    from ..model import Profiles, Release

Facts = dict[str, float | int]
DECIMALS = 2  # of a share of reduced profiles


def facts(profiles: Profiles, release: Release) -> Facts:
    """Sum up what release.json states: every value holds for the whole release."""
    if release.hides_shares:
        return {**published_facts(release)}
    return own_facts(profiles, release) or {**general_facts(profiles, release)}


def own_facts(profiles: Profiles, release: Release) -> Facts:
    """Sum up what releases of this method state in place of the general facts; nothing of most."""
    return _kept_of_reduced(profiles, release) if release.lone else {}


def _kept_of_reduced(profiles: Profiles, release: Release) -> Facts:
    """Return what can be counted from the rows, and roughly what share of the profiles they are.

    What remains of the log is counted in the weights of the profiles, whatever the rows have.
    """
    weights = profiles.weights.data
    _, exponent = np.frexp(weights.max())
    weights = np.ldexp(weights, -exponent)  # lest their sum leaves the range of numbers
    kept = weights[released_weights(profiles, release) > 0]
    terms, terms_kept = (_terms_used(of) for of in (profiles, release.rows))
    # A sum that depends on no order: whoever counts again must get the same digits.
    size, size_kept = (math.fsum(memoryview(of)) for of in (weights, kept))
    shares = {
        "users_kept": len(release.users) / len(profiles),
        "distinct_terms_kept": terms_kept / terms,
        "log_size_kept": size_kept / size,
    }
    return {
        "users": len(release.users),
        "groups": len(release.rows),
        "terms_released": int(release.rows.weights.nnz),
        "users_left_out": len(profiles) - len(release.users),
        # Every row is one person's: from more digits, or from figures of single rows, one could
        # solve for the size of one history, and a release without somebody would tell theirs.
        **{name: round(share, DECIMALS) for name, share in shares.items()},
    }


def _terms_used(profiles: Profiles) -> int:
    return int(np.count_nonzero(np.bincount(profiles.weights.indices)))

"""The facts that release.json states: the general ones, or a method's own instead."""

from __future__ import annotations

import math

import numpy as np

from ..model import Profiles, Release
from ..storage.records import rounded
from .group_counts import released_weights
from .linkability import facts as general_facts
from .linkability import published_facts
from .vocabulary import occurrences, own_share

Facts = dict[str, float | int]
DECIMALS = 2  # of a share of reduced profiles


def facts(profiles: Profiles, release: Release) -> Facts:
    """Return the facts that release.json states, each about the whole `release` of `profiles`."""
    if release.promise.hides_members:
        stated = published_facts(release)
    else:
        stated = own_facts(profiles, release) or general_facts(profiles, release)
    if release.promise.bounds == "vocabulary":
        stated = {**stated, **_occurrences(profiles, release)}
    # The judge counts again in its own way. Rounded, both have the same digits, and no others.
    return {name: rounded(value) for name, value in stated.items()}


def _occurrences(profiles: Profiles, release: Release) -> Facts:
    """Return how many occurrences of `profiles` the `release` keeps, and users without a row."""
    every, kept, replaced = occurrences(profiles, release)
    # Where all members match each term, all of a row is everybody's own.
    own = {"own_share": own_share(release)} if release.parameters.get("members") else {}
    return {
        **own,
        "kept_occurrences": kept,
        "replaced_occurrences": replaced,
        "suppressed_occurrences": every - kept,
        "users_left_out": len(profiles) - len(release.users),
    }


def own_facts(profiles: Profiles, release: Release) -> Facts:
    """Return the facts of a `release` of reduced `profiles`: counts and rough shares; else none."""
    if not release.promise.single_person:
        return {}
    weights = profiles.weights.data
    _, exponent = np.frexp(weights.max())
    # Scaled by a power of 2, which is exact: else the sum of large weights may overflow.
    weights = np.ldexp(weights, -exponent)
    kept = weights[released_weights(profiles, release) > 0]
    terms, terms_kept = (
        int(np.count_nonzero(np.bincount(of.weights.indices))) for of in (profiles, release.rows)
    )
    # fsum depends on no order, so the judge, who counts again, gets the same digits.
    size, size_kept = (math.fsum(memoryview(of)) for of in (weights, kept))
    shares = {
        "users_kept": len(release.users) / len(profiles),
        "distinct_terms_kept": terms_kept / terms,
        "log_size_kept": size_kept / size,
    }
    log = release.log
    counts = {} if log is None else {"queries_released": int(log.weights.sum())}
    return {
        **counts,
        "users": len(release.users),
        "groups": len(release.rows),
        "terms_released": int(release.rows.weights.nnz),
        "users_left_out": len(profiles) - len(release.users),
        # Every row is of one person: more digits would let somebody solve for the size of one
        # history, and two releases, with and without a person, would reveal that person's size.
        **{name: round(share, DECIMALS) for name, share in shares.items()},
    }

"""The facts that release.json states: the general ones, or a method's own instead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model import Profiles, Release
from ..storage.records import rounded
from .group_counts import released_weights
from .linkability import GroupSums, facts_of_groups, group_sums, published_sums
from .vocabulary import occurrences, own_shares

if TYPE_CHECKING:
    from ..backends.everybody import Crowd

if TYPE_CHECKING:
    pass

Facts = dict[str, float | int]
DECIMALS = 2  # of a share of reduced profiles


class _Occurrences(NamedTuple):
    """Of matched vocabularies, what facts of all follow from."""

    every: int
    kept: int
    replaced: int
    left_out: int
    users: int
    own: float | None  # the sum of the users' own shares, if not all of a row is everybody's own


class _Reduced(NamedTuple):
    """Of reduced profiles, what facts of all follow from."""

    users: int
    everybody: int
    groups: int
    cells: int
    # The terms themselves, as several shards may have the same.
    terms: frozenset[str]
    terms_kept: frozenset[str]
    # As fractions, since the weights of each shard are scaled by a power of their own.
    size: Fraction
    size_kept: Fraction
    queries: int | None  # released, if a log is


class FactSums(NamedTuple):
    """Of a release, or of a shard of one, what the facts of all shards follow from."""

    groups: GroupSums | None = None
    occurrences: _Occurrences | None = None
    reduced: _Reduced | None = None


def facts(profiles: Profiles, release: Release) -> Facts:
    """Return the facts that release.json states, each about the whole `release` of `profiles`."""
    return facts_of([fact_sums(None, profiles, release)])


def fact_sums(everybody: Crowd | None, profiles: Profiles | None, release: Release) -> FactSums:
    """Return what facts need of `release` and its `profiles`, which may be a part of `everybody`.

    Rows that hide their members need no profiles.
    """
    if release.promise.hides_members or profiles is None:
        return FactSums(published_sums(release, everybody))
    if release.promise.single_person:
        return FactSums(reduced=_reduced(profiles, release))
    sums = FactSums(group_sums(profiles, release, everybody))
    if release.promise.bounds == "vocabulary":
        sums = sums._replace(occurrences=_occurrences(profiles, release))
    return sums


def facts_of(shards: Sequence[FactSums]) -> Facts:
    """Return the facts that release.json states of all `shards` together."""
    groups = [one.groups for one in shards if one.groups]
    occurring = [one.occurrences for one in shards if one.occurrences]
    reduced = [one.reduced for one in shards if one.reduced]
    stated = {
        **(facts_of_groups(groups) if groups else {}),
        **(_facts_of_occurrences(occurring) if occurring else {}),
        **(_facts_of_reduced(reduced) if reduced else {}),
    }
    # The judge counts again in its own way. Rounded, both have the same digits, and no others.
    return {name: rounded(value) for name, value in stated.items()}


def own_facts(profiles: Profiles, release: Release) -> Facts:
    """Return the facts of a `release` of reduced `profiles`: counts and rough shares; else none."""
    if not release.promise.single_person:
        return {}
    return _facts_of_reduced([_reduced(profiles, release)])


def _occurrences(profiles: Profiles, release: Release) -> _Occurrences:
    every, kept, replaced = occurrences(profiles, release)
    left_out, served = len(profiles) - len(release.users), len(release.users)
    own = own_shares(release) if release.parameters.get("members") else None
    return _Occurrences(every, kept, replaced, left_out, served, own)


def _facts_of_occurrences(shards: Sequence[_Occurrences]) -> Facts:
    """Return how many occurrences `shards` keep, and users without a row."""
    every, kept, replaced, left_out, users = (
        sum(counts) for counts in zip(*(one[:-1] for one in shards), strict=True)
    )
    own = [one.own for one in shards if one.own is not None]
    return {
        **({"own_share": math.fsum(own) / users} if own else {}),
        "kept_occurrences": kept,
        "replaced_occurrences": replaced,
        "suppressed_occurrences": every - kept,
        "users_left_out": left_out,
    }


def _reduced(profiles: Profiles, release: Release) -> _Reduced:
    weights = profiles.weights.data
    _, exponent = np.frexp(weights.max())
    # Scaled by a power of 2, which is exact: else the sum of large weights may overflow.
    scaled = np.ldexp(weights, -exponent)
    kept = scaled[released_weights(profiles, release) > 0]
    # fsum depends on no order, so the judge, who counts again, gets the same digits.
    size, size_kept = (
        Fraction(math.fsum(memoryview(of))) * Fraction(2) ** int(exponent) for of in (scaled, kept)
    )
    terms, terms_kept = (
        frozenset(of.terms[term] for term in np.unique(of.weights.indices).tolist())
        for of in (profiles, release.rows)
    )
    return _Reduced(
        users=len(release.users),
        everybody=len(profiles),
        groups=len(release.rows),
        cells=int(release.rows.weights.nnz),
        terms=terms,
        terms_kept=terms_kept,
        size=size,
        size_kept=size_kept,
        queries=None if release.log is None else int(release.log.weights.sum()),
    )


def _facts_of_reduced(shards: Sequence[_Reduced]) -> Facts:
    """Return counts and rough shares of the reduced profiles of all `shards`."""
    users, everybody = (sum(one.users for one in shards), sum(one.everybody for one in shards))
    terms = frozenset[str]().union(*(one.terms for one in shards))
    terms_kept = frozenset[str]().union(*(one.terms_kept for one in shards))
    shares = {
        "users_kept": users / everybody,
        "distinct_terms_kept": len(terms_kept) / len(terms),
        "log_size_kept": float(
            sum((one.size_kept for one in shards), Fraction(0))
            / sum((one.size for one in shards), Fraction(0))
        ),
    }
    queries = [one.queries for one in shards if one.queries is not None]
    return {
        **({"queries_released": sum(queries)} if queries else {}),
        "users": users,
        "groups": sum(one.groups for one in shards),
        "terms_released": sum(one.cells for one in shards),
        "users_left_out": everybody - users,
        # Every row is of one person: more digits would let somebody solve for the size of one
        # history, and two releases, with and without a person, would reveal that person's size.
        **{name: round(share, DECIMALS) for name, share in shares.items()},
    }

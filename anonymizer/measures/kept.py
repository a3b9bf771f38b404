"""What a release keeps: terms, the value of a log, and the closeness of rows to profiles.

The shares of a log are those of Burghardt et al., tables 5 to 7: terms, log size, users, and what
advertisers would pay, each as a share of the profiles' total. A user's cell is kept if the user's
row has its term; a user without a row keeps nothing. The log size is the sum of all weights (term
frequencies). The value of a cell is its weight times the value of its term in the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Floats, Marks
from ..marketing.table import MarketingTable, values_of
from ..model import Profiles, Release
from .group_counts import count_groups, published_cells, released_weights, row_of_each
from .measurement import Measurement, by_user

if TYPE_CHECKING:
    from ..backends.everybody import Crowd

OWN_TERMS = "share of own terms kept"
VALUES = ("bid", "clicks", "impressions", "revenue")
SYNTHETIC = " (synthetic table)"  # marks every number made from an invented table


class KeptTerms(NamedTuple):
    """Counts of terms and cells of some groups, and the share of each user's terms kept."""

    terms: frozenset[str]  # in rows
    of_groups: int
    released: int
    suppressed: int | None  # rows that hide their members suppress no term
    own: Floats


def kept_terms(profiles: Profiles, release: Release) -> list[Measurement]:
    """Return counts of terms and cells, and the share of each user's terms that `release` keeps."""
    kept = count_kept_terms(profiles, release)
    rows = terms_kept_of([kept], np.unique(profiles.weights.indices).size)
    return [*rows, *by_user(OWN_TERMS, kept.own, profiles.users)]


def count_kept_terms(
    profiles: Profiles, release: Release, everybody: Crowd | None = None
) -> KeptTerms:
    """Return what `release` keeps of `profiles`, which may be a part of `everybody`."""
    counts, suppressed = count_groups(profiles, release, everybody), None
    if not release.promise.hides_members:
        published = published_cells(profiles, release, counts)
        suppressed = int(np.count_nonzero(~published))
    stands = released_weights(profiles, release) > 0
    kept = np.add.reduceat(stands.astype(np.int64), profiles.weights.indptr[:-1]) / profiles.sizes
    terms = np.unique(release.rows.weights.indices).tolist()
    return KeptTerms(
        frozenset(release.rows.terms[term] for term in terms),
        counts.term.size,
        int(release.rows.weights[: release.groups].nnz),
        suppressed,
        kept,
    )


def terms_kept_of(shards: Sequence[KeptTerms], terms: int) -> list[Measurement]:
    """Return the counts of all `shards` together; profiles have `terms` distinct ones."""
    whole = {
        "distinct terms in profiles": terms,
        "distinct terms released": len(frozenset[str]().union(*(one.terms for one in shards))),
        "terms of groups": sum(one.of_groups for one in shards),
        "terms of groups released": sum(one.released for one in shards),
    }
    suppressed = [one.suppressed for one in shards if one.suppressed is not None]
    if suppressed:
        whole["terms of groups suppressed"] = sum(suppressed)
    return [Measurement(name, float(value)) for name, value in whole.items()]


class KeptSums(NamedTuple):
    """What is kept of some profiles, and what there is, to be added up."""

    terms: Marks  # term -> whether a cell of it is kept
    users: tuple[int, int]  # with a cell kept, and all
    sums: Mapping[str, tuple[float, float]]  # by name: of the cells kept, and of all


def kept_value(
    profiles: Profiles, release: Release, table: MarketingTable | None = None
) -> list[Measurement]:
    """Return the shares of `profiles` that `release` keeps; with a `table`, also of its values."""
    return _shares(profiles, released_weights(profiles, release) > 0, table)


def nothing_kept(profiles: Profiles, table: MarketingTable | None = None) -> list[Measurement]:
    """Return the same shares of `profiles`, with the values of `table`, if nothing is released."""
    return _shares(profiles, np.zeros(profiles.weights.nnz, dtype=np.bool_), table)


def _shares(profiles: Profiles, kept: Marks, table: MarketingTable | None) -> list[Measurement]:
    terms = np.unique(profiles.weights.indices).size
    return shares_of([kept_shares(profiles, kept, table)], terms)


def kept_shares(profiles: Profiles, kept: Marks, table: MarketingTable | None = None) -> KeptSums:
    """Return what is `kept` of the cells of `profiles`, and of their values by `table`."""
    terms, weights = profiles.weights.indices, profiles.weights.data
    some = np.logical_or.reduceat(kept, profiles.weights.indptr[:-1])
    sums = {"log size": (float(weights[kept].sum()), float(weights.sum()))}
    if table is not None:
        label = SYNTHETIC if table.synthetic else ""
        for what in VALUES:
            worth = weights * values_of(table, profiles.terms, what)[terms]
            sums[f"{what}{label}"] = float(worth[kept].sum()), float(worth.sum())
    marks: Marks = np.bincount(terms[kept], minlength=len(profiles.terms)) > 0
    return KeptSums(marks, (int(np.count_nonzero(some)), some.size), sums)


def shares_of(shards: Sequence[KeptSums], terms: int) -> list[Measurement]:
    """Return the shares that all `shards` keep; profiles have `terms` distinct ones."""
    kept = np.logical_or.reduce([one.terms for one in shards])
    with_some, users = (sum(one.users[at] for one in shards) for at in (0, 1))
    shares = {"distinct terms": int(np.count_nonzero(kept)) / terms}
    for name in shards[0].sums:
        some, whole = (sum(one.sums[name][at] for one in shards) for at in (0, 1))
        # Profiles of no value at all have no share of it.
        if whole:
            shares[name] = some / whole
        if name == "log size":
            shares["users"] = with_some / users
    return [Measurement(f"share of {name} kept", share) for name, share in shares.items()]


def closeness(profiles: Profiles, release: Release) -> list[Measurement]:
    """Return the cosine of each user's profile in `profiles` and their row in `release`."""
    row_of = row_of_each(profiles, release)
    own, _ = _to_one(profiles)
    rows, row_largest = _to_one(release.rows)
    heights = np.repeat(row_largest[row_of], profiles.sizes)
    products = own * (released_weights(profiles, release) / heights)
    dots = np.add.reduceat(products, profiles.weights.indptr[:-1])
    cosine = dots / (_lengths(own, profiles) * _lengths(rows, release.rows)[row_of])
    return list(by_user("cosine of user and row", np.minimum(cosine, 1.0), profiles.users))


def _to_one(profiles: Profiles) -> tuple[Floats, Floats]:
    """Return the weights over their profile's largest, and these largest; no square overflows."""
    weights = profiles.weights
    largest = np.maximum.reduceat(weights.data, weights.indptr[:-1])
    return weights.data / np.repeat(largest, profiles.sizes), largest


def _lengths(weights: Floats, profiles: Profiles) -> Floats:
    lengths: Floats = np.sqrt(np.add.reduceat(weights**2, profiles.weights.indptr[:-1]))
    return lengths

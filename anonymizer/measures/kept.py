"""What a release keeps: terms, the value of a log, and the closeness of rows to profiles.

The shares of a log are those of Burghardt et al., tables 5 to 7: terms, log size, users, and what
advertisers would pay, each as a share of the profiles' total. A user's cell is kept if the user's
row has its term; a user without a row keeps nothing. The log size is the sum of all weights (term
frequencies). The value of a cell is its weight times the value of its term in the table.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Marks
from ..marketing.table import MarketingTable, values_of
from ..model import Profiles, Release
from .group_counts import count_groups, published_cells, released_weights, row_of_each
from .measurement import Measurement, by_user

VALUES = ("bid", "clicks", "impressions", "revenue")
SYNTHETIC = " (synthetic table)"  # marks every number made from an invented table


def kept_terms(profiles: Profiles, release: Release) -> list[Measurement]:
    """Return counts of terms and cells, and the share of each user's terms that `release` keeps."""
    counts = count_groups(profiles, release)
    released = int(release.rows.weights[: release.groups].nnz)
    whole = {
        "distinct terms in profiles": np.unique(profiles.weights.indices).size,
        "distinct terms released": np.unique(release.rows.weights.indices).size,
        "terms of groups": counts.term.size,
        "terms of groups released": released,
    }
    # Rows that hide their members suppress no term.
    if not release.promise.hides_members:
        published = published_cells(profiles, release, counts)
        whole["terms of groups suppressed"] = int(np.count_nonzero(~published))
    stands = released_weights(profiles, release) > 0
    kept = np.add.reduceat(stands.astype(np.int64), profiles.weights.indptr[:-1]) / profiles.sizes
    rows = [Measurement(name, float(value)) for name, value in whole.items()]
    return [*rows, *by_user("share of own terms kept", kept, profiles.users)]


def kept_value(
    profiles: Profiles, release: Release, table: MarketingTable | None = None
) -> list[Measurement]:
    """Return the shares of `profiles` that `release` keeps; with a `table`, also of its values."""
    return _shares(profiles, released_weights(profiles, release) > 0, table)


def nothing_kept(profiles: Profiles, table: MarketingTable | None = None) -> list[Measurement]:
    """Return the same shares of `profiles`, with the values of `table`, if nothing is released."""
    return _shares(profiles, np.zeros(profiles.weights.nnz, dtype=np.bool_), table)


def _shares(profiles: Profiles, kept: Marks, table: MarketingTable | None) -> list[Measurement]:
    terms, weights = profiles.weights.indices, profiles.weights.data
    some = np.logical_or.reduceat(kept, profiles.weights.indptr[:-1])
    shares = {
        "distinct terms": np.unique(terms[kept]).size / np.unique(terms).size,
        "log size": _share(weights, kept),
        "users": float(some.mean()),
    }
    if table is not None:
        label = SYNTHETIC if table.synthetic else ""
        for what in VALUES:
            worth = weights * values_of(table, profiles.terms, what)[terms]
            # Profiles of no value at all have no share of it.
            if worth.any():
                shares[f"{what}{label}"] = _share(worth, kept)
    return [Measurement(f"share of {name} kept", share) for name, share in shares.items()]


def _share(cells: Floats, kept: Marks) -> float:
    return float(cells[kept].sum() / cells.sum())


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

"""What a release keeps of a log's value: terms, log size, users, and what advertisers would pay.

Burghardt et al., tables 5 to 7: each as a share of the profiles'. A user's cell is kept if the row
that serves the user has its term; who has no row keeps nothing. The log size is the sum of all
weights (term frequencies); the value of a cell is its weight times its term's in the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .group_counts import released_weights
from .measurement import Measurement

if TYPE_CHECKING:
    from ..marketing import MarketingTable
    from ..model import Profiles, Release

VALUES = ("bid", "clicks", "impressions", "revenue")
SYNTHETIC = " (synthetic table)"  # no number made from an invented table goes without


def kept_value(
    profiles: Profiles, release: Release, table: MarketingTable | None = None
) -> list[Measurement]:
    """Measure the shares kept; a value of which the profiles have nothing has no share."""
    return _shares(profiles, released_weights(profiles, release) > 0, table)


def nothing_kept(profiles: Profiles, table: MarketingTable | None = None) -> list[Measurement]:
    """Return the same shares where nothing is released."""
    return _shares(profiles, np.zeros(profiles.weights.nnz, dtype=np.bool_), table)


def _shares(
    profiles: Profiles, kept: NDArray[np.bool_], table: MarketingTable | None
) -> list[Measurement]:
    terms, weights = profiles.weights.indices, profiles.weights.data
    some = np.logical_or.reduceat(kept, profiles.weights.indptr[:-1])
    shares = {
        "distinct terms": np.unique(terms[kept]).size / np.unique(terms).size,
        "log size": _share(weights, kept),
        "users": float(some.mean()),
    }
    if table is not None:
        shares |= _values(profiles, kept, table)
    return [Measurement(f"share of {name} kept", share) for name, share in shares.items()]


def _values(profiles: Profiles, kept: NDArray[np.bool_], table: MarketingTable) -> dict[str, float]:
    """Return the share kept of each value that the profiles have."""
    from ..marketing import values_of

    label = SYNTHETIC if table.synthetic else ""
    shares = {}
    for what in VALUES:
        cells = (
            profiles.weights.data * values_of(table, profiles.terms, what)[profiles.weights.indices]
        )
        if cells.any():
            shares[what] = _share(cells, kept)
    return {f"{what}{label}": share for what, share in shares.items()}


def _share(cells: NDArray[np.float64], kept: NDArray[np.bool_]) -> float:
    return float(cells[kept].sum() / cells.sum())

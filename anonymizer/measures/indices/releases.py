"""SPI, JSD and PEL of a release, term by term: what a user's row says of the user's own profile.

The paper names "exact matching at the word level" for releases that don't keep whole documents. So
documents are terms, counts are weights: of the profile before, and of the released row that serves
the user after. Who has no row has an empty release.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_matrix, vstack

from ...arrays import Floats
from ...model import Profiles, Release
from ..group_counts import row_of_each
from ..measurement import Measurement, by_user
from .divergence import Compared, divergence, in_chunks, weights_of
from .exposure import exposures

_CELLS = 1 << 22  # compared at once


def privacy_index(
    profiles: Profiles,
    release: Release,
    probabilities: Mapping[str, float] | None = None,
    spi_weights: str = "paper",
    empty: str = "one",
) -> list[Measurement]:
    """Return the indices of each user of `profiles` in `release`, and how much of them it keeps.

    `probabilities` say how sensitive terms are. Without any all weights are 1, and SPI is JSD.
    """
    terms, before, rows = _aligned(profiles, release)
    row_of = row_of_each(profiles, release)
    counts = profiles.sizes + np.diff(rows.indptr)[row_of]
    parts: dict[str, list[Floats]] = {}
    for some in in_chunks(counts, _CELLS):
        compared = Compared(before[some], rows[row_of[some]])
        diverged = divergence(compared, weights_of(terms, compared, probabilities), empty)
        values = {"SPI": diverged.spi[spi_weights], "JSD": diverged.jsd}
        values |= {f"PEL, {channel}": of for channel, of in exposures(compared).items()}
        own = np.where(compared.cells.after > 0, compared.cells.before, 0.0)
        values["impressions"] = compared.sums(own) / compared.sizes
        for name, of in values.items():
            skipped = np.isnan(diverged.jsd) & (name != "impressions")
            parts.setdefault(name, []).append(np.where(skipped, np.nan, of))
    measured: list[Measurement] = []
    for name, columns in parts.items():
        values_of_all = np.concatenate(columns)
        there = np.flatnonzero(~np.isnan(values_of_all))
        users = [profiles.users[at] for at in there.tolist()]
        measured += by_user(name, values_of_all[there], users)
    return measured


def _aligned(profiles: Profiles, release: Release) -> tuple[list[str], csr_matrix, csr_matrix]:
    """Return all terms, and `profiles` and rows over them; an empty row is last."""
    number = {term: at for at, term in enumerate(profiles.terms)}
    rows = release.rows
    columns = np.array([number.setdefault(term, len(number)) for term in rows.terms], np.int64)
    entries = (rows.weights.data, columns[rows.weights.indices], rows.weights.indptr)
    weights = csr_matrix(entries, shape=(len(rows), len(number)))
    weights.sort_indices()
    own = profiles.weights
    wider = csr_matrix((own.data, own.indices, own.indptr), shape=(len(profiles), len(number)))
    # Users without a row are numbered -1.
    return [*number], wider, vstack([weights, csr_matrix((1, len(number)))]).tocsr()

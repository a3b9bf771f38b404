"""Measure a released log against the original one [I/O]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anonymizer.measures.indices.log_pairs import (
    LogIndices,
    LogPair,
    QueryPart,
    contributions,
    log_indices,
)
from anonymizer.querylog.files import form_in_pair
from anonymizer.sensitivity.files import read_probabilities
from anonymizer.storage.records import csv_text
from anonymizer.storage.released_log import by_people, log_of

from ..disclosure.numbers import count
from ..errors import UsageError
from .profiling import log_at

_HEADINGS = {"mean": "mean", "by_queries": "by queries"}
_LINES = {
    "SPI_paper": "SPI, the paper's weights",
    "SPI_released": "SPI, suppressed queries weigh 1",
    "JSD": "JSD",
    "PEL_exact": "PEL %, exact",
    "PEL_plugin": "PEL %, plugin",
    "PEL_similarity": "PEL %, similarity",
    "PEL_alignment": "PEL %, alignment",
}


class MeasuredLogs(NamedTuple):
    """The indices of a released log, and how they were computed."""

    indices: LogIndices
    how: Mapping[str, Any]
    most: list[QueryPart]  # the queries that add most


def measure_logs(
    released: Path,
    original: Path,
    sensitivity: Path | None = None,
    spi_weights: str = "paper",
    empty: str = "one",
    most: int = 0,
) -> MeasuredLogs:
    """Return the indices of the log `released`, or of that of a release's folder.

    It was made from the log `original`. The CSV file `sensitivity` says how sensitive queries are.
    `most` queries that add most to the indices are returned, too.
    """
    probabilities = read_probabilities(sensitivity) if sensitivity else None
    before = log_at([original], form=form_in_pair(original, released=False))
    if not len(before):
        raise UsageError(f"{original}: no line is a query; name the log that the other is made of")
    path = log_of(released)
    log = path or released
    after = log_at([log], form=form_in_pair(log, released=True), folded=False)
    if path is not None:  # rows are pseudonyms, and only the owner knows whose
        after = by_people(after, path.parent)
    pair = LogPair.of(before, after)
    indices = log_indices(pair, probabilities, spi_weights, empty)
    how = {
        "released_log": str(released),
        "original_log": str(original),
        "sensitivity": str(sensitivity) if sensitivity else None,
        "spi_weights": spi_weights,
        "empty": empty,
    }
    return MeasuredLogs(indices, how, contributions(pair, probabilities, spi_weights, most))


def as_dict(measured: MeasuredLogs) -> dict[str, Any]:
    """Return what was `measured` for machines: documented in docs/verbs.md."""
    indices = measured.indices
    original, released = (int(of.sum()) for of in (indices.sizes, indices.released))
    return {
        **measured.how,
        "users": len(indices.users),
        "users_without_release": int(np.count_nonzero(indices.released == 0)),
        "impressions": {"original": original, "released": released, "share": released / original},
        **indices.means(),
    }


def lines(measured: MeasuredLogs) -> Iterator[str]:
    """Yield what was `measured` for people: impressions first, as the indices need them."""
    made = as_dict(measured)
    share = made["impressions"]
    yield (
        f"impressions: {share['released']:,} of {share['original']:,} queries are released, "
        f"{100 * share['share']:.1f} %; {count(made['users'], 'user', 'users')}, "
        f"{made['users_without_release']:,} without any"
    )
    yield f"{'':<32}" + "".join(f"{heading:>12}" for heading in _HEADINGS.values())
    for name, words in _LINES.items():
        values = (made[name][which] for which in _HEADINGS)
        shown = ("undefined" if value is None else f"{value:.6f}" for value in values)
        yield f"{words:<32}" + "".join(f"{value:>12}" for value in shown)


def as_csv(indices: LogIndices) -> str:
    """Return `indices` as CSV, a line for each user; what is undefined is blank."""
    head = ["user", "original_queries", "released_queries", *indices.columns]
    counts = (of.astype(int).tolist() for of in (indices.sizes, indices.released))
    values = (
        ["" if isnan(value) else value for value in column.tolist()]
        for column in indices.columns.values()
    )
    return csv_text([head, *zip(indices.users, *counts, *values, strict=True)])

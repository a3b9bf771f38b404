"""Measure a released log against the original one, or a release in shards [I/O]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anonymizer.backends.everybody import with_everybody
from anonymizer.backends.parts import deal_to
from anonymizer.measures.indices.log_pairs import (
    LogIndices,
    LogPair,
    QueryPart,
    contributions,
    log_indices,
)
from anonymizer.measures.indices.log_parts import (
    HowMeasured,
    LogFile,
    indices_on,
    united_indices,
)
from anonymizer.methods import promise_of
from anonymizer.querylog.files import form_in_pair
from anonymizer.sensitivity.files import read_probabilities
from anonymizer.storage.parts import CHANGES, ROWS, cohort_folders, part_files
from anonymizer.storage.profiles import open_profiles
from anonymizer.storage.records import csv_text
from anonymizer.storage.released_log import by_people, log_of, people_of_rows
from anonymizer.storage.releases import read_in_shards, read_input_hash
from anonymizer.storage.sharded import ShardOfUsers

from ..disclosure.numbers import count
from ..errors import UsageError
from .profiling import log_at, on_cluster, say_rejected

if TYPE_CHECKING:
    from anonymizer.backends.spark import SparkEngine
    from anonymizer.measures.measurement import MeasureSummary

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
    engine: SparkEngine | None = None,
) -> MeasuredLogs:
    """Return the indices of the log `released`, or of that of a release's folder.

    It was made from the log `original`. The CSV file `sensitivity` says how sensitive queries are.
    `most` queries that add most to the indices are returned, too. An `engine` does the work.
    """
    probabilities = read_probabilities(sensitivity) if sensitivity else None
    how = HowMeasured(probabilities, spi_weights, empty, most)
    path = log_of(released)
    # Rows are pseudonyms, and only the owner knows whose.
    before = LogFile(original, form_in_pair(original, released=False))
    log = path or released
    user_of = people_of_rows(path.parent) if path else None
    after = LogFile(log, form_in_pair(log, released=True), user_of)
    measure = partial(_measured_on, engine) if engine else _measured_here
    named = {
        "released_log": str(released),
        "original_log": str(original),
        "sensitivity": str(sensitivity) if sensitivity else None,
        "spi_weights": spi_weights,
        "empty": empty,
    }
    indices, largest = measure(before, after, how)
    return MeasuredLogs(indices, named, largest)


Measured = tuple[LogIndices, list[QueryPart]]


def _measured_here(before: LogFile, after: LogFile, how: HowMeasured) -> Measured:
    original = log_at([before.path], form=before.form)
    if not len(original):
        raise _no_queries(before.path)
    released = log_at([after.path], form=after.form, folded=False)
    if after.user_of is not None:
        released = by_people(released, after.path.parent)
    pair = LogPair.of(original, released)
    indices = log_indices(pair, how.probabilities, how.spi_weights, how.empty)
    return indices, contributions(pair, how.probabilities, how.spi_weights, how.most)


def _measured_on(
    engine: SparkEngine, before: LogFile, after: LogFile, how: HowMeasured
) -> Measured:
    with on_cluster(engine, "measures") as cluster:
        parts, reports = indices_on(cluster, before, after, how)
    for report in reports:
        say_rejected(report)
    if not reports[0].events:
        raise _no_queries(before.path)
    return united_indices(parts, how.most)


def _no_queries(path: Path) -> UsageError:
    return UsageError(f"{path}: no line is a query; name the log that the other is made of")


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


def measure_in_shards(
    place: Path,
    source: Path,
    sensitivity: Path | None = None,
    spi_weights: str = "paper",
    empty: str = "one",
) -> list[MeasureSummary] | None:
    """Return all measures of the release in the folder `place`, made from the profiles at `source`.

    It is read shard by shard. Return None if it must be measured as a whole.
    """
    from anonymizer.measures.sharded import in_shards, measure_shard, measures_of

    cohorts = cohort_folders(place)
    plain = len(cohorts) == 1 and not (place / CHANGES).exists() and source.suffix == ".npz"
    if not plain or len(part_files(place, ROWS)) < 2:
        return None
    if not in_shards(next(read_in_shards(place, promise_of))):
        return None
    sensitive = read_probabilities(sensitivity) if sensitivity else None
    stored = open_profiles(source)
    if read_input_hash(place) != stored.fingerprint:
        raise UsageError(
            f"{place} was made from other profiles than {source}; name its own with --against"
        )
    # Not next to the release: that may be on a disk that is only read.
    with TemporaryDirectory(prefix="veilsearch-") as scratch:
        parts = deal_to(stored.blocks(), ShardOfUsers(place), Path(scratch) / "parts")
        everybody = with_everybody(parts).everybody
        measured = (
            measure_shard(
                everybody,
                parts.read(number),
                shard,
                sensitive=sensitive,
                spi_weights=spi_weights,
                empty=empty,
            )
            for number, shard in enumerate(read_in_shards(place, promise_of))
        )
        return measures_of(measured, everybody)

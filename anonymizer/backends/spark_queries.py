"""The common queries of a log on Spark: counted in each part, added up by a hash of the query."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..model import QueryLog
from ..querylog.reading import FIRST_REJECTS, ReadReport, report_of
from .common_queries import (
    CommonEvents,
    Counts,
    PartLog,
    common_events,
    common_in,
    log_of_part,
    people_by_query,
    united_log,
)
from .log_pieces import Dealt, PieceRead, deal_lines, files_read, piece_size, pieces_of, usual_parts
from .spark import SparkSession


class PartRead(NamedTuple):
    """What was read of a part."""

    reads: list[PieceRead]
    events: int
    repeats: int


def common_log_on(
    cluster: SparkSession, path: Path, k: int, parts: int | None = None
) -> tuple[QueryLog, ReadReport]:
    """Return the log at `path` with only the queries that `k` people or more entered; a report.

    All its users are there. Events stand in no order, and have no times.
    """
    parts = parts or usual_parts([path], cluster.cores)
    pieces = pieces_of([path], None, piece_size([path], cluster.cores))
    deal = cluster.task(partial(deal_lines, parts=parts, most=FIRST_REJECTS))
    dealt = cluster.items(pieces).flatMap(deal).partitionBy(parts, int)
    logs = cluster.kept(dealt.mapPartitions(cluster.task(_log)))
    spread = logs.flatMap(cluster.task(partial(people_by_query, buckets=parts)))
    add = cluster.task(partial(_common, k=k))
    queries = sorted(cluster.stream(spread.partitionBy(parts, int).mapPartitions(add)))
    # All common queries go to each part: of a large log they are few, as most are one person's.
    keep = cluster.task(partial(_kept, queries=queries))
    made: list[tuple[PartRead, CommonEvents]] = [*cluster.stream(logs.map(keep))]
    reads = [read for read, _ in made]
    own = (one for read in reads for one in read.reads)
    sums = (sum(getattr(read, of) for read in reads) for of in ("events", "repeats"))
    report = report_of(files_read(pieces, own, [path]), *sums)
    return united_log([events for _, events in made], queries), report


def _log(dealt: Iterator[Dealt]) -> list[PartLog]:
    return [log_of_part(content for _, content in dealt)]


def _common(counts: Iterator[tuple[int, Counts]], k: int) -> list[str]:
    return common_in((some for _, some in counts), k)


def _kept(part: PartLog, queries: list[str]) -> tuple[PartRead, CommonEvents]:
    return PartRead(part.reads, part.events, part.repeats), common_events(part, queries)

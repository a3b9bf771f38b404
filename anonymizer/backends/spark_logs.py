"""Logs on Spark: a task for each piece of a log, then one for each part.

Profiles are made of the parts; so are the queries that many people entered, which are counted in
each part and added up by a hash of the query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from ..arrays import Ints
from ..model import Profiles, QueryLog
from ..profiles.events import Times
from ..profiles.origins import Origins
from ..querylog.reading import FIRST_REJECTS, ReadReport, Reject
from .common_queries import (
    CommonEvents,
    PartLog,
    common_events,
    common_in,
    log_of_part,
    people_by_query,
    united_log,
)
from .log_pieces import (
    PartRead,
    Piece,
    deal_lines,
    files_read,
    piece_size,
    pieces_of,
    report_of_parts,
    usual_parts,
)
from .log_profiles import (
    PartChoices,
    PartCounts,
    PartOwners,
    PartSummary,
    chosen_owners,
    counts_in_part,
    owners_in_part,
    united_counts,
)
from .spark import SparkSession

OnRead = Callable[[ReadReport, int | None, int], object]


class MadeInParts(NamedTuple):
    """Profiles of a log, and what was read of it."""

    profiles: Profiles
    held_out: QueryLog
    origins: Origins | None
    report: ReadReport
    dropped: int | None  # robots


def profiles_on(
    cluster: SparkSession,
    paths: Sequence[Path],
    how: PartChoices,
    *,
    form: str | None = None,
    parts: int | None = None,
    on_reject: Callable[[Reject], object] | None = None,
    on_read: OnRead = lambda _report, _dropped, _left: None,
) -> MadeInParts:
    """Return the profiles of the logs at `paths`, made on the `cluster` in `parts`.

    They are those of one machine. Each reject goes to `on_reject`, if given, in their order. Then
    `on_read` may refuse: it gets the report, the robots dropped and the events that are left.
    """
    # Here, so that a wrong choice does not wait for the cluster.
    how.choices.check()
    most = None if on_reject else FIRST_REJECTS
    work = partial(owners_in_part, how=how)
    pieces, owned = _in_parts(cluster, paths, work, form, parts, most)
    summaries: list[PartSummary] = [*cluster.stream(owned.map(attrgetter("summary")))]
    reads = [part.read for part in summaries]
    if on_reject:
        for path, _, read in files_read(pieces, reads, paths):
            for line, reason in read.rejects:
                on_reject((str(path), line, reason))
    report = report_of_parts(pieces, reads, paths)
    dropped = None if how.robots is None else sum(part.dropped or 0 for part in summaries)
    on_read(report, dropped, sum(part.left for part in summaries))
    chosen = chosen_owners(summaries, how.choices)
    own = [*zip(chosen.owners, chosen.rows, strict=True)]
    # Each part gets its own people only: all of them would be large on each worker.
    count = cluster.task(partial(_counts, times=chosen.times, how=how))
    counts = owned.zip(cluster.items(own)).map(count)
    return MadeInParts(*united_counts(cluster.stream(counts), chosen, how), report, dropped)


def common_log_on(
    cluster: SparkSession, path: Path, k: int, parts: int | None = None
) -> tuple[QueryLog, ReadReport]:
    """Return the log at `path` with only the queries that `k` people or more entered; a report.

    All its users are there. Events stand in no order, and have no times.
    """
    pieces, logs = _in_parts(cluster, [path], log_of_part, None, parts, FIRST_REJECTS)
    buckets = logs.getNumPartitions()
    spread = logs.flatMap(cluster.task(partial(people_by_query, buckets=buckets)))
    common = cluster.by_part(spread, buckets, partial(common_in, k=k))
    queries = sorted(query for some in cluster.stream(common) for query in some)
    # All common queries go to each part: of a large log they are few, as most are one person's.
    keep = cluster.task(partial(_kept, queries=queries))
    made: list[tuple[PartRead, CommonEvents]] = [*cluster.stream(logs.map(keep))]
    report = report_of_parts(pieces, [read for read, _ in made], [path])
    return united_log([events for _, events in made], queries), report


def _in_parts(
    cluster: SparkSession,
    paths: Sequence[Path],
    work: Callable[..., Any],
    form: str | None,
    parts: int | None,
    most: int | None,
) -> tuple[list[Piece], Any]:
    """Return the pieces of the logs at `paths`, and an RDD of what `work` makes of `parts`."""
    parts = parts or usual_parts(paths, cluster.cores)
    # Short logs are cut, too, so that all cores have some of them.
    pieces = pieces_of(paths, form, piece_size(paths, cluster.cores))
    deal = cluster.task(partial(deal_lines, parts=parts, most=most))
    made = cluster.by_part(cluster.items(pieces).flatMap(deal), parts, work)
    return pieces, cluster.kept(made)


def _counts(
    one: tuple[PartOwners, tuple[Ints, Ints]], times: Times, how: PartChoices
) -> PartCounts | None:
    part, (owners, rows) = one
    return counts_in_part(part, owners, rows, times, how)


def _kept(part: PartLog, queries: list[str]) -> tuple[PartRead, CommonEvents]:
    return part.read, common_events(part, queries)

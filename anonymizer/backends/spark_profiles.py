"""Profiles of a log on Spark: a task for each piece of the log, then one for each part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..arrays import Ints
from ..model import Profiles, QueryLog
from ..profiles.events import Times
from ..profiles.origins import Origins
from ..querylog.reading import FIRST_REJECTS, ReadReport, Reject, report_of
from .log_pieces import Dealt, deal_lines, files_read, piece_size, pieces_of, usual_parts
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
    parts = parts or usual_parts(paths, cluster.cores)
    # Short logs are cut, too, so that all cores have some of them.
    pieces = pieces_of(paths, form, piece_size(paths, cluster.cores))
    most = None if on_reject else FIRST_REJECTS
    deal = cluster.task(partial(deal_lines, parts=parts, most=most))
    owners = cluster.task(partial(_owners, how=how))
    dealt = cluster.items(pieces).flatMap(deal).partitionBy(parts, int)
    owned = cluster.kept(dealt.mapPartitions(owners))
    summaries: list[PartSummary] = [*cluster.stream(owned.map(_summary))]
    reads = (read for part in summaries for read in part.reads)
    files = files_read(pieces, reads, paths)
    if on_reject:
        for path, _, read in files:
            for line, reason in read.rejects:
                on_reject((str(path), line, reason))
    events, repeats = (sum(getattr(one, of) for one in summaries) for of in ("events", "repeats"))
    report = report_of(files, events, repeats)
    dropped = None if how.robots is None else sum(part.dropped or 0 for part in summaries)
    on_read(report, dropped, sum(part.left for part in summaries))
    chosen = chosen_owners(summaries, how.choices)
    own = [*zip(chosen.owners, chosen.rows, strict=True)]
    # Each part gets its own people only: all of them would be large on each worker.
    count = cluster.task(partial(_counts, times=chosen.times, how=how))
    counts = owned.zip(cluster.items(own)).map(count)
    return MadeInParts(*united_counts(cluster.stream(counts), chosen, how), report, dropped)


def _owners(dealt: Iterator[Dealt], how: PartChoices) -> list[PartOwners]:
    return [owners_in_part((content for _, content in dealt), how)]


def _summary(part: PartOwners) -> PartSummary:
    return part.summary


def _counts(
    one: tuple[PartOwners, tuple[Ints, Ints]], times: Times, how: PartChoices
) -> PartCounts | None:
    part, (owners, rows) = one
    return counts_in_part(part, owners, rows, times, how)

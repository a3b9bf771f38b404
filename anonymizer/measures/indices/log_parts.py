"""The indices of a log and what was released of it, part by part of its users.

A user's indices depend on nobody else's lines. So parts give what one machine gives, to the last
digit. Only the order of users, and with it the rounding of means, is settled at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import Ints
from ...backends.common_queries import first_places
from ...backends.log_pieces import (
    Content,
    PartRead,
    Piece,
    deal_lines,
    part_of_log,
    piece_size,
    pieces_of,
    report_of_parts,
    usual_parts,
)
from ...querylog.reading import FIRST_REJECTS, ReadReport
from .log_pairs import (
    LogIndices,
    LogPair,
    QueryPart,
    contributions,
    log_indices,
    refuse_unknown,
    unknown_users,
)

if TYPE_CHECKING:
    from ...backends.spark import SparkSession

BEFORE, AFTER = 0, 1  # which log of the pair


class LogFile(NamedTuple):
    """A log of the pair, its format if that is not left to its lines, and users by its names."""

    path: Path
    form: str | None
    user_of: Mapping[str, str] | None = None


class HowMeasured(NamedTuple):
    """How indices are computed, and how many of the queries that add most are wanted."""

    probabilities: Mapping[str, float] | None
    spi_weights: str
    empty: str
    most: int


class PartIndices(NamedTuple):
    """What one part gives."""

    reads: tuple[PartRead, PartRead]  # of each log
    unknown: tuple[int, int]  # users of the released log: those unknown to the other, and all
    first: Ints  # place of each user's first line
    indices: LogIndices | None  # None without users, or with unknown ones
    most: list[tuple[int, QueryPart]]  # with the place of the user


def indices_on(
    cluster: SparkSession,
    before: LogFile,
    after: LogFile,
    how: HowMeasured,
    parts: int | None = None,
) -> tuple[list[PartIndices], tuple[ReadReport, ReadReport]]:
    """Return the indices of parts of two logs, made on the `cluster`, and a report on each log."""
    paths = [log.path for log in (before, after)]
    parts = parts or usual_parts(paths, cluster.cores)
    pieces, dealt = [], []
    for which, log in enumerate((before, after)):
        own = pieces_of([log.path], log.form, piece_size(paths, cluster.cores))
        # Both logs are dealt alike, so that all lines of a user meet.
        deal = partial(_dealt, which=which, parts=parts, user_of=log.user_of)
        pieces.append(own)
        dealt.append(cluster.items(own).flatMap(cluster.task(deal)))
    measure = partial(indices_of_part, how=how)
    results = [*cluster.stream(cluster.by_part(dealt[0].union(dealt[1]), parts, measure))]

    def report(which: int) -> ReadReport:
        reads = [part.reads[which] for part in results]
        return report_of_parts(pieces[which], reads, [paths[which]])

    return results, (report(BEFORE), report(AFTER))


def _dealt(
    piece: Piece, which: int, parts: int, user_of: Mapping[str, str] | None
) -> Iterator[tuple[int, tuple[int, Content]]]:
    for part, content in deal_lines(piece, parts, FIRST_REJECTS, user_of):
        yield part, (which, content)


def indices_of_part(dealt: Iterable[tuple[int, Content]], how: HowMeasured) -> PartIndices:
    """Return the indices of the users whose lines of both logs were `dealt`."""
    both: tuple[list[Content], list[Content]] = ([], [])
    for which, content in dealt:
        both[which].append(content)
    (before, read), (after, more) = (
        part_of_log(some, folded=which == BEFORE) for which, some in enumerate(both)
    )
    logs = before.log(), after.log()
    first, unknown = first_places(logs[BEFORE], before.places), unknown_users(*logs)
    made = PartIndices((read, more), (unknown, len(logs[AFTER].users)), first, None, [])
    # All parts together say how many are unknown.
    if unknown or not first.size:
        return made
    pair = LogPair.of(*logs)
    indices = log_indices(pair, how.probabilities, how.spi_weights, how.empty)
    largest = contributions(pair, how.probabilities, how.spi_weights, how.most)
    place = dict(zip(logs[BEFORE].users, first.tolist(), strict=True))
    return made._replace(indices=indices, most=[(place[one.user], one) for one in largest])


def united_indices(parts: Sequence[PartIndices], most: int) -> tuple[LogIndices, list[QueryPart]]:
    """Return the indices of all `parts`, and up to `most` queries that add most.

    Refuse a released log with users who are unknown to the other.
    """
    refuse_unknown(*(sum(part.unknown[at] for part in parts) for at in (0, 1)))
    some = [part for part in parts if part.indices]
    made = [part.indices for part in some if part.indices]
    order = np.argsort(np.concatenate([part.first for part in some]))
    users = [user for one in made for user in one.users]

    def in_order(name: str) -> np.ndarray:
        return np.concatenate([one.columns[name] for one in made])[order]

    columns = {name: in_order(name) for name in made[0].columns}
    sizes, released = (
        np.concatenate([getattr(one, name) for one in made])[order]
        for name in ("sizes", "released")
    )
    # As one machine has them: the first of equals is the earlier user's, then by the alphabet.
    largest = sorted(
        (row for part in some for row in part.most),
        key=lambda row: (-row[1].JSD, row[0], row[1].query),
    )
    indices = LogIndices(tuple(users[at] for at in order.tolist()), columns, sizes, released)
    return indices, [row for _, row in largest[:most]]

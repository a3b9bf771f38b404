"""A query log cut into pieces, whose good lines are dealt into parts by the hash of the user [I/O].

All lines of a user come into one part, in the order of the log. So a part is folded, and made into
profiles, as if it were a log of its own. A line's place says where it stood in the whole log.

    files ─▶ pieces ─▶ lines ─▶ dealt lines ─▶ one part's events
             (each piece is a task)            (each part is a task)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ints
from ..compiled import compiled
from ..errors import BadInput
from ..model import QueryLog
from ..querylog.files import can_be_cut, lines_between, opened
from ..querylog.folding import Folding
from ..querylog.reading import LinesRead, ReadReport, check_reading, report_of
from ..querylog.scanning import GOOD, ScannedLines, scanned

PIECE = 24 << 20  # bytes of a file that is cut
_BYTES = 256 << 20  # of a log's files in a part, unless parts are named
_AT_ONCE = 1 << 24  # bytes of lines that are dealt together
_LINES = 40  # bits of a place that say the line in its piece; the piece stands above them


class Piece(NamedTuple):
    """Lines of a log: those that begin in some bytes of a file, or all."""

    number: int
    file: int
    path: Path
    layout: str
    form: str | None
    span: tuple[int, int] | None  # bytes; None: the whole file
    size: int  # bytes of the file


class DealtLines(NamedTuple):
    """Good lines of users of one part, in the order of the log."""

    rows: ScannedLines
    places: Ints


class PieceRead(NamedTuple):
    """What became of the lines of a piece."""

    number: int
    file: int
    read: LinesRead


class PartRead(NamedTuple):
    """What became of the lines of a part: of the pieces that it tells of, and its own events."""

    pieces: list[PieceRead]
    events: int
    repeats: int


Content = DealtLines | PieceRead  # of a part
Dealt = tuple[int, Content]  # the part first


def pieces_of(paths: Sequence[Path], form: str | None, size: int = PIECE) -> list[Piece]:
    """Return the pieces of the logs at `paths`, of about `size` bytes each where a file is cut."""
    check_reading(paths, form)
    pieces: list[Piece] = []
    for file, path in enumerate(paths):
        with opened(path, form) as log:
            layout = log.layout
        spans: list[tuple[int, int] | None] = [None]
        total = path.stat().st_size
        if can_be_cut(path, form):
            spans = [(low, min(low + size, total)) for low in range(0, max(total, 1), size)]
        for span in spans:
            pieces.append(Piece(len(pieces), file, path.absolute(), layout, form, span, total))
    return pieces


def usual_parts(paths: Sequence[Path], cores: int) -> int:
    """Return the number of parts for the logs at `paths` on `cores` cores."""
    return max(2 * cores, sum(path.stat().st_size for path in paths) // _BYTES)


def piece_size(paths: Sequence[Path], cores: int) -> int:
    """Return the bytes of a piece of the logs at `paths`, of which each core gets a few."""
    size = sum(path.stat().st_size for path in paths) // (4 * cores)
    return min(PIECE, max(size, 1 << 16))


def deal_lines(
    piece: Piece, parts: int, most: int | None, names: Mapping[str, str] | None = None
) -> Iterator[Dealt]:
    """Yield the good lines of `piece` by part, and at last what became of all its lines.

    Up to `most` rejects are kept, or all for None. Users are called by
    their `names`, if given, and each must have one.
    """
    read = LinesRead()
    for batch in _gathered(_lines_of(piece)):
        rows, refused = scanned(batch, piece.layout)
        before = read.lines
        read.add(rows, refused, most)
        if names is not None:
            rows = _renamed(rows, names)
        # Users are dealt as the reader names them: bytes may differ, such as 5 and "5" in JSON.
        part_of = np.full(rows.state.size, -1, dtype=np.int32)
        _deal(rows, parts, part_of)
        order = np.argsort(part_of, kind="stable")
        ends = np.searchsorted(part_of[order], np.arange(parts + 1))
        for part in np.flatnonzero(np.diff(ends)).tolist():
            own = order[ends[part] : ends[part + 1]]
            places = (piece.number << _LINES) + before + own
            yield part, DealtLines(_some(rows, own), places)
    # With the lines, as what a task returns apart would count twice where Spark does it twice.
    yield piece.number % parts, PieceRead(piece.number, piece.file, read)


def part_of_log(dealt: Iterable[Content], *, folded: bool = True) -> tuple[Folding, PartRead]:
    """Return the events of a part from the lines `dealt` to it, and what was read."""
    dealt = [*dealt]
    folding = Folding(folded=folded, placed=True)
    # A part's lines come from many machines, in any order.
    lines = [some for some in dealt if isinstance(some, DealtLines)]
    for rows, places in sorted(lines, key=lambda some: int(some.places[0])):
        folding.add(rows, places)
    reads = [some for some in dealt if isinstance(some, PieceRead)]
    return folding, PartRead(reads, folding.sizes.events, folding.sizes.repeats)


def files_read(
    pieces: Sequence[Piece], parts: Iterable[PartRead], paths: Sequence[Path]
) -> list[tuple[Path, str, LinesRead]]:
    """Return what became of the lines of each of `paths`, cut into `pieces`, by all `parts`."""
    layouts = {piece.file: piece.layout for piece in pieces}
    files = [(path, layouts[at], LinesRead()) for at, path in enumerate(paths)]
    reads = (piece for part in parts for piece in part.pieces)
    for piece in sorted(reads, key=lambda one: one.number):
        files[piece.file][2].extend(piece.read)
    return files


def report_of_parts(
    pieces: Sequence[Piece], parts: Sequence[PartRead], paths: Sequence[Path]
) -> ReadReport:
    """Return the report on the files in `paths`, cut into `pieces`, by all `parts`."""
    events, repeats = (sum(getattr(part, of) for part in parts) for of in ("events", "repeats"))
    return report_of(files_read(pieces, parts, paths), events, repeats)


def of_users(log: QueryLog, places: Ints, kept: QueryLog) -> Ints:
    """Return the `places` of those events of `log` whose users are all in `kept`."""
    there = {*kept.users}
    among = np.array([user in there for user in log.users], dtype=np.bool_)
    stay: Ints = places[among[log.user]] if among.size else places[:0]
    return stay


def _lines_of(piece: Piece) -> Iterator[bytes]:
    if piece.span:
        yield from lines_between(piece.path, *piece.span)
    else:
        with opened(piece.path, piece.form) as log:
            yield from log.batches
    # Pieces of two logs would make a third that never was.
    if piece.path.stat().st_size != piece.size:
        raise BadInput(f"{piece.path}: it changed while it was read, or differs on a worker")


def _gathered(batches: Iterator[bytes]) -> Iterator[bytes]:
    """Yield `batches` joined to some megabytes: many parts would get crumbs of each."""
    some: list[bytes] = []
    size = 0
    for batch in batches:
        some.append(batch)
        size += len(batch)
        if size >= _AT_ONCE:
            yield b"\n".join(some)
            some, size = [], 0
    if some:
        yield b"\n".join(some)


def _some(rows: ScannedLines, lines: Ints) -> ScannedLines:
    """Return these good `lines` of `rows`, with their own text only."""
    ends = np.cumsum(rows.query_end[lines] - rows.user_at[lines], dtype=np.int64)
    text = np.empty(int(ends[-1]), dtype=np.uint8)
    _copy_texts(rows.text, rows.user_at[lines], ends, text)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int32)
    return ScannedLines(
        text,
        starts,
        starts + (rows.query_at[lines] - rows.user_at[lines]),
        ends.astype(np.int32),
        rows.time[lines],
        rows.clicks[lines],
        np.zeros(lines.size, dtype=np.int8),
    )


def _renamed(rows: ScannedLines, names: Mapping[str, str]) -> ScannedLines:
    """Return the good lines of `rows` with each user called by `names`."""
    good = np.flatnonzero(rows.state == GOOD)
    raw, texts = rows.text.tobytes(), list[bytes]()
    user_at, query_at, query_end = (column.copy() for column in rows[1:4])
    used = 0
    spans = zip(*(column[good].tolist() for column in rows[1:4]), strict=True)
    for line, (low, middle, high) in zip(good.tolist(), spans, strict=True):
        user = raw[low:middle].decode()
        if user not in names:
            raise BadInput("the released log has a row that nobody has; make the release again")
        new, query = names[user].encode(), raw[middle:high]
        user_at[line], query_at[line] = used, used + len(new)
        used += len(new) + len(query)
        query_end[line] = used
        texts += (new, query)
    text = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return ScannedLines(text, user_at, query_at, query_end, *rows[4:])


@compiled
def _deal(rows: Any, parts: int, part_of: Any) -> None:
    """Note the part of each good line, by the hash FNV-1a of its user."""
    # No secret key: what is made of the parts does not tell in which part anybody was.
    for line in range(rows.state.size):
        if rows.state[line] == GOOD:
            key = np.uint64(14695981039346656037)
            for at in range(rows.user_at[line], rows.query_at[line]):
                key = (key ^ np.uint64(rows.text[at])) * np.uint64(1099511628211)
            part_of[line] = (key ^ (key >> np.uint64(32))) % np.uint64(parts)


@compiled
def _copy_texts(text: Any, starts: Any, ends: Any, copied: Any) -> None:
    """Lay texts that begin at `starts` end to end."""
    low = 0
    for line in range(ends.size):
        for at in range(ends[line] - low):
            copied[low + at] = text[starts[line] + at]
        low = ends[line]

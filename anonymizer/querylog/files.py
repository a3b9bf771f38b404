"""Open query logs [I/O]: find the format of a file, and read it as batches of whole lines."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, NamedTuple, TypeVar

from ..errors import BadInput
from ..storage.records import read_object
from .formats import BOM, LONGEST_LINE, Skipped, time_of

T = TypeVar("T")

CHUNK = 1 << 20  # bytes read at once
FORMATS = ("aol", "tsv", "excite", "jsonl", "parquet")
RELEASED = "released"  # no user's log: nobody names it, and times and clicks are not read
_FIRST_LINES = 1 << 16  # bytes in which a format is looked for
# A line cut here is still refused as too long after its BOM and its CR are taken away.
_CUT = LONGEST_LINE + 8
_PACKED: dict[str, ModuleType] = {".gz": gzip, ".bz2": bz2}
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}
_HEADER = re.compile(rb"user\t(query|time\tquery\s*$)", re.IGNORECASE)
_AOL_TIME = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


class OpenLog(NamedTuple):
    """The layout of a log's lines, and batches of whole lines, each without its last LF."""

    layout: str
    batches: Iterator[bytes]


@contextmanager
def opened(path: Path, form: str | None) -> Iterator[OpenLog]:
    """Open the log at `path`; if `form` is None, its name or its first lines give the format."""
    try:
        if (form or _format_by_name(path)) == "parquet":
            # Only Parquet needs pyarrow, which is optional and slow to import.
            from .parquet import batches_of

            yield OpenLog("rows", batches_of(path))
            return
        with _PACKED.get(path.suffix.lower(), io).open(path, "rb") as stream:
            head = stream.read(_FIRST_LINES)
            layout = form or _format_by_name(path) or format_of(head)
            if layout == "parquet":
                raise BadInput(f"{path}: this is Parquet; name it .parquet or say --format parquet")
            rest = iter(lambda: stream.read(CHUNK), b"")
            yield OpenLog(layout, whole_lines(chain([head], rest)))
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(_refusal(path, error)) from error


def can_be_cut(path: Path, form: str | None) -> bool:
    """Return whether a reader may begin inside the log at `path`, of format `form` if given."""
    parquet = (form or _format_by_name(path)) == "parquet"
    return not parquet and path.suffix.lower() not in _PACKED


def lines_between(path: Path, low: int, high: int) -> Iterator[bytes]:
    """Yield the lines that begin in bytes `low` to `high` of the file at `path`, in batches."""
    try:
        with path.open("rb") as stream:
            if low:
                # The line that began before is not ours, however long it is.
                stream.seek(low - 1)
                while (skipped := stream.readline(CHUNK)) and not skipped.endswith(b"\n"):
                    pass
            yield from whole_lines(_until(stream, high))
    except OSError as error:
        raise BadInput(_refusal(path, error)) from error


def _until(stream: BinaryIO, high: int) -> Iterator[bytes]:
    """Yield bytes of `stream` to the end of the line that holds the byte before `high`."""
    chunk = b"\n"
    while (at := stream.tell()) < high and (chunk := stream.read(min(CHUNK, high - at))):
        yield chunk
    while chunk and not chunk.endswith(b"\n") and (chunk := stream.readline(CHUNK)):
        yield chunk


def form_in_pair(path: Path, *, released: bool) -> str | None:
    """Return the format of one log of a pair if it is `released`, or has neither time nor clicks.

    Else return None, as for every log.
    """
    with opened(path, None) as log:
        first = next(log.batches, b"").splitlines() if log.layout in ("aol", "tsv") else [b""]
    untimed = all(line.count(b"\t") == 1 for line in first)
    return RELEASED if untimed or (released and log.layout in ("aol", "tsv")) else None


def may_be_log(path: Path) -> bool:
    """Return whether `path` may be a log: profiles have the suffix .npz, or no query in .jsonl."""
    if path.suffix != ".jsonl":
        return path.suffix != ".npz"
    try:
        with path.open("rb") as file:
            return "query" in read_object(file.readline(_FIRST_LINES))
    except (ValueError, RecursionError):
        return False
    except OSError as error:
        raise BadInput(_refusal(path, error)) from error


def _format_by_name(path: Path) -> str | None:
    suffixes = [suffix for suffix in path.suffixes if suffix.lower() not in _PACKED]
    return _SUFFIXES.get(suffixes[-1].lower()) if suffixes else None


def format_of(head: bytes) -> str:
    """Return the format of the first line in `head` that clearly has one, else a likely one."""
    if head.startswith(b"PAR1"):
        return "parquet"
    likely = "aol"
    for line in head.removeprefix(BOM).splitlines():
        if line.startswith(b"{") and line.rstrip().endswith(b"}"):
            return "jsonl"
        columns = line.split(b"\t")
        if len(columns) in (4, 5) or (len(columns) == 3 and _AOL_TIME.fullmatch(columns[2])):
            return "aol"
        if len(columns) == 3:
            header = _HEADER.match(line)
            timed = [_is_time(column) for column in columns[1:]]
            if header or timed[0] != timed[1]:
                return (
                    "excite" if timed[0] or (header and header[1][:4].lower() == b"time") else "tsv"
                )
            # A query that is a number looks like a time, too: another line decides.
            likely = "tsv" if timed[0] else likely
    return likely


def why_none_fits(path: Path) -> str:
    """Return what is wrong with the bytes of the log at `path`, of which hardly a line is right."""
    if _format_by_name(path) == "parquet":
        return ""
    with _PACKED.get(path.suffix.lower(), io).open(path, "rb") as stream:
        head = stream.read(_FIRST_LINES)
    # Without a BOM, every second byte of most texts in UTF-16 is NUL.
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or head.count(0) > len(head) // 4:
        return "it is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8"
    if b"\r" in head.rstrip(b"\r") and b"\n" not in head:
        return "its lines end in CR alone, not LF; convert it: tr '\\r' '\\n'"
    return ""


def _is_time(column: bytes) -> bool:
    try:
        time_of(column.decode("ascii", "replace"))
    except Skipped:
        return False
    return True


def _refusal(path: Path, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{path}: there is no such file; name an existing query log"
    if isinstance(error, IsADirectoryError):
        return f"{path}: this is a folder; name the log files in it"
    # gzip's own message quotes the first bytes of the log, so it must not be shown.
    why = getattr(error, "strerror", None) or "incomplete, or not packed as its name says"
    return f"{path}: the log can't be read ({why}); check permissions, or fetch it again"


def whole_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines of `chunks` in batches, each without its last LF; cut a huge line short."""
    rest = b""
    for chunk in chunks:
        lines, newline, rest = (rest + chunk).rpartition(b"\n")
        # A file without line ends must not fill the memory.
        rest = rest[:_CUT]
        if newline:
            yield lines
    if rest:
        yield rest


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield each of `items` while a thread already fetches the next one."""
    with ThreadPoolExecutor(1, thread_name_prefix="log") as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item

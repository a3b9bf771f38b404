"""Files of query logs [I/O] -> batches of whole lines; which format a file has."""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BufferedIOBase
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from .model import BadInput
from .querylog_lines import BOM, LONGEST_LINE, Skipped, time_of

T = TypeVar("T")

CHUNK = 1 << 20  # bytes read at once
FORMATS = ("aol", "tsv", "jsonl", "parquet")
_FIRST_LINES = 1 << 16  # bytes that tell a format
_CUT = LONGEST_LINE + 8  # still too long when a BOM and a CR are taken away
_PACKED = (".gz", ".bz2")
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}
_HEADER = re.compile(rb"user\tquery\t", re.IGNORECASE)
_AOL_TIME = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


class Opened(NamedTuple):
    """A log file's batches of whole lines, the last LF left out, and how its lines are laid out."""

    layout: str
    batches: Iterator[bytes]


@contextmanager
def opened(path: Path, form: str | None) -> Iterator[Opened]:
    """Open a log; its format is the one given, or what suffix and first lines tell."""
    try:
        if (form or _format_by_name(path)) == "parquet":
            from .querylog_parquet import batches_of

            yield Opened("rows", batches_of(path))
            return
        with _stream(path) as stream:
            head = stream.read(_FIRST_LINES)
            layout = form or _format_by_name(path) or format_of(head)
            if layout == "parquet":
                raise BadInput(f"{path}: this is Parquet; name it .parquet or say --format parquet")
            rest = iter(lambda: stream.read(CHUNK), b"")
            yield Opened(layout, whole_lines(chain([head], rest)))
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(_refusal(path, error)) from error


def _stream(path: Path) -> BufferedIOBase:
    match path.suffix.lower():
        case ".gz":
            return gzip.open(path, "rb")
        case ".bz2":
            return bz2.open(path, "rb")
        case _:
            return path.open("rb")


def _format_by_name(path: Path) -> str | None:
    suffixes = [suffix for suffix in path.suffixes if suffix.lower() not in _PACKED]
    return _SUFFIXES.get(suffixes[-1].lower()) if suffixes else None


def format_of(head: bytes) -> str:
    """Tell a format by the first line that is clearly of one; AOL's where none is."""
    if head.startswith(b"PAR1"):
        return "parquet"
    for line in head.removeprefix(BOM).splitlines():
        if line.startswith(b"{") and line.rstrip().endswith(b"}"):
            return "jsonl"
        columns = line.split(b"\t")
        if len(columns) in (4, 5) or (len(columns) == 3 and _AOL_TIME.fullmatch(columns[2])):
            return "aol"
        if len(columns) == 3 and (_is_time(columns[2]) or _HEADER.match(line)):
            return "tsv"
    return "aol"


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
    # A library's own text may quote the first bytes of the log.
    why = getattr(error, "strerror", None) or "not whole, or not packed as its name says"
    return f"{path}: the log can't be read ({why}); check permissions, or fetch it again"


def whole_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield whole lines, many at a time, the last LF left out; cut the end off a huge line."""
    rest = b""
    for chunk in chunks:
        lines, newline, rest = (rest + chunk).rpartition(b"\n")
        rest = rest[:_CUT]
        if newline:
            yield lines
    if rest:
        yield rest


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield what an iterator yields while a thread already fetches the next."""
    with ThreadPoolExecutor(1, thread_name_prefix="log") as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item

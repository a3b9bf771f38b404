"""Query logs in AOL's format [I/O] -> QueryLog; every line is accounted for.

    AnonID <tab> Query <tab> QueryTime [<tab> ItemRank [<tab> ClickURL]]

A query is normalized: lower case, runs of white space become one blank. A click repeats its
query's line and a next-page request repeats user and query later, so consecutive lines of one
user with the same normalized query are one event, however far apart in time. Consecutive means
among this user's lines: lines of other users, empty queries and rejected lines don't part them,
nor does the end of a file. The event has the earliest time of its lines; its clicks are the
lines that name a rank or a URL.

A line that is not UTF-8 is rejected, not repaired: two broken user ids could be repaired into
one. A BOM and a CR at the ends of a line are dropped. Lines end with LF and with nothing else,
and no quoting is known, so that no stray character can swallow the lines after it.
"""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from io import BufferedIOBase
from pathlib import Path

import numpy as np

from .model import BadInput, Ints, Progress, QueryLog, silent

LONGEST_LINE = 1 << 20  # bytes
FIRST_REJECTS = 20

HEADER = "header"
EMPTY = "empty query"
TOO_LONG = "longer than 1 MB"
NUL = "NUL byte"
NOT_UTF8 = "invalid UTF-8"
TOO_FEW = "too few columns"
TOO_MANY = "too many columns"
BAD_USER = "bad user id"
BAD_TIME = "bad time"

_EPOCH = date(1970, 1, 1).toordinal()
_DAY_AND_HOUR = re.compile(r"(\d{4})-(\d\d)-(\d\d) ([01]\d|2[0-3])", re.ASCII)
_MINUTE_AND_SECOND = re.compile(r":([0-5]\d):([0-5]\d)", re.ASCII)
_BOM = re.compile("^\ufeff", re.MULTILINE)
_CUT = LONGEST_LINE + 8  # still too long when a BOM and a CR are taken away


@dataclass(frozen=True)
class ReadReport:
    """What became of every line: lines = events + repeats + empty + rejected + headers."""

    lines: int
    events: int
    repeats: int  # clicks and next-page requests folded into their event
    empty: int  # queries that are blank or "-"
    headers: int
    rejected: int
    reasons: dict[str, int]  # why lines were rejected -> how many
    first_rejects: tuple[tuple[str, int, str], ...]  # file, line number, reason; never the text


def read_log(paths: Sequence[Path], progress: Progress = silent) -> tuple[QueryLog, ReadReport]:
    """Read log files (plain, .gz, .bz2) as one log; progress gets the lines read so far."""
    if not paths:
        raise BadInput("no query log was named; give at least one file")
    reading = _Reading()
    for path in paths:
        try:
            with _opened(path) as stream:
                reading.read(path, stream, progress)
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput(_refusal(path, error)) from error
    return reading.log(), reading.report()


def _opened(path: Path) -> BufferedIOBase:
    match path.suffix.lower():
        case ".gz":
            return gzip.open(path, "rb")
        case ".bz2":
            return bz2.open(path, "rb")
        case _:
            return path.open("rb")


def _refusal(path: Path, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{path}: there is no such file; name an existing query log"
    if isinstance(error, IsADirectoryError):
        return f"{path}: this is a folder; name the log files in it"
    # A library's own text may quote the first bytes of the log.
    why = getattr(error, "strerror", None) or "not whole, or not packed as its name says"
    return f"{path}: the log can't be read ({why}); check permissions, or fetch it again"


class _Skipped(Exception):
    """A line that brings no query; its text is the reason."""


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self._latest: dict[str, int] = {}  # user -> their latest event
        self._speaker = ""
        self._said: dict[str, str] = {}  # the speaker's queries, each held once
        self._user = array("q")
        self._query: list[str] = []
        self._time = array("q")
        self._clicks = array("q")
        self._lines = 0
        self._repeats = 0
        self._skipped: Counter[str] = Counter()
        self._rejects: list[tuple[str, int, str]] = []

    def read(self, path: Path, stream: BufferedIOBase, progress: Progress) -> None:
        first = 1
        for lines, suspect in map(_decoded, _batches(stream)):
            for number, line in enumerate(lines, first):
                try:
                    if suspect:
                        _inspect(line)
                    self._add(*_parsed(line))
                except _Skipped as skipped:
                    self._skip(path, number, str(skipped))
            first += len(lines)
            self._lines += len(lines)
            progress(self._lines)

    def _add(self, user: str, query: str, time: int, click: bool) -> None:
        event = self._latest.get(user, -1)
        if event >= 0 and self._query[event] == query:
            self._repeats += 1
            self._clicks[event] += click
            self._time[event] = min(self._time[event], time)
            return
        self._user.append(self._user[event] if event >= 0 else len(self._latest))
        self._latest[user] = len(self._query)
        if user != self._speaker:
            self._speaker, self._said = user, {}
        self._query.append(self._said.setdefault(query, query))
        self._time.append(time)
        self._clicks.append(click)

    def _skip(self, path: Path, number: int, reason: str) -> None:
        self._skipped[reason] += 1
        if reason not in (HEADER, EMPTY) and len(self._rejects) < FIRST_REJECTS:
            self._rejects.append((str(path), number, reason))

    def log(self) -> QueryLog:
        columns = (_ints(self._user), tuple(self._query), _ints(self._time), _ints(self._clicks))
        return QueryLog(tuple(self._latest), *columns)

    def report(self) -> ReadReport:
        reasons = {r: n for r, n in self._skipped.items() if r not in (HEADER, EMPTY)}
        return ReadReport(
            lines=self._lines,
            events=len(self._query),
            repeats=self._repeats,
            empty=self._skipped[EMPTY],
            headers=self._skipped[HEADER],
            rejected=sum(reasons.values()),
            reasons=reasons,
            first_rejects=tuple(self._rejects),
        )


def _ints(values: array[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def _batches(stream: BufferedIOBase) -> Iterator[bytes]:
    """Yield whole lines, many at a time, the last LF left out; cut the end off a huge line."""
    rest = b""
    while chunk := stream.read(LONGEST_LINE):
        lines, newline, rest = (rest + chunk).rpartition(b"\n")
        rest = rest[:_CUT]
        if newline:
            yield lines
    if rest:
        yield rest


def _decoded(batch: bytes) -> tuple[list[str], bool]:
    """Return a batch's lines, and whether one may be broken so that each must be inspected."""
    suspect = b"\0" in batch or len(batch.partition(b"\n")[0]) > LONGEST_LINE
    try:
        text = batch.decode()
    except UnicodeDecodeError:
        suspect = True
        text = batch.decode(errors="surrogateescape")
    text = text.replace("\r\n", "\n").removesuffix("\r")
    if "\ufeff" in text:
        text = _BOM.sub("", text)
    return text.split("\n"), suspect


def _inspect(line: str) -> None:
    encoded = line.encode(errors="surrogateescape")
    if len(encoded) > LONGEST_LINE:
        raise _Skipped(TOO_LONG)
    if b"\0" in encoded:
        raise _Skipped(NUL)
    try:
        encoded.decode()
    except UnicodeDecodeError:
        raise _Skipped(NOT_UTF8) from None


def _parsed(line: str) -> tuple[str, str, int, bool]:
    """Return user, normalized query, time, and whether the line is a click."""
    columns = line.split("\t")
    if len(columns) < 3:
        raise _Skipped(TOO_FEW)
    if len(columns) > 5:
        raise _Skipped(TOO_MANY)
    user = columns[0].strip()
    if not user:
        raise _Skipped(BAD_USER)
    if user == "AnonID" and columns[1] == "Query":
        raise _Skipped(HEADER)
    time = columns[2]
    seconds = _hour(time[:13]) + _within_hour(time[13:])
    query = " ".join(columns[1].lower().split())
    if query in ("", "-"):
        raise _Skipped(EMPTY)
    return user, query, seconds, "".join(columns[3:]).strip() != ""


@lru_cache(maxsize=1 << 14)
def _hour(text: str) -> int:
    """Return the seconds from 1970 to a day and hour such as 2006-03-01 07."""
    found = _DAY_AND_HOUR.fullmatch(text)
    try:
        if found:
            day = date(int(found[1]), int(found[2]), int(found[3])).toordinal() - _EPOCH
            return day * 86_400 + int(found[4]) * 3_600
    except ValueError:
        pass
    raise _Skipped(BAD_TIME)


@lru_cache(maxsize=3_600)
def _within_hour(text: str) -> int:
    """Return the seconds of minutes and seconds such as :17:12."""
    found = _MINUTE_AND_SECOND.fullmatch(text)
    if not found:
        raise _Skipped(BAD_TIME)
    return int(found[1]) * 60 + int(found[2])

"""One line of a query log -> user, normalized query, time and clicks: what each format means.

    aol     AnonID <tab> Query <tab> QueryTime [<tab> ItemRank [<tab> ClickURL]]
            time as 2006-03-01 07:17:12; a line that names a rank or a URL is one click
    tsv     user <tab> query <tab> time                      (AltaVista and the like)
    excite  user <tab> time <tab> query                      (Excite's own order)
    jsonl   {"user": "u1", "query": "java", "time": 1141197432, "clicks": 1}; clicks may be absent,
            a user may be a whole number, and other names are ignored
    rows    user <tab> query <tab> time <tab> clicks: Parquet's rows come in this form
    released  user <tab> query; what follows means nothing in a released log, and is not read

A package may add a format: a function that returns user, query, time and clicks of a line, as rows
have them, or raises Skipped.

All formats but aol know a time by its form. Up to 11 digits are seconds since 1970. 12 digits
are Excite's yymmddhhmmss, where years from 70 on are 19xx. ISO 8601 is a day and a time of day,
with T or a blank between. A fraction is dropped. There may be Z or an offset; without them the
time is UTC. A JSON number is always seconds.

This careful parser is the definition. scanning.py reads plain lines in the same way, but in
compiled loops, and hands every other line to this parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple, cast

from ..families import Addition, Family
from ..storage.records import read_object

LONGEST_LINE = 1 << 20  # bytes
BOM = "\ufeff".encode()

HEADER = "header"
EMPTY = "empty query"
TOO_LONG = "longer than 1 MB"
NUL = "NUL byte"
NOT_UTF8 = "invalid UTF-8"
TOO_FEW = "too few columns"
TOO_MANY = "too many columns"
BAD_USER = "bad user id"
BAD_TIME = "bad time"
BAD_CLICKS = "bad number of clicks"
BAD_JSON = "no JSON object with user, query and time"

_EPOCH = date(1970, 1, 1).toordinal()
_DAY_AND_HOUR = re.compile(r"(\d{4})-(\d\d)-(\d\d) ([01]\d|2[0-3])", re.ASCII)
_MINUTE_AND_SECOND = re.compile(r":([0-5]\d):([0-5]\d)", re.ASCII)
_SECONDS = re.compile(r"\d{1,11}", re.ASCII)
_EXCITE = re.compile(r"(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)", re.ASCII)
_REST_OF_ISO = re.compile(r"(?:\.\d+)?(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d))?", re.ASCII)
_COUNT = re.compile(r"\d{1,9}", re.ASCII)
_CONTROL = re.compile("[\0-\x1f\x7f]")


class LoggedQuery(NamedTuple):
    """The content of a line."""

    user: str
    query: str
    time: int
    clicks: int


class Skipped(Exception):
    """A line without a query to keep; the exception's text is the reason."""


def parsed(line: bytes, layout: str) -> LoggedQuery:
    """Return the content of `line`, without its LF but maybe with CR and BOM; or raise Skipped."""
    line = line.removesuffix(b"\r").removeprefix(BOM)
    if len(line) > LONGEST_LINE:
        raise Skipped(TOO_LONG)
    if b"\0" in line:
        raise Skipped(NUL)
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise Skipped(NOT_UTF8) from None
    return LAYOUTS[layout](text)


def normalized(query: str) -> str:
    """Return `query` in lower case, with one blank for each run of white space."""
    return " ".join(query.lower().split())


def _aol(line: str) -> LoggedQuery:
    columns = _columns(line, 3, 5)
    user = _user(columns[0])
    if user == "AnonID" and columns[1] == "Query":
        raise Skipped(HEADER)
    time = _hour(columns[2][:13]) + _within_hour(columns[2][13:])
    return LoggedQuery(user, _query(columns[1]), time, int("".join(columns[3:]).strip() != ""))


def _row(user: str, query: str, time: str, clicks: str) -> LoggedQuery:
    user = _user(user)
    if user.lower() in ("user", "anonid") and normalized(query) == "query":
        raise Skipped(HEADER)
    seconds = time_of(time)
    if not _COUNT.fullmatch(clicks):
        raise Skipped(BAD_CLICKS)
    return LoggedQuery(user, _query(query), seconds, int(clicks))


def _excite(line: str) -> LoggedQuery:
    user, time, query = _columns(line, 3, 3)
    return _row(user, query, time, "0")


def _json(line: str) -> LoggedQuery:
    try:
        record = read_object(line.encode())
        user, query, time = record["user"], record["query"], record["time"]
    except (ValueError, KeyError, RecursionError):
        raise Skipped(BAD_JSON) from None
    if not isinstance(query, str):
        raise Skipped(BAD_JSON)
    if "\0" in query:
        raise Skipped(NUL)
    if not _is_whole(user) and (not isinstance(user, str) or _CONTROL.search(user)):
        raise Skipped(BAD_USER)
    seconds = time_of(str(time)) if isinstance(time, str) else _whole(time, 10**11, BAD_TIME)
    clicks = _whole(record.get("clicks", 0), 10**9, BAD_CLICKS)
    return LoggedQuery(_user(str(user)), _query(query), seconds, clicks)


Layout = Callable[[str], LoggedQuery]
_OURS: dict[str, Layout] = {
    "aol": _aol,
    "tsv": lambda line: _row(*[*_columns(line, 3, 3), "0"]),
    "excite": _excite,
    "jsonl": _json,
    "rows": lambda line: _row(*_columns(line, 4, 4)),
    "released": lambda line: _row(*[*_columns(line, 2, LONGEST_LINE)[:2], "0", "0"]),
}


def _adopted(read: Callable[[str], Iterable[object]], addition: Addition) -> Layout:
    def layout(line: str) -> LoggedQuery:
        return _row(*(_CONTROL.sub(" ", str(field)) for field in read(line)))

    return cast(Layout, addition.guarded(layout, Skipped))


LAYOUTS: Family[Layout] = Family("veilsearch.readers", _OURS, _adopted)


def _columns(line: str, least: int, most: int) -> list[str]:
    columns = line.split("\t")
    if len(columns) < least:
        raise Skipped(TOO_FEW)
    if len(columns) > most:
        raise Skipped(TOO_MANY)
    return columns


def _user(text: str) -> str:
    user = text.strip()
    if not user:
        raise Skipped(BAD_USER)
    return user


def _query(text: str) -> str:
    query = normalized(text)
    if query in ("", "-"):
        raise Skipped(EMPTY)
    return query


def _is_whole(value: Any) -> bool:
    # Not isinstance: to Python, JSON's true and false are whole numbers, too.
    return type(value) is int


def _whole(value: Any, bound: int, reason: str) -> int:
    if not _is_whole(value) or not 0 <= value < bound:
        raise Skipped(reason)
    return int(value)


def time_of(text: str) -> int:
    """Return the seconds from 1970 to the time that `text` gives in one of the forms of tsv."""
    if _SECONDS.fullmatch(text):
        return int(text)
    if excite := _EXCITE.fullmatch(text):
        year, month, day, hour, minute, second = excite.groups()
        century = "19" if year >= "70" else "20"
        text = f"{century}{year}-{month}-{day} {hour}:{minute}:{second}"
    rest = _REST_OF_ISO.fullmatch(text, 19) if len(text) >= 19 else None
    if not rest or text[10] not in " T":
        raise Skipped(BAD_TIME)
    seconds = _hour(f"{text[:10]} {text[11:13]}") + _within_hour(text[13:19])
    if rest[1]:
        offset = int(rest[2]) * 3_600 + int(rest[3]) * 60
        seconds -= offset if rest[1] == "+" else -offset
    return seconds


# A log of months has a few thousand different hours, and many lines in each.
@lru_cache(maxsize=1 << 14)
def _hour(text: str) -> int:
    """Return the seconds from 1970 to a day and hour such as 2006-03-01 07."""
    match = _DAY_AND_HOUR.fullmatch(text)
    try:
        if match:
            day = date(int(match[1]), int(match[2]), int(match[3])).toordinal() - _EPOCH
            return day * 86_400 + int(match[4]) * 3_600
    except ValueError:
        pass
    raise Skipped(BAD_TIME)


@lru_cache(maxsize=3_600)
def _within_hour(text: str) -> int:
    """Return the seconds in minutes and seconds such as :17:12."""
    match = _MINUTE_AND_SECOND.fullmatch(text)
    if not match:
        raise Skipped(BAD_TIME)
    return int(match[1]) * 60 + int(match[2])

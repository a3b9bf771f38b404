"""Batches of log lines -> columns: plain lines in compiled loops, others by the careful parser.

A plain line has printable ASCII, the right number of columns, a user and a correct time; a CR may
end it. A line with too few columns, such as a blank one, is refused here. Every other line goes
through formats.py and keeps its place. That parser is the definition: both must agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bytes, Ints, Numbers
from ..compiled import compiled
from .formats import EMPTY, LONGEST_LINE, TOO_FEW, Skipped, parsed

GOOD, ODD, BLANK, REFUSED = 0, 1, 2, 3  # states of a line
_NO_TIME = np.int64(-(1 << 62))
_TAB, _LF, _CR, _BLANK, _MINUS = 9, 10, 13, 32, 45
_HEADER_S_QUERY = np.frombuffer(b"query", dtype=np.uint8)
_MONTHS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


class LineShape(NamedTuple):
    """What the compiled parser must know of a layout; with `most` 0, no line is plain."""

    least: int  # columns
    most: int
    loose: bool  # seconds and Excite's times are allowed
    counted: bool  # the fourth column is a number of clicks
    query: int = 1  # the query's column, 1 or 2; the time stands in the other


SHAPES = {
    "aol": LineShape(3, 5, False, False),
    "tsv": LineShape(3, 3, True, False),
    "excite": LineShape(3, 3, True, False, 2),
    "rows": LineShape(4, 4, True, True),
}
_NEVER_PLAIN = LineShape(0, 0, False, False)


class ScannedLines(NamedTuple):
    """Line i's user is text[user_at[i]:query_at[i]], its query follows; or an odd line's place."""

    text: Bytes
    user_at: Numbers
    query_at: Numbers
    query_end: Numbers
    time: Ints
    clicks: Numbers
    state: NDArray[np.int8]


def scanned(batch: bytes, layout: str) -> tuple[ScannedLines, dict[int, str]]:
    """Return the lines of `batch`, and why some are refused: line -> reason."""
    raw = np.frombuffer(batch, dtype=np.uint8)
    lines = int(np.count_nonzero(raw == _LF)) + 1
    rows = ScannedLines(
        text=np.empty(raw.size, dtype=np.uint8),
        user_at=np.empty(lines, dtype=np.int32),
        query_at=np.empty(lines, dtype=np.int32),
        query_end=np.empty(lines, dtype=np.int32),
        time=np.empty(lines, dtype=np.int64),
        clicks=np.zeros(lines, dtype=np.int32),
        state=np.empty(lines, dtype=np.int8),
    )
    used = _scan(raw, SHAPES.get(layout, _NEVER_PLAIN), LONGEST_LINE, rows)
    short = dict.fromkeys(np.flatnonzero(rows.state == REFUSED).tolist(), TOO_FEW)
    odd = np.flatnonzero(rows.state == ODD)
    if not odd.size:
        return rows, short
    # The careful parser takes the odd lines; their texts go behind those of the plain lines.
    more: list[bytes] = []
    refused: dict[int, str] = {}
    spans = zip(rows.user_at[odd].tolist(), rows.query_end[odd].tolist(), strict=True)
    for line, (low, high) in zip(odd.tolist(), spans, strict=True):
        try:
            content = parsed(batch[low:high], layout)
        except Skipped as skipped:
            rows.state[line] = BLANK if str(skipped) == EMPTY else REFUSED
            if rows.state[line] == REFUSED:
                refused[line] = str(skipped)
            continue
        user, query = content.user.encode(), content.query.encode()
        rows.user_at[line], rows.query_at[line] = used, used + len(user)
        used += len(user) + len(query)
        rows.query_end[line], rows.time[line] = used, content.time
        rows.clicks[line], rows.state[line] = content.clicks, GOOD
        more += (user, query)
    behind = np.frombuffer(b"".join(more), dtype=np.uint8)
    text = np.concatenate([rows.text[: used - behind.size], behind])
    return rows._replace(text=text), dict(sorted((short | refused).items()))


@compiled
def _scan(raw: Any, shape: Any, longest: int, rows: Any) -> Any:
    """Parse the plain lines and mark the others; return the length of the plain lines' text."""
    tabs = np.empty(5, dtype=np.int64)
    low = used = line = 0
    while low <= raw.size:
        high, end, columns = _span(raw, low, tabs)
        rows.state[line] = ODD
        rows.user_at[line] = low
        rows.query_end[line] = high
        if 1 <= columns <= shape.most and end - low <= longest:
            if columns < shape.least:
                rows.state[line] = REFUSED
            else:
                used = _parse(raw, low, end, tabs, columns, shape, rows, line, used)
        line += 1
        low = high + 1
    return used


@compiled
def _span(raw: Any, low: int, tabs: Any) -> Any:
    """Return where a line ends, with and without CR, and its number of columns, 0 if not plain."""
    columns, at, plain = 1, low, True
    while at < raw.size:
        byte = raw[at]
        if byte < _BLANK or byte > 126:
            if byte == _LF:
                break
            if byte == _TAB:
                if columns <= tabs.size:
                    tabs[columns - 1] = at
                columns += 1
            elif byte != _CR or (at + 1 < raw.size and raw[at + 1] != _LF):
                plain = False
        at += 1
    end = at - 1 if at > low and raw[at - 1] == _CR else at
    return at, end, columns if plain else 0


@compiled
def _parse(  # noqa: PLR0913 a compiled loop
    raw: Any,
    low: int,
    end: int,
    tabs: Any,
    columns: int,
    shape: Any,
    rows: Any,
    line: int,
    used: int,
) -> Any:
    """Parse a line if nothing about it is odd; else leave it as it was marked."""
    after = tabs[2] if columns > 3 else end
    query_at, query_end, time_at, time_end = tabs[0] + 1, tabs[1], tabs[1] + 1, after
    if shape.query == 2:
        query_at, query_end, time_at, time_end = time_at, time_end, query_at, query_end
    time = _time(raw, time_at, time_end, shape.loose)
    clicks = _clicks(raw, after, end, shape.counted)
    if time == _NO_TIME or clicks < 0:
        return used
    query = _copy(raw, low, tabs[0], rows.text, used, False)
    done = _copy(raw, query_at, query_end, rows.text, query, True)
    if query == used or _is_header(rows.text, query, done):
        return used
    rows.time[line], rows.clicks[line] = time, clicks
    if done == query or (done == query + 1 and rows.text[query] == _MINUS):
        rows.state[line] = BLANK
        return used
    rows.user_at[line], rows.query_at[line], rows.query_end[line] = used, query, done
    rows.state[line] = GOOD
    return done


@compiled
def _is_header(text: Any, low: int, high: int) -> bool:
    """Return whether text[low:high] may be of a header; then the careful parser decides."""
    if high - low != _HEADER_S_QUERY.size:
        return False
    for i in range(_HEADER_S_QUERY.size):  # noqa: SIM110 (numba compiles no generator)
        if text[low + i] != _HEADER_S_QUERY[i]:
            return False
    return True


@compiled
def _copy(raw: Any, low: int, high: int, text: Any, used: int, fold: bool) -> Any:
    """Copy a column without outer blanks; to `fold` is lower case, and one blank for each run."""
    while low < high and raw[low] == _BLANK:
        low += 1
    while low < high and raw[high - 1] == _BLANK:
        high -= 1
    for at in range(low, high):
        byte = raw[at]
        if fold:
            if byte == _BLANK and raw[at - 1] == _BLANK:
                continue
            if 65 <= byte <= 90:
                byte += 32
        text[used] = byte
        used += 1
    return used


@compiled
def _clicks(raw: Any, low: int, high: int, counted: bool) -> Any:
    """Return a line's clicks, -1 where their number is odd."""
    if not counted:
        for at in range(low, high):
            if raw[at] != _TAB and raw[at] != _BLANK:
                return 1
        return 0
    # Behind its tab, a number of clicks has up to nine digits, as in formats.py.
    return _number(raw, low + 1, high) if 1 < high - low <= 10 else -1


@compiled
def _number(raw: Any, low: int, high: int) -> Any:
    """Return the number that raw[low:high] says in digits, -1 where there is anything else."""
    number = np.int64(0)
    for at in range(low, high):
        digit = np.int64(raw[at]) - 48
        if digit < 0 or digit > 9:
            return np.int64(-1)
        number = number * 10 + digit
    return number


@compiled
def _time(raw: Any, low: int, high: int, loose: bool) -> Any:
    """Return the seconds from 1970 to the time in raw[low:high], or _NO_TIME."""
    # Like 2006-03-01 07:17:12; in ASCII, 84 is T and 58 is a colon.
    if high - low == 19:
        between = raw[low + 10] == _BLANK or (loose and raw[low + 10] == 84)
        marked = raw[low + 4] == raw[low + 7] == _MINUS and raw[low + 13] == raw[low + 16] == 58
        if not (between and marked):
            return _NO_TIME
        day = _day(_number(raw, low, low + 4), raw, low + 5, low + 8)
        return _with_clock(day, raw, low + 11, low + 14, low + 17)
    if not loose or high - low > 12 or high == low:
        return _NO_TIME
    # Like 060301071712, the form of Excite's logs.
    if high - low == 12:
        year = _number(raw, low, low + 2)
        if year < 0:
            return _NO_TIME
        day = _day(year + (1900 if year >= 70 else 2000), raw, low + 2, low + 4)
        return _with_clock(day, raw, low + 6, low + 8, low + 10)
    number = _number(raw, low, high)
    return number if number >= 0 else _NO_TIME


@compiled
def _with_clock(day: int, raw: Any, hours: int, minutes: int, seconds: int) -> Any:
    """Return the seconds from 1970 to a time of `day`, or _NO_TIME."""
    hour = _number(raw, hours, hours + 2)
    minute = _number(raw, minutes, minutes + 2)
    second = _number(raw, seconds, seconds + 2)
    right = 0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59
    if day == _NO_TIME or not right:
        return _NO_TIME
    return day * 86_400 + hour * 3_600 + minute * 60 + second


@compiled
def _day(year: int, raw: Any, months: int, days: int) -> Any:
    """Return the days from 1970 to a day of the Gregorian calendar, or _NO_TIME."""
    month, day = _number(raw, months, months + 2), _number(raw, days, days + 2)
    if year < 1 or not 1 <= month <= 12:
        return _NO_TIME
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= _MONTHS[month - 1] + (leap and month == 2):
        return _NO_TIME
    before = year - 1
    days_before = before * 365 + before // 4 - before // 100 + before // 400
    for earlier in range(month - 1):
        days_before += _MONTHS[earlier]
    # From the first day of year 1 to that of 1970 there are 719,162 days.
    return days_before + (leap and month > 2) + day - 1 - 719_162

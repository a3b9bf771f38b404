"""The judge's own reader of a query log [I/O]: who entered which query how often, and in words.

It reads a log as docs/verbs.md describes: queries in lower case with single blanks, clicks and next
pages folded into their query, lines that are no query skipped. A person's profile has each run of
letters or digits, as often as it was entered.
"""

from __future__ import annotations

import bz2
import gzip
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Ints
from .strict_lines import TermCells, is_whole, read_strictly

_HEAD = 1 << 16  # bytes in which the format is looked for
_LONGEST = 1 << 20  # bytes of a line
_AOL = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?", re.ASCII
)
_SECONDS, _EXCITE = re.compile(r"\d{1,11}", re.ASCII), re.compile(r"\d{12}", re.ASCII)
_CONTROL, _WORD = re.compile("[\0-\x1f\x7f]"), re.compile(r"[^\W_]+")
_HEADER = re.compile(r"user\t(query|time\tquery\s*$)", re.IGNORECASE)
_PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
Entry = tuple[str, str]  # user and query, as they stand in the line


class JudgedQueries(NamedTuple):
    """The query events of a log: a cell for each person and each of their queries."""

    users: list[str]
    texts: list[str]
    cells: TermCells

    @property
    def having(self) -> Ints:
        """Return how many people entered each query."""
        return np.bincount(self.cells.columns, minlength=len(self.texts)).astype(np.int64)


def read_queries(path: Path) -> JudgedQueries:
    """Return the query events of the log at `path`."""
    with _PACKED.get(path.suffix.lower(), open)(path, "rb") as file:
        read = _LAYOUTS[_layout(file.read(_HEAD))]
        file.seek(0)
        return _folded(_entries(file, read))


def words_of(texts: Iterable[str]) -> tuple[Ints, list[str]]:
    """Return where the words of each of `texts` begin and end, and all words in order."""
    words = [_WORD.findall(text) for text in texts]
    return np.cumsum([0, *map(len, words)]), [word for some in words for word in some]


def profiles_of(queries: JudgedQueries) -> tuple[list[str], list[str], TermCells]:
    """Return the users of `queries` who have a word, all words in sorted order, and the counts."""
    ends, words = words_of(queries.texts)
    terms = sorted({*words})
    number = {term: at for at, term in enumerate(terms)}
    cells, sizes = queries.cells, np.diff(ends)
    of_cell = sizes[cells.columns]
    within = np.arange(of_cell.sum()) - np.repeat(np.cumsum(of_cell) - of_cell, of_cell)
    word = np.repeat(ends[cells.columns], of_cell) + within
    columns = np.array([number[text] for text in words], dtype=np.int64)[word]
    user = np.repeat(np.repeat(np.arange(len(queries.users)), np.diff(cells.ends)), of_cell)
    keys, at = np.unique(user * len(terms) + columns, return_inverse=True)
    weights = np.bincount(at, weights=np.repeat(cells.weights, of_cell), minlength=keys.size)
    counts = np.bincount(keys // max(1, len(terms)), minlength=len(queries.users))
    users = [user for user, count in zip(queries.users, counts.tolist(), strict=True) if count]
    ends = np.append(0, np.cumsum(counts[counts > 0]))
    return users, terms, TermCells(ends, keys % max(1, len(terms)), weights.astype(np.float64))


def _entries(file: Iterable[bytes], read: Callable[[str], Entry]) -> Iterator[Entry]:
    """Yield user and normalized query of each line that is one."""
    for line in file:
        content = line.removesuffix(b"\n").removesuffix(b"\r").removeprefix(b"\xef\xbb\xbf")
        if len(content) > _LONGEST or b"\0" in content:
            continue
        try:
            user, query = read(content.decode())
        except (ValueError, KeyError, RecursionError):  # UnicodeDecodeError is a ValueError
            continue
        user, query = user.strip(), " ".join(query.lower().split())
        if user and query not in ("", "-"):
            yield user, query


def _folded(entries: Iterable[Entry]) -> JudgedQueries:
    """Return the events: an entry that repeats its user's latest query is part of that event."""
    people: dict[str, int] = {}
    texts: dict[str, int] = {}
    latest: dict[str, str] = {}
    who, what = array("q"), array("q")
    for user, query in entries:
        if latest.get(user) != query:
            latest[user] = query
            who.append(people.setdefault(user, len(people)))
            what.append(texts.setdefault(query, len(texts)))
    span = max(1, len(texts))
    events = np.frombuffer(who, dtype=np.int64) * span + np.frombuffer(what, dtype=np.int64)
    keys, counts = np.unique(events, return_counts=True)
    ends = np.searchsorted(keys, np.arange(len(people) + 1) * span)
    cells = TermCells(ends.astype(np.int64), keys % span, counts.astype(np.float64))
    return JudgedQueries([*people], [*texts], cells)


def _layout(head: bytes) -> str:
    """Return the format of the first line in `head` that clearly has one, else a likely one."""
    likely = "aol"
    for line in head.decode(errors="replace").removeprefix("\ufeff").split("\n"):
        columns = line.removesuffix("\r").split("\t")
        if line.startswith("{") and line.rstrip().endswith("}"):
            return "jsonl"
        if len(columns) in (4, 5) or (len(columns) == 3 and _AOL.fullmatch(columns[2])):
            return "aol"
        if len(columns) == 3:
            header, timed = _HEADER.match(line), [_is_time(column) for column in columns[1:]]
            if header or timed[0] != timed[1]:
                first = timed[0] or (header and header[1][:4].lower() == "time")
                return "excite" if first else "tsv"
            likely = "tsv" if timed[0] else likely
    return likely


def _refuse(wrong: object) -> None:
    if wrong:
        raise ValueError("no query")


def _aol(line: str) -> Entry:
    columns = line.split("\t")
    _refuse(not 3 <= len(columns) <= 5 or not _AOL.fullmatch(columns[2]))
    _refuse(not _is_moment(columns[2]) or (columns[0].strip(), columns[1]) == ("AnonID", "Query"))
    return columns[0], columns[1]


def _three(line: str, query: int) -> Entry:
    columns = line.split("\t")
    _refuse(len(columns) != 3 or not _is_time(columns[3 - query]))
    header = columns[0].strip().lower() in ("user", "anonid")
    _refuse(header and columns[query].lower().split() == ["query"])
    return columns[0], columns[query]


def _json(line: str) -> Entry:
    record = read_strictly(line.encode())
    _refuse(type(record) is not dict)
    user, query, time = (record[name] for name in ("user", "query", "time"))
    clicks = record.get("clicks", 0)
    _refuse(type(query) is not str or "\0" in query or not is_whole(clicks, 0, 10**9 - 1))
    _refuse(type(user) is not int and (type(user) is not str or _CONTROL.search(user)))
    _refuse(not (_is_time(time) if type(time) is str else is_whole(time, 0, 10**11 - 1)))
    return str(user), query


_LAYOUTS: dict[str, Callable[[str], Entry]] = {
    "aol": _aol,
    "tsv": lambda line: _three(line, 1),
    "excite": lambda line: _three(line, 2),
    "jsonl": _json,
}


def _is_time(text: str) -> bool:
    if _EXCITE.fullmatch(text):
        parts = (text[at : at + 2] for at in range(0, 12, 2))
        text = "20{}-{}-{} {}:{}:{}".format(*parts)
        text = text if text[2:4] < "70" else f"19{text[2:]}"
    iso = _ISO.fullmatch(text)
    return bool(_SECONDS.fullmatch(text)) or bool(iso and _is_moment(iso[1]))


@lru_cache(maxsize=1 << 16)
def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True

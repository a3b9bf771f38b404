"""What an advertiser would pay for terms [I/O]: a table read from CSV, or one that is invented.

    # synthetic: invented, not measured              only where the numbers are invented
    term,bid,impressions,clicks                      columns in any order
    kitten,0.42,56574,28
    riding,0.30,1200,                                an empty cell: no estimate, which counts as 0

There is no public table of this kind (Burghardt et al. crawled Yahoo's, and Yahoo is gone), so
marketing_model.py invents one. Its numbers are synthetic, and are called so wherever they appear.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .marketing_model import drawn
from .model import BadInput, BadParameter, Floats, Profiles
from .records import plain_errors, sync
from .whole_files import replaced_whole

NUMBERS = ("bid", "impressions", "clicks")
COLUMNS = ("term", *NUMBERS)
VALUES = (*NUMBERS, "revenue")  # revenue = clicks * bid
SYNTHETIC = "# synthetic"
_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d{1,3})?|\.\d+", re.ASCII)
LARGEST = 1 << 30  # bytes of a file; a million terms take some 30 MB
_HEAD = 1 << 12  # bytes of a line by which a table is known
_ALLOWED = "lines must be UTF-8 without NUL, and end in LF or CR LF"
_LOOKS = f"the first line must name the columns {','.join(COLUMNS)} in any order"


@dataclass(frozen=True)
class MarketingTable:
    """The bid recommended for each term, and the impressions and clicks it would bring."""

    terms: tuple[str, ...]
    bid: Floats
    impressions: Floats
    clicks: Floats
    synthetic: bool  # invented, now or before it was written to a file
    drawn: bool = False  # invented now, by a seed that draws it again; a file may be gone

    def __post_init__(self) -> None:
        if len(set(self.terms)) != len(self.terms):
            raise BadInput("a term stands twice in the marketing table")
        for name in NUMBERS:
            column = np.array(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, column)
            if column.shape != (len(self.terms),):
                raise BadInput(f"the marketing table needs one {name} for each term")
            if not np.all(np.isfinite(column) & (column >= 0)):
                raise BadInput(f"every {name} must be a finite number of at least 0")

    def column(self, what: str) -> Floats:
        """Return the value of each of the table's terms."""
        if what not in VALUES:
            raise BadParameter(f"value {what} must be one of {', '.join(VALUES)}")
        if what == "revenue":
            return self.clicks * self.bid
        column: Floats = getattr(self, what)
        return column


def values_of(table: MarketingTable, terms: Sequence[str], what: str) -> Floats:
    """Return the value of one occurrence of each term, 0 where the table does not know it."""
    column, at = table.column(what), _places(table, terms)
    values: Floats = np.where(at >= 0, column[at] if column.size else 0.0, 0.0)
    return values


def known_terms(table: MarketingTable, terms: Sequence[str]) -> int:
    """Count the terms that the table knows."""
    return int(np.count_nonzero(_places(table, terms) >= 0))


def used_table(table: MarketingTable, terms: Sequence[str]) -> MarketingTable:
    """Return a table that was given for these terms, unless it knows none of them."""
    if not known_terms(table, terms):
        raise BadInput("the marketing table knows none of the profiles' terms; name another")
    return table


def _places(table: MarketingTable, terms: Sequence[str]) -> np.ndarray:
    place = {term: at for at, term in enumerate(table.terms)}
    return np.array([place.get(term, -1) for term in terms], dtype=np.int64)


def synthetic_table(
    terms: Sequence[str], tf: Floats, df: Floats, rng: np.random.Generator
) -> MarketingTable:
    """Invent a table for terms of given frequency and number of users; see marketing_model.py."""
    tf, df = np.asarray(tf, dtype=np.float64), np.asarray(df, dtype=np.float64)
    with np.errstate(over="ignore"):
        squares = np.square(tf).sum()  # correlations are made of them
    if not np.isfinite(squares):
        raise BadInput("weights are too large to be added up; divide them by a large number")
    table = drawn(tf, df, rng)
    names = [terms[at] for at in table.known.tolist()]
    columns = (table.bid, table.impressions, table.clicks)
    return MarketingTable(tuple(names), *columns, synthetic=True, drawn=True)


def synthetic_table_of(profiles: Profiles, seed: int = 0) -> MarketingTable:
    """Invent the table of the terms of profiles; the seed settles every number."""
    span = len(profiles.terms)
    columns = profiles.weights.indices
    tf = np.bincount(columns, weights=profiles.weights.data, minlength=span).astype(np.float64)
    df = np.bincount(columns, minlength=span).astype(np.float64)
    return synthetic_table(profiles.terms, tf, df, np.random.default_rng(seed))


def write_table(table: MarketingTable, path: Path) -> None:
    """Write a table as CSV, for the owner's eyes only: its terms are those of a log."""
    text = io.StringIO(newline="")
    if table.synthetic:
        text.write(f"{SYNTHETIC}: invented by veilsearch marketing, not measured\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    columns = [map(_cell, getattr(table, name).tolist()) for name in NUMBERS]
    writer.writerows(zip(table.terms, *columns, strict=True))
    with plain_errors(path, "written"), replaced_whole(path) as file:
        file.write(text.getvalue().encode())
        sync(file)


def _cell(value: float) -> str:
    """Write a number so that it is read as the same; none where there is no estimate."""
    if not value:
        return ""
    return str(int(value)) if value.is_integer() and value < 1e15 else repr(value)


def read_table(path: Path) -> MarketingTable:
    """Read a table from CSV and refuse whatever is broken, with file and line.

    Terms are taken in lower case, as profiles have them. A line is a row: no quote reaches over
    its end.
    """
    lines = _lines(path)
    rows = [(number, _text(path, number, line)) for number, line in enumerate(lines, 1)]
    synthetic = bool(rows) and rows[0][1].startswith(SYNTHETIC)
    rows = rows[synthetic:]
    if not rows:
        raise BadInput(f"{path}: the file is empty; {_LOOKS}")
    order = _order(path, *rows[0])
    columns: tuple[list[float], ...] = tuple([] for _ in NUMBERS)
    known: dict[str, None] = {}
    for where, cells in _cells(path, rows[1:]):
        term = _term(where, cells[order["term"]], known)
        known[term] = None
        for name, column in zip(NUMBERS, columns, strict=True):
            column.append(_number(where, name, cells[order[name]]))
    if not known:
        raise BadInput(f"{path}: there is no line after the names of the columns; give terms")
    bid, impressions, clicks = (np.array(column) for column in columns)
    return MarketingTable(tuple(known), bid, impressions, clicks, synthetic)


def is_table(path: Path, *, invented: bool = False) -> bool:
    """Tell whether a file begins as a table does; if so asked, as one that says it is invented."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            first, second = (file.readline(_HEAD).decode("utf-8-sig") for _ in range(2))
    except (OSError, UnicodeDecodeError):
        return False
    says_so = first.startswith(SYNTHETIC)
    names = (second if says_so else first).split(",")
    named = sorted(name.strip().strip('"').lower() for name in names) == sorted(COLUMNS)
    return named and (says_so or not invented)


def write_table_without(path: Path, output: Path, terms: Collection[str]) -> tuple[int, int]:
    """Write a table without these terms, all other lines as they are, if it has any of them.

    Return how many terms go, and how many stay; if none stays, nothing is written.
    """
    table, lines = read_table(path), _lines(path)
    begin = len(lines) - len(table.terms)  # each line after that of the columns is a term's
    named = list(zip(table.terms, lines[begin:], strict=True))
    stay = [line for term, line in named if term not in terms]
    if 0 < len(stay) < len(named):
        with plain_errors(output, "written"), replaced_whole(output) as file:
            file.write(b"".join(line + b"\n" for line in [*lines[:begin], *stay]))
            sync(file)
    return len(named) - len(stay), len(stay)


def _lines(path: Path) -> list[bytes]:
    """Return the lines of a plain file of a size that memory can hold."""
    with plain_errors(path, "read"):
        plain, size = path.is_file(), path.stat().st_size
    if not plain:
        raise BadInput(f"{path}: must be a plain file, like table.csv")
    if size > LARGEST:
        raise BadInput(f"{path}: has {size:,} bytes; a marketing table may have {LARGEST:,}")
    with plain_errors(path, "read"):
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return lines if lines[-1].removesuffix(b"\r") else lines[:-1]


def _text(path: Path, number: int, line: bytes) -> str:
    where = f"{path}, line {number}"
    try:
        text = line.removesuffix(b"\r").decode()
    except UnicodeDecodeError as fault:
        raise BadInput(f"{where}: is not in UTF-8; {_ALLOWED}") from fault
    for character, name in (("\0", "NUL"), ("\r", "CR")):
        if character in text:
            raise BadInput(f"{where}: has a {name} inside; {_ALLOWED}")
    return text


def _order(path: Path, number: int, line: str) -> dict[str, int]:
    """Return where each column stands."""
    names = [name.strip().lower() for name in _split(f"{path}, line {number}", line)]
    if sorted(names) != sorted(COLUMNS):
        missing = [name for name in COLUMNS if name not in names]
        what = f"there is no column {', '.join(missing)}" if missing else "there are more columns"
        raise BadInput(f"{path}, line {number}: {what}; {_LOOKS}")
    return {name: at for at, name in enumerate(names)}


def _cells(path: Path, rows: Sequence[tuple[int, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield where each line stands, and its cells."""
    for number, line in rows:
        where = f"{path}, line {number}"
        cells = _split(where, line)
        if len(cells) != len(COLUMNS):
            raise BadInput(f"{where}: {len(cells)} cells; each line must have {len(COLUMNS)}")
        yield where, cells


def _split(where: str, line: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error as fault:
        raise BadInput(f'{where}: no line of CSV ({fault}); quote a term as in "a,b"') from fault


def _term(where: str, cell: str, known: dict[str, None]) -> str:
    term = cell.strip().lower()
    if not term:
        raise BadInput(f"{where}: the term is empty; each line must have its own")
    if term in known:
        raise BadInput(f"{where}: the term stands twice (in lower case); each must stand once")
    return term


def _number(where: str, name: str, cell: str) -> float:
    text = cell.strip()
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    if text and not math.isfinite(value):
        raise BadInput(f"{where}: {name} must be a number of at least 0, like 0.42, or empty")
    return value if text else 0.0

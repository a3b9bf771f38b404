"""What an advertiser would pay for terms [I/O]: a table read from CSV or invented.

    # synthetic: invented, not measured              only where the numbers are invented
    term,bid,impressions,clicks                      columns in any order
    kitten,0.42,56574,28
    riding,0.30,1200,                                an empty cell: no estimate, which counts as 0

There is no public table of this kind: Burghardt et al. crawled Yahoo's, which is gone. So
invented.py invents one. Its numbers are synthetic, and every place that shows them says so.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..arrays import Floats
from ..errors import BadInput, BadParameter
from ..model import Profiles
from ..storage.files import replaced_whole
from ..storage.records import csv_text, plain_errors
from .invented import drawn

NUMBERS = ("bid", "impressions", "clicks")
COLUMNS = ("term", *NUMBERS)
VALUES = (*NUMBERS, "revenue")  # revenue = clicks * bid
SYNTHETIC = "# synthetic"
_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d{1,3})?|\.\d+", re.ASCII)
LARGEST = 1 << 30  # bytes of a file; a million terms take some 30 MB
_HEAD = 1 << 12  # bytes of a line by which a table is recognized
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
    # Invented now by a seed, which can draw it again; a file that was read may be gone later.
    drawn: bool = False

    def __post_init__(self) -> None:
        if len(set(self.terms)) != len(self.terms):
            raise BadInput("a term occurs twice in the marketing table")
        for name in NUMBERS:
            column = np.array(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, column)
            if column.shape != (len(self.terms),):
                raise BadInput(f"the marketing table needs one {name} for each term")
            if not np.all(np.isfinite(column) & (column >= 0)):
                raise BadInput(f"every {name} must be a finite number of at least 0")

    def column(self, what: str) -> Floats:
        """Return the value `what` of each of the table's terms."""
        if what not in VALUES:
            raise BadParameter(f"value {what} must be one of {', '.join(VALUES)}")
        if what == "revenue":
            return self.clicks * self.bid
        column: Floats = getattr(self, what)
        return column


def values_of(table: MarketingTable, terms: Sequence[str], what: str) -> Floats:
    """Return the value `what` of one occurrence of each of `terms`, 0 if `table` lacks the term."""
    column, at = table.column(what), _places(table, terms)
    values: Floats = np.where(at >= 0, column[at] if column.size else 0.0, 0.0)
    return values


def known_terms(table: MarketingTable, terms: Sequence[str]) -> int:
    """Return how many of `terms` the `table` knows."""
    return int(np.count_nonzero(_places(table, terms) >= 0))


def used_table(table: MarketingTable, terms: Sequence[str]) -> MarketingTable:
    """Return `table`, which was given for `terms`; refuse it if it knows none of them."""
    if not known_terms(table, terms):
        raise BadInput("the marketing table knows none of the profiles' terms; name another")
    return table


def _places(table: MarketingTable, terms: Sequence[str]) -> np.ndarray:
    place = {term: at for at, term in enumerate(table.terms)}
    return np.array([place.get(term, -1) for term in terms], dtype=np.int64)


def synthetic_table(
    terms: Sequence[str], tf: Floats, df: Floats, rng: np.random.Generator
) -> MarketingTable:
    """Return an invented table for `terms` with these `tf` and `df`; see invented.py."""
    tf, df = np.asarray(tf, dtype=np.float64), np.asarray(df, dtype=np.float64)
    with np.errstate(over="ignore"):
        # Correlations add up squares, which must not overflow.
        squares = np.square(tf).sum()
    if not np.isfinite(squares):
        raise BadInput("weights are too large to be added up; divide them by a large number")
    table = drawn(tf, df, rng)
    names = [terms[at] for at in table.known.tolist()]
    columns = (table.bid, table.impressions, table.clicks)
    return MarketingTable(tuple(names), *columns, synthetic=True, drawn=True)


def synthetic_table_of(profiles: Profiles, seed: int = 0) -> MarketingTable:
    """Return the invented table for the terms of `profiles`; `seed` decides every number."""
    span = len(profiles.terms)
    columns = profiles.weights.indices
    tf = np.bincount(columns, weights=profiles.weights.data, minlength=span).astype(np.float64)
    df = np.bincount(columns, minlength=span).astype(np.float64)
    return synthetic_table(profiles.terms, tf, df, np.random.default_rng(seed))


def write_table(table: MarketingTable, path: Path) -> None:
    """Write `table` to `path` as CSV, for its owner only, as its terms are those of a log."""
    text = f"{SYNTHETIC}: invented by veilsearch marketing, not measured\n" * table.synthetic
    columns = [map(_cell, getattr(table, name).tolist()) for name in NUMBERS]
    text += csv_text([COLUMNS, *zip(table.terms, *columns, strict=True)])
    with plain_errors(path, "written"), replaced_whole(path) as file:
        file.write(text.encode())


def _cell(value: float) -> str:
    """Return `value` as text that is read as the same number; '' where there is no estimate."""
    if not value:
        return ""
    return str(int(value)) if value.is_integer() and value < 1e15 else repr(value)


def read_table(path: Path) -> MarketingTable:
    """Return the table in the CSV file at `path`, terms in lower case; refuse a broken line."""
    lines = _lines(path)
    rows = [(number, _text(path, number, line)) for number, line in enumerate(lines, 1)]
    synthetic = bool(rows) and rows[0][1].startswith(SYNTHETIC)
    rows = rows[synthetic:]
    if not rows:
        raise BadInput(f"{path}: the file is empty; {_LOOKS}")
    order = _order(path, *rows[0])
    columns: tuple[list[float], ...] = tuple([] for _ in NUMBERS)
    known: dict[str, None] = {}
    for number, line in rows[1:]:
        where = f"{path}, line {number}"
        cells = _split(where, line)
        if len(cells) != len(COLUMNS):
            raise BadInput(f"{where}: {len(cells)} cells; each line must have {len(COLUMNS)}")
        term = cells[order["term"]].strip().lower()
        if not term:
            raise BadInput(f"{where}: the term is empty; each line must have its own")
        if term in known:
            raise BadInput(f"{where}: the term occurs twice (in lower case); each must occur once")
        known[term] = None
        for name, column in zip(NUMBERS, columns, strict=True):
            text = cells[order[name]].strip()
            value = float(text) if _NUMBER.fullmatch(text) else math.inf
            if text and not math.isfinite(value):
                raise BadInput(
                    f"{where}: {name} must be a number of at least 0, like 0.42, or empty"
                )
            column.append(value if text else 0.0)
    if not known:
        raise BadInput(f"{path}: there is no line after the names of the columns; give terms")
    bid, impressions, clicks = (np.array(column) for column in columns)
    return MarketingTable(tuple(known), bid, impressions, clicks, synthetic)


def is_table(path: Path, *, invented: bool = False) -> bool:
    """Return whether the file at `path` begins like a table, or if so wanted an `invented` one."""
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
    """Write the table at `path` without `terms`, if any stays; return how many go and stay."""
    table, lines = read_table(path), _lines(path)
    # Every line after the names of the columns holds one term. Lines that stay are not changed.
    begin = len(lines) - len(table.terms)
    named = list(zip(table.terms, lines[begin:], strict=True))
    stay = [line for term, line in named if term not in terms]
    if 0 < len(stay) < len(named):
        with plain_errors(output, "written"), replaced_whole(output) as file:
            file.write(b"".join(line + b"\n" for line in [*lines[:begin], *stay]))
    return len(named) - len(stay), len(stay)


def _lines(path: Path) -> list[bytes]:
    """Return the lines of the plain file at `path`, if memory can hold it."""
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
    """Return the position of each column, which `line` names."""
    names = [name.strip().lower() for name in _split(f"{path}, line {number}", line)]
    if sorted(names) != sorted(COLUMNS):
        missing = [name for name in COLUMNS if name not in names]
        what = f"there is no column {', '.join(missing)}" if missing else "there are more columns"
        raise BadInput(f"{path}, line {number}: {what}; {_LOOKS}")
    return {name: at for at, name in enumerate(names)}


def _split(where: str, line: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error as fault:
        raise BadInput(f'{where}: not a line of CSV ({fault}); quote a term as in "a,b"') from fault

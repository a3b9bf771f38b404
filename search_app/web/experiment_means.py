"""The means of a run's summary.csv, and those of two runs side by side."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from typing import NamedTuple

_KEY = ("table", "release", "mode", "pool", "measure")
_VALUES = ("mean", "low", "high")
_POOL = re.compile(r"[0-9]{1,6}")
_LARGEST = 1e9
_LONGEST = 300  # characters of a text
_MOST = 50_000  # rows that are read
Key = tuple[str, str, str, int, str]


class Mean(NamedTuple):
    """A mean over people with its 95 % interval, where it has them."""

    table: str  # of the experiment's definition
    release: str  # what tells it from others
    mode: str
    pool: int
    measure: str
    value: float | None
    low: float | None
    high: float | None

    @property
    def key(self) -> Key:
        """Return what it is the mean of."""
        return self.table, self.release, self.mode, self.pool, self.measure


class Beside(NamedTuple):
    """The means of two runs of the same, and by how much the other one is more."""

    table: str  # of the experiment's definition
    release: str  # what tells it from others
    mode: str
    pool: int
    measure: str
    one: Mean | None
    other: Mean | None
    difference: float | None

    @property
    def change(self) -> str:
        """Write the difference with its sign, if it has one in three decimals."""
        if self.difference is None:
            return "–"
        text = f"{self.difference:+.3f}"
        return "0.000" if float(text) == 0 else text.replace("-", "−")


def read_means(content: bytes) -> tuple[Mean, ...]:
    """Read a summary; rows that can't be read are left out, and so are rows that come again."""
    try:
        text = content.decode("utf-8")
        rows = csv.DictReader(StringIO(text, newline=""))
        if not set(_KEY) | {"mean"} <= set(rows.fieldnames or ()):
            return ()
        found: dict[Key, Mean] = {}
        for mean in _means(rows):
            found.setdefault(mean.key, mean)
        return tuple(found.values())
    except (ValueError, csv.Error):
        return ()


def _means(rows: Iterable[Mapping[str, str | None]]) -> Iterator[Mean]:
    for number, row in enumerate(rows):
        if number >= _MOST:
            return
        texts = [(row[name] or "")[:_LONGEST] for name in _KEY]
        table, release, mode, pool, measure = texts
        if _POOL.fullmatch(pool):
            values = [_number(row.get(name)) for name in _VALUES]
            yield Mean(table, release, mode, int(pool), measure, *values)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "nan")
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < _LARGEST else None


def side_by_side(one: Iterable[Mean], other: Iterable[Mean]) -> list[Beside]:
    """Match the means of two runs; those of the first stand first, in their order."""
    first, second = ({mean.key: mean for mean in means} for means in (one, other))
    keys = dict.fromkeys([*first, *second])
    return [
        Beside(*key, left := first.get(key), right := second.get(key), _difference(left, right))
        for key in keys
    ]


def _difference(one: Mean | None, other: Mean | None) -> float | None:
    if one is None or other is None or one.value is None or other.value is None:
        return None
    return other.value - one.value

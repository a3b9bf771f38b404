"""The means in a run's summary.csv, alone and next to those of another run."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable
from io import StringIO
from itertools import islice
from typing import NamedTuple

_VALUES = ("mean", "low", "high")
_POOL = re.compile(r"[0-9]{1,6}")
_LARGEST = 1e9  # absolute value that is shown
_LONGEST = 300  # characters of a text
_MOST = 50_000  # rows that are read


class Key(NamedTuple):
    """What a mean is of."""

    table: str  # of the experiment's definition
    release: str  # the settings that distinguish it
    mode: str
    pool: int
    measure: str


class Mean(NamedTuple):
    """A mean over people with its 95 % interval; None where one is not known."""

    key: Key
    value: float | None
    low: float | None
    high: float | None


class MeanPair(NamedTuple):
    """The means of two runs with the same key."""

    of: Key
    one: Mean | None
    other: Mean | None

    @property
    def difference(self) -> float | None:
        """Return the other mean minus the one; None if either is missing."""
        one, other = self.one and self.one.value, self.other and self.other.value
        return None if one is None or other is None else other - one

    @property
    def change(self) -> str:
        """Return the difference in three decimals, with its sign unless it is 0.000."""
        if self.difference is None:
            return "–"
        text = f"{self.difference:+.3f}"
        return "0.000" if float(text) == 0 else text.replace("-", "−")


def read_means(content: bytes) -> tuple[Mean, ...]:
    """Return the means in `content`, a summary; skip rows that can't be read or come again."""
    try:
        text = content.decode("utf-8")
        rows = csv.DictReader(StringIO(text, newline=""))
        if not set(Key._fields) | {"mean"} <= set(rows.fieldnames or ()):
            return ()
        by_key: dict[Key, Mean] = {}
        for row in islice(rows, _MOST):
            texts = [(row[name] or "")[:_LONGEST] for name in Key._fields]
            table, release, mode, pool, measure = texts
            if _POOL.fullmatch(pool):
                key = Key(table, release, mode, int(pool), measure)
                by_key.setdefault(key, Mean(key, *(_number(row.get(name)) for name in _VALUES)))
        return tuple(by_key.values())
    except (ValueError, csv.Error):
        return ()


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "nan")
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < _LARGEST else None


def side_by_side(one: Iterable[Mean], other: Iterable[Mean]) -> list[MeanPair]:
    """Return the means of two runs in pairs: those of `one` in their order, then `other`'s."""
    first, second = ({mean.key: mean for mean in means} for means in (one, other))
    keys = dict.fromkeys([*first, *second])
    return [MeanPair(key, first.get(key), second.get(key)) for key in keys]

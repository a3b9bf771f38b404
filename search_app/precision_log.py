"""The log of average precision [I/O]: mode, pool, release and values; no query and no user."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .errors import UsageError
from .evaluation import Precision

_SCHEMA = """
CREATE TABLE IF NOT EXISTS searches (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    mode TEXT NOT NULL,
    pool INTEGER NOT NULL,
    found INTEGER NOT NULL,
    mix REAL NOT NULL,
    release TEXT NOT NULL,
    ap REAL NOT NULL,
    ap_at_10 REAL NOT NULL,
    ap_at_20 REAL NOT NULL,
    ap_c REAL
)
"""
_SUMMARY = """
SELECT mode, pool, mix, release, count(*), avg(ap), avg(ap_at_10), avg(ap_c),
       avg(ap * ap) - avg(ap) * avg(ap)
FROM searches GROUP BY mode, pool, mix, release
ORDER BY release, pool, mix, CASE mode WHEN 'none' THEN 0 WHEN 'own' THEN 1 ELSE 2 END
"""
_RECENT = """
SELECT at, mode, pool, found, mix, release, ap, ap_at_10, ap_c
FROM searches ORDER BY id DESC LIMIT ?
"""


class Entry(NamedTuple):
    """One search in one mode."""

    at: int  # seconds since 1970
    mode: str
    pool: int  # the size asked for
    mix: float
    release: str
    precision: Precision


class Summary(NamedTuple):
    """All searches of one mode, pool, mix and release."""

    mode: str
    pool: int
    mix: float
    release: str
    searches: int
    ap: float
    ap_at_10: float
    ap_c: float | None
    half_width: float | None  # of the mean AP's 95 % interval; None for fewer than 2 searches


class PrecisionLog:
    """A SQLite file; any thread may call, one at a time."""

    def __init__(self, path: Path):
        self._lock = threading.Lock()
        try:
            self._connection = _open(path)
        except sqlite3.Error as fault:
            raise UsageError(f"{path} can't be opened ({fault}); delete it") from fault

    def __del__(self) -> None:
        if hasattr(self, "_connection"):
            self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, entries: Iterable[Entry]) -> None:
        """Append searches in one transaction."""
        rows = [
            (
                *(e.at, e.mode, e.pool, e.precision.pool, e.mix, e.release),
                *(e.precision.ap, e.precision.ap_at_10, e.precision.ap_at_20, e.precision.ap_c),
            )
            for e in entries
        ]
        with self._lock, self._connection:
            self._connection.executemany(
                "INSERT INTO searches (at, mode, pool, found, mix, release, ap, ap_at_10, "
                "ap_at_20, ap_c) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def summary(self) -> list[Summary]:
        """Return means by mode, pool, mix and release."""
        rows = [tuple(row) for row in self._ask(_SUMMARY)]
        return [Summary._make((*row[:8], _half_width(row[4], row[8]))) for row in rows]

    def check(self) -> int:
        """Return how many searches there are; raise if the file is damaged."""
        ((verdict,),) = self._ask("PRAGMA integrity_check(1)")
        if verdict != "ok":
            raise sqlite3.DatabaseError(f"it is damaged: {verdict}")
        ((count,),) = self._ask("SELECT count(*) FROM searches")
        return int(count)

    def recent(self, count: int) -> list[sqlite3.Row]:
        """Return the latest searches, newest first, by column name."""
        return self._ask(_RECENT, count)

    def _ask(self, question: str, *values: int) -> list[sqlite3.Row]:
        with self._lock:
            return self._connection.execute(question, values).fetchall()


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    try:
        # In WAL mode NORMAL loses nothing to a kill; opening and syncing each time cost 1-25 ms.
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")
        with connection:
            connection.execute(_SCHEMA)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _half_width(searches: int, variance: float) -> float | None:
    """Return 1.96 standard errors of a mean, from the population variance."""
    if searches < 2:
        return None
    return float(1.96 * (max(variance, 0.0) / (searches - 1)) ** 0.5)

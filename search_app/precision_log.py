"""The log of average precision [I/O]: mode, pool, corpus, release, values; no query, no user."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .errors import UsageError
from .evaluation import Precision

_VERSION = 1  # of the table below
_SCHEMA = """
CREATE TABLE IF NOT EXISTS searches (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    mode TEXT NOT NULL,
    pool INTEGER NOT NULL,
    found INTEGER NOT NULL,
    mix REAL NOT NULL,
    corpus TEXT NOT NULL,
    release TEXT NOT NULL,
    ap REAL NOT NULL,
    ap_at_10 REAL NOT NULL,
    ap_at_20 REAL NOT NULL,
    ap_c REAL
)
"""
_SUMMARY = """
SELECT mode, pool, mix, corpus, release, count(*), avg(ap), avg(ap_at_10), avg(ap_c),
       avg(ap * ap) - avg(ap) * avg(ap)
FROM searches GROUP BY mode, pool, mix, corpus, release
ORDER BY corpus, release, pool, mix, CASE mode WHEN 'none' THEN 0 WHEN 'own' THEN 1 ELSE 2 END
"""
_RECENT = """
SELECT at, mode, pool, found, mix, corpus, release, ap, ap_at_10, ap_c
FROM searches ORDER BY id DESC LIMIT ?
"""


class Entry(NamedTuple):
    """One search in one mode."""

    at: int  # seconds since 1970
    mode: str
    pool: int  # the size asked for
    mix: float
    corpus: str  # the index by name
    release: str
    precision: Precision


class Summary(NamedTuple):
    """All searches of one mode, pool, mix, corpus and release."""

    mode: str
    pool: int
    mix: float
    corpus: str
    release: str
    searches: int
    ap: float
    ap_at_10: float
    ap_c: float | None
    half_width: float | None  # of the mean AP's 95 % interval; None for fewer than 2 searches


class PrecisionLog:
    """A SQLite file, or without a path only memory; any thread may call, one at a time."""

    def __init__(self, path: Path | None):
        self._lock = threading.Lock()
        self._name = str(path or "the log in memory")
        try:
            self._connection = _open(path)
        except sqlite3.OperationalError as fault:
            raise UsageError(
                f"{path} can't be written ({fault}); see to room and rights"
            ) from fault
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
                *(e.at, e.mode, e.pool, e.precision.pool, e.mix, e.corpus, e.release),
                *(e.precision.ap, e.precision.ap_at_10, e.precision.ap_at_20, e.precision.ap_c),
            )
            for e in entries
        ]
        with self._lock, self._connection:
            self._connection.executemany(
                "INSERT INTO searches (at, mode, pool, found, mix, corpus, release, ap, ap_at_10, "
                "ap_at_20, ap_c) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def summary(self) -> list[Summary]:
        """Return means by mode, pool, mix, corpus and release."""
        rows = [tuple(row) for row in self._ask(_SUMMARY)]
        return [Summary._make((*row[:9], _half_width(row[5], row[9]))) for row in rows]

    def check(self) -> int:
        """Return how many searches there are; raise if the file is damaged."""
        ((verdict,),) = self._ask("PRAGMA integrity_check(1)")
        if verdict != "ok":
            raise UsageError(f"{self._name} is damaged ({verdict}); delete it")
        ((count,),) = self._ask("SELECT count(*) FROM searches")
        return int(count)

    def recent(self, count: int) -> list[sqlite3.Row]:
        """Return the latest searches, newest first, by column name."""
        return self._ask(_RECENT, count)

    def _ask(self, question: str, *values: int) -> list[sqlite3.Row]:
        try:
            with self._lock:
                return self._connection.execute(question, values).fetchall()
        except sqlite3.DatabaseError as fault:
            raise UsageError(f"{self._name} is damaged ({fault}); delete it") from fault


def _open(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(path or ":memory:", timeout=10, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    try:
        # In WAL mode NORMAL loses nothing to a kill; opening and syncing each time cost 1-25 ms.
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and version != _VERSION:
            raise sqlite3.DatabaseError(f"its version is {version} instead of {_VERSION}")
        with connection:
            connection.execute(_SCHEMA)
            connection.execute(f"PRAGMA user_version = {_VERSION}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _half_width(searches: int, variance: float) -> float | None:
    """Return 1.96 standard errors of a mean, from the population variance."""
    if searches < 2:
        return None
    return float(1.96 * (max(variance, 0.0) / (searches - 1)) ** 0.5)

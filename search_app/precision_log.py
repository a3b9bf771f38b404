"""The log of average precision [I/O]: mode, pool, corpus, release, values; no query, no user."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from .errors import UsageError
from .evaluation import Precision
from .intervals import half_width

_VERSION = 2  # of the table below; version 1 had no number of the search
_SCHEMA = """
CREATE TABLE IF NOT EXISTS searches (
    id INTEGER PRIMARY KEY,
    search INTEGER NOT NULL,
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
_INDEX = "CREATE INDEX IF NOT EXISTS modes_of_a_search ON searches (search)"
# Version 1 wrote the modes of a search together and in one order: none, own, group. So a search
# begins wherever that order does not go on, or anything that its modes share is another.
_NUMBER = """
WITH placed AS (
    SELECT id, at, pool, mix, corpus, release,
           CASE mode WHEN 'none' THEN 0 WHEN 'own' THEN 1 ELSE 2 END AS place
    FROM searches
), numbered AS (
    SELECT id, sum(begins) OVER (ORDER BY id) AS number FROM (
        SELECT id, coalesce(
            place <= lag(place) OVER log OR at <> lag(at) OVER log OR pool <> lag(pool) OVER log
            OR mix <> lag(mix) OVER log OR corpus <> lag(corpus) OVER log
            OR release <> lag(release) OVER log, 1) AS begins
        FROM placed WINDOW log AS (ORDER BY id)
    )
)
UPDATE searches SET search = numbered.number FROM numbered WHERE numbered.id = searches.id
"""
_MIGRATION = ("ALTER TABLE searches ADD COLUMN search INTEGER NOT NULL DEFAULT 0", _NUMBER)
_ADD = """
INSERT INTO searches (search, at, mode, pool, found, mix, corpus, release,
                      ap, ap_at_10, ap_at_20, ap_c)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_SUMMARY = """
SELECT mode, pool, mix, corpus, release, count(*), avg(ap), avg(ap_at_10), avg(ap_c),
       avg(ap * ap) - avg(ap) * avg(ap)
FROM searches
WHERE (:pool IS NULL OR pool = :pool) AND (:mix IS NULL OR mix = :mix)
  AND (:corpus IS NULL OR corpus = :corpus) AND (:release IS NULL OR release = :release)
GROUP BY mode, pool, mix, corpus, release
ORDER BY corpus, release, pool, mix,
         CASE mode WHEN 'none' THEN 0 WHEN 'own' THEN 1 WHEN 'group' THEN 2 ELSE 3 END, mode
"""
_RECENT = """
SELECT search, at, mode, pool, found, mix, corpus, release, ap, ap_at_10, ap_c
FROM searches
WHERE (:pool IS NULL OR pool = :pool) AND (:mix IS NULL OR mix = :mix)
  AND (:corpus IS NULL OR corpus = :corpus) AND (:release IS NULL OR release = :release)
ORDER BY id DESC LIMIT :count
"""
_AFTER = "SELECT * FROM searches WHERE id > :last ORDER BY id LIMIT 1000"


class Entry(NamedTuple):
    """One search in one mode."""

    at: int  # seconds since 1970
    mode: str
    pool: int  # the size asked for
    mix: float
    corpus: str  # the index by name
    release: str
    precision: Precision


class Chosen(NamedTuple):
    """Which searches are looked at; what is None leaves none out."""

    pool: int | None = None
    mix: float | None = None
    corpus: str | None = None
    release: str | None = None


ALL = Chosen()
NO_VALUES: Mapping[str, object] = {}


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

    def among(self, chosen: Chosen) -> bool:
        """Tell whether they are of the chosen searches."""
        wanted = chosen._asdict().items()
        return all(value is None or getattr(self, name) == value for name, value in wanted)


class PrecisionLog:
    """A SQLite file, or without a path only memory; any thread may call.

    Who looks back has a connection of their own, and who counts for long another one, so that no
    search waits for a look and no look for a count.
    """

    def __init__(self, path: Path | None):
        self._lock, self._looking, self._counting = (threading.Lock() for _ in range(3))
        self._name = str(path or "the log in memory")
        try:
            self._connection = self._reader = self._counter = _open(path)
            if path is None:
                self._looking = self._counting = self._lock
            else:
                self._reader, self._counter = _connect(path), _connect(path)
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
        self._counter.close()
        self._reader.close()
        self._connection.close()

    def add(self, entries: Iterable[Entry]) -> None:
        """Append one search in all its modes, in one transaction."""
        rows = [
            (
                *(e.at, e.mode, e.pool, e.precision.pool, e.mix, e.corpus, e.release),
                *(e.precision.ap, e.precision.ap_at_10, e.precision.ap_at_20, e.precision.ap_c),
            )
            for e in entries
        ]
        with self._lock, self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")  # another process may number a search, too
            (last,) = connection.execute("SELECT max(search) FROM searches").fetchone()
            connection.executemany(_ADD, [((last or 0) + 1, *row) for row in rows])

    def summary(self, chosen: Chosen = ALL) -> list[Summary]:
        """Return means by mode, pool, mix, corpus and release."""
        rows = [tuple(row) for row in self.count(_SUMMARY, chosen._asdict())]
        return [Summary._make((*row[:9], half_width(row[5], row[9]))) for row in rows]

    def recent(self, count: int, chosen: Chosen = ALL) -> list[sqlite3.Row]:
        """Return the latest searches, newest first, by column name."""
        return self.ask(_RECENT, {**chosen._asdict(), "count": count})

    def last(self) -> int:
        """Return the id of the last row, 0 if there is none."""
        ((last,),) = self.ask("SELECT max(id) FROM searches")
        return last or 0

    def check(self) -> int:
        """Return how many searches there are; raise if the file is damaged."""
        ((verdict,),) = self.count("PRAGMA integrity_check(1)")
        if verdict != "ok":
            raise UsageError(f"{self._name} is damaged ({verdict}); delete it")
        ((count,),) = self.count("SELECT count(*) FROM searches")
        return int(count)

    def ask(self, question: str, values: Mapping[str, object] = NO_VALUES) -> list[sqlite3.Row]:
        """Return what a SELECT finds, by column name."""
        return self._answer(self._reader, self._looking, question, values)

    def count(self, question: str, values: Mapping[str, object] = NO_VALUES) -> list[sqlite3.Row]:
        """Return what a SELECT finds that may go through the whole log."""
        return self._answer(self._counter, self._counting, question, values)

    def _answer(
        self,
        connection: sqlite3.Connection,
        lock: threading.Lock,
        question: str,
        values: Mapping[str, object],
    ) -> list[sqlite3.Row]:
        try:
            with lock:
                return connection.execute(question, values).fetchall()
        except sqlite3.DatabaseError as fault:
            raise UsageError(f"{self._name} is damaged ({fault}); delete it") from fault

    def rows(self) -> Iterator[sqlite3.Row]:
        """Return every row, oldest first, a thousand at a time."""
        last = 0
        while rows := self.ask(_AFTER, {"last": last}):
            yield from rows
            last = rows[-1]["id"]


def _connect(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path or ":memory:", timeout=10, check_same_thread=False, isolation_level=None
    )
    connection.row_factory = sqlite3.Row
    return connection


def _open(path: Path | None) -> sqlite3.Connection:
    connection = _connect(path)
    try:
        # In WAL mode NORMAL loses nothing to a kill; opening and syncing each time cost 1-25 ms.
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")
        with connection:
            connection.execute("BEGIN IMMEDIATE")  # two processes must not migrate it twice
            _bring_up_to_date(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and version not in (1, _VERSION):
        raise sqlite3.DatabaseError(f"its version is {version} instead of {_VERSION}")
    steps = _MIGRATION if tables and version == 1 else (_SCHEMA,)
    for step in (*steps, _INDEX, f"PRAGMA user_version = {_VERSION}"):
        connection.execute(step)

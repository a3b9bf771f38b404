"""The log of average precision [I/O]: mode, rule, pool, corpus, release, scores; no query."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from ..measures.precision import PoolPrecision
from ..measures.significance import PeopleMean
from ..settings import POSTGRESQL, Settings
from ..workspace.folder import Workspace
from ..workspace.postgresql import Server
from ..workspace.tables import Place, Schema, SqliteTables, open_database, opening
from .repeats import Repeats

# Up to version 3 a search had a mix of cosine and BM25 in place of a rule.
_TABLES = """
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
);
CREATE TABLE ranked (
    id INTEGER PRIMARY KEY,
    search INTEGER NOT NULL,
    at INTEGER NOT NULL,
    mode TEXT NOT NULL,
    pool INTEGER NOT NULL,
    found INTEGER NOT NULL,
    rule TEXT NOT NULL,
    corpus TEXT NOT NULL,
    release TEXT NOT NULL,
    ap REAL NOT NULL,
    ap_at_10 REAL NOT NULL,
    ap_at_20 REAL NOT NULL,
    ap_c REAL,
    plain INTEGER
);
INSERT INTO ranked
SELECT id, search, at, mode, pool, found,
       CASE mix WHEN 1 THEN 'cosine' ELSE 'cosine, mix ' || mix END,
       corpus, release, ap, ap_at_10, ap_at_20, ap_c, NULL
FROM searches;
DROP TABLE searches;
CREATE INDEX modes_of_a_search ON ranked (search);
"""
# In WAL mode NORMAL loses nothing to a kill; opening and syncing each time cost 1-25 ms.
_SCHEMA = Schema(
    _TABLES, versions=range(2, 5), synchronous="NORMAL", name="log", remedy="delete it"
)
_ADD = """
INSERT INTO ranked (search, at, mode, pool, found, rule, corpus, release,
                      ap, ap_at_10, ap_at_20, ap_c, plain)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
# A search of nobody known counts as one of a person of its own.
_SUMMARY = """
WITH people AS (
    SELECT mode, pool, rule, corpus, release, count(*) AS n, sum(ap) AS s, sum(ap_at_10) AS at_10,
           sum(ap_c) AS ap_c, count(ap_c) AS with_c, sum(plain) AS plain, count(plain) AS ordered
    FROM ranked
    WHERE (pool = :pool OR :pool IS NULL) AND (rule = :rule OR :rule IS NULL)
      AND (corpus = :corpus OR :corpus IS NULL) AND (release = :release OR :release IS NULL)
    GROUP BY mode, pool, rule, corpus, release, coalesce(person_of(search), id)
)
SELECT mode, pool, rule, corpus, release, sum(at_10) / sum(n),
       sum(ap_c) / nullif(sum(with_c), 0), 1.0 * sum(plain) / nullif(sum(ordered), 0), count(*),
       CAST(sum(n) AS INTEGER), sum(s), sum(s * s), sum(s * n), sum(n * n)
FROM people GROUP BY mode, pool, rule, corpus, release
ORDER BY corpus, release, pool, rule,
         CASE mode WHEN 'none' THEN 0 WHEN 'own' THEN 1 WHEN 'group' THEN 2 ELSE 3 END, mode
"""
_LINE = "search, at, mode, pool, found, rule, corpus, release, ap, ap_at_10, ap_c, plain"
_RECENT = f"""
SELECT {_LINE} FROM ranked
WHERE (pool = :pool OR :pool IS NULL) AND (rule = :rule OR :rule IS NULL)
  AND (corpus = :corpus OR :corpus IS NULL) AND (release = :release OR :release IS NULL)
ORDER BY id DESC LIMIT :count
"""  # noqa: S608 our own names
_ROW = (
    "id, search, at, mode, pool, found, rule, corpus, release, ap, ap_at_10, ap_at_20, ap_c, plain"
)
_AFTER = f"SELECT {_ROW} FROM ranked WHERE id > :last ORDER BY id LIMIT 1000"  # noqa: S608
# PostgreSQL can't call what knows people, so it gets their numbers with the question.
_PERSON, _KNOWN = (
    "person_of(search)",
    "CAST(CAST(:known AS jsonb) ->> CAST(search AS text) AS BIGINT)",
)


class Entry(NamedTuple):
    """One search in one mode."""

    at: int  # seconds since 1970
    mode: str
    pool: int  # the size of the pool that was wanted
    rule: str
    corpus: str  # the index by name
    release: str
    precision: PoolPrecision
    plain: bool | None = None  # whether the rule `evidence` left it plain; None: it did not rank


class Chosen(NamedTuple):
    """Which searches to read; a field that is None allows all values."""

    pool: int | None = None
    rule: str | None = None
    corpus: str | None = None
    release: str | None = None


ALL = Chosen()
_Values = Mapping[str, Any]
NO_VALUES: _Values = {}


class LogSummary(NamedTuple):
    """The mean scores of all searches of one mode, pool, rule, corpus and release."""

    mode: str
    pool: int
    rule: str
    corpus: str
    release: str
    searches: int
    ap: float
    ap_at_10: float
    ap_c: float | None
    half_width: float | None  # of the mean AP's 95 % interval; None for fewer than 2 people
    plain: float | None = None  # share that the rule `evidence` left in the plain order
    people: int = 0  # a search of nobody known counts as one of a person of its own

    def among(self, chosen: Chosen) -> bool:
        """Return whether these searches are among those that `chosen` allows."""
        wanted = chosen._asdict().items()
        return all(value is None or getattr(self, name) == value for name, value in wanted)


def place_of_log(workspace: Workspace, settings: Settings) -> Path | Server:
    """Return where the log of `workspace` is by `settings`: in its file, or on a server."""
    return Server(settings.postgresql) if settings.store == POSTGRESQL else workspace.log


def _person(counted: Any, search: int) -> int | None:
    number: int | None = counted.people.get(search)
    return number


class PrecisionLog:
    """A SQLite file, a PostgreSQL server, or memory without a place; any thread may call."""

    # There are three connections: to append, to read, and to count through the whole log. So no
    # search waits for a page of the log, and no such page waits for a count.

    def __init__(self, place: Place):
        self.repeats = Repeats()
        self._adding, self._counting = threading.Lock(), threading.Lock()
        # By the number of a search; apart from this object, which SQLite would keep alive.
        self._counted = SimpleNamespace(people={})
        with opening(place, _SCHEMA.remedy):
            self._writer = open_database(place, _SCHEMA)
            self._reader, self._counter = self._writer.another(), self._writer.another()
            self._knows = isinstance(self._counter, SqliteTables)
            if isinstance(self._counter, SqliteTables):
                self._counter.define("person_of", partial(_person, self._counted))

    def __del__(self) -> None:
        if hasattr(self, "_counter"):
            self.close()

    def close(self) -> None:
        """Close the file, or the connections."""
        for one in (self._counter, self._reader, self._writer):
            one.close()

    def add(self, entries: Iterable[Entry], user: str = "", search: object = ()) -> None:
        """Append the `entries` of one `search` by `user`, one for each mode, in one transaction.

        What this server has logged of the same search by the same person is not appended again.
        Without `user`, all is.
        """
        if not user:
            self._append(entries)
            return
        fresh = {(e.mode, e.release): e for e in entries}
        # The lock is held until all is written, so that of equal requests at once one counts.
        with self._adding:
            known, new = self.repeats.claim(user, search, frozenset(fresh))
            if not new:
                return
            try:
                number = self._append([fresh[by] for by in fresh if by in new], known)
            except BaseException:
                self.repeats.release(user, search, new)
                raise
            self.repeats.note(user, search, number)

    def _append(self, entries: Iterable[Entry], number: int | None = None) -> int:
        """Append `entries` to the search `number`, or to a new one; return its number."""
        rows = [
            (
                *(e.at, e.mode, e.pool, e.precision.pool, e.rule, e.corpus, e.release),
                *(e.precision.ap, e.precision.ap_at_10, e.precision.ap_at_20, e.precision.ap_c),
                None if e.plain is None else int(e.plain),
            )
            for e in entries
        ]
        with self._writer.changing() as change:  # another process may number a search, too
            if number is None:
                ((last,),) = change.execute("SELECT max(search) FROM ranked").fetchall()
                number = (last or 0) + 1
            change.executemany(_ADD, [(number, *row) for row in rows])
        return number

    def summary(self, chosen: Chosen = ALL) -> list[LogSummary]:
        """Return the means of the `chosen` searches by mode, pool, rule, corpus and release."""
        means = []
        for row in self.ask_whole(_SUMMARY, chosen._asdict()):
            *place, at_10, ap_c, plain = row[:8]
            ap = PeopleMean(*row[8:])
            shown = ap.values, ap.mean, at_10, ap_c, ap.half, plain, ap.people
            means.append(LogSummary._make((*place, *shown)))
        return means

    def recent(self, count: int, chosen: Chosen = ALL) -> list[_Values]:
        """Return the last `count` lines of the `chosen` searches, newest first."""
        lines = self.ask(_RECENT, {**chosen._asdict(), "count": count})
        return [dict(zip(_LINE.split(", "), line, strict=True)) for line in lines]

    def last(self) -> int:
        """Return the id of the last row; 0 if there is none."""
        ((last,),) = self.ask("SELECT max(id) FROM ranked")
        return last or 0

    def check(self) -> int:
        """Return how many rows there are; raise if the file is damaged."""
        self._counter.check()
        ((count,),) = self.ask_whole("SELECT count(*) FROM ranked")
        return int(count)

    def ask(self, question: str, values: _Values = NO_VALUES) -> list[Any]:
        """Return the rows of `question`, a SELECT with `values`."""
        return self._reader.ask(question, values)

    def ask_whole(self, question: str, values: _Values = NO_VALUES) -> list[Any]:
        """Return the rows of `question`, a SELECT that may read the whole log."""
        with self._counting:  # people have other numbers next time
            if _PERSON in question:
                self._counted.people = known = self.repeats.numbers()
                if not self._knows:
                    values = {**values, "known": json.dumps(known)}
                    question = question.replace(_PERSON, _KNOWN)
            return self._counter.ask(question, values)

    def rows(self) -> Iterator[_Values]:
        """Yield all rows, oldest first; they are read a thousand at a time."""
        last = 0
        while rows := self.ask(_AFTER, {"last": last}):
            for row in rows:
                yield dict(zip(_ROW.split(", "), row, strict=True))
            last = rows[-1][0]

"""The SQLite file of people who sign in [I/O]: its tables; only its owner may read it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ..errors import UsageError
from ..workspace.tables import Schema, open_tables

FILE = "people.sqlite"  # in the workspace
_TABLES = """
CREATE TABLE IF NOT EXISTS codes (
    user TEXT PRIMARY KEY,
    public TEXT NOT NULL UNIQUE,
    salt BLOB NOT NULL,
    digest BLOB NOT NULL,
    made INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sessions (
    digest BLOB PRIMARY KEY,
    user TEXT NOT NULL,
    made INTEGER NOT NULL,
    seen INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_of ON sessions (user);
CREATE TABLE IF NOT EXISTS tokens (
    public TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    name TEXT NOT NULL,
    salt BLOB NOT NULL,
    digest BLOB NOT NULL,
    made INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tokens_of ON tokens (user);
CREATE TABLE IF NOT EXISTS choices (
    user TEXT PRIMARY KEY,
    paused INTEGER NOT NULL,
    remember INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS searches (
    id INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    query TEXT NOT NULL,
    mode TEXT NOT NULL,
    at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS searches_of ON searches (user, id);
CREATE TABLE IF NOT EXISTS growing (user TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS grown (
    id INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    term TEXT NOT NULL,
    count INTEGER NOT NULL,
    UNIQUE (user, term)
);
CREATE TABLE IF NOT EXISTS moving (
    id INTEGER PRIMARY KEY REFERENCES grown ON DELETE CASCADE,
    count INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS leaving (user TEXT PRIMARY KEY) WITHOUT ROWID;
"""
# "FULL": what was revoked or forgotten stays so after a power failure.
_SCHEMA = Schema(_TABLES, versions=range(1, 7), synchronous="FULL")


def open_people_file(path: Path | None) -> sqlite3.Connection:
    """Return a connection to `path`, a new file if it is missing; None: a database in memory."""
    try:
        connection = open_tables(path, _SCHEMA)
        # If a process was killed while it forgot somebody, their data is still in the log.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return connection
    except (OSError, sqlite3.OperationalError) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise UsageError(
            f"{path} can't be written ({why}); check free space and permissions"
        ) from fault
    except sqlite3.Error as fault:
        raise UsageError(
            f"{path} can't be opened ({fault}); restore it from a copy, or delete it and make new "
            "codes: veilsearch codes --all"
        ) from fault

"""The SQLite file of the people who sign in [I/O]: its tables, opened so that deleted is gone."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from .errors import UsageError

FILE = "people.sqlite"  # in the workspace
FILES = (FILE, f"{FILE}-wal", f"{FILE}-shm")  # with those that SQLite keeps beside it
_VERSION = 1  # of the tables below
_SCHEMA = """
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
"""
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",  # what was revoked or forgotten stays so when the power fails
    "secure_delete=ON",
    "temp_store=MEMORY",  # VACUUM writes nothing elsewhere
)
_BUSY = 10  # seconds to wait for another process


class _Newer(Exception):
    """The file is of another version."""


def open_people_file(path: Path | None) -> sqlite3.Connection:
    """Open the file, made if it is missing and readable by its owner only; None for memory."""
    try:
        if path is not None:
            _make_private(path)
        return _open(path)
    except _Newer as fault:
        raise UsageError(
            f"{path} can't be opened ({fault}); use the veilsearch that made it"
        ) from fault
    except (OSError, sqlite3.OperationalError) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise UsageError(f"{path} can't be written ({why}); see to room and rights") from fault
    except sqlite3.Error as fault:
        raise UsageError(
            f"{path} can't be opened ({fault}); restore it from a copy, or delete it and make new "
            "codes: veilsearch codes --all"
        ) from fault


def _make_private(path: Path) -> None:
    """Make the file before SQLite does: the two beside it are made with its rights."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if each.exists() and each.stat().st_mode & 0o077:
            each.chmod(0o600)


def _open(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path or ":memory:", timeout=_BUSY, check_same_thread=False, isolation_level=None
    )
    try:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and version != _VERSION:
            raise _Newer(f"its version is {version} instead of {_VERSION}")
        if not tables:
            connection.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}PRAGMA user_version={_VERSION};")
            connection.commit()
        # Who was killed while forgetting has left it in the log beside the file.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection

"""The tables of people who sign in [I/O]: a file that only its owner may read, or a server."""

from __future__ import annotations

from pathlib import Path

from ..settings import POSTGRESQL, Settings
from ..workspace.postgresql import Server
from ..workspace.tables import Database, Place, Schema, open_database, opening

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
CREATE TABLE IF NOT EXISTS orders (
    user TEXT PRIMARY KEY,
    tokens REAL NOT NULL,
    at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
"""
# "FULL": what was revoked or forgotten stays so after a power failure.
_SCHEMA = Schema(
    _TABLES,
    versions=range(1, 8),
    synchronous="FULL",
    name="people",
    remedy="restore it from a copy, or delete it and make new codes: veilsearch codes --all",
)


def place_of_people(root: Path, settings: Settings) -> Path | Server:
    """Return where the people of the workspace `root` are by `settings`: in its file, or away."""
    return Server(settings.postgresql) if settings.store == POSTGRESQL else root / FILE


def kept_people(root: Path, settings: Settings) -> Path | Server | None:
    """Return where the people of the workspace `root` are by `settings`; None: in no file yet."""
    place = place_of_people(root, settings)
    return None if isinstance(place, Path) and not place.exists() else place


def open_people(place: Place) -> Database:
    """Return the database at `place`, a new file if it is missing; None: one in memory."""
    with opening(place, _SCHEMA.remedy):
        database = open_database(place, _SCHEMA)
        if isinstance(place, Path):
            # If a process was killed while it forgot somebody, their data is still in the log.
            database.ask("PRAGMA wal_checkpoint(TRUNCATE)")
        return database

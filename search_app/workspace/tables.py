"""SQLite files of a workspace [I/O]: their tables, and the sum of all rows that shows damage.

SQLite's own check looks at how a file hangs together, not at values. So each file holds the sum of
its rows' digests. Every change of a row changes the sum in the same transaction, and a row that is
removed leaves no trace in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from sqlite3 import Connection, DatabaseError, OperationalError, connect
from typing import NamedTuple
from urllib.parse import quote

from ..errors import UsageError

BUSY = 10  # seconds to wait for another process
_PRAGMAS = (
    "journal_mode=WAL",
    "secure_delete=ON",
    "temp_store=MEMORY",  # so that VACUUM writes no temporary file
    "recursive_triggers=ON",  # so that rows that are replaced leave the sum
    "foreign_keys=ON",
)
_ENDS = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal")  # a copy ends otherwise
_MODULUS = 2**61 - 1  # three of them fit into SQLite's integers
_EVENTS = {
    "INSERT": "value + {new}",
    "DELETE": f"value + {_MODULUS} - {{old}}",
    "UPDATE": f"value + {_MODULUS} - {{old}} + {{new}}",
}


class Schema(NamedTuple):
    """The tables of a file."""

    tables: str  # statements that make what is missing
    versions: range  # that can be read; the last one is written
    synchronous: str  # SQLite's: what a power failure may take


def is_database(path: Path) -> bool:
    """Return whether `path` is a SQLite file of a workspace, or one that SQLite keeps next to it.

    A process that has one open must not open it in another way. When any handle of a file is
    closed, the system drops all locks of the process on it, and another process may then spoil it.
    """
    return path.name.endswith(_ENDS)


def texts_of(path: Path) -> Iterator[bytes]:
    """Yield the values of all rows of the SQLite file `path`, asked of SQLite."""
    try:
        with closing(connect(f"file:{quote(str(path))}?mode=ro", BUSY, uri=True)) as connection:
            tables = _tables(connection)
            connection.text_factory = bytes
            for table, columns in tables:
                question = f"SELECT {', '.join(columns)} FROM {table}"  # noqa: S608 our own names
                for row in connection.execute(question):
                    yield b"\n".join(value for value in row if isinstance(value, bytes))
    except DatabaseError as fault:
        raise OSError(f"{path} is damaged ({fault})") from fault


def copy_tables(path: Path, copy: Path) -> None:
    """Copy the SQLite file `path` to the new file `copy`, as of one moment: others may write."""
    os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with plainly(str(path), "see: veilsearch doctor"):
        source = f"file:{quote(str(path))}?mode=ro"
        with closing(connect(source, BUSY, uri=True)) as here, closing(connect(copy)) as there:
            here.backup(there)


def open_tables(path: Path | None, schema: Schema) -> Connection:
    """Return a connection to `path` with the tables of `schema`; None: a database in memory.

    Only its owner may read the file.
    """
    if path is not None:
        # Made here, before SQLite makes it. SQLite gives the two files next to it the same
        # permissions. What an older version left open to others is closed.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        for file in (path.with_name(f"{path.name}{end}") for end in ("", "-wal", "-shm")):
            if file.exists() and file.stat().st_mode & 0o077:
                file.chmod(0o600)
    connection = connect_to(path)
    try:
        for pragma in (*_PRAGMAS, f"synchronous={schema.synchronous}"):
            connection.execute(f"PRAGMA {pragma}")
        with connection:
            connection.execute("BEGIN IMMEDIATE")  # two processes must not make them twice
            _make_tables(connection, schema, path)
            _watch(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to(path: Path | None) -> Connection:
    """Return a connection to `path` for any thread; it begins a transaction only when told to."""
    return connect(path or ":memory:", BUSY, check_same_thread=False, isolation_level=None)


def fault_of(connection: Connection) -> str:
    """Return what is damaged in the file of `connection`; empty if nothing is."""
    with connection:
        connection.execute("BEGIN")  # all rows and their sum as of one moment
        ((verdict,),) = connection.execute("PRAGMA integrity_check(1)")
        if verdict != "ok":
            return str(verdict)
        sums = [value for (value,) in connection.execute("SELECT value FROM sum_of_rows")]
        return "" if sums == [_count(connection)] else "its rows are not those that were written"


@contextmanager
def plainly(name: str, remedy: str) -> Iterator[None]:
    """Turn errors of the database `name` into one line; `remedy` is for a damaged one."""
    # Neither line holds values of people. A file that is busy, or a full disk, is no damage.
    try:
        yield
    except OperationalError as fault:
        raise UsageError(
            f"{name} can't be used ({fault}); check space and permissions, and try again"
        ) from fault
    except DatabaseError as fault:
        raise UsageError(f"{name} is damaged ({fault}); {remedy}") from fault


def _make_tables(connection: Connection, schema: Schema, path: Path | None) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    newest = schema.versions[-1]
    if tables and version not in schema.versions:
        raise UsageError(
            f"{path} can't be opened (its version is {version} instead of {newest}); "
            "use the version of veilsearch that made it"
        )
    if not tables or version != newest:
        made = "CREATE TABLE IF NOT EXISTS sum_of_rows (value INTEGER NOT NULL)"
        for step in (*schema.tables.split(";"), made, "DELETE FROM sum_of_rows"):
            connection.execute(step)
        connection.execute("INSERT INTO sum_of_rows VALUES (?)", (_count(connection),))
        connection.execute(f"PRAGMA user_version={newest}")


def _watch(connection: Connection) -> None:
    """Let every change of a row through `connection` change the sum."""
    # Temporary triggers: nothing in the file depends on a function that SQLite does not have.
    connection.create_function("digest", -1, _digest, deterministic=True)
    for table, columns in _tables(connection):
        sides = {
            side: f"digest('{table}', {', '.join(f'{side}.{column}' for column in columns)})"
            for side in ("new", "old")
        }
        for event, after in _EVENTS.items():
            trigger = f"{table}_{event} AFTER {event} ON {table}"
            value = f"({after.format(**sides)}) % {_MODULUS}"
            change = f"UPDATE sum_of_rows SET value = {value}"  # noqa: S608 our own names
            connection.execute(f"CREATE TEMP TRIGGER {trigger} BEGIN {change}; END")


def _tables(connection: Connection) -> list[tuple[str, list[str]]]:
    """Return each table of `connection` but the sum's, with its columns."""
    question = "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'sum_of_rows'"
    names = [name for (name,) in connection.execute(question)]
    return [
        (name, [column[1] for column in connection.execute(f"PRAGMA table_info({name})")])
        for name in names
    ]


def _count(connection: Connection) -> int:
    """Return the sum of the digests of all rows of `connection`, those of its schema included."""
    total = 0
    with _lenient(connection):
        for table, columns in (*_tables(connection), ("sqlite_master", _OF_SCHEMA)):
            question = f"SELECT {', '.join(columns)} FROM {table}"  # noqa: S608 our own names
            rows = connection.execute(question)
            total += sum(_digest(table, *row) for row in rows)
    return total % _MODULUS


_OF_SCHEMA = ["type", "name", "tbl_name", "sql"]  # not the root page: VACUUM moves it


@contextmanager
def _lenient(connection: Connection) -> Iterator[None]:
    """Let `connection` read text that a flipped bit has made invalid."""
    factory = connection.text_factory
    connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
    try:
        yield
    finally:
        connection.text_factory = factory


def _digest(*values: object) -> int:
    return int.from_bytes(blake2b(repr(values).encode(), digest_size=8).digest()) % _MODULUS

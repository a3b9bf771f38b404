"""Tables of a workspace [I/O]: SQLite files, with the sum of all rows that shows damage.

SQLite's own check looks at how a file hangs together, not at values. So each file holds the sum of
its rows' digests. Every change of a row changes the sum in the same transaction, and a row that is
removed leaves no trace in it.

Stores work on a `Database`, whose SQL both SQLite and PostgreSQL take: see `postgresql.py`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from sqlite3 import Connection, DatabaseError, OperationalError, connect
from sqlite3 import Error as SqliteError
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

from ..errors import UsageError
from .postgresql import PostgresqlTables, Server

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


Values = Sequence[Any] | Mapping[str, Any]
Place = Path | Server | None  # where tables are: a file, a server, or memory


class Schema(NamedTuple):
    """The tables of a file, or of a schema of PostgreSQL."""

    tables: str  # statements that make what is missing
    versions: range  # that can be read; the last one is written
    synchronous: str  # SQLite's: what a power failure may take
    name: str = ""  # in PostgreSQL
    remedy: str = "see: veilsearch doctor"  # where a file is damaged


class StatementResult(Protocol):
    """What a statement brought."""

    @property
    def rowcount(self) -> int:
        """Return how many rows were changed."""

    def fetchall(self) -> list[Any]:
        """Return the rows that were found."""


class Changing(Protocol):
    """A transaction."""

    def execute(self, statement: str, values: Values = (), /) -> StatementResult:
        """Carry out `statement` with `values`, and return its result."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> StatementResult:
        """Carry out `statement` with each of `rows`, and return the result of all of them."""


class Database(Protocol):
    """Tables that any thread may use, one at a time; every fault is one plain line."""

    def ask(self, question: str, values: Values = ()) -> list[Any]:
        """Return the rows of `question`, a SELECT with `values`."""

    def changing(self, *, wiped: bool = False) -> AbstractContextManager[Changing]:
        """Return a transaction: one process at a time has one, and all of it holds or nothing.

        With `wiped`, what was removed is in no file of the tables any more when it is over.
        """

    def check(self) -> None:
        """Raise if a row can't be read, or is not as it was written."""

    def another(self) -> Database:
        """Return the same tables by a connection of its own, if there can be one."""

    def use(self) -> None:
        """Raise unless this is the database that others find at its place."""

    def close(self) -> None:
        """Close it."""


def open_database(place: Place, schema: Schema) -> Database:
    """Return the database with the tables of `schema` at `place`, made if they are missing."""
    if isinstance(place, Server):
        return PostgresqlTables(place, schema)
    return SqliteTables(place, schema, open_tables(place, schema))


class SqliteTables:
    """A SQLite file, or memory; see `Database`."""

    def __init__(self, path: Path | None, schema: Schema, connection: Connection):
        self._lock = threading.Lock()
        self._name, self._remedy = str(path or f"the {schema.name} in memory"), schema.remedy
        self._connection, self._path, self._place = connection, path, _place(path)

    def another(self) -> SqliteTables:
        """Return the same tables by a connection of its own; in memory there is only this one."""
        if self._path is None:
            return self
        made = SqliteTables.__new__(SqliteTables)
        made.__dict__.update(self.__dict__, _lock=threading.Lock())
        made._connection = connect_to(self._path)
        # What is sorted must not get into a temporary file.
        made._connection.execute("PRAGMA temp_store=MEMORY")
        return made

    def define(self, name: str, function: Callable[[Any], int | None]) -> None:
        """Let statements call `function`, which takes one value, by `name`."""
        self._connection.create_function(name, 1, function)

    def ask(self, question: str, values: Values = ()) -> list[Any]:
        """Return the rows of `question`, a SELECT with `values`."""
        with self._lock, self._plainly():
            return self._connection.execute(question, values).fetchall()

    @contextmanager
    def changing(self, *, wiped: bool = False) -> Iterator[Changing]:
        """Give a transaction; `wiped`: see `Database`."""
        with self._lock, self._plainly():
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
            if wiped:
                self._wipe()

    def _wipe(self) -> None:
        """Erase what was removed from unused pages and from SQLite's log."""
        self._connection.execute("VACUUM")
        ((busy, *_),) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise UsageError(f"{self._name} is being read by others; remove again later")

    def check(self) -> None:
        """Raise if the file is damaged."""
        with self._lock, self._plainly():
            if fault := fault_of(self._connection):
                raise DatabaseError(fault)

    def use(self) -> None:
        """Raise if another file has taken the place of this one."""
        if _place(self._path) != self._place:
            raise UsageError(f"{self._name} was moved or replaced; start the server again")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _plainly(self) -> AbstractContextManager[None]:
        return plainly(self._name, self._remedy)


def _place(path: Path | None) -> object:
    """Return which file is at `path`, without opening it; None if there is none."""
    with suppress(OSError):
        return path and (path.stat().st_dev, path.stat().st_ino)
    return None


@contextmanager
def opening(place: Place, remedy: str) -> Iterator[None]:
    """Turn what is wrong with the file at `place` into one line; `remedy` is for a damaged one."""
    try:
        yield
    except (OSError, OperationalError) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise UsageError(
            f"{place} can't be written ({why}); check free space and permissions"
        ) from fault
    except SqliteError as fault:
        raise UsageError(f"{place} can't be opened ({fault}); {remedy}") from fault


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

from __future__ import annotations

import random
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from search_app.errors import UsageError
from search_app.workspace.postgresql import Server
from search_app.workspace.tables import Schema, fault_of, open_database, open_tables

TABLES = """
CREATE TABLE IF NOT EXISTS people (name TEXT PRIMARY KEY, age REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS words (id INTEGER PRIMARY KEY, word TEXT, picture BLOB);
CREATE INDEX IF NOT EXISTS by_word ON words (word)
"""
SCHEMA = Schema(TABLES, versions=range(1, 2), synchronous="OFF")
ADD = "INSERT INTO words (word, picture) VALUES (?, ?)"


def sum_of(connection: sqlite3.Connection) -> int:
    ((value,),) = connection.execute("SELECT value FROM sum_of_rows")
    return int(value)


def test_the_sum_follows_every_change(tmp_path: Path) -> None:
    """Random changes, each of which may be taken back, by two connections."""
    draw = random.Random(7)  # noqa: S311
    with (
        closing(open_tables(tmp_path / "t.sqlite", SCHEMA)) as one,
        closing(open_tables(tmp_path / "t.sqlite", SCHEMA)) as other,
    ):
        empty = sum_of(one)
        for _ in range(300):
            name = f"p{draw.randrange(20)}"
            connection = draw.choice([one, other])
            connection.execute("BEGIN IMMEDIATE")
            change, *values = draw.choice(
                [
                    ("INSERT OR IGNORE INTO people VALUES (?, ?)", name, draw.randrange(90)),
                    ("INSERT OR REPLACE INTO people VALUES (?, ?)", name, draw.random()),
                    ("UPDATE people SET age = age + 1 WHERE name > ?", name),
                    ("DELETE FROM people WHERE name = ?", name),
                    (ADD, name, draw.choice([None, b"\xff\0"])),
                    ("UPDATE words SET word = NULL WHERE word = ?", name),
                ]
            )
            connection.execute(change, values)
            connection.execute(draw.choice(["COMMIT", "ROLLBACK"]))
            assert not fault_of(draw.choice([one, other]))
        assert sum_of(one) != empty
        one.execute("DELETE FROM words")
        one.execute("DELETE FROM people")
        assert sum_of(one) == empty  # nothing is left of who was there


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE words SET word = 'worb'",
        "UPDATE words SET id = 2",
        "UPDATE words SET picture = 'seen'",
        "UPDATE people SET age = 7.5",
        "DELETE FROM people",
        "INSERT INTO words (word) VALUES ('more')",
        "UPDATE words SET word = CAST(x'ff' AS TEXT)",
        "DROP INDEX by_word",
        "UPDATE sum_of_rows SET value = 1",
        "DELETE FROM sum_of_rows",
    ],
)
def test_a_change_behind_its_back_is_a_fault(tmp_path: Path, change: str) -> None:
    with closing(open_tables(tmp_path / "t.sqlite", SCHEMA)) as file:
        file.execute("INSERT INTO people VALUES ('ann', 7)")
        file.execute(ADD, ("word", b"seen"))
    with closing(sqlite3.connect(tmp_path / "t.sqlite", isolation_level=None)) as stranger:
        stranger.execute(change)
    with closing(open_tables(tmp_path / "t.sqlite", SCHEMA)) as file:
        assert fault_of(file) == "its rows are not those that were written"


def test_a_file_of_an_older_version_gets_what_it_misses(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as older, older:
        older.execute("CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT, picture BLOB)")
        older.execute(ADD, ("kept", None))
        older.execute("PRAGMA user_version = 1")
    newer = SCHEMA._replace(versions=range(1, 3))
    with closing(open_tables(tmp_path / "t.sqlite", newer)) as file:
        file.execute("INSERT INTO people VALUES ('ann', 7)")
        assert not fault_of(file)
    with closing(open_tables(tmp_path / "t.sqlite", newer)) as file:
        assert file.execute("SELECT word, name FROM words, people").fetchall() == [("kept", "ann")]
        assert not fault_of(file)
    with pytest.raises(UsageError, match="its version is 2 instead of 1"):
        open_tables(tmp_path / "t.sqlite", SCHEMA)


@pytest.mark.parametrize(
    ("address", "remedy"),
    [("", "set it to the server's address"), ("postgresql://h", "pip install 'veilsearch\\[")],
)
def test_what_postgresql_needs_and_is_not_there_is_one_line(
    address: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=remedy):
        open_database(Server(address), SCHEMA._replace(name="people"))

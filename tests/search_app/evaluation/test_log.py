from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from search_app.errors import UsageError
from search_app.evaluation.log import Chosen, Entry, PrecisionLog
from search_app.measures.precision import PoolPrecision


def entry(mode: str, ap: float, pool: int = 100) -> Entry:
    return Entry(
        1_790_000_000, mode, pool, "cosine", "c", "r", PoolPrecision(ap, ap, ap, ap / 2, pool)
    )


def test_the_newest_comes_first(tmp_path: Path) -> None:
    log = PrecisionLog(tmp_path / "log.sqlite")
    log.add([entry("none", 0.1)])
    log.add([entry("own", 1.0)])
    assert [row["mode"] for row in log.recent(5)] == ["own", "none"]
    assert len(log.recent(1)) == 1


def test_there_is_no_place_for_a_query_or_a_user(tmp_path: Path) -> None:
    PrecisionLog(tmp_path / "log.sqlite")
    with sqlite3.connect(tmp_path / "log.sqlite") as connection:
        columns = {row[1] for row in connection.execute("PRAGMA table_info(ranked)")}
    connection.close()
    asked = "id search at mode pool found rule corpus release plain"
    assert columns == {*asked.split(), "ap", "ap_at_10", "ap_at_20", "ap_c"}


def test_a_damaged_file_or_one_of_another_version_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").write_bytes(b"not a database, but long enough to look like one" * 9)
    with pytest.raises(UsageError, match=r"can't be opened .*; delete it"):
        PrecisionLog(tmp_path / "log.sqlite")
    connection = sqlite3.connect(tmp_path / "other.sqlite")
    connection.execute("CREATE TABLE searches (id INTEGER PRIMARY KEY)")
    connection.close()
    with pytest.raises(UsageError, match="its version is 0 instead of 4"):
        PrecisionLog(tmp_path / "other.sqlite")


def test_a_log_in_use_by_others_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search_app.workspace.tables.BUSY", 0)
    log = PrecisionLog(tmp_path / "log.sqlite")
    other = sqlite3.connect(tmp_path / "log.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(UsageError, match=r"can't be used \(database is locked\); .* try again"):
        log.add([entry("none", 0.1)])
    other.close()
    log.add([entry("none", 0.1)])
    assert log.check() == 1


def test_eight_threads_write_at_once(tmp_path: Path) -> None:
    log = PrecisionLog(tmp_path / "log.sqlite")
    threads = [
        threading.Thread(target=lambda: [log.add([entry("none", 0.5)]) for _ in range(10)])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert log.summary()[0].searches == 80


def test_two_processes_number_searches_apart(tmp_path: Path) -> None:
    first, second = (PrecisionLog(tmp_path / "log.sqlite") for _ in range(2))
    for log in (first, second, first):
        log.add([entry("none", 0.5), entry("own", 1.0)])
    assert [row["search"] for row in first.rows()] == [1, 1, 2, 2, 3, 3]


def test_who_looks_back_is_not_waited_for(tmp_path: Path) -> None:
    log = PrecisionLog(tmp_path / "log.sqlite")
    with log._reader._lock:
        log.add([entry("none", 0.5)])
    assert log.check() == 1


def test_rows_come_a_thousand_at_a_time_and_none_is_left_out(tmp_path: Path) -> None:
    log = PrecisionLog(tmp_path / "log.sqlite")
    for _ in range(21):
        log.add([entry("none", 0.5)] * 100)
    assert [row["id"] for row in log.rows()] == list(range(1, 2101))


def test_only_the_chosen_are_looked_at(tmp_path: Path) -> None:
    log = PrecisionLog(tmp_path / "log.sqlite")
    log.add([entry("none", 0.2, 100), entry("none", 0.6, 50)])
    assert [(s.pool, s.ap) for s in log.summary()] == [(50, 0.6), (100, 0.2)]  # never together
    assert [row["ap"] for row in log.recent(5, Chosen(pool=50))] == [0.6]
    assert [s.pool for s in log.summary(Chosen(pool=100, corpus="c"))] == [100]
    assert log.summary(Chosen(release="another")) == []


def test_a_log_of_before_keeps_its_rows_and_names_their_rule(tmp_path: Path) -> None:
    """Up to version 3 a search had a mix of cosine and BM25, and no rule."""
    connection = sqlite3.connect(tmp_path / "log.sqlite")
    named = "id INTEGER PRIMARY KEY, search, at, mode, pool, found, mix, corpus, release"
    connection.execute(f"CREATE TABLE searches ({named}, ap, ap_at_10, ap_at_20, ap_c)")
    connection.execute("PRAGMA user_version=3")
    for at, mix in enumerate((1.0, 0.5), 1):
        row = (at, at, 1_790_000_000, "own", 100, 40, mix, "c", "r", 0.5, 0.5, 0.5, None)
        connection.execute("INSERT INTO searches VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", row)
    connection.commit()
    connection.close()
    log = PrecisionLog(tmp_path / "log.sqlite")
    log.add([entry("own", 0.7)._replace(rule="evidence", plain=True)])
    log.add([entry("own", 0.9)._replace(rule="evidence", plain=False)])
    means = {mean.rule: (mean.searches, mean.plain) for mean in log.summary()}
    assert means == {"cosine": (1, None), "cosine, mix 0.5": (1, None), "evidence": (2, 0.5)}
    assert log.check() == 4
    assert [row["search"] for row in PrecisionLog(tmp_path / "log.sqlite").rows()] == [1, 2, 3, 4]

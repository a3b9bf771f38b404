from __future__ import annotations

import math
import sqlite3
import threading
from pathlib import Path

import pytest

from search_app import precision_log
from search_app.errors import UsageError
from search_app.evaluation import Precision
from search_app.precision_log import Chosen, Entry, PrecisionLog


def entry(mode: str, ap: float, pool: int = 100) -> Entry:
    return Entry(1_790_000_000, mode, pool, 1.0, "c", "r", Precision(ap, ap, ap, ap / 2, pool))


def test_means_by_mode_with_their_interval(tmp_path: Path) -> None:
    log = PrecisionLog(tmp_path / "log.sqlite")
    log.add([entry("group", 0.5), entry("group", 0.7), entry("none", 0.2)])
    none, group = log.summary()
    assert (none.mode, none.searches, none.ap, none.half_width) == ("none", 1, 0.2, None)
    assert (group.mode, group.searches) == ("group", 2)
    assert group.ap == pytest.approx((0.5 + 0.7) / 2)
    # the sample's deviation is sqrt(2 * .1² / 1), its standard error that over sqrt(2): 0.1; with
    # one degree of freedom Student's t is Cauchy's, whose 97.5 % quantile is tan(0.475 pi)
    assert group.half_width == pytest.approx(math.tan(0.475 * math.pi) * 0.1)


def test_pools_are_never_averaged_together(tmp_path: Path) -> None:
    log = PrecisionLog(tmp_path / "log.sqlite")
    log.add([entry("none", 0.2, 100), entry("none", 0.6, 50)])
    assert [(s.pool, s.ap) for s in log.summary()] == [(50, 0.6), (100, 0.2)]


def test_the_newest_comes_first(tmp_path: Path) -> None:
    log = PrecisionLog(tmp_path / "log.sqlite")
    log.add([entry("none", 0.1)])
    log.add([entry("own", 1.0)])
    assert [row["mode"] for row in log.recent(5)] == ["own", "none"]
    assert len(log.recent(1)) == 1


def test_there_is_no_place_for_a_query_or_a_user(tmp_path: Path) -> None:
    PrecisionLog(tmp_path / "log.sqlite")
    with sqlite3.connect(tmp_path / "log.sqlite") as connection:
        columns = {row[1] for row in connection.execute("PRAGMA table_info(searches)")}
    connection.close()
    assert columns == {
        "id",
        "search",
        "at",
        "mode",
        "pool",
        "found",
        "mix",
        "corpus",
        "release",
    } | {
        "ap",
        "ap_at_10",
        "ap_at_20",
        "ap_c",
    }


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").write_bytes(b"not a database, but long enough to look like one" * 9)
    with pytest.raises(UsageError, match=r"can't be opened .*; delete it"):
        PrecisionLog(tmp_path / "log.sqlite")


def test_a_log_of_another_version_is_one_line(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "log.sqlite")
    connection.execute("CREATE TABLE searches (id INTEGER PRIMARY KEY)")
    connection.close()
    with pytest.raises(UsageError, match="its version is 0 instead of 2"):
        PrecisionLog(tmp_path / "log.sqlite")


def test_a_log_keeps_its_searches_when_opened_again(tmp_path: Path) -> None:
    PrecisionLog(tmp_path / "log.sqlite").add([entry("none", 0.2)])
    assert PrecisionLog(tmp_path / "log.sqlite").check() == 1


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


# The table as the code of version 1 made it, and rows as it wrote them: three searches, of which
# the second could not be answered for the group and the third came in the same second.
VERSION_1 = """
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
OLD = [
    *((100, "none", 0.1), (100, "own", 1.0), (100, "group", 0.6)),
    *((160, "none", 0.2), (160, "own", 1.0)),
    *((160, "none", 0.3), (160, "own", 1.0), (160, "group", 0.7)),
    *((160, "group", 0.5), (161, "group", 0.4)),
]


def old_log(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    with connection:
        connection.execute(VERSION_1)
        connection.execute("PRAGMA user_version = 1")
        connection.executemany(
            "INSERT INTO searches (at, mode, pool, found, mix, corpus, release, ap, ap_at_10, "
            "ap_at_20, ap_c) VALUES (?, ?, 50, 40, 1.0, 'c', 'r', ?, 0.5, 0.5, NULL)",
            OLD,
        )
    connection.close()


def test_a_log_of_version_1_is_migrated_and_its_searches_are_numbered(tmp_path: Path) -> None:
    old_log(tmp_path / "log.sqlite")
    log = PrecisionLog(tmp_path / "log.sqlite")
    kept = [(row["at"], row["mode"], row["ap"]) for row in log.rows()]
    assert kept == OLD
    assert [row["search"] for row in log.rows()] == [1, 1, 1, 2, 2, 3, 3, 3, 4, 5]
    log.add([entry("none", 0.2), entry("own", 1.0)])
    assert [row["search"] for row in log.recent(2)] == [6, 6]
    log.close()
    assert PrecisionLog(tmp_path / "log.sqlite").check() == 12  # and not migrated again


def test_a_migration_that_fails_leaves_version_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_log(tmp_path / "log.sqlite")
    broken = (precision_log._MIGRATION[0], "UPDATE nowhere SET search = 1")
    with monkeypatch.context() as patched:
        patched.setattr(precision_log, "_MIGRATION", broken)
        with pytest.raises(UsageError, match="can't be written"):
            PrecisionLog(tmp_path / "log.sqlite")
    assert PrecisionLog(tmp_path / "log.sqlite").check() == len(OLD)


def test_two_processes_number_searches_apart(tmp_path: Path) -> None:
    first, second = (PrecisionLog(tmp_path / "log.sqlite") for _ in range(2))
    for log in (first, second, first):
        log.add([entry("none", 0.5), entry("own", 1.0)])
    assert [row["search"] for row in first.rows()] == [1, 1, 2, 2, 3, 3]


def test_who_looks_back_is_not_waited_for(tmp_path: Path) -> None:
    log = PrecisionLog(tmp_path / "log.sqlite")
    with log._looking:
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
    assert [row["ap"] for row in log.recent(5, Chosen(pool=50))] == [0.6]
    assert [s.pool for s in log.summary(Chosen(pool=100, corpus="c"))] == [100]
    assert log.summary(Chosen(release="another")) == []

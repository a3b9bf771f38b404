from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from search_app.errors import UsageError
from search_app.evaluation import Precision
from search_app.precision_log import Entry, PrecisionLog


def entry(mode: str, ap: float, pool: int = 100) -> Entry:
    return Entry(1_790_000_000, mode, pool, 1.0, "c", "r", Precision(ap, ap, ap, ap / 2, pool))


def test_means_by_mode_with_their_interval(tmp_path: Path) -> None:
    log = PrecisionLog(tmp_path / "log.sqlite")
    log.add([entry("group", 0.5), entry("group", 0.7), entry("none", 0.2)])
    none, group = log.summary()
    assert (none.mode, none.searches, none.ap, none.half_width) == ("none", 1, 0.2, None)
    assert (group.mode, group.searches) == ("group", 2)
    assert group.ap == pytest.approx((0.5 + 0.7) / 2)
    # the sample's deviation is sqrt(2 * .1² / 1), its standard error that over sqrt(2)
    assert group.half_width == pytest.approx(1.96 * 0.1)


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
    assert columns == {"id", "at", "mode", "pool", "found", "mix", "corpus", "release"} | {
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
    with pytest.raises(UsageError, match="its version is 0 instead of 1"):
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

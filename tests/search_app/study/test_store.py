from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from search_app.errors import UsageError
from search_app.study.store import FILE, Event, StudyStore, only_server

NOW = 1_900_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StudyStore]:
    with closing(StudyStore(tmp_path / FILE)) as opened:
        yield opened


def arrive(store: StudyStore, code: object, cells: int, now: int = NOW) -> int:
    participant = store.of_code(str(code))
    assert participant is not None
    store.consent(participant.id, "v1", (), cells, now, 3600)
    return participant.id


def cells_of(store: StudyStore) -> list[int]:
    return [one.cell for one in store.participants() if one.cell is not None]


def test_who_is_silent_frees_the_cell_and_who_finished_keeps_it(store: StudyStore) -> None:
    codes = store.invite(7)
    for code in codes[:3]:
        arrive(store, code, 3)
    first = next(one for one in store.participants() if one.cell == 0)
    assert store.answer(first.id, 1, [], 1000 * NOW, last=True)
    later = NOW + 7200
    silent = {one.cell for one in store.participants() if one.cell not in (None, 0)}
    for code in codes[3:5]:
        arrive(store, code, 3, later)
    assert {one.cell for one in store.participants() if one.seen == later} == silent
    # Who comes back after all keeps the cell.
    before = cells_of(store)
    arrive(store, codes[1], 3, later)
    assert cells_of(store) == before


def test_an_answer_counts_once(store: StudyStore) -> None:
    number = arrive(store, store.invite(1)[0], 2)
    event = Event("java", "prefer", value="left")
    with ThreadPoolExecutor(8) as pool:
        went = list(pool.map(lambda _: store.answer(number, 1, [event], 5), range(8)))
    assert sorted(went) == [False] * 7 + [True]
    assert [row[1:3] for row in store.events()] == [("java", "prefer")]
    store.record(number, [event, Event("java", "click", "d1", 3)], 6)
    assert len(store.events()) == 2


def test_a_document_at_one_place_of_two_lists_has_a_click_in_each(store: StudyStore) -> None:
    number = arrive(store, store.invite(1)[0], 2)
    for condition in ("none", "own", "own"):
        store.record(number, [Event("java", "click", "d1", 3, condition)], 6)
    assert [row[5] for row in store.events()] == ["none", "own"]


def test_a_clock_set_back_changes_nothing(store: StudyStore) -> None:
    number = arrive(store, store.invite(1)[0], 2)
    store.record(number, [Event("java", "click", "d1", 1)], 1000 * (NOW - 86_400))
    assert store.participants()[0].seen == NOW
    assert store.standing(2, NOW, 60).active == 1


def test_withdrawal_leaves_no_byte(tmp_path: Path) -> None:
    store = StudyStore(tmp_path / FILE)
    stays, leaves = (arrive(store, code, 2) for code in store.invite(2))
    store.set_profile(leaves, 1, "", {"canaryprofile": 1.0}, 1000 * NOW)
    store.keep_trial(leaves, "java", {"lists": ["canarydoc"]}, "canaryquery", 1000 * NOW)
    store.record(leaves, [Event("java", "click", "canaryclick", 1, value="canaryform")], 1)
    store.record(stays, [Event("java", "click", "keptclick", 1)], 1)
    assert store.withdraw(leaves)
    assert not store.withdraw(leaves)
    store.record(leaves, [Event("java", "click", "canarylate", 1)], 2)  # a tab that was still open
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"canary" not in content
    assert b"keptclick" in content
    standing = store.standing(2, NOW, 3600)
    assert (standing.withdrawn, standing.active, sum(standing.cells)) == (1, 1, 1)
    store.close()
    again = StudyStore(tmp_path / FILE)
    assert again.fault() == ""
    assert again.standing(2, NOW, 3600).withdrawn == 1


def test_who_reads_the_file_keeps_nobody_from_withdrawing(tmp_path: Path) -> None:
    """The answer comes at once, and the last bytes go when the reader has ended."""
    path = tmp_path / FILE
    with closing(StudyStore(path)) as store, closing(sqlite3.connect(path)) as reader:
        stays, leaves = (arrive(store, code, 2) for code in store.invite(2))
        store.record(leaves, [Event("java", "click", "canaryclick", 1)], 1)
        reader.execute("BEGIN")
        assert len(reader.execute("SELECT * FROM events").fetchall()) == 1
        assert store.withdraw(leaves)
        assert store.remains
        assert store.of_number(leaves) is None
        store.record(stays, [Event("java", "click", "keptclick", 1)], 1)  # others go on
        reader.rollback()
        wait_until(lambda: not store.remains)
        assert b"canary" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())
        assert len(store.events()) == 1


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_changes_that_wait_are_committed_together(store: StudyStore) -> None:
    number = arrive(store, store.invite(1)[0], 2)
    runs, hold = threading.Event(), threading.Event()
    blocked = threading.Thread(target=lambda: store._durable(lambda: (runs.set(), hold.wait(60))))
    blocked.start()
    assert runs.wait(60)
    with ThreadPoolExecutor(40) as pool:
        rows = [
            pool.submit(store.record, number, [Event("java", "click", f"d{at}", at)], 1)
            for at in range(40)
        ]
        while store._jobs.qsize() < 40:
            time.sleep(0.001)
        assert not any(row.done() for row in rows)  # nothing is acknowledged before it is durable
        changes: list[str] = []
        store._connection.set_trace_callback(changes.append)
        hold.set()
    blocked.join()
    assert len(store.events()) == 40
    assert sum(change.startswith("COMMIT") for change in changes) <= 3


def test_an_endless_answer_is_refused_whole(store: StudyStore) -> None:
    number = arrive(store, store.invite(1)[0], 2)
    events = [
        Event("end", "answer", "a", value="kept"),
        Event("end", "answer", "b", value="x" * 10**6),
    ]
    with pytest.raises(UsageError, match="more than 10,000 characters; shorten it"):
        store.answer(number, 1, events, 5)
    assert store.events() == []
    assert store.participants()[0].step == 1
    assert store.answer(number, 1, events[:1], 5)


def test_codes_are_hashed_at_rest(tmp_path: Path, store: StudyStore) -> None:
    codes = store.invite(20)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(code.secret.encode() in content for code in codes)
    assert all(code.public.encode() in content for code in codes)


def test_profiles_are_published_once(tmp_path: Path, store: StudyStore) -> None:
    assert store.publish_once("profiles")
    assert not store.publish_once("profiles")
    with closing(StudyStore(tmp_path / FILE)) as again:
        assert not again.publish_once("profiles")
        assert again.publish_once("queries")


def test_a_study_has_one_server(tmp_path: Path) -> None:
    """What participants typed is in the memory of the process that serves them."""
    refused = pytest.raises(UsageError, match="is being served by another process; a study has")
    with only_server(tmp_path), refused, only_server(tmp_path):
        pass
    with only_server(tmp_path):
        pass

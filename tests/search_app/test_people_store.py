from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from search_app import people_store, personal_code
from search_app.errors import UsageError
from search_app.people_store import IDLE, LONGEST, Choices, PeopleStore

NOW = 1_800_000_000
NEEDLE = "person-needle-4711"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal_code, "_COST", 16)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.sqlite"


@pytest.fixture
def store(path: Path) -> PeopleStore:
    return PeopleStore(path, clock=lambda: NOW)


def sign_in(store: PeopleStore, code: str, now: float = NOW) -> str:
    token = store.sign_in(code, now)
    assert token is not None
    return token


def bytes_beside(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))


# -- codes and sessions -----------------------------------------------------------------------


def test_a_code_signs_its_person_in(store: PeopleStore) -> None:
    code = store.new_code("u1")
    assert store.visitor_of(sign_in(store, code), NOW) == "u1"
    assert store.codes() == [("u1", NOW)]


@pytest.mark.parametrize("wrong", ["", "x", "0" * 25, "0" * 10_000, "é" * 25, "\udcff" * 25])
def test_a_wrong_code_signs_nobody_in(store: PeopleStore, wrong: str) -> None:
    store.new_code("u1")
    assert store.sign_in(wrong, NOW) is None


def test_each_sign_of_a_code_counts(store: PeopleStore) -> None:
    code = store.new_code("u1")
    for at in (0, 6, 28):
        other = "0" if code[at] != "0" else "2"
        assert store.sign_in(code[:at] + other + code[at + 1 :], NOW) is None


def test_a_new_code_ends_the_one_before_and_its_sessions(store: PeopleStore) -> None:
    before = store.new_code("u1")
    token = sign_in(store, before)
    after = store.new_code("u1")
    assert store.sign_in(before, NOW) is None
    assert store.visitor_of(token, NOW) is None
    assert store.visitor_of(sign_in(store, after), NOW) == "u1"


def test_a_revoked_code_ends_every_session_of_its_person_only(store: PeopleStore) -> None:
    code, other = store.new_code("u1"), store.new_code("u2")
    tokens, stays = [sign_in(store, code), sign_in(store, code)], sign_in(store, other)
    assert store.revoke("u1")
    assert [store.visitor_of(token, NOW) for token in tokens] == [None, None]
    assert store.sign_in(code, NOW) is None
    assert store.visitor_of(stays, NOW) == "u2"
    assert not store.revoke("u1")


def test_a_code_revoked_while_it_is_checked_begins_no_session(
    store: PeopleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = store.new_code("u1")

    def revoking(secret: str, salt: bytes) -> bytes:
        store.revoke("u1")
        return personal_code.hash_secret(secret, salt)

    monkeypatch.setattr(people_store, "hash_secret", revoking)
    assert store.sign_in(code, NOW) is None
    assert store.count_signed_in(NOW) == 0


def test_an_unknown_code_is_hashed_like_a_wrong_one(
    store: PeopleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = store.new_code("u1")
    hashed = []

    def counting(secret: str, salt: bytes) -> bytes:
        hashed.append(len(salt))
        return personal_code.hash_secret(secret, salt)

    monkeypatch.setattr(people_store, "hash_secret", counting)
    for wrong in (code[:-1] + ("0" if code[-1] != "0" else "1"), "7K3QD" * 5, "", "x" * 10_000):
        assert store.sign_in(wrong, NOW) is None
    assert hashed == [personal_code.SALT] * 4


def test_sessions_end_when_idle_and_in_any_case(store: PeopleStore) -> None:
    code = store.new_code("u1")
    idle, used = sign_in(store, code), sign_in(store, code)
    for hours in range(0, 7 * 24 + 1, 11):
        assert store.visitor_of(used, NOW + 3600 * hours) == "u1"
    assert store.visitor_of(idle, NOW + IDLE + 1) is None
    assert store.visitor_of(idle, NOW) is None  # for good
    assert store.visitor_of(used, NOW + LONGEST + 1) is None


def test_a_session_seen_at_its_last_moment_goes_on(store: PeopleStore) -> None:
    token = sign_in(store, store.new_code("u1"))
    assert store.visitor_of(token, NOW + IDLE) == "u1"
    assert store.visitor_of(token, NOW + 2 * IDLE) == "u1"
    assert store.visitor_of(token, NOW + 3 * IDLE + 1) is None


def test_signing_out_ends_one_session(store: PeopleStore) -> None:
    code = store.new_code("u1")
    here, there = sign_in(store, code), sign_in(store, code)
    assert store.count_signed_in(NOW) == 1
    store.sign_out(here)
    assert store.visitor_of(here, NOW) is None
    assert store.visitor_of(there, NOW) == "u1"
    store.sign_out(there)
    assert store.count_signed_in(NOW) == 0


def test_neither_code_nor_token_stands_in_the_file(store: PeopleStore, path: Path) -> None:
    code = store.new_code("u1")
    token = sign_in(store, code)
    kept = bytes_beside(path)
    assert b"u1" in kept
    secret = code.replace("-", "")[5:]
    assert not [part for part in (secret, *code.split("-")[1:], token) if part.encode() in kept]


def test_codes_by_beginning_and_part(store: PeopleStore) -> None:
    store.new_codes(["a1", "a2", "a%", "b1", "a1"])
    assert [user for user, _ in store.codes("a")] == ["a%", "a1", "a2"]
    assert [user for user, _ in store.codes("a%")] == ["a%"]
    assert [user for user, _ in store.codes(start=1, count=2)] == ["a1", "a2"]
    assert (store.count_codes(), store.count_codes("a"), store.count_codes("c")) == (4, 3, 0)


def test_codes_that_can_not_be_handed_over_do_not_count(store: PeopleStore) -> None:
    before = store.new_code("u1")
    handed: list[str] = []

    def failing(codes: Mapping[str, str]) -> None:
        handed.extend(codes.values())
        raise UsageError("the disk is full")

    with pytest.raises(UsageError, match="the disk is full"):
        store.new_codes(["u1", "u2"], failing)
    assert [store.sign_in(code, NOW) for code in handed] == [None, None]
    assert store.visitor_of(sign_in(store, before), NOW) == "u1"


def test_two_codes_never_share_their_public_part(
    store: PeopleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = iter(["AAAAA", "AAAAA", "AAAAA", "BBBBB"])
    monkeypatch.setattr(
        people_store, "make_code", lambda: personal_code.Code(next(parts), "0" * 20)
    )
    codes = store.new_codes(["u1", "u2"])
    assert sorted(code[:5] for code in codes.values()) == ["AAAAA", "BBBBB"]
    for user, code in codes.items():
        assert store.visitor_of(sign_in(store, code), NOW) == user


# -- choices and searches kept ------------------------------------------------------------------


def test_nothing_is_chosen_at_first(store: PeopleStore) -> None:
    assert store.choices("u1") == Choices(paused=False, remember=False)


def test_choices_change_one_by_one(store: PeopleStore) -> None:
    store.choose("u1", remember=True)
    store.choose("u1", paused=True)
    assert store.choices("u1") == Choices(paused=True, remember=True)
    store.choose("u1", remember=False)
    assert store.choices("u1") == Choices(paused=True, remember=False)
    assert store.choices("u2") == Choices()


def test_searches_are_kept_with_consent_only(store: PeopleStore) -> None:
    store.remember("u1", "one", "own", NOW)
    store.choose("u1", remember=True)
    store.remember("u1", "two", "own", NOW + 1)
    store.choose("u1", paused=True)
    store.remember("u1", "three", "group", NOW + 2)
    store.choose("u1", paused=False)
    store.remember("u1", "four", "group", NOW + 3)
    store.remember("u2", "five", "own", NOW + 4)
    kept = [search[1:] for search in store.searches("u1")]
    assert kept == [("four", "group", NOW + 3), ("two", "own", NOW + 1)]
    assert store.searches("u2") == []


def test_only_the_own_searches_can_be_removed(store: PeopleStore) -> None:
    for user in ("u1", "u2"):
        store.choose(user, remember=True)
        store.remember(user, f"of {user}", "own", NOW)
    (mine,), (theirs,) = store.searches("u1"), store.searches("u2")
    assert not store.forget_search("u1", theirs.id)
    assert store.forget_search("u1", mine.id)
    assert (store.searches("u1"), store.searches("u2")) == ([], [theirs])


# -- forgetting leaves no byte -------------------------------------------------------------------


def crowd(store: PeopleStore) -> None:
    """Fill pages, so that removing one person moves others about."""
    store.new_codes([f"other-{number:03}" for number in range(60)])
    for number in range(60):
        store.choose(f"other-{number:03}", remember=True)
        store.remember(f"other-{number:03}", f"words of theirs {number} " * 9, "own", NOW)


@pytest.mark.parametrize("reopened", [False, True])
def test_forgetting_leaves_no_byte_of_a_person(
    store: PeopleStore, path: Path, reopened: bool
) -> None:
    crowd(store)
    token = sign_in(store, store.new_code(NEEDLE))
    store.choose(NEEDLE, remember=True)
    for number in range(200):
        store.remember(NEEDLE, f"query-needle {number} " + "long " * (number % 40), "own", NOW)
    if reopened:
        store.close()
        store = PeopleStore(path)
    assert b"query-needle" in bytes_beside(path)
    store.forget(NEEDLE)
    kept = bytes_beside(path)
    assert NEEDLE.encode() not in kept
    assert b"query-needle" not in kept
    assert b"other-007" in kept
    assert people_store.hash_token(token) not in kept
    assert store.visitor_of(token, NOW) is None
    assert store.choices(NEEDLE) == Choices()
    assert store.check() == 60


def test_forgotten_searches_leave_no_byte(store: PeopleStore, path: Path) -> None:
    store.choose("u1", remember=True)
    store.remember("u1", "query-needle", "own", NOW)
    store.remember("u1", "kept words", "own", NOW)
    store.forget_search("u1", store.searches("u1")[1].id)
    assert b"query-needle" not in bytes_beside(path)
    assert b"kept words" in bytes_beside(path)
    store.forget_searches("u1")
    assert b"kept words" not in bytes_beside(path)
    assert store.choices("u1").remember


def test_forgetting_says_so_when_another_still_reads(store: PeopleStore, path: Path) -> None:
    store.new_code("u1")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM codes").fetchone()
    store._connection.execute("PRAGMA busy_timeout=10")
    with pytest.raises(UsageError, match=r"being read by others|can't be used"):
        store.forget("u1")
    reader.close()
    store.forget("u1")
    assert b"u1" not in bytes_beside(path)


# -- the file -----------------------------------------------------------------------------------


def test_only_the_owner_may_read_the_files(store: PeopleStore, path: Path) -> None:
    store.new_code("u1")
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert modes == dict.fromkeys([f"people.sqlite{end}" for end in ("", "-wal", "-shm")], 0o600)


def test_rights_that_became_loose_are_tightened(store: PeopleStore, path: Path) -> None:
    store.close()
    path.chmod(0o644)
    PeopleStore(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_damaged_file_is_one_line(path: Path) -> None:
    path.write_bytes(b"not a database, but long enough to look like one" * 9)
    with pytest.raises(UsageError, match=r"can't be opened .*; restore it from a copy"):
        PeopleStore(path)


def test_a_file_damaged_inside_is_told_by_the_check(store: PeopleStore, path: Path) -> None:
    crowd(store)
    store.close()
    whole = bytearray(path.read_bytes())
    for at in range(4096, len(whole), 4096):
        whole[at : at + 8] = b"\xff" * 8
    path.write_bytes(bytes(whole))
    with pytest.raises(UsageError, match="is damaged"):
        PeopleStore(path).check()


@pytest.mark.parametrize("version", [0, 2])
def test_a_file_of_another_version_is_one_line_and_stays(path: Path, version: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE codes (id INTEGER PRIMARY KEY)")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(UsageError, match=f"its version is {version} instead of 1"):
        PeopleStore(path)
    assert path.read_bytes()[100:] == before[100:]  # the header counts changes


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"can't be written \(No such file or directory\)"):
        PeopleStore(tmp_path / "missing" / "people.sqlite")


def test_a_second_process_s_change_is_seen_at_once(store: PeopleStore, path: Path) -> None:
    code = store.new_code("u1")
    token = sign_in(store, code)
    PeopleStore(path).revoke("u1")
    assert store.visitor_of(token, NOW) is None


def test_memory_needs_no_file() -> None:
    store = PeopleStore(None)
    store.forget("u1")
    assert store.visitor_of(sign_in(store, store.new_code("u1")), NOW) == "u1"


def test_eight_threads_write_at_once(store: PeopleStore) -> None:
    store.choose("u1", remember=True)

    def search() -> None:
        for _ in range(5):
            store.remember("u1", "java", "own", NOW)

    threads = [threading.Thread(target=search) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.searches("u1")) == 8 * 5


_WRITER = """
import sys
from pathlib import Path
from search_app.people_store import PeopleStore
store = PeopleStore(Path(sys.argv[1]))
store.choose("u1", remember=True)
for number in range(100_000):
    store.remember("u1", str(number), "own", number)
    print(number, flush=True)
"""


def test_a_kill_leaves_what_was_acknowledged(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        for _ in range(20):
            writer.stdout.readline()
        os.kill(writer.pid, signal.SIGKILL)
        acknowledged = 19
        for line in writer.stdout:
            acknowledged = int(line) if line.endswith("\n") else acknowledged
    store = PeopleStore(path)
    kept = [int(search.query) for search in reversed(store.searches("u1"))]
    assert kept[: acknowledged + 1] == list(range(acknowledged + 1))
    assert store.check() == 0

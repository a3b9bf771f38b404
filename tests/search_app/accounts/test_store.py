from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from search_app.accounts import codes as personal_code
from search_app.accounts import store as people_store
from search_app.accounts.store import IDLE, LONGEST, ORDERS, PeopleStore, PersonChoices
from search_app.errors import UsageError

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


def test_each_sign_of_a_code_counts(store: PeopleStore) -> None:
    code = store.new_code("u1")
    for at in (0, 6, 28):
        other = "0" if code[at] != "0" else "2"
        assert store.sign_in(code[:at] + other + code[at + 1 :], NOW) is None


def test_a_new_code_ends_the_one_before_and_its_sessions(store: PeopleStore) -> None:
    before = store.new_code("u1")
    token = sign_in(store, before)
    assert store.visitor_of(token, NOW) == "u1"
    after = store.new_code("u1")
    assert store.sign_in(before, NOW) is None
    assert store.visitor_of(token, NOW) is None
    assert store.visitor_of(sign_in(store, after), NOW) == "u1"
    assert store.codes() == [("u1", NOW)]


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

    def revoking(secret: str, salt: bytes, **how: bool) -> bytes:
        store.revoke("u1")
        return personal_code.hash_secret(secret, salt, **how)

    monkeypatch.setattr(people_store, "hash_secret", revoking)
    assert store.sign_in(code, NOW) is None
    assert store.count_signed_in(NOW) == 0


def test_an_unknown_code_is_hashed_like_a_wrong_one(
    store: PeopleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = store.new_code("u1")
    hashed = []

    def counting(secret: str, salt: bytes, **how: bool) -> bytes:
        hashed.append(len(salt))
        return personal_code.hash_secret(secret, salt, **how)

    monkeypatch.setattr(people_store, "hash_secret", counting)
    wrong = [code[:-1] + ("0" if code[-1] != "0" else "1"), "7K3QD" * 5, "", "x" * 10_000]
    wrong += ["0" * 25, "0" * 10_000, "é" * 25, "\udcff" * 25]
    assert [store.sign_in(each, NOW) for each in wrong] == [None] * 8
    assert hashed == [personal_code.SALT] * 8


def test_a_code_of_an_older_version_is_valid(store: PeopleStore, path: Path) -> None:
    code, salt = store.new_code("u1"), b"salt"
    secret = personal_code.read_code(code).secret
    scrypt = hashlib.scrypt(secret.encode(), salt=salt, n=personal_code._COST, r=8, p=1)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE codes SET salt = ?, digest = ?", (salt, scrypt))
    assert store.visitor_of(sign_in(store, code), NOW) == "u1"
    assert store.sign_in(f"{code[:-1]}{'0' if code[-1] != '0' else '1'}", NOW) is None


def test_sessions_end_when_idle_and_in_any_case(store: PeopleStore) -> None:
    code = store.new_code("u1")
    idle, used = sign_in(store, code), sign_in(store, code)
    for hours in range(0, 7 * 24 + 1, 11):
        assert store.visitor_of(used, NOW + 3600 * hours) == "u1"
    assert store.visitor_of(idle, NOW + IDLE + 1) is None
    assert store.visitor_of(idle, NOW) is None  # for good
    assert store.visitor_of(used, NOW + LONGEST + 1) is None


def test_neither_code_nor_token_stands_in_the_file(store: PeopleStore, path: Path) -> None:
    code = store.new_code("u1")
    token = sign_in(store, code)
    kept = bytes_beside(path)
    assert b"u1" in kept
    secret = code.replace("-", "")[5:]
    assert not [part for part in (secret, *code.split("-")[1:], token) if part.encode() in kept]


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


def test_choices_change_one_by_one(store: PeopleStore) -> None:
    store.choose("u1", remember=True)
    store.choose("u1", paused=True)
    assert store.choices("u1") == PersonChoices(paused=True, remember=True)
    store.choose("u1", remember=False)
    assert store.choices("u1") == PersonChoices(paused=True, remember=False)
    assert store.choices("u2") == PersonChoices()


def test_nothing_comes_back_of_who_was_forgotten_meanwhile(store: PeopleStore, path: Path) -> None:
    """A request that began before may end at another server after it."""
    token = sign_in(store, store.new_code(NEEDLE))
    store.choose(NEEDLE, remember=True, grow=True, holder=True)
    assert store.take_order(NEEDLE, NOW)
    store.forget(NEEDLE)
    store.choose(NEEDLE, remember=True, grow=True, holder=True)
    store.remember(NEEDLE, "java", "own", NOW)
    store.grow(NEEDLE, {"java": 1})
    assert store.take_order(NEEDLE, NOW)
    assert store.new_token(NEEDLE, "script") is None
    assert store.visitor_of(token, NOW) is None
    assert NEEDLE.encode() not in bytes_beside(path)


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
    script = store.new_token(NEEDLE, "query-needle of a script") or ""
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
    assert (store.visitor_of(token, NOW), store.holder_of(script)) == (None, None)
    assert store.choices(NEEDLE) == PersonChoices()
    assert store.check() == 60


def test_forgetting_says_so_when_another_still_reads(store: PeopleStore, path: Path) -> None:
    store.new_code("u1")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM codes").fetchone()
    store._database._connection.execute("PRAGMA busy_timeout=10")
    with pytest.raises(UsageError, match=r"being read by others|can't be used"):
        store.forget("u1")
    reader.close()
    store.forget("u1")
    assert b"u1" not in bytes_beside(path)


@pytest.mark.parametrize("on", [True, False])
def test_what_grew_goes_with_the_choice_in_one_step(
    store: PeopleStore, path: Path, on: bool
) -> None:
    store.choose("u1", grow=True)
    store.grow("u1", {"zyxneedle": 1})
    other = sqlite3.connect(path)
    other.execute(
        "CREATE TRIGGER full BEFORE DELETE ON grown BEGIN SELECT raise(ABORT, 'full'); END"
    )
    with pytest.raises(UsageError, match="full"):
        store.choose("u1", grow=on, keep=False)
    assert (store.choices("u1").grow, store.grown("u1")) == (True, {"zyxneedle": 1})
    other.execute("DROP TRIGGER full")
    other.close()
    store.choose("u1", grow=on, keep=False)
    assert (store.choices("u1").grow, store.grown("u1")) == (on, {})
    assert b"zyxneedle" not in bytes_beside(path)


# -- two servers ---------------------------------------------------------------------------------


def test_two_servers_share_what_they_must(path: Path) -> None:
    one, other = PeopleStore(path), PeopleStore(path)
    assert one.secret("blind") == other.secret("blind") != one.secret("another")
    one.new_code("u1")
    assert other.removed_elsewhere()  # a former code's person may have left something in memory
    taken = [store.take_order("u1", NOW) for _ in range(ORDERS) for store in (one, other)]
    assert taken == [True] * ORDERS + [False] * ORDERS
    assert other.take_order("u1", NOW + 24 * 3600 / ORDERS + 1)
    operator = one.sign_in_operator("a key", NOW)
    assert (other.visitor_of(operator, NOW, "a key"), other.visitor_of(operator, NOW)) == ("", None)
    one.choose("u1", grow=True)
    assert not other.removed_elsewhere()
    one.forget("u1")
    assert [store.removed_elsewhere() for store in (one, other, other)] == [False, True, False]


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


def test_a_file_damaged_inside_is_told_by_the_check(store: PeopleStore, path: Path) -> None:
    crowd(store)
    store.close()
    whole = bytearray(path.read_bytes())
    for at in range(4096, len(whole), 4096):
        whole[at : at + 8] = b"\xff" * 8
    path.write_bytes(bytes(whole))
    with pytest.raises(UsageError, match="is damaged"):
        PeopleStore(path).check()


def test_a_file_of_version_1_is_taken_on_with_all_it_holds(path: Path) -> None:
    with closing(PeopleStore(path)) as store:
        code = store.new_code("u1")
        store.choose("u1", remember=True)
    with closing(sqlite3.connect(path)) as file, file:
        file.executescript(
            "DROP TABLE tokens; DROP TABLE moving; DROP TABLE grown; DROP TABLE growing; "
            "DROP TABLE sum_of_rows; PRAGMA user_version = 1"
        )
    for _ in range(2):
        with closing(PeopleStore(path)) as store:
            assert store.sign_in(code, NOW)
            assert store.choices("u1") == PersonChoices(remember=True)
            assert store.grown("u1") == {}
            assert store.check() == 1


@pytest.mark.parametrize("version", [0, 8])
def test_a_file_of_another_version_is_one_line_and_stays(path: Path, version: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE codes (id INTEGER PRIMARY KEY)")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(UsageError, match=f"its version is {version} instead of 7"):
        PeopleStore(path)
    assert path.read_bytes()[100:] == before[100:]  # the header counts changes


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"can't be written \(No such file or directory\)"):
        PeopleStore(tmp_path / "missing" / "people.sqlite")


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
from search_app.accounts.store import PeopleStore
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


# -- what grows from searches ---------------------------------------------------------------------


def test_a_profile_grows_only_while_its_person_wants_it(store: PeopleStore) -> None:
    """The naive twin: a dict that adds where the choice is on and nothing is paused."""
    twin: dict[str, int] = {}
    switches: list[dict[str, bool]] = [{}, {"grow": True}, {"paused": True}, {"paused": False}]
    for at, switch in enumerate([*switches, {"grow": False}, {"grow": True}]):
        store.choose("u1", **switch)
        counts = {"tea": 1, f"term{at}": at + 1}
        store.grow("u1", counts)
        if at in (1, 3, 5):
            for term, count in counts.items():
                twin[term] = twin.get(term, 0) + count
    assert store.grown("u1") == twin
    assert list(store.grown("u1")) == list(twin)  # the first met first
    store.grow("u2", {"tea": 1})  # never chose
    assert (store.grown("u2"), store.all_grown()) == ({}, {"u1": twin})
    assert (store.rich(len(twin)), store.rich(len(twin) + 1)) == ({"u1"}, set())
    store.choose("u1", paused=True)
    assert (store.grown("u1"), store.all_grown(), store.rich(1)) == (twin, {}, set())
    store.choose("u1", paused=False, grow=False)  # the consent ended, and what was gathered stays
    assert (store.grown("u1"), store.all_grown(), store.rich(1)) == (twin, {}, set())
    assert store.check() == 0  # the sum of the rows follows


def test_a_grown_profile_has_a_largest_size(
    store: PeopleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people_store, "MOST_TERMS", 3)
    store.choose("u1", grow=True)
    store.grow("u1", {"a": 1, "b": 1})
    store.grow("u1", {"c": 1, "d": 1, "a": 1})
    assert store.grown("u1") == {"a": 2, "b": 1, "c": 1}


def test_what_moved_is_settled_by_who_has_a_past(store: PeopleStore) -> None:
    for user in ("here", "gone"):
        store.choose(user, grow=True)
        store.grow(user, {"tea": 2, "jam": 1})
    counts = {user: {"tea": 2, "jam": 1} for user in ("here", "gone")}
    store.begin_move(counts, ())
    store.grow("here", {"tea": 1})  # while it moves
    store.settle(())
    assert store.grown("here") == {"tea": 3, "jam": 1}
    store.settle({"here"})
    assert (store.grown("here"), store.grown("gone")) == ({"tea": 1}, {"tea": 2, "jam": 1})
    store.forget_grown({"gone": ["tea"]})
    store.grow("gone", {"tea": 5})  # nothing of this is noted
    store.settle({"here", "gone"})
    assert (store.grown("here"), store.grown("gone")) == ({"tea": 1}, {"tea": 5})
    store.begin_move({"gone": {"tea": 5}}, ())
    store.begin_move({}, ())
    assert not store.moves()
    assert store.check() == 0


@pytest.mark.parametrize("removal", [["zyxneedle", "not there"], None, "forget"])
def test_what_grew_and_is_removed_leaves_no_byte(
    store: PeopleStore, path: Path, removal: list[str] | str | None
) -> None:
    for user in ("u1", "u2"):
        store.choose(user, grow=True)
        store.grow(user, {"tea": 1, "zyxneedle" if user == "u1" else "other": 2})
    assert b"zyxneedle" in bytes_beside(path)
    if isinstance(removal, str):
        store.forget("u1")
    else:
        assert store.forget_grown({"u1": removal})
        assert not store.forget_grown({"u1": ["zyxneedle"], "u3": None})
    assert b"zyxneedle" not in bytes_beside(path)
    assert store.grown("u1") == ({"tea": 1} if isinstance(removal, list) else {})
    assert store.grown("u2") == {"tea": 1, "other": 2}

"""People and the log of precision in PostgreSQL: the real server."""

from __future__ import annotations

import random
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from search_app.accounts.store import PeopleStore
from search_app.errors import UsageError
from search_app.evaluation.log import PrecisionLog
from search_app.evaluation.log_history import course, differences, latest
from search_app.server import checkup
from search_app.workspace import postgresql
from search_app.workspace.folder import TURN, Workspace
from search_app.workspace.postgresql import VARIABLE, HeldLock, Server

from ..search_app.accounts import test_store, test_tokens
from ..search_app.conftest import Run
from ..search_app.evaluation import test_log, test_log_history
from ..search_app.evaluation.test_log import entry
from .postgres import SECRET, Cluster, cluster, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
NOW = test_store.NOW
PLAIN = r"^PostgreSQL can't be used \(\w+\); check the server, its log and VEILSEARCH_POSTGRESQL, "


@pytest.fixture(scope="module")
def database() -> Iterator[Cluster]:
    with cluster() as made:
        yield made


@pytest.fixture
def server(database: Cluster) -> Server:
    database.empty()
    return Server(database.address)


# -- what holds over SQLite holds here: the same tests ------------------------------------------


class Anywhere:
    """A folder in which every file is the server."""

    def __init__(self, server: Server):
        self._server = server

    def __truediv__(self, name: str) -> Server:
        return self._server


@pytest.fixture
def tmp_path(server: Server) -> Anywhere:
    return Anywhere(server)


@pytest.fixture
def path(server: Server, database: Cluster, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return the server in place of a file; what is beside it are the files of its tables."""
    monkeypatch.setattr(test_store, "bytes_beside", lambda _path: database.table_bytes())
    return server


@pytest.fixture
def store(path: Server) -> PeopleStore:
    return PeopleStore(path, clock=lambda: NOW)


@pytest.fixture
def people(path: Server) -> PeopleStore:
    made = PeopleStore(path, clock=lambda: NOW)
    made.new_codes(["u1", "u2"])
    return made


@pytest.fixture
def log(server: Server) -> PrecisionLog:
    return PrecisionLog(server)


_OF_A_FILE = """
a_code_of_an_older_version_is_valid forgetting_says_so_when_another_still_reads
what_grew_goes_with_the_choice_in_one_step only_the_owner_may_read_the_files
rights_that_became_loose_are_tightened a_file_damaged_inside_is_told_by_the_check
a_file_of_version_1_is_taken_on_with_all_it_holds a_file_of_another_version_is_one_line_and_stays
a_folder_that_is_not_there_is_one_line a_kill_leaves_what_was_acknowledged
there_is_no_place_for_a_query_or_a_user a_damaged_file_or_one_of_another_version_is_one_line
a_log_in_use_by_others_is_not_called_damaged who_looks_back_is_not_waited_for
a_log_of_before_keeps_its_rows_and_names_their_rule
two_values_have_the_interval_of_one_degree_of_freedom
"""
for _module in (test_store, test_tokens, test_log, test_log_history):
    for _name, _test in vars(_module).items():
        if _name.startswith("test_") and _name.removeprefix("test_") not in _OF_A_FILE.split():
            globals()[f"{_name}_in_postgresql"] = _test


# -- what is PostgreSQL's own -------------------------------------------------------------------


def flat(figures: object) -> Iterator[object]:
    if isinstance(figures, list | tuple):
        for one in figures:
            yield from flat(one)
    else:
        yield round(figures, 9) if isinstance(figures, float) else figures


def test_figures_of_the_log_are_those_over_sqlite(server: Server) -> None:
    """Who searched is known to this process only, and both count intervals over people."""
    draw = random.Random(3)  # noqa: S311
    both = PrecisionLog(None), PrecisionLog(server)
    for number in range(300):
        aps = [draw.randrange(21) / 20 for _ in range(3)]
        entries = [entry(mode, ap) for mode, ap in zip(("none", "own", "group"), aps, strict=True)]
        entries[2] = entries[2]._replace(release=draw.choice("rs"))
        for log in both:
            log.add(entries, f"u{number * number % 17}" if number % 5 else "", number)
    one, other = both
    assert other.summary() == [pytest.approx(mean) for mean in one.summary()]
    assert len(one.summary()) == 4
    setting = latest(one, test_log.Chosen())
    assert setting == latest(other, test_log.Chosen())
    assert setting is not None
    for figures in (course, differences):
        assert [*flat(figures(other, setting))] == [*flat(figures(one, setting))]


def test_the_planner_and_the_server_s_log_know_nobody(
    store: PeopleStore, database: Cluster
) -> None:
    needle = "zyx-needle-of-a-person"
    for number in range(300):
        store.choose(f"{needle}-{number:03}", remember=True)
        store.remember(f"{needle}-{number:03}", f"query-{needle}", "own", NOW)
    database.run("ANALYZE")
    assert needle.encode() in database.table_bytes()
    store.forget(*(f"{needle}-{number:03}" for number in range(300)))
    assert needle.encode() not in database.table_bytes()
    assert needle.encode() not in database.all_bytes()
    assert needle not in database.talk()
    assert VARIABLE not in database.talk()
    assert SECRET not in database.talk()


def test_an_older_view_keeps_no_byte(store: PeopleStore, database: Cluster) -> None:
    """VACUUM FULL would copy the rows that a long question elsewhere may still need."""
    import psycopg

    store.choose(test_store.NEEDLE, remember=True)
    with psycopg.connect(database.address, autocommit=True) as reader:
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM pg_class")
        store.forget(test_store.NEEDLE)
        assert test_store.NEEDLE.encode() not in database.table_bytes()


def test_a_lost_server_is_one_plain_line_and_then_all_is_right(
    database: Cluster, server: Server
) -> None:
    """It is killed under load: what was acknowledged stays, and each fault is the same line."""
    store, acknowledged, faults = PeopleStore(server), list[int](), list[str]()
    store.choose("u1", remember=True)
    ended = threading.Event()

    def write() -> None:
        for number in range(10**9):
            if ended.is_set():
                return
            try:
                store.remember("u1", f"query {number}", "own", NOW)
                acknowledged.append(number)
            except UsageError as fault:
                faults.append(str(fault))
                time.sleep(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    for mode in ("immediate", "fast"):
        count = len(acknowledged)
        while len(acknowledged) < count + 50:
            time.sleep(0.01)
        database.stop(mode)
        before = len(faults)
        while len(faults) < before + 3:  # while there is no server
            time.sleep(0.01)
        database.start()
    count = len(acknowledged)
    while len(acknowledged) < count + 10:
        time.sleep(0.01)
    ended.set()
    writer.join()
    kept = {int(search.query.split()[1]) for search in store.searches("u1")}
    assert not {*acknowledged} - kept
    assert len({*faults}) <= 3  # by the kind of fault
    assert not [fault for fault in faults if not re.match(PLAIN, fault) or SECRET in fault]


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("", r'store = "postgresql" needs VEILSEARCH_POSTGRESQL; set it to .*PASSWORD@'),
        (f"postgres:{SECRET}", r"VEILSEARCH_POSTGRESQL is no address of a PostgreSQL server"),
        (f"postgresql://u:{SECRET}\udcff@h/none", r"VEILSEARCH_POSTGRESQL is no address"),
        (f"postgresql://u:{SECRET}@127.0.0.1:1/none", PLAIN),
    ],
)
def test_an_address_that_does_not_serve_is_one_line(address: str, line: str) -> None:
    with pytest.raises(UsageError, match=line) as refused:
        PeopleStore(Server(address))
    assert refused.value.__cause__ is None  # a traceback would hold the address
    assert SECRET not in f"{refused.value}{Server(address)!r}{Server(address)}"


def test_who_waited_in_vain_for_another_writer_writes_once_it_is_gone(
    server: Server, database: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that vanished holds its locks longer than anybody waits."""
    import psycopg

    monkeypatch.setattr(postgresql, "_SESSION", "SET lock_timeout = '100ms'")
    store = PeopleStore(server)
    with psycopg.connect(database.address, autocommit=True) as other:
        other.execute(f"SELECT pg_advisory_lock({postgresql._LOCKS}, 1)")
        for _ in range(2):
            with pytest.raises(UsageError, match=r"can't be used \(LockNotAvailable\)"):
                store.choose("u1", remember=True)
        assert not store.choices("u1").remember  # it reads on
    store.choose("u1", remember=True)
    assert store.choices("u1").remember


def test_another_version_is_refused(server: Server, database: Cluster) -> None:
    PeopleStore(server).close()
    database.run("UPDATE veilsearch_people.version SET number = 99")
    with pytest.raises(UsageError, match="PostgreSQL has tables of version 99 instead of 7; use"):
        PeopleStore(server)


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return a workspace whose people are on the server."""
    root = tmp_path_factory.mktemp("shared") / "workspace"
    root.mkdir()
    (root / "veilsearch.toml").write_text('access = "private"\nstore = "postgresql"\n')
    return Workspace(root)


def test_one_host_writes_at_a_time(
    folder: Workspace, server: Server, database: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock file says nothing where the file system does not lock across hosts."""
    monkeypatch.setenv(VARIABLE, server.address)
    with folder.writing("admit"):
        (folder.root / ".lock").unlink()  # as another host sees it
        held = pytest.raises(UsageError, match="written to by veilsearch on another host; wait")
        with held, Workspace(folder.root).writing("forget"):
            pass
        database.run(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
            " AND objid = 3"
        )
        with pytest.raises(UsageError, match=PLAIN):
            folder.make_current(index="")
    with folder.writing("admit"):
        folder.make_current(index="")


def test_a_copy_of_the_folder_that_missed_a_change_is_refused(
    folder: Workspace, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is forgotten in one would live on in the other."""
    monkeypatch.setenv(VARIABLE, server.address)
    folder.refuse_copy()  # nobody has written yet
    with folder.writing("index"):
        pass
    copy = Workspace(Path(shutil.copytree(folder.root, folder.root.with_name("copy"))))
    copy.refuse_copy()
    with folder.writing("forget"):
        pass
    folder.refuse_copy()
    missed = "is not the folder that the hosts of its people share, or a copy that missed"
    with pytest.raises(UsageError, match=missed):
        copy.refuse_copy()
    with pytest.raises(UsageError, match=missed), copy.writing("admit"):
        pass
    turn = folder.root / TURN
    before = turn.read_text()
    turn.write_bytes(b"\xff")  # damaged
    with pytest.raises(UsageError, match=missed):
        folder.refuse_copy()
    turn.write_text(before)
    monkeypatch.setattr(HeldLock, "settle", lambda *_: 1 / 0)  # killed after the file was written
    with pytest.raises(ZeroDivisionError), folder.writing("admit"):
        pass
    assert turn.read_text() != before
    monkeypatch.undo()
    monkeypatch.setenv(VARIABLE, server.address)
    turn.write_text(before)  # killed before that
    with folder.writing("admit"):
        pass
    folder.refuse_copy()


def test_verbs_use_the_server_and_say_what_a_backup_lacks(
    folder: Workspace,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(VARIABLE, server.address)
    run = Run(folder.root, capsys)
    run("codes", "--new", "needle-u1")
    assert "needle-u1" in run("codes", "--list")
    assert not (folder.root / "people.sqlite").exists()
    assert run.json("forget", "--user", "needle-u1")["changed"] == ["PostgreSQL"]
    assert "needle-u1" not in run("codes", "--list")
    saved = folder.root.with_name("saved.tar")
    run("backup", saved)
    assert "copy them with pg_dump" in run.talk
    again = Run(folder.root.with_name("restored"), capsys)
    again("restore", saved)
    assert "nobody was signed out there" in again.talk
    for least in ("_LEAST_MEMORY", "_LEAST_DISK"):
        monkeypatch.setattr(checkup, least, 0)
    (people,) = (check for check in run.json("doctor") if check["name"] == "people")
    assert people["found"] == "0 people have a code: PostgreSQL"
    monkeypatch.delenv(VARIABLE)
    assert f"needs {VARIABLE}" in run.refused("codes", "--list")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setenv(VARIABLE, server.address)
    assert "install it with: pip install 'veilsearch[postgresql]'" in run.refused("codes", "--list")


def test_the_page_finds_what_a_crash_leaves(database: Cluster) -> None:
    import psycopg

    with closing(psycopg.connect(database.address)) as busy:
        busy.execute("CREATE TABLE crashing (name text)")
        busy.execute("INSERT INTO crashing VALUES ('needle-of-a-crash')")
        busy.commit()
        busy.execute("ALTER TABLE crashing ALTER name TYPE text USING coalesce(name, '')")
        database.run("CHECKPOINT")
        database.stop()
    database.start()
    database.run("DROP TABLE crashing")
    assert b"needle-of-a-crash" in database.table_bytes()
    assert b"needle-of-a-crash" not in database.table_bytes(crashed=True)
    for path in database.left_by_crashes():
        path.unlink()
    assert b"needle-of-a-crash" not in database.table_bytes()

"""The database of a study [I/O]: participants, what they were shown, and what they did.

Everything is in one SQLite file in the study's folder. A change is acknowledged when it is
durable: one thread writes, and all changes that wait are committed together. An answer and the step
to the next page are one change, so no answer is lost and none counts twice. Withdrawal deletes
every row of a participant and overwrites its bytes. Older versions of pages are in the log until
no process reads them any more: then the log is emptied.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import queue
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..accounts.codes import NO_CODE, SALT, Code, hash_secret, make_code, read_code
from ..errors import UsageError
from ..workspace.tables import BUSY, Schema, connect_to, fault_of, open_tables
from .design import KEEP_QUERIES

FILE = "study.sqlite"
LOCK = ".serving"  # which only the process that serves the study holds
ROOM = ".export"  # a folder next to it, as long as an export works
_TABLES = """
CREATE TABLE IF NOT EXISTS participants (
    id INTEGER PRIMARY KEY,
    public TEXT NOT NULL UNIQUE,
    salt BLOB NOT NULL,
    digest BLOB NOT NULL,
    session BLOB UNIQUE,
    cell INTEGER,
    seed BLOB NOT NULL,
    step INTEGER NOT NULL DEFAULT 0,
    consent TEXT NOT NULL DEFAULT '',
    opt_ins TEXT NOT NULL DEFAULT '',
    person TEXT NOT NULL DEFAULT '',
    profile TEXT NOT NULL DEFAULT '',
    seen INTEGER NOT NULL DEFAULT 0,
    finished INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS trials (
    participant INTEGER NOT NULL REFERENCES participants ON DELETE CASCADE,
    task TEXT NOT NULL,
    shown TEXT NOT NULL,
    query TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (participant, task)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY,
    participant INTEGER NOT NULL REFERENCES participants ON DELETE CASCADE,
    query_id TEXT NOT NULL,
    action_name TEXT NOT NULL,
    object_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    condition TEXT NOT NULL,
    value TEXT NOT NULL,
    late INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    client_timestamp INTEGER,
    UNIQUE (participant, query_id, action_name, object_id, position, condition)
);
CREATE TABLE IF NOT EXISTS study (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID
"""
# "FULL": what was acknowledged survives a power failure.
_SCHEMA = Schema(_TABLES, versions=range(1, 2), synchronous="FULL")
_EMPTY = "PRAGMA wal_checkpoint(TRUNCATE)"
_PAUSE, _WAIT = 0.5, 0.2  # seconds between two tries to empty the log, and of a try
_WITHDRAWN, _CLOSED, _PUBLISHED, _ORIGIN = "withdrawn", "closed", "published", "origin"
_SIMULATED = "simulated"
_WAY = "way"
LONGEST = 10_000  # characters of a value
_NUMBER = 53  # bits of a participant's number: exact in every program that reads it
_Job = tuple[Callable[[], Any], Future[Any]]
T = TypeVar("T")


class Event(NamedTuple):
    """What a participant did, in the field names of User Behavior Insights (UBI)."""

    query_id: str  # the id of the task, or of the form
    action_name: str
    object_id: str = ""  # a document, or a question
    position: int = 0  # of the document; 0: none
    condition: str = ""
    value: str = ""
    late: bool = False
    client_timestamp: int | None = None  # milliseconds


class Participant(NamedTuple):
    """A participant as they stand now."""

    id: int
    cell: int | None
    seed: bytes
    step: int
    consent: str
    opt_ins: tuple[str, ...]
    person: str  # whose profile they play or have; empty: their own one
    profile: Mapping[str, float]
    seen: int
    finished: int


class StudyStanding(NamedTuple):
    """How many participants stand where."""

    invited: int
    active: int
    finished: int
    withdrawn: int
    cells: tuple[int, ...]  # finished or active, by cell
    by_step: Mapping[int, int]


_COLUMNS = "id, cell, seed, step, consent, opt_ins, person, profile, seen, finished"


@contextmanager
def only_server(folder: Path) -> Iterator[None]:
    """Let one process at a time serve the study in `folder`."""
    # What participants typed and ticked, and whether the door is open, one process knows.
    with (folder / LOCK).open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise UsageError(
                f"{folder} is being served by another process; a study has one server"
            ) from fault
        yield


class StudyStore:
    """The participants and events of a study; safe for many threads."""

    def __init__(self, path: Path | None):
        self._path = path
        self._remains = False  # whether the log may hold erased bytes
        self._again = 0.0  # when to try next to empty it, on the monotonic clock
        try:
            self._connection = open_tables(path, _SCHEMA)
            # If a process was killed while somebody withdrew, their data is still in the log.
            self._empty_log()
        except (OSError, sqlite3.Error) as fault:
            raise UsageError(f"{path} can't be opened ({fault}); restore it from a copy") from fault
        self._jobs: queue.Queue[_Job | None] = queue.Queue()
        self._thread = threading.Thread(target=self._write, name="study", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the file after all changes that wait."""
        self._jobs.put(None)
        self._thread.join()
        self._connection.close()

    def fault(self) -> str:
        """Return what is damaged in the file; empty if nothing is."""
        with closing(connect_to(self._path)) as connection:
            return fault_of(connection)

    # -- participants --------------------------------------------------------------------------

    def invite(self, count: int) -> list[Code]:
        """Return `count` new codes; only their hashes are kept."""

        def add() -> list[Code]:
            codes: list[Code] = []
            while len(codes) < count:
                code = make_code()
                if self._add(code):  # else it exists: draw again
                    codes.append(code)
            return codes

        return self._durable(add)

    def begin(self, text: str) -> Participant | None:
        """Return the participant with the code `text`, a new one if nobody has it.

        None if `text` is no code, or another person's code begins like it.
        """
        code = read_code(text)

        def there() -> Participant | None:
            self._add(code)
            return self._with(code)

        return None if code == NO_CODE else self._durable(there)

    def _add(self, code: Code) -> bool:
        """Add a participant with `code`; return False if there is one."""
        salt = secrets.token_bytes(SALT)
        # A number that is never given again: that of who has withdrawn is nobody else's.
        number, seed = secrets.randbits(_NUMBER), secrets.token_bytes(16)
        row = (number, code.public, salt, hash_secret(code.secret, salt), seed)
        change = "INSERT INTO participants (id, public, salt, digest, seed) VALUES (?, ?, ?, ?, ?)"
        with suppress(sqlite3.IntegrityError):
            self._run(change, *row)
            return True
        return False

    def of_code(self, text: str) -> Participant | None:
        """Return the participant whose code is `text`; None if nobody's is."""
        code = read_code(text)
        return self._durable(lambda: self._with(code))

    def _with(self, code: Code) -> Participant | None:
        row = self._run(
            "SELECT salt, digest, id FROM participants WHERE public = ?", code.public
        ).fetchone()
        if row is None or not secrets.compare_digest(hash_secret(code.secret, row[0]), row[1]):
            return None
        return self._participant("id = ?", row[2])

    def sign_in(self, number: int) -> str:
        """Return a new token of participant `number`; an older one ends."""
        token = secrets.token_urlsafe(32)
        digest = hashlib.sha256(token.encode()).digest()
        change = "UPDATE participants SET session = ? WHERE id = ?"
        self._durable(lambda: self._run(change, digest, number).rowcount)
        return token

    def of_token(self, token: str) -> Participant | None:
        """Return the participant whose session has `token`; None if nobody's has."""
        digest = hashlib.sha256(token.encode()).digest()
        return self._durable(lambda: self._participant("session = ?", digest))

    def of_number(self, number: int) -> Participant | None:
        """Return the participant with this `number`; None if nobody has it."""
        return self._durable(lambda: self._participant("id = ?", number))

    def consent(
        self, number: int, version: str, opt_ins: Sequence[str], cells: int, now: int, patience: int
    ) -> None:
        """Note that `number` agreed to `version` and `opt_ins`, and deal a cell to them.

        The cell is one of `cells` with the fewest people who finished or are active: those seen in
        the last `patience` seconds before `now`. Queries that were kept go if that is not agreed to
        any more.
        """

        def note() -> None:
            standing = self._cells(cells, now - patience)
            fewest = [cell for cell, count in enumerate(standing) if count == min(standing)]
            # COALESCE: who comes back keeps their cell.
            self._run(
                "UPDATE participants SET consent = ?, opt_ins = ?, cell = COALESCE(cell, ?),"
                " step = max(step, 1), seen = max(seen, ?) WHERE id = ?",
                *(version, ",".join(opt_ins), secrets.choice(fewest), now, number),
            )
            change = "UPDATE trials SET query = '' WHERE participant = ? AND query <> ''"
            if KEEP_QUERIES not in opt_ins and self._run(change, number).rowcount:
                self._remains, self._again = True, 0.0

        self._durable(note)

    def set_profile(
        self, number: int, step: int, person: str, profile: Mapping[str, float], now: int
    ) -> bool:
        """Keep the `profile` of `number`, or the `person` that they play, and go on from `step`.

        Return False if they stand elsewhere.
        """

        def keep() -> bool:
            self._run(
                "UPDATE participants SET person = ?, profile = ? WHERE id = ? AND step = ?",
                *(person, json.dumps(dict(profile)) if profile else "", number, step),
            )
            return self._go_on(number, step, now, last=False)

        return self._durable(keep)

    # -- tasks and answers ---------------------------------------------------------------------

    def trial(self, number: int, task: str) -> tuple[Mapping[str, Any], str, int] | None:
        """Return what `number` is shown in `task`, the kept query, and since when; or None."""
        question = "SELECT shown, query, at FROM trials WHERE participant = ? AND task = ?"
        row = self._durable(lambda: self._run(question, number, task).fetchone())
        return None if row is None else (json.loads(row[0]), row[1], row[2])

    def keep_trial(
        self, number: int, task: str, shown: Mapping[str, Any], query: str, now: int
    ) -> bool:
        """Keep what `number` is shown in `task` from `now` on; return False if something is kept.

        Nothing is kept of somebody who has withdrawn meanwhile.
        """
        row = (task, json.dumps(shown), query, now, number)
        change = "INSERT OR IGNORE INTO trials SELECT id, ?, ?, ?, ? FROM participants WHERE id = ?"
        return self._durable(lambda: self._run(change, *row).rowcount == 1)

    def record(self, number: int, events: Sequence[Event], now: int) -> None:
        """Keep `events` of `number`; one that is kept already is not kept twice."""
        self._durable(lambda: self._keep(number, events, now))

    def answer(
        self, number: int, step: int, events: Sequence[Event], now: int, *, last: bool = False
    ) -> bool:
        """Keep `events` of `number`, who goes on from `step`; return False if they stand elsewhere.

        `last` says that nothing but the end follows.
        """

        def keep() -> bool:
            went = self._go_on(number, step, now, last=last)
            if went:
                self._keep(number, events, now)
            return went

        return self._durable(keep)

    def _keep(self, number: int, events: Sequence[Event], now: int) -> None:
        if self._participant("id = ?", number) is None:
            return  # they have withdrawn meanwhile
        if any(len(event.value) > LONGEST for event in events):
            raise UsageError(f"an answer has more than {LONGEST:,} characters; shorten it")
        for event in events:
            self._run(
                "INSERT OR IGNORE INTO events (participant, query_id, action_name, object_id,"
                " position, condition, value, late, client_timestamp, timestamp)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(number, *event[:6], int(event.late), event.client_timestamp, now),
            )
        self._run("UPDATE participants SET seen = max(seen, ?) WHERE id = ?", now // 1000, number)

    def _go_on(self, number: int, step: int, now: int, *, last: bool) -> bool:
        finished = now // 1000 if last else 0
        change = "UPDATE participants SET step = step + 1, finished = max(finished, ?),"
        change += " seen = max(seen, ?) WHERE id = ? AND step = ?"
        return self._run(change, finished, now // 1000, number, step).rowcount == 1

    # -- leaving -------------------------------------------------------------------------------

    def withdraw(self, number: int) -> bool:
        """Erase `number`; return whether they were here.

        The last bytes go at once, or with the last process that reads an older state: see
        `remains`.
        """

        def erase() -> bool:
            gone = self._run("DELETE FROM participants WHERE id = ?", number).rowcount == 1
            if gone:
                self._count(_WITHDRAWN, 1)
                self._remains, self._again = True, 0.0
            return gone

        if self._path is not None:  # an export that works there now fails: it holds this person
            shutil.rmtree(self._path.with_name(ROOM), ignore_errors=True)
        return self._durable(erase)

    def withdrawn(self) -> int:
        """Return how many have withdrawn, here or by another process."""
        return self._durable(lambda: int(self._value(_WITHDRAWN) or 0))

    @property
    def remains(self) -> bool:
        """Return whether bytes of somebody who withdrew are left, because a process reads them."""
        return self._remains

    def _empty_log(self) -> None:
        # A process that reads an older state keeps the log from that. Nobody waits for it long:
        # it is tried again until it works, also when the file is opened next.
        self._connection.execute(f"PRAGMA busy_timeout={int(1000 * _WAIT)}")
        try:
            ((busy, *_pages),) = self._connection.execute(_EMPTY).fetchall()
            self._remains = bool(busy)
        except sqlite3.Error:  # another process writes now, or the file is damaged
            self._remains = True
        finally:
            self._connection.execute(f"PRAGMA busy_timeout={1000 * BUSY}")
            self._again = time.monotonic() + _PAUSE

    # -- the leader's view ---------------------------------------------------------------------

    def participants(self) -> list[Participant]:
        """Return all participants, invited ones too."""
        question = f"SELECT {_COLUMNS} FROM participants ORDER BY id"  # noqa: S608 our own names
        rows = self._durable(lambda: self._run(question).fetchall())
        return [_participant(row) for row in rows]

    def events(self) -> list[tuple[Any, ...]]:
        """Return all events in their order: participant, then the fields of Event, then when."""
        fields = "participant, query_id, action_name, object_id, position, condition, value, late"
        question = f"SELECT {fields}, client_timestamp, timestamp FROM events ORDER BY id"  # noqa: S608
        return self._durable(lambda: self._run(question).fetchall())

    def trials(self) -> list[tuple[int, str, Mapping[str, Any], str, int]]:
        """Return all trials: participant, task, what was shown, the kept query, and when."""
        question = (
            "SELECT participant, task, shown, query, at FROM trials ORDER BY participant, task"
        )
        rows = self._durable(lambda: self._run(question).fetchall())
        return [(who, task, json.loads(shown), text, at) for who, task, shown, text, at in rows]

    def standing(self, cells: int, now: int, patience: int) -> StudyStanding:
        """Return how many stand where; active: seen in the last `patience` seconds before `now`."""

        def count() -> StudyStanding:
            steps = self._run("SELECT step, count(*) FROM participants GROUP BY step").fetchall()
            finished, active = self._run(
                "SELECT count(*) FILTER (WHERE finished > 0), count(*) FILTER"
                " (WHERE finished = 0 AND cell IS NOT NULL AND seen >= ?) FROM participants",
                now - patience,
            ).fetchone()
            by_cell = tuple(self._cells(cells, now - patience))
            by_step = dict(steps)
            gone = int(self._value(_WITHDRAWN) or 0)
            return StudyStanding(by_step.get(0, 0), active, finished, gone, by_cell, by_step)

        return self._durable(count)

    def close_study(self) -> None:
        """Let nobody begin any more."""
        self._durable(lambda: self._set(_CLOSED, "1"))

    def is_closed(self) -> bool:
        """Return whether the study was closed."""
        return self._durable(lambda: self._value(_CLOSED) == "1")

    def note_simulated(self, count: int) -> None:
        """Note that `count` more people of the study are simulated."""
        self._durable(lambda: self._count(_SIMULATED, count))

    def simulated(self) -> int:
        """Return how many people of the study are simulated."""
        return self._durable(lambda: int(self._value(_SIMULATED) or 0))

    def publish_once(self, what: str) -> bool:
        """Return whether nothing of `what` was published before; from now on, something was."""

        def note() -> bool:
            name = f"{_PUBLISHED} {what}"
            first = self._value(name) is None
            self._set(name, "1")
            return first

        return self._durable(note)

    def origin(self, now: Mapping[str, str] | None = None) -> Mapping[str, str]:
        """Return what the study is of: what was noted, else `now`, which is then noted."""

        def note() -> Mapping[str, str]:
            if now is not None and self._value(_ORIGIN) is None:
                self._set(_ORIGIN, json.dumps(dict(now)))
            return json.loads(self._value(_ORIGIN) or "{}")  # type: ignore[no-any-return]

        return self._durable(note)

    def way(self, now: str = "") -> str:
        """Return the noted order of pages, in which participants have numbers; note `now`, if any.

        It is empty if none was noted.
        """

        def note() -> str:
            if now:
                self._set(_WAY, now)
            return self._value(_WAY) or ""

        return self._durable(note)

    # -- SQLite --------------------------------------------------------------------------------

    # Who is silent for too long counts no more, so that their cell is dealt again.
    def _cells(self, cells: int, since: int) -> list[int]:
        counted = dict(
            self._run(
                "SELECT cell, count(*) FROM participants WHERE cell IS NOT NULL"
                " AND (finished > 0 OR seen >= ?) GROUP BY cell",
                since,
            ).fetchall()
        )
        return [counted.get(cell, 0) for cell in range(cells)]

    def _participant(self, where: str, value: Any) -> Participant | None:
        question = f"SELECT {_COLUMNS} FROM participants WHERE {where}"  # noqa: S608 our own names
        row = self._run(question, value).fetchone()
        return None if row is None else _participant(row)

    def _value(self, name: str) -> str | None:
        row = self._run("SELECT value FROM study WHERE name = ?", name).fetchone()
        return None if row is None else str(row[0])

    def _set(self, name: str, value: str) -> None:
        self._run("INSERT OR REPLACE INTO study VALUES (?, ?)", name, value)

    def _count(self, name: str, more: int) -> None:
        self._set(name, str(int(self._value(name) or 0) + more))

    def _run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    def _durable(self, job: Callable[[], T]) -> T:
        """Return what `job` returns, once it is durable."""
        future: Future[T] = Future()
        self._jobs.put((job, future))
        return future.result()

    def _write(self) -> None:
        while True:
            jobs = [self._next()]
            # All that wait share one sync of the disk, which is what takes the time.
            with suppress(queue.Empty):
                while jobs[-1] is not None:
                    jobs.append(self._jobs.get_nowait())
            self._transact([job for job in jobs if job is not None])
            if jobs[-1] is None:
                return

    def _next(self) -> _Job | None:
        """Return the next job; until it comes, try to empty a log that has to go."""
        while self._remains:
            if time.monotonic() >= self._again:
                self._empty_log()
            with suppress(queue.Empty):
                return self._jobs.get(timeout=_PAUSE)
        return self._jobs.get()

    def _transact(self, batch: Sequence[_Job]) -> None:
        """Run `batch` in one transaction; their callers wait until it is durable."""
        done: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            self._run("BEGIN IMMEDIATE")
            for job, future in batch:
                # A job that fails must not take the others of its batch with it.
                self._run("SAVEPOINT job")
                try:
                    done.append((future, job(), None))
                except Exception as fault:
                    self._run("ROLLBACK TO job")
                    done.append((future, None, fault))
                self._run("RELEASE job")
            self._run("COMMIT")
            if self._remains and not self._again:  # something was erased
                self._empty_log()
        except Exception as fault:
            with suppress(sqlite3.Error):
                self._run("ROLLBACK")
            done = [(future, None, fault) for _, future in batch]
        for future, value, failure in done:
            if failure is None:
                future.set_result(value)
            else:
                future.set_exception(_plain(failure))


def _plain(fault: BaseException) -> BaseException:
    if not isinstance(fault, sqlite3.Error):
        return fault
    return UsageError(f"the study's database can't be written ({fault}); check space and rights")


def _participant(row: Sequence[Any]) -> Participant:
    number, cell, seed, step, consent, opt_ins, person, profile, seen, finished = row
    agreed = tuple(one for one in opt_ins.split(",") if one)
    own = json.loads(profile) if profile else {}
    return Participant(number, cell, seed, step, consent, agreed, person, own, seen, finished)

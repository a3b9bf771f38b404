"""What is kept of people who sign in [I/O]: codes as hashes, sessions, choices, searches kept."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection, DatabaseError, IntegrityError, OperationalError
from typing import Any, NamedTuple

from .errors import UsageError
from .people_file import open_people_file
from .personal_code import NO_CODE, Code, hash_secret, make_code, make_salt, read_code

IDLE = 12 * 3600  # seconds after which a session that nobody used ends
LONGEST = 7 * 24 * 3600  # and after which every session ends
_NOTED = 60  # seconds: how exactly it is kept when a session was last used
_CODES = ("DELETE FROM sessions WHERE user = ?", "DELETE FROM codes WHERE user = ?")
_CHOICES = "DELETE FROM choices WHERE user = ?"
_SEARCHES = "DELETE FROM searches WHERE user = ?"
_REMEDY = "restore it from a copy, or delete it and make new codes: veilsearch codes --all"
_NOBODYS_SALT = make_salt()


class Choices(NamedTuple):
    """What a person has chosen."""

    paused: bool = False  # searches are plain, nothing is kept
    remember: bool = False  # searches are kept, for this person only


class Search(NamedTuple):
    """A search that its person wanted kept."""

    id: int
    query: str
    mode: str
    at: int  # seconds since 1970


class PeopleStore:
    """A SQLite file, or without a path only memory; any thread may call, one at a time."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.time):
        self._lock = threading.Lock()
        self._name = str(path or "the people in memory")
        self._clock = clock
        self._connection = open_people_file(path)

    def __del__(self) -> None:
        if hasattr(self, "_connection"):
            self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def check(self) -> int:
        """Return how many people have a code; raise if the file is damaged."""
        ((verdict,),) = self._ask("PRAGMA integrity_check(1)")
        if verdict != "ok":
            raise UsageError(f"{self._name} is damaged ({verdict}); {_REMEDY}")
        return self.count_codes()

    # -- codes ---------------------------------------------------------------------------------

    def new_code(self, user: str) -> str:
        """Make a person's code; the one before, and its sessions, end."""
        return self.new_codes([user])[user]

    def new_codes(
        self,
        users: Sequence[str],
        keep: Callable[[Mapping[str, str]], object] = lambda _codes: None,
        progress: Callable[[int], object] = lambda _done: None,
    ) -> dict[str, str]:
        """Make codes; none counts unless `keep`, which is handed all of them, succeeds."""
        made: dict[str, Code] = {}
        rows = []
        users = list(dict.fromkeys(users))
        with ThreadPoolExecutor() as hashing:
            for user, (code, row) in zip(users, hashing.map(self._new_row, users), strict=True):
                made[user] = code
                rows.append(row)
                progress(len(rows))
        with self._changing() as people:
            for removal in _CODES:
                people.executemany(removal, ((user,) for user in made))
            for row in rows:
                self._insert(people, row, made)
            codes = {user: str(code) for user, code in made.items()}
            keep(codes)
        return codes

    def _new_row(self, user: str) -> tuple[Code, tuple[Any, ...]]:
        code, salt = make_code(), make_salt()
        digest = hash_secret(code.secret, salt)
        return code, (user, code.public, salt, digest, int(self._clock()))

    def _insert(self, people: Connection, row: tuple[Any, ...], made: dict[str, Code]) -> None:
        """Insert a code; where another has its public part by chance, choose another part."""
        user, _, *rest = row
        while True:
            try:
                row = (user, made[user].public, *rest)
                people.execute("INSERT INTO codes VALUES (?, ?, ?, ?, ?)", row)
                return
            except IntegrityError:
                made[user] = Code(make_code().public, made[user].secret)

    def revoke(self, user: str) -> bool:
        """End a person's code and sessions; tell whether there was a code."""
        with self._changing() as people:
            return [people.execute(removal, (user,)).rowcount > 0 for removal in _CODES][-1]

    def codes(self, beginning: str = "", start: int = 0, count: int = -1) -> list[tuple[str, int]]:
        """Return who has a code and since when, by id; of those whose id begins so, a part."""
        rows = self._ask(
            "SELECT user, made FROM codes WHERE substr(user, 1, ?) = ? ORDER BY user "
            "LIMIT ? OFFSET ?",
            *(len(beginning), beginning, count, start),
        )
        return [(user, made) for user, made in rows]

    def count_codes(self, beginning: str = "") -> int:
        """Return how many people whose id begins so have a code."""
        question = "SELECT count(*) FROM codes WHERE substr(user, 1, ?) = ?"
        ((count,),) = self._ask(question, len(beginning), beginning)
        return int(count)

    # -- sessions ------------------------------------------------------------------------------

    def sign_in(self, code: str, now: float) -> str | None:
        """Begin a session with a code and return its token; a wrong code takes as long."""
        public, secret = read_code(code)
        found = self._ask("SELECT salt, digest FROM codes WHERE public = ?", public)
        salt, digest = found[0] if found else (_NOBODYS_SALT, b"")
        right = hmac.compare_digest(hash_secret(secret, salt), digest)
        if not right or (public, secret) == NO_CODE:
            return None
        token = secrets.token_urlsafe(32)
        with self._changing() as people:
            _end_old(people, now)
            begun = people.execute(  # unless the code was revoked meanwhile
                "INSERT INTO sessions SELECT ?, user, ?, ? FROM codes WHERE public = ? "
                "AND digest = ?",
                (hash_token(token), int(now), int(now), public, digest),
            )
            return token if begun.rowcount else None

    def visitor_of(self, token: str, now: float) -> str | None:
        """Return whose session a token is of, if it has not ended, and note that it is used."""
        digest = hash_token(token)
        found = self._ask("SELECT user, made, seen FROM sessions WHERE digest = ?", digest)
        if not found:
            return None
        user, made, seen = found[0]
        if over(made, seen, now):
            self.sign_out(token)
            return None
        if now - seen >= _NOTED:
            with self._changing() as people:
                people.execute("UPDATE sessions SET seen = ? WHERE digest = ?", (int(now), digest))
        return str(user)

    def sign_out(self, token: str) -> None:
        """End a session."""
        with self._changing() as people:
            people.execute("DELETE FROM sessions WHERE digest = ?", (hash_token(token),))

    def count_signed_in(self, now: float) -> int:
        """Return how many people have a session."""
        question = "SELECT count(DISTINCT user) FROM sessions WHERE seen >= ? AND made >= ?"
        ((count,),) = self._ask(question, now - IDLE, now - LONGEST)
        return int(count)

    # -- choices and the searches kept -----------------------------------------------------------

    def choices(self, user: str) -> Choices:
        """Return what a person has chosen."""
        found = self._ask("SELECT paused, remember FROM choices WHERE user = ?", user)
        return Choices(*map(bool, found[0])) if found else Choices()

    def choose(
        self, user: str, *, paused: bool | None = None, remember: bool | None = None
    ) -> None:
        """Keep a person's choices; those not named stay."""
        with self._changing() as people:
            people.execute("INSERT OR IGNORE INTO choices VALUES (?, 0, 0)", (user,))
            people.execute(
                "UPDATE choices SET paused = coalesce(?, paused), "
                "remember = coalesce(?, remember) WHERE user = ?",
                (paused, remember, user),
            )

    def remember(self, user: str, query: str, mode: str, at: float) -> None:
        """Keep a search, if its person chose that and has not paused."""
        if self.choices(user) != Choices(paused=False, remember=True):
            return  # most searches: nothing is written
        with self._changing() as people:
            people.execute(
                "INSERT INTO searches (user, query, mode, at) SELECT user, ?, ?, ? FROM choices "
                "WHERE user = ? AND remember AND NOT paused",
                (query, mode, int(at), user),
            )

    def searches(self, user: str) -> list[Search]:
        """Return a person's searches that were kept, newest first."""
        question = "SELECT id, query, mode, at FROM searches WHERE user = ? ORDER BY id DESC"
        return [Search(*row) for row in self._ask(question, user)]

    def forget_search(self, user: str, number: int) -> bool:
        """Remove a search, if it is this person's; tell whether it was."""
        with self._changing() as people:
            question = "DELETE FROM searches WHERE id = ? AND user = ?"
            found = people.execute(question, (number, user)).rowcount > 0
        self._wipe()
        return found

    def forget_searches(self, user: str) -> None:
        """Remove all of a person's searches."""
        self._remove(user, (_SEARCHES,))

    def forget(self, user: str) -> None:
        """Remove every byte of a person."""
        self._remove(user, (*_CODES, _CHOICES, _SEARCHES))

    def _remove(self, user: str, removals: Iterable[str]) -> None:
        with self._changing() as people:
            for removal in removals:
                people.execute(removal, (user,))
        self._wipe()

    def _wipe(self) -> None:
        """Leave nothing of what was removed: neither in unused pages nor in the log beside."""
        with self._lock, self._plainly():
            self._connection.execute("VACUUM")
            ((busy, *_),) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise UsageError(f"{self._name} is being read by others; remove again when it is not")

    # -- the file --------------------------------------------------------------------------------

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        """Change all or nothing."""
        with self._lock, self._plainly(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    def _ask(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock, self._plainly():
            return self._connection.execute(question, values).fetchall()

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """Turn the database's complaints into one line; they hold no values."""
        try:
            yield
        except OperationalError as fault:
            line = f"{self._name} can't be used ({fault}); see to room and rights, and try again"
            raise UsageError(line) from fault
        except DatabaseError as fault:
            raise UsageError(f"{self._name} is damaged ({fault}); {_REMEDY}") from fault


def over(made: float, seen: float, now: float) -> bool:
    """Tell whether a session has ended by itself."""
    return now - seen > IDLE or now - made > LONGEST


def hash_token(token: str) -> bytes:
    """Hash a session's token, which is chance enough to need no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _end_old(people: Connection, now: float) -> None:
    people.execute("DELETE FROM sessions WHERE seen < ? OR made < ?", (now - IDLE, now - LONGEST))

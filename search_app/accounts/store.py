"""What is kept of people who sign in [I/O]: hashes of codes and tokens, choices, searches."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection, DatabaseError, IntegrityError
from typing import Any, NamedTuple

from ..errors import UsageError
from ..workspace.tables import fault_of, plainly
from .codes import NO_CODE, SALT, SLOW, TOKEN, Code, hash_secret, make_code, read_code, read_token
from .database import open_people_file

IDLE = 12 * 3600  # seconds without use after which a session ends
LONGEST = 7 * 24 * 3600  # seconds after which every session ends
# Seconds between two notes of a session's last use: not every request shall write to the disk.
_NOTED = 60
MOST_TOKENS = 10  # of a person
_TOKENS = "DELETE FROM tokens WHERE user = ?"
# Who has no code any more, or a new one as the old one may be known, has no token either.
_CODES = (
    _TOKENS,
    "DELETE FROM sessions WHERE user = ?",
    "DELETE FROM codes WHERE user = ?",
)
_GROWING, _GROWN = "DELETE FROM growing WHERE user = ?", "DELETE FROM grown WHERE user = ?"
_LEFT = "DELETE FROM leaving WHERE user = ?"
_ALL = (
    *_CODES,
    "DELETE FROM choices WHERE user = ?",
    "DELETE FROM searches WHERE user = ?",
    _GROWING,
    _GROWN,
    _LEFT,
)
# A person may have searched on while it moved, so the rest stays.
_MOVED = (
    "UPDATE grown SET count = count - (SELECT count FROM moving WHERE id = ?1) WHERE id = ?1",
    "DELETE FROM moving WHERE id = ?1",
    "DELETE FROM grown WHERE id = ?1 AND count <= 0",
)
_REMEDY = "restore it from a copy, or delete it and make new codes: veilsearch codes --all"
MOST_TERMS = 5_000  # of a grown profile: what is met later is not added
# An unknown code is hashed with this salt, so that it takes as long as a known one.
_NOBODYS_SALT = secrets.token_bytes(SALT)


class PersonChoices(NamedTuple):
    """What a person has chosen."""

    paused: bool = False  # searches are plain and nothing is kept
    remember: bool = False  # searches are kept, for this person only
    grow: bool = False  # the terms of searches are added to a grown profile


class NamedToken(NamedTuple):
    """What is kept of a token of a person's scripts, without its secret."""

    public: str  # its first signs
    name: str
    made: int  # seconds since 1970


class KeptSearch(NamedTuple):
    """A search that a person chose to keep."""

    id: int
    query: str
    mode: str
    at: int  # seconds since 1970


class PeopleStore:
    """A SQLite file, or memory without a path; any thread may call, one at a time."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.time):
        self._lock = threading.Lock()
        self._name = str(path or "the people in memory")
        self._clock = clock
        self._connection = open_people_file(path)
        self._place = _place(path)

    def __del__(self) -> None:
        if hasattr(self, "_connection"):
            self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def check(self) -> int:
        """Return how many people have a code; raise if the file is damaged."""
        with self._lock, self._plainly():
            if fault := fault_of(self._connection):
                raise DatabaseError(fault)
        return self.count_codes()

    def use(self) -> None:
        """Raise unless codes can be read and changes written, where others look for the file."""
        with self._changing() as people:
            people.execute("SELECT * FROM codes LIMIT 1").fetchall()
        if _place(Path(self._name)) != self._place:
            raise UsageError(f"{self._name} was moved or replaced; start the server again")

    # -- codes ---------------------------------------------------------------------------------

    def new_code(self, user: str) -> str:
        """Return a new code for `user`; their old code, its sessions and their tokens end."""
        return self.new_codes([user])[user]

    def new_codes(
        self,
        users: Sequence[str],
        keep: Callable[[Mapping[str, str]], object] = lambda _codes: None,
    ) -> dict[str, str]:
        """Return new codes of `users`; `keep` gets all of them, and none counts if it fails."""
        made: dict[str, Code] = {}
        rows = []
        for user in dict.fromkeys(users):
            made[user], row = self._new_row(user)
            rows.append(row)
        with self._changing() as people:
            for removal in _CODES:
                people.executemany(removal, ((user,) for user in made))
            for user, _, *rest in rows:
                while True:  # draw again if somebody has the same public part by chance
                    with suppress(IntegrityError):
                        row = (user, made[user].public, *rest)
                        people.execute("INSERT INTO codes VALUES (?, ?, ?, ?, ?)", row)
                        break
                    made[user] = Code(make_code().public, made[user].secret)
            codes = {user: str(code) for user, code in made.items()}
            keep(codes)
        return codes

    def _new_row(self, user: str) -> tuple[Code, tuple[Any, ...]]:
        code, salt = make_code(), secrets.token_bytes(SALT)
        digest = hash_secret(code.secret, salt)
        return code, (user, code.public, salt, digest, int(self._clock()))

    def revoke(self, user: str) -> bool:
        """End the code, sessions and tokens of `user`; return whether there was a code."""
        with self._changing() as people:
            return [people.execute(removal, (user,)).rowcount > 0 for removal in _CODES][-1]

    def codes(self, start: int = 0, count: int = -1) -> list[tuple[str, int]]:
        """Return `count` users with a code from `start` on, sorted by id, and when it was made."""
        question = "SELECT user, made FROM codes ORDER BY user LIMIT ? OFFSET ?"
        return [(user, made) for user, made in self._ask(question, count, start)]

    def count_codes(self) -> int:
        """Return how many people have a code."""
        return int(self._ask("SELECT count(*) FROM codes")[0][0])

    # -- tokens --------------------------------------------------------------------------------

    def new_token(self, user: str, name: str) -> str | None:
        """Return a new token for scripts of `user`, who calls it `name`.

        Return None if they have no code, or MOST_TOKENS already.
        """
        with self._changing() as people:
            while True:  # draw again if there is the same public part by chance
                code, (*_, salt, digest, made) = self._new_row(user)
                with suppress(IntegrityError):
                    inserted = people.execute(
                        "INSERT INTO tokens SELECT ?2, user, ?3, ?4, ?5, ?6 FROM codes "
                        "WHERE user = ?1 AND (SELECT count(*) FROM tokens WHERE user = ?1) < ?7",
                        (user, code.public, name, salt, digest, made, MOST_TOKENS),
                    )
                    return f"{TOKEN}{code}" if inserted.rowcount else None

    def tokens(self, user: str) -> list[NamedToken]:
        """Return the tokens of `user`, the oldest first."""
        question = "SELECT public, name, made FROM tokens WHERE user = ? ORDER BY made, public"
        return [NamedToken(*row) for row in self._ask(question, user)]

    def revoke_tokens(self, user: str, public: str | None = None) -> int:
        """End the token of `user` that begins with `public`, all if it is None; return how many."""
        with self._changing() as people:
            removal = f"{_TOKENS} AND public = coalesce(?, public)"
            return people.execute(removal, (user, public)).rowcount

    def holder_of(self, token: str) -> str | None:
        """Return whose `token` it is, None if it is nobody's."""
        public, secret = read_token(token)
        rows = self._ask("SELECT user, salt, digest FROM tokens WHERE public = ?", public)
        user, salt, digest = rows[0] if rows else ("", _NOBODYS_SALT, b"")
        return str(user) if hmac.compare_digest(hash_secret(secret, salt), digest) else None

    # -- sessions ------------------------------------------------------------------------------

    def sign_in(self, code: str, now: float) -> str | None:
        """Begin a session with `code` at `now`; return its token, or None if the code is wrong."""
        public, secret = read_code(code)
        rows = self._ask("SELECT salt, digest FROM codes WHERE public = ?", public)
        salt, digest = rows[0] if rows else (_NOBODYS_SALT, b"")
        hashed = hash_secret(secret, salt, slow=len(digest) == SLOW)
        right = hmac.compare_digest(hashed, digest)
        if not right or (public, secret) == NO_CODE:
            return None
        token = secrets.token_urlsafe(32)
        with self._changing() as people:
            ended = "DELETE FROM sessions WHERE seen < ? OR made < ?"
            people.execute(ended, (now - IDLE, now - LONGEST))
            begun = people.execute(  # unless the code was revoked meanwhile
                "INSERT INTO sessions SELECT ?, user, ?, ? FROM codes WHERE public = ? "
                "AND digest = ?",
                (hash_token(token), int(now), int(now), public, digest),
            )
            return token if begun.rowcount else None

    def visitor_of(self, token: str, now: float) -> str | None:
        """Return whose session has `token`, None if it ended before `now`; note that it is used."""
        digest = hash_token(token)
        rows = self._ask("SELECT user, made, seen FROM sessions WHERE digest = ?", digest)
        if not rows:
            return None
        user, made, seen = rows[0]
        if has_ended(made, seen, now):
            self.sign_out(token)
            return None
        if now - seen >= _NOTED:
            with self._changing() as people:
                people.execute("UPDATE sessions SET seen = ? WHERE digest = ?", (int(now), digest))
        return str(user)

    def sign_out(self, token: str) -> None:
        """End the session of `token`."""
        with self._changing() as people:
            people.execute("DELETE FROM sessions WHERE digest = ?", (hash_token(token),))

    def end_sessions(self) -> None:
        """End the sessions of all people; codes and tokens stay."""
        with self._changing() as people:
            people.execute("DELETE FROM sessions")

    def count_signed_in(self, now: float) -> int:
        """Return how many people have a session at `now`."""
        question = "SELECT count(DISTINCT user) FROM sessions WHERE seen >= ? AND made >= ?"
        ((count,),) = self._ask(question, now - IDLE, now - LONGEST)
        return int(count)

    # -- choices, kept searches and grown profiles -----------------------------------------------

    def choices(self, user: str) -> PersonChoices:
        """Return what `user` has chosen."""
        rows = self._ask(
            "SELECT coalesce(max(paused), 0), coalesce(max(remember), 0), "
            "EXISTS (SELECT * FROM growing WHERE user = ?1) FROM choices WHERE user = ?1",
            user,
        )
        return PersonChoices(*map(bool, rows[0]))

    def choose(
        self,
        user: str,
        *,
        paused: bool | None = None,
        remember: bool | None = None,
        grow: bool | None = None,
        keep: bool = True,
    ) -> None:
        """Keep the choices of `user`; a choice that is None stays. `keep` what grew or remove it.

        All of it is one step.
        """
        with self._changing() as people:
            people.execute("INSERT OR IGNORE INTO choices VALUES (?, 0, 0)", (user,))
            people.execute(
                "UPDATE choices SET paused = coalesce(?, paused), "
                "remember = coalesce(?, remember) WHERE user = ?",
                (paused, remember, user),
            )
            if grow:
                people.execute("INSERT OR IGNORE INTO growing VALUES (?)", (user,))
            elif grow is not None:
                people.execute(_GROWING, (user,))
            if not keep:
                people.execute(_GROWN, (user,))
        if not keep:
            self._wipe()

    def remember(self, user: str, query: str, mode: str, at: float) -> None:
        """Keep the search `query` if `user` chose that and has not paused."""
        chosen = self.choices(user)
        if chosen.paused or not chosen.remember:
            return  # most searches: nothing is written
        with self._changing() as people:
            # Asked again inside the statement: the choice may have changed meanwhile.
            people.execute(
                "INSERT INTO searches (user, query, mode, at) SELECT user, ?, ?, ? FROM choices "
                "WHERE user = ? AND remember AND NOT paused",
                (query, mode, int(at), user),
            )

    def searches(self, user: str) -> list[KeptSearch]:
        """Return the kept searches of `user`, newest first."""
        question = "SELECT id, query, mode, at FROM searches WHERE user = ? ORDER BY id DESC"
        return [KeptSearch(*row) for row in self._ask(question, user)]

    def forget_searches(self, user: str, number: int | None = None) -> None:
        """Remove all kept searches of `user`, or the one with `number` if it is theirs."""
        with self._changing() as people:
            removal = "DELETE FROM searches WHERE user = ? AND coalesce(id = ?, TRUE)"
            people.execute(removal, (user, number))
        self._wipe()

    def grow(self, user: str, counts: Mapping[str, int]) -> None:
        """Add `counts` of terms to what grew of `user`, who must have chosen it and not paused."""
        with self._changing() as people:
            # Asked here, inside the transaction: the choice may have changed meanwhile.
            chosen = people.execute(
                "SELECT term FROM growing JOIN choices USING (user) LEFT JOIN grown USING (user) "
                "WHERE user = ? AND NOT paused",
                (user,),
            ).fetchall()
            known = {term for (term,) in chosen}
            added = {term: count for term, count in counts.items() if term in known}
            new = [item for item in counts.items() if item[0] not in known]
            added |= dict(new[: max(0, MOST_TERMS - len(known))] if chosen else ())
            people.executemany(
                "INSERT INTO grown (user, term, count) VALUES (?, ?, ?) "
                "ON CONFLICT DO UPDATE SET count = count + excluded.count",
                ((user, term, count) for term, count in added.items()),
            )

    def grown(self, user: str) -> dict[str, int]:
        """Return how often each term came up in searches that fed the profile of `user`."""
        question = "SELECT term, count FROM grown WHERE user = ? ORDER BY id"
        return dict(self._ask(question, user))

    def all_grown(self) -> dict[str, dict[str, int]]:
        """Return what grew of each person who still wants that, by user, the first term first."""
        everybody: dict[str, dict[str, int]] = {}
        question = (
            "SELECT user, term, count FROM grown JOIN growing USING (user) "
            "JOIN choices USING (user) WHERE NOT paused ORDER BY user, id"
        )
        for user, term, count in self._ask(question):
            everybody.setdefault(user, {})[term] = count
        return everybody

    def rich(self, count: int) -> set[str]:
        """Return those whose profile grew to `count` terms or more, and who still want that."""
        question = (
            "SELECT user FROM grown JOIN growing USING (user) JOIN choices USING (user) "
            "WHERE NOT paused GROUP BY user HAVING count(*) >= ?"
        )
        return {user for (user,) in self._ask(question, count)}

    def pausing(self) -> set[str]:
        """Return those who have paused personalization: nobody may read their profile."""
        return {user for (user,) in self._ask("SELECT user FROM choices WHERE paused")}

    def gatherers(self) -> set[str]:
        """Return those who gathered terms, whether they still want that or not."""
        return {user for (user,) in self._ask("SELECT DISTINCT user FROM grown")}

    def forget_grown(self, terms: Mapping[str, Collection[str] | None]) -> bool:
        """Remove the `terms` by user from what grew, all if they are None; return if any was."""
        with self._changing() as people:
            before = people.total_changes
            for user, some in terms.items():
                people.executemany(
                    "DELETE FROM grown WHERE user = ? AND term = coalesce(?, term)",
                    ((user, term) for term in ([None] if some is None else some)),
                )
            removed = people.total_changes > before
        if removed:
            self._wipe()
        return removed

    def begin_move(self, counts: Mapping[str, Mapping[str, int]], past: Container[str]) -> None:
        """Note that the `counts` of terms of users go into profiles, which is the next step.

        What was noted earlier is settled by who has a `past`, a profile, now.
        """
        self.settle(past)
        rows = ((n, user, term) for user, terms in counts.items() for term, n in terms.items())
        with self._changing() as people:
            people.execute("DELETE FROM moving")
            people.executemany(
                "INSERT INTO moving SELECT id, ? FROM grown WHERE user = ? AND term = ?", rows
            )

    def moves(self) -> bool:
        """Return whether it is noted that something moves."""
        return bool(self._ask("SELECT * FROM moving LIMIT 1"))

    def settle(self, past: Container[str]) -> None:
        """Remove from what grew what has moved: the noted counts of people who have a `past`."""
        # Only people without a past are noted. So it has moved if they have one, whenever a kill
        # came between, and else it has not.
        if not self.moves():
            return
        with self._changing() as people:
            noted = people.execute("SELECT id, user FROM moving JOIN grown USING (id)").fetchall()
            moved = [(number,) for number, user in noted if user in past]
            for removal in _MOVED:
                people.executemany(removal, moved)
        if moved:
            self._wipe()

    def forget(self, *users: str, then: Callable[[bool], object] = lambda _known: None) -> None:
        """Remove every byte of `users`, and call `then` with whether there was any.

        Their ids stay until `then` has ended, so that what a kill cuts short can be finished.
        """
        whose = [(user,) for user in users]
        with self._changing() as people:
            removed = sum(people.executemany(removal, whose).rowcount for removal in _ALL)
            people.executemany("INSERT INTO leaving VALUES (?)", whose if removed else ())
        # Somebody who reads the file can keep the bytes from going, and nothing else.
        try:
            then(removed > 0)
            with self._changing() as people:
                people.executemany(_LEFT, whose)
        finally:
            self._wipe()

    def leaving(self) -> set[str]:
        """Return who was removed here, and perhaps nowhere else, as a kill came."""
        return {user for (user,) in self._ask("SELECT user FROM leaving")}

    def _wipe(self) -> None:
        """Erase what was removed from unused pages and from SQLite's log."""
        with self._lock, self._plainly():
            self._connection.execute("VACUUM")
            ((busy, *_),) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise UsageError(f"{self._name} is being read by others; remove again later")

    # -- the file --------------------------------------------------------------------------------

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        """Give a connection whose changes are made all together or not at all."""
        with self._lock, self._plainly(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    def _ask(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock, self._plainly():
            return self._connection.execute(question, values).fetchall()

    def _plainly(self) -> AbstractContextManager[None]:
        return plainly(self._name, _REMEDY)


def _place(path: Path | None) -> object:
    """Return which file is at `path`, without opening it; None if there is none."""
    with suppress(OSError):
        return path and (path.stat().st_dev, path.stat().st_ino)
    return None


def has_ended(made: float, seen: float, now: float) -> bool:
    """Return whether a session made at `made` and last used at `seen` has ended by `now`."""
    return now - seen > IDLE or now - made > LONGEST


def hash_token(token: str) -> bytes:
    """Return the hash of a session's `token`; it is random enough to need no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()

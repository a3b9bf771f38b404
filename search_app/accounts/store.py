"""What is kept of people who sign in [I/O]: hashes of codes and tokens, choices, searches."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

from ..workspace.tables import Changing, Place
from .codes import NO_CODE, SALT, SLOW, TOKEN, Code, hash_secret, make_code, read_code, read_token
from .database import open_people

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
    "DELETE FROM orders WHERE user = ?",
    _GROWING,
    _GROWN,
    _LEFT,
)
# In the order in which tables are wiped: else who reads and who wipes might wait for one another.
_GATHERED = "FROM choices JOIN growing USING (user) JOIN grown USING (user) WHERE paused = 0"
# A person may have searched on while it moved, so the rest stays.
_MOVED = (
    "UPDATE grown SET count = count - (SELECT count FROM moving WHERE id = ?1) WHERE id = ?1",
    "DELETE FROM moving WHERE id = ?1",
    "DELETE FROM grown WHERE id = ?1 AND count <= 0",
)
_COUNT = (
    "INSERT INTO marks VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET number = marks.number + 1"
)
_REMOVALS = "removals"
_OPERATOR = ""  # whose sessions these are: no id is empty
ORDERS = 100  # lists of results in a day that the row of another group may order for a person
_DAY = 86_400  # seconds
_ALL_ROWS = 2**63 - 1
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
    """A SQLite file, a PostgreSQL server, or memory without a place; any thread may call.

    Several processes may have one open, on several hosts if it is a server.
    """

    def __init__(self, place: Place, clock: Callable[[], float] = time.time):
        # The file of the workspace that holds people, as a report names it.
        self.file = place.name if place else "memory"
        self._clock = clock
        self._database = open_people(place)
        self._noting = threading.Lock()
        self._removals = self._mark(_REMOVALS)  # that this process made, or knows of

    def __del__(self) -> None:
        if hasattr(self, "_database"):
            self.close()

    def close(self) -> None:
        """Close the file, or the connection."""
        self._database.close()

    def check(self) -> int:
        """Return how many people have a code; raise if the file is damaged."""
        self._database.check()
        return self.count_codes()

    def use(self) -> None:
        """Raise unless codes can be read and changes written, where others look for the file."""
        with self._changing() as people:
            people.execute("SELECT * FROM codes LIMIT 1").fetchall()
        self._database.use()

    # -- what several processes share ------------------------------------------------------------

    def removed_elsewhere(self) -> bool:
        """Return whether another process removed something of people since the last call."""
        with self._noting:
            before, self._removals = self._removals, self._mark(_REMOVALS)
            return self._removals > before

    def secret(self, name: str) -> bytes:
        """Return a secret called `name`, drawn at random by the first process that needs it."""
        while not (number := self._mark(name)):
            with self._changing() as people:
                row = name, secrets.randbits(62)
                people.execute("INSERT INTO marks VALUES (?, ?) ON CONFLICT DO NOTHING", row)
        return number.to_bytes(8)

    def take_order(self, user: str, now: float) -> bool:
        """Return whether the row of another group may order one more list for `user` at `now`.

        There are ORDERS a day, and they come back over time, as in a bucket.
        """
        with self._changing() as people:
            question = "SELECT tokens, at FROM orders WHERE user = ?"
            ((tokens, at),) = people.execute(question, (user,)).fetchall() or [(ORDERS, now)]
            # The clock may be set back.
            tokens = min(ORDERS, tokens + ORDERS / _DAY * max(now - at, 0.0))
            people.execute("DELETE FROM orders WHERE user = ?", (user,))
            # Nothing comes back of somebody who was forgotten meanwhile.
            row = tokens - 1 if tokens >= 1 else tokens, now, user
            people.execute("INSERT INTO orders SELECT user, ?, ? FROM codes WHERE user = ?", row)
        return bool(tokens >= 1)

    def _mark(self, name: str) -> int:
        rows = self._ask("SELECT number FROM marks WHERE name = ?", name)
        return int(rows[0][0]) if rows else 0

    @contextmanager
    def _removing(self, *, wiped: bool = False) -> Iterator[Changing]:
        """Give a transaction that ends something in memory of other processes, too."""
        # Own removals are no news. Counted under a lock, so that no look comes in between.
        with self._noting:
            with self._changing(wiped=wiped) as people:
                yield people
                people.execute(_COUNT, (_REMOVALS,))
            self._removals += 1

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
        with self._removing() as people:
            for removal in _CODES:
                people.executemany(removal, ((user,) for user in made))
            for user, _, *rest in rows:
                # Draw again if somebody has the same public part by chance.
                while _is_taken(people, "codes", made[user].public):
                    made[user] = Code(make_code().public, made[user].secret)
                row = (user, made[user].public, *rest)
                people.execute("INSERT INTO codes VALUES (?, ?, ?, ?, ?)", row)
            codes = {user: str(code) for user, code in made.items()}
            keep(codes)
        return codes

    def _new_row(self, user: str) -> tuple[Code, tuple[Any, ...]]:
        code, salt = make_code(), secrets.token_bytes(SALT)
        digest = hash_secret(code.secret, salt)
        return code, (user, code.public, salt, digest, int(self._clock()))

    def revoke(self, user: str) -> bool:
        """End the code, sessions and tokens of `user`; return whether there was a code."""
        with self._removing() as people:
            return [people.execute(removal, (user,)).rowcount > 0 for removal in _CODES][-1]

    def codes(self, start: int = 0, count: int = _ALL_ROWS) -> list[tuple[str, int]]:
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
            code, (*_, salt, digest, made) = self._new_row(user)
            while _is_taken(people, "tokens", code.public):
                code = Code(make_code().public, code.secret)
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
            # A bucket that is full again says when its person searched, and is not needed.
            people.execute("DELETE FROM orders WHERE at < ?", (now - _DAY,))
            begun = people.execute(  # unless the code was revoked meanwhile
                "INSERT INTO sessions SELECT ?, user, ?, ? FROM codes WHERE public = ? "
                "AND digest = ?",
                (hash_token(token), int(now), int(now), public, digest),
            )
            return token if begun.rowcount else None

    # A hash with that key, as the operator's token may be another at the next start.
    def sign_in_operator(self, key: str, now: float) -> str:
        """Begin a session of the operator, whose own token is `key`, at `now`; return its token.

        It ends with `key`, too: nothing else can find it.
        """
        token = secrets.token_urlsafe(32)
        with self._changing() as people:
            row = hash_token(token, key), _OPERATOR, int(now), int(now)
            people.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", row)
        return token

    def visitor_of(self, token: str, now: float, key: str = "") -> str | None:
        """Return whose session has `token`, None if it ended before `now`; note that it is used.

        The operator's, whose own token is `key`, is nobody's: "".
        """
        question = "SELECT digest, user, made, seen FROM sessions WHERE digest IN (?, ?)"
        rows = self._ask(question, hash_token(token), hash_token(token, key))
        if not rows:
            return None
        digest, user, made, seen = rows[0]
        if has_ended(made, seen, now):
            self.sign_out(token, key)
            return None
        if now - seen >= _NOTED:
            with self._changing() as people:
                people.execute("UPDATE sessions SET seen = ? WHERE digest = ?", (int(now), digest))
        return str(user)

    def sign_out(self, token: str, key: str = "") -> None:
        """End the session of `token`, a person's or that of the operator with `key`."""
        with self._changing() as people:
            digests = hash_token(token), hash_token(token, key)
            people.execute("DELETE FROM sessions WHERE digest IN (?, ?)", digests)

    def end_sessions(self) -> None:
        """End the sessions of all people; codes and tokens stay."""
        with self._changing() as people:
            people.execute("DELETE FROM sessions")

    def count_signed_in(self, now: float) -> int:
        """Return how many people have a session at `now`."""
        question = "SELECT count(DISTINCT user) FROM sessions WHERE seen >= ? AND made >= ? "
        question += "AND user <> ?"
        ((count,),) = self._ask(question, now - IDLE, now - LONGEST, _OPERATOR)
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
        holder: bool = False,
    ) -> None:
        """Keep the choices of `user`; a choice that is None stays. `keep` what grew or remove it.

        All of it is one step. As a `holder` they must have a code: nothing comes back of somebody
        who was forgotten meanwhile, by another server.
        """
        begin = "INSERT INTO choices SELECT user, 0, 0 FROM codes WHERE user = ?"
        if not holder:
            begin = "INSERT INTO choices VALUES (?, 0, 0)"
        # Of somebody who pauses, servers show the last requests no more.
        ends = paused or not keep
        with self._removing(wiped=not keep) if ends else self._changing() as people:
            people.execute(f"{begin} ON CONFLICT DO NOTHING", (user,))
            people.execute(
                "UPDATE choices SET paused = coalesce(?, paused), "
                "remember = coalesce(?, remember) WHERE user = ?",
                (paused, remember, user),
            )
            if grow:
                begin = "INSERT INTO growing SELECT user FROM choices WHERE user = ?"
                people.execute(f"{begin} ON CONFLICT DO NOTHING", (user,))
            elif grow is not None:
                people.execute(_GROWING, (user,))
            if not keep:
                people.execute(_GROWN, (user,))

    def remember(self, user: str, query: str, mode: str, at: float) -> None:
        """Keep the search `query` if `user` chose that and has not paused."""
        chosen = self.choices(user)
        if chosen.paused or not chosen.remember:
            return  # most searches: nothing is written
        with self._changing() as people:
            # Asked again inside the statement: the choice may have changed meanwhile.
            people.execute(
                "INSERT INTO searches (user, query, mode, at) SELECT user, ?, ?, ? FROM choices "
                "WHERE user = ? AND remember <> 0 AND paused = 0",
                (query, mode, int(at), user),
            )

    def searches(self, user: str) -> list[KeptSearch]:
        """Return the kept searches of `user`, newest first."""
        question = "SELECT id, query, mode, at FROM searches WHERE user = ? ORDER BY id DESC"
        return [KeptSearch(*row) for row in self._ask(question, user)]

    def forget_searches(self, user: str, number: int | None = None) -> None:
        """Remove all kept searches of `user`, or the one with `number` if it is theirs."""
        with self._changing(wiped=True) as people:
            removal = "DELETE FROM searches WHERE user = ? AND coalesce(id = ?, TRUE)"
            people.execute(removal, (user, number))

    def grow(self, user: str, counts: Mapping[str, int]) -> None:
        """Add `counts` of terms to what grew of `user`, who must have chosen it and not paused."""
        with self._changing() as people:
            # Asked here, inside the transaction: the choice may have changed meanwhile.
            chosen = people.execute(
                "SELECT term FROM growing JOIN choices USING (user) LEFT JOIN grown USING (user) "
                "WHERE user = ? AND paused = 0",
                (user,),
            ).fetchall()
            known = {term for (term,) in chosen}
            added = {term: count for term, count in counts.items() if term in known}
            new = [item for item in counts.items() if item[0] not in known]
            added |= dict(new[: max(0, MOST_TERMS - len(known))] if chosen else ())
            people.executemany(
                "INSERT INTO grown (user, term, count) VALUES (?, ?, ?) "
                "ON CONFLICT (user, term) DO UPDATE SET count = grown.count + excluded.count",
                ((user, term, count) for term, count in added.items()),
            )

    def grown(self, user: str) -> dict[str, int]:
        """Return how often each term came up in searches that fed the profile of `user`."""
        question = "SELECT term, count FROM grown WHERE user = ? ORDER BY id"
        return dict(self._ask(question, user))

    def all_grown(self) -> dict[str, dict[str, int]]:
        """Return what grew of each person who still wants that, by user, the first term first."""
        everybody: dict[str, dict[str, int]] = {}
        for user, term, count in self._ask(
            f"SELECT user, term, count {_GATHERED} ORDER BY user, id"
        ):
            everybody.setdefault(user, {})[term] = count
        return everybody

    def rich(self, count: int) -> set[str]:
        """Return those whose profile grew to `count` terms or more, and who still want that."""
        question = f"SELECT user {_GATHERED} GROUP BY user HAVING count(*) >= ?"
        return {user for (user,) in self._ask(question, count)}

    def pausing(self) -> set[str]:
        """Return those who have paused personalization: nobody may read their profile."""
        return {user for (user,) in self._ask("SELECT user FROM choices WHERE paused <> 0")}

    def gatherers(self) -> set[str]:
        """Return those who gathered terms, whether they still want that or not."""
        return {user for (user,) in self._ask("SELECT DISTINCT user FROM grown")}

    def forget_grown(self, terms: Mapping[str, Collection[str] | None]) -> bool:
        """Remove the `terms` by user from what grew, all if they are None; return if any was."""
        with self._removing(wiped=True) as people:
            gone = people.executemany(
                "DELETE FROM grown WHERE user = ? AND term = coalesce(?, term)",
                (
                    (user, term)
                    for user, some in terms.items()
                    for term in ([None] if some is None else some)
                ),
            )
            return gone.rowcount > 0

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
        with self._changing(wiped=True) as people:
            noted = people.execute("SELECT id, user FROM moving JOIN grown USING (id)").fetchall()
            moved = [(number,) for number, user in noted if user in past]
            for removal in _MOVED:
                people.executemany(removal, moved)

    def forget(self, *users: str, then: Callable[[bool], object] = lambda _known: None) -> None:
        """Remove every byte of `users`, and call `then` with whether there was any.

        Their ids stay until `then` has ended, so that what a kill cuts short can be finished.
        """
        whose = [(user,) for user in users]
        with self._removing() as people:
            removed = sum(people.executemany(removal, whose).rowcount for removal in _ALL)
            if removed:
                people.executemany("INSERT INTO leaving VALUES (?)", whose)
        # Somebody who reads the file can keep the bytes from going, and nothing else.
        try:
            then(removed > 0)
        except BaseException:
            self._wipe()
            raise
        with self._changing(wiped=True) as people:
            people.executemany(_LEFT, whose)

    def leaving(self) -> set[str]:
        """Return who was removed here, and perhaps nowhere else, as a kill came."""
        return {user for (user,) in self._ask("SELECT user FROM leaving")}

    def _wipe(self) -> None:
        with self._changing(wiped=True):
            pass

    def _changing(self, *, wiped: bool = False) -> AbstractContextManager[Changing]:
        return self._database.changing(wiped=wiped)

    def _ask(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._database.ask(question, values)


def _is_taken(people: Changing, table: str, public: str) -> bool:
    question = f"SELECT public FROM {table} WHERE public = ?"  # noqa: S608 our own names
    return bool(people.execute(question, (public,)).fetchall())


def has_ended(made: float, seen: float, now: float) -> bool:
    """Return whether a session made at `made` and last used at `seen` has ended by `now`."""
    return now - seen > IDLE or now - made > LONGEST


def hash_token(token: str, key: str = "") -> bytes:
    """Return the hash of a session's `token`, with the `key` of the operator if it is theirs."""
    # A token is random enough to need no slow hash.
    text = token.encode("utf-8", "replace")
    if key:
        return hmac.digest(key.encode("utf-8", "replace"), text, "sha256")
    return hashlib.sha256(text).digest()

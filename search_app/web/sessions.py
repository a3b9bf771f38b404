"""Sessions: a person's are kept in the store, the operator's in memory until the server ends."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading

from ..people_store import hash_token, over
from .access import Visitor
from .site import Site
from .tries import Turns

_MOST = 100  # sessions of operators; the oldest goes


class OperatorSessions:
    """Who has signed in with the operator's token, which another start may have changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: dict[bytes, tuple[float, float]] = {}  # hash -> made, last seen

    def begin(self, now: float) -> str:
        """Begin a session and return its token."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._used[hash_token(token)] = now, now
            while len(self._used) > _MOST:
                del self._used[next(iter(self._used))]
        return token

    def holds(self, token: str, now: float) -> bool:
        """Tell whether a token is of a session that has not ended, and note that it is used."""
        digest = hash_token(token)
        with self._lock:
            if digest not in self._used:
                return False
            made, seen = self._used.pop(digest)
            if over(made, seen, now):
                return False
            self._used[digest] = made, now  # the one not used for longest comes first
            return True

    def end(self, token: str) -> None:
        """End a session."""
        with self._lock:
            self._used.pop(hash_token(token), None)


def begin(site: Site, operators: OperatorSessions, code: str, turns: Turns) -> str | None:
    """Begin a session with a personal code or the operator's token; None if it is neither."""
    if site.admin_token and _same(code.strip(), site.admin_token):
        return operators.begin(site.clock())
    with turns.turn():  # the operator waits for nobody
        return site.store.sign_in(code, site.clock())


def whose(site: Site, operators: OperatorSessions, token: str) -> Visitor:
    """Return whose session a token is of."""
    if not token:
        return Visitor()
    if site.admin_token and operators.holds(token, site.clock()):
        return Visitor(admin=True)
    return Visitor(user=site.store.visitor_of(token, site.clock()) or "")


def end(site: Site, operators: OperatorSessions, token: str) -> None:
    """End a session, whosever it is."""
    operators.end(token)
    if token:
        site.store.sign_out(token)


def _same(one: str, other: str) -> bool:
    """Compare in a time that tells nothing, not even the length."""
    digests = [hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in (one, other)]
    return hmac.compare_digest(*digests)

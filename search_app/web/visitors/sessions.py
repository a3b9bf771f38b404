"""Sessions: those of people and the operator are in the store, a study leader's in memory."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading

from ...accounts.store import has_ended, hash_token
from ..site import Site
from .access import Visitor

_MOST = 100  # sessions of leaders; the least recently used is dropped first


class OperatorSessions:
    """Sessions of who leads a study, which one process serves."""

    # In memory only: the operator's token may be another when the server starts again.

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: dict[bytes, tuple[float, float]] = {}  # hash -> begun, last used

    def begin(self, now: float) -> str:
        """Begin a session at `now` and return its token."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._used[hash_token(token)] = now, now
            # A dict keeps its order, and `holds` puts a session that is used last.
            while len(self._used) > _MOST:
                del self._used[next(iter(self._used))]
        return token

    def holds(self, token: str, now: float) -> bool:
        """Return whether `token` has a session that lasts at `now`; note that it was used."""
        digest = hash_token(token)
        with self._lock:
            if digest not in self._used:
                return False
            made, seen = self._used.pop(digest)
            if has_ended(made, seen, now):
                return False
            self._used[digest] = made, now
            return True

    def end(self, token: str) -> None:
        """End the session of `token`."""
        with self._lock:
            self._used.pop(hash_token(token), None)


def begin(site: Site, code: str) -> str | None:
    """Begin a session with `code` and return its token; None if the code is not valid."""
    if site.admin_token and same(code.strip(), site.admin_token):
        return site.store.sign_in_operator(site.admin_token, site.clock())
    return site.store.sign_in(code, site.clock())


def whose(site: Site, token: str) -> Visitor:
    """Return the visitor at `site` whose session has `token`."""
    user = site.store.visitor_of(token, site.clock(), site.admin_token) if token else None
    return Visitor() if user is None else Visitor(user, admin=not user)


def end(site: Site, token: str) -> None:
    """End the session of `token` at `site`, a person's or the operator's."""
    if token:
        site.store.sign_out(token, site.admin_token)


def same(one: str, other: str) -> bool:
    """Return whether `one` equals `other`, in a time that does not depend on them."""
    # Digests have one length, so not even the lengths show in the time.
    digests = [hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in (one, other)]
    return hmac.compare_digest(*digests)

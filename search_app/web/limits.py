"""How often a client may ask: a bucket of tokens for each, filled again as time goes by."""

from __future__ import annotations

import hashlib
import ipaddress
import math
import threading
from collections import OrderedDict
from typing import NamedTuple

from flask import Flask, Response, current_app, request
from werkzeug.exceptions import TooManyRequests

from .access import visitor
from .site import DEMO, PRIVATE, Site, generation, this_site

OPEN = "VEILSEARCH_OPEN"  # whether others than this machine can reach the server
BURST = 4  # seconds' worth of requests that may come at once
CLIENTS = 10_000  # of whom more have asked, the one who asked longest ago goes
_KEY = "veilsearch.limits"
_NETWORK = 64  # bits of an IPv6 address that tell one household from the next
_FREE = "assets.file"


class Limits:
    """Buckets of tokens by client; any thread may call."""

    def __init__(self, rate: float, clients: int = CLIENTS):
        self._rate = rate
        self._full = max(BURST * rate, 1.0)
        self._clients = clients
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, when

    def take(self, client: str, now: float) -> float:
        """Take a token and return 0, or return in how many seconds there will be one."""
        with self._lock:
            tokens, before = self._buckets.pop(client, (self._full, now))
            tokens = min(self._full, tokens + self._rate * max(now - before, 0.0))
            wait = 0.0 if tokens >= 1 else (1 - tokens) / self._rate
            self._buckets[client] = tokens if wait else tokens - 1, now
            if len(self._buckets) > self._clients:
                self._buckets.popitem(last=False)
        return wait

    def forget(self, client: str) -> None:
        """Keep nothing of a client."""
        with self._lock:
            self._buckets.pop(client, None)


class Sessions:
    """Who came with which cookies: known before the request is looked at any further."""

    def __init__(self, clients: int = CLIENTS):
        self._clients = clients
        self._lock = threading.Lock()
        self._names: OrderedDict[bytes, str] = OrderedDict()

    def name(self, cookies: str) -> str:
        """Return who came with these cookies last."""
        with self._lock:
            return self._names.get(_digest(cookies), "")

    def learn(self, cookies: str, name: str) -> None:
        """Keep who has come with these cookies; nobody, if the session is over."""
        with self._lock:
            self._names.pop(_digest(cookies), None)
            if name:
                self._names[_digest(cookies)] = name
            if len(self._names) > self._clients:
                self._names.popitem(last=False)

    def forget(self, name: str) -> None:
        """Keep no cookies with which this one came."""
        with self._lock:
            for cookies in [cookies for cookies, of in self._names.items() if of == name]:
                del self._names[cookies]


def _digest(cookies: str) -> bytes:
    return hashlib.sha256(cookies.encode("utf-8", "surrogateescape")).digest()


class _Memory(NamedTuple):
    limits: Limits
    sessions: Sessions


def limit(app: Flask, rate: float) -> None:
    """Refuse clients that ask too often, before anything is done; a rate of 0 refuses nobody."""
    app.config.setdefault(OPEN, False)
    if rate:
        app.extensions[_KEY] = _Memory(Limits(rate), Sessions())
        app.before_request(_refuse_haste)
        app.after_request(_learn_session)


def _refuse_haste() -> None:
    site = this_site()
    if request.endpoint == _FREE or not _is_limited(site):
        return
    memory: _Memory = current_app.extensions[_KEY]
    wait = memory.limits.take(_client(memory.sessions), site.clock())
    if wait:
        seconds = math.ceil(wait)
        raise TooManyRequests(
            f"Too many requests came from you; wait {seconds} s and try again.",
            retry_after=seconds,
        )


def _is_limited(site: Site) -> bool:
    """Tell whether strangers can ask; a demonstration on one's own machine is one's own."""
    if site.access == PRIVATE:
        return True
    return bool(site.access != DEMO and current_app.config[OPEN])


def _client(sessions: Sessions) -> str:
    """Name who asks: the person or operator who has signed in, else the address.

    A session counts from its second request on: by then it is known to be one.
    """
    cookies = request.headers.get("Cookie", "")
    known = sessions.name(cookies) if cookies else ""
    return known or f"address {network(request.remote_addr)}"


def _learn_session(response: Response) -> Response:
    known, cookies = visitor(), request.headers.get("Cookie", "")
    if generation() != this_site().transcripts.generation:
        return response  # who it was may have been forgotten meanwhile
    if cookies and response.status_code != 429:  # which looked at nothing
        name = "operator" if known.admin else _person(known.user) if known.user else ""
        current_app.extensions[_KEY].sessions.learn(cookies, name)
    return response


def forget(user: str) -> None:
    """Keep nothing of a person."""
    memory: _Memory | None = current_app.extensions.get(_KEY)
    if memory:
        memory.sessions.forget(_person(user))
        memory.limits.forget(_person(user))


def _person(user: str) -> str:
    return f"person {user}"


def network(address: str | None) -> str:
    """Return an address, or of IPv6 the part that one household shares."""
    try:
        read = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return ""  # a proxy that tells no address: all are one client
    if isinstance(read, ipaddress.IPv4Address):
        return str(read)
    if read.ipv4_mapped:  # of IPv4 too
        return str(read.ipv4_mapped)
    return str(ipaddress.ip_network((read, _NETWORK), strict=False))

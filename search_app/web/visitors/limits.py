"""Limits on requests: each client has a bucket of tokens, which fills again over time."""

from __future__ import annotations

import ipaddress
import math
import threading
from collections import OrderedDict
from collections.abc import Set
from functools import partial

from flask import Flask, current_app, request
from werkzeug.exceptions import TooManyRequests

from ...settings import DEMO, PRIVATE
from ..site import KEY, Site, this_site
from .access import visitor

OPEN = "VEILSEARCH_OPEN"  # whether others than this machine can reach the server
BURST = 4  # seconds' worth of requests that may come at once
CLIENTS = 10_000  # in memory; the one who asked longest ago is dropped first
BUCKETS = "veilsearch.limits"
_PERSON = "person "  # before the id of a client who signed in
_NETWORK = 64  # bits of an IPv6 address that one household shares
# These cost no token: a flood from an address must not keep others there from signing in.
_FREE = {"assets.file", "sign_in.show", "sign_in.enter"}


class Buckets:
    """Buckets of tokens by client; safe for many threads."""

    def __init__(self, rate: float, clients: int = CLIENTS):
        self._rate = rate
        self._full = max(BURST * rate, 1.0)
        self._clients = clients
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, last used

    def take(self, client: str, now: float) -> float:
        """Take a token of `client` at `now` and return 0, or the seconds until it has one."""
        with self._lock:
            tokens, before = self._buckets.pop(client, (self._full, now))
            # The clock may be set back.
            tokens = min(self._full, tokens + self._rate * max(now - before, 0.0))
            wait = 0.0 if tokens >= 1 else (1 - tokens) / self._rate
            self._buckets[client] = tokens if wait else tokens - 1, now
            if len(self._buckets) > self._clients:
                self._buckets.popitem(last=False)
        return wait

    def forget(self, client: str) -> None:
        """Keep nothing about `client`."""
        with self._lock:
            self._buckets.pop(client, None)

    def keep(self, people: Set[str]) -> None:
        """Keep nothing about anybody who is none of `people`."""
        with self._lock:
            for client in [*self._buckets]:
                if client.startswith(_PERSON) and client.removeprefix(_PERSON) not in people:
                    del self._buckets[client]


def limit(app: Flask, rate: float) -> None:
    """Make `app` refuse clients with more than `rate` requests a second; 0 refuses nobody."""
    app.config.setdefault(OPEN, False)
    app.extensions[KEY].switched.append(partial(_follow, app))
    if rate:
        app.extensions[BUCKETS] = Buckets(rate)
        app.before_request(_refuse_haste)


def _follow(app: Flask, site: Site) -> None:
    """Let the buckets of `app`, and the log, keep nothing about people unknown to `site`."""
    people = {*site.people, *(user for user, _ in site.store.codes())}
    if buckets := app.extensions.get(BUCKETS):
        buckets.keep(people)
    site.log.repeats.keep(people)


def _refuse_haste() -> None:
    site = this_site()
    strangers = site.access == PRIVATE or (site.access != DEMO and current_app.config[OPEN])
    # People on their own machine are not limited.
    if request.endpoint in _FREE or not strangers:
        return
    # A person or operator who has signed in is one client; otherwise the address is.
    known, address = visitor(), f"address {network(request.remote_addr)}"
    client = "operator" if known.admin else _person(known.user) if known.user else address
    refuse_haste(current_app.extensions[BUCKETS], client, site.clock())


def refuse_haste(buckets: Buckets, client: str, now: float) -> None:
    """Take a token of `client` at `now` from `buckets`; refuse the request if there is none."""
    if wait := buckets.take(client, now):
        seconds = math.ceil(wait)
        message = f"You sent too many requests; wait {seconds} s and try again."
        raise TooManyRequests(message, retry_after=seconds)


def forget(user: str) -> None:
    """Keep nothing about `user`."""
    if buckets := current_app.extensions.get(BUCKETS):
        buckets.forget(_person(user))


def _person(user: str) -> str:
    return f"{_PERSON}{user}"


def network(address: str | None) -> str:
    """Return `address`; of an IPv6 address, the part that one household shares."""
    try:
        read = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        # Behind a proxy that passes no address, all visitors are one client.
        return ""
    if isinstance(read, ipaddress.IPv4Address):
        return str(read)
    if read.ipv4_mapped:
        return str(read.ipv4_mapped)
    return str(ipaddress.ip_network((read, _NETWORK), strict=False))

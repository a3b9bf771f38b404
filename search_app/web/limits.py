"""How often a client may ask: a bucket of tokens for each, filled again as time goes by."""

from __future__ import annotations

import ipaddress
import math
import threading
from collections import OrderedDict

from flask import Flask, current_app, request
from werkzeug.exceptions import TooManyRequests

from .access import visitor
from .site import DEMO, PRIVATE, Site, this_site

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


def limit(app: Flask, rate: float) -> None:
    """Refuse clients that ask too often; a rate of 0 refuses nobody."""
    app.config.setdefault(OPEN, False)
    if rate:
        app.extensions[_KEY] = Limits(rate)
        app.before_request(_refuse_haste)


def _refuse_haste() -> None:
    site = this_site()
    if request.endpoint == _FREE or not _is_limited(site):
        return
    wait = current_app.extensions[_KEY].take(_client(), site.clock())
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


def _client() -> str:
    """Name who asks: the person or operator who has signed in, else the address."""
    known = visitor()
    if known.admin:
        return "admin"
    return f"person {known.user}" if known.user else f"address {network(request.remote_addr)}"


def network(address: str | None) -> str:
    """Return an address, or of IPv6 the part that one household shares."""
    try:
        read = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return ""  # a proxy that tells no address: all are one client
    if isinstance(read, ipaddress.IPv4Address):
        return str(read)
    if read.ipv4_mapped:
        return str(read.ipv4_mapped)
    return str(ipaddress.ip_network((read, _NETWORK), strict=False))

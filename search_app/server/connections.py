"""Limits on connections [I/O]: none is held for ever, and nobody takes all of them.

Where there are too many, the one that has waited longest makes room, so nobody is kept out by idle
ones. A browser opens a closed connection again without a word.
"""

from __future__ import annotations

import math
import resource
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from waitress.channel import HTTPChannel

from ..web.visitors.limits import network

MOST = 1000  # connections at once
SHARE = 0.4  # of them for one address: a class of 40 browsers with 6 each has room behind one
PATIENCE = 60.0  # seconds for the first byte of a request, and then for the rest
_OTHERS = 256  # files that are no connections: the index, logs, long answers


def allowed_connections() -> int:
    """Return MOST, or fewer if the system allows fewer files; raise this process's own limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most, wanted = MOST, MOST + _OTHERS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        most = max(soft - _OTHERS, 1)
    return most


class LimitedChannel(HTTPChannel):  # type: ignore[misc]
    """A connection that knows since when it has waited for its client."""

    def __init__(self, server: Any, *rest: Any, **more: Any) -> None:
        super().__init__(server, *rest, **more)
        self.client = network(self.addr[0])
        self.since = time.time()  # waitress counts by this clock, too
        self._begun = False  # whether a byte came since
        _make_room(server, self)

    def received(self, data: bytes) -> bool:
        """Take `data` and return whether it was looked at; the first byte starts the time."""
        if not self._begun:
            self._begun, self.since = True, time.time()
        return bool(super().received(data))

    def service(self) -> None:
        """Answer a request; meanwhile nobody waits for the client."""
        # The loop's thread must not see the time before the answer once the request is popped.
        self.since = math.inf
        super().service()
        self._begun, self.since = False, time.time()


def close_overdue(channels: Iterable[LimitedChannel]) -> None:
    """Close those of `channels` whose client let the server wait for longer than PATIENCE."""
    now = time.time()
    for channel in list(channels):
        # While an answer is being sent, each byte that the client takes counts.
        taken = channel.last_activity if channel.total_outbufs_len else 0.0
        if not channel.requests and now - max(taken, channel.since) > PATIENCE:
            channel.handle_close()


def _make_room(server: Any, newest: LimitedChannel) -> None:
    """If `server` has too many connections with `newest`, close the one that waited longest."""
    channels = list(server.active_channels.values())
    counted = Counter(channel.client for channel in channels)
    client, many = newest.client, server.most
    if len(channels) > many:
        client = max(counted, key=lambda name: counted[name])
    # All visitors come through a proxy from its address.
    elif server.proxied or counted[client] <= SHARE * many:
        return
    waiting = [other for other in channels if other.client == client and not other.requests]
    # The newest goes only if all others are being answered.
    waiting = [other for other in waiting if other is not newest and other.since < math.inf]
    min(waiting, key=lambda other: other.since, default=newest).handle_close()

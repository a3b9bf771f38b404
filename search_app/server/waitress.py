"""The web server [I/O]: waitress; on a signal it ends after answering what was asked before."""

from __future__ import annotations

import ipaddress
import json
import logging
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import waitress
from flask import Flask
from waitress import wasyncore
from waitress.parser import HTTPRequestParser
from waitress.proxy_headers import proxy_headers_middleware
from waitress.task import ErrorTask

from ..accounts.admission import is_loopback
from ..errors import UsageError
from ..web.faults import API, fault_record, sentence_of
from ..web.headers import HOSTS, HTTPS, LARGEST_BODY, headers
from ..web.visitors.limits import OPEN
from .connections import LimitedChannel, allowed_connections, close_overdue

THREADS = 4  # eight were measured: a quarter fewer pages a second
GRACE = 10  # seconds for answering the last requests when the server ends
_TURN = 1  # seconds that one turn of the server's loop waits for events
_YIELD = 0.005  # seconds in which other workers may take the next connection
_FORWARDED = {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"}
_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}  # documentation's


class _Refusal(ErrorTask):  # type: ignore[misc]
    """A refusal by waitress itself, with the headers of every other answer."""

    def execute(self) -> None:
        """Answer; under /api/ in JSON, like every fault there."""
        own = {**headers(self.channel.server.https), "Cache-Control": "no-store"}
        self.response_headers.extend(own.items())
        if not (getattr(self.request, "path", "") or "").startswith(API):
            super().execute()
            return
        status = self.request.error.code
        body = json.dumps(fault_record(status, sentence_of(status))).encode()
        self.status = f"{status} {self.request.error.reason}"
        self.response_headers.append(("Content-Type", "application/json"))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class _Request(HTTPRequestParser):  # type: ignore[misc]
    def received(self, data: bytes) -> int:
        """Take `data` and return how many bytes were used."""
        # Waitress would answer "100 Continue" to a request that is complete, then wait for a body.
        taken: int = super().received(data)
        if self.completed:
            self.expect_continue = False
        return taken


class _Channel(LimitedChannel):
    error_task_class = _Refusal
    parser_class = _Request

    def __init__(self, server: Any, *rest: Any, **more: Any) -> None:
        super().__init__(server, *rest, **more)
        if server.share:
            server.yields = time.monotonic() + _YIELD


class WorkerShare(NamedTuple):
    """What the worker `number` of a server shares with the others."""

    bound: socket.socket
    loads: Any  # how many connections each worker has
    number: int

    def is_ahead(self, own: int) -> bool:
        """Note that this worker has `own` connections; return whether another one has fewer."""
        self.loads[self.number - 1] = own
        return bool(own > min(self.loads))


def serve(
    app: Flask,
    host: str,
    port: int,
    ready: Callable[[str], object] = lambda _address: None,
    *,
    proxy: str = "",
    share: WorkerShare | None = None,
) -> None:
    """Serve `app` on `host` and `port` until a signal; call `ready` with the address first.

    As a worker it has a `share` of a server, which has the port already.
    """
    host = host.strip("[]").lower()
    app.config[HOSTS] = app.config[HOSTS] | {host}
    # It would warn of every request that has to wait for a thread.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    bound = share.bound if share else bind(host, port)
    app.config[OPEN] = bool(proxy) or not is_loopback(bound.getsockname()[0])
    if _is_wildcard(bound.getsockname()[0]):
        host = socket.gethostname().lower()
        app.config[HOSTS] = app.config[HOSTS] | {host} | _own_addresses(host)
    most = max(allowed_connections() // (len(share.loads) if share else 1), 1)
    server = waitress.create_server(
        behind(app, proxy, app.config[HTTPS]),
        sockets=[bound],
        threads=THREADS,
        ident=None,
        asyncore_use_poll=True,  # `select` takes no file above 1,023
        connection_limit=most + 100,  # never reached: the channels make room
        max_request_body_size=LARGEST_BODY,
        clear_untrusted_proxy_headers=False,  # `behind` has done so
    )
    server.channel_class, server.https = _Channel, app.config[HTTPS]
    server.most, server.proxied = most, bool(proxy)
    server.share, server.yields = share, 0.0
    if share:
        server.readable = partial(_may_accept, server, server.readable)
    with _ended_by(server, hurries=share is None) as ended:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{bound.getsockname()[1]}/")
        while not ended.is_set():
            _turn(server, _TURN)
        # Take the connections that wait, close the port, then answer all requests that have come;
        # waitress alone would drop them.
        until = time.monotonic() + GRACE
        while _waiting([server]) and time.monotonic() < until:
            _turn(server, 0)
        wasyncore.dispatcher.close(server)
        while time.monotonic() < until:
            channels = list(server.active_channels.values())
            unsent = any(channel.requests or channel.total_outbufs_len for channel in channels)
            if not (unsent or _waiting(channels)):
                break
            _turn(server, 0.05)
        server.task_dispatcher.shutdown(timeout=max(until - time.monotonic(), 0))
    server.close()


def behind(app: Flask, proxy: str, https: bool) -> Any:
    """Return `app` as it answers behind `proxy`, with the headers that `https` asks for."""
    # X-Forwarded headers of anybody but the proxy could be forged, so they are ignored.
    believed = {"trusted_proxy": proxy, "trusted_proxy_headers": _FORWARDED} if proxy else {}
    return _with_headers(proxy_headers_middleware(app, **believed), https)


def _with_headers(application: Any, https: bool) -> Any:
    """Add headers to answers of waitress's own: to forwarding headers that it can't read."""

    def answer(environ: Any, start_response: Any) -> Any:
        def start(status: str, own: list[tuple[str, str]], *fault: Any) -> Any:
            if "Content-Security-Policy" not in dict(own):
                own = [*own, *headers(https).items(), ("Cache-Control", "no-store")]
            return start_response(status, own, *fault)

        return application(environ, start)

    return answer


def _may_accept(server: Any, readable: Callable[[], bool]) -> bool:
    """Return whether `server`, a worker, takes a connection now if it is `readable`.

    After each, who has more than another one waits a moment: else one that is awake takes all.
    """
    ahead = server.share.is_ahead(len(server.active_channels))
    return readable() and not (ahead and time.monotonic() < server.yields)


def _turn(server: Any, seconds: float) -> None:
    if 0 < (rest := server.yields - time.monotonic()) < seconds:
        seconds = rest
    close_overdue(server.active_channels.values())
    server.asyncore.loop(timeout=seconds, map=server._map, use_poll=True, count=1)


def _waiting(channels: Sequence[Any]) -> bool:
    poller = select.poll()
    for channel in channels:
        if channel.socket.fileno() >= 0:  # open
            poller.register(channel.socket, select.POLLIN)
    return bool(poller.poll(0))


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens on `host` and `port`."""
    if not 0 <= port <= 65535:
        raise UsageError(f"--port {port} must be from 0 to 65535")
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # The wildcard of IPv6 takes IPv4 connections, too, where the system can do that.
        both = _is_wildcard(str(address[0])) and family == socket.AF_INET6
        both = both and socket.has_dualstack_ipv6()
        return socket.create_server(address[:2], family=family, dualstack_ipv6=both)
    except (OSError, UnicodeError) as fault:
        reason = (getattr(fault, "strerror", None) or "no such host").partition(" (")[0]
        raise UsageError(
            f"can't serve on {host}, port {port}: {reason}; name others with --host and --port"
        ) from fault


def _is_wildcard(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_unspecified


def _own_addresses(name: str) -> set[str]:
    """Return the addresses of this machine: those of its `name`, and those it reaches others by."""
    addresses: set[str] = set()
    with suppress(OSError, UnicodeError):
        addresses |= {str(address[0]) for *_, address in socket.getaddrinfo(name, None)}
    for family, elsewhere in _ELSEWHERE.items():
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            # To connect a datagram socket chooses an address of ours and sends nothing.
            probe.connect((elsewhere, 9))
            addresses.add(str(probe.getsockname()[0]))
    return {address.partition("%")[0] for address in addresses}


@contextmanager
def _ended_by(server: Any, *, hurries: bool) -> Iterator[threading.Event]:
    """Let a signal set the event that is given and wake `server`; if it `hurries`, a second ends.

    A worker gets one that was sent to all, and again what its parent got of it.
    """
    ended = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        if ended.is_set() and hurries:
            raise KeyboardInterrupt  # ends without answering the rest
        ended.set()
        server.pull_trigger()

    # Python lets only the main thread set handlers; tests serve from others.
    if threading.current_thread() is not threading.main_thread():
        yield ended
        return
    before: dict[signal.Signals, Callable[..., Any] | int | None] = {
        number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

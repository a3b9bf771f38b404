"""The web server: waitress, ended by SIGTERM or SIGINT once it has answered what was asked."""

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
from types import FrameType
from typing import Any

import waitress
from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.task import ErrorTask

from ..admission import is_loopback
from ..errors import UsageError
from .faults import API, fault_record, sentence_of
from .headers import HOSTS, HTTPS, LARGEST_BODY, headers
from .limits import OPEN

THREADS = 4  # eight stood in each other's way: a quarter fewer pages a second
GRACE = 10  # seconds in which requests are still answered when the server is to end
_TURN = 30  # seconds a turn of the server's loop waits for something to happen
_FORWARDED = {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"}
_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}  # for documentation


class _Refusal(ErrorTask):  # type: ignore[misc]
    """What waitress answers itself, with the headers of every other answer."""

    def execute(self) -> None:
        """Answer."""
        own = {**headers(self.channel.server.https), "Cache-Control": "no-store"}
        self.response_headers.extend(own.items())
        if (getattr(self.request, "path", "") or "").startswith(API):
            self._execute_for_machines()
        else:
            super().execute()

    def _execute_for_machines(self) -> None:
        """Answer as every fault under /api/ is told: in JSON."""
        status = self.request.error.code
        body = json.dumps(fault_record(status, sentence_of(status))).encode()
        self.status = f"{status} {self.request.error.reason}"
        self.response_headers.append(("Content-Type", "application/json"))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class _Request(HTTPRequestParser):  # type: ignore[misc]
    def received(self, data: bytes) -> int:
        """Take data; a whole request needs no "go on", after which waitress waits for a body."""
        taken: int = super().received(data)
        if self.completed:
            self.expect_continue = False
        return taken


class _Channel(HTTPChannel):  # type: ignore[misc]
    error_task_class = _Refusal
    parser_class = _Request


def serve(
    app: Flask,
    host: str,
    port: int,
    ready: Callable[[str], object] = lambda _address: None,
    *,
    proxy: str = "",
) -> None:
    """Answer requests until the process is told to end; tell the address when ready."""
    host = host.strip("[]").lower()
    app.config[HOSTS] = app.config[HOSTS] | {host}
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a short queue is no news
    bound = _bind(host, port)
    app.config[OPEN] = bool(proxy) or not is_loopback(bound.getsockname()[0])
    if _is_wildcard(bound.getsockname()[0]):
        host = socket.gethostname().lower()
        app.config[HOSTS] = app.config[HOSTS] | {host} | _own_addresses(host)
    server = waitress.create_server(
        app,
        sockets=[bound],
        threads=THREADS,
        ident=None,
        max_request_body_size=LARGEST_BODY,
        **_believing(proxy),
    )
    server.channel_class, server.https = _Channel, app.config[HTTPS]
    server.application = _with_headers(server.application, server.https)
    with _ended_by(server, signal.SIGTERM, signal.SIGINT) as ended:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{bound.getsockname()[1]}/")
        while not ended.is_set():
            _turn(server, _TURN)
        _finish(server)
    server.close()


def _believing(proxy: str) -> dict[str, Any]:
    """Return waitress' settings for a proxy in front; nobody else's X-Forwarded is believed."""
    if not proxy:
        return {}
    return {"trusted_proxy": proxy, "trusted_proxy_headers": _FORWARDED}


def _with_headers(application: Any, https: bool) -> Any:
    """Add the headers to what waitress answers in our place: a proxy's words it can't read."""

    def answer(environ: Any, start_response: Any) -> Any:
        def start(status: str, own: list[tuple[str, str]], *fault: Any) -> Any:
            if "Content-Security-Policy" not in dict(own):
                own = [*own, *headers(https).items(), ("Cache-Control", "no-store")]
            return start_response(status, own, *fault)

        return application(environ, start)

    return answer


def _turn(server: Any, seconds: float) -> None:
    """Let waitress read, write and accept once."""
    poll = server.adj.asyncore_use_poll
    server.asyncore.loop(timeout=seconds, map=server._map, use_poll=poll, count=1)


def _finish(server: Any) -> None:
    """Let go of the port, then answer whoever has already asked; waitress would hang up."""
    until = time.monotonic() + GRACE
    while _waiting([server]) and time.monotonic() < until:
        _turn(server, 0)
    wasyncore.dispatcher.close(server)
    while _busy(server) and time.monotonic() < until:
        _turn(server, 0.05)
    server.task_dispatcher.shutdown(timeout=max(until - time.monotonic(), 0))


def _busy(server: Any) -> bool:
    channels = list(server.active_channels.values())
    unsent = any(channel.requests or channel.total_outbufs_len for channel in channels)
    return unsent or _waiting(channels)


def _waiting(channels: Sequence[Any]) -> bool:
    """Tell whether something has come in that nobody has read."""
    sockets = [each.socket for each in channels if each.socket.fileno() >= 0]  # those not closed
    return bool(select.select(sockets, [], [], 0)[0])


def _bind(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise UsageError(f"--port {port} must be from 0 to 65535")
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
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
    """Return the addresses of this machine's name, and those by which it would reach others."""
    found: set[str] = set()
    with suppress(OSError, UnicodeError):
        found |= {str(address[0]) for *_, address in socket.getaddrinfo(name, None)}
    for family, elsewhere in _ELSEWHERE.items():
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))  # chooses an address and sends nothing
            found.add(str(probe.getsockname()[0]))
    return {address.partition("%")[0] for address in found}


@contextmanager
def _ended_by(server: Any, *signals: signal.Signals) -> Iterator[threading.Event]:
    """Let signals set an event; other threads than the main one can't take signals."""
    ended = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        if ended.is_set():  # asked twice: don't wait for anybody
            raise KeyboardInterrupt
        ended.set()
        server.pull_trigger()

    if threading.current_thread() is not threading.main_thread():
        yield ended
        return
    before: dict[signal.Signals, Callable[..., Any] | int | None] = {
        number: signal.signal(number, end) for number in signals
    }
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

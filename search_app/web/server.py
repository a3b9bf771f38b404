"""The web server: waitress, ended by SIGTERM or SIGINT."""

from __future__ import annotations

import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import waitress
from flask import Flask
from waitress.channel import HTTPChannel
from waitress.task import ErrorTask

from ..errors import UsageError
from .headers import HEADERS, HOSTS

THREADS = 8
_LARGEST_BODY = 1 << 16  # no page takes a body
_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}  # for documentation


class _Refusal(ErrorTask):  # type: ignore[misc]
    """What waitress answers itself, with the headers of every other answer."""

    def execute(self) -> None:
        """Answer."""
        self.response_headers.extend({**HEADERS, "Cache-Control": "no-store"}.items())
        super().execute()


class _Channel(HTTPChannel):  # type: ignore[misc]
    error_task_class = _Refusal


def serve(
    app: Flask, host: str, port: int, ready: Callable[[str], object] = lambda _address: None
) -> None:
    """Answer requests until the process is told to end; tell the address when ready."""
    host = host.strip("[]").lower()
    app.config[HOSTS] = app.config[HOSTS] | {host}
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a short queue is no news
    bound = _bind(host, port)
    if _is_wildcard(bound.getsockname()[0]):
        host = socket.gethostname().lower()
        app.config[HOSTS] = app.config[HOSTS] | {host} | _own_addresses(host)
    server = waitress.create_server(
        app,
        sockets=[bound],
        threads=THREADS,
        ident=None,
        max_request_body_size=_LARGEST_BODY,
    )
    server.channel_class = _Channel
    with _ended_by(signal.SIGTERM, signal.SIGINT):
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{bound.getsockname()[1]}/")
        server.run()
    server.close()


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
def _ended_by(*signals: signal.Signals) -> Iterator[None]:
    """Let signals end the server's loop; other threads than the main one can't take signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[signal.Signals, Callable[..., Any] | int | None] = {
        number: signal.signal(number, _end) for number in signals
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt

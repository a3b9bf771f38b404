"""The web server: waitress, ended by SIGTERM or SIGINT."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import waitress
from flask import Flask

from ..errors import UsageError
from .headers import HOSTS

THREADS = 8
_LARGEST_BODY = 1 << 16  # no page takes a body


def serve(
    app: Flask, host: str, port: int, ready: Callable[[str], object] = lambda _address: None
) -> None:
    """Answer requests until the process is told to end; tell the address when ready."""
    host = host.strip("[]").lower()
    app.config[HOSTS] = app.config[HOSTS] | {host}
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a short queue is no news
    bound = _bind(host, port)
    server = waitress.create_server(
        app,
        sockets=[bound],
        threads=THREADS,
        ident=None,
        max_request_body_size=_LARGEST_BODY,
    )
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
        return socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as fault:
        reason = (getattr(fault, "strerror", None) or "no such host").partition(" (")[0]
        raise UsageError(
            f"can't serve on {host}, port {port}: {reason}; name others with --host and --port"
        ) from fault


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

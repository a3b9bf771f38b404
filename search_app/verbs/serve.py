"""veilsearch serve: serve the web pages."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from .. import console
from ..settings import ACCESS, Settings, changed

if TYPE_CHECKING:
    from ..serving import Serving
    from ..web import Live

UNPROTECTED = (
    "Codes and searches can be read on their way: put a proxy with a certificate in front and set "
    "https = true in veilsearch.toml. See: veilsearch doctor --deploy"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_place(parser)
    add_admission(parser)


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add where to listen."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")


def add_admission(parser: argparse.ArgumentParser) -> None:
    """Add who may ask, and under which names."""
    parser.add_argument(
        "--mode",
        choices=ACCESS,
        help="demo: choose one of the invented people; private: people sign in; plain: nobody is "
        "known (default: demo if the people here are invented, else plain)",
    )
    parser.add_argument(
        "--trust-host",
        metavar="NAME",
        action="append",
        default=[],
        help="answer under this host name too; may be given several times",
    )


def with_admission(settings: Settings, arguments: argparse.Namespace) -> Settings:
    """Return the settings with what the arguments say of who may ask."""
    hosts = (*settings.hosts, *(name.lower() for name in arguments.trust_host))
    return changed(settings, access=arguments.mode, hosts=hosts)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Open the workspace and serve it until stopped."""
    from ..admission import PRIVATE, access_of, is_loopback, refuse_private
    from ..serving import Serving
    from ..web import Live

    settings, loopback = with_admission(settings, arguments), is_loopback(arguments.host)
    serving = Serving(settings, console.say, loopback=loopback)
    serving.workspace.check()
    invented = serving.workspace.truth() is not None
    if access_of(settings, invented=invented, loopback=loopback) == PRIVATE:
        refuse_private(settings, serving.workspace)
        if not (loopback or settings.https):
            console.say(UNPROTECTED)
    with _leaving_on_sigterm():
        serve_live(serving, Live(serving.open()), arguments)
    return 0


@contextmanager
def _leaving_on_sigterm() -> Iterator[None]:
    """Leave with exit 0 when told to before anything is served."""
    if threading.current_thread() is not threading.main_thread():
        yield  # other threads can't take signals
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def serve_live(serving: Serving, live: Live, arguments: argparse.Namespace) -> None:
    """Serve until stopped, follow what becomes current in the workspace, and say where."""
    from ..following import Follower
    from ..web import create_app
    from ..web.server import serve

    follower = Follower(live, serving.workspace, serving.open, console.say)
    serving.follow = follower.follow_now
    follower.start()
    try:
        serve(
            create_app(live),
            arguments.host,
            arguments.port,
            lambda address: console.say(f"Serving {address} (Ctrl+C stops)"),
            proxy=serving.settings.proxy,
        )
    finally:
        follower.stop()

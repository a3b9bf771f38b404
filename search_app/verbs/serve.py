"""veilsearch serve: serve the web pages."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from .. import console
from ..settings import PRIVATE, Settings
from .arguments import add_admission, add_place, with_admission

UNPROTECTED = (
    "Codes and searches can be read on the way: put a proxy with a certificate in front and set "
    "https = true in veilsearch.toml. See: veilsearch doctor --deploy"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    add_place(parser)
    add_admission(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve the workspace in `settings` as `arguments` say, until stopped; return 0."""
    from ..accounts.admission import access_of, is_loopback, refuse_private
    from ..server.following import serve_live
    from ..server.opening import Serving
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
        serve_live(serving, Live(serving.open()), arguments.host, arguments.port)
    return 0


@contextmanager
def _leaving_on_sigterm() -> Iterator[None]:
    """End the process with exit 0 on a signal that comes before anything is served."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return

    def leave(_signal: int, _frame: FrameType | None) -> None:
        # An exception would be lost if it came within a callback from Java or while an object is
        # deleted, and the server would go on. Nothing is half-written: files are whole or absent.
        os._exit(0)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

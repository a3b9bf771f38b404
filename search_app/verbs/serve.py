"""veilsearch serve: serve the web pages."""

from __future__ import annotations

import argparse
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from .. import console
from ..settings import Settings
from ..workspace import Workspace

if TYPE_CHECKING:
    from anonymizer.model import Release

    from ..modes import Modes
    from ..precision_log import PrecisionLog
    from ..web import Live, Site
    from ..web.site import Example


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Open the workspace and serve it until stopped."""
    from ..web import Live

    workspace = Workspace(settings.workspace)
    workspace.check()
    with _leaving_on_sigterm():
        serve_live(Live(open_site(workspace, settings)), arguments)
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


def serve_live(live: Live, arguments: argparse.Namespace) -> None:
    """Serve until stopped, follow what becomes current in the workspace, and say where."""
    from ..following import Follower
    from ..web import create_app
    from ..web.server import serve

    settings, log = live.now.settings, live.now.log  # the first site itself must be free to go
    workspace = Workspace(settings.workspace)
    opening = partial(open_site, workspace, settings, log)
    follower = Follower(live, workspace, opening, console.say)
    follower.start()
    try:
        serve(
            create_app(live),
            arguments.host,
            arguments.port,
            lambda address: console.say(f"Serving {address} (Ctrl+C stops)"),
        )
    finally:
        follower.stop()


def open_site(workspace: Workspace, settings: Settings, log: PrecisionLog | None = None) -> Site:
    """Open all that the pages show, as it is at one moment, and have it warm."""
    from ..opening import as_of_one_moment

    log = log or _log(workspace)
    return as_of_one_moment(
        workspace, lambda: _open_once(workspace, settings, log), lambda site: site.close()
    )


def _open_once(workspace: Workspace, settings: Settings, log: PrecisionLog) -> Site:
    """Open all that the pages show; people are listed only if they are invented."""
    from ..opening import open_once, people_of, stamp
    from ..web.site import DEMO, PLAIN, Site

    state, truth = stamp(workspace), workspace.truth()
    modes, close = open_once(workspace, settings, personal=truth is not None)
    try:
        modes.engine.warm_up()
        build = workspace.find("index").name
        return Site(
            modes=modes,
            log=log,
            settings=settings,
            people=people_of(truth, modes) if truth else {},
            access=PLAIN if truth is None else DEMO,
            clock=time.time,
            corpus=build.rpartition(".")[0],
            build=build,
            release_name=_name(workspace, modes.release) if modes.release else "",
            facts=_facts(modes),
            examples=_examples(truth, modes.release) if truth and modes.release else (),
            state=state,
            close=close,
        )
    except BaseException:
        close()
        raise


def _name(workspace: Workspace, release: Release) -> str:
    """Name a release so that no two different ones share a line of the log."""
    from anonymizer.release import read_hash

    p = release.parameters.get("p")
    shown = release.method if p is None else f"{release.method} p={p}"
    return f"{shown} {read_hash(workspace.find('release'))[:8]}"


def _log(workspace: Workspace) -> PrecisionLog:
    """Open the log; where that fails, serve all the same and keep it in memory."""
    from ..errors import UsageError
    from ..precision_log import PrecisionLog

    try:
        return PrecisionLog(workspace.log)
    except UsageError as fault:
        console.say(f"{fault}. Until then average precision is kept in memory only.")
        return PrecisionLog(None)


def _facts(modes: Modes) -> dict[str, Any]:
    if modes.release is None:
        return {}
    return {**modes.release.facts, "p": modes.release.parameters.get("p")}


def _examples(truth: dict[str, Any], release: Release) -> tuple[Example, ...]:
    from ..demonstration import QUERY, pair
    from ..web.site import Example

    return tuple(
        Example(user, QUERY, f"{QUERY} as {truth['users'][user]['name']} ({interest})")
        for interest, user in pair(truth, release).items()
    )

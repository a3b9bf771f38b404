"""veilsearch serve: serve the web pages."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from .. import console
from ..settings import Settings
from ..workspace import Workspace

if TYPE_CHECKING:
    from anonymizer.model import Release

    from ..modes import Modes
    from ..precision_log import PrecisionLog
    from ..web import Site
    from ..web.site import Example


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Open the workspace and serve it until stopped."""
    serve_site(open_site(Workspace(settings.workspace), settings), arguments)
    return 0


def serve_site(site: Site, arguments: argparse.Namespace) -> None:
    """Serve until stopped, and say where."""
    from ..web import create_app
    from ..web.server import serve

    site.modes.engine.warm_up()
    serve(
        create_app(site),
        arguments.host,
        arguments.port,
        lambda address: console.say(f"Serving {address} (Ctrl+C stops)"),
    )


def open_site(workspace: Workspace, settings: Settings) -> Site:
    """Open all that the pages show; people are listed only if they are invented."""
    from ..opening import open_modes, people_of
    from ..web import Site

    truth = workspace.truth()
    modes = open_modes(workspace, settings, personal=truth is not None)
    people = people_of(truth, modes) if truth else {}
    return Site(
        modes=modes,
        log=_log(workspace),
        settings=settings,
        people=people,
        clock=time.time,
        corpus=workspace.find("index").name.rpartition(".")[0],
        release_name=_name(workspace, modes.release) if modes.release else "",
        facts=_facts(modes),
        examples=_examples(truth, modes.release) if truth and modes.release else (),
    )


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

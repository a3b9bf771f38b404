"""veilsearch demo: build the embedded demo and serve it."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .. import console
from ..errors import UsageError
from ..settings import Settings, load_settings
from ..workspace import Workspace

if TYPE_CHECKING:
    from ..web import Site


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("--no-serve", action="store_true", help="build, and stop there")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Build what is missing, say what is there, and serve it."""
    from anonymizer.model import AnonymizerError
    from index.model import SearchError

    from .. import demonstration
    from ..web import Live
    from .serve import open_site, serve_live

    workspace = Workspace(settings.workspace)
    demonstration.refuse_other_data(workspace)
    if demonstration.is_built(workspace):
        console.say(f"The demo is built already: {workspace.root}")
    else:
        _build(workspace, settings)
    try:
        live = Live(open_site(workspace, settings))
    except (UsageError, AnonymizerError, SearchError) as fault:
        console.say(f"The demo is damaged ({fault})")
        _build(workspace, settings)
        live = Live(open_site(workspace, settings))
    _show_examples(live.now, settings)
    if arguments.no_serve:
        return 0
    serve_live(live, arguments)
    return 0


def _build(workspace: Workspace, settings: Settings) -> None:
    """Build the demo and say how it goes."""
    from .. import demonstration

    began = time.monotonic()
    console.say(f"Building the demo in {workspace.root} ...")
    with workspace.writing("demo"):
        for line in demonstration.build(workspace, settings):
            console.say(f"  {time.monotonic() - began:5.1f} s  {line}")


def _show_examples(site: Site, settings: Settings) -> None:
    console.show(f"{len(site.people)} invented people. Try:")
    for example in site.examples:
        console.show(
            f"  {_command(settings)} search {example.query} --user {example.user} --mode group"
            f"   # {site.people[example.user]}"
        )


def _command(settings: Settings) -> str:
    """Return how to call veilsearch from here on this workspace, as one can paste it."""
    if shutil.which("veilsearch"):
        words = ["veilsearch"]
    else:
        words = [str(Path(os.path.relpath(sys.executable)).parent / "veilsearch")]
    if settings.workspace != load_settings().workspace:
        words += ["--workspace", str(settings.workspace)]
    return shlex.join(words)

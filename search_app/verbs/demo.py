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
from ..settings import Settings, changed, load_settings
from ..workspace import Workspace
from .serve import add_place, serve_live

if TYPE_CHECKING:
    from ..web import Site


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("--no-serve", action="store_true", help="build, and stop there")
    add_place(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Build what is missing, say what is there, and serve it."""
    from anonymizer.model import AnonymizerError
    from index.model import SearchError

    from .. import demonstration
    from ..admission import DEMO, access_of, is_loopback
    from ..serving import Serving
    from ..web import Live

    settings, loopback = changed(settings, access=DEMO), is_loopback(arguments.host)
    access_of(settings, invented=True, loopback=loopback)  # refuses strangers before it builds
    serving = Serving(settings, console.say)
    workspace = serving.workspace
    demonstration.refuse_other_data(workspace)
    if demonstration.is_built(workspace):
        console.say(f"The demo is built already: {workspace.root}")
    else:
        _build(workspace, settings)
    try:
        live = Live(serving.open())
    except (UsageError, AnonymizerError, SearchError) as fault:
        console.say(f"The demo is damaged ({fault})")
        _build(workspace, settings)
        live = Live(serving.open())
    _show_examples(live.now, settings)
    if arguments.no_serve:
        return 0
    serve_live(serving, live, arguments)
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

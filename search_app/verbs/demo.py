"""veilsearch demo: build the embedded demo and serve it."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import time
from pathlib import Path

from .. import console
from ..errors import UsageError
from ..settings import DEMO, Settings, changed, load_settings
from ..workspace.folder import Workspace
from .arguments import add_place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument("--no-serve", action="store_true", help="build only")
    add_place(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Build what is missing, say what there is, serve it as `arguments` say, and return 0."""
    from anonymizer.errors import AnonymizerError
    from index.model import SearchError

    from ..accounts.admission import access_of, is_loopback
    from ..lesson.building import Building
    from ..server.following import serve_live
    from ..server.opening import Serving
    from ..tasks import demo as demonstration
    from ..web import Live

    settings, loopback = changed(settings, access=DEMO), is_loopback(arguments.host)
    # Refuses a host that strangers can reach, before anything is built.
    access_of(settings, invented=True, loopback=loopback)
    building = Building(settings, demonstration.dial_plan(), console.say)
    serving = Serving(settings, console.say)
    serving.building = building.waiting
    workspace = serving.workspace
    demonstration.refuse_other_data(workspace)
    if demonstration.is_built(workspace):
        console.say(f"The demo is built already: {workspace.root}")
    else:
        _build(workspace, settings)
    # Its marker says that the demo was built whole; only opening shows damage that came later.
    try:
        live = Live(serving.open())
    except (UsageError, AnonymizerError, SearchError) as fault:
        console.say(f"The demo is damaged ({fault})")
        _build(workspace, settings)
        live = Live(serving.open())
    # Where the virtual environment is not active, the command needs its path.
    if shutil.which("veilsearch"):
        words = ["veilsearch"]
    else:
        words = [str(Path(os.path.relpath(sys.executable)).parent / "veilsearch")]
    if settings.workspace != load_settings().workspace:
        words += ["--workspace", str(settings.workspace)]
    console.show(f"{len(live.now.people)} invented people. Try:")
    for example in live.now.examples:
        console.show(
            f"  {shlex.join(words)} search {example.query} --user {example.user} --mode group"
            f"   # {live.now.people[example.user]}"
        )
    if arguments.no_serve:
        return 0
    with building.after(live.used):
        serve_live(serving, live, arguments.host, arguments.port)
    return 0


def _build(workspace: Workspace, settings: Settings) -> None:
    from ..tasks import demo as demonstration

    began = time.monotonic()
    console.say(f"Building the demo in {workspace.root} ...")
    with workspace.writing("demo"):
        for line in demonstration.build(workspace, settings):
            console.say(f"  {time.monotonic() - began:5.1f} s  {line}")

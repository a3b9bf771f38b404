"""veilsearch mcp: let an assistant search, as one person or as nobody."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from .. import console
from ..settings import PLAIN, PRIVATE, Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument("--user", metavar="U", default="", help="the person to act as (nobody)")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Answer requests on stdin as the person in `arguments`, until it ends; return 0."""
    from ..server.following import following
    from ..server.mcp import converse, open_tools
    from ..server.opening import Serving
    from ..web import Live

    # As where people sign in: who is named sees their own things, and nobody else's.
    access = PRIVATE if arguments.user else PLAIN
    serving = Serving(replace(settings, access=access), console.say)
    serving.workspace.check()
    live = Live(serving.open())
    tools = open_tools(live, arguments.user)
    with following(live, serving.workspace, serving.open, serving.fetch) as follower:
        serving.follow = follower.follow_now

        def write(line: str) -> None:
            sys.stdout.write(line)
            sys.stdout.flush()

        converse(tools, sys.stdin.buffer, write)
    return 0

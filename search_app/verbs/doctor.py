"""veilsearch doctor: check everything; exit 1 if something needs a remedy."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from .. import console
from ..errors import UsageError
from ..settings import Settings
from .arguments import add_admission, add_json, with_admission


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    add_json(parser)
    parser.add_argument(
        "--deploy",
        action="store_true",
        help="also check what protects people once others can reach the server",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="with --deploy: the host of serve (127.0.0.1)"
    )
    parser.add_argument(
        "--study", type=Path, metavar="FOLDER", help="with --deploy: the study that is served"
    )
    add_admission(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the checks that `arguments` ask for, with remedies; return 1 if any fails."""
    from ..server.checkup import checkup

    if arguments.study and not arguments.deploy:
        raise UsageError("--study FOLDER goes with --deploy")
    settings = with_admission(settings, arguments)
    looks, checks = checkup(settings), []
    if arguments.deploy:
        from ..server.deployment import deployment

        looks = chain(looks, deployment(settings, arguments.host, arguments.study))
    # Each line is printed at once, as a check of a large index takes a while.
    for check in looks:
        checks.append(check)
        if not arguments.json:
            mark = "ok  " if check.good else "BAD "
            console.show(f"{mark} {check.name:<9} {check.found}")
            if not check.good:
                console.show(f"{'':<15}remedy: {check.remedy}")
    if arguments.json:
        console.show_json([{**asdict(check), "good": check.good} for check in checks])
    return 0 if all(check.good for check in checks) else 1

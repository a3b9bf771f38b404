"""veilsearch doctor: check everything; exit 1 if something needs a remedy."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from .. import console
from ..settings import Settings
from .serve import add_admission, with_admission

if TYPE_CHECKING:
    from ..checkup import Check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--deploy",
        action="store_true",
        help="check too what guards people once others can reach the server",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="with --deploy: as given to serve (127.0.0.1)"
    )
    add_admission(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print each check with its remedy."""
    settings = with_admission(settings, arguments)
    checks = []
    for check in _looks(arguments, settings):
        checks.append(check)
        if not arguments.json:
            mark = "ok  " if check.good else "BAD "
            console.show(f"{mark} {check.name:<9} {check.found}")
            if not check.good:
                console.show(f"{'':<15}remedy: {check.remedy}")
    if arguments.json:
        console.show_json([{**asdict(check), "good": check.good} for check in checks])
    return 0 if all(check.good for check in checks) else 1


def _looks(arguments: argparse.Namespace, settings: Settings) -> Iterator[Check]:
    from ..checkup import checkup

    yield from checkup(settings)
    if arguments.deploy:
        from ..deployment import deployment

        yield from deployment(settings, arguments.host)

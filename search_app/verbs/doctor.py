"""veilsearch doctor: check everything; exit 1 if something needs a remedy."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from .. import console
from ..settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print each check with its remedy."""
    from ..checkup import checkup

    checks = []
    for check in checkup(settings):
        checks.append(check)
        if not arguments.json:
            mark = "ok  " if check.good else "BAD "
            console.show(f"{mark} {check.name:<9} {check.found}")
            if not check.good:
                console.show(f"{'':<15}remedy: {check.remedy}")
    if arguments.json:
        console.show_json([{**asdict(check), "good": check.good} for check in checks])
    return 0 if all(check.good for check in checks) else 1

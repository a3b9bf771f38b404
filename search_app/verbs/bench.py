"""veilsearch bench: measure speed next to its bars, in a checkout."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from ..errors import UsageError
from ..settings import Settings
from .arguments import add_json

ROUNDS = 5
_CHECKOUT = Path(__file__).parents[2]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument(
        "--only", metavar="R1,R4", help="only the steps of these bars, or of these names"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="also what takes an hour: R6, R9 and R14 of 650,000 and 100,000 people, slow methods, "
        "an experiment, a fresh clone (R12), and all tests (R15)",
    )
    parser.add_argument(
        "--load", action="store_true", help="also R13, pages under load: two minutes"
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=ROUNDS,
        metavar="N",
        help=f"rounds of each median ({ROUNDS}); at most 3 for what takes seconds, 1 for what "
        "takes longer",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="keep each step in docs/performance.json as soon as it is done, and write "
        "docs/performance.md from it",
    )
    parser.add_argument(
        "--missing",
        action="store_true",
        help="leave out the steps that docs/performance.json has from this commit, unless they "
        "failed or the machine was too busy",
    )
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="keep here what takes long to make: demo, logs"
    )
    add_json(parser)


def run(arguments: argparse.Namespace, _settings: Settings) -> int:
    """Measure what `arguments` ask for, print it, and return 0."""
    if not (_CHECKOUT / "scripts" / "benchmark").is_dir():
        raise UsageError(
            "bench needs the sources, which no installed package has: clone the repository, and "
            "run scripts/bench there"
        )
    sys.path.insert(0, str(_CHECKOUT))  # an installed command knows the product's packages only
    return int(importlib.import_module("scripts.benchmark.__main__").run(arguments))

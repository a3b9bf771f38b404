"""veilsearch town: write the synthetic town's log and its truth."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import console
from ..settings import Settings
from .arguments import add_json, add_seed, seed_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="LOG.tsv",
        help="the log; its truth is written next to it",
    )
    parser.add_argument("--users", type=int, metavar="N", help="number of people (800)")
    parser.add_argument(
        "--queries", type=int, metavar="N", help="mean number of queries a person (250)"
    )
    add_seed(parser)
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the log that `arguments` name and, next to it, its truth; return 0."""
    from anonymizer.terms.wordnet import open_wordnet

    from ..tasks.town import write_town

    facts = write_town(
        open_wordnet(settings.cache),
        arguments.output,
        users=arguments.users,
        queries=arguments.queries,
        seed=seed_of(arguments),
    )
    lines = (
        f"{facts['people']} people, {facts['lines']} lines: {facts['log']}",
        f"who likes what: {facts['truth']}",
    )
    console.answer(facts, lines, as_json=arguments.json)
    return 0

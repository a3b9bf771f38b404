"""veilsearch town: write the synthetic town's log and its truth."""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace import write_whole

if TYPE_CHECKING:
    from anonymizer.wordnet import WordNet


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="LOG.tsv")
    parser.add_argument("--users", type=int, metavar="N", help="people (800)")
    parser.add_argument("--queries", type=int, metavar="N", help="mean queries a person")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the log and, beside it, its truth."""
    from anonymizer.wordnet import open_wordnet

    facts = write_town(
        open_wordnet(settings.cache),
        arguments.output,
        users=arguments.users,
        queries=arguments.queries,
        seed=arguments.seed,
    )
    if arguments.json:
        console.show_json(facts)
    else:
        console.show(f"{facts['people']} people, {facts['lines']} lines: {facts['log']}")
        console.show(f"who likes what: {facts['truth']}")
    return 0


def truth_path(log: Path) -> Path:
    """Return where the truth of a synthetic log lies: beside it."""
    return log.with_suffix(".truth.json")


def write_town(
    wordnet: WordNet, log: Path, *, users: int | None, queries: int | None, seed: int
) -> dict[str, Any]:
    """Build a town and write log and truth; the truth holds the log's hash."""
    import numpy as np

    from .. import town as towns

    if not log.name or log.is_dir():
        raise UsageError(f"-o {log} must be a file, like town.tsv")
    if seed < 0:
        raise UsageError(f"--seed {seed} must be 0 or more")
    sizes = {"users": users, "queries": queries}
    given = {name: size for name, size in sizes.items() if size is not None}
    with console.progress("town", users) as progress:
        town = towns.build_town(
            wordnet, **given, rng=np.random.default_rng(seed), progress=progress
        )
    text = towns.log_text(town)
    truth = {**towns.truth(town, seed), "log_sha256": hashlib.sha256(text.encode()).hexdigest()}
    write_whole(truth_path(log), json.dumps(truth, indent=1, ensure_ascii=False) + "\n")
    write_whole(log, text)
    return {
        "log": str(log),
        "truth": str(truth_path(log)),
        "people": len(town.people),
        "lines": len(town.lines),
        "seed": seed,
    }

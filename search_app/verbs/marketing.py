"""veilsearch marketing: invent a marketing table for the terms of profiles."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Workspace
from .arguments import PROFILES, add_json, add_seed, refuse_overwriting, seed_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.description = (
        "Invent bids, impressions and clicks for the terms of profiles. They are as heavy-tailed "
        "and as correlated as those that Burghardt et al. crawled, but no advertiser gave them. "
        "The table has the terms of the log, so it is as personal as the log."
    )
    parser.add_argument("profiles", type=Path, nargs="?", metavar="PROFILES", help=PROFILES)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="TABLE.csv", help="table to write"
    )
    add_seed(parser)
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the table that `arguments` name, say that it is synthetic, and return 0."""
    from anonymizer.marketing.table import is_table, synthetic_table_of, write_table
    from anonymizer.storage.profiles import read_profiles

    source = arguments.profiles or Workspace(settings.workspace).find("profiles")
    seed = seed_of(arguments)
    output: Path = arguments.output
    if not output.name or output.is_dir():
        raise UsageError(f"-o {output} must be a file, like table.csv")
    refuse_overwriting("-o", output, source, "the profiles; name another")
    # An invented table can be made again from its seed, a table of real bids can't.
    if os.path.lexists(output) and (output.is_symlink() or not is_table(output, invented=True)):
        raise UsageError(
            f"-o {output} exists and is no invented marketing table; remove it or name another"
        )
    profiles = read_profiles(source)
    table = synthetic_table_of(profiles, seed)
    write_table(table, output)
    made = {
        "table": str(output),
        "synthetic": True,
        "terms": len(profiles.terms),
        "bids": len(table.terms),
        "clicks": int((table.clicks > 0).sum()),
        "seed": seed,
    }
    line = (
        f"synthetic: bids and impressions of {made['bids']:,} and clicks of {made['clicks']:,} "
        f"of {made['terms']:,} terms: {made['table']}"
    )
    console.answer(made, [line], as_json=arguments.json)
    return 0

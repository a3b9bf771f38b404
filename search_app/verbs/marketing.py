"""veilsearch marketing: invent a marketing table for the terms of profiles."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from pathlib import Path

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace import Workspace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.description = (
        "Invent bids, impressions and clicks for the terms of profiles, as heavy-tailed and as "
        "correlated as those that Burghardt et al. crawled. They are synthetic: no advertiser "
        "said so. The table's terms are those of the log, and as personal."
    )
    parser.add_argument("profiles", type=Path, nargs="?", metavar="PROFILES")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="TABLE.csv")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the table and say that it is synthetic."""
    from anonymizer.marketing import synthetic_table_of, write_table
    from anonymizer.profile_file import read_profiles

    source = arguments.profiles or Workspace(settings.workspace).find("profiles")
    _check(arguments.output, source, arguments.seed)
    profiles = read_profiles(source)
    table = synthetic_table_of(profiles, arguments.seed)
    write_table(table, arguments.output)
    made = {
        "table": str(arguments.output),
        "synthetic": True,
        "terms": len(profiles.terms),
        "bids": len(table.terms),
        "clicks": int((table.clicks > 0).sum()),
        "seed": arguments.seed,
    }
    if arguments.json:
        console.show_json(made)
    else:
        console.show(
            f"synthetic: bids and impressions of {made['bids']:,} and clicks of {made['clicks']:,} "
            f"of {made['terms']:,} terms: {made['table']}"
        )
    return 0


def _check(output: Path, source: Path, seed: int) -> None:
    """Refuse to replace anything but a table of this verb's making."""
    from anonymizer.marketing import is_table

    if seed < 0:
        raise UsageError(f"--seed {seed} must be 0 or more")
    if not output.name or output.is_dir():
        raise UsageError(f"-o {output} must be a file, like table.csv")
    with suppress(OSError):  # what is not there, or out of reach, is told when it is opened
        if output.samefile(source):
            raise UsageError(f"-o {output} is the file of the profiles; name another")
    if os.path.lexists(output) and (output.is_symlink() or not is_table(output, invented=True)):
        raise UsageError(
            f"-o {output} is there already and is no invented marketing table; remove it or name "
            "another"
        )

"""veilsearch restore: make a workspace from a backup."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import console
from ..settings import POSTGRESQL, Settings, load_settings
from .arguments import add_json

SINCE = (
    "Everybody is signed out. It knows nothing of what came after the backup: forget again who was "
    "forgotten since, and revoke codes and tokens that were revoked. If a release was published "
    "since, publish no other: this ledger does not know it. Then run: veilsearch doctor"
)

NOT_HERE = (
    "Its people are in PostgreSQL, which was not changed: nobody was signed out there. A copy of "
    "this workspace to look at needs a database of its own."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="what `backup` wrote")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Make the workspace in `settings` from the file in `arguments`, and return 0."""
    from ..backup.copying import restore

    file, root = arguments.file, settings.workspace
    count = restore(file, root)
    made = {"workspace": str(root), "files": count}
    console.answer(made, [f"{root}: {count:,} files, each with its hash"], as_json=arguments.json)
    console.say(SINCE)
    if load_settings(root).store == POSTGRESQL:
        console.say(NOT_HERE)
    return 0

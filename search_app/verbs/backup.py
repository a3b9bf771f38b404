"""veilsearch backup: copy the workspace into one file, while it is served."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import console
from ..settings import POSTGRESQL, Settings
from ..workspace.folder import Workspace
from .arguments import add_json

PERSONAL = (
    "It holds who searched for what, and forget can't reach it: keep it as safe as the workspace, "
    "and delete it once somebody in it was forgotten."
)

NOT_HERE = (
    "People's codes, choices and searches and the log of precision are in PostgreSQL, so they are "
    "not in the backup: copy them with pg_dump."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a new file, in tar format")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Copy the workspace in `settings` into the file in `arguments`, and return 0."""
    from ..backup.copying import back_up, elsewhere

    workspace, file = Workspace(settings.workspace), arguments.file
    count = back_up(workspace, file, settings.cache)
    size = file.stat().st_size
    made = {"backup": str(file), "files": count, "bytes": size}
    line = f"{file}: {count:,} files, {size / 1e6:,.1f} MB, each read back with its hash"
    console.answer(made, [line], as_json=arguments.json)
    for path in elsewhere(workspace):
        console.say(f"{path} is outside of the workspace, so it is not in the backup.")
    if settings.store == POSTGRESQL:
        console.say(NOT_HERE)
    console.say(PERSONAL)
    return 0

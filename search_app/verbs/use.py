"""veilsearch use: make a release the one that is served."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Workspace
from .arguments import add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument("release", type=Path, metavar="RELEASE", help="a release folder")
    parser.add_argument(
        "--profiles",
        type=Path,
        metavar="FILE",
        help="the profiles it was made from (default: the current ones)",
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Say what the release in `arguments` changes, let it be served, and return 0."""
    from anonymizer.methods import promise_of
    from anonymizer.storage.profiles import fingerprint, read_profiles
    from anonymizer.storage.releases import read_input_hash, read_release

    from ..tasks.serving import change_lines, changes, serve_release, served_release

    workspace, folder = Workspace(settings.workspace), arguments.release
    release = read_release(folder, promise_of)
    with workspace.writing("use"):
        profiles = arguments.profiles or workspace.find("profiles")
        if read_input_hash(folder) != fingerprint(read_profiles(profiles)):
            raise UsageError(
                f"{folder} was made from other profiles than {profiles}; name those with --profiles"
            )
        changed = changes(served_release(workspace), release)
        made = {
            "release": str(folder),
            "profiles": str(profiles),
            "changes": [change._asdict() for change in changed],
        }
        # Said first: whatever goes wrong later, the operator knows what was to change.
        console.answer(made, change_lines(changed), as_json=arguments.json)
        serve_release(workspace, folder, profiles)
    return 0

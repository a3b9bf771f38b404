"""veilsearch publish: write the public part of a release, if the release holds."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import console
from ..settings import Settings
from ..workspace import Workspace
from .verify import add_release, as_dict, release_and_profiles, show, whom


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_release(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", required=True)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Verify the release and write the file; exit with 1, and write nothing, on any breach."""
    from anonymizer.publication import publish

    from ..ledger import note_published

    release, profiles = release_and_profiles(arguments, settings)
    verdict = publish(release, profiles, arguments.output)
    if verdict.holds:
        checked = verdict.checked
        workspace = Workspace(settings.workspace)
        note_published(workspace, release, users=checked["users"], rows=checked["rows"])
    if arguments.json:
        published = str(arguments.output) if verdict.holds else None
        console.show_json({"published": published, **as_dict(release, verdict)})
    elif verdict.holds:
        console.show(
            f"{arguments.output}: {verdict.checked['rows']} rows of {whom(verdict)}, the very "
            "bytes that were verified"
        )
    else:
        show(release, verdict)
        console.say("Nothing was published.")
    return 0 if verdict.holds else 1

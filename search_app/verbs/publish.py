"""veilsearch publish: write the public part of a release, if the release holds."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from .. import console
from ..settings import Settings
from ..workspace import Workspace
from .verify import add_release, as_dict, release_and_profiles, show, whom

if TYPE_CHECKING:
    from anonymizer.measures.finding import Finding
    from anonymizer.publication import Candidate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_release(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", required=True)
    parser.add_argument(
        "--second",
        action="store_true",
        help="though another release of the same people was published; never where what is "
        "promised is promised of one alone (composition, pooled)",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Verify the release and write the file; exit with 1, and write nothing, on any breach."""
    from anonymizer.publication import publish

    from ..ledger import publishing

    release, profiles = release_and_profiles(arguments, settings)
    workspace = Workspace(settings.workspace)
    # Nobody is forgotten meanwhile: what is published is in the ledger when that begins.
    with workspace.writing("publish"), ExitStack() as held:

        def others(candidate: Candidate) -> list[Finding]:
            note = held.enter_context(publishing(workspace))
            finding = _beside_others(candidate, workspace, arguments.second)
            if finding.holds:
                note(candidate)
            return [finding]

        verdict = publish(release, profiles, arguments.output, others)
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


def _beside_others(candidate: Candidate, workspace: Workspace, second: bool) -> Finding:
    """Judge a release by what the ledger has of the same people."""
    from anonymizer.measures.finding import Finding

    from ..ledger import fault_of_second, ledger_path, read_ledger

    path = ledger_path(workspace)
    fault = fault_of_second(read_ledger(workspace), candidate, second=second, path=path)
    good = "the ledger has no other release of these people"
    if second:
        good = "another release of these people may have been published"
    return Finding("one release", not fault, path.name, fault or good)

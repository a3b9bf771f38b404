"""veilsearch verify: hold a release against the profiles it was made from."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..settings import Settings
from ..workspace import Workspace

if TYPE_CHECKING:
    from anonymizer.measures.finding import Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_release(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def add_release(parser: argparse.ArgumentParser) -> None:
    """Add a release and the profiles it is held against; the current ones unless named."""
    parser.add_argument("release", type=Path, nargs="?", metavar="RELEASE")
    parser.add_argument(
        "--against", type=Path, metavar="PROFILES", help="what the release was made from"
    )


def release_and_profiles(arguments: argparse.Namespace, settings: Settings) -> tuple[Path, Path]:
    """Return the paths named by the arguments, or the workspace's current ones."""
    workspace = Workspace(settings.workspace)
    release = arguments.release or workspace.find("release")
    return release, arguments.against or workspace.find("profiles")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print what was found; exit with 1 on any breach."""
    from anonymizer.measures.verification import verify

    release, profiles = release_and_profiles(arguments, settings)
    verdict = verify(release, profiles)
    if arguments.json:
        console.show_json(as_dict(release, verdict))
    else:
        show(release, verdict)
    return 0 if verdict.holds else 1


def as_dict(release: Path, verdict: Verdict) -> dict[str, Any]:
    """Return a verdict for machines."""
    findings = [finding._asdict() for finding in verdict.findings]
    return {
        "release": str(release),
        "holds": verdict.holds,
        "checked": verdict.checked,
        "findings": findings,
    }


def whom(verdict: Verdict) -> str:
    """Say how many users have a row and how many none, and how many people if they are sessions."""
    checked = verdict.checked
    users = _count(checked["users"], "user")
    if checked.get("users_left_out"):
        left_out = checked["users_left_out"]
        users += f" ({left_out} {'is' if left_out == 1 else 'are'} left out)"
    if "people" in checked:
        users += f", who are sessions of {checked['people']} people"
    return users


def _count(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else f'{one}s'}"


def show(release: Path, verdict: Verdict) -> None:
    """Print a verdict for people: what was checked if all holds, else the breaches alone."""
    if verdict.holds:
        checked = verdict.checked
        console.show(
            f"{release} holds: {whom(verdict)} in {_count(checked['rows'], 'row')}, "
            f"{_count(checked['cells'], 'weight')}, each recounted"
        )
        for finding in verdict.findings:
            console.show(f"  {finding.claim:<14} {finding.line}")
        return
    breaches = len(verdict.breaches)
    console.show(f"{release} is refused: {breaches} {'breach' if breaches == 1 else 'breaches'}")
    for finding in verdict.breaches:
        console.show(f"  {finding.claim:<14} {finding.where}: {finding.line}")

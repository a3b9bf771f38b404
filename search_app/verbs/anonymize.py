"""veilsearch anonymize: turn profiles into a release."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace import Workspace

if TYPE_CHECKING:
    from anonymizer.model import Profiles, Release


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("profiles", type=Path, nargs="?", metavar="PROFILES")
    parser.add_argument("-m", "--method", default="p-linkability", metavar="METHOD")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("-o", "--output", type=Path, metavar="RELEASE/")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run the method, write the release, and make it the workspace's current one."""
    workspace = Workspace(settings.workspace)
    source = arguments.profiles or workspace.find("profiles")
    with workspace.writing("anonymize"):
        made = write_release_of(
            source,
            arguments.output or settings.workspace / "release",
            method=arguments.method,
            parameters=assignments(arguments.set),
            seed=arguments.seed,
            settings=settings,
        )
    _print(made, arguments.json)
    return 0


def assignments(texts: Sequence[str]) -> dict[str, str]:
    """Read name=value texts; the same name twice is a fault."""
    pairs = [text.partition("=") for text in texts]
    wrong = [
        text for text, (name, equals, _) in zip(texts, pairs, strict=True) if not name or not equals
    ]
    if wrong:
        raise UsageError(f"--set {wrong[0]} must be name=value, like --set p=0.4")
    names = [name for name, _, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"--set names {', '.join(twice)} twice")
    return {name: value for name, _, value in pairs}


def write_release_of(
    source: Path,
    output: Path,
    *,
    method: str,
    parameters: dict[str, str],
    seed: int,
    settings: Settings,
) -> dict[str, Any]:
    """Anonymize a profiles file into a release folder and return what release.json says."""
    from anonymizer.methods import read_parameters
    from anonymizer.profile_file import fingerprint, read_profiles
    from anonymizer.release import write_release

    if seed < 0:
        raise UsageError(f"--seed {seed} must be 0 or more")
    values = read_parameters(method, parameters)
    profiles = read_profiles(source)
    release = _released(profiles, method, values, seed, settings)
    workspace = Workspace(settings.workspace)
    write_release(release, output, seed=seed, input_hash=fingerprint(profiles))
    _make_current(workspace, source, output)
    return {
        "release": str(output),
        "method": method,
        "parameters": dict(release.parameters),
        "seed": seed,
        "facts": dict(release.facts),
    }


def _released(
    profiles: Profiles, method: str, values: dict[str, Any], seed: int, settings: Settings
) -> Release:
    """Run the method and add the measured facts."""
    from dataclasses import replace

    from anonymizer.measures.linkability import facts
    from anonymizer.methods import anonymize
    from anonymizer.wordnet import open_wordnet

    with console.progress(method, len(profiles)) as progress:
        release = anonymize(
            method,
            profiles,
            values,
            wordnet=open_wordnet(settings.cache),
            seed=seed,
            progress=progress,
        )
    return replace(release, facts=facts(profiles, release))


def _make_current(workspace: Workspace, source: Path, output: Path) -> None:
    """Switch to the release and the profiles it was made from: search needs both of one kind."""
    profiles = workspace.relative(source)
    current = workspace.current()
    workspace.make_current(
        release=workspace.relative(output),
        profiles=profiles,
        truth=current.truth if profiles == current.profiles else "",
    )


def _print(made: dict[str, Any], as_json: bool) -> None:
    if as_json:
        console.show_json(made)
        return
    facts = made["facts"]
    console.show(
        f"{facts['users']} users in {facts['groups']} groups of {facts['smallest_group']} to "
        f"{facts['largest_group']} (mean {facts['mean_group']:.2f}): {made['release']}"
    )
    for label, name in _FACTS.items():
        console.show(f"  {label:<48} {facts[name]:.3f}")
    if facts["single_person_rows"]:
        console.say(
            f"Warning: {facts['single_person_rows']} groups have one member, whose own profile is "
            "the row. Profiles of equal length avoid that: veilsearch profiles LOG --size N"
        )


_FACTS = {
    "mean profile over a group's terms, worst group": "average_linkability",
    "mean share of members a term, worst group": "share_linkability",
    "share of members, worst term": "worst_linkability",
    "largest change of belief": "change_of_belief",
}

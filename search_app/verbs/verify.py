"""veilsearch verify: check a release's promises against the profiles it was made from."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..settings import Settings
from .arguments import add_json, add_release, release_and_profiles

if TYPE_CHECKING:
    from anonymizer.verification.finding import Verdict

_COHORT = re.compile(r"cohorts/[0-9]+")  # the folder of a later one


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    add_release(parser)
    parser.add_argument(
        "--since",
        type=Path,
        metavar="OLDER",
        help="also compare the rows with how they were: an older copy of the release, or a file "
        "published of it",
    )
    add_json(parser, "findings")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the findings on the release in `arguments`; return 1 on any breach."""
    from anonymizer.verification.judge import verify

    release, profiles = release_and_profiles(arguments, settings)
    verdict = verify(release, profiles, arguments.since)
    console.answer(as_dict(release, verdict), lines(release, verdict), as_json=arguments.json)
    return 0 if verdict.holds else 1


def as_dict(release: Path, verdict: Verdict) -> dict[str, Any]:
    """Return the `verdict` on `release` for machines."""
    findings = [finding._asdict() for finding in verdict.findings]
    return {
        "release": str(release),
        "holds": verdict.holds,
        "checked": verdict.checked,
        "findings": findings,
    }


def population(verdict: Verdict) -> str:
    """Return in words how many users of `verdict` have a row, and how many people they are."""
    checked = verdict.checked
    users = _count(checked["users"], "user")
    without = {"users_left_out": "without a row", "waiting": "waiting"}
    others = [f"{checked[name]} {words}" for name, words in without.items() if checked.get(name)]
    if others:
        users += f" ({', '.join(others)})"
    if "people" in checked:
        users += f", which are sessions of {checked['people']} people"
    return users


def _count(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else f'{one}s'}"


def lines(release: Path, verdict: Verdict) -> Iterator[str]:
    """Yield the `verdict` on `release` for people: all that was checked, or only the breaches."""
    if verdict.holds:
        checked = verdict.checked
        yield (
            f"{release} holds: {population(verdict)} in {_count(checked['rows'], 'row')}"
            f"{f' of {cohorts} cohorts' if (cohorts := checked.get('cohorts')) else ''}, "
            f"{_count(checked['cells'], 'weight')}"
            f"{'' if checked.get('rows_not_recounted') else ', each recounted'}"
        )
        for finding in verdict.findings:
            cohort = _COHORT.match(finding.where)
            yield f"  {finding.claim:<14} {f'{cohort[0]}: ' if cohort else ''}{finding.line}"
        return
    breaches = len(verdict.breaches)
    yield f"{release} is refused: {breaches} {'breach' if breaches == 1 else 'breaches'}"
    for finding in verdict.breaches:
        yield f"  {finding.claim:<14} {finding.where}: {finding.line}"

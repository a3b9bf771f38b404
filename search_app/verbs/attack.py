"""veilsearch attack: what attackers get from a release, and from raw profiles."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import write_whole
from .arguments import add_json, add_release, add_seed, release_and_profiles, seed_of
from .measure import check_output, people_and_rows

if TYPE_CHECKING:
    from anonymizer.attacks import Attacked, AttackResult
    from anonymizer.model import Profiles, Release

_COLUMNS = ("attack", "known", "choice", "measure", "value", "low", "high", "raw")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    add_release(parser)
    parser.add_argument(
        "--attack",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="linking, inference, membership, singling-out, two-releases, fitting or beyond-m "
        "(default: all for which there is the input)",
    )
    parser.add_argument(
        "--known",
        metavar="1,3,5",
        help="how many terms of a victim the attacker knows (1,2,3,5, as far as people have them)",
    )
    parser.add_argument(
        "--choice",
        choices=("random", "rarest"),
        default="random",
        help="which terms are known: random ones, or those that the fewest people have (random)",
    )
    parser.add_argument(
        "--victims", type=int, default=500, metavar="N", help="people attacked, at most (500)"
    )
    parser.add_argument(
        "--second",
        type=Path,
        metavar="RELEASE",
        help="another release of some of the people, for two-releases",
    )
    parser.add_argument(
        "--outsiders",
        type=Path,
        metavar="PROFILES",
        help="profiles of people who are not in the release, for membership (default: simulated)",
    )
    add_seed(parser, "victims, known terms, simulated people and intervals")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.csv", help="write the figures")
    add_json(parser, "figures")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run the attacks in `arguments`, print their figures, return 1 if one beats the promise."""
    from anonymizer.attacks import ATTACKS, run_attacks
    from anonymizer.storage.records import csv_text

    place, source = release_and_profiles(arguments, settings)
    check_output(arguments.output, place, source)
    target = _target(arguments, settings, place, source)
    with console.progress("attacks", len(arguments.attack or ATTACKS)) as progress:
        results = run_attacks(target, arguments.attack, progress)
    if arguments.output:
        rows = ([getattr(one, name) for name in _COLUMNS] for one in results)
        write_whole(arguments.output, csv_text([_COLUMNS, *rows]))
    made = as_dict(place, target, results)
    console.answer(made, lines(target, results), as_json=arguments.json)
    return 1 if made["beaten"] else 0


def _target(
    arguments: argparse.Namespace, settings: Settings, place: Path, source: Path
) -> Attacked:
    from anonymizer.attacks import Attacked, usual_known
    from anonymizer.methods import promise_of
    from anonymizer.storage.foreign import read_any
    from anonymizer.storage.profiles import read_profiles

    if arguments.victims < 1:
        raise UsageError(f"--victims {arguments.victims} must be 1 or more")
    known, seed = _known(arguments.known), seed_of(arguments)
    profiles, release = _attacked(place, source, settings)
    second = read_any(arguments.second, promise_of) if arguments.second else None
    return Attacked(
        profiles,
        release,
        second,
        outsiders=read_profiles(arguments.outsiders) if arguments.outsiders else None,
        known=usual_known(profiles) if known is None else known,
        choice=arguments.choice,
        victims=arguments.victims,
        seed=seed,
    )


def _attacked(place: Path, source: Path, settings: Settings) -> tuple[Profiles, Release]:
    """Return the profiles at `source`, and the release at `place`, which anybody may have made."""
    from anonymizer.methods import promise_of
    from anonymizer.storage.foreign import is_foreign, read_any, refuse_other_people
    from anonymizer.storage.parts import WITHDRAWN, read_cohorts
    from anonymizer.storage.profiles import read_profiles

    if is_foreign(place):
        profiles, release = read_profiles(source), read_any(place, promise_of)
        refuse_other_people(release, profiles)
        return profiles, release
    profiles, release = people_and_rows(place, source, settings)
    if any(WITHDRAWN in cohort.manifest for cohort in read_cohorts(place)):
        # What the rows that are left promise includes people who are not there any more.
        raise UsageError(f"{place}: rows were withdrawn; attack a copy of it as it was made")
    return profiles, release


def _known(text: str | None) -> tuple[int, ...] | None:
    """Return the numbers in `text`, as --known has them."""
    if text is None:
        return None
    numbers = text.split(",")
    if not all(number.isascii() and number.isdigit() and int(number) for number in numbers):
        raise UsageError(f"--known {text} must be whole numbers from 1, like 1,3,5")
    return tuple(dict.fromkeys(map(int, numbers)))


def as_dict(place: Path, target: Attacked, results: Sequence[AttackResult]) -> dict[str, Any]:
    """Return the `results` of attacks on `target`, the release at `place`, for machines."""
    return {
        "release": str(place),
        "promise": promise_in_words(target),
        "attacks": [{name: getattr(one, name) for name in _COLUMNS} for one in results],
        "beaten": [
            {"attack": one.attack, "measure": one.measure, "value": one.value, "promised": one.most}
            for one in results
            if one.beats
        ],
    }


def promise_in_words(target: Attacked) -> str:
    """Return what the release of `target` promises, as its own record states it."""
    release = target.release
    given = {name: release.parameters.get(name) for name in ("p", "k", "m", "epsilon", "delta")}
    stated = ", ".join(f"{name}={value}" for name, value in given.items() if value is not None)
    return f"{release.method}: {release.promise.bounds}{f' ({stated})' if stated else ''}"


def lines(target: Attacked, results: Sequence[AttackResult]) -> Iterator[str]:
    """Yield the `results` of attacks on `target` for people."""
    people = min(target.victims, len(target.release.users))
    yield f"promise of {promise_in_words(target)}; {people} victims; raw: the same without a method"
    labels = [_label(one) for one in results]
    width = max(map(len, labels), default=0)
    yield f"{'':<{width}}{'value':>8}{'95 % interval':>18}{'raw':>9}"
    for label, one in zip(labels, results, strict=True):
        raw = "" if one.raw is None else f"{one.raw:.4f}"
        between = f"{one.low:.4f} - {one.high:.4f}"
        yield f"{label:<{width}}{one.value:>8.4f}{between:>18}{raw:>9}"
    for one in results:
        if one.beats:
            yield f"BEATEN  {one.attack}: {one.measure} is {one.value:.6g}, promised {one.most:.6g}"
    if not any(one.most is not None for one in results):
        yield "None of these attacks is about what the release promises."
    elif not any(one.beats for one in results):
        yield "No attack gets more than the release promises."


def _label(one: AttackResult) -> str:
    knows = " ".join(str(part) for part in (one.known, one.choice) if part)
    return f"{one.attack}{f', {knows} known' if knows else ''}: {one.measure}"

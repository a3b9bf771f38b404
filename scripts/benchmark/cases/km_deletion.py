"""R7: (k,m)-anonymity of an invented log of AltaVista's shape. [I/O]

usage: python -m scripts.benchmark.cases.km_deletion PROFILES.npz ALGORITHM,K,M ...

A process for each algorithm reads the profiles, runs its cases once on a small log, which compiles,
and then times each of them once on the whole one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anonymizer.measures.kept import kept_value
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.storage.profiles import read_profiles

from ..bars import Measured
from ..inputs.altavista import altavista_profiles
from ..plan import Place, Plan
from ..processes import process
from ..timing import seconds_of

WARM_UP = 0.002  # share of the log in the first call, which compiles


class Case(NamedTuple):
    """One run of the method."""

    algorithm: str
    k: int
    m: int

    def __str__(self) -> str:
        return f"{self.algorithm} ({self.k},{self.m})"

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the method's parameters; greedy breaks ties the same way every time."""
        ties = {"ties": "first"} if self.algorithm == "greedy" else {}
        return {**self._asdict(), "target": "logsize", **ties}


BAR_OF = {
    "km": Case("insert", 2, 2),
    "km triples": Case("insert", 2, 3),
    "km greedy": Case("greedy", 2, 2),
}


def measure(plan: Plan, place: Place) -> Measured:
    """Time the bars' cases on as much of the log as `plan` says."""
    profiles = made(place.kept, plan.deleted)
    runs: dict[Case, dict[str, Any]] = {}
    for algorithm in dict.fromkeys(case.algorithm for case in BAR_OF.values()):
        cases = [case for case in BAR_OF.values() if case.algorithm == algorithm]
        runs |= timed_cases(profiles, cases)
    return Measured(
        {name: float(runs[case]["seconds"]) for name, case in BAR_OF.items()},
        {
            "share of AltaVista's log": plan.deleted,
            "cases": {str(case): run for case, run in runs.items()},
        },
        calls=dict.fromkeys(BAR_OF, 1),
    )


def made(folder: Path, share: float) -> Path:
    """Return the profiles of a `share` of the log, written unless `folder` has them."""
    path = folder / f"altavista-{share:g}.npz"
    if not path.exists():
        part = path.with_name(f"part-{path.name}")
        command = [sys.executable, "-m", "scripts.benchmark.inputs.altavista"]
        process([*command, "--share", str(share), "-o", str(part)])
        part.replace(path)
    return path


def timed_cases(profiles: Path, cases: Sequence[Case]) -> dict[Case, dict[str, Any]]:
    """Run `cases` on `profiles` in one process; return the results, each with its memory."""
    command = [sys.executable, "-m", "scripts.benchmark.cases.km_deletion", str(profiles)]
    run, answer = process([*command, *(",".join(map(str, case)) for case in cases)])
    results: list[dict[str, Any]] = json.loads(answer)
    size = {"gigabytes": round(run.gigabytes, 3)}
    return {case: {**result, **size} for case, result in zip(cases, results, strict=True)}


def result_of(profiles: Profiles, case: Case) -> dict[str, Any]:
    """Return what `case` takes on `profiles`, and what it keeps of them."""
    releases: list[Release] = []
    seconds = seconds_of(lambda: releases.append(released(profiles, case)))
    kept = {row.name: round(row.value, 4) for row in kept_value(profiles, releases[0], None)}
    return {"seconds": round(seconds, 3), **kept}


def released(profiles: Profiles, case: Case) -> Release:
    """Return the release of `profiles` by `case`."""
    return anonymize("km-anonymity", Inputs(profiles), case.parameters)


def main(words: Iterable[str]) -> None:
    """Run the cases in `words`, and print what each took as JSON."""
    path, *texts = words
    cases = [case_of(text) for text in texts]
    small = altavista_profiles(WARM_UP)
    for case in cases:
        released(small, case)
    profiles = read_profiles(Path(path))
    print(json.dumps([result_of(profiles, case) for case in cases]))


def case_of(text: str) -> Case:
    """Return the case in `text`, as a command writes it."""
    algorithm, k, m = text.split(",")
    return Case(algorithm, int(k), int(m))


if __name__ == "__main__":
    main(sys.argv[1:])

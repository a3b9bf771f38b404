"""R7: (k,m)-anonymity of an invented log of AltaVista's shape. [I/O]

usage: python -m scripts.benchmark.cases.km_deletion PROFILES.npz ROUNDS ALGORITHM,K,M,TARGET ...

A process reads the profiles, runs each of its cases once on a small log, which compiles, and then
times them in turns on the whole one. The bars' cases, a process for each algorithm, give medians
of all rounds; every other case has a process of its own and one call.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anonymizer.marketing.table import VALUES, MarketingTable, synthetic_table_of
from anonymizer.measures.kept import kept_value
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.storage.profiles import read_profiles

from ..bars import Measured
from ..inputs.altavista import altavista_profiles
from ..plan import Place, Plan
from ..processes import process
from ..timing import in_seconds, seconds_of

METHOD = "km-anonymity"
TARGETS = ("logsize", "users", "fis", "random", *VALUES)
WARM_UP = 0.002  # share of the log in the first call, which compiles
PAPER = {"2,2": "2 h 56 min", "2,3": "90 h"}  # for its first pass alone, in 2010


class Case(NamedTuple):
    """One run of the method."""

    algorithm: str
    k: int
    m: int
    target: str

    def __str__(self) -> str:
        return f"{self.algorithm} ({self.k},{self.m}) {self.target}"

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the method's parameters; greedy breaks ties the same way every time."""
        table = {"marketing": "synthetic"} if self.target in VALUES else {}
        ties = {"ties": "first"} if self.algorithm == "greedy" else {}
        return {**self._asdict(), **table, **ties}


BAR_OF = {
    "km": Case("insert", 2, 2, "logsize"),
    "km triples": Case("insert", 2, 3, "logsize"),
    "km greedy": Case("greedy", 2, 2, "logsize"),
}
EVERY = tuple(
    Case(algorithm, 2, m, target)
    for algorithm in ("insert", "greedy")
    for m in (2, 3)
    for target in TARGETS
)


def measure(plan: Plan, place: Place) -> Measured:
    """Time the bars' cases in turns; if `plan` asks for the whole log, every target once."""
    share = plan.reduced
    profiles, whole = made(place.kept, share, ".npz"), share >= 1
    runs: dict[Case, dict[str, Any]] = {}
    for algorithm in dict.fromkeys(case.algorithm for case in BAR_OF.values()):
        cases = [case for case in BAR_OF.values() if case.algorithm == algorithm]
        runs |= timed_cases(profiles, cases, plan.rounds)
    for case in EVERY if whole else ():
        if case not in runs:
            runs |= timed_cases(profiles, [case], 1)
    return Measured(
        values_of(runs, whole=whole),
        {
            "share of AltaVista's log": share,
            "cases": {str(case): run for case, run in runs.items()},
            "the paper's first pass": PAPER,
        },
        calls={_sized(name, whole): runs[case]["calls"] for name, case in BAR_OF.items()},
    )


def values_of(runs: Mapping[Case, Mapping[str, Any]], *, whole: bool) -> dict[str, float]:
    """Return the bars' figures from `runs`."""
    values = {_sized(name, whole): float(runs[case]["seconds"]) for name, case in BAR_OF.items()}
    if whole:
        values["km memory"] = max(float(run["gigabytes"]) for run in runs.values())
    return values


def _sized(name: str, whole: bool) -> str:
    return name if whole else f"small {name}"


def made(folder: Path, share: float, suffix: str) -> Path:
    """Return the log, or by `suffix` its profiles, written unless `folder` has it."""
    path = folder / f"altavista-{share:g}{suffix}"
    if not path.exists():
        part = path.with_name(f"part-{path.name}")
        command = [sys.executable, "-m", "scripts.benchmark.inputs.altavista"]
        process([*command, "--share", str(share), "-o", str(part)])
        part.replace(path)
    return path


def timed_cases(profiles: Path, cases: Sequence[Case], rounds: int) -> dict[Case, dict[str, Any]]:
    """Run `cases` in turns in one process; return the results, each with that process's memory."""
    command = [sys.executable, "-m", "scripts.benchmark.cases.km_deletion", str(profiles)]
    texts = [",".join(map(str, case)) for case in cases]
    run, answer = process([*command, str(rounds), *texts])
    results: list[dict[str, Any]] = json.loads(answer)
    size = {"gigabytes": round(run.gigabytes, 3)}
    return {case: {**result, **size} for case, result in zip(cases, results, strict=True)}


def results_of(profiles: Profiles, cases: Sequence[Case], rounds: int) -> list[dict[str, Any]]:
    """Return for each of `cases` its times on `profiles` and what it keeps."""
    small = altavista_profiles(WARM_UP)
    for case in cases:
        released(small, case)
    tables = [table_of(profiles, case) for case in cases]
    taken: list[list[float]] = [[] for _ in cases]
    kept: list[dict[str, float]] = [{} for _ in cases]
    for _ in range(rounds):
        for at, (case, table) in enumerate(zip(cases, tables, strict=True)):
            seconds, release = timed_release(profiles, case, table)
            taken[at].append(seconds)
            rows = kept_value(profiles, release, table)
            kept[at] = {row.name: round(row.value, 4) for row in rows}
    return [{**in_seconds(times), **left} for times, left in zip(taken, kept, strict=True)]


def timed_release(
    profiles: Profiles, case: Case, table: MarketingTable | None
) -> tuple[float, Release]:
    """Run `case` once; return how long it took, and its release."""
    releases: list[Release] = []
    seconds = seconds_of(lambda: releases.append(released(profiles, case, table)))
    return seconds, releases[0]


def released(profiles: Profiles, case: Case, table: MarketingTable | None = None) -> Release:
    """Return the release of `profiles` by `case`."""
    inputs = Inputs(profiles, table=table or table_of(profiles, case))
    return anonymize(METHOD, inputs, case.parameters)


def table_of(profiles: Profiles, case: Case) -> MarketingTable | None:
    """Return an invented marketing table if the target of `case` needs one."""
    return synthetic_table_of(profiles) if case.target in VALUES else None


def main(words: Iterable[str]) -> None:
    """Run the cases in `words` in turns and print what each took as JSON."""
    profiles, rounds, *texts = words
    cases = [case_of(text) for text in texts]
    print(json.dumps(results_of(read_profiles(Path(profiles)), cases, int(rounds))))


def case_of(text: str) -> Case:
    """Return the case in `text`, as a command writes it."""
    algorithm, k, m, target = text.split(",")
    return Case(algorithm, int(k), int(m), target)


if __name__ == "__main__":
    main(sys.argv[1:])

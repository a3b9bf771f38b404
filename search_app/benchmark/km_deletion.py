"""R7: (k,m)-anonymity of an invented log of AltaVista's shape, each case a process. [I/O]

usage: python -m search_app.benchmark.km_deletion PROFILES.npz ALGORITHM K M TARGET

A case reads the profiles, runs the method once on a small log, which compiles, and is timed on
the whole one. Beside it the commands are timed: log -> profiles -> release -> verified.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from anonymizer.marketing import VALUES, MarketingTable, synthetic_table_of
from anonymizer.measures.kept_value import kept_value
from anonymizer.methods import METHODS, anonymize
from anonymizer.model import Profiles, Release
from anonymizer.profile_file import read_profiles
from anonymizer.wordnet import open_wordnet

from ..errors import UsageError
from ..settings import load_settings
from .altavista_shape import altavista_profiles
from .bars import Measured
from .plan import Place, Plan
from .processes import process, verb
from .timing import seconds_of

METHOD = "km-anonymity"
TARGETS = ("logsize", "users", "fis", "random", *VALUES)
WARM_UP = 0.002  # share of the log in the call that compiles
PAPER = {"2,2": "2 h 56 min", "2,3": "90 h"}  # its first pass alone, in 2010


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
        """Return the method's parameters; greedy's ties are cut the same way every time."""
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
    """Run the bars' cases, and with the whole log those of every target; then the commands."""
    if METHOD not in METHODS:
        raise UsageError(f"needs the method {METHOD}, which is not built yet")
    share = plan.reduced
    profiles = made(place.kept, share, ".npz")
    cases = EVERY if share >= 1 else tuple(BAR_OF.values())
    runs = {case: timed_case(profiles, case) for case in cases}
    return Measured(
        values_of(runs, whole=share >= 1),
        {
            "share of AltaVista's log": share,
            "cases": {str(case): run for case, run in runs.items()},
            "commands": commands(place, share),
            "the paper's first pass": PAPER,
        },
        calls=dict.fromkeys(values_of(runs, whole=share >= 1), 1),
    )


def values_of(runs: Mapping[Case, Mapping[str, Any]], *, whole: bool) -> dict[str, float]:
    """Return the bars' figures."""
    size = "" if whole else "small "
    values = {f"{size}{name}": float(runs[case]["seconds"]) for name, case in BAR_OF.items()}
    if whole:
        values["km memory"] = max(float(run["gigabytes"]) for run in runs.values())
    return values


def made(folder: Path, share: float, suffix: str) -> Path:
    """Write the log, or its profiles, unless the folder has it."""
    path = folder / f"altavista-{share:g}{suffix}"
    if not path.exists():
        part = path.with_name(f"part-{path.name}")
        command = [sys.executable, "-m", "search_app.benchmark.altavista_shape"]
        process([*command, "--share", str(share), "-o", str(part)])
        part.replace(path)
    return path


def timed_case(profiles: Path, case: Case) -> dict[str, Any]:
    """Run a case in a process of its own, as memory is counted for each."""
    command = [sys.executable, "-m", "search_app.benchmark.km_deletion", str(profiles)]
    run, answer = process([*command, *map(str, case)])
    told: dict[str, Any] = json.loads(answer)
    return {**told, "gigabytes": round(run.gigabytes, 3)}


def commands(place: Place, share: float) -> dict[str, Any]:
    """Run log -> profiles -> release -> verified by the verbs; return what each took."""
    log = made(place.kept, share, ".tsv")
    chosen = ["--terms", "letters-digits", "--weights", "tf", "--drop-robots", "100"]
    settings = [word for text in ("k=2", "m=2") for word in ("--set", text)]
    with TemporaryDirectory(dir=place.temporary, prefix="km.") as folder:
        run = Path(folder)
        profiles, release = run / "profiles.npz", run / "release"
        steps = {
            "profiles": ("profiles", log, *chosen, "-o", profiles),
            "anonymize": ("anonymize", profiles, "-m", METHOD, *settings, "-o", release),
            "verify": ("verify", release, "--against", profiles),
        }
        taken = {name: verb(run, *words)[0] for name, words in steps.items()}
    return {
        name: {"seconds": round(run.seconds, 2), "gigabytes": round(run.gigabytes, 3)}
        for name, run in taken.items()
    }


def told_of(profiles: Profiles, case: Case) -> dict[str, Any]:
    """Time the method once on the profiles, after a call that compiles; tell what it keeps."""
    released(altavista_profiles(WARM_UP), case)
    table = table_of(profiles, case)
    releases: list[Release] = []
    seconds = seconds_of(lambda: releases.append(released(profiles, case, table)))
    kept = kept_value(profiles, releases[0], table)
    return {"seconds": round(seconds, 3), **{row.name: round(row.value, 4) for row in kept}}


def released(profiles: Profiles, case: Case, table: MarketingTable | None = None) -> Release:
    """Call the method with all that it is handed."""
    return anonymize(
        METHOD,
        profiles,
        case.parameters,
        wordnet=open_wordnet(load_settings().cache),
        table=table or table_of(profiles, case),
    )


def table_of(profiles: Profiles, case: Case) -> MarketingTable | None:
    """Invent the marketing table of a target that needs one."""
    return synthetic_table_of(profiles) if case.target in VALUES else None


def main(words: Iterable[str]) -> None:
    """Run one case and print what it took as JSON."""
    profiles, algorithm, k, m, target = words
    case = Case(algorithm, int(k), int(m), target)
    print(json.dumps(told_of(read_profiles(Path(profiles)), case)))


if __name__ == "__main__":
    main(sys.argv[1:])

"""R6 and R9: a log of AOL's shape -> profiles -> release -> verified, each a process. [I/O]"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..bars import Measured
from ..plan import LINES, USERS, Place, Plan
from ..processes import Run, process, verb
from ..timing import in_seconds

P = 0.4
RELEASES = {"raw": ["augment=none"], "WordNet": ["augment=wordnet", "a=1"]}
FEW = 3  # rounds of whole processes at most, as each takes seconds
_VERBS = ("anonymize", "verify")
_SUMMED = [f"{size} {name}" for size in ("small", "whole") for name in RELEASES]
MEASURED = (*_SUMMED, "memory", *(f"verify {name}" for name in RELEASES))  # names of bars
WARM_UP = 500  # users in the first run, which compiles what each machine compiles once


def measure(plan: Plan, place: Place) -> Measured:
    """Run all commands on the prefixes of a log that `plan` names, the largest last."""
    log = invented_log(place.kept, max(plan.logged))
    whole = max(plan.logged)
    pipeline(place.temporary, log, WARM_UP / whole, rounds=1)
    # Whole logs take minutes, so they run once. Memory is measured on whole logs only.
    rounds = 1 if plan.whole else min(plan.rounds, FEW)
    runs = [pipeline(place.temporary, log, users / whole, rounds) for users in sorted(plan.logged)]
    values = values_of(runs[-1], whole=plan.whole)
    calls = {name: rounds for name in values if name != "memory"}  # profiles are made once only
    return Measured(values, {"runs": runs}, calls=calls)


def values_of(run: Mapping[str, Any], *, whole: bool) -> dict[str, float]:
    """Return the bars' figures from the `run` on the largest log."""
    size = "whole" if whole else "small"
    values = {f"{size} {name}": run[name]["seconds in all"] for name in RELEASES}
    for name in RELEASES:
        values[f"verify {name}"] = (
            run[name]["verify"]["seconds"] / run[name]["anonymize"]["seconds"]
        )
    if whole:
        parts = [run["profiles"], *(run[name][verb] for name in RELEASES for verb in _VERBS)]
        values["memory"] = max(part["gigabytes"] for part in parts)
    return values


def invented_log(folder: Path, users: int) -> Path:
    """Return a log of `users`, written unless `folder` has it."""
    log = folder / f"log-{users}.tsv"
    if not log.exists():
        # In a process of its own: the peak memory of children includes that of a large parent.
        temporary = log.with_suffix(".part")
        command = [sys.executable, "-m", "scripts.benchmark.inputs.aol"]
        sizes = ["--users", str(users), "--lines", str(lines_of(users))]
        process([*command, *sizes, "-o", str(temporary)])
        temporary.replace(log)
    return log


def lines_of(users: int) -> int:
    """Return how many lines `users` would have in AOL's log."""
    return round(LINES / USERS * users)


def pipeline(folder: Path, log: Path, share: float, rounds: int) -> dict[str, Any]:
    """Run the verbs from a `share` of `log` to verified releases; return medians of `rounds`."""
    with TemporaryDirectory(dir=folder, prefix="run.") as place:
        run, profiles = Path(place), Path(place) / "profiles.npz"
        part = log if share >= 1 else prefix(log, share, run / "log.tsv")
        made, answer = verb(run, "profiles", part, "-o", profiles)
        facts: dict[str, Any] = {
            "users": answer["users"],
            "terms": answer["terms"],
            "mean size": round(answer["mean_size"], 1),
            "lines": answer["log"]["lines"],
            "profiles": median_of([made]),
        }
        turns = [
            {name: released(run, profiles, RELEASES[name]) for name in RELEASES}
            for _ in range(rounds)
        ]
        for name in RELEASES:
            facts[name] = in_all(facts["profiles"], [turn[name] for turn in turns])
        return facts


def released(run: Path, profiles: Path, parameters: list[str]) -> dict[str, Any]:
    """Anonymize `profiles` and verify the release once; return what each took."""
    words = [word for text in [f"p={P}", *parameters] for word in ("--set", text)]
    release = run / "release"
    anonymized, answer = verb(run, "anonymize", profiles, *words, "-o", release)
    verified, _ = verb(run, "verify", release, "--against", profiles)
    return {"anonymize": anonymized, "verify": verified, "groups": answer["facts"]["groups"]}


def in_all(profiles: Mapping[str, Any], turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians of `turns`, and their sum with that of `profiles`."""
    parts = {name: median_of([turn[name] for turn in turns]) for name in _VERBS}
    total = profiles["seconds"] + sum(part["seconds"] for part in parts.values())
    return {**parts, "groups": turns[0]["groups"], "seconds in all": round(total, 2)}


def median_of(runs: list[Run]) -> dict[str, Any]:
    """Return the median time of `runs` with its quartiles, and the largest memory."""
    memory = round(max(run.gigabytes for run in runs), 3)
    return {**in_seconds([run.seconds for run in runs]), "gigabytes": memory}


def prefix(log: Path, share: float, to: Path) -> Path:
    """Copy the first lines, a `share` of `log`, to the path `to`, and return it."""
    left = int(log.stat().st_size * share)
    with log.open("rb") as source, to.open("wb") as copy:
        while left > 0 and (lines := source.read(min(left, 1 << 24)) + source.readline()):
            left -= copy.write(lines)
    return to

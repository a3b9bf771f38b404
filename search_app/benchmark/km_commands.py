"""R9 of (k,m)-anonymity: verify / anonymize by insertion, whole commands, on R7's log. [I/O]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .bars import Measured
from .km_deletion import METHOD, WARM_UP, made
from .plan import Place, Plan
from .processes import Run, verb
from .whole_logs import FEW, median_of

K = 2
MOST = {"verify km": 2, "verify km triples": 3}  # m of each bar
CHOSEN = ("--terms", "letters-digits", "--weights", "tf", "--drop-robots", "100")


def measure(plan: Plan, place: Place) -> Measured:
    """Run log -> profiles -> release -> verified by the verbs, both m in turns."""
    share, rounds = plan.reduced, min(plan.rounds, FEW)
    log = made(place.kept, share, ".tsv")
    with TemporaryDirectory(dir=place.temporary, prefix="km.") as folder:
        run = Path(folder)
        compile_all(run, place)
        profiles, _ = verb(run, "profiles", log, *CHOSEN, "-o", run / "profiles.npz")
        turns = [
            {name: released(run, run / "profiles.npz", m) for name, m in MOST.items()}
            for _ in range(rounds)
        ]
    found = {name: medians_of([turn[name] for turn in turns]) for name in MOST}
    return Measured(
        {name: ratio_of(found[name]) for name in MOST},
        {
            "share of AltaVista's log": share,
            "profiles": median_of([profiles]),
            "commands": {f"insert ({K},{m})": found[name] for name, m in MOST.items()},
        },
        calls=dict.fromkeys(MOST, rounds),
    )


def compile_all(run: Path, place: Place) -> None:
    """Run the commands once on a few people: the first call on a machine compiles."""
    few = made(place.temporary, WARM_UP, ".npz")
    for m in MOST.values():
        released(run, few, m)
    few.unlink()


def released(run: Path, profiles: Path, m: int) -> dict[str, Run]:
    """Anonymize and verify once."""
    release, settings = run / "release", ("--set", f"k={K}", "--set", f"m={m}")
    anonymized, _ = verb(run, "anonymize", profiles, "-m", METHOD, *settings, "-o", release)
    verified, _ = verb(run, "verify", release, "--against", profiles)
    return {"anonymize": anonymized, "verify": verified}


def medians_of(turns: Sequence[Mapping[str, Run]]) -> dict[str, dict[str, Any]]:
    """Return what each command took, the median of some turns."""
    return {name: median_of([turn[name] for turn in turns]) for name in turns[0]}


def ratio_of(found: Mapping[str, Mapping[str, Any]]) -> float:
    """Divide the medians of the two commands."""
    return float(found["verify"]["seconds"] / found["anonymize"]["seconds"])

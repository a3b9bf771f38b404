"""R9 of (k,m)-anonymity: verify / anonymize by insertion, whole commands, on R7's log. [I/O]"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from ..bars import Measured
from ..plan import Place, Plan
from ..processes import Run, verb
from .km_deletion import METHOD, WARM_UP, made
from .whole_logs import FEW, median_of

K = 2
MOST = {"verify km": 2, "verify km triples": 3}  # m in each bar
CHOSEN = ("--terms", "letters-digits", "--weights", "tf", "--drop-robots", "100")


def measure(plan: Plan, place: Place) -> Measured:
    """Run the verbs from the log to verified releases on a part of the log that `plan` names."""
    share, rounds = plan.reduced, min(plan.rounds, FEW)
    log = made(place.kept, share, ".tsv")
    with TemporaryDirectory(dir=place.temporary, prefix="km.") as folder:
        run = Path(folder)
        few = made(place.temporary, WARM_UP, ".npz")  # the first call on a machine compiles
        for m in MOST.values():
            released(run, few, m)
        few.unlink()
        profiles, _ = verb(run, "profiles", log, *CHOSEN, "-o", run / "profiles.npz")
        turns = [
            {name: released(run, run / "profiles.npz", m) for name, m in MOST.items()}
            for _ in range(rounds)
        ]
    medians = {
        name: {step: median_of([turn[name][step] for turn in turns]) for step in turns[0][name]}
        for name in MOST
    }
    return Measured(
        {
            name: float(steps["verify"]["seconds"] / steps["anonymize"]["seconds"])
            for name, steps in medians.items()
        },
        {
            "share of AltaVista's log": share,
            "profiles": median_of([profiles]),
            "commands": {f"insert ({K},{m})": medians[name] for name, m in MOST.items()},
        },
        calls=dict.fromkeys(MOST, rounds),
    )


def released(run: Path, profiles: Path, m: int) -> dict[str, Run]:
    """Anonymize `profiles` and verify the release once; return what each took."""
    release, settings = run / "release", ("--set", f"k={K}", "--set", f"m={m}")
    anonymized, _ = verb(run, "anonymize", profiles, "-m", METHOD, *settings, "-o", release)
    verified, _ = verb(run, "verify", release, "--against", profiles)
    return {"anonymize": anonymized, "verify": verified}

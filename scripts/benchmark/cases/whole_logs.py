"""R6, and R9 for as many: a log of AOL's shape -> profiles -> releases -> verified. [I/O]"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..bars import Measured
from ..inputs.aol import invented_log
from ..plan import Place, Plan
from ..processes import verb
from .releases import PLAIN, RAW, VERIFIED, VERIFY, WAYS, chosen, in_turns, medians

PROFILES, VERIFY_RAW = "profiles", f"{VERIFY} augment=none"
WARM_UP = 500  # people in the first run, which compiles what each machine compiles once


def measure(plan: Plan, place: Place) -> Measured:
    """Run all commands once on a log of as many people as `plan` says."""
    pipeline(place, invented_log(place.temporary, WARM_UP))
    commands = pipeline(place, invented_log(place.kept, plan.whole))
    values = values_of(commands)
    return Measured(values, {"commands": commands}, calls=dict.fromkeys(values, 1))


def values_of(commands: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the bars' figures from what `commands` took."""
    taken = {name: command["seconds"] for name, command in commands.items()}
    ours = [command["gigabytes"] for name, command in commands.items() if name != PLAIN]
    return {
        "whole raw": taken[PROFILES] + taken[RAW] + taken[VERIFY_RAW],
        "whole WordNet": taken[PROFILES] + taken[VERIFIED] + taken[VERIFY],
        "memory": max(ours),
        "verify 650,000": taken[VERIFY] / taken[PLAIN],
    }


def pipeline(place: Place, log: Path) -> dict[str, Any]:
    """Run the verbs from `log` to verified releases; return what each took."""
    with TemporaryDirectory(dir=place.temporary) as name:
        root, profiles = Path(name), Path(name) / "profiles.npz"
        commands = {PROFILES: medians([verb(root, "profiles", log, "-o", profiles)[0]])}
        for way, judging in ((RAW, VERIFY_RAW), (VERIFIED, VERIFY)):
            release = root / judging
            made, _ = verb(root, "anonymize", profiles, *chosen(WAYS[way]), "-o", release)
            judged = in_turns(root, profiles, release, 1)
            commands |= {way: medians([made]), judging: judged[VERIFY], PLAIN: judged[PLAIN]}
        return commands

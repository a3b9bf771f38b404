"""R11: what it takes to say --help, in whole processes."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

from .bars import Measured
from .plan import Place, Plan
from .processes import process
from .timing import divided, milliseconds, timed

PARTS = {"help": ("veilsearch --help", "python -c pass")}
LEAST = 9  # rounds: they are short, and whole processes vary
WATCH = "from search_app.benchmark.starting import watched; watched()"


def measure(plan: Plan, _place: Place) -> Measured:
    """Time both, and look once what the help loads and whom it calls."""
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "veilsearch --help": [sys.executable, "-m", "search_app", "--help"],
    }
    calls = {name: lambda words=words: process(words) for name, words in commands.items()}
    taken = timed(calls, max(plan.rounds, LEAST), warm_up=1)
    seen = json.loads(process([sys.executable, "-c", WATCH])[1].splitlines()[-1])
    values, counts = divided(taken, PARTS)
    return Measured(values, {**milliseconds(taken), **seen}, faults_of(seen), counts)


def faults_of(seen: dict[str, object]) -> dict[str, str]:
    """Say what a help must not do."""
    faults = []
    if seen["jvm"]:
        faults.append("it loads a JVM")
    if seen["network"]:
        faults.append(f"it uses the network: {seen['network']}")
    return {"help": "; ".join(faults)} if faults else {}


def watched() -> None:
    """Say --help in this process, and after it what was loaded and whom it called."""
    called: list[str] = []
    sys.addaudithook(lambda event, _: called.append(event) if event.startswith("socket.") else None)
    from ..cli import main

    with suppress(SystemExit):
        main(["--help"])
    maps = Path("/proc/self/maps")
    loaded = maps.read_text(encoding="utf-8", errors="replace") if maps.exists() else ""
    jvm = "jnius" in sys.modules or "libjvm" in loaded
    print(json.dumps({"jvm": jvm, "network": sorted(set(called))}))

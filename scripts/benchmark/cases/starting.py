"""R11: the time of --help, in whole processes."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

from ..bars import Measured
from ..plan import Place, Plan
from ..processes import process
from ..timing import divided, milliseconds, timed

PARTS = {"help": ("veilsearch --help", "python -c pass")}
LEAST = 9  # rounds: they are short, and whole processes vary
WATCH = "from scripts.benchmark.cases.starting import watched; watched()"


def measure(plan: Plan, _place: Place) -> Measured:
    """Time both, and check once what the help loads and connects to; rounds are as `plan` says."""
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
    """Return what the help did and must not do, by what was `seen`."""
    faults = []
    if seen["jvm"]:
        faults.append("it loads a JVM")
    if seen["network"]:
        faults.append(f"it uses the network: {seen['network']}")
    return {"help": "; ".join(faults)} if faults else {}


def watched() -> None:
    """Print --help in this process, and then what was loaded and which sockets were used."""
    called: list[str] = []
    sys.addaudithook(lambda event, _: called.append(event) if event.startswith("socket.") else None)
    from search_app.cli import main

    with suppress(SystemExit):
        main(["--help"])
    maps = Path("/proc/self/maps")
    loaded = maps.read_text(encoding="utf-8", errors="replace") if maps.exists() else ""
    jvm = "jnius" in sys.modules or "libjvm" in loaded
    print(json.dumps({"jvm": jvm, "network": sorted(set(called))}))

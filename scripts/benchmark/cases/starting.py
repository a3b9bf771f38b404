"""R11, R12 and R15: how long commands take from nothing, in whole processes. [I/O]"""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import suppress
from pathlib import Path

from anonymizer.storage.profiles import read_profiles
from index.opening import open_forward
from search_app.tasks.demo import is_built
from search_app.workspace.folder import Workspace

from ..bars import Measured
from ..inputs.invented_people import invented_queries
from ..plan import Place, Plan
from ..processes import ROOT, Run, connected, fetch, process, served, veilsearch
from ..timing import divided, in_seconds, milliseconds, seconds_of, timed

PARTS = {"help": ("veilsearch --help", "python -c pass")}
DEMO = "demo"
LEAST = 9  # rounds: they are short, and whole processes vary
WATCH = "from scripts.benchmark.cases.starting import watched; watched()"


def demo_of(plan: Plan, place: Place) -> Workspace:
    """Return the workspace in `plan`, or the demo in `place`, built unless it is there."""
    if plan.demo:
        return Workspace(plan.demo)
    demo = Workspace(place.kept / DEMO)
    if not is_built(demo):
        process([*veilsearch(demo.root), "demo", "--no-serve"])
    return demo


def measure_help(plan: Plan, _place: Place) -> Measured:
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


def measure_first_answers(plan: Plan, place: Place) -> Measured:
    """Time a cold search, and `serve` until it has answered once, in turns (R15)."""
    demo = demo_of(plan, place)
    user = read_profiles(demo.find("profiles")).users[0]
    (query,) = invented_queries(open_forward(demo.find("index")).terms, 1)
    words = [*veilsearch(demo.root), "search", query, "--user", user, "--mode", "group"]

    def answer() -> None:
        with served(demo) as server, connected(server.port) as connection:
            fetch(connection, "/", q=query, user=user, mode="group")

    process(words)  # which reads the index whole, once
    searches: list[Run] = []
    answers: list[float] = []
    for _ in range(plan.rounds):
        searches.append(process(words)[0])
        answers.append(seconds_of(answer))
    taken = {
        "search": in_seconds([run.computing for run in searches]),
        "serve": in_seconds(answers),
    }
    waited = in_seconds([run.seconds for run in searches])
    return Measured(
        {name: times["seconds"] for name, times in taken.items()},
        {**taken, "search, on the clock": waited},
        calls={name: times["calls"] for name, times in taken.items()},
    )


def measure_demo(_plan: Plan, place: Place) -> Measured:
    """Time `demo` where packages are there, and nothing in `place` is compiled (R15)."""
    demo = place.temporary / f"new {DEMO}"
    kept = _empty_caches(place.temporary / "compiled")
    process([sys.executable, "-m", "index.archive"], kept)  # as scripts/setup does
    run, _ = process([*veilsearch(demo), "demo", "--no-serve"], kept)
    if not (place.kept / DEMO).exists():
        demo.rename(place.kept / DEMO)  # for the steps that follow
    return Measured({"demo": run.seconds}, run._asdict(), calls={"demo": 1})


def measure_clone(_plan: Plan, place: Place) -> Measured:
    """Time a clone in `place`, from nothing to its first personalized result (R12)."""
    clone = place.temporary / "clone"
    kept = {
        **_empty_caches(place.temporary / "of clone"),
        "PIP_NO_CACHE_DIR": "1",
        "PYTHONPATH": str(clone),
    }
    cloned, _ = process(["git", "clone", "--quiet", str(ROOT), str(clone)])
    workspace = ["--workspace", str(place.temporary / "demo of clone")]
    made, said = process(
        [f"{clone}/scripts/demo", "--no-serve"], {**kept, "VEILSEARCH_WORKSPACE": workspace[1]}
    )
    example = shlex.split(said.decode().splitlines()[-1], comments=True)
    words = example[example.index("search") :]
    searched, _ = process([f"{clone}/.venv/bin/veilsearch", *workspace, *words], kept)
    runs = {"clone": cloned, "scripts/demo": made, "search": searched}
    seconds = sum(run.seconds for run in runs.values())
    facts = {name: round(run.seconds, 1) for name, run in runs.items()}
    return Measured({"clone": seconds}, {"seconds": facts}, calls={"clone": 1})


def _empty_caches(folder: Path) -> dict[str, str]:
    """Return the variables by which all that a machine compiles once goes to `folder`."""
    folder.mkdir()
    return {"VEILSEARCH_CACHE": str(folder / "cache"), "NUMBA_CACHE_DIR": str(folder)}


def measure_quick(_plan: Plan, _place: Place) -> Measured:
    """Time the tests of every change (R15)."""
    return _tests("quick", "--quick")


def measure_suite(_plan: Plan, _place: Place) -> Measured:
    """Time all tests (R15)."""
    return _tests("suite")


def _tests(name: str, *options: str) -> Measured:
    run, said = process([str(ROOT / "scripts" / "test"), *options])
    last = said.decode("utf-8", "replace").splitlines()[-1].strip("= ")
    return Measured({name: run.seconds}, {**run._asdict(), "tests": last}, calls={name: 1})

"""R8, R9 and R14: each method by its whole command, for the demo's people and many more. [I/O]

The many are made up: each has a hundred terms of three of the demo's people. R14 is what the method
alone takes within its command: without starting, reading and writing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from search_app.errors import UsageError
from search_app.workspace.folder import Workspace

from ..bars import Measured
from ..inputs.aol import invented_log
from ..inputs.invented_people import made_up
from ..plan import Place, Plan
from ..processes import Run, process, veilsearch, verb
from ..timing import in_seconds
from .starting import demo_of

FEW = 3  # rounds at most, as each command takes seconds
WARM_UP = 200  # people in the first runs, which compile what each machine compiles once
FEWEST = "720"  # people: those of the demo
PROFILED = ("--size", "150", "--users", "720")  # as the demo's


class Way(NamedTuple):
    """A method with its parameters, and whether it is for the demo's people only."""

    method: str
    parameters: tuple[str, ...] = ()
    few: bool = False  # it takes minutes for many people


RAW, VERIFIED = "p-linkability augment=none", "p-linkability a=1"
VERIFY, PLAIN = "verify", "reading and hashing its files"
POOLED, COMPOSITION, VOCABULARY = "pooled", "composition", "vocabulary-k"
WAYS = {
    RAW: Way("p-linkability", ("p=0.4", "augment=none")),
    VERIFIED: Way("p-linkability", ("p=0.4", "a=1")),
    POOLED: Way(POOLED, ("p=0.1",)),
    COMPOSITION: Way(COMPOSITION, ("p=0.1",)),
    VOCABULARY: Way(VOCABULARY, ("k=5", "eps=4"), few=True),
    "generalization": Way("generalization", ("k=5",), few=True),
    "km-anonymity": Way("km-anonymity", ("k=5", "m=2")),
    "dp-rows": Way("dp-rows"),
    "topic-rows": Way("topic-rows", few=True),
    "random-k": Way("random-k", ("k=4",)),
    "global-row": Way("global-row"),
    "own-rows": Way("own-rows"),
}
OFTEN = (VERIFIED, POOLED, VOCABULARY)  # bars are of medians; composition takes too long
SLOW = {name: way for name, way in WAYS.items() if way.few}
SHARES = (POOLED, COMPOSITION)  # the methods of R14


def measure_demo(plan: Plan, place: Place) -> Measured:
    """Measure each method, `verify`, and what reads a log, with the people of the demo."""
    demo, rounds = warmed_up(plan, place), min(plan.rounds, FEW)
    profiles, log = demo.find("profiles"), demo.root / "town.tsv"
    commands, faults = of_people(demo, profiles, WAYS, place, rounds)
    commands |= tried(faults, "log", lambda: of_log(log, place, PROFILED))
    commands |= tried(faults, VERIFY, lambda: verified(demo, profiles, place, rounds))
    return figures(FEWEST, commands, faults)


def measure_made_up(plan: Plan, place: Place) -> Measured:
    """Measure what is quick enough for as many made-up people as `plan` says."""
    demo, rounds = warmed_up(plan, place), min(plan.rounds, FEW)
    profiles = made_up(place.kept, demo.find("profiles"), plan.made_up)
    quick = {name: way for name, way in WAYS.items() if not way.few}
    commands, faults = of_people(demo, profiles, quick, place)
    log = invented_log(place.kept, plan.made_up)
    commands |= tried(faults, "log", lambda: of_log(log, place))
    commands |= tried(faults, VERIFY, lambda: verified(demo, profiles, place, rounds))
    return figures("20,000", commands, faults)


def measure_many(plan: Plan, place: Place) -> Measured:
    """Measure the methods of R14 with the most people of `plan`."""
    demo = warmed_up(plan, place)
    profiles = made_up(place.kept, demo.find("profiles"), plan.many)
    ways = {name: WAYS[name] for name in SHARES}
    return figures("100,000", *of_people(demo, profiles, ways, place))


def measure_slow(plan: Plan, place: Place) -> Measured:
    """Measure the methods that take minutes with the made-up people of `plan`; no bar has them."""
    demo = warmed_up(plan, place)
    profiles = made_up(place.kept, demo.find("profiles"), plan.made_up)
    return figures("", *of_people(demo, profiles, SLOW, place))


def of_people(
    demo: Workspace, profiles: Path, ways: Mapping[str, Way], place: Place, rounds: int = 1
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what each of `ways` takes for `profiles`, `rounds` times where bars are; faults."""
    commands: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for name, way in ways.items():
        often = rounds if name in OFTEN else 1
        one = partial(released, demo, profiles, way, place, often)
        if run := tried(faults, name, one):
            commands[name] = run
    return commands, faults


def tried(faults: dict[str, str], name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what `work` returns; if it fails, nothing, and put into `faults` why `name` failed."""
    try:
        return work()
    except UsageError as fault:  # the others have figures to give
        faults[name] = str(fault)
        return {}


def figures(people: str, commands: dict[str, Any], faults: dict[str, str]) -> Measured:
    """Return the figures of the bars for that number of `people`, with `commands` and `faults`."""
    runs = {name: commands[name] for name in SHARES if name in commands}
    known = {f"{name} {people}": (run, run["method alone"]) for name, run in runs.items()}
    if people == FEWEST and VOCABULARY in commands:
        known["vocabulary"] = commands[VOCABULARY], commands[VOCABULARY]["seconds"]
    if VERIFY in commands:
        ratio = commands[VERIFY]["seconds"] / commands[PLAIN]["seconds"]
        known[f"{VERIFY} {people}"] = commands[VERIFY], ratio
    facts = {"commands": commands, **({"faults": faults} if faults else {})}
    calls = {name: int(run["calls"]) for name, (run, _) in known.items()}
    return Measured({name: float(value) for name, (_, value) in known.items()}, facts, calls=calls)


def measure_experiment(plan: Plan, place: Place) -> Measured:
    """Measure the experiment of Zhu & Xiong on the demo's town, whole; no bar has it."""
    demo = demo_of(plan, place)
    run, _ = verb(demo.root, "experiment", "zhu-xiong", "-o", place.temporary / "zhu-xiong")
    return Measured(facts={"commands": {"experiment zhu-xiong": medians([run])}})


def warmed_up(plan: Plan, place: Place) -> Workspace:
    """Return the demo of `plan`; each method has run there once, so nothing is compiled later."""
    demo = demo_of(plan, place)
    if not any(place.temporary.glob("people-*")):
        few = made_up(place.temporary, demo.find("profiles"), WARM_UP)
        of_people(demo, few, WAYS, place)
    return demo


def released(
    demo: Workspace, profiles: Path, way: Way, place: Place, rounds: int
) -> dict[str, Any]:
    """Return what `anonymize` takes for `profiles` in this `way`, and the method alone."""
    runs: list[Run] = []
    alone: list[float] = []
    for _ in range(rounds):
        with TemporaryDirectory(dir=place.temporary) as name:
            seconds = Path(name, "seconds.json")
            words = ["anonymize", str(profiles), *chosen(way), "-o", str(Path(name, "release"))]
            command = veilsearch(demo.root)[3:] + words
            module = f"{__package__}.timed_method"
            runs.append(process([sys.executable, "-m", module, str(seconds), *command])[0])
            alone.append(json.loads(seconds.read_text(encoding="utf-8")))
    return {**medians(runs), "method alone": in_seconds(alone)["seconds"]}


def chosen(way: Way) -> list[str]:
    """Return `way` as words of `anonymize`."""
    return ["-m", way.method, *(word for text in way.parameters for word in ("--set", text))]


def of_log(log: Path, place: Place, size: Sequence[str] = ()) -> dict[str, Any]:
    """Return what `profiles` of this `size` and `query-k` take for `log`."""
    with TemporaryDirectory(dir=place.temporary) as name:
        root, way = Path(name), ("-m", "query-k", "--set", "k=5")
        # Profiles would end the release of the demo, so this workspace is another.
        made, _ = verb(root, "profiles", log, *size, "-o", root / "profiles.npz")
        kept, _ = verb(root, "anonymize", log, *way, "-o", root / "release")
    return {"profiles": medians([made]), "query-k": medians([kept])}


def verified(demo: Workspace, profiles: Path, place: Place, rounds: int) -> dict[str, Any]:
    """Return what `verify` takes, and reading and hashing the same files, in turns."""
    with TemporaryDirectory(dir=place.temporary) as name:
        release = Path(name, "release")
        verb(demo.root, "anonymize", profiles, *chosen(WAYS[VERIFIED]), "-o", release)
        return in_turns(demo.root, profiles, release, rounds)


def in_turns(root: Path, profiles: Path, release: Path, rounds: int) -> dict[str, Any]:
    """Return what `verify` of `release` takes, and reading and hashing its files and `profiles`."""
    files = [profiles, *sorted(path for path in release.rglob("*") if path.is_file())]
    plain = [sys.executable, "-m", f"{__package__}.plain_reading", *map(str, files)]
    runs = [
        (verb(root, "verify", release, "--against", profiles)[0], process(plain)[0])
        for _ in range(rounds)
    ]
    judged, read = zip(*runs, strict=True)
    return {VERIFY: medians(judged), PLAIN: medians(read)}


def medians(runs: Iterable[Run]) -> dict[str, Any]:
    """Return the median times of `runs`, and the largest memory."""
    made = list(runs)
    computing = in_seconds([run.computing for run in made])["seconds"]
    memory = round(max(run.gigabytes for run in made), 3)
    return {
        **in_seconds([run.seconds for run in made]),
        "computing": computing,
        "gigabytes": memory,
    }

"""All measurements in one run; one that can't be made never stops the others. [I/O]

Processes are measured first: the memory of a child counts from what its parent had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anonymizer.methods import METHODS
from anonymizer.model import AnonymizerError
from index.model import SearchError

from ..errors import UsageError
from . import (
    clustering,
    index_building,
    km_deletion,
    load,
    pages,
    reading,
    searching,
    starting,
    whole_logs,
)
from .bars import BARS, Finding, Measured, judged, missing
from .machine import Load, Spent, busy, load_average, now
from .plan import Place, Plan, Step

STEPS = (
    Step(("R6", "R9"), "logs -> profiles -> releases -> verified", whole_logs.measure),
    Step(("R7",), "deleting terms until m of them are k people's", km_deletion.measure),
    Step(("R10",), "reading a log", reading.measure),
    Step(("R11",), "saying --help", starting.measure),
    Step(("index",), "building indexes", index_building.measure),
    Step(("R4",), "clustering more and more users", clustering.measure_growth),
    Step(("R5",), "clustering against the obvious version", clustering.measure_obvious),
    Step(("R1", "R2"), "searching and re-ranking", searching.measure),
    Step(("R3",), "asking for pages", pages.measure),
    Step(("R13",), "asking for pages from many clients", load.measure),
)
METHOD_OF = {"R8": "vocabulary-k"}
WHY_NOT = {
    "R12": "it begins before there is a veilsearch; time scripts/demo in a fresh clone",
    "R13": "it takes minutes; ask for it with --load",
    "index": "it needs a corpus; ask for it with --index CORPUS",
}


@dataclass(frozen=True)
class Report:
    """What a run found."""

    findings: tuple[Finding, ...]
    facts: dict[str, Any]
    taken: dict[str, Spent]  # of each step
    loads: dict[str, Load]  # of each step
    spent: Spent


def run(plan: Plan, note: Callable[[str], object], steps: Sequence[Step] = STEPS) -> Report:
    """Make the measurements that are asked for."""
    began = now()
    found: dict[str, Finding] = {}
    facts: dict[str, Any] = {}
    taken: dict[str, Spent] = {}
    loads: dict[str, Load] = {}
    with _place(plan.folder) as place:
        for step in steps:
            asked = [ratio for ratio in step.ratios if plan.wants(ratio)]
            if not asked or not _may_run(plan, asked):
                continue
            label = " ".join(asked)
            note(f"bench: {label}, {step.doing} ...")
            start, before = now(), load_average()
            measured, fault = _measured(step, plan, place)
            taken[label], loads[label] = now().since(start), Load(before, load_average())
            facts[label] = dict(measured.facts)
            others = busy(taken[label], loads[label])
            for name in _names(asked, plan):
                told = judged(name, measured, taken[label], others)
                found[name] = missing(name, fault) if fault else told
    rest = _names(plan.only, plan)
    findings = tuple(found.get(name) or missing(name, why_not(name)) for name in rest)
    return Report(findings, facts, taken, loads, now().since(began))


def _may_run(plan: Plan, asked: Sequence[str]) -> bool:
    """Tell whether what takes minutes was asked for by its own option."""
    wanted = {"R13": plan.under_load, "index": bool(plan.corpora)}
    return all(wanted.get(ratio, True) for ratio in asked)


def _measured(step: Step, plan: Plan, place: Place) -> tuple[Measured, str]:
    try:
        return step.measure(plan, place), ""
    except (UsageError, AnonymizerError, SearchError, OSError) as fault:
        return Measured(), " ".join(str(fault).split())


def _names(ratios: Sequence[str], plan: Plan) -> list[str]:
    """Return the bars of some ratios, in their order."""
    return [
        name
        for name, bar in BARS.items()
        if bar.ratio in ratios and not (plan.whole and name.startswith("small "))
    ]


def why_not(name: str) -> str:
    """Say why a bar was not measured."""
    ratio = BARS[name].ratio
    if ratio in METHOD_OF:
        method = METHOD_OF[ratio]
        if method not in METHODS:
            return f"needs the method {method}, which is not built yet"
        return f"the method {method} is there, its measurement is not yet"
    return WHY_NOT.get(ratio, "it was left out")


@contextmanager
def _place(kept: Path | None) -> Iterator[Place]:
    """Give folders to work in: one that goes in the end, and what shall be kept."""
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="veilsearch-bench.", dir=kept) as folder:
        yield Place(Path(folder), kept or Path(folder))

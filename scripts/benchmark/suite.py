"""All measurements in one run; one that fails never stops the others. [I/O]

Processes are measured first, because the peak memory of a child includes what its parent had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anonymizer.errors import AnonymizerError
from index.model import SearchError
from search_app.errors import UsageError

from .bars import BARS, Finding, Measured, judged, missing
from .cases import (
    clustering,
    index_building,
    km_commands,
    km_deletion,
    pages,
    reading,
    searching,
    starting,
    whole_logs,
)
from .machine import Load, Spent, busy, load_average, now
from .plan import Place, Plan, Step

STEPS = (
    Step(
        ("R6", "R9"),
        "logs -> profiles -> releases -> verified",
        whole_logs.measure,
        whole_logs.MEASURED,
    ),
    Step(("R7",), "deleting terms until any m of them belong to k people", km_deletion.measure),
    Step(
        ("R9",),
        "verifying what deletion leaves",
        km_commands.measure,
        tuple(km_commands.MOST),
        "R9 km",
    ),
    Step(("R10",), "reading a log", reading.measure),
    Step(("R11",), "saying --help", starting.measure),
    Step(("index",), "building indexes", index_building.measure),
    Step(("R4",), "clustering more and more users", clustering.measure_growth),
    Step(("R5",), "clustering against the obvious version", clustering.measure_obvious),
    Step(("R1", "R2"), "searching and re-ranking", searching.measure),
    Step(("R3",), "asking for pages", pages.measure),
    Step(("R13",), "asking for pages from many clients", pages.measure_load),
)
WHY_NOT = {
    "R8": "it is not built; docs/performance.md has times of the method",
    "R12": "it begins before veilsearch is installed; time scripts/demo in a fresh clone",
    "R13": "it takes minutes; ask for it with --load",
    "index": "it needs a corpus; ask for it with --index CORPUS",
}


@dataclass(frozen=True)
class Report:
    """The result of a run."""

    findings: tuple[Finding, ...]
    facts: dict[str, Any]
    taken: dict[str, Spent]  # by step
    loads: dict[str, Load]  # by step
    spent: Spent


def run(plan: Plan, note: Callable[[str], object], steps: Sequence[Step] = STEPS) -> Report:
    """Make the measurements of `plan`, call `note` before each step, and return the report."""
    began = now()
    findings: dict[str, Finding] = {}
    facts: dict[str, Any] = {}
    taken: dict[str, Spent] = {}
    loads: dict[str, Load] = {}
    wanted = {"R13": plan.under_load, "index": bool(plan.corpora)}  # by options of their own
    with _place(plan.folder) as place:
        for step in steps:
            ratios = [ratio for ratio in step.ratios if plan.wants(ratio)]
            if not ratios or any(not wanted.get(ratio, True) for ratio in ratios):
                continue
            label = step.label or " ".join(ratios)
            note(f"bench: {label}, {step.doing} ...")
            start, before = now(), load_average()
            measured, fault = Measured(), ""
            try:
                measured = step.measure(plan, place)
            except (UsageError, AnonymizerError, SearchError, OSError) as why:
                fault = " ".join(str(why).split())
            taken[label], loads[label] = now().since(start), Load(before, load_average())
            facts[label] = dict(measured.facts)
            others = busy(taken[label], loads[label])
            for name in _names(ratios, plan, step.bars):
                finding = judged(name, measured, taken[label], others)
                findings[name] = missing(name, fault) if fault else finding
    names = _names(plan.only, plan)
    ordered = tuple(findings.get(name) or missing(name, why_not(name)) for name in names)
    return Report(ordered, facts, taken, loads, now().since(began))


def _names(ratios: Sequence[str], plan: Plan, some: Sequence[str] = ()) -> list[str]:
    """Return the bars of `ratios`, or only `some` of them, in the order of `BARS`."""
    return [
        name
        for name, bar in BARS.items()
        if bar.ratio in ratios
        and (not some or name in some)
        and not (plan.whole and name.startswith("small "))
    ]


def why_not(name: str) -> str:
    """Return why the bar `name` was not measured."""
    return WHY_NOT.get(BARS[name].ratio, "it was not asked for")


@contextmanager
def _place(kept: Path | None) -> Iterator[Place]:
    """Give folders to work in: a temporary one, and one that is kept (`kept`, or else the same)."""
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="veilsearch-bench.", dir=kept) as folder:
        yield Place(Path(folder), kept or Path(folder))

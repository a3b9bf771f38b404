"""All measurements in one run; one that fails never stops the others. [I/O]"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .bars import BARS, NOT_MEASURED, TOO_BUSY, Finding, Measured, judged, missing
from .cases import (
    clustering,
    km_deletion,
    pages,
    reading,
    releases,
    searching,
    starting,
    whole_logs,
)
from .machine import Load, Spent, busy, load_average, now
from .plan import FULL, LOAD, Place, Plan, Step

# Commands come first, because the peak memory of a process includes what its parent had.
STEPS = {
    "demo": Step(("demo",), "a demo where nothing is compiled", starting.measure_demo),
    "starts": Step(("search", "serve"), "cold starts", starting.measure_first_answers),
    "help": Step(("help",), "--help", starting.measure_help),
    "720": Step(
        ("vocabulary", "verify 720", "pooled 720", "composition 720"),
        "each method for the demo's 720 people",
        releases.measure_demo,
    ),
    "20k": Step(
        ("verify 20,000", "pooled 20,000", "composition 20,000"),
        "each method for 20,000 people",
        releases.measure_made_up,
    ),
    "deletion": Step(
        ("km", "km triples", "km greedy"), "(k,m)-anonymity of a whole log", km_deletion.measure
    ),
    "100k": Step(
        ("pooled 100,000", "composition 100,000"),
        "100,000 people",
        releases.measure_many,
        FULL,
    ),
    "650k": Step(
        ("whole raw", "whole WordNet", "memory", "verify 650,000"),
        "a whole search engine's log",
        whole_logs.measure,
        FULL,
    ),
    "experiment": Step((), "an experiment", releases.measure_experiment, FULL),
    "clone": Step(("clone",), "a fresh clone", starting.measure_clone, FULL),
    "quick": Step(("quick",), "the quick tests", starting.measure_quick, FULL),
    "suite": Step(("suite",), "all tests", starting.measure_suite, FULL),
    "slow": Step((), "slow methods for 20,000 people", releases.measure_slow, FULL),
    "reading": Step(("reading",), "reading a log", reading.measure),
    "growth": Step(
        ("growth", "clustering"), "grouping more and more people", clustering.measure_growth
    ),
    "obvious": Step(
        ("obvious",), "grouping against its obvious version", clustering.measure_obvious
    ),
    "pools": Step(("pool", "pyserini", "rerank"), "searching and re-ranking", searching.measure),
    "pages": Step(
        tuple(f"{page}{ratio}" for page in pages.KINDS for ratio in ("", f" / {pages.BARE}")),
        "pages for one client",
        pages.measure,
    ),
    "load": Step(
        ("load", "load p95", "load errors"), "pages for 32 clients", pages.measure_load, LOAD
    ),
}


@dataclass(frozen=True)
class Outcome:
    """The result of a step: its findings, further facts, what it took, and why it failed."""

    findings: tuple[Finding, ...]
    facts: dict[str, Any]
    spent: Spent
    load: Load
    fault: str = ""

    @property
    def settled(self) -> bool:
        """Return whether another run would only say the same."""
        verdicts = {finding.verdict for finding in self.findings}
        return not (self.fault or self.facts.get("faults") or verdicts & {TOO_BUSY, NOT_MEASURED})


Keep = Callable[[str, Outcome], object]


def run(
    plan: Plan, note: Callable[[str], object], steps: dict[str, Step], keep: Keep
) -> dict[str, Outcome]:
    """Make the measurements in `steps`; call `note` before each, and `keep` with each outcome."""
    outcomes: dict[str, Outcome] = {}
    with _place(plan.folder) as place:
        for number, (name, step) in enumerate(steps.items(), 1):
            note(f"bench: {number} of {len(steps)}, {name}: {step.doing} ...")
            outcomes[name] = outcome_of(plan, place, step)
            keep(name, outcomes[name])
    return outcomes


def outcome_of(plan: Plan, place: Place, step: Step) -> Outcome:
    """Return the outcome of `step`, whatever happens in it."""
    start, before = now(), load_average()
    measured, fault = Measured(), ""
    try:
        measured = step.measure(plan, place)
    except Exception as why:  # of any kind: the other steps have figures to give
        fault = " ".join(f"{type(why).__name__}: {why}".split())
    spent, load = now().since(start), Load(before, load_average())
    others = busy(spent, load)
    findings = tuple(
        missing(name, fault) if fault else judged(name, measured, others) for name in step.bars
    )
    return Outcome(findings, dict(measured.facts), spent, load, fault)


def steps_of(plan: Plan) -> dict[str, Step]:
    """Return the steps that `plan` asks for: by name, or of its kinds, and of its bars if any."""
    asked = {name: step for name, step in STEPS.items() if step.kind in ("", *plan.kinds)}
    if not plan.only:
        return asked
    wanted = set(plan.only)
    return {
        name: step
        for name, step in STEPS.items()
        if name in wanted or (name in asked and wanted & {BARS[bar].ratio for bar in step.bars})
    }


@contextmanager
def _place(kept: Path | None) -> Iterator[Place]:
    """Give folders to work in: a temporary one, and one that is kept (`kept`, or else the same)."""
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="veilsearch-bench.", dir=kept) as folder:
        yield Place(Path(folder), kept or Path(folder))

"""A benchmark's report, for machines and for people."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from search_app import __version__

from .bars import MISSED, VERDICTS, Finding, shown
from .machine import Load, cores, load_average
from .suite import Report

HEAD = ("ratio", "what", "measured", "bar", "median of", "computing", "verdict")
PACKAGES = ("numpy", "scipy", "numba", "pyserini", "pyjnius", "flask", "waitress", "pyarrow")


def as_json(report: Report) -> dict[str, Any]:
    """Return all of `report` for machines."""
    return {
        "findings": [finding.as_json() for finding in report.findings],
        "facts": report.facts,
        "versions": versions(),
        "cores": cores(),
        "spent on each": {
            name: {**spent._asdict(), "load": report.loads[name]._asdict()}
            for name, spent in report.taken.items()
        },
        "load": _load(report)._asdict(),
        **report.spent._asdict(),
    }


def lines(report: Report) -> list[str]:
    """Return `report` in lines: a table of the bars, the machine and the versions."""
    bars = _table([HEAD, *map(_cells, report.findings)])
    verdicts = [finding.verdict for finding in report.findings]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS)
    known = ", ".join(f"{name} {number}" for name, number in versions().items())
    return [*bars, *_deletions(report.facts), counts, _machine(report), known]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _deletions(facts: Mapping[str, Any]) -> list[str]:
    """Return a line for each case of R7, also for targets without a bar."""
    lines = []
    for known in (known for known in facts.values() if "cases" in known):
        rows = [("R7, target by target", "took", "log size kept", "memory")]
        for case, run in known["cases"].items():
            kept = f"{100 * run['share of log size kept']:.1f} %"
            rows.append((case, f"{run['seconds']:.1f} s", kept, f"{run['gigabytes']:.2f} GB"))
        lines += ["", *_table(rows), ""]
    return lines


def _cells(finding: Finding) -> tuple[str, ...]:
    bar = finding.bar
    value = "-" if finding.value is None else shown(finding.value, bar.unit)
    if finding.verdict == MISSED and bar.in_words().endswith(f" {value}"):
        value = f"{finding.value:.6g} {bar.unit}".rstrip()  # rounded, it would look like the bar
    calls = "" if finding.calls is None else f"{finding.calls:,}"
    verdict = f"{finding.verdict}: {finding.reason}" if finding.reason else finding.verdict
    spent = finding.spent
    computing = f"{spent.computing:.1f} of {spent.seconds:.1f} s" if spent else ""
    return bar.ratio, bar.what, value, bar.in_words(), calls, computing, verdict


def _machine(report: Report) -> str:
    """Return in words what the run and others took of the machine."""
    cores_ = f"{cores()} {'core' if cores() == 1 else 'cores'}"
    spent, load = report.spent, _load(report)
    others = "" if spent.others is None else f", others computed {spent.others:.0f} s"
    own = f"{spent.seconds:.0f} s, of which {spent.computing:.0f} s computing, on {cores_}"
    return f"{own}{others}; load {load.before:g} before and {load.after:g} after"


def _load(report: Report) -> Load:
    """Return the load averages before and after the whole run."""
    loads = list(report.loads.values()) or [Load(load_average(), load_average())]
    return Load(loads[0].before, loads[-1].after)


def versions() -> dict[str, str]:
    """Return the versions of what was measured, or "missing" for a package."""
    numbers = {"veilsearch": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            numbers[name] = version(name)
        except PackageNotFoundError:
            numbers[name] = "missing"
    return numbers

"""A benchmark's report, for machines and for people. [I/O]"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .. import __version__
from .bars import MISSED, NO_BAR, NOT_MEASURED, OK, Finding, shown
from .growth_plot import Points, plot
from .suite import Report

PACKAGES = ("numpy", "scipy", "numba", "pyserini", "pyjnius", "flask", "waitress", "pyarrow")


def as_json(report: Report) -> dict[str, Any]:
    """Return everything."""
    return {
        "findings": [finding.as_json() for finding in report.findings],
        "facts": report.facts,
        "versions": versions(),
        "cores": cores(),
        "spent on each": {name: spent._asdict() for name, spent in report.taken.items()},
        **report.spent._asdict(),
    }


def lines(report: Report) -> list[str]:
    """Return a table, a bar in a line, and what it was measured with."""
    rows = [_cells(finding) for finding in report.findings]
    widths = [max(len(row[at]) for row in rows) for at in range(4)]
    told = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        + f"  {row[4]}"
        for row in rows
    ]
    verdicts = [finding.verdict for finding in report.findings]
    counts = ", ".join(
        f"{verdicts.count(each)} {each}" for each in (OK, MISSED, NO_BAR, NOT_MEASURED)
    )
    known = ", ".join(f"{name} {found}" for name, found in versions().items())
    cores_ = f"{cores()} {'core' if cores() == 1 else 'cores'}"
    spent = f"{report.spent.seconds:.0f} s, of which {report.spent.computing:.0f} s computing"
    return [*told, f"{counts}; {spent}, on {cores_}", known]


def _cells(finding: Finding) -> tuple[str, str, str, str, str]:
    bar = finding.bar
    value = "-" if finding.value is None else shown(finding.value, bar.unit)
    verdict = f"{finding.verdict}: {finding.reason}" if finding.reason else finding.verdict
    return bar.ratio, bar.what, value, bar.in_words(), verdict


def stages(facts: Mapping[str, Any]) -> dict[str, Points]:
    """Return seconds over users of each stage of whole logs, and of clustering alone."""
    found: dict[str, Points] = {}
    for known in facts.values():
        if "time(2n) / time(n)" in known:
            seconds = known["seconds"].items()
            found["clustering alone"] = [(float(users), taken) for users, taken in seconds]
    for runs in (known["runs"] for known in facts.values() if "runs" in known):
        found["profiles"] = [(run["users"], run["profiles"]["seconds"]) for run in runs]
        for name in ("raw", "WordNet"):
            for verb in ("anonymize", "verify"):
                taken = [(run["users"], run[name][verb]["seconds"]) for run in runs]
                found[f"{verb}, {name}"] = taken
    return found


def drawn(report: Report) -> str:
    """Draw how time grows with users, as SVG."""
    return plot(stages(report.facts))


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def versions() -> dict[str, str]:
    """Return the versions of what was measured; of a package that is not there, that."""
    found = {"veilsearch": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found

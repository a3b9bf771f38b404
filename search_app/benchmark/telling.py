"""A benchmark's report, for machines and for people."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .. import __version__
from .bars import MISSED, VERDICTS, Finding, shown
from .growth_plot import Points, plot
from .machine import Load, Spent, cores, load_average
from .suite import Report

HEAD = ("ratio", "what", "measured", "bar", "median of", "computing", "verdict")
PACKAGES = ("numpy", "scipy", "numba", "pyserini", "pyjnius", "flask", "waitress", "pyarrow")


def as_json(report: Report) -> dict[str, Any]:
    """Return everything."""
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
    """Return a table, a bar in a line, and what it was measured with."""
    told = _table([HEAD, *map(_cells, report.findings)])
    verdicts = [finding.verdict for finding in report.findings]
    counts = ", ".join(f"{verdicts.count(each)} {each}" for each in VERDICTS)
    known = ", ".join(f"{name} {found}" for name, found in versions().items())
    return [*told, *_deletions(report.facts), counts, _machine(report), known]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _deletions(facts: Mapping[str, Any]) -> list[str]:
    """Return each case of R7 in a line: those of targets that have no bar are in no other."""
    told = []
    for known in (known for known in facts.values() if "cases" in known):
        rows = [("R7, target by target", "took", "log size kept", "memory")]
        for case, run in known["cases"].items():
            kept = f"{100 * run['share of log size kept']:.1f} %"
            rows.append((case, f"{run['seconds']:.1f} s", kept, f"{run['gigabytes']:.2f} GB"))
        told += ["", *_table(rows), ""]
    return told


def _cells(finding: Finding) -> tuple[str, ...]:
    bar = finding.bar
    value = "-" if finding.value is None else shown(finding.value, bar.unit)
    if finding.verdict == MISSED and bar.in_words().endswith(f" {value}"):
        value = f"{finding.value:.6g} {bar.unit}".rstrip()  # by a hair
    calls = "" if finding.calls is None else f"{finding.calls:,}"
    verdict = f"{finding.verdict}: {finding.reason}" if finding.reason else finding.verdict
    return bar.ratio, bar.what, value, bar.in_words(), calls, _computing(finding.spent), verdict


def _computing(spent: Spent | None) -> str:
    return f"{spent.computing:.1f} of {spent.seconds:.1f} s" if spent else ""


def _machine(report: Report) -> str:
    """Say what the whole run took of the machine, and what others took."""
    cores_ = f"{cores()} {'core' if cores() == 1 else 'cores'}"
    spent, load = report.spent, _load(report)
    others = "" if spent.others is None else f", others computed {spent.others:.0f} s"
    told = f"{spent.seconds:.0f} s, of which {spent.computing:.0f} s computing, on {cores_}"
    return f"{told}{others}; load {load.before:g} before and {load.after:g} after"


def _load(report: Report) -> Load:
    """Return the load averages before and after the whole run."""
    loads = list(report.loads.values()) or [Load(load_average(), load_average())]
    return Load(loads[0].before, loads[-1].after)


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


def versions() -> dict[str, str]:
    """Return the versions of what was measured; of a package that is not there, that."""
    found = {"veilsearch": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found

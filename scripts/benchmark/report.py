"""A benchmark's report, for machines and for people; a file keeps it step by step. [I/O]"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from anonymizer.compiled import cores
from search_app import __version__

from .bars import MISSED, OK, VERDICTS, Finding, shown
from .processes import ROOT
from .suite import Outcome

HEAD = ("bar", "what", "measured", "goal", "median of", "verdict")
COMMANDS = ("time", "processor time", "method alone", "peak memory")
PACKAGES = ("numpy", "scipy", "numba", "pyserini", "pyjnius", "flask", "waitress", "pyarrow")


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Return all of `outcome` for machines, with when and where it was measured."""
    return {
        "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        "commit": commit(),
        "machine": {"cores": cores(), "memory GB": memory(), "system": platform.system()},
        "versions": versions(),
        "load": outcome.load._asdict(),
        "spent": outcome.spent._asdict(),
        "settled": outcome.settled,
        "findings": {finding.name: finding.as_json() for finding in outcome.findings},
        "facts": outcome.facts,
        **({"fault": outcome.fault} if outcome.fault else {}),
    }


def kept_in(path: Path) -> dict[str, Any]:
    """Return the steps that the file at `path` holds, by name."""
    if not path.exists():
        return {}
    steps: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return steps


def keep(path: Path, name: str, outcome: Outcome, order: Iterable[str]) -> None:
    """Put the `outcome` of the step `name` into the file at `path`, in the `order` of all steps."""
    steps = {**kept_in(path), name: as_json(outcome)}
    ordered = {step: steps[step] for step in order if step in steps}
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(ordered, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    part.replace(path)  # so that a run that is killed leaves a whole file


def lines(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield `outcomes` in lines: tables of bars and commands, the machine, the versions."""
    found = [finding for outcome in outcomes.values() for finding in outcome.findings]
    if found:
        yield from _table([HEAD, *map(_cells, found)])
    for name, outcome in outcomes.items():
        if commands := outcome.facts.get("commands"):
            yield from ("", *_table([(name, *COMMANDS), *command_cells(commands)]), "")
        if outcome.fault and not outcome.findings:
            yield f"{name}: {outcome.fault}"
    verdicts = [finding.verdict for finding in found]
    yield ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS)
    yield _machine(list(outcomes.values()))
    yield ", ".join(f"{name} {number}" for name, number in versions().items())


def brief(outcome: Outcome) -> str:
    """Return in a line what `outcome` found and took."""
    found = [
        f"{one.name} {value_of(one)}{'' if one.verdict == OK else f' {one.verdict}'}"
        for one in outcome.findings
    ]
    spent = f"{outcome.spent.seconds:.0f} s, {outcome.spent.computing:.0f} s computing"
    faults = [f"{name} failed: {why}" for name, why in outcome.facts.get("faults", {}).items()]
    return "; ".join([outcome.fault] if outcome.fault else found + faults) + f" ({spent})"


def command_cells(commands: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each of `commands`: what it took."""
    for name, run in commands.items():
        alone = f"{run['method alone']:,.1f} s" if "method alone" in run else ""
        times = (f"{run[time_]:,.1f} s" for time_ in ("seconds", "computing"))
        yield name, *times, alone, f"{run['gigabytes']:.2f} GB"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _cells(finding: Finding) -> tuple[str, ...]:
    bar = finding.bar
    verdict = f"{finding.verdict}: {finding.reason}" if finding.reason else finding.verdict
    calls = "" if finding.calls is None else f"{finding.calls:,}"
    return bar.ratio, bar.what, value_of(finding), bar.in_words(), calls, verdict


def value_of(finding: Finding) -> str:
    """Return the figure of `finding` in words."""
    bar = finding.bar
    if finding.value is None:
        return "-"
    value = shown(finding.value, bar.unit)
    if finding.verdict == MISSED and bar.in_words().endswith(f" {value}"):
        return f"{finding.value:.6g} {bar.unit}".rstrip()  # rounded, it would look like the bar
    return value


def _machine(outcomes: Sequence[Outcome]) -> str:
    """Return in words what `outcomes` and other programs took of the machine."""
    seconds = sum(one.spent.seconds for one in outcomes)
    computing = sum(one.spent.computing for one in outcomes)
    others = sum(one.spent.others or 0 for one in outcomes)
    cores_ = f"{cores()} {'core' if cores() == 1 else 'cores'}"
    loads = f"load {outcomes[0].load.before:g} before and {outcomes[-1].load.after:g} after"
    ours = f"{seconds:.0f} s, of which {computing:.0f} s computing, on {cores_}"
    return f"{ours}; others computed {others:.0f} s; {loads}"


def memory() -> int:
    """Return how much memory the machine has, in gigabytes."""
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9)


@cache
def commit() -> str:
    """Return the commit of the checkout, with a plus if files differ from it; "" without git."""
    git = ["git", "-C", str(ROOT)]
    status = ["status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/performance.*"]
    try:
        named, changed = (
            subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout  # noqa: S603
            for words in (["rev-parse", "--short", "HEAD"], status)
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return named.strip() + ("+" if changed else "")


def versions() -> dict[str, str]:
    """Return the versions of what was measured, or "missing" for a package."""
    numbers = {"veilsearch": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            numbers[name] = version(name)
        except PackageNotFoundError:
            numbers[name] = "missing"
    return numbers

"""The generated parts of docs/performance.md, from the outcomes that `--write` keeps. [I/O]"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from scripts.docs import put_into, table

from .bars import BARS, Finding, shown
from .processes import ROOT
from .report import kept_in, value_of

PAGE = ROOT / "docs" / "performance.md"
KEPT = PAGE.with_suffix(".json")
# The people of each step that measures commands.
PEOPLE = {
    "720": "720",
    "experiment": "720",
    "20k": "20,000",
    "slow": "20,000",
    "100k": "100,000",
    "650k": "650,000",
}


def write() -> None:
    """Write the page again, with what is kept."""
    PAGE.write_text(put_into(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def part(name: str) -> str:
    """Return the part `name` of the page: bars, commands or runs."""
    return {"bars": bars, "commands": commands, "runs": runs}[name](kept_in(KEPT))


def bars(steps: Mapping[str, Any]) -> str:
    """Return a table of all bars, with what `steps` measured."""
    measured = {name: value for step in steps.values() for name, value in step["findings"].items()}
    rows = []
    for name, bar in BARS.items():
        known = {key: measured.get(name, {}).get(key) for key in ("value", "verdict")}
        found = Finding(name, known["value"], known["verdict"] or "not measured")
        rows.append([bar.ratio, bar.what, value_of(found), bar.in_words(), found.verdict])
    return table(["bar", "what", "measured", "goal", "verdict"], rows)


def commands(steps: Mapping[str, Any]) -> str:
    """Return a table of the commands that `steps` measured, by how many people they had."""
    cells: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name, people in PEOPLE.items():
        for command, run in steps.get(name, {}).get("facts", {}).get("commands", {}).items():
            times = ", ".join(shown(run[each], "s") for each in ("seconds", "computing"))
            cells[command][people] = f"{times}, {run['gigabytes']:.2f} GB"
    columns = list(dict.fromkeys(PEOPLE.values()))
    rows = ([f"`{name}`", *(row.get(each, "") for each in columns)] for name, row in cells.items())
    return table(["command", *(f"{each} people" for each in columns)], rows)


def runs(steps: Mapping[str, Any]) -> str:
    """Return a table of when and where `steps` were measured; equal ones share a row."""
    cells: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, step in steps.items():
        machine, load = step["machine"], step["load"]
        where = f"{machine['cores']} cores, {machine['memory GB']} GB"
        python = f"Python {step['versions']['python']}"
        known = (step["date"][:10], step["commit"], where, python)
        cells[known].append(f"{name} ({load['before']:g})")
    rows = ([*known, ", ".join(names)] for known, names in cells.items())
    head = ["date", "commit", "machine", "Python", "steps, each with the load before it"]
    return table(head, rows)

"""docs/performance.md: its figures are those of the file that bench keeps, and no others."""

from __future__ import annotations

import re

from scripts.benchmark import page
from scripts.benchmark.bars import BARS

RUN = {"seconds": 1.234, "computing": 2.0, "gigabytes": 0.25}
STEP = {
    "date": "2026-11-20 16:20",
    "commit": "abc",
    "machine": {"cores": 2, "memory GB": 24},
    "versions": {"python": "3.11.7"},
    "load": {"before": 0.5, "after": 1.0},
    "findings": {"growth": {"value": 3.4, "verdict": "MISSED"}},
    "facts": {"commands": {"pooled": RUN}},
}


def test_each_bar_has_a_line_measured_or_not() -> None:
    lines = page.bars({"growth": STEP}).splitlines()[2:]
    assert len(lines) == len(BARS)
    assert "| R4 | grouping, time(2n) / time(n), the worst | 3.4 | at most 3.3 | MISSED |" in lines
    assert sum(line.endswith("| - | at most 8 | not measured |") for line in lines) == 1


def test_commands_stand_beside_their_people() -> None:
    lines = page.commands({"20k": STEP, "720": {**STEP, "facts": {}}}).splitlines()
    assert lines[2] == "| `pooled` |  | 1.23 s, 2 s, 0.25 GB |  |  |"
    assert lines[0].count("|") == lines[2].count("|")


def test_runs_that_are_alike_share_a_line() -> None:
    later = {**STEP, "date": "2026-11-21 09:00"}
    lines = page.runs({"a": STEP, "b": STEP, "c": later}).splitlines()[2:]
    assert lines == [
        "| 2026-11-20 | abc | 2 cores, 24 GB | Python 3.11.7 | a (0.5), b (0.5) |",
        "| 2026-11-21 | abc | 2 cores, 24 GB | Python 3.11.7 | c (0.5) |",
    ]


def test_outside_its_generated_parts_only_one_section_has_figures() -> None:
    """That the parts are fresh is a test of all pages, in tests/test_docs.py."""
    text = page.PAGE.read_text(encoding="utf-8").split("## Measured by hand")[0]
    assert text.count("<!-- end -->") == 3
    ours = re.sub(r"(?s)<!-- scripts.*?<!-- end -->|```.*?```", "", text)
    assert re.findall(r"[\d.]+ (?:m?s|GB|seconds)\b", ours) == []
    assert text.count("\n") < 200

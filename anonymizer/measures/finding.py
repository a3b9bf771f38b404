"""What the judge says: one finding a claim, and the verdict over all of them.

No finding holds a user's id or a term: people are told by the line they stand on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]
Findings = Iterator["Finding"]


class Finding(NamedTuple):
    """One claim of a release: whether it holds, where it was looked for, and what was found."""

    claim: str
    holds: bool
    where: str
    line: str


@dataclass(frozen=True)
class Verdict:
    """All findings, and how much was looked at."""

    findings: tuple[Finding, ...]
    checked: dict[str, Any]

    @property
    def breaches(self) -> list[Finding]:
        """Return the findings that do not hold."""
        return [finding for finding in self.findings if not finding.holds]

    @property
    def holds(self) -> bool:
        """Tell whether everything the release claims was found true."""
        return bool(self.findings) and not self.breaches


class Broken(Exception):
    """A breach behind which nothing more can be judged."""

    def __init__(self, claim: str, where: str, line: str):
        super().__init__(line)
        self.finding = Finding(claim, False, where, line)


def settled(claim: str, where: str, faults: dict[str, bool], else_line: str) -> Findings:
    """Yield a finding for each fault that is one; if none is, the finding that the claim holds."""
    found = [Finding(claim, False, where, line) for line, wrong in faults.items() if wrong]
    yield from found or [Finding(claim, True, where, else_line)]


def told_rows(claim: str, wrong: Marks, line: str, else_line: str) -> Findings:
    """Yield one finding for all rows marked wrong, which names the first one's line."""
    rows = np.flatnonzero(wrong)
    if not rows.size:
        yield Finding(claim, True, "rows.jsonl", else_line)
        return
    count = f"{rows.size} of {wrong.size} rows: " if rows.size > 1 else ""
    yield Finding(claim, False, f"rows.jsonl, line {rows[0] + 1}", count + line)

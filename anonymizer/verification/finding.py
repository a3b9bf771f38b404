"""What the judge says: a finding for each claim, and the verdict over all of them.

No finding holds a user's id or a term: it names the line instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Marks

Findings = Iterator["Finding"]
PROFILES = "the profiles"  # where a finding is that is in no file of the release


class Finding(NamedTuple):
    """One claim of a release: whether it holds, where the judge looked, and what it saw there."""

    claim: str
    holds: bool
    where: str
    line: str

    def at(self, place: str) -> Finding:
        """Return this finding with its file at `place`, a folder in the release."""
        return self if self.where == PROFILES else self._replace(where=f"{place}{self.where}")


@dataclass(frozen=True)
class Verdict:
    """All findings, and how much was checked."""

    findings: tuple[Finding, ...]
    checked: dict[str, int]

    @property
    def breaches(self) -> list[Finding]:
        """Return the findings that do not hold."""
        return [finding for finding in self.findings if not finding.holds]

    @property
    def holds(self) -> bool:
        """Return whether everything that the release claims is true."""
        return bool(self.findings) and not self.breaches


class CountedLine(str):
    """A line with numbers: over shards whole numbers add up, and of others the largest counts."""

    form: str
    numbers: tuple[int | float, ...]

    def __new__(cls, form: str, *numbers: int | float) -> CountedLine:
        """Return `form` with `numbers` put in."""
        line = super().__new__(cls, form.format(*numbers))
        line.form, line.numbers = form, numbers
        return line


def over_shards(shards: Sequence[Sequence[Finding]]) -> Findings:
    """Yield the findings on a release from those on its `shards`, which judge alike one by one.

    What holds in all shards is said once. A breach is said of its shard.
    """
    for place in range(max(map(len, shards), default=0)):
        findings = [(number, of[place]) for number, of in enumerate(shards) if place < len(of)]
        # A breach of a shard has its own line and place there, so several are not made one.
        breaches = [
            one._replace(where=one.where.replace(".jsonl", f"-{number:04d}.jsonl"))
            for number, one in findings
            if not one.holds
        ]
        if breaches:
            # What is wrong with release.json is wrong for all shards.
            yield from dict.fromkeys(breaches)
            continue
        first, lines = findings[0][1], [one.line for _, one in findings]
        if isinstance(first.line, CountedLine):
            # Behind a breach a shard has other findings at a place than the rest.
            form = first.line.form
            alike = [one for one in lines if isinstance(one, CountedLine) and one.form == form]
            counts = [line.numbers for line in alike]
            numbers = zip(*counts, strict=True)
            combined = (sum(of) if isinstance(of[0], int) else max(of) for of in numbers)
            lines = [CountedLine(form, *combined)]
        yield from (first._replace(line=line) for line in dict.fromkeys(lines))


class Broken(Exception):
    """A breach after which nothing more can be judged."""

    def __init__(self, claim: str, where: str, line: str):
        super().__init__(line)
        self.finding = Finding(claim, False, where, line)


def settled(claim: str, where: str, faults: dict[str, bool], good: str) -> Findings:
    """Yield a finding for each of `faults` that is true; if none is, that the claim holds."""
    breaches = [Finding(claim, False, where, line) for line, wrong in faults.items() if wrong]
    yield from breaches or [Finding(claim, True, where, good)]


def row_findings(claim: str, wrong: Marks, line: str, good: str) -> Findings:
    """Yield one finding for all rows marked `wrong`, at the first one's line; else `good`."""
    rows = np.flatnonzero(wrong)
    if not rows.size:
        yield Finding(claim, True, "rows.jsonl", good)
        return
    count = f"{rows.size} of {wrong.size} rows: " if rows.size > 1 else ""
    yield Finding(claim, False, f"rows.jsonl, line {rows[0] + 1}", count + line)

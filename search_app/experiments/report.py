"""What an experiment says: figures, tables and claims, as plain data; JSON and back.

Whoever shows it (plots, the report page, the site) needs nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
VERDICTS = (HOLDS, FAILS, UNDECIDED)


@dataclass(frozen=True)
class Point:
    """A mean with its 95 % interval; None where there is none."""

    x: str | float  # a text: a place on an axis of names
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """A named series of points."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Figure:
    """One figure: what a plot draws and its CSV holds."""

    name: str  # of its files: figure-2
    title: str
    about: str  # a sentence or two that say what is to be seen, with the numbers
    across: str
    up: str
    lines: tuple[Line, ...]
    kind: str = "line"  # or bar


@dataclass(frozen=True)
class Table:
    """A table of texts; the first column heads its rows."""

    name: str
    title: str
    about: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, or ours, and what these data say of it."""

    name: str  # the same in every run, whatever was found: by it two runs are compared
    text: str
    source: str  # where it is claimed
    finding: str  # what was measured, in one sentence
    verdict: str  # one of VERDICTS
    p: float | None = None  # of the test that decides, corrected; None where none does


@dataclass(frozen=True)
class Report:
    """All that a run says."""

    name: str
    title: str
    notes: tuple[str, ...]  # sentences on what was done, and on whom
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


def as_record(report: Report) -> dict[str, Any]:
    """Return a report as JSON's objects."""
    return asdict(report)


def from_record(record: Mapping[str, Any]) -> Report:
    """Rebuild a report; whatever does not fit raises TypeError, KeyError or ValueError."""
    claims = tuple(Claim(**each) for each in record["claims"])
    if any(claim.verdict not in VERDICTS for claim in claims):
        raise ValueError("a verdict is none")
    return Report(
        name=str(record["name"]),
        title=str(record["title"]),
        notes=tuple(map(str, record["notes"])),
        claims=claims,
        figures=tuple(_figure(each) for each in record["figures"]),
        tables=tuple(_table(each) for each in record["tables"]),
    )


def _figure(record: Mapping[str, Any]) -> Figure:
    lines = tuple(
        Line(str(line["name"]), tuple(Point(**point) for point in line["points"]))
        for line in record["lines"]
    )
    return Figure(**{**record, "lines": lines})


def _table(record: Mapping[str, Any]) -> Table:
    rows = tuple(tuple(map(str, row)) for row in record["rows"])
    return Table(**{**record, "head": tuple(map(str, record["head"])), "rows": rows})

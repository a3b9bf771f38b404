"""A report: the figures, tables and claims of an experiment as plain data; to JSON and back."""
# Plots, the report page and the site need nothing else to show an experiment.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
VERDICTS = (HOLDS, FAILS, UNDECIDED)
PLANES = ("plane", "path")  # kinds of figures
OURS = "ours"  # how the source of a claim begins that no paper makes


@dataclass(frozen=True)
class FigurePoint:
    """A mean with its 95 % interval; None if there is none."""

    x: str | float  # a text is a place on an axis of names
    value: float
    low: float | None = None
    high: float | None = None
    about: str = ""  # in a plane: what a reader wants to know of this point
    release: str = ""  # in a plane: the method and the parameters that tell it from others
    dominated: bool = False  # in a plane: another point is as good in both ways, and better in one


@dataclass(frozen=True)
class FigureLine:
    """A named series of points."""

    name: str
    points: tuple[FigurePoint, ...]


@dataclass(frozen=True)
class Figure:
    """A figure: what a plot draws and its CSV holds."""

    name: str  # of its files, such as figure-2
    title: str
    about: str  # one or two sentences on what it shows, with numbers
    across: str
    up: str
    lines: tuple[FigureLine, ...]
    kind: str = "line"  # or bar, or plane: points that are not joined, or path: a plane's joined
    ends: tuple[str, ...] = ()  # in a plane: what left, right, bottom and top stand for

    @property
    def is_plane(self) -> bool:
        """Return whether readers go through its points one by one."""
        return self.kind in PLANES


@dataclass(frozen=True)
class Table:
    """A table of texts; the first column heads its rows."""

    name: str
    title: str
    about: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ClaimMargin:
    """How far the data lie on a claim's side of what decides it; below 0, on the other side."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, or ours, and what these data say about it."""

    name: str  # the same in every run, as runs are compared by it
    text: str
    source: str  # the place where it is claimed
    finding: str  # what was measured
    verdict: str  # one of VERDICTS
    p: float | None = None  # P of the test that decides, corrected; None if no test decides
    margin: ClaimMargin | None = None  # of the step that decides; None where things are counted

    @property
    def ours(self) -> bool:
        """Return whether no paper makes this claim."""
        return self.source.startswith(OURS)


@dataclass(frozen=True)
class Report:
    """All notes, claims, figures and tables of a run."""

    name: str
    title: str
    notes: tuple[str, ...]  # on what was done with how many people
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


def as_record(report: Report) -> dict[str, Any]:
    """Return `report` as objects for JSON."""
    return asdict(report)


def from_record(record: Mapping[str, Any]) -> Report:
    """Return the report in `record`; TypeError, KeyError or ValueError if it is none."""
    claims = tuple(
        Claim(**{**claim, "margin": ClaimMargin(**margin) if margin else None})
        for claim, margin in ((claim, claim.get("margin")) for claim in record["claims"])
    )
    if any(claim.verdict not in VERDICTS for claim in claims):
        raise ValueError("a claim's verdict is unknown")
    figures, tables = [], []
    for figure in record["figures"]:
        lines = [
            FigureLine(str(line["name"]), tuple(FigurePoint(**point) for point in line["points"]))
            for line in figure["lines"]
        ]
        ends = tuple(figure.get("ends", ()))
        figures.append(Figure(**{**figure, "lines": tuple(lines), "ends": ends}))
    for table in record["tables"]:
        rows = tuple(tuple(map(str, row)) for row in table["rows"])
        tables.append(Table(**{**table, "head": tuple(map(str, table["head"])), "rows": rows}))
    return Report(
        name=str(record["name"]),
        title=str(record["title"]),
        notes=tuple(map(str, record["notes"])),
        claims=claims,
        figures=tuple(figures),
        tables=tuple(tables),
    )

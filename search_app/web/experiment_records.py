"""The records that the API answers with about experiments."""

from __future__ import annotations

from typing import Annotated, TypedDict

from ..experiments.report import VERDICTS
from .records import Count
from .schema import Rule


class Verdicts(TypedDict):
    """How many claims got which verdict."""

    holds: Count
    fails: Count
    undecided: Count


class ExperimentSummary(TypedDict):
    """A run of an experiment."""

    experiment: Annotated[str, "The run by its folder’s name."]
    title: str
    finished: Annotated[str, "Day and time in UTC; empty if not known."]
    people: Annotated[Count | None, "People who asked; none if not known."]
    queries: Annotated[Count | None, "Held-out queries; none if not known."]
    units: Annotated[Count | None, "Releases made; none if not known."]
    rows: Annotated[Count | None, "Rows in its folder, which no address sends."]
    claims: Annotated[Verdicts | None, "None where the report can’t be shown."]
    faults: Annotated[list[str], "What of the folder is missing or damaged, each in a sentence."]


class ExperimentList(TypedDict):
    """The runs of experiments, the latest first."""

    experiments: list[ExperimentSummary]


class ExperimentClaim(TypedDict):
    """A claim, and what the data say of it."""

    name: Annotated[str, "The same in every run, whatever was found."]
    text: str
    source: Annotated[str, "Where it is claimed."]
    finding: Annotated[str, "What was measured, in a sentence."]
    verdict: Annotated[str, Rule("enum", VERDICTS)]
    p: Annotated[float | None, "Of the test that decides, corrected by Holm; none where none does."]


class ExperimentPoint(TypedDict):
    """A mean with its 95 % interval."""

    x: Annotated[str | float, "A number, or the name of a place on the axis."]
    value: float
    low: float | None
    high: float | None


class ExperimentLine(TypedDict):
    """A series of points."""

    name: str
    points: list[ExperimentPoint]


class ExperimentFigure(TypedDict):
    """What a figure shows, as numbers."""

    name: str
    title: str
    about: str
    across: Annotated[str, "What the axis across says."]
    up: Annotated[str, "What the axis up says."]
    kind: str
    lines: list[ExperimentLine]
    files: Annotated[list[str], "Addresses of its files: SVG, PNG and CSV, those there are."]


class ExperimentTable(TypedDict):
    """A table of texts; the first column heads its rows."""

    name: str
    title: str
    about: str
    head: list[str]
    rows: list[list[str]]


class Experiment(TypedDict):
    """All that a run says, without a row of anybody."""

    summary: ExperimentSummary
    notes: list[str]
    claims: list[ExperimentClaim]
    figures: list[ExperimentFigure]
    tables: list[ExperimentTable]

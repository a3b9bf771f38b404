"""Put reports together: notes on how everything was measured, lines and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..design import SESSIONS
from ..facts import UNSATISFIABLE
from ..outcomes import Outcomes
from .report import Claim, Figure, FigureLine, FigurePoint, Report, Table

FEW = "With fewer than 30 people these intervals are too narrow. Take them as a lower bound."
BASELINES = "baselines"  # the table of modes that need no release
NAMES = {  # of modes, as reports show them
    "none": "no personalization",
    "random": "random order",
    "own": "own profile",
    "union": "global union",
    "average": "global average",
    "random-groups": "random groups",
    "left-out": "group without the own share",
    "group": "group",
}


def made(
    outcomes: Outcomes,
    notes: Iterable[str] = (),
    *,
    figures: Iterable[Figure | None],
    tables: Iterable[Table | None],
    claims: tuple[Claim, ...] = (),
    questions: Callable[[Outcomes], Iterable[str]] | None = None,
) -> Report:
    """Return the report of `outcomes` with all `figures` that have lines and `tables` with rows.

    `questions` returns what is said about them first; by default, that of held-out queries.
    """
    return Report(
        name=outcomes.experiment.name,
        title=outcomes.experiment.title,
        notes=(*(questions or notes_on)(outcomes), *notes),
        claims=claims,
        figures=tuple(one for one in figures if one is not None and one.lines),
        tables=tuple(one for one in tables if one is not None and one.rows),
    )


def line(name: str, points: Iterable[FigurePoint | None]) -> FigureLine:
    """Return a line called `name` of those `points` that are not None."""
    return FigureLine(name, tuple(point for point in points if point is not None))


def figure(
    names: tuple[str, str],
    about: str,
    axes: tuple[str, str],
    lines: Iterable[FigureLine],
    kind: str = "line",
) -> Figure:
    """Return a figure of those `lines` that have points; `names` are its file's and its title."""
    return Figure(*names, about, *axes, tuple(line for line in lines if line.points), kind)


def ends_of(lines: Sequence[FigureLine], name: str, places: Sequence[float] = ()) -> str:
    """Return the first and last value of each of `lines`, between `places` or its own ends."""
    full = [line for line in lines if line.points]
    if not full:
        return ""
    values = [
        f"{line.name} {line.points[0].value:z.3f} to {line.points[-1].value:z.3f}" for line in full
    ]
    across = places or [float(point.x) for point in full[0].points]
    return f"From {name} = {across[0]:g} to {across[-1]:g}: {'; '.join(values)}."


def notes_on(outcomes: Outcomes) -> tuple[str, ...]:
    """Return the first notes of a report on `outcomes`: people, gold standard and averaging."""
    inputs = outcomes.experiment.inputs
    size = f"{inputs.size} terms" if inputs.size else "all their terms"
    people = [unit.name for unit in outcomes.units if unit.weights != SESSIONS]
    users = max((outcomes.facts[name].get("users", 0) for name in people), default=0)
    served = f"{users:.0f} people have a row. " if users != 1 else "1 person has a row. "
    grouped = served if users else ""
    if refused := sum(UNSATISFIABLE in facts for facts in outcomes.facts.values()):
        what = "1 release is" if refused == 1 else f"{refused} releases are"
        grouped += (
            f"{what} impossible, as nothing of these people could be kept: 0 % in all tables. "
        )
    if not outcomes.people:
        return (f"{grouped}Nothing was searched: units.csv has the facts of the releases.",)
    few = (FEW,) if outcomes.people < 30 else ()
    return (
        f"{grouped}{outcomes.people:,} people asked {outcomes.person.size:,} queries, drawn from "
        f"the last {inputs.test_share:.0%} of each person's queries by time. Profiles of {size} "
        "are made of the queries before these.",
        "The gold standard of a query is the order of its pool by the person's own profile. Its "
        "first 30 documents are relevant. AP is the mean precision at the places of the relevant "
        "documents, AP@r at those of the first r found. AP_c is 0 for a random order and 1 for the "
        "gold standard, while AP itself depends mostly on the size of the pool.",
        "Every mean is over people: first over seeds for each query, then over each person's "
        "queries, then over people. Intervals of such means are 95 %, by bootstrap over people.",
        *few,
    )

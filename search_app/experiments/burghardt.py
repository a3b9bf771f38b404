"""What the burghardt experiment says: figures 1 and 2, and search by what is released.

Shares of a log are facts of one log: there is nothing to resample. Only search is tested.
"""

from __future__ import annotations

from collections.abc import Sequence

from .burghardt_claims import claims
from .burghardt_search import ap_by_k
from .burghardt_shares import (
    GREEDY,
    INSERT,
    RANDOM,
    Cell,
    Shares,
    called,
    input_facts,
    is_synthetic,
    warning,
)
from .burghardt_tables import tables
from .burghardt_times import Times
from .claims import RULE
from .notes import notes_on
from .outcomes import Outcomes, PassSeconds, Unit
from .report import Figure, Line, Point, Report
from .summaries import Summary, SummedUp, summarize

NOTHING_TO_RESAMPLE = (
    "What a release keeps is a fact of one log: there is nothing to resample, so claims on it "
    "compare numbers, and have no p. Claims on search are tested over people."
)
SYNTHETIC = (
    "The marketing table is synthetic: invented for such terms, with correlations like those of "
    "the paper's table 3. Nobody bids these sums. Every number of bids, clicks, impressions and "
    "revenue rests on it."
)
GIVEN = "Bids, clicks, impressions and revenue are those of the marketing table that was given."
DRAWN_ORDER = (
    "Insertion with target random visits the terms in an order that the seed draws, and keeps what "
    "it can: it deletes nothing at random, and is no random deletion repaired."
)
OUTSIDE = (
    "The promise covers which terms stand in a history together; how often a user used a term is "
    "outside it."
)


def report(
    outcomes: Outcomes,
    summaries: Sequence[Summary] | None = None,
    seconds: PassSeconds | None = None,
) -> Report:
    """Say what the outcomes say; summaries, if there are some already, are not made again."""
    found = tuple(summarize(outcomes) if summaries is None else summaries)
    summed = SummedUp(outcomes, found)
    shares, times = Shares(outcomes), Times(outcomes, seconds or {})
    drawn = (figure_1(outcomes, shares), figure_2(outcomes, shares), ap_by_k(summed))
    return Report(
        name=outcomes.experiment.name,
        title=outcomes.experiment.title,
        notes=(*notes_on(outcomes), *_notes(outcomes), NOTHING_TO_RESAMPLE, RULE),
        claims=claims(summed, times),
        figures=tuple(figure for figure in drawn if figure is not None),
        tables=tables(summed, times),
    )


def _notes(outcomes: Outcomes) -> list[str]:
    """Say what was taken of the log, how far search knows it, and whose table it is."""
    facts, notes = input_facts(outcomes), [OUTSIDE]
    if facts:
        robots = outcomes.experiment.inputs.robots
        notes.append(
            f"{facts['profiles']:,} histories hold {facts['terms']:,} distinct terms, "
            f"{facts['log_size']:,.0f} occurrences, and at most {facts['longest_history']:,} "
            f"terms; {facts['robots_dropped']:,} people were left out for a session of more than "
            f"{robots or 'so many'} queries."
        )
        notes.append(
            f"Search knows terms by the base forms of WordNet: {facts['weights_in_index']:.1%} of "
            "the occurrences are of terms that it knows, and it orders by these alone, in every "
            f"mode and in the gold standard. {_people(facts['users_not_in_index'])} none: of "
            "theirs, the gold standard is Lucene's order."
        )
    if any(_drawn(unit) for unit in outcomes.units):
        notes.append(DRAWN_ORDER)
    if any("table_synthetic" in each for each in outcomes.facts.values()):
        notes.append(SYNTHETIC if is_synthetic(outcomes) else GIVEN)
    return notes


def _drawn(unit: Unit) -> bool:
    given = unit.parameters
    return (given.get("algorithm"), given.get("target")) == (INSERT, RANDOM)


def figure_1(outcomes: Outcomes, shares: Shares) -> Figure | None:
    """Follow the log size that each target keeps over k."""
    return _by_target(outcomes, shares, "log_size", "figure-1", "Figure 1: log size by target")


def figure_2(outcomes: Outcomes, shares: Shares) -> Figure | None:
    """Follow the clicks that each target keeps over k."""
    return _by_target(outcomes, shares, "clicks", "figure-2", "Figure 2: clicks by target")


def _by_target(
    outcomes: Outcomes, shares: Shares, measure: str, name: str, title: str
) -> Figure | None:
    """Draw a line a target of the paper's algorithm at the largest m, and insertion's best."""
    grid = shares.grid(GREEDY)
    m = max((cell.m for cell in grid), default=0)
    cells = [cell for cell in grid if cell.m == m]
    points: dict[str, list[Point]] = {}
    for cell in cells:
        for target, share in shares.all_of(GREEDY, cell, measure).items():
            points.setdefault(target, []).append(Point(float(cell.k), share))
    lines = [Line(target, tuple(some)) for target, some in points.items()]
    best = _insertion(shares, cells, measure)
    lines += [Line("insertion, best target", best)] if best else []
    if not lines:
        return None
    about = (
        f"The share of the original that the paper's algorithm keeps at m = {m}, by what it "
        f"targets at.{warning(outcomes, measure)}"
    )
    up = f"{called(outcomes, measure)} kept"
    return Figure(name, f"{title} (m = {m})", about, "k", up, tuple(lines))


def _insertion(shares: Shares, cells: Sequence[Cell], measure: str) -> tuple[Point, ...]:
    found = [(cell.k, shares.best(INSERT, cell, measure)) for cell in cells]
    return tuple(Point(float(k), best.share) for k, best in found if best is not None)


def _people(number: float) -> str:
    return "1 person has" if number == 1 else f"{number:,} people have"

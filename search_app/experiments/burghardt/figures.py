"""The report of the burghardt experiment: figures 1 and 2, and search by releases."""
# Shares of a log are facts of one log: there is nothing to resample. Only search is tested.

from __future__ import annotations

from ..outcomes import Outcomes, PassSeconds
from ..report.claims import RULE
from ..report.making import figure, line, made
from ..report.report import Figure, FigurePoint, Report
from ..report.summaries import SummedUp
from .claims import claims
from .search import search_table, tradeoff
from .shares import GREEDY, INSERT, RANDOM, REINSERT, KeptShares
from .tables import tables
from .times import passes_of

NOTHING_TO_RESAMPLE = (
    "What a release keeps is a fact of one log: there is nothing to resample. Claims on it compare "
    "numbers and have no P. Claims on search are tested over people."
)
SYNTHETIC = (
    "The marketing table is synthetic: it was invented for these terms, with correlations like "
    "those of the paper's table 3. Nobody bids these sums. Every number of bids, clicks, "
    "impressions and revenue is based on it."
)
GIVEN = "Bids, clicks, impressions and revenue are those of the marketing table that was given."
DRAWN_ORDER = (
    "Insertion with target random visits the terms in an order that the seed draws, and keeps what "
    "it can. It deletes nothing at random, so it is not random deletion with a repair."
)
OUTSIDE = (
    "The promise covers which terms are in a history together. It does not cover how often a user "
    "used a term."
)


def report(summed: SummedUp, seconds: PassSeconds) -> Report:
    """Return the report of `summed`, with the `seconds` of each release's passes."""
    outcomes = summed.outcomes
    shares, again = KeptShares(outcomes), KeptShares(outcomes, REINSERT)
    names = {"log_size": "Figure 1: log size by target", "clicks": "Figure 2: clicks by target"}
    drawn = [_by_target(shares, measure, at, names[measure]) for at, measure in enumerate(names, 1)]
    return made(
        outcomes,
        (*_notes(outcomes, shares), NOTHING_TO_RESAMPLE, *RULE),
        figures=[tradeoff(summed), *drawn],
        tables=[
            *tables(shares, KeptShares(outcomes, REINSERT), passes_of(outcomes, seconds)),
            search_table(summed),
        ],
        claims=claims(summed, shares, again),
    )


def _notes(outcomes: Outcomes, shares: KeptShares) -> list[str]:
    """Return notes on the log's histories, their terms in the index, and the marketing table."""
    facts, notes = shares.input, [OUTSIDE]
    if facts:
        robots = outcomes.experiment.inputs.robots
        notes.append(
            f"{facts['profiles']:,} histories hold {facts['terms']:,} distinct terms, "
            f"{facts['log_size']:,.0f} occurrences, and at most {facts['longest_history']:,} "
            "terms each."
        )
        if robots:
            people = f"{facts['robots_dropped']:,} people with a session"
            notes.append(f"{people} of more than {robots} queries were skipped.")
        unknown = facts["users_not_in_index"]
        people = "1 person has" if unknown == 1 else f"{unknown:,} people have"
        notes.append(
            f"The index has the base forms of WordNet as terms. {facts['weights_in_index']:.1%} of "
            "the occurrences are of such terms. Every mode and the gold standard order by these "
            f"alone. {people} none of them, so the gold standard of their queries is Lucene's "
            "order."
        )
    drawn = {"algorithm": INSERT, "target": RANDOM}.items()
    if any(drawn <= dict(unit.parameters).items() for unit in outcomes.units):
        notes.append(DRAWN_ORDER)
    if shares.with_table:
        notes.append(SYNTHETIC if shares.synthetic else GIVEN)
    return notes


def _by_target(shares: KeptShares, measure: str, number: int, title: str) -> Figure:
    """Return a figure of the paper's algorithm by target at the largest m, and insertion's best."""
    grid = shares.grid(GREEDY)
    m = max((cell.m for cell in grid), default=0)
    points: dict[str, list[FigurePoint]] = {}
    best = []
    for cell in (level for level in grid if level.m == m):
        for target, share in shares.all_of(GREEDY, cell, measure).items():
            points.setdefault(target, []).append(FigurePoint(float(cell.k), share))
        if (ours := shares.best(INSERT, cell, measure)) is not None:
            best.append(FigurePoint(float(cell.k), ours.share))
    points["insertion, best target"] = best
    about = (
        f"The share of the original that the paper's algorithm keeps at m = {m}, by its target."
        f"{shares.warning(measure)}"
    )
    return figure(
        (f"figure-{number}", f"{title} (m = {m})"),
        about,
        ("k", f"{shares.called(measure)} kept"),
        [line(name, some) for name, some in points.items()],
    )

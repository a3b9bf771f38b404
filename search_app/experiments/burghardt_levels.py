"""The claims of Burghardt et al. on how much is kept: section 5.3 and table 5.

Near a number of theirs is what is within 5 points of the original; of the few distinct terms, where
5 points would be near anything, what is within a factor of 1.5.
"""

from __future__ import annotations

from collections.abc import Callable

from .burghardt_shares import (
    GREEDY,
    MEASURES,
    NEAR,
    PAPER,
    ROUNDING,
    Cell,
    Shares,
    percent,
    warning,
)
from .claims import Draft, Wording, as_verdict, listed, stated
from .outcomes import Outcomes

FACTOR = 1.5
_LOW, _HIGHEST = Cell(2, 2), Cell(3, 100)
_LEVELS = {
    "distinct_terms": {_LOW: 0.1088, _HIGHEST: 0.0018},
    "log_size": {_LOW: 0.45, _HIGHEST: 0.18},
    "users": {_LOW: 0.95, _HIGHEST: 0.70},
    "bid": {_LOW: 0.51, _HIGHEST: 0.19},
    "clicks": {_LOW: 0.85, _HIGHEST: 0.61},
    "impressions": {_LOW: 0.85, _HIGHEST: 0.57},
    "revenue": {_LOW: 0.61, _HIGHEST: 0.30},
}
Drafts = list[Draft]


def levels(outcomes: Outcomes, shares: Shares) -> Drafts:
    """Hold the paper's own numbers against what is kept here."""
    drafts = []
    for measure, paper in _LEVELS.items():
        here = {cell: shares.best(GREEDY, cell, measure) for cell in paper}
        known = {cell: best.share for cell, best in here.items() if best is not None}
        if len(known) < len(paper):
            continue
        said = listed([f"{percent(share, measure)} % at {cell}" for cell, share in paper.items()])
        band = _band(measure)
        text = f"Of {MEASURES[measure]}, {said} is kept (read as {band})."
        told = listed([f"{percent(known[cell], measure)} % at {cell}" for cell in paper])
        near = all(_near(measure, known[cell], share) for cell, share in paper.items())
        words = Wording(f"level-{measure.replace('_', '-')}", text, f"{PAPER} 5.3 and table 5")
        finding = f"Kept is {told}; near is {band}.{warning(outcomes, measure)}"
        drafts.append(stated(words, finding, as_verdict(near)))
    return drafts


def _band(measure: str) -> str:
    if measure == "distinct_terms":
        return f"within a factor of {FACTOR:g}"
    return f"within {100 * NEAR:g} points"


def _near(measure: str, here: float, paper: float) -> bool:
    if measure == "distinct_terms":
        return paper / FACTOR <= here <= paper * FACTOR
    return abs(here - paper) <= NEAR + ROUNDING


LEVELS_CLAIMS: tuple[Callable[[Outcomes, Shares], Drafts], ...] = (levels,)

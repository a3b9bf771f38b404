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
    input_facts,
    percent,
    warning,
)
from .claims import Draft, Wording, as_verdict, listed, stated
from .outcomes import Outcomes

FACTOR = 1.5
_FEW = f"within a factor of {FACTOR:g}"
_LOW, _HIGHEST = Cell(2, 2), Cell(3, 100)
_LEVELS = {
    "distinct_terms": {_LOW: 0.1088, _HIGHEST: 0.0018},
    "log_size": {_LOW: 0.45, Cell(2, 20): 0.26, _HIGHEST: 0.18},
    "users": {_LOW: 0.95, _HIGHEST: 0.70},
    "bid": {_LOW: 0.51, _HIGHEST: 0.19},
    "clicks": {_LOW: 0.85, _HIGHEST: 0.61},
    "impressions": {_LOW: 0.85, _HIGHEST: 0.57},
    "revenue": {_LOW: 0.61, _HIGHEST: 0.30},
}
_TERMS, _USERS, _SAME = 500, 0.95, 0.01
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
        return _FEW
    return f"within {100 * NEAR:g} points"


def _near(measure: str, here: float, paper: float) -> bool:
    if measure == "distinct_terms":
        return paper / FACTOR <= here <= paper * FACTOR
    return abs(here - paper) <= NEAR + ROUNDING


def terms_left(outcomes: Outcomes, shares: Shares) -> Drafts:
    """Ask how many terms are left at the highest level of privacy."""
    best, terms = (
        shares.best(GREEDY, _HIGHEST, "distinct_terms"),
        input_facts(outcomes).get("terms"),
    )
    if best is None or terms is None:
        return []
    left = best.share * terms
    text = f"At {_HIGHEST} there still are about {_TERMS} distinct terms (read as {_FEW})."
    words = Wording("terms-left", text, f"{PAPER} 5.3")
    finding = f"There are {left:,.0f}, {percent(best.share, 'distinct_terms')} % of {terms:,.0f}."
    return [stated(words, finding, as_verdict(_TERMS / FACTOR <= left <= _TERMS * FACTOR))]


def users_at_small_k(_outcomes: Outcomes, shares: Shares) -> Drafts:
    """Ask whether m changes how many users are left where k is small."""
    grid = shares.with_choice(GREEDY)
    k = min((cell.k for cell in grid), default=0)
    kept = {cell.m: shares.best(GREEDY, cell, "users") for cell in grid if cell.k == k}
    known = {m: best.share for m, best in kept.items() if best is not None}
    if len(known) < 2:
        return []
    text = (
        "For small k (read as the smallest), histories of 95 % of the users are left, "
        f"independently of m (read as {_band('users')}, and within a point of each other)."
    )
    words = Wording("users-at-small-k", text, f"{PAPER} 5.3")
    told = listed([f"{percent(share)} % for m = {m}" for m, share in known.items()])
    near = all(_near("users", share, _USERS) for share in known.values())
    alike = max(known.values()) - min(known.values()) <= _SAME + ROUNDING
    return [stated(words, f"At k = {k} it is {told}.", as_verdict(near and alike))]


def impressions_like_clicks(outcomes: Outcomes, shares: Shares) -> Drafts:
    """Ask whether as much is kept of impressions as of clicks."""
    gaps = [
        (abs(clicks.share - impressions.share), cell)
        for cell in shares.with_choice(GREEDY)
        if (clicks := shares.best(GREEDY, cell, "clicks")) is not None
        and (impressions := shares.best(GREEDY, cell, "impressions")) is not None
    ]
    if not gaps:
        return []
    gap, cell = max(gaps)
    band = _band("impressions")
    text = f"Results for impressions are very similar to those for clicks (read as {band})."
    words = Wording("impressions-like-clicks", text, f"{PAPER} 5.3")
    marked = warning(outcomes, "clicks", "impressions")
    finding = f"They differ by up to {percent(gap)} points, at {cell}.{marked}"
    return [stated(words, finding, as_verdict(gap <= NEAR + ROUNDING))]


LEVELS_CLAIMS: tuple[Callable[[Outcomes, Shares], Drafts], ...] = (
    levels,
    terms_left,
    users_at_small_k,
    impressions_like_clicks,
)

"""How far the targets of the burghardt experiment lie apart: column W of tables 6 and 7."""

from __future__ import annotations

from .burghardt_shares import GENERIC, GREEDY, RANDOM, Cell, Shares


def spread(shares: Shares, measure: str) -> list[tuple[Cell, float]]:
    """Return how far the best target and the worst other than random lie apart, where m > 1."""
    found = []
    for cell in shares.with_choice(GREEDY):
        every = shares.all_of(GREEDY, cell, measure)
        others = [share for target, share in every.items() if target != RANDOM]
        if len(others) > 1:
            found.append((cell, max(every.values()) - min(others)))
    return found


def most_generic(shares: Shares) -> tuple[float, str, Cell] | None:
    """Return where the targets lie furthest apart by what is no advertiser's."""
    found = [(gap, measure, cell) for measure in GENERIC for cell, gap in spread(shares, measure)]
    return max(found, default=None)

"""What a slot's occurrences are like among themselves: how far apart, and which is typical."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from .network import TermNetwork

Bag = tuple[str, ...]  # the terms of a slot, in the order in which their users joined


def matched(
    bags: Iterable[Bag], network: TermNetwork, *, only_equal: bool
) -> dict[Bag, tuple[float, str]]:
    """Return for each of `bags` the largest distance of two terms, and the term closest to all.

    Of equally close terms it is the one that joined first. Distances are those of `network`; if
    `only_equal` terms are relevant to each other, all others are infinitely far apart.
    """

    @cache
    def apart(one: str, other: str) -> float:
        return float("inf") if only_equal and one != other else network.distance(one, other)

    def looked_at(bag: Bag) -> tuple[float, str]:
        # Most occurrences of a slot are the same term, so each kind of them is looked at once.
        kinds = Counter(bag)
        sums = {
            one: sum(times * apart(one, other) for other, times in kinds.items()) for one in kinds
        }
        farthest = max(apart(one, other) for one in kinds for other in kinds)
        return farthest, min(sums, key=sums.__getitem__)

    return {bag: looked_at(bag) for bag in {*bags}}

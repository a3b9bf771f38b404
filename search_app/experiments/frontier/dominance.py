"""Which points no other one beats, and how much of the plane a set of points dominates.

A point is (what an attacker gets, search quality). Less of the first is better, and more of the
second.
"""

from __future__ import annotations

from collections.abc import Sequence

Point = tuple[float, float]


def dominated(points: Sequence[Point]) -> list[bool]:
    """Return for each of `points` whether another is as good in both ways, and better in one."""
    beaten, best = [False] * len(points), float("-inf")
    order = sorted(range(len(points)), key=lambda at: (points[at][0], -points[at][1]))
    previous: Point | None = None
    for at in order:
        # Equal points beat each other in nothing.
        beaten[at] = points[at][1] <= best and points[at] != previous
        if not beaten[at]:
            best, previous = points[at][1], points[at]
    return beaten


def hypervolume(points: Sequence[Point], reference: Point) -> float:
    """Return the area that `points` dominate, up to the `reference`, which is worse than all."""
    area, best = 0.0, reference[1]
    for cost, quality in sorted(points):
        if cost < reference[0] and quality > best:
            area += (reference[0] - cost) * (quality - best)
            best = quality
    return area

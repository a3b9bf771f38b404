"""Dominance and hypervolume against twins that compare all pairs and count all cells."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from search_app.experiments.frontier.dominance import dominated, hypervolume

Point = tuple[float, float]


def test_the_worked_example() -> None:
    #  quality 3 |    .    B        A dominates C (same cost, less), B dominates D (same quality)
    points = [(1.0, 2.0), (2.0, 3.0), (1.0, 1.0), (4.0, 3.0)]
    assert dominated(points) == [False, False, True, True]
    # A: 4 x 1 up to quality 2 from 1; B: 3 x 1 more.
    assert hypervolume(points, (5.0, 1.0)) == 7
    assert hypervolume([], (5.0, 1.0)) == 0
    assert hypervolume([(5.0, 9.0), (0.0, 1.0)], (5.0, 1.0)) == 0  # no better than the reference
    assert dominated([(1.0, 1.0), (1.0, 1.0)]) == [False, False]


def beaten(point: Point, points: list[Point]) -> bool:
    return any(one[0] <= point[0] and one[1] >= point[1] and one != point for one in points)


def area(points: list[Point], reference: Point) -> Fraction:
    """Add up the cells of a grid of twelfths whose middle some point dominates."""
    cells = 0
    for x in range(12 * 8):
        for y in range(12 * 8):
            cost, quality = (x + 0.5) / 12, (y + 0.5) / 12
            inside = cost < reference[0] and quality > reference[1]
            cells += inside and any(one[0] <= cost and one[1] >= quality for one in points)
    return Fraction(cells, 144)


@pytest.mark.parametrize("seed", range(8))
def test_all_pairs_and_all_cells_agree(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    points = [(rng.randint(0, 24) / 4, rng.randint(0, 24) / 4) for _ in range(rng.randint(1, 12))]
    assert dominated(points) == [beaten(point, points) for point in points]
    reference = (rng.randint(8, 28) / 4, rng.randint(0, 12) / 4)
    assert hypervolume(points, reference) == pytest.approx(float(area(points, reference)))

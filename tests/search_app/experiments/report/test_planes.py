"""Planes; dominance and hypervolume against twins that compare all pairs and count all cells."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from search_app.experiments.report.planes import (
    PlaneAxes,
    PlanePoint,
    dominated,
    hypervolume,
    plane,
)
from search_app.experiments.report.summaries import SummaryLine

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


def summary(mean: float, half: float = 0.1) -> SummaryLine:
    ends = (mean, mean - half, mean + half)
    return SummaryLine("t", "r", "group", 100, "AP", *ends, mean, 3, 6, 1, float("nan"))


@pytest.mark.parametrize(("hides", "best"), [(-1, "none, a, b"), (1, "b, c")])
def test_a_plane_says_of_each_point_what_it_is_and_whether_another_beats_it(
    hides: int, best: str
) -> None:
    """By a cost, c costs most and serves worst; by an index of privacy it hides most."""
    points = [
        PlanePoint("plain", "none", 0.0, summary(0.2)),
        PlanePoint("rows", "a", 0.3, summary(0.6), "Four people a row.", "r"),
        PlanePoint("rows", "b", 0.5, summary(0.8)),
        PlanePoint("rows", "c", 0.9, summary(0.1)),
        PlanePoint("rows", "unknown", None, summary(0.9)),
        PlanePoint("rows", "never searched", 0.1, None),
    ]
    axes = PlaneAxes("cost", "AP", ("l", "r", "b", "t"), hides)
    figure = plane(("f", "F"), "Hm.", axes, points, "path")
    assert figure is not None
    assert [(one.name, len(one.points)) for one in figure.lines] == [
        ("plain", 1),
        ("rows", 3),
    ]
    first = figure.lines[1].points[0]
    assert first.about == "a: AP 0.600 (0.500 to 0.700), cost 0.300. Four people a row."
    assert (first.x, first.value, first.release) == (0.3, 0.6, "r")
    assert figure.about.startswith(f"Upper {'left' if hides < 0 else 'right'} is better. Hm. ")
    assert figure.about.endswith(f" Not dominated: {best}.")
    assert (figure.is_plane, figure.ends) == (True, ("l", "r", "b", "t"))
    assert plane(("f", "F"), "Hm.", axes, [points[0], *points[-2:]]) is None

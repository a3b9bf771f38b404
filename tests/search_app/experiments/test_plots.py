"""Pictures: the same bytes each time, all series in them, told apart without colour."""

from __future__ import annotations

import csv
import io
import re

from search_app.experiments.plots import draw, numbers
from search_app.experiments.report import Figure, Line, Point

BARS = Figure(
    "figure-2",
    "Precision by mode",
    "One is higher.",
    "depth",
    "AP",
    (
        Line("none", (Point("AP@10", 0.5, 0.45, 0.55), Point("AP", 0.25, 0.2, 0.3))),
        Line("group", (Point("AP@10", 0.75, 0.7, 0.8), Point("AP", 0.5))),
    ),
    "bar",
)
POOLS = Figure(
    "pools",
    "Precision by pool",
    "It falls.",
    "pool",
    "AP",
    (Line("group", tuple(Point(float(n), 50 / n) for n in (50, 100, 1000))),),
)


def test_the_same_figure_gives_the_same_bytes() -> None:
    for figure in (BARS, POOLS):
        svg, png = draw(figure)
        assert (svg, png) == draw(figure)
        assert svg.startswith(b"<?xml")
        assert png.startswith(b"\x89PNG")
        assert b"<dc:date>" not in svg


def test_a_users_own_style_changes_nothing() -> None:
    import matplotlib as mpl

    usual = draw(BARS)
    with mpl.rc_context({"font.size": 30.0, "axes.facecolor": "black"}):
        assert draw(BARS) == usual
        assert mpl.rcParams["font.size"] == 30.0  # and is left as it was


def test_numbers_are_what_is_drawn() -> None:
    rows = list(csv.reader(io.StringIO(numbers(BARS))))
    assert rows == [
        ["series", "depth", "AP", "low", "high"],
        ["none", "AP@10", "0.5", "0.45", "0.55"],
        ["none", "AP", "0.25", "0.2", "0.3"],
        ["group", "AP@10", "0.75", "0.7", "0.8"],
        ["group", "AP", "0.5", "", ""],
    ]
    assert numbers(POOLS).splitlines()[1] == "group,50.0,1.0,,"


def test_bars_differ_in_hatch_and_lines_in_dash() -> None:
    two = Figure("f", "t", "a", "x", "y", (*POOLS.lines, Line("b", (Point(50.0, 0.1),))))
    assert draw(BARS)[0].count(b"<pattern") == 1  # the first kind of bar is plain
    svg = draw(two)[0].decode()
    assert re.search(r"stroke-dasharray: [\d.]+ [\d.]+|stroke-dasharray: [\d.]+,[\d.]+", svg)


def test_a_figure_of_many_numbers_and_one_of_names_can_be_drawn() -> None:
    many = tuple(Point(at / 7, at - 3.0) for at in range(20))
    named = tuple(Point(f"a long name of a variant {at}", 1.0) for at in range(9))
    for kind in ("line", "bar"):
        for points in (many, named):
            svg, _ = draw(Figure("f", "t", "a", "x", "y", (Line("only", points),), kind))
            assert len(svg) > 1000

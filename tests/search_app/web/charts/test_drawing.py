"""Drawings: numbers to places, and hostile names stay text."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from search_app.web.charts.drawing import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDE,
    WIDTH,
    Caption,
    Curve,
    Spot,
    Stick,
    Tick,
    course,
    histogram,
    means,
    thousands,
    whole_levels,
)

from ..conftest import Page

ABOUT = Caption("n", "title", "description", "across", "up")
HOSTILE = ['"><script>alert(1)</script>', "' onload='x", "</title><img src=x>", "&amp;", "{{ 7 }}"]


def marks(svg: str, tag: str, kind: str) -> list[dict[str, str]]:
    root = ElementTree.fromstring(f"<all>{svg}</all>")  # noqa: S314 - our own
    return [
        dict(found.attrib) for found in root.iter(tag) if kind in found.get("class", "").split()
    ]


def test_bars_are_as_high_as_their_share_of_the_top_level() -> None:
    """10 is the top level: 5 reaches half of the height, 0 nothing."""
    columns = [Stick(n, str(n)) for n in (10, 5, 0)] + [Stick(0, "")] * 7
    bars = marks(histogram(ABOUT, columns, []), "rect", "stick")
    tall = HEIGHT - TOP - BOTTOM
    assert [float(bar["height"]) for bar in bars[:3]] == pytest.approx(
        [tall, tall / 2, 0], abs=0.05
    )
    for bar in bars:
        assert float(bar["y"]) + float(bar["height"]) == pytest.approx(HEIGHT - BOTTOM, abs=0.1)


def test_what_is_there_can_be_seen() -> None:
    one, none, _ = marks(
        histogram(ABOUT, [Stick(1, ""), Stick(0, ""), Stick(100_000, "")], []), "rect", "stick"
    )
    assert (one["height"], none["height"]) == ("1.5", "0.0")


def test_an_empty_histogram_is_drawn() -> None:
    assert marks(histogram(ABOUT, [], []), "rect", "stick") == []


@pytest.mark.parametrize("most", [0, 1, 3, 4, 5, 9, 10, 99, 100, 101, 12_345, 10**9])
def test_levels_are_few_whole_and_reach_the_most(most: int) -> None:
    levels = whole_levels(most)
    assert levels[0] == 0
    assert levels[-1] >= most
    assert 2 <= len(levels) <= 6
    assert len({high - low for low, high in pairwise(levels)}) == 1


def test_counts_are_written_short() -> None:
    assert [thousands(n) for n in (0, 1500, 12_000, 2_500_000)] == ["0", "1,500", "12k", "2.5M"]


def spots(count: int) -> list[Spot]:
    """AP of 0 and 1 and between, with intervals that leave 0 to 1."""
    values = [(at % 11) / 10 for at in range(count)]
    return [
        Spot((at + 0.5) / count, value, value - 0.3, value + 0.3, "spot")
        for at, value in enumerate(values)
    ]


def test_a_thousand_points_stay_within_the_drawing() -> None:
    svg = course(ABOUT, [Curve("none", "Plain", spots(1000))], [Tick(0.5, "middle")])
    drawn = marks(svg, "circle", "dot")
    assert len(drawn) == 1000
    for dot in drawn:
        assert LEFT <= float(dot["cx"]) <= WIDE - RIGHT
    (band,) = marks(svg, "polygon", "band")
    heights = [float(place.split(",")[1]) for place in band["points"].split()]
    assert min(heights) == TOP
    assert len(heights) == 2000


def test_lines_differ_by_more_than_colour() -> None:
    lines = [
        Curve("none", "a", spots(3)),
        Curve("own", "b", spots(3)),
        Curve("group", "c", spots(3)),
    ]
    drawn = marks(course(ABOUT, lines, []), "polyline", "line")
    dashes = [line.get("stroke-dasharray", "") for line in drawn]
    assert len(set(dashes)) == 3  # in the legend as in the drawing
    assert sorted(dashes) == sorted(dashes[:3] * 2)


def test_one_point_has_a_whisker_in_place_of_a_band() -> None:
    svg = course(ABOUT, [Curve("none", "Plain", [Spot(0.5, 0.5, 0.25, 0.75)])], [])
    assert not marks(svg, "polygon", "band")
    (whisker,) = marks(svg, "line", "whisker")
    assert float(whisker["y1"]) > float(whisker["y2"])


def test_a_mean_of_zero_stands_in_the_middle() -> None:
    lines = [Curve("group", "a", [Spot(0, 0.0, -0.1, 0.1)]), Curve("own", "b", [Spot(0, 0.2)])]
    first, second = marks(means(ABOUT, lines, 0.2), "circle", "dot")
    assert float(first["cx"]) == WIDTH / 2
    assert WIDTH / 2 < float(second["cx"]) <= WIDTH - RIGHT
    whiskers = marks(means(ABOUT, lines, 0.2), "line", "whisker")
    assert float(whiskers[0]["x1"]) + float(whiskers[0]["x2"]) == pytest.approx(WIDTH)
    assert whiskers[1]["x1"] == whiskers[1]["x2"]  # no interval


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_stay_text(text: str) -> None:
    about = Caption("n", text, text, text, text)
    line = Curve("none", text, [Spot(0.5, 0.5, 0.4, 0.6, text)])
    drawings = [
        histogram(about, [Stick(1, text)], [Tick(0, text)]),
        course(about, [line], [Tick(0, text)]),
        means(about, [line], 1.0),
    ]
    for svg in drawings:
        ElementTree.fromstring(f"<all>{svg}</all>")  # noqa: S314 - whole, nothing left open
        page = Page(svg)
        assert not page.all("script")
        assert not page.all("img")
        assert not [a for _, attrs in page.tags for a in attrs if a.startswith(("on", "style"))]
        assert text in page.text

"""Exponents, and the plot of time over users."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from search_app.benchmark.growth_plot import exponent, plot


def test_the_exponent_of_a_square_is_two() -> None:
    assert exponent([(1, 3), (2, 12), (4, 48)]) == pytest.approx(2)


def test_the_plot_is_small_and_whole() -> None:
    points = [(8_000 << n, 0.01 * 4**n) for n in range(7)]
    drawn = plot({f"<{number}>": points for number in range(6)})
    assert len(drawn.encode()) < 20_000
    svg = ElementTree.fromstring(drawn)  # noqa: S314 (our own)
    lines = svg.findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [7] * 6
    assert "<0>: n^2.00" in ["".join(text.itertext()) for text in svg]
    assert "prefers-color-scheme: dark" in drawn.replace(":dark", ": dark")

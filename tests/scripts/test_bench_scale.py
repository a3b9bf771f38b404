"""The benchmark's own arithmetic: exponents, plots, prefixes, and the obvious version's groups."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

from anonymizer.model import Profiles

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(scope="module")
def bench() -> Iterator[ModuleType]:
    sys.path.insert(0, str(SCRIPTS))
    yield importlib.import_module("bench_scale")
    sys.path.remove(str(SCRIPTS))


def test_the_exponent_of_a_square_is_two(bench: ModuleType) -> None:
    assert bench.exponent([(1, 3), (2, 12), (4, 48)]) == pytest.approx(2)


def test_the_plot_is_small_and_whole(bench: ModuleType) -> None:
    points = [(8_000 << n, 0.01 * 4**n) for n in range(7)]
    drawn = bench.plot({f"<{number}>": points for number in range(6)})
    assert len(drawn.encode()) < 20_000
    svg = ElementTree.fromstring(drawn)  # noqa: S314 (our own)
    lines = svg.findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [7] * 6
    assert "<0>: n^2.00" in ["".join(text.itertext()) for text in svg]
    assert "prefers-color-scheme: dark" in drawn.replace(":dark", ": dark")


def test_a_prefix_has_whole_lines(bench: ModuleType, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"header\n" + b"a line\n" * 100)
    assert bench.prefix(log, 0.5, tmp_path / "half").read_bytes() == b"header\n" + b"a line\n" * 50
    assert bench.prefix(log, 1.0, tmp_path / "whole").read_bytes() == log.read_bytes()


def test_invented_profiles_have_forty_terms_each(bench: ModuleType) -> None:
    profiles: Profiles = bench.invented_profiles(300)
    assert profiles.sizes.tolist() == [40] * 300


def test_the_obvious_version_groups_by_hand(bench: ModuleType) -> None:
    """Mean size 2, p = 0.5: four terms a group. u0 takes u5, then u2; u1 takes u4, then u3."""
    rows = [("a", "b"), ("c", "d"), ("a", "e", "f"), ("c", "g", "h"), ("c",), ("a",)]
    profiles = Profiles.from_rows(
        {f"u{number}": dict.fromkeys(row, 1.0) for number, row in enumerate(rows)}
    )
    lengths = np.sqrt(profiles.sizes)
    unit = profiles.weights.multiply(1 / lengths[:, None]).tocsr()
    bounds = bench.bounds_of(profiles, p=0.5, k=None, l=None, t=None)
    assert bounds.terms == 4
    assert bench.obvious(profiles, unit, bounds, 0).tolist() == [0, 1, 0, 1, 1, 0]

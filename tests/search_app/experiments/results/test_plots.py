"""Pictures: the same bytes each time, all series in them, told apart without colour."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from search_app.experiments.report.report import Figure, FigureLine, FigurePoint
from search_app.experiments.results import plots
from search_app.experiments.results.plots import draw, looks, numbers

BARS = Figure(
    "figure-2",
    "Precision by mode",
    "One is higher.",
    "depth",
    "AP",
    (
        FigureLine(
            "none", (FigurePoint("AP@10", 0.5, 0.45, 0.55), FigurePoint("AP", 0.25, 0.2, 0.3))
        ),
        FigureLine("group", (FigurePoint("AP@10", 0.75, 0.7, 0.8), FigurePoint("AP", 0.5))),
    ),
    "bar",
)
POOLS = Figure(
    "pools",
    "Precision by pool",
    "It falls.",
    "pool",
    "AP",
    (FigureLine("group", tuple(FigurePoint(float(n), 50 / n) for n in (50, 100, 1000))),),
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
    two = Figure(
        "f", "t", "a", "x", "y", (*POOLS.lines, FigureLine("b", (FigurePoint(50.0, 0.1),)))
    )
    assert draw(BARS)[0].count(b"<pattern") == 1  # the first kind of bar is plain
    svg = draw(two)[0].decode()
    assert re.search(r"stroke-dasharray: [\d.]+ [\d.]+|stroke-dasharray: [\d.]+,[\d.]+", svg)


def test_a_figure_of_many_numbers_and_one_of_names_can_be_drawn() -> None:
    many = tuple(FigurePoint(at / 7, at - 3.0) for at in range(20))
    named = tuple(FigurePoint(f"a long name of a variant {at}", 1.0) for at in range(9))
    for kind in ("line", "bar"):
        for points in (many, named):
            svg, _ = draw(Figure("f", "t", "a", "x", "y", (FigureLine("only", points),), kind))
            assert len(svg) > 1000


MODES = ("none", "random", "average", "union", "random-groups", "left-out", "group")
GENERAL = tuple(
    FigureLine(
        f"{mode}, pool {pool}",
        tuple(
            FigurePoint(f"mine: p-linkability a=1 p=0.{p} refine=swap similarity=documents", 0.5)
            for p in range(1, 10)
        ),
    )
    for mode in MODES
    for pool in (100, 1000)
)


@pytest.mark.parametrize("lines", [GENERAL, GENERAL[:2], GENERAL[:1]])
def test_nothing_is_cut_off_where_there_is_much_to_name(
    lines: tuple[FigureLine, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    real = plots._saved

    def saved(canvas: Any, kind: str) -> bytes:
        seen.append(canvas)
        return real(canvas, kind)

    monkeypatch.setattr(plots, "_saved", saved)
    draw(Figure("variants", "AP", "a", "variant", "AP", lines, "bar"))  # warnings are errors
    for canvas in seen[:1]:
        canvas.draw_without_rendering()
        (axes,), whole = canvas.axes, canvas.bbox
        boxes = [legend.get_window_extent() for legend in canvas.legends]
        boxes += [label.get_window_extent() for label in axes.get_xticklabels()]
        for box in boxes:
            assert whole.x0 <= box.x0 <= box.x1 <= whole.x1
            assert whole.y0 <= box.y0 <= box.y1 <= whole.y1
        assert axes.bbox.height > 0.3 * plots._INCHES[1] * canvas.dpi
        assert len(canvas.legends) == (len(lines) > 1)


def test_a_series_looks_alike_in_every_figure() -> None:
    def named(*names: str) -> list[int]:
        return looks(Figure("f", "t", "a", "x", "y", tuple(FigureLine(name, ()) for name in names)))

    assert named("group", "no personalization") == named("group, pool 50", "none") == [0, 1]
    assert named("no personalization", "something", "group", "else") == [1, 2, 0, 3]
    assert named("the bound p", "average, mean of groups", "worst") == [63, 0, 1]
    found = named(*(line.name for line in GENERAL))
    assert len(set(found)) == 14
    colours = [look % len(plots._COLOURS) for look in found]
    assert colours[::2] == colours[1::2]  # of a mode, by both pools
    assert len(set(colours)) == 7


def test_the_bound_is_a_black_dashed_line_on_top(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    real = plots._legend
    monkeypatch.setattr(
        plots, "_legend", lambda canvas, axes: (seen.append(axes), real(canvas, axes))
    )
    points = (FigurePoint(0.1, 0.1), FigurePoint(0.4, 0.4))
    draw(
        Figure(
            "f",
            "t",
            "a",
            "p",
            "y",
            (FigureLine("the bound p", points), FigureLine("worst", points)),
        )
    )
    bound, worst = (container.lines[0] for container in seen[0].containers)
    assert (bound.get_color(), bound.get_linestyle()) == ("#000000", "--")
    assert bound.get_zorder() > worst.get_zorder()
    assert worst.get_color() != "#000000"


def test_without_a_home_nothing_is_said(tmp_path: Path) -> None:
    code = (
        "from search_app.experiments.results.plots import draw\n"
        "from search_app.experiments.report.report import Figure, FigureLine, FigurePoint\n"
        "draw(Figure('a', 'a', 'a', 'a', 'a', (FigureLine('a', (FigurePoint(1, 1.0),)),)))"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MPL")}
    kept = {name: value for name, value in kept.items() if not name.startswith("XDG")}
    (tmp_path / "file").touch()
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "HOME": str(tmp_path / "file")},  # nobody can write below it, root neither
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_dominated_points_of_a_plane_are_pale_and_a_path_is_joined() -> None:
    points = (FigurePoint(0.1, 0.7, 0.6, 0.8), FigurePoint(0.2, 0.6, 0.5, 0.7, dominated=True))
    for pale, shown in ((False, points[:1]), (True, points)):
        line = (FigureLine("mine", shown), FigureLine("group", points[:1]))
        figure = Figure("plane", "A plane", "About.", "cost", "AP", line, "plane", ("l",) * 4)
        svg, _ = draw(figure)
        assert (f"opacity: {plots._PALE}".encode() in svg) is pale
        assert looks(figure) == [2, 0]  # the colours of modes are for modes
        assert draw(replace(figure, kind="path"))[0].count(b"<path") > svg.count(b"<path")

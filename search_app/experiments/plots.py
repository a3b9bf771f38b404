"""Draw figures; the only importer of matplotlib. The same figure gives the same bytes.

Lines differ in marker and dash, bars in hatch, besides in colour (Okabe and Ito's palette, which
colour-blind readers tell apart), so that a figure survives a grey print. A mode looks alike in
every figure; what else a figure shows takes the looks that are left.
"""

from __future__ import annotations

import csv
import io
import logging
from collections.abc import Mapping
from itertools import count
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from .report import Figure, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A", "#8B5A2B")
_BOUND = "the bound p"
_LOOKS = {  # of the modes, as reports name them
    "group": 0,
    "no personalization": 1,
    "none": 1,
    "random groups": 2,
    "random-groups": 2,
    "global union": 3,
    "union": 3,
    "global average": 4,
    "average": 4,
    "group without the own share": 5,
    "left-out": 5,
    "random order": 6,
    "random": 6,
    "own profile": 7,
    "own": 7,
    _BOUND: 63,  # not drawn by it, but black
}
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES = ("-", "--", "-.", ":")
_HATCHES = ("", "///", "\\\\\\", "..", "xxx", "---", "+++", "ooo")
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "veilsearch",  # else the ids in an SVG are drawn at random
    "svg.fonttype": "path",  # looks the same where the font is missing
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "hatch.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "lines.markersize": 5.0,
}
_INCHES = (5.6, 3.6)
_LINE = 0.17  # inches that a line of text takes
_LETTER = 0.075  # inches that a letter takes, at most on average
_WRAPPED = 26  # letters of a line below an axis
_BAR = 0.09  # inches
_MOST_WIDE = 40.0  # inches
_FEW_TICKS = 10
_ROOM = 70  # letters that fit across
_LEAST_SPAN = 0.1  # upwards: else what is flat looks steep
_WIDE = 10  # times from the least to the most: then a scale of factors


def draw(figure: Figure) -> tuple[bytes, bytes]:
    """Return a figure as SVG and as PNG."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where it may keep fonts: not our news
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context():
        mpl.rcdefaults()  # whatever the user's own style is
        mpl.rcParams.update(_STYLE)
        canvas = Canvas(figsize=_INCHES, layout="constrained")
        FigureCanvasAgg(canvas)
        axes = canvas.add_subplot()
        if figure.kind == "bar":
            _bars(axes, figure)
        else:
            _lines(axes, figure)
        axes.set_xlabel(figure.across)
        axes.set_ylabel(figure.up)
        _legend(canvas, axes)
        return _saved(canvas, "svg"), _saved(canvas, "png")


def numbers(figure: Figure) -> str:
    """Return what a figure shows as CSV."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("series", figure.across, figure.up, "low", "high"))
    for line in figure.lines:
        for point in line.points:
            ends = ("" if end is None else repr(end) for end in (point.low, point.high))
            rows.writerow((line.name, point.x, repr(point.value), *ends))
    return text.getvalue()


def _saved(canvas: Canvas, kind: str) -> bytes:
    file = io.BytesIO()
    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    canvas.savefig(file, format=kind, dpi=150, metadata=metadata)
    return file.getvalue()


def _lines(axes: Axes, figure: Figure) -> None:
    places = _places(figure)
    for look, line in zip(looks(figure), figure.lines, strict=True):
        bound = line.name == _BOUND
        x = [places[point.x] for point in line.points]
        axes.errorbar(
            x,
            [point.value for point in line.points],
            yerr=_ends(line.points),
            label=line.name,
            color="#000000" if bound else _COLOURS[look % len(_COLOURS)],
            marker="" if bound else _MARKERS[(look + look // len(_COLOURS)) % len(_MARKERS)],
            linestyle="--" if bound else _DASHES[(look + look // len(_COLOURS)) % len(_DASHES)],
            zorder=5 if bound else 2,
            capsize=3,
        )
    _ticks(axes, figure, places)


def _bars(axes: Axes, figure: Figure) -> None:
    """Draw a cluster of bars at each place across, one bar a line."""
    places = {x: float(at) for at, x in enumerate(_across(figure))}
    width = 0.85 / max(len(figure.lines), 1)
    for number, (look, line) in enumerate(zip(looks(figure), figure.lines, strict=True)):
        shift = (number - (len(figure.lines) - 1) / 2) * width
        axes.bar(
            [places[point.x] + shift for point in line.points],
            [point.value for point in line.points],
            width,
            yerr=_ends(line.points),
            label=line.name,
            color=_COLOURS[look % len(_COLOURS)],
            hatch=_HATCHES[(look + look // len(_COLOURS)) % len(_HATCHES)],
            edgecolor="white",
            error_kw={"ecolor": "#222222", "elinewidth": 1.0, "capsize": 2.0},
        )
    _name(axes, places, len(figure.lines))


def looks(figure: Figure) -> list[int]:
    """Return the number of each line's look: a mode's own, else the next that is free here.

    A mode that stands there by several pools keeps its colour; marker, dash and hatch differ.
    """
    found: list[int] = []
    fixed = [_LOOKS.get(line.name.partition(", pool ")[0]) for line in figure.lines]
    for own in fixed:
        taken, step = (found, len(_COLOURS)) if own is not None else ([*found, *fixed], 1)
        found.append(next(look for look in count(own or 0, step) if look not in taken))
    return found


def _name(axes: Axes, places: Mapping[str | float, float], bars: int = 1) -> None:
    """Name the places across; the canvas grows by what long names and many bars take."""
    names = ["\n".join(wrap(_text(x), _WRAPPED)) for x in places]
    lines = max((name.count("\n") + 1 for name in names), default=1)
    longest = max((len(part) for name in names for part in name.split("\n")), default=1)
    upright = (longest + 2) * len(names) <= _ROOM
    axes.set_xticks(list(places.values()), names, rotation=0 if upright else 90)
    each = max(bars * _BAR, 0 if upright else lines * _LINE) + 0.15
    wide, high = _INCHES
    high += (lines - 1) * _LINE if upright else longest * _LETTER
    if canvas := axes.get_figure(root=True):
        canvas.set_size_inches(min(max(wide, each * len(names) + 0.8), _MOST_WIDE), high)


def _ends(points: tuple[Point, ...]) -> np.ndarray | None:
    """Return how far the intervals reach below and above the values; None if there are none."""
    if all(point.low is None or point.high is None for point in points):
        return None
    below = [0.0 if point.low is None else max(point.value - point.low, 0.0) for point in points]
    above = [0.0 if point.high is None else max(point.high - point.value, 0.0) for point in points]
    return np.array([below, above])


def _across(figure: Figure) -> list[str | float]:
    """List the places across, in order of first appearance; numbers in their own order."""
    found = list(dict.fromkeys(point.x for line in figure.lines for point in line.points))
    if any(isinstance(x, str) for x in found):
        return found
    return sorted(found, key=float)


def _places(figure: Figure) -> dict[str | float, float]:
    across = _across(figure)
    if any(isinstance(x, str) for x in across):
        return {x: float(at) for at, x in enumerate(across)}
    return {x: float(x) for x in across}


def _ticks(axes: Axes, figure: Figure, places: dict[str | float, float]) -> None:
    """Name each place across, unless there are many; numbers far apart stand by their ratio."""
    from matplotlib.ticker import NullLocator

    named = any(isinstance(x, str) for x in places)
    if not named and places and 0 < min(places.values()) * _WIDE < max(places.values()):
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
    if named:
        _name(axes, places)
    elif len(places) <= _FEW_TICKS:
        axes.set_xticks(list(places.values()), [_text(x) for x in places])
    low, high = axes.get_ylim()
    more = max(_LEAST_SPAN - (high - low), 0.0) / 2
    whole = all(point.value >= 0 for line in figure.lines for point in line.points)
    axes.set_ylim(max(low - more, 0.0) if whole else low - more, high + more)


def _text(x: str | float) -> str:
    return x if isinstance(x, str) else f"{x:g}"


def _legend(canvas: Canvas, axes: Axes) -> None:
    """Name the series above the plot, where they hide no point, in as many columns as fit."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < 2:
        return
    labels = ["\n".join(wrap(label, 60)) for label in labels]
    wide, high = canvas.get_size_inches()
    for columns in range(len(labels), 0, -1):
        legend = canvas.legend(
            handles, labels, loc="outside upper center", ncols=columns, frameon=False
        )
        box = legend.get_window_extent()
        if columns == 1 or box.width <= 0.97 * wide * canvas.dpi:
            break
        legend.remove()
    more = max(box.height / canvas.dpi - 2 * _LINE, 0.0)  # two lines have room
    canvas.set_size_inches(max(wide, box.width / canvas.dpi + 0.2), high + more)

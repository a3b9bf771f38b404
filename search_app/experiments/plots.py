"""Draw figures; the only importer of matplotlib. The same figure gives the same bytes.

Lines differ in marker and dash, bars in hatch, besides in colour (Okabe and Ito's palette, which
colour-blind readers tell apart), so that a figure survives a grey print.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from .report import Figure, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A", "#000000")
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
_FEW_TICKS = 10
_ROOM = 70  # characters that fit across
_LEAST_SPAN = 0.1  # upwards: else what is flat looks steep
_WIDE = 10  # times from the least to the most: then a scale of factors


def draw(figure: Figure) -> tuple[bytes, bytes]:
    """Return a figure as SVG and as PNG."""
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
        _legend(canvas, axes, figure)
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
    for number, line in enumerate(figure.lines):
        x = [places[point.x] for point in line.points]
        axes.errorbar(
            x,
            [point.value for point in line.points],
            yerr=_ends(line.points),
            label=line.name,
            color=_COLOURS[number % len(_COLOURS)],
            marker=_MARKERS[number % len(_MARKERS)],
            linestyle=_DASHES[number % len(_DASHES)],
            capsize=3,
        )
    _ticks(axes, figure, places)


def _bars(axes: Axes, figure: Figure) -> None:
    """Draw a cluster of bars at each place across, one bar a line."""
    places = {x: float(at) for at, x in enumerate(_across(figure))}
    width = 0.85 / max(len(figure.lines), 1)
    for number, line in enumerate(figure.lines):
        shift = (number - (len(figure.lines) - 1) / 2) * width
        axes.bar(
            [places[point.x] + shift for point in line.points],
            [point.value for point in line.points],
            width,
            yerr=_ends(line.points),
            label=line.name,
            color=_COLOURS[number % len(_COLOURS)],
            hatch=_HATCHES[number % len(_HATCHES)],
            edgecolor="white",
            error_kw={"ecolor": "#222222", "elinewidth": 1.0, "capsize": 2.0},
        )
    axes.set_xticks(list(places.values()), [_text(x) for x in places])
    if max(len(_text(x)) for x in places) * len(places) > _ROOM:
        axes.tick_params("x", rotation=30)


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
    if named or len(places) <= _FEW_TICKS:
        axes.set_xticks(list(places.values()), [_text(x) for x in places])
    low, high = axes.get_ylim()
    more = max(_LEAST_SPAN - (high - low), 0.0) / 2
    whole = all(point.value >= 0 for line in figure.lines for point in line.points)
    axes.set_ylim(max(low - more, 0.0) if whole else low - more, high + more)


def _text(x: str | float) -> str:
    return x if isinstance(x, str) else f"{x:g}"


def _legend(canvas: Canvas, axes: Axes, figure: Figure) -> None:
    """Name the series above the plot, where they hide no point."""
    if len(figure.lines) < 2:
        return
    handles, labels = axes.get_legend_handles_labels()
    longest = max(map(len, labels))
    columns = min(len(labels), 4 if longest < 18 else 2 if longest < 60 else 1)
    size = 9.0 if longest < 30 else 7.0
    canvas.legend(
        handles, labels, loc="outside upper center", ncols=columns, frameon=False, fontsize=size
    )

"""Draw figures; the only importer of matplotlib. The same figure gives the same bytes."""
# Lines differ in marker and dash, bars in hatch, and both in colour, so that a figure can be
# printed in grey. A mode looks the same in every figure; other lines take the looks that are free.

from __future__ import annotations

import io
import logging
from collections.abc import Mapping
from itertools import count
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.storage.records import csv_text

from ..report.report import PLANES, Figure, FigurePoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

# The first, second and last are those of the modes in all pages: group, plain order, own profile.
_COLOURS = ("#0b7168", "#646b75", "#0072b2", "#b8569a", "#8a7a00", "#7a5fd0", "#c2475c", "#a95409")
_OF_MODES = (0, 1, 7)
_PALE = 0.42
_BOUND = "the bound p"
_LOOKS = {  # of the modes, as reports name them, and of methods that are alike
    **dict.fromkeys(("p-linkability", "p-linkability rows", "groups"), 0),
    **{"the paper's": 0, "the paper's rows": 0, "global-row": 4, "own-rows": 7},
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
    _BOUND: 63,  # out of the way of other looks; the bound is drawn in black
}
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES = ("-", "--", "-.", ":")
_HATCHES = ("", "///", "\\\\\\", "..", "xxx", "---", "+++", "ooo")
_STYLE: dict[Any, Any] = {
    # Without a salt of ours, the ids in an SVG are random.
    "svg.hashsalt": "veilsearch",
    # Paths look the same where the font is missing.
    "svg.fonttype": "path",
    # This font comes with matplotlib.
    "font.family": "DejaVu Sans",
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
_LETTER = 0.075  # inches that a letter takes on average, at most
_WRAPPED = 26  # letters in a line below an axis
_BAR = 0.09  # inches
_MOST_WIDE = 40.0  # inches
_FEW_TICKS = 10
_ROOM = 70  # letters that fit across
# Of the vertical axis: if it showed a smaller range, flat lines would look steep.
_LEAST_SPAN = 0.1
_WIDE = 10  # if the largest number is this many times the least, the axis is logarithmic


def draw(figure: Figure) -> tuple[bytes, bytes]:
    """Return `figure` as SVG and as PNG."""
    # Its warnings on where it caches fonts are of no use to our readers.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    # matplotlib is heavy and is imported only to draw.
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context():
        # The user's own matplotlib style must not change the bytes.
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        canvas = Canvas(figsize=_INCHES, layout="constrained")
        # Without pyplot, which chooses a backend by the display and keeps all figures.
        FigureCanvasAgg(canvas)
        axes = canvas.add_subplot()
        draws = {"bar": _bars, **dict.fromkeys(PLANES, _points)}
        draws.get(figure.kind, _lines)(axes, figure)
        left, right, below, above = figure.ends or ("",) * 4
        axes.set_xlabel(_between(left, figure.across, right))
        axes.set_ylabel(_between(below, figure.up, above))
        _legend(canvas, axes)
        return _saved(canvas, "svg"), _saved(canvas, "png")


def _between(low: str, name: str, high: str) -> str:
    """Return the `name` of an axis between what its ends stand for, if they stand for anything."""
    return f"← {low}    {name}    {high} →" if low else name


def numbers(figure: Figure) -> str:
    """Return the points of `figure` as CSV."""
    head = ("series", figure.across, figure.up, "low", "high")
    points = (
        (line.name, point.x, point.value, point.low, point.high)
        for line in figure.lines
        for point in line.points
    )
    return csv_text([head, *points])


def _saved(canvas: Canvas, kind: str) -> bytes:
    file = io.BytesIO()
    # A date or a version would change the bytes.
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


def _points(axes: Axes, figure: Figure) -> None:
    """Draw points, joined in a path; dominated ones are pale."""
    for look, line in zip(looks(figure), figure.lines, strict=True):
        if figure.kind == "path":
            x = [float(point.x) for point in line.points]
            y = [point.value for point in line.points]
            axes.plot(x, y, color=_COLOURS[look % len(_COLOURS)], linewidth=0.6, zorder=0)
        for pale in (True, False):
            some = tuple(point for point in line.points if point.dominated is pale)
            if some or not pale:  # a method whose points are all pale stands in the legend, too
                axes.errorbar(
                    [float(point.x) for point in some],
                    [point.value for point in some],
                    yerr=_ends(some) if some else None,
                    label=None if pale else line.name,
                    color=_COLOURS[look % len(_COLOURS)],
                    alpha=_PALE if pale else 1.0,
                    marker=_MARKERS[(look + look // len(_COLOURS)) % len(_MARKERS)],
                    linestyle="none",
                    elinewidth=0.8,
                    zorder=1 if pale else 2,
                )


def _bars(axes: Axes, figure: Figure) -> None:
    """Draw a cluster of bars at each place across, with one bar per line."""
    places = {x: float(at) for at, x in enumerate(_places(figure))}
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
    """Return the look of each line of `figure`: its mode's own, or else the next free one."""
    # A mode over several pools keeps its colour: the looks of a colour are len(_COLOURS) apart.
    # In a plane, where modes and methods stand together, no other series takes a mode's colour.
    reserved = _OF_MODES if figure.is_plane else ()
    chosen: list[int] = []
    rest = ", " if figure.is_plane else ", pool "
    fixed = [_LOOKS.get(line.name.partition(rest)[0]) for line in figure.lines]
    for own in fixed:
        others = (look for look in count() if look % len(_COLOURS) not in reserved)
        free = (look for look in others if look not in fixed)
        some = free if own is None else count(own, len(_COLOURS))
        chosen.append(next(look for look in some if look not in chosen))
    return chosen


def _name(axes: Axes, places: Mapping[str | float, float], bars: int = 1) -> None:
    """Write the names of the places across; enlarge the canvas for long names and many bars."""
    names = ["\n".join(wrap(_text(x), _WRAPPED)) for x in places]
    lines = max((name.count("\n") + 1 for name in names), default=1)
    longest = max((len(part) for name in names for part in name.split("\n")), default=1)
    upright = (longest + 2) * len(names) <= _ROOM
    axes.set_xticks(list(places.values()), names, rotation=0 if upright else 90)
    width = max(bars * _BAR, 0 if upright else lines * _LINE) + 0.15
    wide, high = _INCHES
    high += (lines - 1) * _LINE if upright else longest * _LETTER
    if canvas := axes.get_figure(root=True):
        canvas.set_size_inches(min(max(wide, width * len(names) + 0.8), _MOST_WIDE), high)


def _ends(points: tuple[FigurePoint, ...]) -> np.ndarray | None:
    """Return how far the intervals reach below and above `points`; None without intervals."""
    if all(point.low is None or point.high is None for point in points):
        return None
    below = [0.0 if point.low is None else max(point.value - point.low, 0.0) for point in points]
    above = [0.0 if point.high is None else max(point.high - point.value, 0.0) for point in points]
    return np.array([below, above])


def _places(figure: Figure) -> dict[str | float, float]:
    """Return where each x stands: names in order of appearance, numbers by their value."""
    places = list(dict.fromkeys(point.x for line in figure.lines for point in line.points))
    if any(isinstance(x, str) for x in places):
        return {x: float(at) for at, x in enumerate(places)}
    return {x: float(x) for x in sorted(places, key=float)}


def _ticks(axes: Axes, figure: Figure, places: dict[str | float, float]) -> None:
    """Set the ticks across, one per place unless there are many, and the range of the axis up."""
    from matplotlib.ticker import NullLocator

    named = any(isinstance(x, str) for x in places)
    if not named and places and 0 < min(places.values()) * _WIDE < max(places.values()):
        axes.set_xscale("log")
        # Minor ticks would write numbers between ours.
        axes.xaxis.set_minor_locator(NullLocator())
    if named:
        _name(axes, places)
    elif len(places) <= _FEW_TICKS:
        axes.set_xticks(list(places.values()), [_text(x) for x in places])
    low, high = axes.get_ylim()
    more = max(_LEAST_SPAN - (high - low), 0.0) / 2
    # An axis of values that are never negative does not go below 0.
    whole = all(point.value >= 0 for line in figure.lines for point in line.points)
    axes.set_ylim(max(low - more, 0.0) if whole else low - more, high + more)


def _text(x: str | float) -> str:
    return x if isinstance(x, str) else f"{x:g}"


def _legend(canvas: Canvas, axes: Axes) -> None:
    """Draw the legend above the plot, where it hides no point, with all columns that fit."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < 2:
        return
    labels = ["\n".join(wrap(label, 60)) for label in labels]
    wide, high = canvas.get_size_inches()
    # The width of a legend is known only after it is drawn, so fewer and fewer columns are tried.
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

"""Small drawings as SVG: histogram, course over time, means with intervals.

Pure: numbers in, markup out. Colours come from classes, so that dark mode and print hold; every
drawing has a title and a description, and the page says the same in a table beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, log10
from typing import NamedTuple

from markupsafe import Markup

WIDTH, HEIGHT = 480, 250
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 30, 60
WIDEST = 60  # a bar
WIDE, TALL = 760, 330
LOW = 6  # above the first of the means
BAND = 46  # height of a mean's line with its name
_DASHES = ("", "7 4", "2 4", "10 3 2 3")
_EDGE = 0.1
_LONGEST = 46  # characters of a name that fit beside a narrow page


class About(NamedTuple):
    """What a drawing is called, what it shows in a sentence, and what its axes count."""

    name: str  # unique on the page, of letters and dashes
    title: str
    description: str
    across: str
    up: str = ""


class Chart(NamedTuple):
    """A drawing, what to see in it, and the same in numbers."""

    name: str
    heading: str
    drawing: Markup
    sentence: str
    head: tuple[str, ...]  # of the table with the numbers
    rows: Sequence[tuple[str, ...]]


class Column(NamedTuple):
    """A bar of a histogram, and what it says when pointed at."""

    number: int
    label: str


class Tick(NamedTuple):
    """A number at an axis; its place counts bars, or runs from 0 to 1."""

    at: float
    text: str


class Spot(NamedTuple):
    """A mean with its interval; a place from 0 to 1, or of no meaning where there is none."""

    at: float
    value: float
    low: float | None = None
    high: float | None = None
    label: str = ""


class Line(NamedTuple):
    """A named line of spots, in the colour of a class."""

    kind: str
    name: str
    spots: Sequence[Spot]


def histogram(about: About, columns: Sequence[Column], ticks: Iterable[Tick]) -> Markup:
    """Draw how many values lie where."""
    most = max((column.number for column in columns), default=0)
    levels = whole_levels(most)
    wide, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    step, scale = min(wide / max(len(columns), 1), WIDEST), tall / levels[-1]
    parts = [_grid([(level * scale, thousands(level)) for level in levels], WIDTH, HEIGHT)]
    for at, column in enumerate(columns):
        height = (
            max(column.number * scale, 1.5) if column.number else 0
        )  # what is there can be seen
        box = (LEFT + at * step + 0.5, HEIGHT - BOTTOM - height, max(step - 1, 1), height)
        parts.append(_bar(box, column.label))
    parts += [_tick(LEFT + tick.at * step, HEIGHT, tick.text) for tick in ticks]
    return _drawing(about, "chart", WIDTH, HEIGHT, [*parts, *_axes(about, WIDTH, HEIGHT)])


def course(about: About, lines: Sequence[Line], ticks: Iterable[Tick]) -> Markup:
    """Draw values from 0 to 1 over time, each line with the band of its intervals."""
    wide, tall = WIDE - LEFT - RIGHT, TALL - TOP - BOTTOM
    levels = [(tall * level / 4, f"{level / 4:.2f}") for level in range(5)]
    parts = [_grid(levels, WIDE, TALL)]
    parts += [_tick(LEFT + t.at * wide, TALL, t.text, _edge(t.at)) for t in ticks]
    drawn = [_placed(line, wide, tall) for line in lines]
    parts += [_band(line) for line in drawn]
    parts += [_stroke(line, at) for at, line in enumerate(drawn)]
    drawing = _drawing(about, "chart wide", WIDE, TALL, [*parts, *_axes(about, WIDE, TALL)])
    return _legend(lines) + drawing


def means(about: About, lines: Sequence[Line], limit: float) -> Markup:
    """Draw a mean with its interval for each line, around 0 and up to the limit either way."""
    height = BAND * len(lines) + BOTTOM + LOW
    wide, middle = WIDTH - 2 * RIGHT, WIDTH / 2
    parts = [
        Markup('<line class="zero" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>').format(
            _round(middle), LOW, height - BOTTOM
        )
    ]
    ends = [(-1.0, f"−{limit:g}"), (-0.5, f"−{limit / 2:g}"), (0.0, "0")]
    ends += [(0.5, f"+{limit / 2:g}"), (1.0, f"+{limit:g}")]
    parts += [_tick(middle + at * (wide / 2 - 14), height, text) for at, text in ends]
    for at, line in enumerate(lines):
        parts.append(_mean(line, LOW + BAND * at, middle, (wide / 2 - 14) / limit))
    return _drawing(about, "chart", WIDTH, height, [*parts, *_axes(about, WIDTH, height, RIGHT)])


def whole_levels(most: int) -> list[int]:
    """Return at most six round whole numbers from 0 to at least the largest count."""
    rough = max(most, 1) / 4
    power = 10 ** max(floor(log10(rough)), 0)
    step = next(int(n * power) for n in (1, 2, 5, 10) if n * power >= rough)
    return list(range(0, max(most, 1) + step, step))


def thousands(number: int) -> str:
    """Write a count in five characters or fewer."""
    for size, unit in ((1_000_000, "M"), (10_000, "k")):
        if number >= size:
            return f"{number / (1_000_000 if unit == 'M' else 1000):.3g}{unit}"
    return f"{number:,}"


def few(count: int, most: int) -> int:
    """Return how many bars lie between two numbers of the axis, so that all have room."""
    return max(1, -(-count // most))


def _placed(line: Line, wide: float, tall: float) -> Line:
    """Return a line in the drawing's own coordinates."""

    def y(value: float) -> float:
        return TOP + tall * (1 - min(max(value, 0.0), 1.0))

    spots = [
        Spot(
            LEFT + spot.at * wide,
            y(spot.value),
            None if spot.low is None else y(spot.low),
            None if spot.high is None else y(spot.high),
            spot.label,
        )
        for spot in line.spots
    ]
    return line._replace(spots=spots)


def _band(line: Line) -> Markup:
    sure = [spot for spot in line.spots if spot.low is not None and spot.high is not None]
    if len(sure) == 1:
        return Markup('<line class="whisker {0}" x1="{1}" x2="{1}" y1="{2}" y2="{3}"/>').format(
            line.kind, _round(sure[0].at), _round(sure[0].low or 0), _round(sure[0].high or 0)
        )
    edge = [(spot.at, spot.high or 0) for spot in sure]
    edge += [(spot.at, spot.low or 0) for spot in reversed(sure)]
    return Markup('<polygon class="band {}" points="{}"/>').format(line.kind, _points(edge))


def _stroke(line: Line, number: int, *, dots: bool = True) -> Markup:
    dash = _DASHES[number % len(_DASHES)]
    dashed = Markup(' stroke-dasharray="{}"').format(dash) if dash else ""
    places = _points([(spot.at, spot.value) for spot in line.spots])
    marks = Markup("").join(
        Markup('<circle class="dot {}" cx="{}" cy="{}" r="3.5"><title>{}</title></circle>').format(
            line.kind, _round(spot.at), _round(spot.value), spot.label
        )
        for spot in line.spots
        if dots
    )
    return Markup('<polyline class="line {}" points="{}"{}/>{}').format(
        line.kind, places, dashed, marks
    )


def _legend(lines: Sequence[Line]) -> Markup:
    """Name the lines above their drawing, where there is room for long names."""
    items = Markup("").join(
        Markup(
            '<li><svg class="chart sample" viewBox="0 0 36 12" aria-hidden="true">{}</svg>{}</li>'
        ).format(_stroke(line._replace(spots=[Spot(1, 6), Spot(35, 6)]), at, dots=False), line.name)
        for at, line in enumerate(lines)
    )
    return Markup('<ul class="legend">{}</ul>').format(items)


def _mean(line: Line, top: float, middle: float, scale: float) -> Markup:
    spot = line.spots[0]
    y = top + 34
    low, high = (middle + scale * (spot.value if v is None else v) for v in (spot.low, spot.high))
    return Markup(
        '<text class="what" x="{0}" y="{1}">{2}</text>'
        '<line class="whisker {3}" x1="{4}" x2="{5}" y1="{6}" y2="{6}"/>'
        '<circle class="dot {3}" cx="{7}" cy="{6}" r="4"><title>{8}</title></circle>'
    ).format(
        *(
            RIGHT,
            _round(top + 17),
            _cut(line.name),
            line.kind,
            _round(low),
            _round(high),
            _round(y),
        ),
        *(_round(middle + scale * spot.value), spot.label),
    )


def _grid(levels: Iterable[tuple[float, str]], width: float, height: float) -> Markup:
    return Markup("").join(
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{y}" y2="{y}"/>'
            '<text class="level" x="{}" y="{}">{}</text>'
        ).format(
            *(LEFT, _round(width - RIGHT), LEFT - 7, _round(height - BOTTOM - up + 4.5), text),
            y=_round(height - BOTTOM - up),
        )
        for up, text in levels
    )


def _bar(box: tuple[float, float, float, float], label: str) -> Markup:
    x, y, width, height = map(_round, box)
    return Markup(
        '<rect class="stick" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>'
    ).format(x, y, width, height, label)


def _tick(x: float, height: float, text: str, place: str = "") -> Markup:
    return Markup('<text class="tick{}" x="{}" y="{}">{}</text>').format(
        place, _round(x), _round(height - BOTTOM + 23), text
    )


def _edge(at: float) -> str:
    """Return the class that keeps a long text at the drawing's edge within it."""
    return " first" if at < _EDGE else " last" if at > 1 - _EDGE else ""


def _axes(about: About, width: float, height: float, left: float = LEFT) -> list[Markup]:
    below = Markup('<text class="axis" x="{}" y="{}">{}</text>').format(
        _round((left + width - RIGHT) / 2), _round(height - 8), about.across
    )
    above = Markup('<text class="axis up" x="4" y="15">{}</text>').format(about.up)
    return [below, above] if about.up else [below]


def _drawing(
    about: About, kind: str, width: float, height: float, parts: Iterable[Markup]
) -> Markup:
    return Markup(
        '<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" '
        'aria-labelledby="{name}-title {name}-about"><title id="{name}-title">{title}</title>'
        '<desc id="{name}-about">{about}</desc>{parts}</svg>'
    ).format(
        kind=kind,
        width=width,
        height=height,
        name=about.name,
        title=about.title,
        about=about.description,
        parts=Markup("").join(parts),
    )


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_round(x)},{_round(y)}" for x, y in places)


def _round(value: float) -> str:
    return f"{value:.1f}"

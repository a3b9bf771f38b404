"""Small SVG drawings: a histogram, a course over time, and means with intervals."""
# The functions are pure: numbers in, markup out. Colours come from classes, which dark mode and
# print set. Each drawing has a title and a description, and the page has a table of the same
# numbers.

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, log10
from typing import NamedTuple

from markupsafe import Markup

WIDTH, HEIGHT = 480, 250
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 30, 60
WIDEST = 60  # of a bar
WIDE, TALL = 760, 330  # of a course
LOW = 6  # space above the first of the means
BAND = 46  # height of a mean with its name
# Lines differ by their dashes too: not everybody tells the colours apart.
_DASHES = ("", "7 4", "2 4", "10 3 2 3")
_EDGE = 0.1
_LONGEST = 46  # characters of a name that fit a narrow page


class Caption(NamedTuple):
    """A drawing's name and title, a sentence on what it shows, and the labels of its axes."""

    name: str  # unique on the page: letters and dashes
    title: str
    description: str
    across: str
    up: str = ""


class Chart(NamedTuple):
    """A drawing, a sentence on it, and a table of its numbers."""

    name: str
    heading: str
    drawing: Markup
    sentence: str
    head: tuple[str, ...]  # of the table
    rows: Sequence[tuple[str, ...]]


class Stick(NamedTuple):
    """A bar of a histogram, and its label under the pointer."""

    number: int
    label: str


class Tick(NamedTuple):
    """A text at an axis; its place counts bars, or runs from 0 to 1."""

    at: float
    text: str


class Spot(NamedTuple):
    """A mean with its interval; its place runs from 0 to 1, and `means` ignores it."""

    at: float
    value: float
    low: float | None = None
    high: float | None = None
    label: str = ""


class Curve(NamedTuple):
    """A named line of spots; its kind is the class that colours it."""

    kind: str
    name: str
    spots: Sequence[Spot]


def histogram(caption: Caption, columns: Sequence[Stick], ticks: Iterable[Tick]) -> Markup:
    """Return a histogram with a bar for each of `columns`, and `ticks` below."""
    most = max((column.number for column in columns), default=0)
    levels = whole_levels(most)
    wide, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    step, scale = min(wide / max(len(columns), 1), WIDEST), tall / levels[-1]
    parts = [_grid([(level * scale, thousands(level)) for level in levels], WIDTH, HEIGHT)]
    for at, column in enumerate(columns):
        # A count of 1 in thousands is still seen.
        height = max(column.number * scale, 1.5) if column.number else 0
        box = (LEFT + at * step + 0.5, HEIGHT - BOTTOM - height, max(step - 1, 1), height)
        parts.append(
            Markup(
                '<rect class="stick" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>'
            ).format(*map(_round, box), column.label)
        )
    parts += [_tick(LEFT + tick.at * step, HEIGHT, tick.text) for tick in ticks]
    return _svg(caption, "chart", WIDTH, HEIGHT, [*parts, *_axes(caption, WIDTH, HEIGHT)])


def course(caption: Caption, lines: Sequence[Curve], ticks: Iterable[Tick]) -> Markup:
    """Return a drawing of `lines` from 0 to 1 over time, each with the band of its intervals."""
    wide, tall = WIDE - LEFT - RIGHT, TALL - TOP - BOTTOM
    levels = [(tall * level / 4, f"{level / 4:.2f}") for level in range(5)]
    parts = [_grid(levels, WIDE, TALL)]
    # A class keeps the text of a tick near an edge within the drawing.
    for tick in ticks:
        edge = " first" if tick.at < _EDGE else " last" if tick.at > 1 - _EDGE else ""
        parts.append(_tick(LEFT + tick.at * wide, TALL, tick.text, edge))
    drawn = [_placed(line, wide, tall) for line in lines]
    # Bands come first, so that no line is hidden behind one.
    parts += [_band(line) for line in drawn]
    parts += [_stroke(line, at) for at, line in enumerate(drawn)]
    drawing = _svg(caption, "chart wide", WIDE, TALL, [*parts, *_axes(caption, WIDE, TALL)])
    items = Markup("").join(
        Markup(
            '<li><svg class="chart sample" viewBox="0 0 36 12" aria-hidden="true">{}</svg>{}</li>'
        ).format(_stroke(line._replace(spots=[Spot(1, 6), Spot(35, 6)]), at, dots=False), line.name)
        for at, line in enumerate(lines)
    )
    legend = Markup('<ul class="legend">{}</ul>').format(items)
    return legend + drawing


def means(caption: Caption, lines: Sequence[Curve], limit: float) -> Markup:
    """Return a drawing of the mean of each of `lines`, on an axis from -`limit` to `limit`."""
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
    return _svg(caption, "chart", WIDTH, height, [*parts, *_axes(caption, WIDTH, height, RIGHT)])


def whole_levels(most: int) -> list[int]:
    """Return at most six round whole numbers from 0 to `most` or more."""
    rough = max(most, 1) / 4
    power = 10 ** max(floor(log10(rough)), 0)
    step = next(int(n * power) for n in (1, 2, 5, 10) if n * power >= rough)
    return list(range(0, max(most, 1) + step, step))


def thousands(number: int) -> str:
    """Return `number` in five characters or fewer."""
    for size, unit in ((1_000_000, "M"), (10_000, "k")):
        if number >= size:
            return f"{number / (1_000_000 if unit == 'M' else 1000):.3g}{unit}"
    return f"{number:,}"


def _placed(line: Curve, wide: float, tall: float) -> Curve:
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


def _band(line: Curve) -> Markup:
    sure = [spot for spot in line.spots if spot.low is not None and spot.high is not None]
    # A polygon of one point would not be seen.
    if len(sure) == 1:
        return Markup('<line class="whisker {0}" x1="{1}" x2="{1}" y1="{2}" y2="{3}"/>').format(
            line.kind, _round(sure[0].at), _round(sure[0].low or 0), _round(sure[0].high or 0)
        )
    edge = [(spot.at, spot.high or 0) for spot in sure]
    edge += [(spot.at, spot.low or 0) for spot in reversed(sure)]
    return Markup('<polygon class="band {}" points="{}"/>').format(line.kind, _points(edge))


def _stroke(line: Curve, number: int, *, dots: bool = True) -> Markup:
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
    stroke = Markup('<polyline class="line {}" points="{}"{}/>{}')
    return stroke.format(line.kind, places, dashed, marks)


def _mean(line: Curve, top: float, middle: float, scale: float) -> Markup:
    spot = line.spots[0]
    y, name = top + 34, line.name
    if len(name) > _LONGEST:
        name = f"{name[: _LONGEST - 1]}…"
    low, high = (middle + scale * (spot.value if v is None else v) for v in (spot.low, spot.high))
    return Markup(
        '<text class="what" x="{0}" y="{1}">{2}</text>'
        '<line class="whisker {3}" x1="{4}" x2="{5}" y1="{6}" y2="{6}"/>'
        '<circle class="dot {3}" cx="{7}" cy="{6}" r="4"><title>{8}</title></circle>'
    ).format(
        *(RIGHT, _round(top + 17), name, line.kind, _round(low), _round(high), _round(y)),
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


def _tick(x: float, height: float, text: str, place: str = "") -> Markup:
    return Markup('<text class="tick{}" x="{}" y="{}">{}</text>').format(
        place, _round(x), _round(height - BOTTOM + 23), text
    )


def _axes(caption: Caption, width: float, height: float, left: float = LEFT) -> list[Markup]:
    below = Markup('<text class="axis" x="{}" y="{}">{}</text>').format(
        _round((left + width - RIGHT) / 2), _round(height - 8), caption.across
    )
    above = Markup('<text class="axis up" x="4" y="15">{}</text>').format(caption.up)
    return [below, above] if caption.up else [below]


def _svg(caption: Caption, kind: str, width: float, height: float, parts: list[Markup]) -> Markup:
    return Markup(
        '<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" '
        'aria-labelledby="{name}-title {name}-about"><title id="{name}-title">{title}</title>'
        '<desc id="{name}-about">{about}</desc>{parts}</svg>'
    ).format(
        kind=kind,
        width=width,
        height=height,
        name=caption.name,
        title=caption.title,
        about=caption.description,
        parts=Markup("").join(parts),
    )


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_round(x)},{_round(y)}" for x, y in places)


def _round(value: float) -> str:
    return f"{value:.1f}"

"""A small log-log plot as SVG: seconds over users, a line for each stage with its exponent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

import numpy as np

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 240, 24, 52
COLOURS = ("#3b7dd8", "#d9822b", "#2e9e6b", "#b0559e", "#8a8a8a", "#c0504d")
STYLE = (
    "text{font:12px sans-serif;fill:#333}.axis{stroke:#999}.grid{stroke:#8884}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.axis{stroke:#777}}"
)


def exponent(points: Points) -> float:
    """Return the slope of the line that fits the logarithms of `points` best."""
    if len(points) < 2:
        return math.nan
    x, y = np.log(np.array(points, dtype=np.float64)).T
    return float(np.polyfit(x, y, 1)[0])


def plot(stages: Mapping[str, Points]) -> str:
    """Return the SVG of a plot with a line for each of `stages`."""
    every = [point for points in stages.values() for point in points]
    (left, right), (low, high) = (_decades(values) for values in zip(*every, strict=True))

    def x(users: float) -> float:
        return LEFT + (math.log10(users) - left) / (right - left) * (WIDTH - LEFT - RIGHT)

    def y(seconds: float) -> float:
        return (
            HEIGHT - BOTTOM - (math.log10(seconds) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)
        )

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>Seconds over users</title><style>{STYLE}</style>",
    ]
    for power in range(left, right + 1):
        at = x(10**power)
        lines.append(_line(at, TOP, at, HEIGHT - BOTTOM, "grid"))
        lines.append(_text(at, HEIGHT - BOTTOM + 18, f"{10**power:,}", "middle"))
    for power in range(low, high + 1):
        at = y(10**power)
        lines.append(_line(LEFT, at, WIDTH - RIGHT, at, "grid"))
        lines.append(_text(LEFT - 6, at + 4, f"{10**power:g}", "end"))
    lines.append(_line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "axis"))
    lines.append(_line(LEFT, TOP, LEFT, HEIGHT - BOTTOM, "axis"))
    lines.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "users", "middle"))
    lines.append(_text(LEFT - 6, 14, "seconds", "end"))
    for number, (name, points) in enumerate(stages.items()):
        path = " ".join(f"{x(users):.1f},{y(seconds):.1f}" for users, seconds in points)
        colour, at = COLOURS[number % len(COLOURS)], TOP + 12 + 20 * number
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines.append(
            f'<rect x="{WIDTH - RIGHT + 14}" y="{at - 9}" width="10" height="10" fill="{colour}"/>'
        )
        grows = "" if len(points) < 2 else f": n^{exponent(points):.2f}"
        lines.append(_text(WIDTH - RIGHT + 30, at, f"{name}{grows}", "start"))
    return "\n".join([*lines, "</svg>", ""])


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten that enclose `values`."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'

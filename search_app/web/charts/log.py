"""Drawings of the log of average precision: over time, and one mode against another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...disclosure.numbers import NO_VALUE, count, two_decimals
from ...evaluation.log_history import PEOPLE, STEP, STEPS, Course, LoggedDifference
from ..wording import kind, logged_name
from .drawing import Caption, Chart, Curve, Spot, Stick, Tick, course, histogram, means

_LIMITS = (0.1, 0.2, 0.5, 1.0)
_TICKS = 3
_DAY, _MINUTE = len("2026-01-31"), len("2026-01-31 23:59")
_OVER_PEOPLE = (
    "Intervals are over people. A search from before the server’s start counts as one of a person "
    "of its own."
)
Time = Callable[[int], str]


def over_time(courses: Sequence[Course], time: Time, release: str) -> Chart:
    """Return a chart of `courses`: mean AP by mode over `time`, named as `release` served it."""
    points = 1 + max(point.point for one in courses for point in one.points)
    lines = [
        Curve(
            _colour(one.mode),
            logged_name(one.mode, release),
            [
                Spot(
                    *((p.point + 0.5) / points, p.ap, *_ends(p.ap, p.half, 0.0)),
                    f"{time(p.first)}: {two_decimals(p.ap)} ({p.searches:,} searches)",
                )
                for p in one.points
            ],
        )
        for one in courses
    ]
    first = courses[0].points
    searches = sum(point.searches for point in first)
    some = f"Each point is the mean of about {searches // points:,}" if points > 1 else "The mean"
    sentence = (
        f"{some} of {count(searches, 'search', 'searches')}, oldest first. The band around a "
        f"line is the mean’s 95 % interval (Student’s t), for {PEOPLE} people or more. "
        f"{_OVER_PEOPLE}"
    )
    caption = Caption(
        "over-time", "Average precision over time", sentence, "searches, oldest first", "AP"
    )
    begins = {point.point: point.first for one in courses for point in one.points}
    shown = min(_TICKS, points)
    places = {round(n * (points - 1) / max(shown - 1, 1)) for n in range(shown)}
    texts = {at: time(begins[at]) for at in sorted(places & begins.keys())}
    # Times of one day name the hour only, times of several days the day only.
    one_day = len({text[:_DAY] for text in texts.values()}) == 1
    part = slice(_DAY + 1, _MINUTE) if one_day else slice(_DAY)
    times = [Tick((at + 0.5) / points, text[part] or text[:_DAY]) for at, text in texts.items()]
    drawing = course(caption, lines, times)
    head = ("From", "Mode", "Searches", "AP", "95 % interval")
    rows = [
        (
            *(time(point.first), logged_name(one.mode, release), f"{point.searches:,}"),
            *(two_decimals(point.ap), _interval(point.ap, point.half, 0.0)),
        )
        for one in courses
        for point in one.points
    ]
    return Chart(caption.name, caption.title, drawing, sentence, head, rows)


def compared(differences: Sequence[LoggedDifference], release: str) -> Chart:
    """Return a chart of the mean `differences` of pairs of modes; `release` names a mode."""
    ends = [abs(d.mean) + (d.half or 0) for d in differences]
    limit = next((limit for limit in _LIMITS if max(ends) <= limit), 1.0)
    lines = []
    for d in differences:
        # A difference has the colour of the group's mode, on whichever side that is.
        colour = _colour(d.other if d.mode == "own" else d.mode)
        label = f"{_signed(d.mean)} ({_interval(d.mean, d.half, -1.0)})"
        spot = Spot(0.0, d.mean, *_ends(d.mean, d.half, -1.0), label)
        lines.append(Curve(colour, f"{_signed(d.mean)}  {_name(d, release)}", [spot]))
    sentence = (
        "Each search is compared with itself in another mode, so that easy and hard queries count "
        "alike on both sides. The bar is the 95 % interval of the mean difference (paired t). "
        f"Where the bar does not include 0, the difference is more than chance. {_OVER_PEOPLE}"
    )
    caption = Caption("compared", "One mode against another", sentence, "mean difference of AP")
    head = ("Difference", "Searches", "Mean", "95 % interval")
    rows = [
        (_name(d, release), f"{d.searches:,}", _signed(d.mean), _interval(d.mean, d.half, -1.0))
        for d in differences
    ]
    return Chart(caption.name, caption.title, means(caption, lines, limit), sentence, head, rows)


def spread(difference: LoggedDifference, number: int, release: str) -> Chart:
    """Return histogram `number`: single searches by `difference`, its modes named by `release`."""
    worse, same = sum(difference.counts[:STEPS]), difference.counts[STEPS]
    better = sum(difference.counts[STEPS + 1 :])
    sentence = (
        f"Of {count(difference.searches, 'search', 'searches')}, the AP is higher by more than "
        f"0.05 in {better:,}, lower in {worse:,}, and about the same in {same:,}."
    )
    heading = f"Search by search: {_name(difference, release)}"
    caption = Caption(f"spread-{number}", heading, sentence, "difference of AP", "searches")
    middles = [(at - STEPS) / STEPS for at in range(2 * STEPS + 1)]
    ends = [(max(at - STEP / 2, -1.0), min(at + STEP / 2, 1.0)) for at in middles]
    labels = [f"{_signed(low)} to {_signed(high)}" for low, high in ends]
    bars = list(zip(labels, difference.counts, strict=True))
    columns = [Stick(n, f"{label}: {count(n, 'search', 'searches')}") for label, n in bars]
    ticks = [Tick(at + 0.5, _signed((at - STEPS) / STEPS)) for at in range(0, 2 * STEPS + 1, 5)]
    rows = [(label, f"{n:,}") for label, n in bars]
    head = ("Difference of AP", "Searches")
    return Chart(caption.name, heading, histogram(caption, columns, ticks), sentence, head, rows)


def _colour(mode: str) -> str:
    """Return the CSS classes that colour a mode; further releases have their own colour."""
    return f"{kind(mode)} further" if kind(mode) != mode else mode


def _name(difference: LoggedDifference, release: str) -> str:
    return " − ".join(
        logged_name(mode, release) if kind(mode) == mode else mode.partition(":")[2]
        for mode in (difference.mode, difference.other)
    )


def _ends(mean: float, half: float | None, least: float) -> tuple[float | None, float | None]:
    if half is None:
        return None, None
    return max(mean - half, least), min(mean + half, 1.0)


def _interval(mean: float, half: float | None, least: float) -> str:
    low, high = _ends(mean, half, least)
    return NO_VALUE if low is None else f"{two_decimals(low)} to {two_decimals(high)}"


def _signed(value: float) -> str:
    written = two_decimals(value)
    return f"+{written}" if round(value, 2) > 0 else written

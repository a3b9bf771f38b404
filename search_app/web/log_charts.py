"""The log of average precision in pictures: over time, and one mode against another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..precision_history import STEP, STEPS, Course, Difference, Point
from .drawing import About, Chart, Column, Line, Spot, Tick, course, histogram, means
from .wording import NO_VALUE, count, kind, logged_name, two_decimals

_LIMITS = (0.1, 0.2, 0.5, 1.0)
_TICKS = 3
_DAY, _MINUTE = len("2026-01-31"), len("2026-01-31 23:59")
_INDEPENDENT = (
    "The intervals take searches as independent of each other, which they are not where somebody "
    "asks the same again."
)
Time = Callable[[int], str]


def over_time(courses: Sequence[Course], time: Time, release: str) -> Chart:
    """Draw each mode's mean AP, point by point in equally many searches."""
    points = 1 + max(point.point for each in courses for point in each.points)
    lines = [
        Line(
            _colour(each.mode),
            logged_name(each.mode, release),
            [_spot(p, points, time) for p in each.points],
        )
        for each in courses
    ]
    first = courses[0].points
    searches = sum(point.searches for point in first)
    each = f"Each point is the mean of about {searches // points:,}" if points > 1 else "The mean"
    sentence = (
        f"{each} of {count(searches, 'search', 'searches')}, oldest first; the band around a line "
        f"is the mean’s 95 % interval (Student’s t). {_INDEPENDENT}"
    )
    about = About(
        "over-time", "Average precision over time", sentence, "searches, oldest first", "AP"
    )
    drawing = course(about, lines, _times(courses, points, time))
    head = ("From", "Mode", "Searches", "AP", "95 % interval")
    rows = [
        _told(point, logged_name(each.mode, release), time)
        for each in courses
        for point in each.points
    ]
    return Chart(about.name, about.title, drawing, sentence, head, rows)


def compared(differences: Sequence[Difference], release: str) -> Chart:
    """Draw the mean difference of each pair of modes with its interval."""
    ends = [abs(d.mean) + (d.half or 0) for d in differences]
    limit = next((limit for limit in _LIMITS if max(ends) <= limit), 1.0)
    lines = [
        Line(_colour(_row(d)), f"{_signed(d.mean)}  {_name(d, release)}", [_mean(d)])
        for d in differences
    ]
    sentence = (
        "Each search is compared with itself in another mode, so that easy and hard queries count "
        "alike on both sides. The bar is the 95 % interval of the mean difference (paired t); "
        f"where it leaves out 0, the difference is more than chance. {_INDEPENDENT}"
    )
    about = About("compared", "One mode against another", sentence, "mean difference of AP")
    head = ("Difference", "Searches", "Mean", "95 % interval")
    rows = [
        (_name(d, release), f"{d.searches:,}", _signed(d.mean), _interval(d.mean, d.half, -1.0))
        for d in differences
    ]
    return Chart(about.name, about.title, means(about, lines, limit), sentence, head, rows)


def spread(difference: Difference, number: int, release: str) -> Chart:
    """Draw how the differences of single searches are spread."""
    worse, same = sum(difference.counts[:STEPS]), difference.counts[STEPS]
    better = sum(difference.counts[STEPS + 1 :])
    sentence = (
        f"Of {count(difference.searches, 'search', 'searches')}, {better:,} have an AP that is "
        f"higher by more than 0.05, {worse:,} one that is lower, and {same:,} about the same."
    )
    heading = f"Search by search: {_name(difference, release)}"
    about = About(f"spread-{number}", heading, sentence, "difference of AP", "searches")
    labels = [_around(at - STEPS) for at in range(2 * STEPS + 1)]
    told = list(zip(labels, difference.counts, strict=True))
    columns = [Column(n, f"{label}: {count(n, 'search', 'searches')}") for label, n in told]
    ticks = [Tick(at + 0.5, _signed((at - STEPS) / STEPS)) for at in range(0, 2 * STEPS + 1, 5)]
    rows = [(label, f"{n:,}") for label, n in told]
    head = ("Difference of AP", "Searches")
    return Chart(about.name, heading, histogram(about, columns, ticks), sentence, head, rows)


def _spot(point: Point, points: int, time: Time) -> Spot:
    low, high = _ends(point.ap, point.half, 0.0)
    label = f"{time(point.first)}: {two_decimals(point.ap)} ({point.searches:,} searches)"
    return Spot((point.point + 0.5) / points, point.ap, low, high, label)


def _told(point: Point, mode: str, time: Time) -> tuple[str, ...]:
    interval = _interval(point.ap, point.half, 0.0)
    return time(point.first), mode, f"{point.searches:,}", two_decimals(point.ap), interval


def _times(courses: Sequence[Course], points: int, time: Time) -> list[Tick]:
    """Return when some of the points begin, spread evenly."""
    begins = {point.point: point.first for each in courses for point in each.points}
    shown = min(_TICKS, points)
    places = {round(n * (points - 1) / max(shown - 1, 1)) for n in range(shown)}
    told = {at: time(begins[at]) for at in sorted(places & begins.keys())}
    one_day = len({text[:_DAY] for text in told.values()}) == 1
    shown_part = slice(_DAY + 1, _MINUTE) if one_day else slice(_DAY)
    return [Tick((at + 0.5) / points, text[shown_part] or text[:_DAY]) for at, text in told.items()]


def _mean(difference: Difference) -> Spot:
    low, high = _ends(difference.mean, difference.half, -1.0)
    told = _interval(difference.mean, difference.half, -1.0)
    return Spot(0.0, difference.mean, low, high, f"{_signed(difference.mean)} ({told})")


def _row(difference: Difference) -> str:
    """Return the mode whose colour a difference has: the group's, whichever side it is on."""
    return difference.other if difference.mode == "own" else difference.mode


def _colour(mode: str) -> str:
    """Return the classes of a mode's colour; further releases have one of their own."""
    return f"{kind(mode)} further" if kind(mode) != mode else mode


def _name(difference: Difference, release: str) -> str:
    return f"{_short(difference.mode, release)} − {_short(difference.other, release)}"


def _short(mode: str, release: str) -> str:
    return logged_name(mode, release) if kind(mode) == mode else mode.partition(":")[2]


def _ends(mean: float, half: float | None, least: float) -> tuple[float | None, float | None]:
    if half is None:
        return None, None
    return max(mean - half, least), min(mean + half, 1.0)


def _interval(mean: float, half: float | None, least: float) -> str:
    low, high = _ends(mean, half, least)
    return NO_VALUE if low is None else f"{two_decimals(low)} to {two_decimals(high)}"


def _around(steps: int) -> str:
    """Name the bar around a number of steps, which ends at -1 and 1."""
    low = max(steps / STEPS - STEP / 2, -1.0)
    high = min(steps / STEPS + STEP / 2, 1.0)
    return f"{_signed(low)} to {_signed(high)}"


def _signed(value: float) -> str:
    written = two_decimals(value)
    return f"+{written}" if round(value, 2) > 0 else written

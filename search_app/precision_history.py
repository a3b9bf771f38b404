"""What the log of average precision says over time, and of the same search in two modes.

Modes of one search share its number, so they can be compared search by search: what is hard about
a query is then the same on both sides. Each search counts as independent of the others, although
somebody may have asked the same thing again.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from .intervals import half_width
from .precision_log import Chosen, PrecisionLog

MOST_POINTS = 30
LEAST = 10  # searches a point, where there are as many
STEP = 0.1  # of the counted differences
STEPS = 10  # on either side of no difference
_LATEST = """
SELECT pool, mix, corpus, release FROM searches
WHERE (:pool IS NULL OR pool = :pool) AND (:mix IS NULL OR mix = :mix)
  AND (:corpus IS NULL OR corpus = :corpus) AND (:release IS NULL OR release = :release)
  AND search = (
    SELECT search FROM searches
    WHERE (:pool IS NULL OR pool = :pool) AND (:mix IS NULL OR mix = :mix)
      AND (:corpus IS NULL OR corpus = :corpus) AND (:release IS NULL OR release = :release)
    ORDER BY id DESC LIMIT 1
  )
ORDER BY id LIMIT 1
"""
_COUNT = """
SELECT count(DISTINCT search) FROM searches
WHERE pool = :pool AND mix = :mix AND corpus = :corpus AND release = :release
"""
# Points are found first, then read one after the other: to place every row takes twice as long.
_COURSE = """
WITH chosen AS (
    SELECT DISTINCT search FROM searches
    WHERE pool = :pool AND mix = :mix AND corpus = :corpus AND release = :release
), placed AS (
    SELECT search, row_number() OVER (ORDER BY search) - 1 AS place FROM chosen
), points AS (
    SELECT place * :points / :searches AS point, min(search) AS first, max(search) AS last
    FROM placed GROUP BY point
)
SELECT mode, point, count(*), avg(ap), avg(ap * ap) - avg(ap) * avg(ap), min(at), max(at)
FROM points CROSS JOIN searches ON search BETWEEN first AND last
WHERE pool = :pool AND mix = :mix AND corpus = :corpus AND release = :release
GROUP BY point, mode
ORDER BY CASE mode WHEN 'none' THEN 0 WHEN 'own' THEN 1 WHEN 'group' THEN 2 ELSE 3 END, mode, point
"""
# From plain to a group is what the group is worth, from a group to the own profile what it costs.
# The group's row is of the release; the other modes have the first release's name in the log.
_DIFFERENCES = """
WITH grouped AS (
    SELECT search, mode, ap FROM searches
    WHERE pool = :pool AND mix = :mix AND corpus = :corpus AND release = :release
      AND mode NOT IN ('none', 'own')
), pairs AS (
    SELECT other.mode = 'own' AS costs, grouped.mode AS mode,
           CASE other.mode WHEN 'own' THEN other.ap - grouped.ap ELSE grouped.ap - other.ap END
           AS more
    FROM grouped JOIN searches AS other USING (search)
    WHERE other.mode IN ('none', 'own')
)
SELECT CASE WHEN costs THEN 'own' ELSE mode END, CASE WHEN costs THEN mode ELSE 'none' END,
       CAST(round(more * :steps) AS INTEGER) AS step, count(*), sum(more), sum(more * more)
FROM pairs GROUP BY costs, mode, step ORDER BY costs, mode, step
"""


class Point(NamedTuple):
    """The mean AP of some searches that follow each other."""

    point: int
    searches: int
    ap: float
    half: float | None
    first: int  # seconds since 1970
    last: int


class Course(NamedTuple):
    """A mode's means, oldest searches first."""

    mode: str
    points: tuple[Point, ...]


class Difference(NamedTuple):
    """AP in one mode minus AP in another, over the searches answered in both."""

    mode: str
    other: str
    searches: int
    mean: float
    half: float | None  # of the paired 95 % interval
    counts: tuple[int, ...]  # searches by difference: -1, -0.9, ... 1, each to within half a step


def latest(log: PrecisionLog, chosen: Chosen) -> Chosen | None:
    """Return the pool, mix, corpus and release of the last search; the first of its releases."""
    found = log.ask(_LATEST, chosen._asdict())
    return Chosen(*found[0]) if found else None


def course(log: PrecisionLog, setting: Chosen) -> list[Course]:
    """Return each mode's mean AP over time, in points of equally many searches."""
    ((searches,),) = log.count(_COUNT, setting._asdict())
    points = max(1, min(MOST_POINTS, searches // LEAST))
    values = {**setting._asdict(), "searches": searches, "points": points}
    rows = [tuple(row) for row in log.count(_COURSE, values)]
    return [Course(mode, tuple(map(_point, same))) for mode, same in groupby(rows, lambda r: r[0])]


def _point(row: tuple[str, int, int, float, float, int, int]) -> Point:
    _mode, point, searches, ap, variance, first, last = row
    return Point(point, searches, ap, half_width(searches, variance), first, last)


def differences(log: PrecisionLog, setting: Chosen) -> list[Difference]:
    """Return what a group's row is worth beside the plain order, and what it lacks of the own."""
    rows = [tuple(row) for row in log.count(_DIFFERENCES, {**setting._asdict(), "steps": STEPS})]
    return [
        _difference(mode, other, same)
        for (mode, other), same in groupby(rows, lambda row: (row[0], row[1]))
    ]


def _difference(
    mode: str, other: str, rows: Iterable[tuple[str, str, int, int, float, float]]
) -> Difference:
    counts = [0] * (2 * STEPS + 1)
    searches, total, squares = 0, 0.0, 0.0
    for _mode, _other, step, count, summed, squared in rows:
        counts[step + STEPS] += count
        searches, total, squares = searches + count, total + summed, squares + squared
    mean = total / searches
    half = half_width(searches, squares / searches - mean * mean)
    return Difference(mode, other, searches, mean, half, tuple(counts))

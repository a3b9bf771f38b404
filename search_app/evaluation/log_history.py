"""The log of average precision over time, and the same search in two modes."""
# The modes of one search share its number, so they can be compared search by search. A hard query
# is then hard on both sides. Each search counts as independent of the others, although somebody
# may have repeated a search.

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from ..measures.significance import half_width
from .log import Chosen, PrecisionLog

MOST_POINTS = 30
LEAST = 10  # searches in a point, if there are enough
STEP = 0.1  # width of a class of differences
STEPS = 10  # classes on each side of no difference
_LATEST = """
SELECT pool, rule, corpus, release FROM ranked
WHERE (:pool IS NULL OR pool = :pool) AND (:rule IS NULL OR rule = :rule)
  AND (:corpus IS NULL OR corpus = :corpus) AND (:release IS NULL OR release = :release)
  AND search = (
    SELECT search FROM ranked
    WHERE (:pool IS NULL OR pool = :pool) AND (:rule IS NULL OR rule = :rule)
      AND (:corpus IS NULL OR corpus = :corpus) AND (:release IS NULL OR release = :release)
    ORDER BY id DESC LIMIT 1
  )
ORDER BY id LIMIT 1
"""
_COUNT = """
SELECT count(DISTINCT search) FROM ranked
WHERE pool = :pool AND rule = :rule AND corpus = :corpus AND release = :release
"""
# First find each point's range of searches, then read the ranges: to number all rows takes twice as
# long.
_COURSE = """
WITH chosen AS (
    SELECT DISTINCT search FROM ranked
    WHERE pool = :pool AND rule = :rule AND corpus = :corpus AND release = :release
), placed AS (
    SELECT search, row_number() OVER (ORDER BY search) - 1 AS place FROM chosen
), points AS (
    SELECT place * :points / :searches AS point, min(search) AS first, max(search) AS last
    FROM placed GROUP BY point
)
SELECT mode, point, count(*), avg(ap), avg(ap * ap) - avg(ap) * avg(ap), min(at), max(at)
FROM points CROSS JOIN ranked ON search BETWEEN first AND last
WHERE pool = :pool AND rule = :rule AND corpus = :corpus AND release = :release
GROUP BY point, mode
ORDER BY CASE mode WHEN 'none' THEN 0 WHEN 'own' THEN 1 WHEN 'group' THEN 2 ELSE 3 END, mode, point
"""
# Group minus plain is the gain of the group; own minus group is its cost. A group's row has its own
# release in the log; the other modes of the search have the name of the first release.
_DIFFERENCES = """
WITH grouped AS (
    SELECT search, mode, ap FROM ranked
    WHERE pool = :pool AND rule = :rule AND corpus = :corpus AND release = :release
      AND mode NOT IN ('none', 'own')
), pairs AS (
    SELECT other.mode = 'own' AS costs, grouped.mode AS mode,
           CASE other.mode WHEN 'own' THEN other.ap - grouped.ap ELSE grouped.ap - other.ap END
           AS more
    FROM grouped JOIN ranked AS other USING (search)
    WHERE other.mode IN ('none', 'own')
)
SELECT CASE WHEN costs THEN 'own' ELSE mode END, CASE WHEN costs THEN mode ELSE 'none' END,
       CAST(round(more * :steps) AS INTEGER) AS step, count(*), sum(more), sum(more * more)
FROM pairs GROUP BY costs, mode, step ORDER BY costs, mode, step
"""


class CoursePoint(NamedTuple):
    """The mean AP of some consecutive searches."""

    point: int
    searches: int
    ap: float
    half: float | None
    first: int  # seconds since 1970
    last: int


class Course(NamedTuple):
    """The points of a mode, oldest searches first."""

    mode: str
    points: tuple[CoursePoint, ...]


class LoggedDifference(NamedTuple):
    """AP in one mode minus AP in another, over the searches answered in both."""

    mode: str
    other: str
    searches: int
    mean: float
    half: float | None  # of the paired 95 % interval
    counts: tuple[int, ...]  # searches by rounded difference: -1, -0.9, ... 1


def latest(log: PrecisionLog, chosen: Chosen) -> Chosen | None:
    """Return the setting of the last of the `chosen` searches, with the first of its releases."""
    rows = log.ask(_LATEST, chosen._asdict())
    return Chosen(*rows[0]) if rows else None


def course(log: PrecisionLog, setting: Chosen) -> list[Course]:
    """Return each mode's mean AP over time at `setting`, in points of equal numbers of searches."""
    ((searches,),) = log.ask_whole(_COUNT, setting._asdict())
    points = max(1, min(MOST_POINTS, searches // LEAST))
    values = {**setting._asdict(), "searches": searches, "points": points}
    courses: dict[str, list[CoursePoint]] = {}
    for mode, point, number, ap, variance, first, last in log.ask_whole(_COURSE, values):
        half = half_width(number, variance)
        courses.setdefault(mode, []).append(CoursePoint(point, number, ap, half, first, last))
    return [Course(mode, tuple(line)) for mode, line in courses.items()]


def differences(log: PrecisionLog, setting: Chosen) -> list[LoggedDifference]:
    """Return how a group's AP at `setting` differs from the plain order's and the own profile's."""
    values = {**setting._asdict(), "steps": STEPS}
    rows = map(tuple, log.ask_whole(_DIFFERENCES, values))
    compared = []
    for (mode, other), same in groupby(rows, lambda row: (row[0], row[1])):
        counts = [0] * (2 * STEPS + 1)
        searches, total, squares = 0, 0.0, 0.0
        for _mode, _other, step, count, summed, squared in same:
            counts[step + STEPS] += count
            searches, total, squares = searches + count, total + summed, squares + squared
        mean = total / searches
        half = half_width(searches, squares / searches - mean * mean)
        compared.append(LoggedDifference(mode, other, searches, mean, half, tuple(counts)))
    return compared

"""The log of average precision over time, and the same search in two modes."""
# The modes of one search share its number, so they can be compared search by search. A hard query
# is then hard on both sides. Intervals are over people, as far as this process knows whose a search
# was.

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from ..measures.significance import PeopleMean
from .log import Chosen, PrecisionLog

MOST_POINTS = 30
LEAST = 10  # searches in a point, if there are enough
PEOPLE = 5  # in a point that has an interval: Student's t of fewer is wider than the drawing
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
SELECT mode, point, min(at), max(at), person_of(search) AS person, count(*), sum(ap), sum(ap * ap)
FROM points CROSS JOIN ranked ON search BETWEEN first AND last
WHERE pool = :pool AND rule = :rule AND corpus = :corpus AND release = :release
GROUP BY point, mode, person
ORDER BY CASE mode WHEN 'none' THEN 0 WHEN 'own' THEN 1 WHEN 'group' THEN 2 ELSE 3 END, mode,
         point, min(search)
"""
# Group minus plain is the gain of the group; own minus group is its cost. A group's row has its own
# release in the log; the other modes of the search have the name of the first release.
_DIFFERENCES = """
WITH grouped AS (
    SELECT search, mode, ap FROM ranked
    WHERE pool = :pool AND rule = :rule AND corpus = :corpus AND release = :release
      AND mode NOT IN ('none', 'own')
), pairs AS (
    SELECT other.mode = 'own' AS costs, grouped.mode AS mode, search,
           CASE other.mode WHEN 'own' THEN other.ap - grouped.ap ELSE grouped.ap - other.ap END
           AS more
    FROM grouped JOIN ranked AS other USING (search)
    WHERE other.mode IN ('none', 'own')
)
SELECT CASE WHEN costs THEN 'own' ELSE mode END, CASE WHEN costs THEN mode ELSE 'none' END,
       CAST(round(more * :steps) AS INTEGER) AS step, person_of(search) AS person, count(*),
       sum(more), sum(more * more)
FROM pairs GROUP BY costs, mode, step, person ORDER BY costs, mode, step, min(search)
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
    rows = map(tuple, log.ask_whole(_COURSE, values))
    for (mode, point), same in groupby(rows, itemgetter(0, 1)):
        ap, parts = PeopleMean(), list(same)
        for part in parts:
            ap.add(*part[4:])
        first, last = min(part[2] for part in parts), max(part[3] for part in parts)
        half = ap.half if ap.people >= PEOPLE else None
        made = CoursePoint(point, ap.count, ap.mean, half, first, last)
        courses.setdefault(mode, []).append(made)
    return [Course(mode, tuple(line)) for mode, line in courses.items()]


def differences(log: PrecisionLog, setting: Chosen) -> list[LoggedDifference]:
    """Return how a group's AP at `setting` differs from the plain order's and the own profile's."""
    values = {**setting._asdict(), "steps": STEPS}
    rows = map(tuple, log.ask_whole(_DIFFERENCES, values))
    compared = []
    for (mode, other), same in groupby(rows, itemgetter(0, 1)):
        counts, more = [0] * (2 * STEPS + 1), PeopleMean()
        for _mode, _other, step, person, count, summed, squared in same:
            counts[step + STEPS] += count
            more.add(person, count, summed, squared)
        compared.append(
            LoggedDifference(mode, other, more.count, more.mean, more.half, tuple(counts))
        )
    return compared

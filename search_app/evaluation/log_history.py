"""The log of average precision over time, and the same search in two modes."""
# The modes of one search share its number, so they can be compared search by search. A hard query
# is then hard on both sides. Intervals are over people, as far as this process knows whose a search
# was.

from __future__ import annotations

from collections.abc import Sequence
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
WHERE (pool = :pool OR :pool IS NULL) AND (rule = :rule OR :rule IS NULL)
  AND (corpus = :corpus OR :corpus IS NULL) AND (release = :release OR :release IS NULL)
  AND search = (
    SELECT search FROM ranked
    WHERE (pool = :pool OR :pool IS NULL) AND (rule = :rule OR :rule IS NULL)
      AND (corpus = :corpus OR :corpus IS NULL) AND (release = :release OR :release IS NULL)
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
, people AS (
    SELECT mode, point, min(at) AS since, max(at) AS until, count(*) AS n, sum(ap) AS s
    FROM points CROSS JOIN ranked
    WHERE search BETWEEN first AND last
      AND pool = :pool AND rule = :rule AND corpus = :corpus AND release = :release
    GROUP BY point, mode, coalesce(person_of(search), id)
)
SELECT mode, point, min(since), max(until),
       count(*), CAST(sum(n) AS INTEGER), sum(s), sum(s * s), sum(s * n), sum(n * n)
FROM people GROUP BY point, mode
ORDER BY CASE mode WHEN 'none' THEN 0 WHEN 'own' THEN 1 WHEN 'group' THEN 2 ELSE 3 END, mode, point
"""
# Group minus plain is the gain of the group; own minus group is its cost. A group's row has its own
# release in the log; the other modes of the search have the name of the first release.
# The factor rounds halves away from zero, whatever a database does with halves.
# First come the sums over people, where the step is NULL, then how many searches each step has.
_DIFFERENCES = """
WITH grouped AS (
    SELECT search, mode, ap FROM ranked
    WHERE pool = :pool AND rule = :rule AND corpus = :corpus AND release = :release
      AND mode NOT IN ('none', 'own')
), pairs AS MATERIALIZED (
    SELECT other.mode = 'own' AS costs, grouped.mode AS mode, search,
           CASE other.mode WHEN 'own' THEN other.ap - grouped.ap ELSE grouped.ap - other.ap END
           AS more
    FROM grouped JOIN ranked AS other USING (search)
    WHERE other.mode IN ('none', 'own')
), people AS (
    SELECT costs, mode, count(*) AS n, sum(more) AS s
    FROM pairs GROUP BY costs, mode, coalesce(person_of(search), search)
)
SELECT costs, mode, NULL AS step, count(*),
       CAST(sum(n) AS INTEGER), sum(s), sum(s * s), sum(s * n), sum(n * n)
FROM people GROUP BY costs, mode
UNION ALL
SELECT costs, mode, CAST(round(more * :steps * 1.000000001) AS INTEGER) AS step, count(*),
       0, 0, 0, 0, 0
FROM pairs GROUP BY costs, mode, step
ORDER BY costs, mode, step NULLS FIRST
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
    counts: Sequence[int]  # searches by rounded difference: -1, -0.9, ... 1


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
    for mode, point, first, last, *sums in log.ask_whole(_COURSE, values):
        ap = PeopleMean(*sums)
        half = ap.half if ap.people >= PEOPLE else None
        made = CoursePoint(point, ap.values, ap.mean, half, first, last)
        courses.setdefault(mode, []).append(made)
    return [Course(mode, tuple(line)) for mode, line in courses.items()]


def differences(log: PrecisionLog, setting: Chosen) -> list[LoggedDifference]:
    """Return how a group's AP at `setting` differs from the plain order's and the own profile's."""
    values = {**setting._asdict(), "steps": STEPS}
    compared: list[LoggedDifference] = []
    counts: list[int] = []
    for costs, mode, step, searches, *sums in log.ask_whole(_DIFFERENCES, values):
        if step is None:
            more, counts = PeopleMean(searches, *sums), [0] * (2 * STEPS + 1)
            first, second = ("own", mode) if costs else (mode, "none")
            figures = more.values, more.mean, more.half
            compared.append(LoggedDifference(first, second, *figures, counts))
        else:
            counts[step + STEPS] = searches
    return compared

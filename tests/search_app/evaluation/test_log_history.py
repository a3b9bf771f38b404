"""What the log says over time, and of the same search in two modes."""

from __future__ import annotations

import math

import pytest

from search_app.evaluation.log import ALL, Chosen, Entry, PrecisionLog
from search_app.evaluation.log_history import STEPS, course, differences, latest
from search_app.measures.precision import PoolPrecision
from search_app.measures.significance import half_width

CAUCHY = math.tan(0.475 * math.pi)  # Student's t of one degree of freedom, 97.5 %
SETTING = Chosen(100, "cosine", "c", "r")


def entry(mode: str, ap: float, at: int = 1000, pool: int = 100) -> Entry:
    return Entry(at, mode, pool, "cosine", "c", "r", PoolPrecision(ap, ap, ap, None, 40))


@pytest.fixture
def log() -> PrecisionLog:
    return PrecisionLog(None)


def test_two_values_have_the_interval_of_one_degree_of_freedom() -> None:
    assert half_width(2, 0.25) == pytest.approx(CAUCHY * 0.5)  # sample variance .5, over 2: .25
    assert half_width(1, 0.0) is None
    assert half_width(9, -1e-18) == 0  # what rounding may leave of no variance


def test_the_latest_setting_is_the_last_searched(log: PrecisionLog) -> None:
    log.add([entry("none", 0.5, pool=50)])
    log.add([entry("none", 0.5)])
    assert latest(log, ALL) == SETTING
    assert latest(log, Chosen(pool=50)) == Chosen(50, "cosine", "c", "r")


def test_forty_searches_make_four_points_of_ten(log: PrecisionLog) -> None:
    for number in range(40):
        log.add([entry("none", number / 100, at=number), entry("own", 1.0, at=number)])
        log.add([entry("none", 0.9, pool=50)])  # another pool is not mixed in
    none, own = course(log, SETTING)
    assert (none.mode, own.mode) == ("none", "own")
    assert [point.searches for point in none.points] == [10, 10, 10, 10]
    # 0.00, 0.01, ... 0.09: their mean is 0.045, then 0.1 more each time
    assert [point.ap for point in none.points] == pytest.approx([0.045, 0.145, 0.245, 0.345])
    assert [(point.first, point.last) for point in none.points][1] == (10, 19)
    assert [point.half for point in own.points] == [0, 0, 0, 0]


def test_a_thousand_searches_make_thirty_points(log: PrecisionLog) -> None:
    for number in range(1000):
        log.add([entry("none", number % 2)])
    (none,) = course(log, SETTING)
    assert len(none.points) == 30
    assert sum(point.searches for point in none.points) == 1000
    assert all(0.48 < point.ap < 0.52 for point in none.points)


def test_differences_are_paired_search_by_search(log: PrecisionLog) -> None:
    """0.3 and 0.5 more than plain: mean 0.4, sample deviation 0.1·sqrt(2), standard error 0.1."""
    log.add([entry("none", 0.1), entry("own", 1.0), entry("group", 0.4)])
    log.add([entry("none", 0.2), entry("own", 1.0), entry("group", 0.7)])
    log.add([entry("none", 0.2), entry("own", 1.0)])  # without the group: in no pair
    gained, lost = differences(log, SETTING)
    assert (gained.mode, gained.other, gained.searches) == ("group", "none", 2)
    assert gained.mean == pytest.approx((0.3 + 0.5) / 2)
    assert gained.half == pytest.approx(CAUCHY * 0.1)
    assert {at - STEPS: n for at, n in enumerate(gained.counts) if n} == {3: 1, 5: 1}
    assert (lost.mode, lost.other, lost.searches) == ("own", "group", 2)
    assert lost.mean == pytest.approx((0.6 + 0.3) / 2)


def test_releases_are_compared_with_the_other_modes_of_their_searches(log: PrecisionLog) -> None:
    """A release has its own name; plain and own are logged under the first one's."""
    log.add([entry("none", 0.1), entry("own", 1.0), entry("group", 0.4), again("x", 0.2)])
    log.add([entry("none", 0.1), entry("own", 1.0), entry("group", 0.4), again("y", 0.3)])
    assert latest(log, ALL) == SETTING  # not that of the last row
    chosen = latest(log, Chosen(release="x"))
    assert chosen == SETTING._replace(release="x")
    assert {(d.mode, d.other): d.searches for d in differences(log, SETTING)} == {
        ("group", "none"): 2,
        ("own", "group"): 2,
    }
    found = {(d.mode, d.other): d.mean for d in differences(log, chosen)}
    assert found == {
        ("group:km", "none"): pytest.approx(0.2 - 0.1),
        ("own", "group:km"): pytest.approx(1.0 - 0.2),
    }


def again(release: str, ap: float) -> Entry:
    return entry("group:km", ap)._replace(release=release)


def test_the_widest_differences_have_a_place(log: PrecisionLog) -> None:
    log.add([entry("none", 1.0), entry("group", 0.0)])
    log.add([entry("none", 0.0), entry("group", 1.0)])
    (gained,) = differences(log, SETTING)
    assert (gained.counts[0], gained.counts[-1]) == (1, 1)
    assert len(gained.counts) == 21

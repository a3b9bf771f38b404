"""Simulated studies against hand computations, and against people who really take part."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from search_app.study.analysis import TIE, scores
from search_app.study.design import CHOOSE, INTERLEAVED, RATE, SIDE_BY_SIDE, TASKS, Study
from search_app.study.flow import END, steps_of
from search_app.study.simulation import NEITHER, Simulator, chances, decided, minutes, pairs_of
from search_app.study.status import status_of
from search_app.study.store import StudyStore
from search_app.study.trials import generator, make_trial, shown_conditions

from .conftest import BETWEEN, NOW, POOL, played

STUDIES = int(os.environ.get("VEILSEARCH_SIMULATED", "10000"))
THREE = ("a", "b", "c")


@pytest.mark.parametrize("kind", TASKS)
def test_one_study_in_twenty_finds_what_is_not_there(study: Study, kind: str) -> None:
    """A/A: 5 % ± 1 for each kind of task, and a planted .6 as often as planned, ± 3 points."""
    for pair in pairs_of(study):
        assert 0.04 <= Simulator(study, pair, TIE, kind).found(40, studies=STUDIES) <= 0.06, pair
    pair = pairs_of(study)[0]
    for people in (40, 100, 200):
        planted = Simulator(study, pair, 0.6, kind)
        assert abs(planted.found(people, 1, STUDIES) - planted.planned(people)) <= 0.03, people


def test_grades_of_two_sets_of_people(changed: Callable[..., Study]) -> None:
    study = changed(*BETWEEN)
    pair = pairs_of(study)[0]
    assert 0.04 <= Simulator(study, pair, TIE).found(60) <= 0.06
    planted = Simulator(study, pair, 0.6)
    assert abs(planted.found(60) - planted.planned(60)) <= 0.03
    needed = planted.needed()
    assert needed is not None
    assert planted.planned(needed - 1) < 0.8 <= planted.planned(needed)


def test_power_by_hand(study: Study) -> None:
    """Side by side: scores 1, 0, 1/2 with the chances .48, .32, .2.

    Each person meets the pair in one of the first three tasks, a third of them once more.
    """
    variance = (0.48 + 0.2 / 4 - 0.58**2) * (2 / 3 + 1 / 3 / 2)
    away, bound = 0.08 / np.sqrt(variance / 100), stats.t.ppf(0.975, 99)
    power = stats.nct.sf(bound, 99, away) + stats.nct.cdf(-bound, 99, away)
    made = chances(SIDE_BY_SIDE, ("none", "own"), ("none", "own"), "none", 0.6)
    assert made.chances[:3] == pytest.approx([0.48, 0.32, NEITHER])
    alone = Simulator(study, ("none", "own"), 0.6, SIDE_BY_SIDE)
    assert alone.planned(100) == pytest.approx(power, abs=1e-4)


@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("favourite", ["a", "elsewhere"])
def test_chances_are_those_of_people_who_decide(kind: str, favourite: str) -> None:
    shown = THREE[:2] if kind == SIDE_BY_SIDE else THREE
    rng, trials, pair = np.random.default_rng(3), 4000, ("a", "b")
    drawn: Counter[float] = Counter()
    for _ in range(trials):
        trial = make_trial(kind, shown, {one: rng.permutation(POOL).tolist() for one in shown}, rng)
        made = scores(trial, decided("t", trial, favourite, 0.7, rng))
        of_pair = [score for one, other, score in made if (one, other) == pair]
        turned = [1 - score for one, other, score in made if (other, one) == pair]
        drawn[(of_pair + turned + [np.nan])[0]] += 1
    exact = chances(kind, shown, pair, favourite, 0.7)
    # Four standard deviations of a count.
    room = 4 * np.sqrt(0.25 / trials)
    known = ~np.isnan(exact.scores)
    for low, high in ((0, 0.499), (0.499, 0.501), (0.501, 1.001)):
        wanted = exact.chances[known & (exact.scores >= low) & (exact.scores < high)].sum()
        got = sum(count for score, count in drawn.items() if low <= score < high) / trials
        assert abs(wanted - got) < room, (low, wanted, got)


def test_clicks_by_hand() -> None:
    """Two teams of five, three clicks without preference: no tie, and both win as often."""
    made = chances(INTERLEAVED, ("a", "b"), ("a", "b"), "a", 0.5)
    assert made.chances == pytest.approx([0.5, 0.5, 0.0])
    votes = chances(CHOOSE, THREE, ("b", "c"), "a", 0.6)
    assert votes.chances == pytest.approx([0.8 * 0.4 / 1.4, 0.8 * 0.4 / 1.4, 0.2, 0.8 * 0.6 / 1.4])


def test_people_take_part_through_the_store(study: Study, store: StudyStore) -> None:
    played(study, store, 12, effect=1.0)
    status = status_of(study, store, NOW, peek=True)
    assert (status["finished"], status["invited"], status["cells"]) == (12, 12, [2] * 6)
    assert {one.step for one in store.participants()} == {len(steps_of(study)) - 1}
    assert steps_of(study)[-1].kind == END
    # They are sure of the first condition, but for ties. Both bounds are five deviations away.
    for one in status["preferences"]:
        assert one["mean"] > 0.65 if one["first"] == "none" else one["mean"] < 0.8, one
    assert status_of(study, store, NOW)["preferences"] is None
    store.close_study()
    assert status_of(study, store, NOW)["preferences"] == status["preferences"]
    assert f"It takes at most {minutes(study):.0f} minutes." in study.consent


def test_sides_are_balanced_over_the_square(study: Study) -> None:
    """Of each pair each stands as often on the left, in each task, over all rows."""
    for place in range(3):
        sides = Counter(
            shown_conditions(SIDE_BY_SIDE, [study.conditions[at] for at in cell], place)
            for cell in study.cells
        )
        assert set(sides.values()) == {1}
        assert len(sides) == 6
    draws = [generator(b"seed", task).integers(1 << 40) for task in ("a", "a", "b")]
    assert draws[0] == draws[1] != draws[2]
    rated = make_trial(RATE, THREE, dict.fromkeys(THREE, POOL), generator(b"s", "t"))
    assert sorted(rated.lists[0]) == sorted(POOL[:10])
    assert rated.rankings() == dict.fromkeys(THREE, tuple(POOL[:10]))

"""Preferences by hand, and against scipy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy import stats

from search_app.study.analysis import (
    ANSWER,
    CLICK,
    GRADE,
    PREFER,
    SAME,
    VOTE,
    Judgement,
    judgements,
    mean_grades,
    preferences,
    scores,
    strengths,
    student,
    welch,
)
from search_app.study.design import CHOOSE, INTERLEAVED, RATE, SIDE_BY_SIDE, Study
from search_app.study.store import Event
from search_app.study.trials import Trial

from .conftest import BETWEEN

TWO, THREE = ("own", "none"), ("none", "own", "group")
SIDES = Trial(SIDE_BY_SIDE, TWO, (("a",), ("b",)))
COLUMNS = Trial(CHOOSE, THREE, (("a",), ("b",), ("c",)))
MIXED = Trial(INTERLEAVED, TWO, (("a", "b", "c"),), (0, 1, 0), (("a", "c"), ("b", "a")))
GRADED = Trial(RATE, TWO, (("b", "a", "c"),), orders=(("a", "b"), ("b", "c")))


@pytest.mark.parametrize(
    ("trial", "events", "expected"),
    [
        (SIDES, [(PREFER, "", "own")], [("own", "none", 1)]),
        (SIDES, [(PREFER, "", "none")], [("own", "none", 0)]),
        (SIDES, [(PREFER, "", SAME)], [("own", "none", 0.5)]),
        (SIDES, [(CLICK, "a", "")], []),
        (COLUMNS, [(VOTE, "", "own")], [("own", "none", 1), ("own", "group", 1)]),
        (
            COLUMNS,
            [(VOTE, "", SAME)],
            [(*pair, 0.5) for pair in (THREE[:2], THREE[::2], THREE[1:])],
        ),
        (MIXED, [(CLICK, "a", ""), (ANSWER, "", "")], [("own", "none", 1)]),
        (MIXED, [(CLICK, "a", ""), (CLICK, "b", ""), (ANSWER, "", "")], [("own", "none", 0.5)]),
        (MIXED, [(ANSWER, "", "")], [("own", "none", 0.5)]),
        (MIXED, [(CLICK, "a", "")], []),  # they have not ended the task
        # a 3, b 0: own has 3 at the first place of two, none has 0; c has no grade.
        (GRADED, [(GRADE, "a", "3"), (GRADE, "b", "0")], [("own", "none", 0.5 + 0.613147 / 2)]),
        (GRADED, [(GRADE, "c", "3")], []),  # own has no graded document: not 0
    ],
)
def test_scores_by_hand(
    trial: Trial, events: list[tuple[str, str, str]], expected: list[tuple[str, str, float]]
) -> None:
    made = scores(trial, [Event("t", what, doc, value=value) for what, doc, value in events])
    assert [one[:2] for one in made] == [one[:2] for one in expected]
    assert [one[2] for one in made] == pytest.approx([one[2] for one in expected], abs=1e-6)


def test_grades_count_by_place_and_only_where_given() -> None:
    first = 1 / (1 + 1 / np.log2(3))  # the weight of the first of two places
    means = mean_grades(GRADED, {"a": 3, "b": 0, "c": 3})
    assert means == pytest.approx({"own": first, "none": 1 - first})


def test_pairs_stand_in_the_order_of_the_file_and_unknown_tasks_don_t_count(study: Study) -> None:
    trials = {(7, "java"): SIDES}
    events = [(7, Event("java", PREFER, value="own")), (7, Event("practice", PREFER, value="own"))]
    assert judgements(study, events, trials) == [Judgement(7, "java", "none", "own", 0.0)]


def test_the_unit_is_the_person(study: Study) -> None:
    """Nine tasks of one person count like one task of another."""
    scored = [Judgement(1, f"t{at}", "none", "own", 1.0) for at in range(9)]
    scored += [Judgement(2, "t", "none", "own", 0.0), Judgement(3, "t", "none", "own", 0.5)]
    first, second, third = preferences(study, scored)
    assert (first.people, first.wins, first.losses, first.ties) == (3, 9, 1, 1)
    assert first.mean == 0.5
    assert first.p == first.p_holm == 1.0
    assert (second.people, third.people) == (0, 0)
    assert np.isnan([second.p, third.p_holm, second.mean]).all()


def test_student_and_welch_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.random((5, 9)), rng.random((5, 6))
    one[:, 0] = np.nan
    theirs = stats.ttest_1samp(one[:, 1:], 0.5, axis=1)
    mean, low, high, p = student(one)
    assert p == pytest.approx(theirs.pvalue)
    assert (low, high) == (
        pytest.approx(theirs.confidence_interval().low),
        pytest.approx(theirs.confidence_interval().high),
    )
    theirs = stats.ttest_ind(one[:, 1:], other, axis=1, equal_var=False)
    mean, low, high, p = welch(one, other)
    assert p == pytest.approx(theirs.pvalue)
    interval = theirs.confidence_interval()
    assert (low, high) == (
        pytest.approx(0.5 + interval.low / 2),
        pytest.approx(0.5 + interval.high / 2),
    )
    assert mean == pytest.approx((low + high) / 2)


def test_few_people_and_people_who_all_agree() -> None:
    assert np.isnan(student(np.zeros((1, 0)))[0]).all()
    mean, low, _, p = student(np.ones((1, 1)))
    assert mean == 1
    assert np.isnan([low, p]).all()
    # Means of 0.1 and 0.7 differ from them in the last digit, which is no spread.
    for score, people in product((1.0, 0.1, 0.7, 1 / 3), (3, 6, 12)):
        agreed = np.full((1, people), score)
        assert [one.item() for one in student(agreed)] == pytest.approx(
            [score, score, score, 2 * 0.5**people], abs=1e-12
        )
        assert np.isnan(welch(agreed, agreed[:, 1:])[3])
    assert student(np.full((1, 6), 0.5))[3] == 1


def test_sets_of_people(changed: Callable[..., Study]) -> None:
    study = changed(*BETWEEN)
    scored = [Judgement(at, "java", "none", "", 0.2 + 0.1 * at) for at in range(4)]
    scored += [Judgement(9 + at, "java", "own", "", 0.1 + 0.1 * at) for at in range(3)]
    first, second, _ = preferences(study, scored)
    assert first.people == 7
    assert first.mean == pytest.approx(0.5 + (0.35 - 0.2) / 2)
    assert np.isnan(second.p)
    assert strengths(study, scored) == {}


def test_strengths_are_shares(study: Study) -> None:
    """Of 100 decisions each, none wins 60 over own, own 50 over group: strengths 3, 2, 2."""
    pairs = (("none", "own", 60), ("own", "group", 50), ("none", "group", 60))
    scored = [
        Judgement(at, f"{first}{second}", first, second, float(at < wins))
        for first, second, wins in pairs
        for at in range(100)
    ]
    made = strengths(study, scored)
    shares = [made[name][0] for name in study.conditions]
    assert shares == pytest.approx([3 / 7, 2 / 7, 2 / 7], abs=0.003)
    assert all(low < share < high for share, low, high in made.values())
    sure = strengths(study, [Judgement(1, "t", "none", "own", 1.0)])  # all wins: finite, too
    assert sum(share for share, _, _ in sure.values()) == pytest.approx(1)
    assert sure["none"][0] > sure["own"][0] > 0

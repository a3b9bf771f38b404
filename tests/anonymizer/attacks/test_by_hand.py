"""Attacks on releases so small that each figure is worked out by hand."""

from __future__ import annotations

import pytest

from anonymizer.attacks.intervals import ratio, wilson
from anonymizer.attacks.membership import area, caught
from anonymizer.model import Profiles

from .worlds import (
    AVERAGE,
    BELIEF,
    COMBINATIONS,
    FOUR,
    PAIRS,
    VOCABULARY,
    Rows,
    figures,
    release,
)


def test_wilson_and_the_bootstrap() -> None:
    import numpy as np

    # The worked example of Wilson's interval for 3 of 4, and both ends.
    assert [round(value, 4) for value in wilson(3, 4)] == [0.75, 0.3006, 0.9544]
    assert [round(value, 4) for value in wilson(0, 10)] == [0, 0, 0.2775]
    assert [round(value, 4) for value in wilson(10, 10)] == [1, 0.7225, 1]
    rng = np.random.default_rng(0)
    same = ratio(np.full(9, 2.0), np.full(9, 4.0), rng)
    assert same == (0.5, 0.5, 0.5)
    assert ratio(np.zeros(3), np.zeros(3), rng) is None


def test_linking() -> None:
    """All terms are as rare, so u1 and u2 are known to have a, u3 b, and u4 c.

    In the release a is in the first row only, b and c are as likely in both. Raw, two people have
    each.
    """
    right = figures("linking", FOUR, release(FOUR, PAIRS, p=0.5), choice="rarest")
    assert right[1, "top-1"][4] == pytest.approx((1 + 1 + 1 / 2 + 1 / 2) / 4)
    assert right[1, "top-1"].raw == pytest.approx(1 / 2)
    assert right[1, "top-5"].value == right[1, "top-5"].raw == 1
    assert right[1, "top-1"].choice == "rarest"


@pytest.mark.parametrize(("p", "beaten"), [(0.4, True), (0.5, False)])
def test_inference_by_columns_and_fitting(p: float, beaten: bool) -> None:
    """Both of the first row have a, and half of all: belief about a changes by 1/2."""
    made = release(FOUR, PAIRS, BELIEF, p=p)
    by_column, fitting = (figures(name, FOUR, made) for name in ("inference", "fitting"))
    for change in (
        by_column[0, "column: largest published change of belief"],
        by_column[0, "column: largest real change of belief"],
        fitting[None, "largest change of belief"],
    ):
        assert (change.value, change.raw, change.most) == (0.5, 0.5, p)
        assert change.beats == beaten
    # a of u1 and u2, d of u3 and u4: 4 of 8 terms, at p = 0.4 only.
    claims = by_column[0, "column: true terms claimed beyond p"]
    assert (claims.value, claims.raw) == ((0.5, 1.0) if beaten else (0, 0))
    if beaten:
        assert by_column[0, "column: real mean change there"].value == 0.5
    assert fitting[None, "members found"].value == 1


def test_what_the_average_promises() -> None:
    """Two terms a person, over three distinct terms of each group."""
    figure = "mean profile over a row's distinct terms, largest"
    for p, beaten in ((0.6, True), (0.67, False)):
        result = figures("inference", FOUR, release(FOUR, PAIRS, AVERAGE, p=p))[0, figure]
        assert result.value == pytest.approx(2 / 3)
        assert result.beats == beaten


def test_singling_out() -> None:
    """x is u1's alone; of the other row's terms y is as rare as z, but only y is one person's."""
    people: Rows = {
        "u1": {"x": 1, "a": 1},
        "u2": {"a": 1, "z": 1},
        "u3": {"y": 1, "a": 1},
        "u4": {"z": 1},
    }
    right = figures("singling-out", people, release(people, PAIRS, p=0.5))
    # The first row publishes x 1/2, z 1/2; the second y, a and z 1/2: z 2 people in all, y and x 1.
    assert right[None, "one sentence a row, right"].value == 1
    assert right[None, "people with a published term of their own"].value == 0.5
    assert right[None, "naming the person behind a row, smallest row"].value == 0.5


def test_singling_out_does_not_know_the_totals() -> None:
    """Both terms of the first row are published alike, so x is chosen by chance only."""
    people: Rows = {"u1": {"x": 1, "b": 1}, "u2": {"b": 1}, "u3": {"a": 1}, "u4": {"a": 1}}
    made = release(people, PAIRS, VOCABULARY, [{"x": 1, "b": 1}, {"a": 1}], k=2)
    right = figures("singling-out", people, made)
    assert right[None, "one sentence a row, right"].value == 1 / 4


def test_membership() -> None:
    import numpy as np

    members, outsiders = np.array([3.0, 1.0, 2.0]), np.array([2.0, 0.0])
    # Of six pairs 3 > 2, 3 > 0, 1 > 0, 2 > 0 are right, 2 = 2 is half right, 1 < 2 is wrong.
    assert area(members, outsiders) == pytest.approx(4.5 / 6)
    assert caught(members, outsiders) == 1  # none of two outsiders may be taken for a member


def test_two_releases() -> None:
    """The second release pairs others: two rows share one person, and their terms leave two."""
    first, second = release(FOUR, PAIRS, p=0.4), release(FOUR, (("u1", "u3"), ("u2", "u4")), p=0.4)
    right = figures("two-releases", FOUR, first, second=second)
    assert right[None, "people whose two rows share nobody else"].value == 1
    # u1: a 1 and 1/2, b 1/2 and 1, of c and d one row has none: a and b are sure.
    assert right[None, "both rows: true terms claimed beyond p"].value == 1
    assert right[None, "both rows: precision of the 10 best guesses"].value == 1
    assert right[None, "one row: precision of the 10 best guesses"].value == pytest.approx(2 / 3)
    assert (None, "who left or came: profile shown") not in right


def test_the_difference_of_two_states_is_who_left() -> None:
    first = release(FOUR, (("u1", "u2", "u3"), ("u4",)), p=0.4)
    second = release(FOUR, (("u1", "u2"), ("u4",)), p=0.4)
    right = figures("two-releases", FOUR, first, second=second)
    shown = right[None, "who left or came: profile shown"]
    assert (shown.value, shown.raw) == (1, 1)


def test_outsiders_may_be_given() -> None:
    others = Profiles.from_rows({f"o{at}": {"b": 1.0, "c": 1.0} for at in range(10)})
    right = figures("membership", FOUR, release(FOUR, PAIRS, p=0.5), outsiders=others)
    # Raw, nobody has both b and c.
    assert right[None, "AUC"].raw == 1


def test_of_raw_profiles_four_terms_are_drawn() -> None:
    """Two people have the same four terms, one has four others: of three victims one is found."""
    people: Rows = {
        "u": dict.fromkeys("abcd", 1.0),
        "v": dict.fromkeys("abcd", 1.0),
        "w": dict.fromkeys("efgh", 1.0),
    }
    groups = [[user] for user in people]
    kept = [dict.fromkeys("abcd", 1.0), dict.fromkeys("abcd", 1.0), {"e": 1.0}]
    right = figures("beyond-m", people, release(people, groups, COMBINATIONS, kept, k=2, m=4))
    found = right[4, "terms of a row that fewer than k rows have"]
    assert (found.value, found.raw) == (0, pytest.approx(1 / 3))

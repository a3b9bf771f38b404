"""Measures by relevance of its own, against ir-measures, a loop and arithmetic by hand."""

from __future__ import annotations

from math import log2

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP as THEIR_AP
from ir_measures import ScoredDoc, nDCG
from ir_measures.util import Qrel

from search_app.measures.relevance import (
    AP,
    GAIN,
    HARM,
    HARM_MUCH,
    LOST,
    NDCG,
    RELEVANCE,
    is_kept,
    judged,
    relevant_gain,
    relevant_precision,
)


def marks(*texts: str) -> np.ndarray:
    """Return marks from texts in which an x stands for a relevant document."""
    return np.array([[letter == "x" for letter in text] for text in texts])


def test_by_hand() -> None:
    """The second of these orders has both relevant documents last of four."""
    found = marks("x.x.", "..xx", "....")
    assert relevant_precision(found)[:2] == pytest.approx([(1 + 2 / 3) / 2, (1 / 3 + 2 / 4) / 2])
    ideal = 1 + 1 / log2(3)
    wanted = [(1 + 1 / log2(4)) / ideal, (1 / log2(4) + 1 / log2(5)) / ideal]
    assert relevant_gain(found)[:2] == pytest.approx(wanted)
    assert np.isnan([relevant_precision(found)[2], relevant_gain(found)[2]]).all()


@given(st.lists(st.booleans(), min_size=1, max_size=40).filter(any))
def test_ir_measures_finds_the_same(relevant: list[bool]) -> None:
    names = [f"d{at:02}" for at in range(len(relevant))]
    qrels = [Qrel("q", name, int(one)) for name, one in zip(names, relevant, strict=True)]
    run = [ScoredDoc("q", name, -at) for at, name in enumerate(names)]
    theirs = ir_measures.calc_aggregate([THEIR_AP, nDCG @ 10], qrels, run)
    ours = np.array([relevant])
    assert relevant_precision(ours)[0] == pytest.approx(theirs[THEIR_AP], abs=1e-9)
    assert relevant_gain(ours)[0] == pytest.approx(theirs[nDCG @ 10], abs=1e-9)


def test_gain_harm_and_kinds() -> None:
    """The first query gains, the second falls by 1/6, the third stays, the fourth has no kind."""
    plain = marks(".x..", "x.x.", "x.x.", "x.x.")
    orders = np.array([[1, 0, 2, 3], [1, 0, 2, 3], [0, 1, 2, 3], [3, 0, 1, 2]])
    found = judged(plain, orders, np.array([0, 1, 0, -1]))
    assert list(found) == list(RELEVANCE)
    fall = (1 + 2 / 3) / 2 - (1 / 2 + 2 / 3) / 2
    last = (1 / 2 + 2 / 4) / 2 - (1 + 2 / 3) / 2
    assert found[AP] == pytest.approx([1, 7 / 12, 5 / 6, 1 / 2])
    assert found[GAIN] == pytest.approx([0.5, -fall, 0, last])
    assert found[HARM].tolist() == found[HARM_MUCH].tolist() == [0, 1, 0, 1]
    assert found[LOST] == pytest.approx([0, fall, 0, -last])
    assert found[NDCG][0] == 1
    np.testing.assert_array_equal(found[f"{HARM} in"], [0, np.nan, 0, np.nan])
    np.testing.assert_array_equal(found[f"{HARM} off"], [np.nan, 1, np.nan, np.nan])


def test_a_fall_of_exactly_the_limit_harms_nobody() -> None:
    """One relevant document: AP 1/5 after 1/4 falls by .05 exactly, and by more than .01."""
    plain = marks("...x......")
    order = np.array([[0, 1, 2, 4, 3, *range(5, 10)]])
    found = judged(plain, order, np.array([0]))
    assert (found[GAIN][0], found[HARM][0], found[HARM_MUCH][0]) == (-0.05, 1, 0)


@pytest.mark.parametrize(
    ("relevant", "hits", "kept"),
    [(1, 100, False), (2, 100, True), (90, 100, True), (91, 100, False), (9, 10, True),
     (10, 10, False), (0, 0, False)],
)  # fmt: skip
def test_which_queries_tell_orders_apart(relevant: int, hits: int, kept: bool) -> None:
    found = np.zeros((1, 150), dtype=np.bool_)
    found[0, :relevant] = True
    assert is_kept(found, np.array([hits]))[0] == kept


def test_only_the_first_hundred_decide_what_is_kept() -> None:
    found = np.zeros((1, 150), dtype=np.bool_)
    found[0, 99:] = True
    assert not is_kept(found, np.array([150]))[0]

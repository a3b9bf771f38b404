"""The modes by hand: whose row serves whom, and what is in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anonymizer.model import Grouping, Profiles
from anonymizer.rows.representative import represent
from index.forward.reading import Forward
from search_app.experiments import modes as baselines
from search_app.experiments.data import Questions
from search_app.experiments.modes import MODES, PICKED, Interests, Situation
from search_app.search.candidates import KEPT, MOST

from ..toy_index import forward_of, released

PROFILES = Profiles.from_rows(
    {
        "ann": {"tea": 1.0, "milk": 1.0},
        "bob": {"tea": 1.0, "saw": 0.5},
        "cid": {"saw": 1.0},
        "dan": {"golf": 1.0},
    }
)
GROUPS = [0, 0, 0, 1]  # dan is alone
ASKERS = np.array([0, 1, 3])


def situation(representative: str = "centroid", guarantee: str = "average") -> Situation:
    together = guarantee == "every-term"
    grouping = Grouping(np.array([0] * 4 if together else GROUPS))
    rows = represent(PROFILES, grouping, representative, most_share=0.3 if together else None)
    given: dict[str, Any] = {"representative": representative, "guarantee": guarantee, "p": 0.3}
    row_of = dict(zip(PROFILES.users, grouping.group_of, strict=True))
    release = released(rows, row_of, "p-linkability", given)
    pools = np.zeros((3, 1), dtype=np.int64)
    questions = Questions(np.arange(1, 4), ASKERS, pools, np.ones(3, dtype=np.int64))
    return Situation(questions, PROFILES, release, forward(), "tfidf", 1, 0)


def forward() -> Forward:
    """Return an index of one document, "tea saw"."""
    return forward_of(np.array([[1, 1]]), ["tea", "saw"])


def row(interests: Interests, user: int) -> dict[str, float] | None:
    """Return the terms and weights that serve a user."""
    at = int(interests.row_of[user])
    if at < 0:
        return None
    low, high = interests.weights.indptr[at : at + 2]
    terms = [interests.terms[column] for column in interests.weights.indices[low:high]]
    return dict(zip(terms, interests.weights.data[low:high].tolist(), strict=True))


def test_left_out_has_no_term_that_the_groups_row_has_not() -> None:
    # tea and saw are of two in four, more than 0.3: only milk and golf stand in the row
    served = situation(guarantee="every-term")
    assert row(baselines._group(served), 0) == {"milk": 1 / 4, "golf": 1 / 4}
    left_out = baselines._left_out(served)
    assert row(left_out, 0) == {"golf": 1 / 3}
    assert row(left_out, 1) == {"milk": 1 / 3, "golf": 1 / 3}


def test_who_is_served_by_nobody_keeps_the_engines_order() -> None:
    (scores,) = MODES["left-out"].scores(situation())
    assert scores[2].tolist() == [0]
    # ann's, {tea 1/2, saw 3/4}, and "tea saw": (1/2 + 3/4) / (|row| · √2)
    length = np.hypot(1 / 2, 3 / 4)
    assert scores[0].tolist() == pytest.approx([(1 / 2 + 3 / 4) / (length * np.sqrt(2))])


def left_out() -> Situation:
    """Return a situation in which bob and dan have no row; ann's and cid's are theirs alone."""
    rows = Profiles.from_rows({"g0001": {"saw": 1.0}, "g0002": {"tea": 1.0}})
    release = released(rows, {"ann": 1, "cid": 0}, "km-anonymity")
    usual = situation()
    return Situation(usual.questions, PROFILES, release, usual.forward, "tfidf", 1, 0)


def test_who_has_no_row_is_served_by_nobody() -> None:
    served = baselines._group(left_out())
    rows = [row(served, user) for user in range(4)]
    assert rows == [{"tea": 1.0}, None, {"saw": 1.0}, None]
    (scores,) = MODES["group"].scores(left_out())
    # ann's tea of "tea saw" is 1 / sqrt(2); bob and dan keep the engine's order
    assert scores.ravel().tolist() == pytest.approx([1 / np.sqrt(2), 0, 0])
    assert not any(scores.any() for scores in MODES["left-out"].scores(left_out()))


def test_random_groups_are_drawn_of_those_who_have_a_row() -> None:
    served = baselines.random_groups(left_out())
    assert sorted(served.row_of.tolist()) == [-1, -1, 0, 1]
    assert [row(served, user) for user in (1, 3)] == [None, None]
    # each row is that of one of the two, so each of them has their own profile's
    assert row(served, 0) == PROFILES.at(0)
    assert row(served, 2) == PROFILES.at(2)


def test_none_keeps_the_order_and_random_draws_several() -> None:
    (scores,) = MODES["none"].scores(situation())
    assert not scores.any()
    draws = list(MODES["random"].scores(situation()))
    assert len(draws) == baselines.DRAWS
    assert len({draw.tobytes() for draw in draws}) == baselines.DRAWS


def test_two_stages_pick_what_a_device_is_handed() -> None:
    assert PICKED * KEPT == MOST  # of the largest pool there is

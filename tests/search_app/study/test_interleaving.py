from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_app.study.interleaving import Mixed, credit, team_draft
from search_app.study.squares import williams

POOL = [f"d{number}" for number in range(12)]
rankings = st.lists(st.permutations(POOL), min_size=2, max_size=4)


@given(rankings, st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_every_prefix_is_balanced_and_each_team_brings_its_best(
    orders: list[list[str]], length: int, seed: int
) -> None:
    mixed = team_draft(orders, length, np.random.default_rng(seed))
    assert len(mixed.documents) == len({*mixed.documents}) == length
    for end in range(1, length + 1):
        counts = Counter(mixed.teams[:end])
        assert max(counts.values()) - min(counts[team] for team in range(len(orders))) <= 1
    for place, (document, team) in enumerate(zip(*mixed, strict=True)):
        shown = mixed.documents[:place]
        assert document == next(one for one in orders[team] if one not in shown)


def test_two_rankings_by_hand() -> None:
    orders = [["a", "b", "c", "d"], ["b", "d", "a", "c"]]
    # The four outcomes of the two coins: who picks first in round one, and in round two.
    lists = {
        tuple(zip(*team_draft(orders, 4, np.random.default_rng(seed)), strict=True))
        for seed in range(100)
    }
    assert lists == {
        (("a", 0), ("b", 1), ("c", 0), ("d", 1)),
        (("a", 0), ("b", 1), ("d", 1), ("c", 0)),
        (("b", 1), ("a", 0), ("c", 0), ("d", 1)),
        (("b", 1), ("a", 0), ("d", 1), ("c", 0)),
    }


@pytest.mark.parametrize("teams", [2, 3])
def test_random_clicks_favour_nobody(teams: int) -> None:
    """A click on a random place counts for each team equally often, whatever the rankings are."""
    rng = np.random.default_rng(7)
    orders = [POOL, POOL[::-1], POOL[6:] + POOL[:6]][:teams]
    wins = np.zeros(teams)
    trials = 6000
    for _ in range(trials):
        mixed = team_draft(orders, 10, rng)
        wins[mixed.teams[int(rng.integers(10))]] += 1
    # Four standard deviations of a binomial count.
    assert np.all(np.abs(wins - trials / teams) < 4 * np.sqrt(trials * (1 / teams)))


def test_credit_counts_documents_once() -> None:
    mixed = Mixed(("a", "b", "c", "d"), (0, 1, 1, 0))
    assert credit(mixed, ["b", "b", "a", "c", "elsewhere"], 3) == (1, 2, 0)


@pytest.mark.parametrize("conditions", range(2, 8))
def test_a_square_is_balanced_for_places_and_neighbours(conditions: int) -> None:
    rows = williams(conditions)
    assert len(rows) == conditions * (1 + conditions % 2)
    for place in range(conditions):
        assert set(Counter(row[place] for row in rows).values()) == {len(rows) // conditions}
    neighbours = Counter(pair for row in rows for pair in itertools.pairwise(row))
    assert len(neighbours) == conditions * (conditions - 1)
    assert len(set(neighbours.values())) == 1


def test_squares_of_one_and_of_none() -> None:
    assert williams(1) == ((0,),)
    assert williams(0) == ()

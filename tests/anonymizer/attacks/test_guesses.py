"""The guesses that a page shows of a person are those that the attack counts."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizer.attacks.attacked import right_guesses
from anonymizer.attacks.guesses import ColumnReader, Guess
from anonymizer.attacks.learning import guessed, thirds
from anonymizer.model import Profiles

from .worlds import FOUR, PAIRS, attacked, dealt, drawn, figures, release


def test_by_hand() -> None:
    # Their row says that all have a, and half of them b and c. What it lacks is believed last.
    reader = ColumnReader(Profiles.from_rows(FOUR), release(FOUR, PAIRS, p=0.5))
    expected = [Guess("a", True), Guess("b", True), Guess("c", False)]
    assert reader.guesses("u1", 3) == expected
    assert reader.guesses("u1", 1) == expected[:1]
    assert reader.guesses("nobody", 3) == []
    assert reader.right(3).tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("best", [2, 5])
def test_the_attack_counts_the_same(seed: int, best: int) -> None:
    people = drawn(60, seed)
    made = release(people, dealt([*people], 12, seed), p=0.3)
    target = attacked(people, made)
    parts = thirds(target)
    counted = guessed(target, parts, 0)
    assert counted is not None
    shares = right_guesses(counted.cells, counted.chances["column"], best)
    reader = ColumnReader(target.profiles, made)
    victims = target.drawn(parts[2])
    shown = [reader.guesses(target.profiles.users[victim], best) for victim in victims.tolist()]
    right = [sum(guess.right for guess in guesses) for guesses in shown]
    assert right == pytest.approx((shares * best).tolist())
    assert reader.right(best)[victims].tolist() == right


def test_the_figure_of_the_attack_is_their_mean() -> None:
    people = {user: {**row, f"own {user}": 1.0} for user, row in drawn(60, 0).items()}
    made = release(people, dealt([*people], 12), p=0.3)
    target = attacked(people, made)
    victims = target.drawn(thirds(target)[2])
    mean = np.mean(ColumnReader(target.profiles, made).right(24)[victims]) / 24
    figure = figures("inference", people, made)[0, "column: precision of the 24 best guesses"]
    assert figure.value == pytest.approx(mean)

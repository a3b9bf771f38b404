"""Users without a term are rescued; the log stays anonymous and never scores less."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anonymizer.deletion.insertion import insert
from anonymizer.deletion.orders import Worth, most_kept, score_of
from anonymizer.deletion.rescue import rescue

from ..small_logs import draw_rows, histories_from, is_anonymous, rows_of

X, Y, Z = range(3)


def test_whoever_has_the_least_to_lose_helps() -> None:
    """The first user has only X, and of the others who have it the last keeps the least."""
    histories = histories_from([{X}, {X, Y, Z}, {Y, Z}, {Y, Z}, {X, Y}], 3)
    order, weights = np.array([Y, Z, X]), np.ones(10)
    score = score_of(histories, Worth("users", weights, None), 2)
    kept = insert(histories, k=2, m=2, order=order)
    assert rows_of(histories, kept) == [set(), {Y, Z, X} - {X}, {Y, Z}, {Y, Z}, {Y}]
    found = rescue(histories, kept, score, weights=weights, k=2, m=2, order=order)
    assert rows_of(histories, found) == [{X}, {Y, Z}, {Y, Z}, {Y, Z}, {X}]


def test_the_order_of_the_users_decides_nothing() -> None:
    """Whoever is alike in all may change places; all others keep the same terms."""
    rng, rescued = np.random.default_rng(17), 0
    for _ in range(60):
        rows = draw_rows(rng, users=14)
        weights = [tuple(rng.integers(1, 3, len(row)).tolist()) for row in rows]

        def kept_by(
            places: list[int], rows: list[set[int]] = rows, weights: list[Any] = weights
        ) -> list[Any]:
            histories = histories_from([rows[place] for place in places], 8)
            cells = np.array([each for place in places for each in weights[place]], dtype=float)
            kept = most_kept(
                histories,
                Worth("users", cells, None),
                k=3,
                m=2,
                rng=np.random.default_rng(0),
            )
            left = rows_of(histories, kept)
            return sorted(
                (sorted(rows[place]), weights[place], sorted(left[at]))
                for at, place in enumerate(places)
            )

        places = list(range(len(rows)))
        expected = kept_by(places)
        assert all(kept_by(rng.permutation(places).tolist()) == expected for _ in range(5))
        rescued += any(len(left) for *_, left in expected)
    assert rescued > 20


@pytest.mark.parametrize("m", [1, 2, 3])
def test_what_is_rescued_is_anonymous_and_scores_no_less(m: int) -> None:
    rng = np.random.default_rng(m)
    more = 0
    for _ in range(300):
        rows, k = draw_rows(rng), int(rng.integers(1, 5))
        histories, order = histories_from(rows, 8), rng.permutation(8)
        weights = np.ones(histories.terms.size)
        score = score_of(histories, Worth("users", weights, None), m)
        kept = insert(histories, k=k, m=m, order=order)
        found = rescue(histories, kept, score, weights=weights, k=k, m=m, order=order)
        assert is_anonymous(rows_of(histories, found), k, m)
        assert score(found) >= score(kept)
        more += score(found)[0] > score(kept)[0]
    assert more > 0 or m == 1

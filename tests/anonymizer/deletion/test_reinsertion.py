"""Group re-insertion: what greedy deletion took and k users can have back together."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizer.arrays import Marks
from anonymizer.deletion.greedy import delete_greedily
from anonymizer.deletion.orders import Worth, give_back

from ..small_logs import (
    Log,
    can_be_put_back,
    cells_in,
    draw_rows,
    histories_from,
    is_anonymous,
    rows_of,
)

TARGETS = ["logsize", "users", "fis", "random", "bid"]


def greedy(rows: Log, k: int, m: int, seed: int) -> Marks:
    rng = np.random.default_rng(seed)
    passes = delete_greedily(histories_from(rows), k=k, m=m, by="random", ties="first", rng=rng)
    return passes == 0


def given_back(rows: Log, kept: Log, k: int, m: int, target: str = "logsize") -> list[set[int]]:
    histories = histories_from(rows)
    values = np.arange(1.0, histories.span + 1) if target == "bid" else None
    worth = Worth(target, np.ones(histories.terms.size), values)
    rng = np.random.default_rng(0)
    start = cells_in(histories, kept)
    return rows_of(histories, give_back(histories, start, worth, k=k, m=m, rng=rng))


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_given_back_is_anonymous_and_nothing_more_can_be(target: str) -> None:
    rng, gained = np.random.default_rng(3), 0
    for seed in range(60):
        rows = draw_rows(rng, users=8, span=6)
        k, m = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        kept = rows_of(histories_from(rows), greedy(rows, k, m, seed))
        given = given_back(rows, kept, k, m, target)
        assert is_anonymous(given, k, m)
        assert all(a <= b <= c for a, b, c in zip(kept, given, rows, strict=True))
        assert not can_be_put_back(rows, given, k, m)
        gained += can_be_put_back(rows, kept, k, m)
    assert gained > 3

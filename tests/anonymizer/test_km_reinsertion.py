"""Group re-insertion: what greedy deletion took and k users can have back together."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pytest

from anonymizer.km_greedy import delete_greedily
from anonymizer.km_insertion import Kept, insert
from anonymizer.km_orders import Worth, give_back

from .small_logs import (
    Log,
    cells_in,
    draw_rows,
    histories_from,
    is_anonymous,
    rows_of,
    support,
    uneven_rows,
)

TARGETS = ["logsize", "users", "fis", "random", "bid"]


def reinserted(rows: Log, kept: Log, k: int, m: int, order: Iterable[int]) -> list[set[int]]:
    """Give each term back to the largest group, once: whoever can't join it is thrown out."""
    log = [set(row) for row in kept]
    for term in order:
        group = {u for u, row in enumerate(rows) if term in row - log[u]}
        before: set[int] = set()
        while group != before:
            before = group
            tried = [row | {term} if u in group else row for u, row in enumerate(log)]
            group = {
                u for u in group if all(support(tried, c) >= k for c in with_(term, log[u], m))
            }
        for user in group:
            log[user].add(term)
    return log


def with_(term: int, history: set[int], m: int) -> list[tuple[int, ...]]:
    """List the combinations of a term with at most m - 1 terms of a history."""
    return [(term, *c) for size in range(m) for c in combinations(sorted(history), size)]


def greedy(rows: Log, k: int, m: int, seed: int) -> Kept:
    passes = delete_greedily(
        histories_from(rows),
        k=k,
        m=m,
        target="random",
        values=None,
        ties="first",
        rng=np.random.default_rng(seed),
    )
    return passes == 0


def given_back(rows: Log, kept: Log, k: int, m: int, target: str = "logsize") -> list[set[int]]:
    histories = histories_from(rows)
    values = np.arange(1.0, histories.span + 1) if target == "bid" else None
    worth = Worth(target, np.ones(histories.terms.size), values)
    rng = np.random.default_rng(0)
    start = cells_in(histories, kept)
    return rows_of(histories, give_back(histories, start, worth, k=k, m=m, rng=rng))


def can_be_given_back(rows: Log, kept: Log, k: int, m: int) -> bool:
    """Try each group of users who lack the same term."""
    for term in set().union(*rows):
        lacking = [u for u, row in enumerate(rows) if term in row - kept[u]]
        for size in range(1, len(lacking) + 1):
            for group in combinations(lacking, size):
                log = [row | {term} if u in group else row for u, row in enumerate(kept)]
                if is_anonymous(log, k, m):
                    return True
    return False


def test_two_users_get_back_what_neither_could_have_alone() -> None:
    rows, kept = [{0, 1}, {0, 1}, {1}], [{1}, {1}, {1}]
    assert given_back(rows, kept, 2, 2) == rows
    assert given_back(rows, kept, 3, 2) == kept


def test_one_user_joins_those_who_kept_the_term() -> None:
    rows, kept = [{0, 1}, {0, 1}, {0, 1}], [{0, 1}, {0, 1}, {1}]
    assert given_back(rows, kept, 2, 2) == rows


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
        assert not can_be_given_back(rows, given, k, m)
        gained += can_be_given_back(rows, kept, k, m)
    assert gained > 3


def test_insertion_that_starts_from_a_greedy_log_is_re_insertion() -> None:
    rng = np.random.default_rng(4)
    for seed in range(200):
        rows = uneven_rows(rng)
        k, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        start, histories = greedy(rows, k, m, seed), histories_from(rows)
        order = rng.permutation(histories.span)
        found = insert(histories, k=k, m=m, order=order, start=start, once=True)
        expected = reinserted(rows, rows_of(histories, start), k, m, order.tolist())
        assert rows_of(histories, found) == expected

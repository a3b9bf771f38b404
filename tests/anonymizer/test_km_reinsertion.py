"""Group re-insertion: what greedy deletion took and k users can have back together."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from anonymizer.histories import Histories
from anonymizer.km_greedy import delete_greedily
from anonymizer.km_insertion import insert

Sets = list[set[int]]


def histories_of(rows: Sets) -> Histories:
    terms = np.array([term for row in rows for term in sorted(row)], dtype=np.int32)
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Histories(ends, terms, int(terms.max(initial=-1)) + 1)


def support(log: Sets, combination: Iterable[int]) -> int:
    return sum(history.issuperset(combination) for history in log)


def is_anonymous(log: Sets, k: int, m: int) -> bool:
    sizes = range(1, m + 1)
    return all(
        support(log, c) >= k for row in log for size in sizes for c in combinations(row, size)
    )


def reinserted(rows: Sets, kept: Sets, k: int, m: int, order: Iterable[int]) -> Sets:
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


def greedy(rows: Sets, k: int, m: int, seed: int) -> list[bool]:
    passes = delete_greedily(
        histories_of(rows),
        k=k,
        m=m,
        target="random",
        values=None,
        ties="first",
        rng=np.random.default_rng(seed),
    )
    return (passes == 0).tolist()


def as_sets(rows: Sets, kept: Iterable[bool]) -> Sets:
    at = iter(kept)
    return [{term for term in sorted(row) if next(at)} for row in rows]


def random_rows(rng: np.random.Generator) -> Sets:
    users, span = int(rng.integers(2, 14)), int(rng.integers(2, 9))
    chance = rng.uniform(0.2, 1.0, span)
    return [set(np.flatnonzero(rng.random(span) < chance).tolist()) for _ in range(users)]


def test_two_users_get_back_what_neither_could_have_alone() -> None:
    rows, kept = [{0, 1}, {0, 1}, {1}], [{1}, {1}, {1}]
    assert reinserted(rows, kept, 2, 2, [0, 1]) == [{0, 1}, {0, 1}, {1}]
    assert reinserted(rows, kept, 3, 2, [0, 1]) == kept


def test_one_user_joins_those_who_kept_the_term() -> None:
    rows, kept = [{0, 1}, {0, 1}, {0, 1}], [{0, 1}, {0, 1}, {1}]
    assert reinserted(rows, kept, 2, 2, [0]) == rows


def test_what_is_given_back_to_a_greedy_log_leaves_it_anonymous() -> None:
    rng, gained = np.random.default_rng(3), 0
    for seed in range(100):
        rows = random_rows(rng)
        k, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        kept = as_sets(rows, greedy(rows, k, m, seed))
        given = reinserted(rows, kept, k, m, rng.permutation(8).tolist())
        assert is_anonymous(given, k, m)
        assert all(a <= b <= c for a, b, c in zip(kept, given, rows, strict=True))
        gained += given != kept
    assert gained > 5


def test_insertion_that_starts_from_a_greedy_log_is_re_insertion() -> None:
    rng = np.random.default_rng(4)
    for seed in range(200):
        rows = random_rows(rng)
        k, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        start, histories = greedy(rows, k, m, seed), histories_of(rows)
        order = rng.permutation(histories.span)
        found = insert(
            histories, k=k, m=m, order=order, start=np.array(start, dtype=bool), once=True
        )
        expected = reinserted(rows, as_sets(rows, start), k, m, order.tolist())
        assert as_sets(rows, found.tolist()) == expected

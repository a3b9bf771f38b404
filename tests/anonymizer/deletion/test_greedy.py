"""Greedy deletion: the paper's worked examples, and equality with its algorithm word for word."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from anonymizer.deletion import pair_supports as km_supports
from anonymizer.deletion.greedy import delete_greedily
from anonymizer.errors import BadParameter

from ..small_logs import histories_from, is_anonymous, support, uneven_rows

Sets = list[set[int]]
Draw = Callable[[int], int]
MASK = 2**64 - 1


def deleted(
    rows: Iterable[Iterable[int]],
    k: int,
    m: int,
    target: str = "value",
    values: list[float] | None = None,
    ties: str = "first",
    seed: int = 0,
) -> list[int]:
    histories = histories_from([set(row) for row in rows])
    worth = np.ones(histories.span) if values is None else np.array(values)
    rng = np.random.default_rng(seed)
    by = worth if target == "value" else target
    found = delete_greedily(histories, k=k, m=m, by=by, ties=ties, rng=rng)
    return found.tolist()


def kept(rows: Iterable[Iterable[int]], passes: list[int]) -> Sets:
    ordered, at = [sorted(row) for row in rows], iter(passes)
    return [{term for term in row if not next(at)} for row in ordered]


def named(words: str) -> Sets:
    return [{"abcde".index(letter) for letter in word} for word in words.split()]


def draws(seed: int) -> Draw:
    """Draw as the compiled loop does: splitmix64 from one number of the generator."""
    state = int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))

    def draw(size: int) -> int:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & MASK
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & MASK
        return ((mixed ^ mixed >> 31) >> 33) % size

    return draw


def twin(
    rows: Iterable[Iterable[int]], k: int, m: int, target: str, values: list[float], draw: Draw
) -> list[int]:
    """Algorithm 1, word for word, every support counted anew; `draw` settles what ties."""
    log = [set(row) for row in rows]
    passes = [dict.fromkeys(sorted(row), 0) for row in log]
    number, before = 0, None
    while log != before:
        number, before = number + 1, [set(row) for row in log]
        for history, when in zip(log, passes, strict=True):
            terms = sorted(history)
            for combination in (c for size in range(1, m + 1) for c in combinations(terms, size)):
                if history.issuperset(combination) and support(log, combination) < k:
                    term = victim(log, combination, k, m, target, values, draw)
                    history.remove(term)
                    when[term] = number
    return [number for row in passes for number in row.values()]


def victim(
    log: Sets,
    combination: tuple[int, ...],
    k: int,
    m: int,
    target: str,
    values: list[float],
    draw: Draw,
) -> int:
    if len(combination) == 1:
        return combination[0]
    if target == "random":
        return combination[draw(len(combination))]
    keys = {term: (values[term],) for term in combination}
    if target == "fis":
        keys = {t: tuple(frequent(log, t, k, size) for size in range(m, 0, -1)) for t in keys}
    tied = [term for term in combination if keys[term] == min(keys.values())]
    return tied[draw(len(tied)) if len(tied) > 1 else 0]


def frequent(log: Sets, term: int, k: int, size: int) -> int:
    """Count a term's frequent combinations of a size; of size 1 its support, as in table 4."""
    if size == 1:
        return support(log, [term])
    owners = [history - {term} for history in log if term in history]
    others = {c for history in owners for c in combinations(sorted(history), size - 1)}
    return sum(support(owners, other) >= k for other in others)


# {a,b,c}, {a,b,d}, {b,c,d}
EXAMPLE_7 = named("abc abd bcd")


def test_example_7_both_answers_are_anonymous_and_the_value_of_a_decides() -> None:
    for answer in ("ab ab b", "bc b bc"):
        assert is_anonymous(named(answer), 2, 2)
    assert not is_anonymous(EXAMPLE_7, 2, 2)
    a_is_worth_most = kept(EXAMPLE_7, deleted(EXAMPLE_7, 2, 2, values=[4.0, 3.0, 1.0, 2.0]))
    c_is_worth_most = kept(EXAMPLE_7, deleted(EXAMPLE_7, 2, 2, values=[1.0, 3.0, 4.0, 2.0]))
    assert a_is_worth_most == named("ab ab b")
    assert c_is_worth_most == named("bc b bc")


def test_example_8_is_worth_7_2() -> None:
    rows, values = named("abc abd bcd ace"), [1.0, 1.1, 1.2, 1.3, 1.4]
    left = kept(rows, deleted(rows, 2, 2, values=values))
    assert left == named("c bd bd c")
    assert sum(values[term] for row in left for term in row) == pytest.approx(7.2)
    better = named("abc ab bc ac")
    assert is_anonymous(better, 2, 2)
    assert sum(values[term] for row in better for term in row) == pytest.approx(9.9)


def test_example_9_the_pairs_that_two_users_have() -> None:
    pairs = {c for row in EXAMPLE_7 for c in combinations(sorted(row), 2)}
    assert {c for c in pairs if support(EXAMPLE_7, c) >= 2} == {(0, 1), (1, 2), (1, 3)}
    # ac goes first, by a, the smaller of equals; then only H2 has a; then cd of H3, by c; and
    # in the second pass only H1 is left with c.
    assert deleted(EXAMPLE_7, 2, 2) == [1, 0, 2, 1, 0, 0, 0, 1, 0]


# chicago, eugene, smith and two more terms; only the first user has the first three together.
CHICAGO, EUGENE, SMITH, ONE, TWO = range(5)
EXAMPLE_10 = [
    {CHICAGO, EUGENE, SMITH, ONE, TWO},
    {CHICAGO, SMITH},
    {EUGENE, SMITH, ONE},
    {EUGENE, SMITH, TWO},
    {CHICAGO, EUGENE, ONE},
    {CHICAGO, EUGENE, TWO},
    {CHICAGO},
    {CHICAGO},
    {ONE, TWO},
]


def test_example_10_deletes_smith() -> None:
    """Table 4: eugene is in 4 frequent triples, the others in 2; both in 4 pairs; 6 and 4 users."""
    table = {t: [frequent(EXAMPLE_10, t, 2, size) for size in (3, 2, 1)] for t in range(3)}
    assert table[CHICAGO] == [2, 4, 6]
    assert table[EUGENE][0] == 4
    assert table[SMITH] == [2, 4, 4]
    passes = deleted(EXAMPLE_10, 2, 3, "fis")
    assert passes[SMITH] == 1
    assert passes[CHICAGO] == passes[EUGENE] == 0


@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("target", ["value", "fis", "random"])
@pytest.mark.parametrize("ties", ["first", "random"])
def test_it_is_the_papers_algorithm(m: int, target: str, ties: str) -> None:
    rng = np.random.default_rng([m, len(target), len(ties)])
    for seed in range(150):
        rows, k = uneven_rows(rng), int(rng.integers(1, 6))
        values = rng.integers(0, 4, 10).astype(float).tolist()
        span = histories_from(rows).span
        drawn = ties == "random" or target == "random"
        expected = twin(rows, k, m, target, values, draws(seed) if drawn else lambda _: 0)
        found = deleted(rows, k, m, target, values[:span], ties, seed)
        assert found == expected, (rows, k, values)


@pytest.mark.parametrize("target", ["value", "fis"])
def test_histories_of_more_terms_than_a_word_has_bits(target: str) -> None:
    rng = np.random.default_rng(11)
    rows = [set(np.flatnonzero(rng.random(90) < 0.85).tolist()) for _ in range(5)]
    assert min(map(len, rows)) > 64
    values = rng.permutation(90).astype(float).tolist()
    assert deleted(rows, 4, 3, target, values) == twin(rows, 4, 3, target, values, lambda _: 0)


def test_five_hundred_terms_of_each_user_at_m_3() -> None:
    everything = set(range(500))
    rows = [everything, everything, everything - {7}, everything - {7, 8}]
    passes = deleted(rows, 3, 3, "fis")
    assert kept(rows, passes) == [everything - {7}, everything - {7}, everything - {7}, rows[3]]
    assert sum(passes) == 2


@pytest.mark.parametrize("rows", [[], [set()], [set(), set()]])
def test_a_log_without_terms_is_anonymous(rows: Sets) -> None:
    assert deleted(rows, 2, 3) == []


def test_progress_counts_the_users_of_the_first_pass() -> None:
    seen: list[int] = []
    delete_greedily(
        histories_from([{0, 1}] * 3000),
        k=2,
        m=2,
        by="random",
        ties="first",
        rng=np.random.default_rng(0),
        progress=seen.append,
    )
    assert seen == [1024, 2048, 3000]


@pytest.mark.parametrize(("m", "k"), [(1, 2), (2, 2), (3, 2), (2, 1)])
def test_each_pass_is_told_with_its_deletions_and_changes_nothing(m: int, k: int) -> None:
    rng = np.random.default_rng(3)
    log = histories_from(
        [set(rng.choice(9, 4, replace=False).tolist()) for _ in range(30)] + [{20}]
    )
    told: list[tuple[int, int]] = []

    def found(**hook: Any) -> Any:
        draws = np.random.default_rng(0)
        given = {"by": "random", "ties": "first"}
        return delete_greedily(log, k=k, m=m, rng=draws, **given, **hook)

    passes = found(on_pass=lambda number, deletions: told.append((number, deletions)))
    assert passes.tolist() == found().tolist()
    counts = np.bincount(passes, minlength=2)[1:].tolist()
    assert [number for number, _ in told] == list(range(1, len(told) + 1))
    assert [deletions for _, deletions in told if deletions] == [each for each in counts if each]


@pytest.mark.parametrize(("m", "needed"), [(2, 12), (3, 24), (4, 24)])
def test_more_memory_than_there_may_be_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, m: int, needed: int
) -> None:
    """Three pairs of terms that are not too rare, of 4 bytes, and 4 more for larger ones."""
    rows = [{0, 1}, {0, 1}, {0, 1, 2, 3}]
    monkeypatch.setattr(km_supports, "LIMIT", needed)
    assert deleted(rows, 3, m) == [0, 0, 0, 0, 0, 0, 1, 1]
    monkeypatch.setattr(km_supports, "LIMIT", needed - 1)
    with pytest.raises(BadParameter, match=r"algorithm=greedy would take .*; set algorithm=insert"):
        deleted(rows, 3, m)
    assert deleted(rows, 3, 1) == [0, 0, 0, 0, 0, 0, 1, 1]  # which needs no pairs

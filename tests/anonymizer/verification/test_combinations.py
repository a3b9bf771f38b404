"""The judge's own counter against itertools, in blocks of every size."""

from __future__ import annotations

import random

import numpy as np
import pytest

from anonymizer.verification import combinations as counter
from anonymizer.verification.combinations import least_support, rows_of_rare, sets_of

from ..small_reduced import supports


def drawn(rng: random.Random) -> list[list[int]]:
    """Draw rows over a few terms, some far apart in number, some of which stand nowhere."""
    terms = rng.sample(range(40), rng.randint(1, 9))
    return [rng.sample(terms, rng.randint(0, len(terms))) for _ in range(rng.randint(1, 12))]


@pytest.mark.parametrize("block", [0, 1, 7, 50, 2_000_000])
def test_equal_to_itertools(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(counter, "BLOCK", block)
    rng = random.Random(block)  # noqa: S311
    for _ in range(50):
        rows = drawn(rng)
        ends = np.append(0, np.cumsum([len(row) for row in rows]))
        columns = np.array([term for row in rows for term in row], dtype=np.int64)
        sets = sets_of(ends, columns)
        for size in range(1, 6):
            found = supports([[*map(str, row)] for row in rows], size)
            assert least_support(sets, size) == min(found.values(), default=0)
            k = rng.randint(1, 4)
            rare = [{*some} for some, support in found.items() if support < k]
            expected = [any(some <= {*map(str, row)} for some in rare) for row in rows]
            assert rows_of_rare(sets, size, k, len(rows)).tolist() == expected


@pytest.mark.parametrize("small", [2, 2**31])
@pytest.mark.parametrize("large", [2, 100, 2**63])
def test_numbers_that_do_not_fit_are_made_smaller(
    monkeypatch: pytest.MonkeyPatch, small: int, large: int
) -> None:
    """As with more terms or larger combinations than any real log has."""
    monkeypatch.setattr(counter, "_SMALL", small)
    monkeypatch.setattr(counter, "_LARGE", large)
    test_equal_to_itertools(monkeypatch, 50)


def test_a_term_of_many_rows_is_counted_in_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three thousand rows of the same ten terms bring 120 times as many triples: 360,000."""
    monkeypatch.setattr(counter, "BLOCK", 10_000)
    most = 0
    listed = counter._listed

    def watched(*arguments: object) -> counter._Block:
        nonlocal most
        block = listed(*arguments)  # type: ignore[arg-type]
        most = max(most, block.keys.size)
        return block

    monkeypatch.setattr(counter, "_listed", watched)
    sets = sets_of(np.arange(0, 30_001, 10), np.tile(np.arange(10), 3000))
    assert least_support(sets, 3) == 3000
    assert 0 < most <= 10_000

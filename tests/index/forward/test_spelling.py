"""Terms near a word: what people mistype, and a naive twin."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.forward import spelling
from index.forward.spelling import LONG, LONGEST, SHORTEST, Spelling

# As in an index, the first is in most documents.
TERMS = [
    "coffee",
    "code",
    "java",
    "algorithm",
    "coffer",
    "psychology",
    "iva",
    "ba",
    "größe",
    "caffè",
]


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("cofee", ["coffee"]),  # dropped
        ("coffeee", ["coffee"]),  # inserted
        ("coffes", ["coffee", "coffer"]),  # replaced; the frequent one is the first
        ("cofefe", ["coffee"]),  # swapped: one edit
        ("coffer", ["coffee", "coffer"]),
        ("jva", ["java", "iva"]),
        ("algoritms", ["algorithm"]),  # two, in a long word
        ("coxxe", []),  # two, in a short one
        ("psycolgoy", ["psychology"]),  # one dropped, two swapped
        ("grösse", ["größe"]),
        ("größ", ["größe"]),
        ("b", []),
        ("", []),
        ("\U0001f600\U0001f600\U0001f600", []),
        ("x" * 2000, []),
    ],
)
def test_slips(word: str, near: list[str]) -> None:
    assert Spelling(TERMS).nearest(word) == near


@pytest.mark.parametrize(
    ("prefix", "terms"),
    [("co", ["coffee", "code"]), ("coffee", []), ("gr", ["größe"]), ("x", []), ("", TERMS[:2])],
)
def test_terms_that_begin_alike(prefix: str, terms: list[str]) -> None:
    assert Spelling(TERMS).beginning(prefix, 2) == terms


def test_there_may_be_no_terms() -> None:
    assert Spelling([]).nearest("word") == Spelling(["", "x" * 99]).nearest("word") == []


def edits(one: str, other: str) -> int:
    """Count edits by their definition; letters that were swapped are not edited again."""

    @cache
    def of(at: int, to: int) -> int:
        if not at or not to:
            return at + to
        ways = [of(at - 1, to) + 1, of(at, to - 1) + 1]
        ways.append(of(at - 1, to - 1) + (one[at - 1] != other[to - 1]))
        if at > 1 and to > 1 and one[at - 2 : at] == other[to - 2 : to][::-1]:
            ways.append(of(at - 2, to - 2) + 1)
        return min(ways)

    return of(len(one), len(other))


WORDS = st.text("abcÀ\U0001f600", min_size=1, max_size=10)


@given(st.lists(WORDS, max_size=40, unique=True), WORDS)
def test_they_are_those_of_the_naive_twin(terms: list[str], word: str) -> None:
    expected: list[str] = []
    for most in range(1, 2 + (len(word) >= LONG)):
        if SHORTEST <= len(word) <= LONGEST and not expected:
            expected = [term for term in terms if edits(word, term) <= most]
    assert Spelling(terms).nearest(word, 99) == expected


def test_the_most_frequent_terms_take_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spelling, "COMPARED", 2)
    assert Spelling(["abcx", "abcy", "abcz"]).nearest("abc") == ["abcx", "abcy"]
    monkeypatch.setattr(spelling, "MOST_TERMS", 1)
    assert Spelling(["abcx", "abcy", "abcz"]).nearest("abc") == ["abcx"]

"""Terms as a cluster gets them: only letters, small ones, and none like another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.opensearch.terms import HOLE, text_of, written


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("zebra", "zebra"),
        ("straße", "straße"),
        ("日本", "日本"),
        ("1984", "ʘbʘjʘiʘe"),
        ("u.", "uʘkkkkmy"),  # the point is 00002e in hexadecimal digits k to z
        ("Zoo", "ʘkkkkpuoo"),
    ],
)
def test_letters_stay_and_the_rest_is_spelled(token: str, text: str) -> None:
    assert written(token) == text


def test_a_stop_word_is_a_hole() -> None:
    assert text_of([None, "zebra", None, None, "u"]) == "ʘ zebra ʘ ʘ u"


def unspelled(text: str) -> str:
    """Return the token that is written as `text`, the obvious way."""
    token, left = "", text
    while left:
        if left[0] != HOLE:
            token, left = token + left[0], left[1:]
        elif left[1] < "k":
            token, left = token + str(ord(left[1]) - ord("a")), left[2:]
        else:
            digits = "".join(f"{ord(letter) - ord('k'):x}" for letter in left[1:7])
            token, left = token + chr(int(digits, 16)), left[7:]
    return token


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_a_term_can_be_read_back(token: str) -> None:
    text = written(token)
    assert all(letter.isalpha() and letter == letter.lower() for letter in text)
    assert text != HOLE
    assert unspelled(text) == token


def test_what_is_too_long_gets_a_short_name() -> None:
    long, other = "9" * 200, "9" * 201
    assert written(long).startswith(HOLE * 2)
    assert len(written(long)) == len(written(other)) == 66
    assert written(long) != written(other)

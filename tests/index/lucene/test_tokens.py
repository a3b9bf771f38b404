"""Terms in their places: a stop word leaves a gap, as phrases see it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.lucene import jvm
from index.lucene.query import terms_of
from index.lucene.tokens import places_of


@pytest.fixture(scope="module", autouse=True)
def java() -> None:
    jvm.start()


@pytest.mark.parametrize(
    ("text", "language", "places"),
    [
        ("the zebra and the tigers", "en", [None, "zebra", None, None, "tiger"]),
        ("U.S. 1984, don't", "en", ["u.", "1984", "don't"]),
        ("zebra the", "en", ["zebra"]),  # a gap at the end is of no use
        ("the", "en", []),
        ("", "en", []),
        ("die großen Häuser", "de", [None, "gross", "haus"]),
        ("l'avion de la République", "fr", ["avion", None, None, "republ"]),
    ],
)
def test_a_stop_word_leaves_its_place(text: str, language: str, places: list[str | None]) -> None:
    assert places_of([text], language) == [places]


@given(st.lists(st.text(st.sampled_from("the zebras. 19'ß\n"), max_size=40), max_size=5))
def test_terms_are_those_of_queries(texts: list[str]) -> None:
    read = places_of(texts, "en")
    assert len(read) == len(texts)
    for text, places in zip(texts, read, strict=True):
        assert [term for term in places if term is not None] == terms_of(text, "en")

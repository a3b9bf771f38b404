from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anonymizer.text import STOP_WORDS, Analysis, tokens
from anonymizer.wordnet import WordNet


class Plurals:
    """A toy vocabulary: knows cat and dog."""

    def base_form(self, word: str) -> str | None:
        stem = word.removesuffix("s")
        return stem if stem in ("cat", "dog") else None


def test_lucenes_stop_words() -> None:
    assert len(STOP_WORDS) == 33


def test_tokens_are_lower_case_runs_of_letters_without_stop_words() -> None:
    assert tokens("The C++ café, no. 42_x of Ärzte!") == ["c", "café", "x", "ärzte"]


def test_terms_are_base_forms_of_known_words() -> None:
    assert Analysis(Plurals()).terms("Cats and dogs and a cat's unicorn") == ["cat", "dog", "cat"]


def test_wordnet_knows_more(wordnet: WordNet) -> None:
    assert Analysis(wordnet).terms("the geese went running") == ["goose", "go", "running"]


@given(st.text())
def test_any_text_gives_terms_of_the_vocabulary(text: str) -> None:
    assert set(Analysis(Plurals()).terms(text)) <= {"cat", "dog"}

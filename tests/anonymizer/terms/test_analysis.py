from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from anonymizer.terms.analysis import STOP_WORDS, Analysis, WordAnalysis
from anonymizer.terms.wordnet import WordNet


class Plurals:
    """A toy vocabulary: knows cat and dog."""

    def base_form(self, word: str) -> str | None:
        stem = word.removesuffix("s")
        return stem if stem in ("cat", "dog") else None


def test_lucenes_stop_words() -> None:
    assert len(STOP_WORDS) == 33


def test_words_are_lower_case_runs_of_letters_without_stop_words() -> None:
    assert WordAnalysis().terms("The C++ café, no. 42_x of Ärzte!") == ["c", "café", "x", "ärzte"]


def test_terms_are_base_forms_of_known_words() -> None:
    assert Analysis(Plurals()).terms("Cats and dogs and a cat's unicorn") == ["cat", "dog", "cat"]


def test_wordnet_knows_more(wordnet: WordNet) -> None:
    assert Analysis(wordnet).terms("the geese went running") == ["goose", "go", "running"]


@given(st.text())
def test_any_text_gives_terms_of_the_vocabulary(text: str) -> None:
    assert set(Analysis(Plurals()).terms(text)) <= {"cat", "dog"}


def test_letters_and_digits_are_those_of_burghardts_section_5_1_and_more() -> None:
    """Of their last letter, ž, and before, they lack a few that Unicode has; none the other way."""
    theirs = re.compile("[A-Za-z0-9À-ÖÛ-Ýß-öü-ž]")
    table = WordAnalysis(digits=True).characters
    up_to_theirs = map(chr, range(ord("ž") + 1))
    differ = {char for char in up_to_theirs if bool(theirs.match(char)) != table[ord(char)]}
    assert differ == set("ØÙÚÞøùúû") | set("ªº²³¹µ¼½¾")
    assert all(table[ord(char)] for char in differ)
    assert WordAnalysis(digits=True).terms("Où? 1²_3 smørrebrød ×÷ žena") == [
        "où", "1²", "3", "smørrebrød", "žena",
    ]  # fmt: skip


def test_stop_words_stay_among_letters_and_digits_alone() -> None:
    assert WordAnalysis().terms("This OR that 7up") == ["up"]
    assert WordAnalysis(digits=True).terms("This OR that 7up") == ["this", "or", "that", "7up"]
    assert WordAnalysis(digits=True).term("or") == "or"
    assert WordAnalysis().term("or") == ""

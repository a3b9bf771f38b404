"""Phrases of WordNet in queries, beside a naive twin."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model import Texts
from anonymizer.terms import counting
from anonymizer.terms.analysis import Analysis, Vocabulary
from anonymizer.terms.counting import TermCounter
from anonymizer.terms.phrases import Phrases
from anonymizer.terms.wordnet import WordNet


def naive(text: str, vocabulary: Vocabulary) -> list[str]:
    """Try the longest run of tokens first, from each start on."""
    tokens = re.findall(r"[^\W\d_]+", text.lower())
    terms, at = [], 0
    while at < len(tokens):
        for end in range(len(tokens), at, -1):
            phrase = vocabulary.base_form(" ".join(tokens[at:end])) if end > at + 1 else None
            if phrase:
                terms.append(phrase)
                break
        else:
            end = at + 1
            terms += [term] if (term := Analysis(vocabulary).term(tokens[at])) else []
        at = end
    return terms


def counted(counter: TermCounter, texts: list[str]) -> list[dict[str, int]]:
    packed = Texts.of(texts)
    columns, tf, ends = counter.count_packed(packed, np.arange(len(texts)))
    terms = counter.terms
    cuts = zip(np.split(columns, ends)[:-1], np.split(tf, ends)[:-1], strict=True)
    return [
        {terms[column]: count for column, count in zip(own.tolist(), counts.tolist(), strict=True)}
        for own, counts in cuts
    ]


@pytest.fixture(scope="module")
def phrases(wordnet: WordNet) -> Phrases:
    return Phrases(wordnet.phrases())


def test_phrases_by_hand(wordnet: WordNet, phrases: Phrases) -> None:
    counter = TermCounter(Analysis(wordnet), phrases)
    texts = [
        "new programming languages, and the programming",
        "state of the art of the state",
        "amici curiae of new york city",
        "java",
        "programming",
        "languages",
    ]
    assert counted(counter, texts) == [
        {"new": 1, "programming language": 1, "programming": 1},
        {"state of the art": 1, "state": 1},
        {"amicus curiae": 1, "new york city": 1},
        {"java": 1},
        {"programming": 1},
        {"language": 1},
    ]


class Toy:
    """Knows a few words and phrases."""

    known = frozenset(["a b", "a b c d", "b c", "c", "d", "the a", "x"])

    def base_form(self, word: str) -> str | None:
        return word if word in self.known else None


PIECES = ["a", "b", "c", "d", "the", "x", "y", "ärger", "42", "a-b", "x's", ","]


@given(
    st.lists(st.lists(st.sampled_from(PIECES)).map(" ".join)),
    st.sampled_from([1, 1 << 15]),
    st.sampled_from([4, 1 << 22]),
)
def test_compiled_phrases_equal_their_naive_twin(texts: list[str], room: int, most: int) -> None:
    """Phrases overlap here, and tables grow and start anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "ROOM", room)
        patch.setattr(counting, "MOST_RUNS", most)
        counter = TermCounter(
            Analysis(Toy()), Phrases({word: word for word in Toy.known if " " in word})
        )
        found = counted(counter, texts)
    assert found == [dict(Counter(naive(text, Toy()))) for text in texts]


def test_every_form_of_every_phrase_is_known(wordnet: WordNet) -> None:
    forms = wordnet.phrases()
    assert forms["programming languages"] == "programming language"
    assert forms["amici curiae"] == "amicus curiae"
    assert len(forms) > 64_000
    assert all(" " in form and wordnet.base_form(form) == base for form, base in forms.items())

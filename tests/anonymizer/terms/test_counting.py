"""Compiled counting against the analysis itself."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model import Texts
from anonymizer.terms import counting
from anonymizer.terms.analysis import Analysis, WordAnalysis
from anonymizer.terms.counting import Counts, TermCounter


class Toy:
    """Knows words without a q; plurals have a base form."""

    def base_form(self, word: str) -> str | None:
        return None if "q" in word else word.removesuffix("s") or None


def counted(counter: TermCounter, texts: list[str]) -> list[list[tuple[str, int]]]:
    return rows_of(counter, counter.count(texts))


def rows_of(counter: TermCounter, counts: Counts) -> list[list[tuple[str, int]]]:
    columns, tf, ends = counts
    terms, low, rows = counter.terms, 0, []
    for high in ends.tolist():
        pairs = zip(columns[low:high].tolist(), tf[low:high].tolist(), strict=True)
        rows.append([(terms[column], count) for column, count in pairs])
        low = high
    assert low == columns.size == tf.size
    return rows


def naive(texts: list[str]) -> list[list[tuple[str, int]]]:
    return [list(Counter(Analysis(Toy()).terms(text)).items()) for text in texts]


def test_a_letter_is_what_the_analysis_takes_for_one() -> None:
    table = Analysis(Toy()).characters
    for point in (*range(0x3000), 0x10400, 0x1D7CE, 0x1F600, 0x10FFFF, 0xD800):
        letter = chr(point)
        assert table[point] == (letter.isalnum() and not letter.isdecimal()), hex(point)


word = st.text(st.sampled_from("abcqsİßΣé1_ '\0\x1f\U00010400\U0001d7ce\ud800"), max_size=9)
text = st.one_of(st.text(max_size=30), st.lists(word, max_size=12).map(" ".join))
packable = st.lists(
    st.text(st.characters(codec="utf-8")) | st.text("the cats 12 ä­_あ𐐀"), max_size=5
).map(" ".join)


@given(st.lists(st.lists(text, max_size=5), max_size=4))
def test_counts_are_those_of_the_analysis(batches: list[list[str]]) -> None:
    counter = TermCounter(Analysis(Toy()))
    for texts in batches:
        assert counted(counter, texts) == naive(texts)


@given(st.lists(packable, max_size=6), st.data())
def test_packed_texts_are_counted_the_same(texts: list[str], data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, len(texts) - 1))) if texts else []
    some = [texts[number] for number in numbers]
    for analysis in (Analysis(Toy()), WordAnalysis(), WordAnalysis(digits=True)):
        counter = TermCounter(analysis)
        found = counter.count_packed(Texts.of(texts), np.array(numbers, dtype=np.int64))
        assert rows_of(counter, found) == [list(Counter(analysis.terms(t)).items()) for t in some]


@pytest.mark.parametrize(("limit", "most"), [("MOST_RUNS", 4), ("MOST_LETTERS", 8)])
@given(batches=st.lists(st.lists(text, max_size=5), max_size=4))
def test_a_full_table_grows_and_starts_anew(
    limit: str, most: int, batches: list[list[str]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "ROOM", 1)
        patch.setattr(counting, limit, most)
        counter = TermCounter(Analysis(Toy()))
        for texts in batches:
            assert counted(counter, texts) == naive(texts)


def test_endless_words_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST_LETTERS", 1 << 20)
    counter = TermCounter(Analysis(Toy()))
    for n in range(40):
        letters_of_n = "".join("abcdefghij"[int(digit)] for digit in f"{n:02d}")
        counter.count([" ".join(f"q{letters_of_n}{'x' * at}" for at in range(300, 700))])
    assert sum(array.nbytes for array in counter._names) < 12_000_000


def test_a_word_longer_than_the_table_is_a_word() -> None:
    counter = TermCounter(Analysis(Toy()))
    long = "b" * 2_000_000
    assert counted(counter, [f"a {long} cat {long}"]) == [[(long, 2), ("cat", 1)]]


def test_a_hundred_thousand_words_keep_apart() -> None:
    names = ["".join("abcdefghij"[int(digit)] for digit in f"{n:06d}") for n in range(100_000)]
    counter = TermCounter(Analysis(Toy()))
    (row,) = counted(counter, [" ".join(names + names[::2])])
    assert row == [(name, 2 - at % 2) for at, name in enumerate(names)]

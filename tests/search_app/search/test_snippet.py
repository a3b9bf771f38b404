"""The window of a text that shows why it was found."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from anonymizer.terms.analysis import STOP_WORDS
from search_app.search import snippet as snippets
from search_app.search.snippet import _WORD, LONGEST_WORD, SIZE, SnippetPart, _stem

FILLER = "word " * 100
# In a fresh clone the first draw of a text waits for Hypothesis' table of characters; and a busy
# machine is no fault of a snippet.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def snippet(text: str, query: str, size: int = SIZE) -> list[SnippetPart]:
    return snippets.snippet(" ".join(text.split()), snippets.stems(query), size)


def shown(parts: list[SnippetPart]) -> str:
    return "".join(part.text for part in parts)


def marked(parts: list[SnippetPart]) -> list[str]:
    return [part.text for part in parts if part.marked]


def test_a_short_text_is_shown_whole_with_the_query_words_apart() -> None:
    assert snippet("Java is coffee.", "java") == [
        SnippetPart("Java", True),
        SnippetPart(" is coffee.", False),
    ]


@pytest.mark.parametrize(
    ("text", "query", "wanted"),
    [
        (
            "A programmer programs in programming languages; the movie, a city.",
            "program language movies cities",  # plurals and endings of verbs are tolerated
            "programmer programs programming languages movie city",
        ),
        ("the javanese and the art of java", "the art and java", "art java"),  # no stop words
    ],
)
def test_words_of_the_query_are_marked(text: str, query: str, wanted: str) -> None:
    assert marked(snippet(text, query)) == wanted.split()


def test_the_opening_and_the_best_window_are_shown() -> None:
    text = f"A first sentence. {FILLER}coffee {FILLER}coffee with java {FILLER}"
    parts = snippet(text, "java coffee")
    assert marked(parts) == ["coffee", "java"]
    assert shown(parts).startswith("A first sentence. … word")
    assert shown(parts).endswith("word …")


def test_a_window_near_the_opening_is_joined_with_it() -> None:
    assert shown(snippet(f"A cup of java. {FILLER}", "java")).startswith("A cup of java. word word")


def test_a_text_without_the_words_shows_its_opening() -> None:
    parts = snippet(FILLER, "java")
    assert marked(parts) == []
    assert shown(parts) == "word " * 39 + "word …"  # 40 words and 39 blanks are 199 characters


def test_nothing_is_made_of_nothing() -> None:
    assert snippet("", "java") == []
    assert snippet(" \n ", "") == []


def test_very_long_words_and_queries_are_cut_like_any_other() -> None:
    assert len(shown(snippet("s" * 30_000, "s" * 30_000))) <= 210
    assert len(shown(snippet("java " * 30_000, "java " * 30_000))) <= 210


WORDS = st.sampled_from(["java", "coffee", "tea.", "(cup)", "thus:", "so;", "x" * 35, "a"])
TEXTS = st.lists(WORDS, max_size=120).map(" ".join)


@unhurried
@given(TEXTS, st.sampled_from(["java", "coffee java", "cup"]), st.sampled_from([60, 120, 200]))
def test_a_query_word_that_stands_in_the_text_is_shown(text: str, query: str, size: int) -> None:
    parts = snippet(text, query, size)
    assert len(shown(parts)) <= size + len(" …") * 3
    assert all(piece.strip() in text for piece in shown(parts).split("…"))
    stands = set(re.findall(r"\w+", text)) & set(query.split())
    assert bool(marked(parts)) == bool(stands)


@unhurried
@given(st.text(max_size=600), st.text(max_size=60))
def test_any_text_is_shown_in_order(text: str, query: str) -> None:
    whole = " ".join(text.split())
    parts = snippet(text, query)
    at = 0
    for piece in shown(parts).replace(" … ", "…").split("…") if "…" not in text else []:
        at = whole.index(piece.strip(), at)


def test_the_longest_words_that_are_stemmed_find_their_plural() -> None:
    word = "a" + "bc" * 19  # 39 letters, its plural LONGEST_WORD
    assert len(f"{word}s") == LONGEST_WORD
    assert marked(snippet(f"{word} {word}s", word)) == [word, f"{word}s"]


@unhurried
@given(st.from_regex("[a-z]{2,38}[a-rt-z]", fullmatch=True))
def test_a_word_finds_itself_and_its_plural(word: str) -> None:
    assume(word not in STOP_WORDS)
    assert marked(snippet(f"{word} {word}s", word)) == [word, f"{word}s"]


WORDS = st.sampled_from(
    ["flies", "Fly", "FLYING", "programs", "Programmer", "pro", "İx", "x_fly", "é"]
)
JOINTS = st.sampled_from([" ", "-", "_", "", ". "])


@unhurried
@given(st.lists(st.tuples(WORDS, JOINTS)), st.lists(WORDS, min_size=1, max_size=4))
def test_all_words_with_a_stem_of_the_query_are_marked(
    pieces: list[tuple[str, str]], query: list[str]
) -> None:
    text = "".join(word + joint for word, joint in pieces)
    runs = list(_WORD.finditer(" ".join(text.split())))
    wanted = {_stem(word) for word in _WORD.findall(" ".join(query).lower())}
    expected = [run.group() for run in runs if _stem(run.group().lower()) in wanted]
    assert marked(snippet(text, " ".join(query), 100_000)) == expected

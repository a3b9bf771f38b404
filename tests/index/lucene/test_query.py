"""Queries: scores by hand, titles, phrases, + and -, long and odd texts, explanations."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.lucene.query import parse_query
from index.lucene.searching import LuceneIndex
from index.model import Document

from .test_searching import index_of

# Words that are their own stems and no stop words.
CORPUS = [
    Document("a", "zebra lion", "zebra tiger panda"),
    Document("b", "", "lion zebra lion"),
    Document("c", "panda", "panda lion " + "bamboo " * 57),  # 60 words, which Lucene keeps as 60
    Document("d", "lion", "tiger lion zebra panda " + "bamboo " * 296),  # 301, kept as 280
    Document("e", "bamboo tiger zebra", "the zebra and the tiger"),
    Document("f", "", "koala " * 40),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LuceneIndex:
    return index_of(CORPUS, tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="module")
def boosted(tmp_path_factory: pytest.TempPathFactory) -> LuceneIndex:
    return index_of(CORPUS, tmp_path_factory.mktemp("boosted"), title_boost=2.5)


def kept_length(length: int) -> int:
    """Return a length as Lucene keeps it in a byte: beyond 24 only four bits of what is above."""
    if length < 24:
        return length
    lost = max((length - 24).bit_length() - 4, 0)
    return 24 + ((length - 24) >> lost << lost)


def bm25(
    terms: Sequence[str], texts: Sequence[str], k1: float = 0.9, b: float = 0.4
) -> list[float]:
    """Score texts by Lucene's formula; a text without a word is none."""
    bags = [[word for word in text.split() if word not in ("the", "and")] for text in texts]
    there = [bag for bag in bags if bag]
    average = sum(map(len, there)) / len(there)
    scores = []
    for bag in bags:
        score = 0.0
        for term in terms:
            df, tf = sum(term in each for each in there), bag.count(term)
            idf = math.log(1 + (len(there) - df + 0.5) / (df + 0.5))
            norm = k1 * (1 - b + b * kept_length(len(bag)) / average)
            score += idf * tf / (tf + norm) if tf else 0
        scores.append(score)
    return scores


def found(index: LuceneIndex, query: str) -> list[str]:
    """Return the ids of what a query with operators finds, in the order of rows."""
    rows = index.pool(query, 100, operators=True).rows
    return [CORPUS[row].id for row in sorted(rows.tolist())]


def scores_of(index: LuceneIndex, query: str, operators: bool = False) -> dict[int, float]:
    pool = index.pool(query, 100, operators=operators)
    assert np.all(np.diff(pool.scores) <= 0)
    return dict(zip(pool.rows.tolist(), pool.scores.tolist(), strict=True))


@pytest.mark.parametrize("query", ["zebra", "lion tiger", "zebra zebra panda", "bamboo koala"])
@pytest.mark.parametrize("boost", [0.0, 0.5, 2.5, 100.0])
@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75), (0.0, 0.0)])
def test_scores_are_bm25_by_hand(
    tmp_path: Path, query: str, boost: float, k1: float, b: float
) -> None:
    whole = bm25(query.split(), [f"{each.title} {each.text}" for each in CORPUS], k1, b)
    title = bm25(query.split(), [each.title for each in CORPUS], k1, b)
    sums = [one + boost * other for one, other in zip(whole, title, strict=True)]
    expected = {row: score for row, score in enumerate(sums) if whole[row]}
    index = index_of(CORPUS, tmp_path, k1=k1, b=b, title_boost=boost)
    assert scores_of(index, query) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("query", ["zebra", "lion tiger tiger", 'lion "zebra tiger" -koala'])
@pytest.mark.parametrize("name", ["index", "boosted"])
@pytest.mark.parametrize("operators", [False, True])
def test_parts_sum_to_the_score(
    query: str, name: str, operators: bool, request: pytest.FixtureRequest
) -> None:
    index: LuceneIndex = request.getfixturevalue(name)
    scores = scores_of(index, query, operators)
    assert scores
    for row, score in scores.items():
        parts = index.explain(query, [row], operators=operators)[0]
        assert sum(part.score for part in parts) == pytest.approx(score, rel=1e-6)
        assert all(part.score > 0 for part in parts)


def test_parts_name_field_and_term(boosted: LuceneIndex) -> None:
    row, whole = 0, [f"{each.title} {each.text}" for each in CORPUS]
    titles = [each.title for each in CORPUS]
    parts = boosted.explain("zebras lion koala", [row])[0]  # stemmed; there is no koala
    expected = {
        ("contents", "zebra"): bm25(["zebra"], whole)[row],
        ("contents", "lion"): bm25(["lion"], whole)[row],
        ("title", "zebra"): 2.5 * bm25(["zebra"], titles)[row],
        ("title", "lion"): 2.5 * bm25(["lion"], titles)[row],
    }
    assert {(each.field, each.term): each.score for each in parts} == pytest.approx(
        expected, rel=1e-5
    )
    named = {
        (each.field, each.term)
        for each in boosted.explain('"lion zebra"', [row], operators=True)[0]
    }
    assert named == {("contents", '"lion zebra"')}  # zebra lion zebra; the title is zebra lion


def test_what_is_not_found_has_no_parts(index: LuceneIndex) -> None:
    assert index.explain("koala", [0]) == [[]]
    assert index.explain("zebra -tiger", [0], operators=True) == [[]]
    assert index.explain("", [0]) == [[]]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ('"zebra tiger"', "a"),  # in e two stop words stand between
        ('"tiger zebra"', "e"),
        ('"lion zebra"', "abd"),
        ('"zebra and the tiger"', "ae"),  # a stop word leaves a gap of any word: lion zebra in a
        ('"zebra xx yy tiger"', ""),
        ('zebra -"lion zebra"', "e"),
        ('koala "lion zebra"', "abdf"),
        ('koala +"lion zebra"', "abd"),
        ('-zebra -"lion zebra"', ""),
        ("+the zebra", "abde"),  # nothing is left of a stop word
        ("-the zebra", "abde"),
        ('"the" zebra', "abde"),
        ("+ zebra - tiger", "abcde".replace("c", "")),
        ('"zebra tiger', "abde"),  # not closed: plain text
        ('zebra" -tiger', "b"),
        ('"" zebra', "abde"),
        ('+"" zebra', "abde"),
        ('zebra"tiger"', "abde"),  # a quote inside a word means nothing
        ('"koala"zebra', "abdef"),
        ("--zebra koala", "f"),
        ("zebra-tiger", "abde"),
        ("+lion-zebra", "abd"),  # a word of two is a phrase
        ("(zebra^9) AND NOT tiger*", "abde"),
        ("+", ""),
        ('"', ""),
    ],
)
def test_operators(index: LuceneIndex, boosted: LuceneIndex, query: str, ids: str) -> None:
    assert found(index, query) == list(ids)
    assert found(boosted, query) == list(ids)  # a title finds nothing by itself


def test_without_operators_signs_mean_nothing(index: LuceneIndex) -> None:
    plain = scores_of(index, "zebra tiger")
    assert scores_of(index, '-zebra +"tiger"') == plain
    assert scores_of(index, "zebra tiger", operators=True) == plain


@pytest.mark.parametrize("name", ["index", "boosted"])
@pytest.mark.parametrize("operators", [False, True])
@pytest.mark.parametrize(
    "query",
    [
        "zebra " + " ".join(f"word{n}x" for n in range(1999)),
        "zebra " + "+word -word " * 9000,
        " ".join(f"+word{n}x" for n in range(2000)),
        "zebra " + " ".join(f"-word{n}x" for n in range(2000)),
        "zebra " + " ".join(f'"word{n}x other"' for n in range(2000)),
        '"' + " ".join(f"word{n}x" for n in range(2000)) + '" zebra',
        '"' * 100_000,
        '" ' * 50_000,
        '-"' * 50_000,
        "+-" * 50_000,
        "a" * 100_000,
        "zebra " * 16_667,
        "".join(chr(0x4E00 + n % 5000) for n in range(33_000)),
        "😀 " * 25_000,
        "\ud800" * 100_000,
        "zebra AND (lion OR tiger^3) NOT [a TO b] title:zebra /re.*/ wild* fu~2 \\",
    ],
    ids=range(16),
)
def test_no_text_is_too_much(
    query: str, operators: bool, name: str, request: pytest.FixtureRequest
) -> None:
    index: LuceneIndex = request.getfixturevalue(name)
    began = time.perf_counter()
    pool = index.pool(query, 10, operators=operators)
    print(f"{time.perf_counter() - began:.3f} s, cut: {pool.cut}")  # shown by -rP
    assert len(pool) <= 6


def test_who_asks_learns_that_a_query_was_cut(index: LuceneIndex) -> None:
    words = [f"word{n}x" for n in range(1001)]
    assert not index.pool(" ".join(words[:1000]), 5).cut
    assert index.pool(" ".join(words), 5).cut
    assert not index.pool(" ".join(words[:1000] * 3), 5).cut
    assert index.pool("a " * 100_001, 5).cut
    assert [pool.cut for pool in index.pools(["zebra", " ".join(words)], 5)] == [False, True]


def test_what_is_unwanted_is_the_last_to_be_cut(index: LuceneIndex) -> None:
    many = " ".join(f"word{n}x" for n in range(2000))
    assert found(index, f"zebra {many} -tiger") == ["b"]
    assert index.pool(f"zebra {many} -tiger", 5, operators=True).cut
    asked = parse_query(f'{many} "one two" +three -four', operators=True)
    assert [each.sign for each in asked.exact] == ["-", "+", ""]
    assert len(set(asked.bag.split())) == 1000 - 4
    assert parse_query(" ".join(f"+word{n}x" for n in range(1001)), operators=True).cut


WORDS = st.sampled_from(["zebra", "lion", "tiger", "panda", "bamboo", "koala"])


@given(st.lists(st.tuples(st.sampled_from(["", "+", "-"]), WORDS), max_size=5))
def test_signs_find_what_a_naive_reader_finds(
    index: LuceneIndex, pieces: list[tuple[str, str]]
) -> None:
    query = " ".join(sign + word for sign, word in pieces)
    wanted = {sign: [w for s, w in pieces if s == sign] for sign in ("", "+", "-")}
    expected = []
    for document in CORPUS:
        words = set(f"{document.title} {document.text}".split())
        positive = wanted["+"] or words.intersection(wanted[""])
        if positive and words.issuperset(wanted["+"]) and words.isdisjoint(wanted["-"]):
            expected.append(document.id)
    assert found(index, query) == expected


@given(
    st.one_of(
        st.text(st.sampled_from('+-" azebra\t\n*?'), max_size=60),
        st.text(st.characters(exclude_categories=()), max_size=60),
    )
)
def test_no_text_is_refused(index: LuceneIndex, boosted: LuceneIndex, text: str) -> None:
    for opened in (index, boosted):
        pool = opened.pool(text, 5, operators=True)
        for row in pool.rows.tolist():
            assert opened.explain(text, [row], operators=True)[0]

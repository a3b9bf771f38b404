"""Lucene: BM25 to the digit, order, odd queries, threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

from anonymizer.terms.analysis import STOP_WORDS
from index.lucene import jvm
from index.lucene.searching import LuceneIndex
from index.lucene.writing import LuceneWriter
from index.model import Document, SearchError, TooSlow


def index_of(
    documents: Sequence[Document], folder: Path, drop: Sequence[int] = (), **settings: float
) -> LuceneIndex:
    with closing(LuceneWriter(folder / "lucene")) as writer:
        for document in documents:
            writer.add(document)
        for number in drop:
            writer.drop(number)
        writer.commit(one_segment=True)
    return LuceneIndex(folder / "lucene", **settings)


@pytest.fixture
def index(toys: list[Document], tmp_path: Path) -> Iterator[LuceneIndex]:
    opened = index_of(toys, tmp_path)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> LuceneIndex:
    documents = [
        Document(f"id{n}", f"Title {n}", f"common word{n} {'long ' * n}", f"http://example.org/{n}")
        for n in range(40)
    ]
    return index_of(documents, tmp_path_factory.mktemp("shared"))


def test_a_pool_is_ordered_by_score_then_row(index: LuceneIndex) -> None:
    pool = index.pool("zebras", 10)  # stemmed
    assert pool.rows.tolist() == [0, 1, 3, 2]  # d1 and d3 are equal; d2 is longer
    assert pool.scores[1] == pool.scores[2]
    assert index.pool("zebra", 2).rows.tolist() == [0, 1]
    assert len(index.pool("zebra", 10_000)) == 4


def test_ties_keep_the_order_of_rows_whatever_the_size(tmp_path: Path) -> None:
    index = index_of([Document(str(n), "", "same words") for n in range(300)], tmp_path)
    for size in (1, 7, 299, 300):
        assert index.pool("words", size).rows.tolist() == list(range(size))


def test_documents_are_read_back_in_the_order_asked(
    index: LuceneIndex, toys: list[Document]
) -> None:
    assert index.documents([2, 0]) == [toys[2], toys[0]]
    assert index.documents([]) == []
    assert index.size == 5
    assert index.numbers([0, 3, 4]) == [0, 3, 4]


@pytest.mark.parametrize(
    "query",
    ["", "   ", "the of and", "?!", '+-&&||!(){}[]^"~*?:\\/', "😀", "\0", "\ud800", "AND OR NOT"],
)
def test_queries_without_a_known_word_find_nothing(index: LuceneIndex, query: str) -> None:
    assert len(index.pool(query, 10)) == 0


@pytest.mark.parametrize(
    "query", ['"zebra', "zebra*", "zebra\0", "a\ud800 zebra", "(zebra^9) AND -"]
)
def test_queries_hold_no_syntax(index: LuceneIndex, query: str) -> None:
    assert index.pool(query, 10).rows.tolist() == [0, 1, 3, 2]


@pytest.mark.parametrize("joint", [" ", "\n", " the "])
def test_of_a_very_long_query_the_first_1000_different_words_count(
    index: LuceneIndex, joint: str
) -> None:
    noise = [f"word{n}x" for n in range(999)]
    assert len(index.pool(joint.join([*noise, *noise, "zebra", "panda"]), 10)) == 4
    assert len(index.pool(joint.join([*noise, "other", "zebra"]), 10)) == 0
    assert len(index.pool("zebras " * 15_000, 10)) == 4
    assert len(index.pool("".join(map(chr, range(0x4E00, 0x4E00 + 3000))), 10)) == 0


def test_a_long_query_scores_like_a_short_one(index: LuceneIndex) -> None:
    short, long = (index.pool("zebra lions zebra" + " the" * n, 10) for n in (0, 500))
    assert short.rows.tolist() == long.rows.tolist()
    assert short.scores.tolist() == long.scores.tolist()


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("id7", 7),
        ("id39", 39),
        *((name, None) for name in ("ID7", "id", "", "id7 id8", "\ud800", "x" * 40_000)),
    ],
)
def test_a_document_is_there_by_its_whole_id(shared: LuceneIndex, name: str, row: int) -> None:
    assert shared.row_of(name) == row


def test_words_are_counted_as_they_are_searched(shared: LuceneIndex) -> None:
    counts = {"word7": 1, "Common": 40, "commons": 40, "long,": 39, "title": 40, "7": 1}
    counts |= {"unheard": 0, "common/unheard": 40, "\ud800": None, "": None}
    counts |= {"the": None, "THE": None, "of": None}  # type: ignore[dict-item]
    assert shared.document_counts(list(counts)) == list(counts.values())
    assert shared.document_counts([]) == []
    assert shared.document_counts([*STOP_WORDS]) == [None] * len(STOP_WORDS)


@pytest.mark.parametrize("bad", [0, -1])
def test_questions_out_of_range_are_refused(shared: LuceneIndex, bad: int) -> None:
    for size in (bad, 10_001):
        with pytest.raises(SearchError, match=f"size={size} must be from 1 to 10000"):
            shared.pool("common", size)
    for threads in (bad, 65):
        with pytest.raises(SearchError, match=f"threads={threads} must be from 1 to 64"):
            list(shared.pools(["common"], 5, threads=threads))


def test_what_java_raises_is_one_plain_line(index: LuceneIndex, tmp_path: Path) -> None:
    for action in (lambda: index.documents([99]), lambda: LuceneIndex(tmp_path / "none")):
        with pytest.raises(SearchError, match=r"Lucene says: [^\n]+$"):
            action()


def test_a_closed_index_says_so(index: LuceneIndex) -> None:
    index.close()
    index.close()
    with pytest.raises(SearchError, match="this index was closed; open it again"):
        index.pool("zebra", 1)


def test_what_was_dropped_is_not_found(tmp_path: Path) -> None:
    documents = [Document(name, "", text) for name, text in zip("abcbd", "ooono", strict=True)]
    index = index_of(documents, tmp_path, drop=[1])
    assert [document.id for document in index.documents(range(index.size))] == [*"acbd"]
    assert index.numbers(range(index.size)) == [0, 2, 3, 4]
    assert index.pool("o", 10).rows.tolist() == [0, 1, 3]
    assert index.pool("n", 10).rows.tolist() == [2]
    assert index.ids(np.array([3, 2, 1])).tolist() == ["d", "b", "c"]
    assert [index.row_of(name) for name in "abcd"] == [0, 2, 1, 3]


def test_a_writer_that_does_not_commit_leaves_nothing(tmp_path: Path) -> None:
    writer = LuceneWriter(tmp_path / "lucene")
    writer.add(Document("a", "", "text"))
    writer.close()
    with pytest.raises(SearchError, match="no segments"):
        LuceneIndex(tmp_path / "lucene")


def test_an_interrupt_while_a_thread_starts_leaves_none_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = LuceneWriter(tmp_path / "lucene")  # has sent nothing: closing starts its thread
    start, begun = threading.Thread.start, []

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        begun.append(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.close()
    (waiting,) = begun
    waiting.join(20)
    assert not waiting.is_alive()


def test_ids_come_in_bulk_in_any_order(shared: LuceneIndex) -> None:
    rows = np.array([7, 0, 39, 7, 12])
    assert shared.ids(rows).tolist() == ["id7", "id0", "id39", "id7", "id12"]
    assert shared.ids(np.array([], dtype=np.int64)).tolist() == []
    for row in (-1, 40):
        with pytest.raises(SearchError, match="rows must be from 0 to 39"):
            shared.ids(np.array([row]))


def test_ids_keep_every_character(tmp_path: Path) -> None:
    names = ["ä", "日本", "😀/1", "a b", "'\"\\", "e\u0301", "x" * 300]
    index = index_of([Document(name, "", "text") for name in names], tmp_path)
    assert index.ids(np.arange(len(names))).tolist() == names


QUERIES = ["common", "word3 word4", "", "long", "nothing", *(f"title {n}" for n in range(40))] * 3


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_batch_answers_as_one_by_one(shared: LuceneIndex, threads: int, size: int) -> None:
    pools = list(shared.pools(QUERIES, size, threads=threads))
    assert len(pools) == len(QUERIES) == 135  # over two blocks
    for query, pool in zip(QUERIES, pools, strict=True):
        alone = shared.pool(query, size)
        assert pool.rows.tolist() == alone.rows.tolist()
        assert pool.scores.tolist() == alone.scores.tolist()


def test_a_batch_is_searched_as_it_is_read(shared: LuceneIndex) -> None:
    pools = shared.pools(["common"] * 1000, 5)
    assert next(pools).rows.size == 5
    shared.pool("common", 1)  # nobody is kept waiting for the rest
    assert list(shared.pools([], 5)) == []


def test_a_deadline_that_holds_changes_nothing(shared: LuceneIndex) -> None:
    for query in QUERIES[:45]:
        timed, plain = shared.pool(query, 40, deadline=60), shared.pool(query, 40)
        assert timed.rows.tolist() == plain.rows.tolist()
        assert timed.scores.tolist() == plain.scores.tolist()


def test_past_the_deadline_there_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = index_of([Document(str(n), "", "same words") for n in range(5000)], tmp_path)
    # Lucene looks at its own clock before each block of documents, and finds no time there.
    monkeypatch.setattr("index.limits.QueryClock.left", lambda _clock: 0.0)
    with pytest.raises(TooSlow, match=r"longer than deadline=0.5 seconds; set a longer deadline$"):
        index.pool("same words", 10, deadline=0.5)
    monkeypatch.undo()
    assert len(index.pool("same words", 10, deadline=60)) == 10  # the next one has its own time


def test_explaining_ends_at_the_deadline(tmp_path: Path) -> None:
    words = [f"word{n}x" for n in range(1000)]
    index = index_of([Document(str(n), "", " ".join(words)) for n in range(100)], tmp_path)
    query = " ".join(words)
    (parts,) = index.explain(query, [7], deadline=60)
    assert {part.term for part in parts} == set(words)
    began = monotonic()
    with pytest.raises(TooSlow, match=r"deadline=0\.3 seconds; ask with fewer words"):
        index.explain(query, range(100), deadline=0.3)  # 100,000 explanations
    assert monotonic() - began < 2


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ("common", "seconds; set a longer deadline"),
        (" common long ", "seconds; set a longer deadline"),
        ("common long word7", "seconds; ask with fewer words or a smaller pool, or set a longer"),
    ],
)
def test_nobody_is_told_to_ask_with_less_than_a_word(
    shared: LuceneIndex, query: str, advice: str
) -> None:
    with pytest.raises(TooSlow, match=advice):
        shared.pool(query, 5, deadline=1e-9)


def test_waiting_for_ones_turn_counts(shared: LuceneIndex) -> None:
    with ThreadPoolExecutor(1) as other, jvm.talking:
        waiting = other.submit(shared.pool, "common", 5, deadline=0.05)
        with pytest.raises(TooSlow, match=r"deadline=0\.05"):
            waiting.result()
    assert len(shared.pool("common", 5, deadline=60)) == 5


def test_segments_make_no_difference(tmp_path: Path) -> None:
    documents = [Document(f"id{n}", f"title {n % 3}", f"same w{n % 5} w{n}") for n in range(60)]
    whole = index_of(documents, tmp_path / "whole")
    with closing(LuceneWriter(tmp_path / "parts" / "lucene")) as writer:
        for number, document in enumerate(documents):
            writer.add(document)
            if number % 20 == 19:
                writer.commit(one_segment=False)
    parts = LuceneIndex(tmp_path / "parts" / "lucene")
    assert parts._reader.leaves().size() == 3
    queries = ["same", "w3 title", "w7 w2 same", "w59"]
    for query, pool in zip(queries, parts.pools(queries, 40, threads=2), strict=True):
        expected = whole.pool(query, 40)
        assert pool.rows.tolist() == expected.rows.tolist()
        assert pool.scores.tolist() == expected.scores.tolist()
        assert parts.ids(pool.rows).tolist() == whole.ids(expected.rows).tolist()
        row = int(pool.rows[0])
        assert parts.explain(query, [row]) == whole.explain(query, [row])


def test_threads_get_their_own_answers(shared: LuceneIndex) -> None:
    def ask(task: int) -> bool:
        row = task % 40
        (document,) = shared.documents([row])
        found = shared.pool(f"word{row}", 3, deadline=60).rows.tolist()
        return (document.id, found) == (f"id{row}", [row])

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(ask, range(3000)))
    finally:
        sys.setswitchinterval(before)

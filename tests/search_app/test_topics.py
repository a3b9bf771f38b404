"""Topic files: TREC's tags as they come, lines, and what is refused with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_app.errors import UsageError
from search_app.topics import Topic, read_topics

OLD = """<top>

<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Airplane
  subsidies

<desc> Description:
Not searched.

<narr> Narrative:
Nor this, not even x < y.
</top>

<top>
<num> Number: 52
<title>
beans & roasting < 5 minutes
<desc>
"""
CLOSED = (
    "<TOP><NUM>Number: A-1</NUM><TITLE>Topic: green tea</TITLE><DESC>no</DESC></TOP>"
    "<top><num>A-2</num><title>black tea</title></top>"
)


def read(folder: Path, content: str | bytes) -> list[tuple[str, str, int, str]]:
    path = folder / "topics.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [(each.qid, each.query, each.line, each.user) for each in read_topics(path)]


def test_tags_are_not_closed_as_trec_writes_them(tmp_path: Path) -> None:
    assert read(tmp_path, OLD) == [
        ("051", "Airplane subsidies", 1, ""),
        ("52", "beans & roasting < 5 minutes", 16, ""),
    ]


def test_tags_may_be_closed_and_in_one_line(tmp_path: Path) -> None:
    expected = [("A-1", "green tea", 1, ""), ("A-2", "black tea", 1, "")]
    assert read(tmp_path, CLOSED) == expected
    assert read(tmp_path, gzip.compress(CLOSED.encode())) == expected


def test_a_top_that_is_not_closed_ends_where_the_next_begins(tmp_path: Path) -> None:
    text = "<top>\n<num> 1\n<title> one\n<top>\n<title> two\n<num> 2\n"
    assert read(tmp_path, text) == [("1", "one", 1, ""), ("2", "two", 4, "")]


def test_lines_of_two_columns_in_their_order(tmp_path: Path) -> None:
    text = "\ufeffq2\tzebra  lion\r\n\r\nq1\t panda \n"
    assert read(tmp_path, text) == [("q2", "zebra lion", 1, ""), ("q1", "panda", 3, "")]


def test_lines_of_three_columns_name_who_asks(tmp_path: Path) -> None:
    assert read(tmp_path, "1\tmira\tjava\n2\toren\tjava\n") == [
        ("1", "java", 1, "mira"),
        ("2", "java", 2, "oren"),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ": no topics; give TREC topics or lines of qid<TAB>query"),
        ("\n \n", ": no topics"),
        ("1\tzebra\n1\tlion\n", ", line 2: topic 1 is already in line 1"),
        ("1\tzebra\n2\t \n", ", line 2: topic 2 is empty; give it a title or query"),
        ("1\tzebra\nlion\n", ", line 2: 1 columns instead of 2; write qid<TAB>query"),
        ("zebra\n", ", line 1: 1 columns instead of 2 or 3"),
        ("1\ta\tb\tc\n", ", line 1: 4 columns instead of 2 or 3"),
        ("1\tmira\tzebra\n2\tlion\n", ", line 2: 2 columns instead of 3"),
        ("1\tmira\tzebra\n2\t\tlion\n", ", line 2: an empty column"),
        ("\tzebra\n", ", line 1: an empty column"),
        ("1 2\tzebra\n", ", line 1: the topic's number must be one word"),
        ("<top>\n<num> 1\n</top>\n", ", line 1: topic 1 is empty"),
        ("<top>\n<title> x\n</top>\n", ", line 1: the topic has no <num>"),
        ("<top>\n<num> 1\n<title> x\n<num> 2\n", ", line 4: <num> where no <top> has begun"),
        ("<num> 1\n<title> x\n", ", line 1: <num> where no <top> has begun; write <top> first"),
        ("<top><num>1<title>x</top>\n<top><num>1<title>y</top>", ", line 2: topic 1 is already"),
        (b"1\tzebra\n2\t\xff\n", ", line 2: not UTF-8; convert the file"),
        (gzip.compress(b"1\tzebra" * 99)[:-9], ": the topics can't be read"),
    ],
)
def test_faults_are_one_line_with_the_place(tmp_path: Path, text: str | bytes, told: str) -> None:
    with pytest.raises(UsageError) as fault:
        read(tmp_path, text)
    assert f"topics.txt{told}" in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file or directory"):
        read_topics(tmp_path / "none")


def test_a_packed_file_may_not_grow_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search_app.topics.MOST_BYTES", 1000)
    with pytest.raises(UsageError, match="topics of more than 1,000 bytes; split the file"):
        read(tmp_path, gzip.compress(b"1\tx" + b" " * 100_000))


@given(
    st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1), min_size=1)
)
def test_both_forms_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    words = [word.replace("<", "x").replace("\t", "x").lstrip("\ufeff") or "x" for word in words]
    folder = tmp_path_factory.mktemp("topics")
    lines = "".join(f"q{n}\t{word}\n" for n, word in enumerate(words))
    tags = "".join(
        f"<top>\n<num> Number: q{n}\n<title> Topic: {word}\n</top>\n"
        for n, word in enumerate(words)
    )
    one, other = read(folder, lines), read(folder, tags)
    assert [each[:2] for each in one] == [each[:2] for each in other]
    assert len(one) == len(words)


def test_a_topic_is_what_was_read() -> None:
    assert Topic("1", "zebra", 3).user == ""

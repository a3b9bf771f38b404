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
        ("51", "Airplane subsidies", 1, ""),
        ("52", "beans & roasting < 5 minutes", 16, ""),
    ]


def test_tags_may_be_closed_and_in_one_line(tmp_path: Path) -> None:
    expected = [("A-1", "green tea", 1, ""), ("A-2", "black tea", 1, "")]
    assert read(tmp_path, CLOSED) == expected
    assert read(tmp_path, gzip.compress(CLOSED.encode())) == expected


def test_a_top_that_is_not_closed_ends_where_the_next_begins(tmp_path: Path) -> None:
    text = "<top>\n<num> 1\n<title> one\n<top>\n<title> two\n<num> 2\n"
    assert read(tmp_path, text) == [("1", "one", 1, ""), ("2", "two", 4, "")]


def test_what_a_query_holds_says_nothing_of_the_form(tmp_path: Path) -> None:
    text = "1\twhat is <title> in html\n2\t<top> <num> 7\n3\t<head>\n"
    assert read(tmp_path, text) == [
        ("1", "what is <title> in html", 1, ""),
        ("2", "<top> <num> 7", 2, ""),
        ("3", "<head>", 3, ""),
    ]


def test_tags_inside_a_text_are_its_words(tmp_path: Path) -> None:
    text = (
        "\ufeff\n<?xml version='1.0'?>\n<!-- <top> of\n last year -->\n"
        '<top lang="en">\n<num lang="en"> Number: 7\n<title> the <head> and <title> tags\n'
        "<desc> Why <num> or <title> <top> is used.\n</top>\n"
        "<top>\n<num> 8 <title>a <desc> b</title> <desc>c</desc>\n</top>"
    )
    assert read(tmp_path, text) == [
        ("7", "the <head> and <title> tags", 5, ""),
        ("8", "a <desc> b", 10, ""),
    ]


@pytest.mark.parametrize(
    ("number", "read_as"), [("051", "51"), ("000", "0"), ("0a1", "0a1"), ("1.0", "1.0")]
)
def test_zeros_before_a_number_go_where_judgments_have_none(
    tmp_path: Path, number: str, read_as: str
) -> None:
    assert read(tmp_path, f"<top>\n<num> Number: {number}\n<title> x\n")[0][0] == read_as
    assert read(tmp_path, f"<topic number='{number}'><query>x</query></topic>")[0][0] == read_as
    assert read(tmp_path, f"{number}\tx\n")[0][0] == number


def test_web_tracks_xml(tmp_path: Path) -> None:
    text = """<?xml version="1.0" encoding="UTF-8"?>
<webtrack year="2012"> <!-- none -->
<topic number="151" type="single">
  <query>jam &amp; bread</query>
  <description>Not searched.</description>
</topic>
<!-- <topic number="1"><query>left out</query></topic>
-->
<topic type='faceted' number='152'> <query>rye
 flour</query> </topic>
</webtrack>
"""
    assert read(tmp_path, text) == [("151", "jam & bread", 3, ""), ("152", "rye flour", 9, "")]


def test_beirs_json_lines(tmp_path: Path) -> None:
    text = (
        '{"_id": "PLAIN-2", "text": "do\\tstatins", "metadata": {"url": "x"}}\n\n'
        '{ "text": "a \u2028 b", "_id": "007" }'
    )
    assert read(tmp_path, text) == [("PLAIN-2", "do statins", 1, ""), ("007", "a b", 3, "")]


def test_lines_with_colons(tmp_path: Path) -> None:
    text = "wt09:1:family tree\nwt09:2:java: the island\n"
    assert read(tmp_path, text) == [
        ("1", "family tree", 1, ""),
        ("2", "java: the island", 2, ""),
    ]
    assert read(tmp_path, "\n20:19:30 news\n") == [("20", "19:30 news", 2, "")]


@pytest.mark.parametrize("head", ["query_id\tquery", "QID\tQuery", "qid\tuser\tquery"])
def test_a_line_that_names_the_columns_is_skipped_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], head: str
) -> None:
    row = "query\tmira\tquery" if "user" in head else "query\tquery"
    assert [each[:3] for each in read(tmp_path, f"{head}\n{row}\n")] == [("query", "query", 2)]
    said = capsys.readouterr().err
    assert said == f"{tmp_path / 'topics.txt'}, line 1: the names of the columns are skipped\n"


def test_latin_1_is_read_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert read(tmp_path, b"1\tzebra\n2\tcaf\xe9\n")[1] == ("2", "caf\u00e9", 2, "")
    assert capsys.readouterr().err.endswith(
        "topics.txt, line 2: not UTF-8; the topics are read as Latin-1\n"
    )
    read(tmp_path, "1\tcaf\u00e9\n")
    assert capsys.readouterr().err == ""


def test_only_asciis_blanks_part_a_topics_number(tmp_path: Path) -> None:
    assert read(tmp_path, " a\u00a0b \tx\nc\u2028\ty\n") == [
        ("a\u00a0b", "x", 1, ""),
        ("c\u2028", "y", 2, ""),
    ]


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
        ("", ": no topics; give TREC's <top> or <topic number=...>, lines of qid<TAB>query"),
        ("\n \n", ": no topics"),
        ("1\tzebra\n1\tlion\n", ", line 2: topic 1 is already in line 1"),
        ("1\tzebra\n2\t \n", ", line 2: topic 2 is empty; give it a title or query"),
        ("1\tzebra\nlion\n", ", line 2: 1 columns instead of 2; write qid<TAB>query"),
        ("\nzebra\n", ", line 2: no form of topics that is read; give TREC's <top>"),
        ("1\ta\tb\tc\n", ", line 1: 4 columns instead of 2 or 3"),
        ("1\tmira\tzebra\n2\tlion\n", ", line 2: 2 columns instead of 3"),
        ("1\tmira\tzebra\n2\t\tlion\n", ", line 2: an empty column"),
        ("\tzebra\n", ", line 1: an empty column"),
        ("1 2\tzebra\n", ", line 1: the topic's number must be one word"),
        ("<top>\n<num> 1\n</top>\n", ", line 1: topic 1 is empty"),
        ("<top>\n<title> x\n</top>\n", ", line 1: the topic has no <num>"),
        ("<top>\n<num> 1\n<title> x\n<num> 2\n", ", line 4: <num> where no <top> has begun"),
        ("<num> 1\n<title> x\n", ", line 1: no form of topics that is read"),
        (
            "<top><num>2<title>x</top>\n<num> 1\n",
            ", line 2: <num> where no <top> has begun; write <top> first",
        ),
        ("<top><num>1<title>x</top>\n<top><num>1<title>y</top>", ", line 2: topic 1 is already"),
        ("1\tzebra\n".encode("utf-16"), ", line 1: not UTF-8; convert the file"),
        ("qid\tquery\n", ": no topics"),
        ("1:zebra\nlion\n", ", line 2: no number and colon; write qid:query"),
        ('{"_id": "1", "text": "a"}\n{"_id": "1"', ", line 2: not JSON; write one object"),
        ('{"_id": 1, "text": "a"}\n', ", line 1: a topic needs _id and text, both strings"),
        ('{"_id": "1", "text": " "}\n', ", line 1: topic 1 is empty"),
        ('{"_id": "a b", "text": "x"}\n', ", line 1: the topic's number must be one word"),
        ('{"_id": "\\ud800", "text": "x"}\n', ", line 1: the topic's number must be one word"),
        ("<topic number='1'>\nx</topic>\n", ", line 1: the topic has no query in <query>"),
        ("<r>\n<topic n='1'><query>x</query>", ", line 2: the topic has no number="),
        (gzip.compress(b"1\tzebra" * 99, mtime=0)[:-9], ": the topics can't be read"),
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

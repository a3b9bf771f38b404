"""Topic files: TREC's tags as they come, lines, and what is refused with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_app.errors import UsageError
from search_app.evaluation.topics import read_topics

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
beans &amp; &quot;roasting&quot; &lt; 5 minutes, R&D
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
        ("52", 'beans & "roasting" < 5 minutes, R&D', 16, ""),
    ]


def test_tags_may_be_closed_and_in_one_line(tmp_path: Path) -> None:
    expected = [("A-1", "green tea", 1, ""), ("A-2", "black tea", 1, "")]
    assert read(tmp_path, CLOSED) == expected
    assert read(tmp_path, gzip.compress(CLOSED.encode())) == expected


WEB = """<?xml version="1.0" encoding="UTF-8"?>
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
INSIDE = """\ufeff
<?xml version='1.0'?>
<!-- <top> of
 last year -->
<top lang="en">
<num lang="en"> Number: 7
<title> the <head> and <title> tags
<desc> Why <num> or <title> <top> is used.
</top>
<top>
<num> 8 <title>a <desc> b</title> <desc>c</desc>
</top>"""
JSON = """{"_id": "PLAIN-2", "text": "do\\tstatins", "metadata": {"url": "x"}}

{ "text": "a \u2028 b", "_id": "007" }"""
HOLDS_TAGS = "1\twhat is <title> in html\n2\t<top> <num> 7\n"


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("<top>\n<num> 1\n<title> one\n<top>\n<title> two\n<num> 2\n", ["1 1 one", "2 4 two"]),
        (HOLDS_TAGS, ["1 1 what is <title> in html", "2 2 <top> <num> 7"]),
        (INSIDE, ["7 5 the <head> and <title> tags", "8 10 a <desc> b"]),
        (WEB, ["151 3 jam & bread", "152 9 rye flour"]),
        (JSON, ["PLAIN-2 1 do statins", "007 3 a b"]),
        (
            "wt09:1:family tree\nwt09:2:java: the island\n",
            ["1 1 family tree", "2 2 java: the island"],
        ),
        ("\n20:19:30 news\n", ["20 2 19:30 news"]),
        (" a\u00a0b \tx\nc\u2028\ty\n", ["a\u00a0b 1 x", "c\u2028 2 y"]),  # only ASCII's part
        ("\ufeffq2\tzebra  lion\r\n\r\nq1\t panda \n", ["q2 1 zebra lion", "q1 3 panda"]),
        ("1\tmira\tjava\n2\toren\tjava\n", ["1 1 java mira", "2 2 java oren"]),
    ],
)
def test_each_form_is_read(tmp_path: Path, text: str, topics: list[str]) -> None:
    found = read(tmp_path, text)
    assert [f"{qid} {line} {query} {user}".strip() for qid, query, line, user in found] == topics


@pytest.mark.parametrize(
    ("number", "read_as"), [("051", "51"), ("000", "0"), ("0a1", "0a1"), ("1.0", "1.0")]
)
def test_zeros_before_a_number_go_where_judgments_have_none(
    tmp_path: Path, number: str, read_as: str
) -> None:
    assert read(tmp_path, f"<top>\n<num> Number: {number}\n<title> x\n")[0][0] == read_as
    assert read(tmp_path, f"<topic number='{number}'><query>x</query></topic>")[0][0] == read_as
    assert read(tmp_path, f"{number}\tx\n")[0][0] == number


@pytest.mark.parametrize("head", ["query_id\tquery", "QID\tQuery", "qid\tuser\tquery"])
def test_a_line_that_names_the_columns_is_skipped_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], head: str
) -> None:
    row = "query\tmira\tquery" if "user" in head else "query\tquery"
    assert [each[:3] for each in read(tmp_path, f"{head}\n{row}\n")] == [("query", "query", 2)]
    said = capsys.readouterr().err
    assert said == f"{tmp_path / 'topics.txt'}, line 1: skipped the line of column names\n"


@pytest.mark.parametrize(
    ("empty", "line"),
    [("2\t ", 2), ("<top>\n<num> 2\n<title>\n</top>", 2), ("<top><num> 2<title>&nbsp;</top>", 2)],
)
def test_empty_topics_are_skipped_and_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], empty: str, line: int
) -> None:
    full = "<top><num> 1<title>zebra</top>\n" if "<" in empty else "1\tzebra\n"
    assert [each[:2] for each in read(tmp_path, f"{full}{empty}\n")] == [("1", "zebra")]
    said = f"skipped topic 2 in line {line}: without a title or query\n"
    assert capsys.readouterr().err == f"{tmp_path / 'topics.txt'}: {said}"
    read(tmp_path, f"{full}{empty}\n{empty}\n")
    assert "topic 2 in line 2 and 1 more: without" in capsys.readouterr().err


def test_latin_1_is_read_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert read(tmp_path, b"1\tzebra\n2\tcaf\xe9\n")[1] == ("2", "caf\u00e9", 2, "")
    assert capsys.readouterr().err.endswith(
        "topics.txt, line 2: not UTF-8; the topics are read as Latin-1\n"
    )
    read(tmp_path, "1\tcaf\u00e9\n")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ": no topics; give TREC's <top> or <topic number=...>, lines of qid<TAB>query"),
        ("\n \n", ": no topics"),
        ("1\tzebra\n1\tlion\n", ", line 2: topic 1 is already in line 1"),
        ("1\t\n2\t \n", ": no topics; give TREC's <top>"),
        ("1\tzebra\nlion\n", ", line 2: 1 columns instead of 2; write qid<TAB>query"),
        ("\nzebra\n", ", line 2: not a known form of topics; give TREC's <top>"),
        ("1\ta\tb\tc\n", ", line 1: 4 columns instead of 2 or 3"),
        ("1\tmira\tzebra\n2\tlion\n", ", line 2: 2 columns instead of 3"),
        ("1\tmira\tzebra\n2\t\tlion\n", ", line 2: an empty column"),
        ("\tzebra\n", ", line 1: an empty column"),
        ("1 2\tzebra\n", ", line 1: the topic's number must be one word"),
        ("<top>\n<num> 1\n</top>\n", ": no topics; "),
        ("<top>\n<title> x\n</top>\n", ", line 1: the topic has no <num>"),
        ("<top>\n<num> 1\n<title> x\n<num> 2\n", ", line 4: <num> before any <top>"),
        ("<num> 1\n<title> x\n", ", line 1: not a known form of topics"),
        (
            "<top><num>2<title>x</top>\n<num> 1\n",
            ", line 2: <num> before any <top>; write <top> first",
        ),
        ("<top><num>1<title>x</top>\n<top><num>1<title>y</top>", ", line 2: topic 1 is already"),
        ("1\tzebra\n".encode("utf-16"), ", line 1: not UTF-8; convert the file"),
        ("qid\tquery\n", ": no topics"),
        ("1:zebra\nlion\n", ", line 2: no number and colon; write qid:query"),
        ('{"_id": "1", "text": "a"}\n{"_id": "1"', ", line 2: not JSON; write one object"),
        ('{"_id": 1, "text": "a"}\n', ", line 1: a topic needs _id and text, both strings"),
        ('{"_id": "1", "text": " "}\n', ": no topics; "),
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
    monkeypatch.setattr("search_app.evaluation.topics.MOST_BYTES", 1000)
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

"""TREC SGML: every wild form beside the document it must give."""

from __future__ import annotations

import html
import io
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.corpora import records
from index.corpora.trec import _split_title as split_title
from index.corpora.trec import read_trec
from index.model import Account, Document

from .conftest import READ, TREC


def trec(data: str | bytes) -> tuple[list[Document | str], Account]:
    account = Account()
    raw = data.encode() if isinstance(data, str) else data
    return [found for _, found in read_trec(io.BytesIO(raw), account)], account


def test_trec_documents_have_id_title_text_and_url() -> None:
    documents, account = trec(TREC)
    assert documents == READ
    assert account == Account()


@pytest.mark.parametrize(
    "data",
    [
        "<doc><docno>1</docno><title>T</title><text>one</text></doc>",
        "<Doc>\r\n<DocNo>\r\n1\r\n</DocNo><HEADLINE> T </HEADLINE>one</Doc>",
        "noise <DOC><DOCNO>1</DOCNO><hl>\n<P>T</P>\n</hl><BODY>one</BODY></DOC> noise",
        '<DOC id="x">\n<DOCNO>1<TITLE>T</TITLE><TEXT lang="en"><P>one</P></DOC>',
        "<DOC><DOCID>9</DOCID><DOCNO>1</DOCNO><TITLE></TITLE><TI>T</TI><!-- PJG -->one</DOC>",
        "<DOC><DOCNO>1</DOCNO><TITLE>T</TITLE><TEXT><![CDATA[one]]></TEXT></DOC >",
    ],
)
def test_trec_tags_may_stand_in_many_ways(data: str) -> None:
    assert trec(data * 2)[0] == [Document("1", "T", "one")] * 2


def test_trec_takes_the_first_title_that_ends_within_2000_characters() -> None:
    for length, title in ((2000, "x" * 2000), (2001, "T")):
        data = f"<DOCNO>1</DOCNO><TI>{'x' * length}</TI><TI></TI><ti>T</TI >rest"
        assert split_title(data)[0] == title
    assert split_title("<HL><TI>one</TI>") == ("one", "<HL> ")
    assert split_title("<HL><TI></HL>one</TI>") == ("", "<HL><TI></HL>one</TI>")
    assert split_title("</TI><TI><TI>one</TI></TI>") == ("one", "</TI> </TI>")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("AT&T and R&D", "AT&T and R&D"),
        ("R&region &copy", "R&region &copy"),
        ("1 < 2 && 3 > 2", "1 < 2 && 3 > 2"),
        ("x <y and z> w", "x <y and z> w"),
        ("&lt;DOC&gt; &amp;lt; &eacute;&#233;&#xe9;", "<DOC> &lt; ééé"),
        ("&odd; stays", "&odd; stays"),
        ("self&hyph;made&blank;man &AMP; co", "self-made man & co"),
    ],
)
def test_trec_keeps_a_lone_ampersand_or_less_than(raw: str, text: str) -> None:
    assert trec(f"<DOC><DOCNO>1</DOCNO>{raw}</DOC>")[0] == [Document("1", "", text)]


def test_trec_is_utf8_or_else_latin1_document_by_document() -> None:
    data = "<DOC><DOCNO>1</DOCNO>café</DOC>"
    documents, account = trec(data.encode() + data.encode("latin-1"))
    assert documents == [Document("1", "", "café")] * 2
    assert account.latin1 == 1


def test_trec_reads_a_truncated_last_document() -> None:
    cut = "<DOC><DOCNO>2</DOCNO><TEXT>half é".encode()[:-1]
    documents, account = trec(b"<DOC><DOCNO>1</DOCNO>whole</DOC>" + cut)
    assert documents == [Document("1", "", "whole"), Document("2", "", "half")]
    assert (account.truncated, account.latin1) == (1, 0)


@pytest.mark.parametrize("tail", ["<", "</", "</DO", "</DOC"])
def test_trec_shows_no_half_tag_of_a_truncated_document(tail: str) -> None:
    documents, account = trec(f"<DOC><DOCNO>1</DOCNO>half{tail}")
    assert documents == [Document("1", "", "half")]
    assert account.truncated == 1


def test_trec_closes_a_document_where_the_next_begins() -> None:
    documents, account = trec("<DOC><DOCNO>1</DOCNO>one<DOC><DOCNO>2</DOCNO>two</DOC>")
    assert documents == [Document("1", "", "one"), Document("2", "", "two")]
    assert account.truncated == 1


def test_trec_says_what_it_can_not_use() -> None:
    data = "<DOC>no number</DOC>\n<DOC><DOCNO> </DOCNO>x</DOC>\n<DOC>\n<DOCNO>3</DOCNO></DOC>"
    found = list(read_trec(io.BytesIO(data.encode()), Account()))
    assert found == [(1, records.NO_ID), (2, records.NO_ID), (3, records.NO_TEXT)]


def test_trec_skips_a_document_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LIMIT", 100)
    monkeypatch.setattr(records, "CHUNK", 64)
    data = f"<DOC><DOCNO>1</DOCNO>{'x ' * 500}</DOC><DOC><DOCNO>2</DOCNO>short</DOC>"
    assert trec(data)[0] == [records.TOO_LONG, Document("2", "", "short")]


printable = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=30)
identifier = st.text(string.ascii_letters + string.digits + "-._", min_size=1, max_size=12)


@given(st.lists(st.tuples(identifier, printable, printable), min_size=1, max_size=5))
def test_trec_gives_escaped_text_back(records: list[tuple[str, str, str]]) -> None:
    data = "".join(
        f"<DOC>\n<DOCNO> {name} </DOCNO>\n<TITLE>{html.escape(title)}</TITLE>\n"
        f"<TEXT>\n{html.escape(text)}\n</TEXT>\n</DOC>\n"
        for name, title, text in records
    )
    assert trec(data)[0] == [Document(*record) for record in records]

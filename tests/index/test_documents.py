"""Corpora on disk: what is read, what is skipped and counted, what is refused."""

from __future__ import annotations

import bz2
import gzip
import html
import io
import json
import os
import string
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index import formats
from index.documents import FORMATS, read_documents
from index.formats import read_jsonl, read_trec
from index.model import Account, Document, SearchError

TREC = """<DOC>
<DOCNO> A-1 </DOCNO>
<URL>http://example.org/1</URL>
<TITLE>Cats &amp; dogs</TITLE>
<TEXT>
A cat &lt;b&gt; sat.
</TEXT>
</DOC>
<DOC>
<DOCNO> A-2 </DOCNO>
<TEXT>second</TEXT>
</DOC>
"""
READ = [
    Document("A-1", "Cats & dogs", "A cat <b> sat.", "http://example.org/1"),
    Document("A-2", "", "second"),
]


def trec(data: str | bytes) -> tuple[list[Document | str], Account]:
    account = Account()
    raw = data.encode() if isinstance(data, str) else data
    return [found for _, found in read_trec(io.BytesIO(raw), account)], account


def jsonl(data: str | bytes) -> tuple[list[tuple[int, Document | str]], Account]:
    account = Account()
    raw = data.encode() if isinstance(data, str) else data
    return list(read_jsonl(io.BytesIO(raw), account)), account


def read(*paths: Path, form: str | None = None) -> tuple[list[str], Account]:
    account = Account()
    return [document.id for document in read_documents(paths, form, account)], account


def write(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


# --- TREC SGML ---


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
        assert formats._split_title(data)[0] == title
    assert formats._split_title("<HL><TI>one</TI>") == ("one", "<HL> ")
    assert formats._split_title("<HL><TI></HL>one</TI>") == ("", "<HL><TI></HL>one</TI>")
    assert formats._split_title("</TI><TI><TI>one</TI></TI>") == ("one", "</TI> </TI>")


@pytest.mark.parametrize("again", ["<TI>", "<TI>x<HL>", "<TI></TI>", "<TITLE></HL>"])
def test_trec_takes_a_title_in_linear_time(again: str) -> None:
    body = again * (1_000_000 // len(again))
    before = time.process_time()
    assert formats._split_title(body) == ("", body)
    assert time.process_time() - before < 2  # 0.1 to 0.3; 6 when each tag was sought in 2,000 more


def test_trec_fields_other_than_text_are_text_too() -> None:
    data = (
        "<DOC><DOCNO>1</DOCNO><BYLINE>by me</BYLINE><SUMMARY>short</SUMMARY><BODY>long</BODY></DOC>"
    )
    (document,) = trec(data)[0]
    assert isinstance(document, Document)
    assert document.text.split() == ["by", "me", "short", "long"]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("AT&T and R&D", "AT&T and R&D"),
        ("R&region &copy", "R&region &copy"),
        ("1 < 2 && 3 > 2", "1 < 2 && 3 > 2"),
        ("x <y and z> w", "x <y and z> w"),
        ("&lt;DOC&gt; &amp;lt; &eacute;&#233;&#xe9;", "<DOC> &lt; ééé"),
        ("&hyph; stays", "&hyph; stays"),
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
    assert found == [(1, formats.NO_ID), (2, formats.NO_ID), (3, formats.NO_TEXT)]


def test_trec_skips_a_document_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "LIMIT", 100)
    monkeypatch.setattr(formats, "CHUNK", 64)
    data = f"<DOC><DOCNO>1</DOCNO>{'x ' * 500}</DOC><DOC><DOCNO>2</DOCNO>short</DOC>"
    assert trec(data)[0] == [formats.TOO_LONG, Document("2", "", "short")]


@settings(deadline=None)
@given(st.integers(1, 40))
def test_trec_does_not_depend_on_where_chunks_end(chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formats, "CHUNK", chunk)
        assert trec(TREC)[0] == READ


printable = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=30)
identifier = st.text(string.ascii_letters + string.digits + "-._", min_size=1, max_size=12)


@settings(deadline=None)
@given(st.lists(st.tuples(identifier, printable, printable), min_size=1, max_size=5))
def test_trec_gives_escaped_text_back(records: list[tuple[str, str, str]]) -> None:
    data = "".join(
        f"<DOC>\n<DOCNO> {name} </DOCNO>\n<TITLE>{html.escape(title)}</TITLE>\n"
        f"<TEXT>\n{html.escape(text)}\n</TEXT>\n</DOC>\n"
        for name, title, text in records
    )
    assert trec(data)[0] == [Document(*record) for record in records]


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_trec_and_jsonl_take_any_bytes(data: bytes) -> None:
    for reader in FORMATS.values():
        list(reader(io.BytesIO(b"<DOC><DOCNO>1</DOCNO>" + data), Account()))
        list(reader(io.BytesIO(data), Account()))


@pytest.mark.parametrize(
    ("form", "start", "again", "documents"),
    [
        ("trec", b"", b"<DOC><DOCNO>1</DOCNO>" + b"word " * 200 + b"</DOC>", 5000),
        ("trec", b"<DOC><DOCNO>1</DOCNO>", b"never ending " * 100, 1),
        ("jsonl", b'{"id": 1, "text": "', b"never ending " * 100, 1),
    ],
)
def test_memory_stays_flat(
    monkeypatch: pytest.MonkeyPatch, form: str, start: bytes, again: bytes, documents: int
) -> None:
    monkeypatch.setattr(formats, "CHUNK", 1 << 14)
    monkeypatch.setattr(formats, "LIMIT", 1 << 16)
    stream = io.BytesIO(start + again * 5000)  # 5 MB or more
    tracemalloc.start()
    try:
        assert sum(1 for _ in FORMATS[form](stream, Account())) == documents
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()


# --- JSONL ---


def test_jsonl_objects_have_id_title_text_and_url() -> None:
    data = '{"id": "a", "title": "T", "text": "one", "url": "http://example.org"}\n'
    assert jsonl(data)[0] == [(1, Document("a", "T", "one", "http://example.org"))]


@pytest.mark.parametrize(
    "line",
    [
        '{"docno": "7", "contents": " one "}',
        '{"_id": 7, "title": null, "text": "one", "more": [1]}',
        '\ufeff{"id": " 7 ", "text": "one"}',
    ],
)
def test_jsonl_names_may_be_the_usual_others(line: str) -> None:
    assert jsonl(line)[0] == [(1, Document("7", "", "one"))]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", formats.NOT_JSON),
        ('["a"]', formats.NOT_JSON),
        ("[" * 100_000, formats.NOT_JSON),
        ('{"text": "x"}', formats.NO_ID),
        ('{"id": true, "text": "x"}', formats.NO_ID),
        ('{"id": " ", "text": "x"}', formats.NO_ID),
        ('{"id": 1}', formats.NO_TEXT),
        ('{"id": 1, "text": ["x"]}', formats.NOT_STRING),
        ('{"id": 1, "text": "x", "url": 5}', formats.NOT_STRING),
    ],
)
def test_jsonl_says_what_it_can_not_use(line: str, reason: str) -> None:
    good = '{"id": 2, "text": "x"}'
    assert jsonl(f"\n{line}\n{good}")[0] == [(2, reason), (3, Document("2", "", "x"))]


def test_jsonl_reads_latin1_and_counts_it() -> None:
    found, account = jsonl('{"id": 1, "text": "café"}'.encode("latin-1"))
    assert found == [(1, Document("1", "", "café"))]
    assert account.latin1 == 1


def test_jsonl_skips_a_line_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "LIMIT", 100)
    data = json.dumps({"id": 1, "text": "x" * 500}) + '\n{"id": 2, "text": "short"}'
    assert jsonl(data)[0] == [(1, formats.TOO_LONG), (2, Document("2", "", "short"))]


def test_nuls_and_lone_surrogates_are_cleaned() -> None:
    ((_, document),), _ = jsonl(r'{"id": 1, "text": "a\u0000b \ud800 \ud83d\ude00"}')
    assert document == Document("1", "", "a b ? 😀")


@pytest.mark.parametrize(
    ("longest", "too_long"), [("x" * 32_766, "x" * 32_767), ("é" * 16_383, "é" * 16_384)]
)
def test_ids_longer_than_lucene_takes_are_skipped(longest: str, too_long: str) -> None:
    assert formats.LONG_ID == "id longer than 32,766 bytes"
    for name, found in ((longest, Document(longest, "", "x")), (too_long, formats.LONG_ID)):
        assert trec(f"<DOC><DOCNO>{name}</DOCNO>x</DOC>")[0] == [found]
        assert jsonl(json.dumps({"id": name, "text": "x"}))[0] == [(1, found)]


# --- files and folders ---


def test_plain_gzip_and_bzip2_are_told_by_name_or_content(tmp_path: Path) -> None:
    one, two = '{"id": "one", "text": "x"}', '{"id": "two", "text": "x"}'
    files = [
        write(tmp_path / "a.trec", TREC),
        write(tmp_path / "b.JSONL.GZ", gzip.compress(one.encode())),
        write(tmp_path / "c.bz2", bz2.compress(two.encode())),
        write(tmp_path / "d", gzip.compress(TREC.encode())),
    ]
    assert read(*files)[0] == ["A-1", "A-2", "one", "two", "A-1", "A-2"]


def test_folders_are_read_to_the_bottom_and_every_file_is_counted(tmp_path: Path) -> None:
    write(tmp_path / "readme.trec", TREC)
    write(tmp_path / "cr" / "dtds" / "deep 😀.jsonl", '{"id": "deep", "text": "x"}\n{')
    notes = write(tmp_path / "notes.txt", "just notes with a <DOC> in them")
    empty = write(tmp_path / "z.trec", "")
    found, account = read(tmp_path)
    assert found == ["deep", "A-1", "A-2"]
    assert account.read == 3
    assert account.skipped == {
        "unknown format": 1,
        formats.NOT_JSON: 1,
        "no document found": 1,
    }
    assert account.first_skips == [
        (str(notes), "whole file", "unknown format"),
        (str(tmp_path / "cr" / "dtds" / "deep 😀.jsonl"), "line 2", formats.NOT_JSON),
        (str(empty), "whole file", "no document found"),
    ]


def test_only_the_first_skips_are_kept_but_all_are_counted(tmp_path: Path) -> None:
    account = read(write(tmp_path / "a.jsonl", "{\n" * 50))[1]
    assert account.skipped == {formats.NOT_JSON: 50}
    assert [where for _, where, _ in account.first_skips] == [f"line {n}" for n in range(1, 21)]


def test_a_named_format_overrules_the_suffix(tmp_path: Path) -> None:
    assert read(write(tmp_path / "a.jsonl", TREC), form="trec")[0] == ["A-1", "A-2"]


def refused(action: Callable[[], object]) -> str:
    with pytest.raises(SearchError) as caught:
        action()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_missing_files_and_unknown_formats_are_refused_before_reading(tmp_path: Path) -> None:
    good, odd = write(tmp_path / "a.trec", TREC), write(tmp_path / "b.txt", "odd")
    account = Account()
    assert "no such file" in refused(
        lambda: list(read_documents([good, tmp_path / "none"], None, account))
    )
    assert "unknown format" in refused(lambda: list(read_documents([good, odd], None, account)))
    assert "one of trec, jsonl" in refused(lambda: read(good, form="pdf"))
    assert account.read == 0


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """Paths that can't be opened; not by their modes, which root may ignore."""
    paths: set[Path] = set()
    opened, scanned = Path.open, os.scandir

    def refuse(path: Path) -> None:
        if path in paths:
            raise PermissionError(13, "Permission denied", str(path))

    def maybe_open(path: Path, *arguments: Any, **named: Any) -> Any:
        refuse(path)
        return opened(path, *arguments, **named)

    def maybe_scan(path: str) -> Any:
        refuse(Path(path))
        return scanned(path)

    monkeypatch.setattr(Path, "open", maybe_open)
    monkeypatch.setattr(os, "scandir", maybe_scan)
    return paths


@pytest.mark.parametrize("form", [None, "trec"])
def test_what_can_not_be_opened_in_a_folder_is_skipped(
    tmp_path: Path, locked: set[Path], form: str | None
) -> None:
    write(tmp_path / "a.trec", TREC)
    write(tmp_path / "closed" / "b.trec", TREC)
    secret = write(tmp_path / "open" / "c.trec", TREC)
    os.mkfifo(tmp_path / "d.trec")
    locked |= {tmp_path / "closed", secret}
    found, account = read(tmp_path, form=form)
    assert found == ["A-1", "A-2"]
    denied = "cannot be opened (Permission denied); see to its rights"
    assert account.first_skips == [
        (str(tmp_path / "closed"), "whole folder", denied),
        (
            str(tmp_path / "d.trec"),
            "whole file",
            "not a regular file; save it to a file first",
        ),
        (str(secret), "whole file", denied),
    ]


@pytest.mark.parametrize("form", [None, "trec"])
def test_what_is_named_and_can_not_be_opened_is_refused_before_reading(
    tmp_path: Path, locked: set[Path], form: str | None
) -> None:
    good = write(tmp_path / "a.trec", TREC)
    closed, secret = tmp_path / "closed", write(tmp_path / "closed" / "b.trec", TREC)
    locked |= {closed, secret}
    account = Account()
    for path in (closed, secret):
        said = refused(lambda path=path: list(read_documents([good, path], form, account)))
        assert said == f"{path}: cannot be opened (Permission denied); see to its rights"
    assert account.read == 0


@pytest.mark.parametrize("form", [None, "trec"])
def test_a_pipe_is_refused(tmp_path: Path, form: str | None) -> None:
    """It would be opened twice, and what the first opening took would be lost."""
    os.mkfifo(tmp_path / "pipe")
    said = refused(lambda: read(tmp_path / "pipe", form=form))
    assert said == f"{tmp_path / 'pipe'}: not a regular file; save it to a file first"
    taken, given = os.pipe()
    os.write(given, TREC.encode())
    os.close(given)
    assert "not a regular file" in refused(lambda: read(Path(f"/dev/fd/{taken}"), form=form))
    os.close(taken)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.trec.gz", b"\x1f\x8bgarbage"),
        ("a.trec.gz", b"no gzip at all"),
        ("a.trec.gz", gzip.compress(TREC.encode())[:-9]),
        ("a.trec.gz", gzip.compress(TREC.encode())[:-30] + b"\0" * 30),
        ("a.trec.bz2", b"BZh9garbage"),
        ("a.trec.bz2", bz2.compress(TREC.encode())[:-9]),
    ],
)
def test_packed_files_that_can_not_be_unpacked_are_refused(
    tmp_path: Path, name: str, data: bytes
) -> None:
    path = write(tmp_path / name, data)
    assert str(path) in refused(lambda: read(path))

"""Corpora on disk: what is read, what is skipped and counted, what is refused."""

from __future__ import annotations

import gzip
import io
import json
import os
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.corpora import records
from index.corpora.files import BESIDE_CORPUS, LINK_TO_NOTHING, NO_CORPUS, QUERIES, READ_ALREADY
from index.corpora.lines import NOT_JSON, read_jsonl
from index.corpora.reading import RECORDS, read_documents
from index.corpora.trec import read_trec
from index.model import FIRST_FILES, FIRST_RECORDS, MOST_SKIPS, Account, Document, SearchError

from .conftest import TREC


def read(*paths: Path, form: str | None = None) -> tuple[list[str], Account]:
    account = Account()
    return [document.id for document in read_documents(paths, form, account)], account


def write(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_folders_are_read_to_the_bottom_and_every_file_is_counted(tmp_path: Path) -> None:
    write(tmp_path / "readme.trec", TREC)
    write(tmp_path / "cr" / "dtds" / "deep 😀.jsonl", '{"id": "deep", "text": "x"}\n{')
    notes = write(tmp_path / "notes.doc", "just notes with a <DOC> in them")
    empty = write(tmp_path / "z.trec", "")
    found, account = read(tmp_path)
    assert found == ["deep", "A-1", "A-2"]
    assert account.read == 3
    assert account.skipped == {
        "unknown format": 1,
        NOT_JSON: 1,
        "no document found": 1,
    }
    assert account.first_skips == [
        (str(tmp_path / "cr" / "dtds" / "deep 😀.jsonl"), "line 2", NOT_JSON),
        (str(notes), "whole file", "unknown format"),
        (str(empty), "whole file", "no document found"),
    ]


def test_a_named_format_overrules_the_suffix(tmp_path: Path) -> None:
    assert read(write(tmp_path / "a.jsonl", TREC), form="trec")[0] == ["A-1", "A-2"]


def refused(action: Callable[[], object]) -> str:
    with pytest.raises(SearchError) as caught:
        action()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_missing_files_and_unknown_formats_are_refused_before_reading(tmp_path: Path) -> None:
    good, odd = write(tmp_path / "a.trec", TREC), write(tmp_path / "b.doc", "odd")
    account = Account()
    assert "no such file" in refused(
        lambda: list(read_documents([good, tmp_path / "none"], None, account))
    )
    assert "unknown format" in refused(lambda: list(read_documents([good, odd], None, account)))
    known = "trec, jsonl, beir, tsv, csv, pdf, html, markdown, text, wordnet, irds"
    assert refused(lambda: read(good, form="nope")) == f"format=nope must be one of {known}"
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
    denied = "can't be opened (Permission denied); check its rights"
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
        assert said == f"{path}: can't be opened (Permission denied); check its rights"
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


def test_a_broken_file_in_a_folder_is_counted_and_what_stands_before_the_break_is_read(
    tmp_path: Path,
) -> None:
    lines = "".join(f'{{"id": {n}, "text": "{n * n}"}}\n' for n in range(20_000))
    cut = gzip.compress(lines.encode())[:-2000]
    broken = write(tmp_path / "b.jsonl.gz", cut)
    write(tmp_path / "c.trec.gz", b"no gzip at all")
    write(tmp_path / "a.trec", TREC)
    write(tmp_path / "z.jsonl", '{"id": "z", "text": "x"}')
    found, account = read(tmp_path)
    assert found[:3] == ["A-1", "A-2", "0"]
    assert found[-1] == "z"
    whole = len(found) - 3
    assert 15_000 < whole < 20_000
    assert found[2:-1] == [str(n) for n in range(whole)]
    assert account.first_skips[0] == (
        str(broken),
        f"after line {whole}",
        "broken archive (it is cut off)",
    )
    assert sum(account.skipped.values()) == 2
    assert "it is cut off" in refused(lambda: read(broken))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no /proc here")
@pytest.mark.parametrize("form", [None, "trec"])
def test_a_named_file_that_can_not_be_read_is_told_as_such(form: str | None) -> None:
    said = refused(lambda: read(Path("/proc/self/mem"), form=form))
    why = "can't be read (Input/output error); check the file and its disk"
    assert said == f"/proc/self/mem: {why}"


def test_a_file_that_goes_while_others_are_read_is_counted(tmp_path: Path) -> None:
    write(tmp_path / "a.trec", TREC)
    gone = write(tmp_path / "b.trec", TREC)
    account = Account()
    documents = read_documents([tmp_path], None, account)
    next(documents)
    gone.unlink()
    assert [document.id for document in documents] == ["A-2"]
    assert account.skipped == {"can't be read further (No such file or directory)": 1}


def test_progress_is_in_bytes_on_disk_and_never_falls(tmp_path: Path) -> None:
    rows = "".join(f'{{"id": {n}, "text": "{n**9}"}}\n' for n in range(30_000)).encode()
    files = [
        write(tmp_path / "a.jsonl", rows),
        write(tmp_path / "b.jsonl.gz", gzip.compress(rows)),
        write(tmp_path / "c.doc", "not a document"),
    ]
    account = Account()
    seen = [account.done for _ in read_documents([tmp_path], None, account)]
    sizes = [file.stat().st_size for file in files]
    assert account.size == account.done == sum(sizes)
    assert seen == sorted(seen)
    assert sizes[0] * 0.4 < seen[15_000] < sizes[0] * 0.6
    assert sizes[0] < seen[35_000] < sizes[0] + sizes[1] == seen[-1]
    json.dumps(asdict(account))


def test_of_a_beir_folder_only_the_corpus_is_read(tmp_path: Path) -> None:
    line = '{"_id": "%s", "title": "", "text": "x"}'
    write(tmp_path / "one" / "corpus.jsonl.gz", gzip.compress((line % "doc").encode()))
    queries = write(tmp_path / "one" / "queries.jsonl", line % "query")
    write(tmp_path / "one" / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\n")
    more = write(tmp_path / "one" / "more.jsonl", line % "more")
    for form in (None, "beir"):
        found, account = read(tmp_path, form=form)
        assert found == ["doc"]
        assert sorted(account.first_skips) == [
            (str(more), "whole file", NO_CORPUS),
            (str(tmp_path / "one" / "qrels"), "whole folder", BESIDE_CORPUS),
            (str(queries), "whole file", BESIDE_CORPUS),
        ]
    assert read(more, form="beir")[0] == ["more"]


def test_queries_and_judgments_are_left_out_of_folders_by_name(tmp_path: Path) -> None:
    collection = write(tmp_path / "collection.tsv", "1\tone\n")
    queries = write(tmp_path / "queries.dev.tsv", "9\tnine\n")
    write(tmp_path / "qrels.dev.tsv", "9\t0\t1\t1\n")
    write(tmp_path / "topics.trec", TREC)
    found, account = read(tmp_path)
    assert found == ["1", "A-1", "A-2"]
    assert account.skipped == {QUERIES: 2}
    assert read(collection, queries)[0] == ["1", "9"]


def test_linked_folders_are_read_once(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside / "deep" / "a.trec", TREC)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "first").symlink_to(outside, target_is_directory=True)
    (inside / "second").symlink_to(outside / "deep", target_is_directory=True)
    (outside / "deep" / "up").symlink_to(outside, target_is_directory=True)
    (inside / "gone.trec").symlink_to(tmp_path / "nothing")
    found, account = read(inside)
    assert found == ["A-1", "A-2"]
    assert account.skipped == {
        READ_ALREADY: 2,
        LINK_TO_NOTHING: 1,
    }


def test_links_to_nothing_and_in_circles_hide_nothing(tmp_path: Path) -> None:
    write(tmp_path / "a.trec", TREC)
    for name, target in (("circle.trec", "circle.trec"), ("gone.trec", "nothing")):
        (tmp_path / name).symlink_to(tmp_path / target)
        said = refused(lambda name=name: read(tmp_path / name))
        assert said == f"{tmp_path / name}: {LINK_TO_NOTHING}"
    found, account = read(tmp_path)
    assert found == ["A-1", "A-2"]
    assert account.skipped == {LINK_TO_NOTHING: 2}


PIECES = [TREC.encode(), b'{"id": 1, "text": "x"}\n', b"1\tone\n2\ttwo\n"]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Draw a valid file that was cut, flipped, doubled or filled with rubbish."""
    data = bytearray(b"".join(draw(st.lists(st.sampled_from(PIECES), max_size=3))))
    for _ in range(draw(st.integers(0, 4))):
        at, size = draw(st.integers(0, len(data))), draw(st.integers(0, 30))
        match draw(st.integers(0, 3)):
            case 0:
                del data[at : at + size]
            case 1:
                data[at:at] = data[at : at + size]
            case 2:
                data[at:at] = draw(st.binary(max_size=20))
            case _:
                data[at : at + 1] = bytes(byte ^ 1 << size % 8 for byte in data[at : at + 1])
    return bytes(data)


@given(st.binary(max_size=300) | mutated(), st.integers(1, 40))
def test_readers_take_any_bytes_whatever_the_chunks(data: bytes, chunk: int) -> None:
    for reader in RECORDS.values():
        account, other = Account(), Account()
        found = list(reader(io.BytesIO(data), account))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(records, "CHUNK", chunk)
            assert list(reader(io.BytesIO(data), other)) == found
        assert other == account
        assert all(isinstance(document, Document | str) and line >= 1 for line, document in found)


@pytest.mark.parametrize(
    ("form", "start", "again", "documents"),
    [
        ("trec", b"", b"<DOC><DOCNO>1</DOCNO>" + b"word " * 200 + b"</DOC>", 5000),
        ("trec", b"<DOC><DOCNO>1</DOCNO>", b"never ending " * 100, 1),
        ("jsonl", b'{"id": 1, "text": "', b"never ending " * 100, 1),
        ("tsv", b"1\t", b"never ending " * 100, 1),
    ],
)
def test_memory_stays_flat(
    monkeypatch: pytest.MonkeyPatch, form: str, start: bytes, again: bytes, documents: int
) -> None:
    monkeypatch.setattr(records, "CHUNK", 1 << 14)
    monkeypatch.setattr(records, "LIMIT", 1 << 16)
    stream = io.BytesIO(start + again * 5000)  # 5 MB or more
    tracemalloc.start()
    try:
        assert sum(1 for _ in RECORDS[form](stream, Account())) == documents
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("longest", "too_long"), [("x" * 32_766, "x" * 32_767), ("é" * 16_383, "é" * 16_384)]
)
def test_ids_longer_than_lucene_takes_are_skipped(longest: str, too_long: str) -> None:
    assert records.LONG_ID == "id longer than 32,766 bytes"
    for name, found in ((longest, Document(longest, "", "x")), (too_long, records.LONG_ID)):
        data = f"<DOC><DOCNO>{name}</DOCNO>x</DOC>".encode()
        assert list(read_trec(io.BytesIO(data), Account())) == [(1, found)]
        data = json.dumps({"id": name, "text": "x"}).encode()
        assert list(read_jsonl(io.BytesIO(data), Account())) == [(1, found)]


def test_the_first_places_of_each_reason_are_kept() -> None:
    account = Account()
    for number in range(1, 101):
        account.skip("a.jsonl", f"line {number}", NOT_JSON)
        account.skip(f"{number}.pdf", "whole file", "unknown format")
    account.skip("z.jsonl.gz", "after line 7", "broken archive (it is cut off)")
    assert account.skipped == {
        NOT_JSON: 100,
        "unknown format": 100,
        "broken archive (it is cut off)": 1,
    }
    files = [file for file, _, _ in account.first_skips]
    lines = [where for file, where, _ in account.first_skips if file == "a.jsonl"]
    assert lines == [f"line {number}" for number in range(1, FIRST_RECORDS + 1)]
    assert len(files) == FIRST_RECORDS + FIRST_FILES + 1 == 5 + 20 + 1
    assert files[-1] == "z.jsonl.gz"


def test_no_number_of_reasons_fills_the_memory_with_places() -> None:
    account = Account()
    for number in range(2 * MOST_SKIPS):
        account.skip("a.zip", "whole file", f"broken archive (member {number})")
    assert len(account.first_skips) == MOST_SKIPS
    assert len(account.skipped) == 2 * MOST_SKIPS

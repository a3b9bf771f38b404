"""Packed files and archives: every layer, every break, flat memory."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
import tarfile
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.corpora.files import NO_CORPUS, QUERIES_INSIDE
from index.corpora.packing import NOT_A_FILE, NOT_SEEKABLE, TOO_DEEP
from index.corpora.reading import EMPTY, UNKNOWN, read_documents
from index.model import Account, SearchError

from .test_lzw import compress
from .test_reading import read, write

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ROWS = b"".join(b'{"id": %d, "text": "otter %d"}\n' % (n, n * n) for n in range(60))
IDS = [str(n) for n in range(60)]


def tar(members: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as archive:
        for name, data in members.items():
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))
    return made.getvalue()


def zipped(members: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": zstd.compress,
    "Z": compress,
    "tar": lambda data: tar({"part.jsonl": data}),
    "zip": lambda data: zipped({"part.jsonl": data}),
}


def refused(path: Path) -> str:
    with pytest.raises(SearchError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", ["rows.jsonl.", "ROWS.", "part1.0z."])
def test_each_packing_is_told_by_its_first_bytes(tmp_path: Path, packing: str, name: str) -> None:
    path = write(tmp_path / f"{name}{packing}", PACKINGS[packing](ROWS))
    assert read(path)[0] == read(tmp_path)[0] == IDS
    if packing != "zip":  # office files are zips too, so a zip must say that it is one
        assert read(write(tmp_path / "fr940104.0z", PACKINGS[packing](ROWS)))[0] == IDS


@pytest.mark.parametrize("outer", PACKINGS)
@pytest.mark.parametrize("inner", ["gz", "bz2", "zst", "Z", "tar"])
def test_packings_may_be_packed(tmp_path: Path, outer: str, inner: str) -> None:
    path = write(tmp_path / f"rows.{inner}.{outer}", PACKINGS[outer](PACKINGS[inner](ROWS)))
    assert read(path)[0] == IDS


@pytest.mark.parametrize("packing", ["gz", "bz2", "zst"])
def test_packed_pieces_may_be_joined_and_filled_up(tmp_path: Path, packing: str) -> None:
    pack = PACKINGS[packing]
    joined = pack(ROWS[:100]) + pack(b"") + pack(ROWS[100:]) + b"\0" * 1000
    assert read(write(tmp_path / f"rows.jsonl.{packing}", joined))[0] == IDS


def test_members_are_named_after_their_archive(tmp_path: Path) -> None:
    members = {"a/one.jsonl": ROWS, "b.jsonl": b"{\n", "notes": b"notes", "empty.trec": b""}
    for pack, suffix in ((tar, "tar"), (zipped, "zip")):
        path = write(tmp_path / f"corpus.{suffix}", pack(members))
        found, account = read(path)
        assert found == IDS
        assert account.first_skips == [
            (f"{path}/b.jsonl", "line 1", "not a JSON object"),
            (f"{path}/notes", "whole file", UNKNOWN),
            (f"{path}/empty.trec", "whole file", EMPTY),
        ]
    assert read(write(tmp_path / "none.zip", zipped({})))[1].skipped == {EMPTY: 1}


INSIDE = {
    "scifact/corpus.jsonl": b'{"_id": "7", "text": "otters"}',
    "scifact/queries.jsonl": b'{"_id": "7", "text": "a query in its place"}',
    "scifact/qrels/test.tsv": b"7\tjudged",
    "collection.tsv": b"8\tpandas",
    "queries.dev.tsv.gz": gzip.compress(b"8\ta query in its place"),
    "qrels.dev.tsv": b"8\tjudged",
}


@pytest.mark.parametrize("name", ["all.zip", "all.tar.gz"])
@pytest.mark.parametrize("form", [None, "beir"])
def test_queries_and_judgments_are_left_out_of_archives_too(
    tmp_path: Path, name: str, form: str | None
) -> None:
    data = zipped(INSIDE) if name == "all.zip" else gzip.compress(tar(INSIDE))
    path = write(tmp_path / name, data)
    account = Account()
    found = {(d.id, d.text) for d in read_documents([path], form, account)}
    left_out = dict.fromkeys([*INSIDE][1:], QUERIES_INSIDE) | {"collection.tsv": NO_CORPUS}
    if form is None:
        del left_out["collection.tsv"]
    assert found == {("7", "otters")} | ({("8", "pandas")} if form is None else set())
    assert account.first_skips == [
        (f"{path}/{member}", "whole file", left_out[member])
        for member in INSIDE
        if member in left_out
    ]


def test_an_archive_is_not_left_out_for_its_own_name(tmp_path: Path) -> None:
    rows = b'{"id": "7", "text": "otters"}'
    path = write(tmp_path / "qrels" / "queries.tar", tar({"part.jsonl": rows}))
    assert read(path)[0] == ["7"]
    packed = write(tmp_path / "queries.jsonl.gz", gzip.compress(rows))
    assert read(packed)[0] == read(packed, form="beir")[0] == ["7"]


def test_office_files_are_no_archives(tmp_path: Path) -> None:
    write(tmp_path / "letter.docx", zipped({"document.jsonl": ROWS}))
    assert read(tmp_path)[1].skipped == {UNKNOWN: 1}


def test_what_can_not_be_read_in_an_archive_is_counted(tmp_path: Path) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("empty.jsonl"))
        link = tarfile.TarInfo("link.jsonl")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        inner = zipped({"a.jsonl": ROWS})
        header = tarfile.TarInfo("inner.zip")
        header.size = len(inner)
        archive.addfile(header, io.BytesIO(inner))
    account = read(write(tmp_path / "odd.tar", made.getvalue()))[1]
    assert account.skipped == {EMPTY: 1, NOT_A_FILE: 1, NOT_SEEKABLE: 1}


def test_a_file_that_unpacks_without_end_is_left_out(tmp_path: Path) -> None:
    data = ROWS
    for _ in range(4):
        data = gzip.compress(data)
    assert read(write(tmp_path / "four", data))[0] == IDS
    found, account = read(write(tmp_path / "five", gzip.compress(data)))
    assert (found, account.skipped) == ([], {TOO_DEEP: 1})


def test_a_broken_member_of_a_zip_does_not_hide_the_others(tmp_path: Path) -> None:
    data = bytearray(zipped({"a.jsonl": ROWS, "b.jsonl": b"{}"}, zipfile.ZIP_STORED))
    at = data.index(b"otter 9")
    data[at] ^= 1  # its checksum tells
    path = write(tmp_path / "corpus.zip", bytes(data))
    account = read(tmp_path)[1]
    assert account.skipped == {"broken archive (Bad CRC-32 for file 'a.jsonl')": 1, "no id": 1}
    assert str(path) in refused(path)


def test_an_encrypted_zip_is_counted(tmp_path: Path) -> None:
    data = zipped({"a.jsonl": ROWS}, zipfile.ZIP_STORED)
    local, central = data.index(b"PK\3\4"), data.index(b"PK\1\2")
    flagged = bytearray(data)
    flagged[local + 6] |= 1
    flagged[central + 8] |= 1
    write(tmp_path / "secret.zip", bytes(flagged))
    ((_, where, reason),) = read(tmp_path)[1].first_skips
    assert where == "whole file"
    assert "encrypted" in reason


def test_a_name_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        path = write(tmp_path / "long.tar", tar({"x" * 1000: ROWS, "y" * 100_000: ROWS}, form))
        assert read(tmp_path)[0] == IDS
        assert "a name of more than 65,536 bytes" in refused(path)


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_file_cut_anywhere_gives_what_stands_before_the_cut(tmp_path: Path, packing: str) -> None:
    whole = PACKINGS[packing](ROWS)
    for size in range(1, len(whole), len(whole) // 60 + 1):
        path = write(tmp_path / f"rows.jsonl.{packing}", whole[:size])
        found, account = read(tmp_path)
        assert found == IDS[: len(found)]
        # compress writes no end, so a file that is cut behind a row seems whole.
        seems_whole = len(found) == len(IDS) or packing == "Z"
        assert seems_whole or sum(account.skipped.values()) >= 1
        try:
            assert read(path)[0] == found
        except SearchError as error:
            assert str(path) in str(error)


@pytest.mark.parametrize("packing", ["gz", "bz2", "zst", "Z"])
def test_all_rows_before_a_cut_are_read(tmp_path: Path, packing: str) -> None:
    """Half of the packed bytes give some rows at least, though a block of bzip2 is 900 kB."""
    rows = b"".join(b'{"id": %d, "text": "otter %d"}\n' % (n, n**9) for n in range(60_000))
    packed = PACKINGS[packing](rows)
    write(tmp_path / "rows.jsonl", packed[: len(packed) * 3 // 4])
    found, account = read(tmp_path)
    assert 20_000 < len(found) < 60_000
    assert found == [str(n) for n in range(len(found))]
    assert sum(account.skipped.values()) == 1


@pytest.mark.parametrize("packing", ["gz", "bz2", "zst", "tar"])
def test_a_bomb_is_read_in_flat_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str
) -> None:
    monkeypatch.setattr("index.corpora.records.LIMIT", 1 << 20)
    size = 30 << 20
    bomb = PACKINGS[packing](b'{"id": 1, "text": "' + b"x" * size)
    write(tmp_path / "bomb.jsonl", bomb if packing != "tar" else gzip.compress(bomb))
    del bomb
    tracemalloc.start()
    try:
        account = read(tmp_path)[1]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert account.read == 0
    assert sum(account.skipped.values()) == 1
    assert peak < 8 << 20


@given(st.sampled_from([*PACKINGS]), st.data())
def test_damaged_packings_give_documents_skips_or_one_error(
    packing: str, data: st.DataObject
) -> None:
    packed = bytearray(PACKINGS[packing](ROWS))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(packed) - 1))
        match data.draw(st.integers(0, 2)):
            case 0:
                packed[at] ^= 1 << data.draw(st.integers(0, 7))
            case 1:
                packed[at:at] = packed[at : at + 50]
            case _:
                packed[at : at + 4] = data.draw(st.binary(min_size=1, max_size=4))
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder, f"rows.{packing}"), bytes(packed))
        found, account = read(Path(folder))
        assert account.read == len(found)
        assert found or account.skipped
        assert account.done == account.size == len(packed)
        try:
            assert read(path)[0] == found
        except SearchError as error:
            assert str(path) in str(error)

"""An index on disk: whole or absent, and never served with a byte changed."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from index import manifest as manifests
from index.build import build_index, update_index
from index.forward.writing import ForwardWriter
from index.lucene.blocks import BlockWriter
from index.lucene.jvm import start
from index.manifest import read_manifest
from index.model import Account, Document, SearchError
from index.opening import check_index, open_index

from .conftest import Build, Counter, words


def test_an_index_opens_and_searches(toys: list[Document], build: Build, tmp_path: Path) -> None:
    lucene, forward = open_index(build(toys, tmp_path / "new" / "köln 😀 x"))
    assert lucene.pool("panda", 10).rows.tolist() == [4]
    assert forward.documents == lucene.size == 5
    columns = forward.columns(["panda", "zebra"])
    cosines = forward.cosines(np.arange(5), forward.target(columns, np.array([1.0, 0.0]), "tf"))
    assert cosines.tolist() == pytest.approx([0, 0, 0, 0, 0.5**0.5])
    assert forward.columns(["pumas", "example"]).tolist()[0] >= 0  # titles count, URLs don't
    assert forward.columns(["example"]).tolist() == [-1]


def test_a_manifest_says_what_was_built(toys: list[Document], tmp_path: Path) -> None:
    account = Account(read=5, skipped={"no text": 2})
    seen: list[int] = []
    folder = tmp_path / "index"
    made = build_index(
        toys, Counter(words), folder, account=account, bm25=(1.2, 0.75), progress=seen.append
    )
    assert made == read_manifest(folder)
    assert made["counts"] == {"documents": 5, "terms": 6}
    assert made["account"]["skipped"] == {"no text": 2}
    assert (made["format"], made["k1"], made["b"]) == (2, 1.2, 0.75)
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert set(made["files"]) == there - {"manifest.json"}
    assert seen == [1, 2, 3, 4, 5]
    assert check_index(folder) == []


def test_the_settings_of_the_build_hold_when_opened(toys: list[Document], tmp_path: Path) -> None:
    for k1, scores in ((0, 1), (1000, 3)):  # the least and the most; two of four are always equal
        build_index(toys, Counter(words), tmp_path / str(k1), account=Account(), bm25=(k1, 0.4))
        found = open_index(tmp_path / str(k1))[0].pool("zebra", 10).scores.tolist()
        assert (len(found), len(set(found))) == (4, scores)


@pytest.mark.parametrize("together", [1, BlockWriter.most])
def test_of_duplicates_the_last_one_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    """Also where each document is a block of its own, so that a duplicate is in another one."""
    monkeypatch.setattr(BlockWriter, "most", together)
    account = Account()
    documents = [Document(name, "", f"{name} text{n}") for n, name in enumerate("abacab")]
    made = build_index(documents, Counter(str.split), tmp_path / "index", account=account)
    assert account.duplicates == made["account"]["duplicates"] == 3
    lucene, forward = open_index(tmp_path / "index")
    assert lucene.documents(range(lucene.size)) == [documents[n] for n in (3, 4, 5)]
    for row, kept in enumerate((3, 4, 5)):
        assert lucene.pool(f"text{kept}", 10).rows.tolist() == [row]
        cosines = forward.cosines(
            np.arange(3), forward.target(forward.columns([f"text{kept}"]), np.ones(1))
        )
        assert np.flatnonzero(cosines).tolist() == [row]
    assert "text0" not in forward.terms
    assert len(lucene.pool("text0", 10)) == 0


def failing(documents: list[Document]) -> Iterator[Document]:
    yield from documents
    raise SearchError("broken corpus")


def test_a_failed_build_leaves_nothing(toys: list[Document], tmp_path: Path) -> None:
    for documents, account, message in (
        (failing(toys), Account(), "broken corpus"),
        ([], Account(skipped={"no id": 3}), r"there is no document .* \(skipped: no id: 3\)"),
        ([Document("x" * 40_000, "", "a")], Account(), "Lucene says"),
    ):
        with pytest.raises(SearchError, match=message):
            build_index(documents, Counter(words), tmp_path / "index", account=account)
        assert list(tmp_path.iterdir()) == []


def state(status: os.stat_result) -> tuple[int, int, int]:
    """Tell a file by its inode, and whether it was written to since it was synced."""
    written = (0, 0) if stat.S_ISDIR(status.st_mode) else (status.st_size, status.st_mtime_ns)
    return status.st_ino, *written


@pytest.mark.parametrize("updated", [False, True])
def test_all_of_an_index_is_on_the_disk_before_it_has_its_name(
    toys: list[Document],
    build: Build,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    updated: bool,
) -> None:
    old, folder = build(toys[:3], tmp_path / "old"), tmp_path / "new"
    sync, rename = os.fsync, os.rename
    before: set[tuple[int, int, int]] = set()
    after: list[int] = []

    def record_sync(handle: int) -> None:
        sync(handle)
        if folder.exists():
            after.append(os.fstat(handle).st_ino)
        else:
            before.add(state(os.fstat(handle)))

    def record_rename(source: Path, target: Path) -> None:
        if target == folder:  # a power cut from here on must find all of it
            inside = [source, *source.rglob("*")]
            missing = [path.name for path in inside if state(path.stat()) not in before]
            assert (missing, len(inside) > 15) == ([], True)
        rename(source, target)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(os, "rename", record_rename)
    if updated:
        update_index(old, toys[3:], Counter(words), folder, account=Account())
    else:
        build(toys, folder)
    assert after == [tmp_path.stat().st_ino]  # the name itself


def test_a_folder_that_is_there_is_refused(
    toys: list[Document], build: Build, tmp_path: Path
) -> None:
    with pytest.raises(SearchError, match="exists already"):
        build(toys, tmp_path)


def test_an_index_that_can_not_be_opened_is_not_left(
    toys: list[Document], build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ForwardWriter, "drop", lambda *_: None)
    with pytest.raises(SearchError, match="different documents"):
        build([toys[0], *toys], tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


def test_java_in_a_folder_that_the_locale_cannot_write_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def launch(_home: str) -> None:
        "\udce2".encode()

    monkeypatch.setattr("jnius_config.vm_running", False)
    monkeypatch.setattr("index.lucene.jvm._launch", launch)
    with pytest.raises(SearchError, match="set PYTHONUTF8=1"):
        start()


def test_python_recurses_deeply_beside_java() -> None:
    """Java's guard pages on the main thread's stack would crash the process."""
    start()
    with pytest.raises(RecursionError):
        json.loads("[" * 100_000)


def refusal(folder: Path) -> str:
    with pytest.raises(SearchError) as caught:
        open_index(folder)
    (fault, *_) = check_index(folder)
    assert "\n" not in str(caught.value)
    assert fault in str(caught.value)
    return str(caught.value)


def test_every_character_of_the_manifest_counts(
    toys: list[Document], build: Build, tmp_path: Path
) -> None:
    path = build(toys, tmp_path / "index") / "manifest.json"
    good = path.read_bytes()
    for at in range(0, len(good), 7):
        path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
        with pytest.raises(SearchError, match="build it again"):
            read_manifest(path.parent)


def test_cut_missing_and_foreign_files_are_named(
    toys: list[Document], build: Build, tmp_path: Path
) -> None:
    folder = build(toys, tmp_path / "index")
    (folder / "lucene" / "segments_2").write_bytes(b"x")
    (folder / "forward" / "tf.npy").unlink()
    cut = folder / "forward" / "df.npy"
    cut.write_bytes(cut.read_bytes()[:-1])
    assert check_index(folder) == [
        "lucene/segments_2 does not belong to the index",
        f"forward/df.npy has {cut.stat().st_size} bytes instead of {cut.stat().st_size + 1}",
        "forward/tf.npy is missing",
    ]
    assert "segments_2" in refusal(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"checksum": 1}', "\xff", "[" * 100_000])
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text, encoding="latin-1")
    assert "build it again with" in refusal(tmp_path)
    assert "no index here" in refusal(tmp_path / "none")


def test_another_format_is_refused(
    toys: list[Document], build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build(toys, tmp_path / "index")
    monkeypatch.setattr(manifests, "FORMAT", 3)
    assert "format=2 of the index must be 3" in refusal(folder)


def test_halves_of_two_indexes_are_refused(
    toys: list[Document], build: Build, tmp_path: Path
) -> None:
    """Sealed anew, as if built so: only the documents' numbers tell."""
    folder = build(toys, tmp_path / "one")
    other = build([toys[0], *toys], tmp_path / "two")  # its rows have the numbers 1 to 5
    manifest = {**read_manifest(folder), "files": {}}
    shutil.rmtree(folder / "forward")
    shutil.copytree(other / "forward", folder / "forward")
    (folder / "manifest.json").unlink()
    manifests.write_manifest(folder, manifest)
    assert "different documents" in refusal(folder)

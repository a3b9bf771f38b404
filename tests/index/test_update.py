"""Adding and deleting later: the same index as one built anew, to the byte where that can be."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.build import build_index, check_index, open_index, update_index
from index.manifest import read_manifest
from index.model import Account, Document, SearchError

from .conftest import Build, Counter, words

QUERIES = ("zebra", "lion tiger", "panda", "bamboo puma zebra")


def update(
    old: Path, added: Sequence[Document], folder: Path, delete: Sequence[str] = ()
) -> tuple[Account, dict[str, int]]:
    account = Account()
    made = update_index(old, added, Counter(words), folder, delete=delete, account=account)
    return account, made["changes"][-1]


def found(folder: Path, query: str) -> list[tuple[str, float]]:
    lucene, _ = open_index(folder)
    pool = lucene.pool(query, 100)
    names = [document.id for document in lucene.documents(pool.rows.tolist())]
    lucene.close()
    return list(zip(names, pool.scores.tolist(), strict=True))


def assert_as_if_built(folder: Path, documents: Sequence[Document], room: Path) -> None:
    """Compare an updated index with one built anew: rankings, forward index, fingerprint."""
    anew = room / "anew"
    build_index(documents, Counter(words), anew, account=Account())
    for query in QUERIES:
        assert found(folder, query) == found(anew, query)
    for path in (anew / "forward").iterdir():
        if path.name != "numbers.npy":
            assert path.read_bytes() == (folder / "forward" / path.name).read_bytes(), path.name
    assert read_manifest(folder)["fingerprint"] == read_manifest(anew)["fingerprint"]
    assert read_manifest(folder)["counts"] == read_manifest(anew)["counts"]
    assert check_index(folder) == []


def test_added_documents_are_found(toys: list[Document], build: Build, tmp_path: Path) -> None:
    old = build(toys, tmp_path / "old")
    more = [Document("d5", "Okapi", "zebra giraffe"), Document("d6", "", "panda panda")]
    _, change = update(old, more, tmp_path / "new")
    assert (change["added"], change["replaced"], change["deleted"]) == (2, 0, 0)
    assert [name for name, _ in found(tmp_path / "new", "giraffe")] == ["d5"]
    assert sorted(name for name, _ in found(tmp_path / "new", "panda")) == ["d4", "d6"]
    assert_as_if_built(tmp_path / "new", [*toys, *more], tmp_path)


def test_deleted_documents_are_gone_from_both_halves(
    toys: list[Document], build: Build, tmp_path: Path
) -> None:
    old = build(toys, tmp_path / "old")
    _, change = update(old, [], tmp_path / "new", delete=["d4", "d4", "d1", "nobody"])
    assert (change["deleted"], change["missing"]) == (2, 1)
    assert found(tmp_path / "new", "panda") == []
    assert open_index(tmp_path / "new")[1].columns(["panda"]).tolist() == [-1]
    assert_as_if_built(tmp_path / "new", [toys[0], toys[2], toys[3]], tmp_path)


def test_an_added_document_replaces_the_one_with_its_id(
    toys: list[Document], build: Build, tmp_path: Path
) -> None:
    old = build(toys, tmp_path / "old")
    first, again = Document("d0", "", "puma"), Document("d0", "", "okapi")
    account, change = update(old, [first, again], tmp_path / "new")
    assert account.duplicates == 1  # within what was added
    assert (change["added"], change["replaced"]) == (1, 1)
    assert_as_if_built(tmp_path / "new", [*toys[1:], again], tmp_path)


def test_the_old_folder_is_not_touched(toys: list[Document], build: Build, tmp_path: Path) -> None:
    old = build(toys, tmp_path / "old")
    before = {path: path.read_bytes() for path in old.rglob("*") if path.is_file()}
    opened, _ = open_index(old)
    update(old, [Document("d9", "", "panda")], tmp_path / "new", delete=["d0"])
    assert {path: path.read_bytes() for path in old.rglob("*") if path.is_file()} == before
    assert len(opened.pool("zebra", 9)) == 4  # whoever has it open goes on
    assert check_index(old) == []


def test_files_that_stay_are_shared(toys: list[Document], build: Build, tmp_path: Path) -> None:
    old = build(toys, tmp_path / "old")
    update(old, [Document("d9", "", "panda")], tmp_path / "new")
    shared = [path for path in (tmp_path / "new" / "lucene").iterdir() if path.stat().st_nlink == 2]
    assert len(shared) > 8


def test_where_files_cannot_be_shared_they_are_copied(
    toys: list[Document], build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    update(build(toys, tmp_path / "old"), [Document("d9", "", "panda")], tmp_path / "new")
    assert_as_if_built(tmp_path / "new", [*toys, Document("d9", "", "panda")], tmp_path)


def test_a_damaged_index_is_not_extended(
    toys: list[Document], build: Build, tmp_path: Path
) -> None:
    """Sealing it anew would pass the damage on as if it were right."""
    old = build(toys, tmp_path / "old")
    path = next((old / "lucene").glob("*.fdt"))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(SearchError, match="has changed since it was built"):
        update(old, [Document("d9", "", "panda")], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_no_document_left_is_refused(toys: list[Document], build: Build, tmp_path: Path) -> None:
    old = build(toys, tmp_path / "old")
    with pytest.raises(SearchError, match="no document is left"):
        update(old, [], tmp_path / "new", delete=[toy.id for toy in toys])
    with pytest.raises(SearchError, match=r"none of the ids to delete \(asked for: 2\)"):
        update(old, [], tmp_path / "new", delete=["x", "y", "x"])
    with pytest.raises(SearchError, match=r"nothing was added \(skipped: none\)"):
        update(old, [], tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_an_update_that_comes_again_goes_through(
    toys: list[Document], build: Build, tmp_path: Path
) -> None:
    old = build(toys, tmp_path / "old")
    added = [Document("d9", "", "panda")]
    update(old, added, tmp_path / "new", delete=["d0"])
    _, change = update(tmp_path / "new", added, tmp_path / "again", delete=["d0"])
    assert change["missing"] == change["replaced"] == change["added"] == 1
    assert_as_if_built(tmp_path / "again", [*toys[1:], *added], tmp_path)


ids = st.integers(0, 5).map("d{}".format)
animals = st.sampled_from(["zebra", "lion", "tiger", "panda", "bamboo"])
texts = st.lists(animals, min_size=1, max_size=6)
documents = st.lists(st.builds(Document, ids, st.just(""), texts.map(" ".join)), max_size=6)


@settings(max_examples=30, deadline=None)
@given(documents.filter(bool), st.lists(st.tuples(documents, st.sets(ids)), max_size=3))
def test_any_updates_give_the_index_built_anew(
    first: list[Document], changes: list[tuple[list[Document], set[str]]]
) -> None:
    with TemporaryDirectory() as name:
        room, folder = Path(name), Path(name, "0")
        build_index(first, Counter(words), folder, account=Account())
        left = last_of(first)
        for step, (added, deleted) in enumerate(changes, 1):
            expected = last_of([d for d in left if d.id not in deleted] + added)
            gone = deleted & {document.id for document in left}
            if not expected or not (added or gone):
                with pytest.raises(SearchError):
                    update(folder, added, room / str(step), sorted(deleted))
                continue
            update(folder, added, room / str(step), sorted(deleted))
            folder, left = room / str(step), expected
        assert_as_if_built(folder, left, room)
        lucene, forward = open_index(folder)
        assert lucene.ids(np.arange(len(left))).tolist() == [document.id for document in left]
        assert (np.diff(forward.numbers) > 0).all()
        lucene.close()


def last_of(documents: Sequence[Document]) -> list[Document]:
    """Leave the last document with each id, where it stands."""
    last = {document.id: at for at, document in enumerate(documents)}
    return [documents[at] for at in sorted(last.values())]

"""Adding and deleting later: the same index as one built anew, to the byte where that can be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.build import build_index, update_index
from index.manifest import read_manifest
from index.model import Account, Document, SearchError
from index.opening import check_index, open_index

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


def test_what_is_added_replaced_and_deleted_is_counted(
    toys: list[Document], build: Build, tmp_path: Path
) -> None:
    old = build(toys, tmp_path / "old")
    okapi = Document("d5", "Okapi", "zebra giraffe")
    first, again = Document("d0", "", "puma"), Document("d0", "", "okapi")
    gone = ["d4", "d4", "d1", "nobody"]
    account, change = update(old, [okapi, first, again], tmp_path / "new", gone)
    assert account.duplicates == 1  # within what was added
    assert (change["added"], change["replaced"]) == (2, 1)
    assert (change["deleted"], change["missing"]) == (2, 1)
    assert [name for name, _ in found(tmp_path / "new", "giraffe")] == ["d5"]
    assert found(tmp_path / "new", "panda") == []
    assert open_index(tmp_path / "new")[1].columns(["panda"]).tolist() == [-1]
    assert_as_if_built(tmp_path / "new", [toys[2], toys[3], okapi, again], tmp_path)


def test_no_document_left_is_refused(toys: list[Document], build: Build, tmp_path: Path) -> None:
    old = build(toys, tmp_path / "old")
    with pytest.raises(SearchError, match="there is no document"):
        update(old, [], tmp_path / "new", delete=[toy.id for toy in toys])
    with pytest.raises(SearchError, match=r"none of the 2 ids to delete"):
        update(old, [], tmp_path / "new", delete=["x", "y", "x"])
    with pytest.raises(SearchError, match=r"nothing was added \(skipped: none\)"):
        update(old, [], tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


ids = st.integers(0, 5).map("d{}".format)
animals = st.sampled_from(["zebra", "lion", "tiger", "panda", "bamboo"])
texts = st.lists(animals, min_size=1, max_size=6)
documents = st.lists(st.builds(Document, ids, st.just(""), texts.map(" ".join)), max_size=6)


@settings(max_examples=15)
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

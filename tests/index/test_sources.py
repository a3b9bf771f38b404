"""What has become of the files that an index was read from."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.corpora.files import is_same, noted
from index.corpora.reading import read_documents
from index.model import Account, SearchError
from index.sources import FILE, changes_of, read_sources, write_sources


def notes(folder: Path, *paths: Path) -> Path:
    """Read all documents of `paths`, and note their files in `folder`."""
    account = Account()
    list(read_documents(paths, None, account))
    folder.mkdir(exist_ok=True)
    write_sources(folder, account.sources)
    return folder


def write(path: Path, text: str, modified: int = 1_000) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (modified, modified))
    return path


def test_new_changed_and_gone_files_are_told_from_others(tmp_path: Path) -> None:
    room = tmp_path / "a"
    for name in ("touched", "same", "edited", "gone"):
        write(room / f"{name}.txt", "text one")
    rows = write(room / "rows.jsonl", '{"id": "r1", "text": "x"}\n{"id": "r2", "text": "x"}\n')
    other = write(tmp_path / "b" / "copy.jsonl", '{"id": "r2", "text": "x"}')
    known = read_sources(notes(tmp_path / "notes", room, tmp_path / "b"))
    write(room / "touched.txt", "text one", 2_000)
    write(room / "edited.txt", "text two", 2_000)  # as long as before
    write(room / "new.txt", "text one")
    write(rows, '{"id": "r1", "text": "x"}')
    (room / "gone.txt").unlink()
    found = changes_of([room], None, known)
    assert found.new == [str(room / "new.txt")]
    assert found.changed == [str(room / "edited.txt"), str(rows)]
    assert found.gone == [str(room / "gone.txt")]
    assert found.same == {str(room / "same.txt"), str(room / "touched.txt")}
    assert found.ids == ["edited.txt", "gone.txt", "r1"]  # r2 is in the other folder, too
    other.unlink()
    assert changes_of([room], None, known).gone == [str(room / "gone.txt")]


def test_what_several_files_have_is_read_again_from_all_of_them(tmp_path: Path) -> None:
    first, last = (
        write(tmp_path / name, f'{{"id": "x", "text": "{name}"}}') for name in ("a.json", "b.json")
    )
    other = write(tmp_path / "c.txt", "text")
    known = read_sources(notes(tmp_path / "notes", first, last, other))
    last.unlink()
    found = changes_of([first, tmp_path], None, known)
    assert (found.gone, found.same, found.ids) == ([str(last)], {str(other)}, [])


def test_a_change_that_keeps_size_and_time_is_found(tmp_path: Path) -> None:
    file = write(tmp_path / "a" / "a.txt", "text one")
    source = replace(noted(file), modified=file.stat().st_ctime_ns)
    assert is_same(file, source)
    before = file.stat()
    while file.stat().st_ctime_ns == before.st_ctime_ns:  # the disk's clock ticks
        write(file, "text two")
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert not is_same(file, source)
    file.unlink()
    assert not is_same(file, source)


def test_a_folder_whose_disk_is_not_there_is_refused(tmp_path: Path) -> None:
    room = tmp_path / "a"
    write(room / "x.txt", "text")
    known = read_sources(notes(tmp_path / "notes", room))
    (room / "x.txt").unlink()
    with pytest.raises(SearchError, match=r"none of 1 files is there any more"):
        changes_of([room], None, known)
    assert read_sources(tmp_path) == {}
    (tmp_path / FILE).write_text("[]\n")
    with pytest.raises(SearchError, match=r"sources.jsonl is damaged"):
        read_sources(tmp_path)


def test_a_file_that_changes_at_once_is_read_by_its_hash(tmp_path: Path) -> None:
    """The disk's clock may not tell two changes apart."""
    path = tmp_path / "a" / "x.txt"
    write(path, "text one")
    path.touch()
    facts = path.stat()
    known = read_sources(notes(tmp_path / "notes", path))
    write(path, "text two")
    os.utime(path, ns=(facts.st_mtime_ns, facts.st_mtime_ns))
    assert changes_of([path], None, known).changed == [str(path)]


FILES = st.dictionaries(st.sampled_from("abcde"), st.sampled_from(["one", "two"]), min_size=1)


@given(FILES, FILES)
def test_an_update_reads_what_differs_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], after: dict[str, str]
) -> None:
    tmp = tmp_path_factory.mktemp("t")
    for name, text in before.items():
        write(tmp / "a" / f"{name}.txt", text)
    known = read_sources(notes(tmp / "notes", tmp / "a"))
    shutil.rmtree(tmp / "a")
    for name, text in after.items():
        write(tmp / "a" / f"{name}.txt", text, 2_000)
    found, account = changes_of([tmp / "a"], None, known), Account()
    names = [
        document.id.removesuffix(".txt")
        for document in read_documents([tmp / "a"], None, account, but=found.same)
    ]
    assert set(names) == {name for name in after if before.get(name) != after[name]}
    assert {Path(path).stem for path in found.gone} == before.keys() - after.keys()

"""An index looked through as a whole: what doctor finds, and that looking leaves no trace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from index.build import update_index
from index.inspection import check_lucene, differing_rows, inspect_index
from index.manifest import read_manifest, write_manifest
from index.model import Account, Document
from index.opening import check_index

from .conftest import Build, Counter, words


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return all files of a folder, with the times of their last change."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}


@pytest.fixture
def folder(build: Build, toys: Sequence[Document], tmp_path: Path) -> Path:
    return build(toys, tmp_path / "a place ☕" / "index")


def test_a_good_index_is_good_and_looking_leaves_no_trace(folder: Path) -> None:
    before = state(folder)
    assert inspect_index(folder) == []
    assert state(folder) == before


def test_a_folder_that_may_not_be_written_to_is_looked_through(folder: Path) -> None:
    places = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for place in places:
        place.chmod(0o555)
    try:
        assert inspect_index(folder) == []
    finally:
        for place in places:
            place.chmod(0o755)


def test_an_updated_index_is_good(folder: Path, tmp_path: Path) -> None:
    newer = tmp_path / "newer"
    added = [Document("d5", "", "zebra gnu"), Document("d1", "", "lion gnu")]
    update_index(folder, added, Counter(words), newer, delete=["d3"], account=Account())
    assert inspect_index(newer) == []


def test_a_flipped_byte_in_any_of_lucenes_files_is_found_by_lucene(folder: Path) -> None:
    files = sorted((folder / "lucene").iterdir())
    assert files
    for path in files:
        good = path.read_bytes()
        middle = len(good) // 2
        path.write_bytes(good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :])
        [found] = check_lucene(folder / "lucene") or inspect_index(folder)
        assert "Lucene" in found, path.name
        assert found.endswith("; build it again with: veilsearch index CORPUS"), path.name
        assert "\n" not in found
        path.write_bytes(good)
    assert check_lucene(folder / "lucene") == []


def test_what_a_sample_of_rows_would_not_show_is_found(build: Build, tmp_path: Path) -> None:
    folder = build([Document(f"d{row}", "", "zebra") for row in range(200)], tmp_path / "index")
    path = next((folder / "forward").glob("numbers*.npy"))
    numbers = np.load(path)
    numbers[[1, 2]] = numbers[[2, 1]]
    np.save(path, numbers)
    write_manifest(folder, read_manifest(folder))  # as if it had been built so
    assert check_index(folder) == []
    [found] = inspect_index(folder)
    assert "2 rows are different documents" in found
    assert "the first is row 1; build it again" in found


def test_halves_of_different_lengths_are_found(
    folder: Path, build: Build, toys: Sequence[Document], tmp_path: Path
) -> None:
    other = build(toys[:4], tmp_path / "other")
    (folder / "forward").rename(folder / "former")
    (other / "forward").rename(folder / "forward")
    [found] = differing_rows(folder)
    assert "Lucene and the forward index have different documents" in found


@pytest.mark.parametrize("missing", ["", "lucene", "forward"])
def test_what_is_missing_is_one_line(folder: Path, missing: str) -> None:
    (folder / missing).rename(folder.with_name("elsewhere"))
    lines = inspect_index(folder)
    assert lines
    assert not any("\n" in line for line in lines)

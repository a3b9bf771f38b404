"""The one atomic writer: what a sweep beside it may take, and what it must spare."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

import pytest

from anonymizer.storage import files


@pytest.mark.parametrize("folder", [False, True])
def test_a_sweep_between_making_and_locking_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: bool
) -> None:
    """Another writer of the place sweeps just then; what this one writes arrives all the same."""
    place, lock, swept = tmp_path / "town.tsv", files._lock, []

    def late(file: IO[bytes], *, refused: bool = False) -> None:
        if not swept:
            swept.append(True)
            files.sweep_for(place, folders=folder)
            assert not list(tmp_path.glob(".town.tsv.*"))
        lock(file, refused=refused)

    monkeypatch.setattr(files, "_lock", late)
    if folder:
        with files.replaced_folder(place) as new:
            (new / "file").write_bytes(b"whole")
    else:
        with files.replaced_whole(place) as file:
            file.write(b"whole")
    assert ((place / "file") if folder else place).read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [place]


def test_what_a_living_writer_holds_is_spared(tmp_path: Path) -> None:
    place = tmp_path / "town.tsv"
    with files.replaced_whole(place) as file:
        file.write(b"whole")
        files.sweep_for(place, folders=False)
    assert place.read_bytes() == b"whole"


def test_what_is_the_users_own_is_spared(tmp_path: Path) -> None:
    """A folder that is called like a file under way, and a link to one."""
    place, foreign = tmp_path / "town.tsv", tmp_path / "foreign"
    (tmp_path / ".town.tsv.veil1234" / "old").mkdir(parents=True)
    foreign.mkdir()
    (tmp_path / ".town.tsv.veil5678").symlink_to(foreign)
    for _ in range(2):
        with files.replaced_whole(place) as file:
            file.write(b"whole")
    assert place.read_bytes() == b"whole"
    assert (tmp_path / ".town.tsv.veil1234" / "old").is_dir()
    assert not list(foreign.iterdir())


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    """Its bytes may be those of another release, which a link shares with it."""
    (tmp_path / "old").write_bytes(b"whole")
    os.link(tmp_path / "old", tmp_path / "new")
    with pytest.raises(FileExistsError):
        files.write_file(tmp_path / "new", [b"other"])
    assert (tmp_path / "old").read_bytes() == b"whole"

"""A workspace copied into a file, while it is served, and back into an empty folder [I/O]."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from anonymizer.storage.files import replaced_whole, sync_folder, write_file

from ..accounts.database import FILE
from ..accounts.store import PeopleStore
from ..errors import UsageError, plain_when_writing
from ..workspace.folder import CURRENT, Workspace
from ..workspace.replacing import Replacement
from ..workspace.tables import copy_tables, is_database
from .archive import read_archive, write_archive

_STAGED = ".restoring"
_MAIN = ".sqlite"  # how the one file of a database ends that holds all of it


def back_up(workspace: Workspace, target: Path, cache: Path) -> int:
    """Write all files of `workspace` but its `cache` into the file `target`; return how many.

    Nobody else writes files meanwhile. People go on searching: databases are copied by SQLite.
    """
    workspace.check()
    if target.exists():
        raise UsageError(f"{target} is there already; name a new file")
    if target.resolve().is_relative_to(workspace.root.resolve()):
        raise UsageError(f"{target} is in the workspace itself; name a file elsewhere")
    with (
        replaced_whole(target, 0o600, plain_when_writing) as file,
        workspace.writing("backup"),
        Replacement(workspace) as aside,  # the next writer removes it if this one is killed
    ):
        scratch = aside.scratch
        outside = {cache.resolve(), scratch.parent.resolve()}
        write_archive(file, _contents(workspace.root, scratch, outside))
    # Read back, as a disk may lie.
    return len([sum(map(len, parts)) for _, parts in read_archive(target)])


def elsewhere(workspace: Workspace) -> list[str]:
    """Return the paths outside of `workspace` that it serves from, which no backup of it holds."""
    current = workspace.current()
    paths = (current.index, current.profiles, current.release, current.truth)
    return [path for path in paths if Path(path).is_absolute()]


def restore(source: Path, root: Path) -> int:
    """Restore the backup in the file `source` into the folder `root`; return how many files."""
    if (root / _STAGED).exists():
        raise UsageError(f"{root} holds what a restore left that was killed; delete it, then retry")
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(f"{root} is not empty; name a new folder with --workspace")
    Workspace(root).create()
    staged = root / _STAGED
    try:
        with plain_when_writing(root):
            staged.mkdir(0o700)
        names = [_extract(staged / name, parts) for name, parts in read_archive(source)]
        if (staged / FILE).exists():
            # Who signed out since, or was signed out, must not be signed in again.
            with closing(PeopleStore(staged / FILE)) as store:
                store.end_sessions()
        with plain_when_writing(root):
            # The one that makes it a workspace comes last: half of one looks empty.
            for path in sorted(staged.iterdir(), key=lambda path: path.name == CURRENT):
                path.rename(root / path.name)
            sync_folder(root)
        return len(names)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _contents(root: Path, scratch: Path, outside: set[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the files in `root` by name, but those `outside`; a database as a copy in `scratch`."""
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if (here / name).resolve() not in outside)
        if linked := next((name for name in folders if (here / name).is_symlink()), None):
            raise UsageError(f"{here / linked} is a link; put the folder itself in its place")
        for path in (here / name for name in sorted(files)):
            name = path.relative_to(root).as_posix()
            if (
                name == ".lock"
                or not path.is_file()
                or (is_database(path) and path.suffix != _MAIN)
            ):
                continue
            copy = scratch / "database"
            if is_database(path):
                copy_tables(path, copy)
            yield name, copy if is_database(path) else path
            copy.unlink(missing_ok=True)


def _extract(path: Path, parts: Iterator[bytes]) -> Path:
    """Write `parts` to the new file `path`, for its owner only; return `path`."""
    with plain_when_writing(path):
        for folder in reversed(path.parents):
            folder.mkdir(0o700, exist_ok=True)
        write_file(path, parts, 0o600)
    return path

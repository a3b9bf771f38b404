"""Many files of a workspace replaced in one step [I/O]: a kill leaves all of them old or all new.

1  the new files are written into .replacing.KEY/, where no reader looks
2  the folder becomes .replaced.KEY: after a kill, the next owner of the lock does the other steps
3  current.json names the new files in that folder: readers see the old or the new, never a mix
4  the new files take the places of the old ones; files without a successor are removed
5  current.json names the usual places again, and the folder is removed
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.storage.files import KEY, exchange, new_key, sync_folder, write_file

from ..errors import UsageError

if TYPE_CHECKING:
    from .folder import Workspace

_KEY = rf"({KEY}|[0-9a-f]{{8}})"  # eight digits: from versions before 0.2
_UNDER_WAY, _DECIDED = re.compile(rf"\.replacing\.{_KEY}"), re.compile(rf"\.replaced\.{_KEY}")
_PLAN = "plan.json"


class Replacement:
    """New files for a workspace, and files to remove; nothing happens before `carry_out`."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folder = workspace.root / f".replacing.{new_key()}"
        self._staged: dict[Path, Path] = {}
        self._gone: set[Path] = set()

    def __enter__(self) -> Replacement:
        with _plain(self._folder):
            self._folder.mkdir(mode=0o700)
        return self

    def __exit__(self, *_fault: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)  # gone already if all went well

    def place(self, target: Path) -> Path:
        """Return where to write the file that shall replace `target`."""
        # Files of one folder get one folder here, too: profiles are written with the files next to
        # them.
        if target not in self._staged:
            parents = [other.parent for other in self._staged]
            at = parents.index(target.parent) if target.parent in parents else len(parents)
            folder = list(self._staged.values())[at].parent if at < len(parents) else None
            folder = folder or self._folder / str(at)
            with _plain(folder):
                folder.mkdir(mode=0o700, exist_ok=True)
            self._staged[target] = folder / target.name
        return self._staged[target]

    @property
    def scratch(self) -> Path:
        """Return a private folder for what is needed only until `carry_out`."""
        folder = self._folder / "scratch"
        with _plain(folder):
            folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def remove(self, target: Path) -> None:
        """Remove the file or folder `target`, unless something takes its place."""
        self._gone.add(target)

    def withdraw(self, target: Path) -> None:
        """Drop what was written for `target`."""
        _clear(self._staged[target])

    @property
    def replaced(self) -> list[Path]:
        """Return the places that get something new."""
        return sorted(target for target, staged in self._staged.items() if staged.exists())

    @property
    def removed(self) -> list[Path]:
        """Return the files and folders that are removed without a successor."""
        return sorted(path for path in self._gone - {*self.replaced} if os.path.lexists(path))

    def carry_out(self, **current: str) -> None:
        """Replace and remove, and make the paths `current`; a kill can't separate these."""
        relative = self._workspace.relative
        plan = {
            "places": {
                str(self._staged[target].relative_to(self._folder)): relative(target)
                for target in self.replaced
            },
            "removed": [relative(path) for path in self.removed],
            "current": current,
        }
        self._workspace.refuse_lost_lock()
        with _plain(self._folder):
            write_file(self._folder / _PLAN, [json.dumps(plan).encode()], mode=0o600)
            for folder in {staged.parent for staged in self._staged.values()}:
                sync_folder(folder)
            sync_folder(self._folder)
            decided = self._folder.rename(self._folder.with_name(f".replaced.{_key(self._folder)}"))
            sync_folder(self._workspace.root)
        _carry_out(self._workspace, decided)


def is_cut_short(workspace: Workspace) -> bool:
    """Return whether a replacement in `workspace` passed step 2 and is not finished."""
    return any(_DECIDED.fullmatch(path.name) for path in workspace.root.glob(".*"))


def finish(workspace: Workspace) -> None:
    """Undo or finish the replacements of killed writers in `workspace`; the caller has its lock."""
    for folder in sorted(workspace.root.glob(".*")):
        if _UNDER_WAY.fullmatch(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
        elif _DECIDED.fullmatch(folder.name):
            _carry_out(workspace, folder)


def _carry_out(workspace: Workspace, folder: Path) -> None:
    """Do steps 3 to 5; each of them may be repeated after a kill."""
    with _plain(folder, "; run the command again to finish what was begun"):
        plan = json.loads((folder / _PLAN).read_bytes())
        places = {place: folder / staged for staged, place in plan["places"].items()}
        meanwhile = {
            name: workspace.relative(places[path]) if path in places else path
            for name, path in plan["current"].items()
        }
        workspace.make_current(**meanwhile)
        for place, staged in places.items():
            _install(staged, (workspace.root / place).resolve(), _key(folder))
        for place in plan["removed"]:
            _drop(workspace.root / place, _key(folder))
        workspace.make_current(**plan["current"])
        shutil.rmtree(folder.rename(folder.with_name(f".replacing.{_key(folder)}")))


def _key(folder: Path) -> str:
    return folder.name.rpartition(".")[2]


def _install(staged: Path, place: Path, key: str) -> None:
    """Put a copy of `staged` at `place`; `staged` stays, because current.json still names it."""
    new = place.with_name(f".{place.name}.{key}.new")
    _clear(new)
    if staged.is_dir():
        shutil.copytree(staged, new, copy_function=_link)
        if place.exists() and not exchange(new, place):
            # Not every system can exchange folders in one step.
            _drop(place, key)
    else:
        _link(staged, new)
    if staged.is_file() or not place.exists():
        new.replace(place)
    _clear(new)
    sync_folder(place.parent)


def _link(source: Any, target: Any) -> None:
    """Give the file `source` a second name `target`; on another disk, copy it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
        with Path(target).open("rb") as file:
            os.fsync(file.fileno())


def _drop(path: Path, key: str) -> None:
    """Remove a file or folder in one step: first it loses its name, then its content goes."""
    aside = path.with_name(f".{path.name}.{key}.old")
    _clear(aside)
    if os.path.lexists(path):
        path.rename(aside)
        _clear(aside)
        sync_folder(path.parent)


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _plain(path: Path, more: str = "") -> Iterator[None]:
    """Turn an OSError about `path` into one line."""
    try:
        yield
    except OSError as fault:
        raise UsageError(
            f"{path} can't be written or moved ({fault.strerror or fault}); check free space "
            f"and permissions{more}"
        ) from fault

"""Many files of a workspace replaced in one step [I/O]: a kill leaves all of them old or all new.

1  the new files are written into .replacing.KEY/, where nobody looks
2  the folder becomes .replaced.KEY: from now on, whoever has the lock goes on where a kill stops
3  current.json names the new files where they are: readers see the old or the new, never a mix
4  they take the places of the old ones; what has no successor is removed
5  current.json names the places again, and the folder goes
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.records import exchange, sync_folder, write_file

from .errors import UsageError

if TYPE_CHECKING:
    from .workspace import Workspace

_KEY = r"[0-9a-f]{8}"
_UNDER_WAY, _DECIDED = re.compile(rf"\.replacing\.{_KEY}"), re.compile(rf"\.replaced\.{_KEY}")
_PLAN = "plan.json"


class Replacement:
    """New files for a workspace, and what is to go; nothing happens before `carry_out`."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folder = workspace.root / f".replacing.{secrets.token_hex(4)}"
        self._staged: dict[Path, Path] = {}
        self._gone: set[Path] = set()

    def __enter__(self) -> Replacement:
        with _plain(self._folder):
            self._folder.mkdir(mode=0o700)
        return self

    def __exit__(self, *_fault: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)  # no more there if all went well

    def place(self, target: Path) -> Path:
        """Return where to write what shall take a place; files that lie together stay so."""
        if target not in self._staged:
            parents = [each.parent for each in self._staged]
            beside = parents.index(target.parent) if target.parent in parents else len(parents)
            folder = list(self._staged.values())[beside].parent if beside < len(parents) else None
            folder = folder or self._folder / str(beside)
            with _plain(folder):
                folder.mkdir(mode=0o700, exist_ok=True)
            self._staged[target] = folder / target.name
        return self._staged[target]

    def remove(self, target: Path) -> None:
        """Let a file or folder go, unless something takes its place."""
        self._gone.add(target)

    def withdraw(self, target: Path) -> None:
        """Take back what was written for a place."""
        _clear(self._staged[target])

    @property
    def replaced(self) -> list[Path]:
        """Return the places for which there is something new."""
        return sorted(target for target, staged in self._staged.items() if staged.exists())

    @property
    def removed(self) -> list[Path]:
        """Return what goes without a successor."""
        return sorted(path for path in self._gone - {*self.replaced} if os.path.lexists(path))

    def carry_out(self, **current: str) -> None:
        """Replace and remove, and make current what is named; a kill can't part these."""
        relative = self._workspace.relative
        plan = {
            "places": {
                str(self._staged[target].relative_to(self._folder)): relative(target)
                for target in self.replaced
            },
            "removed": [relative(path) for path in self.removed],
            "current": current,
        }
        with _plain(self._folder):
            write_file(self._folder / _PLAN, [json.dumps(plan).encode()], mode=0o600)
            for folder in {staged.parent for staged in self._staged.values()}:
                sync_folder(folder)
            sync_folder(self._folder)
            decided = self._folder.rename(self._folder.with_name(f".replaced.{_key(self._folder)}"))
            sync_folder(self._workspace.root)
        _carry_out(self._workspace, decided)


def is_cut_short(workspace: Workspace) -> bool:
    """Tell whether a replacement was decided on and not carried out to its end."""
    return any(_DECIDED.fullmatch(path.name) for path in workspace.root.glob(".*"))


def finish(workspace: Workspace) -> None:
    """Undo or carry out what killed writers left; only who has the workspace's lock may."""
    for folder in sorted(workspace.root.glob(".*")):
        if _UNDER_WAY.fullmatch(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
        elif _DECIDED.fullmatch(folder.name):
            _carry_out(workspace, folder)


def _carry_out(workspace: Workspace, folder: Path) -> None:
    """Do steps 3 to 5; every one can be done again."""
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
    """Put what is staged in its place; the staged stays, as current.json names it."""
    beside = place.with_name(f".{place.name}.{key}")
    _clear(beside)
    if staged.is_dir():
        shutil.copytree(staged, beside, copy_function=_link)
        if place.exists() and not exchange(beside, place):
            _drop(place, f"{key}.old")
    else:
        _link(staged, beside)
    if staged.is_file() or not place.exists():
        beside.replace(place)
    _clear(beside)
    sync_folder(place.parent)


def _link(source: Any, target: Any) -> None:
    """Give a file a second name; on another disk, copy it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
        with Path(target).open("rb") as file:
            os.fsync(file.fileno())


def _drop(path: Path, key: str) -> None:
    """Remove a file or folder, so that half of it never has its name."""
    aside = path.with_name(f".{path.name}.{key}")
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
    """Turn what the system refuses into one line."""
    try:
        yield
    except OSError as fault:
        raise UsageError(
            f"{path} can't be written or moved ({fault.strerror or fault}); see to room and "
            f"rights{more}"
        ) from fault

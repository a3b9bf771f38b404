"""Files of run folders, which may be anybody's: none through a link, none too large, none changed.

A run's run.json holds the SHA-256 of each other file; what does not fit is not shown.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

LARGEST = 8 << 20  # bytes of a file that is read
_MOST = 1000  # files looked at
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # waits for no pipe
Stamp = tuple[tuple[Any, ...], ...]


class UnfitError(Exception):
    """A file that is not shown; its text says why, without a path."""


@dataclass(frozen=True)
class RunFolder:
    """A folder and what its files must hash to."""

    path: Path
    hashes: Mapping[str, Any]

    def read(self, name: str) -> bytes:
        """Read a file that is what the run wrote."""
        content = read_file(self.path, name)
        if hashlib.sha256(content).hexdigest() != self.hashes.get(name):
            raise UnfitError(f"{name} is not what the run wrote: it does not fit its hash")
        return content

    def fits(self, name: str) -> bool:
        """Tell whether a file is there and is what the run wrote."""
        try:
            self.read(name)
        except UnfitError:
            return False
        return True


def read_file(folder: Path, name: str) -> bytes:
    """Read a plain file of moderate size in a folder; links are not followed."""
    *inner, last = PurePosixPath(name).parts
    try:
        with ExitStack() as opened:
            at: int | None = None
            for part in (os.fspath(folder), *inner):
                at = os.open(part, _FOLDER, dir_fd=at)
                opened.callback(os.close, at)
            with os.fdopen(os.open(last, _FILE, dir_fd=at), "rb") as file:
                return _content(file, name)
    except FileNotFoundError as fault:
        raise UnfitError(f"{name} is missing") from fault
    except (OSError, ValueError) as fault:
        raise UnfitError(f"{name} can’t be read as a file of this folder") from fault


def _content(file: Any, name: str) -> bytes:
    told = os.fstat(file.fileno())
    if not stat.S_ISREG(told.st_mode):
        raise UnfitError(f"{name} is no plain file")
    content: bytes = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UnfitError(f"{name} is larger than {LARGEST >> 20} MB, the most that is shown")
    return content


def read_object(content: bytes, name: str) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        value = json.loads(content.decode("utf-8"), parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # half a character is no text
    except (ValueError, RecursionError) as fault:
        raise UnfitError(f"{name} can’t be read as JSON") from fault
    if not isinstance(value, dict):
        raise UnfitError(f"{name} holds no JSON object")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def folders_in(path: Path) -> list[str]:
    """List what lies in a folder but files and what is hidden; nothing if it can't be listed."""
    try:
        with os.scandir(path) as entries:
            return sorted(
                entry.name
                for entry in entries
                if not entry.name.startswith(".") and not entry.is_file(follow_symlinks=False)
            )
    except OSError:
        return []


def is_folder(path: Path) -> bool:
    """Tell whether there is a folder that is no link; not if that can't be known."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def written_at(path: Path) -> float:
    """Return when a file was last written, in seconds since 1970; 0 if that can't be known."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def outline_of(folder: Path) -> Stamp:
    """Return what changes when a run is written anew."""
    try:
        told = [path.lstat() for path in (folder, folder / "run.json", folder / "report.json")]
    except OSError:
        return ((written_at(folder),),)
    return tuple((each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns) for each in told)


def stamp_of(folder: Path) -> Stamp:
    """Return what changes when a file of a run changes."""
    try:
        return (*_stamps(folder), *_stamps(folder / "figures"))
    except OSError:
        return ()


def _stamps(folder: Path) -> Iterator[tuple[Any, ...]]:
    if not is_folder(folder):
        return
    with os.scandir(folder) as entries:
        for entry in islice(entries, _MOST):
            told = entry.stat(follow_symlinks=False)
            yield entry.name, told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns

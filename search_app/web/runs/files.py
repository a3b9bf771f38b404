"""Safe reading of run folders, which anybody may have written."""
# No file is read through a link, none that is too large, and none that changed: run.json holds the
# SHA-256 of each other file of the run.

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
from typing import Any, NoReturn

LARGEST = 8 << 20  # bytes of a file that is read
_MOST = 1000  # files of a folder that are stamped
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a named pipe would wait for its writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
Stamp = tuple[tuple[Any, ...], ...]


class UnfitError(Exception):
    """A file that can't be shown; the message says why, without a path."""


@dataclass(frozen=True)
class RunFolder:
    """A run's folder, with the hashes that its files must have."""

    path: Path
    hashes: Mapping[str, object]

    def read(self, name: str) -> bytes:
        """Return the content of the file `name`; raise UnfitError if the run wrote another."""
        content = read_file(self.path, name)
        if hashlib.sha256(content).hexdigest() != self.hashes.get(name):
            raise UnfitError(f"{name} is not what the run wrote: its hash differs")
        return content

    def fits(self, name: str) -> bool:
        """Return whether the file `name` is there, as the run wrote it."""
        try:
            self.read(name)
        except UnfitError:
            return False
        return True


def read_file(folder: Path, name: str) -> bytes:
    """Return the content of the plain file `name` in `folder`; refuse links and large files."""
    *inner, last = PurePosixPath(name).parts
    try:
        # Each folder on the way is opened by itself: O_NOFOLLOW looks at the last part only.
        with ExitStack() as opened:
            at: int | None = None
            for part in (os.fspath(folder), *inner):
                at = os.open(part, _FOLDER, dir_fd=at)
                opened.callback(os.close, at)
            with os.fdopen(os.open(last, _FILE, dir_fd=at), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise UnfitError(f"{name} is no plain file")
                # One byte more shows that the file is too large, even if it grows meanwhile.
                content = file.read(LARGEST + 1)
    except FileNotFoundError as fault:
        raise UnfitError(f"{name} is missing") from fault
    except (OSError, ValueError) as fault:
        raise UnfitError(f"{name} can’t be read as a file of this folder") from fault
    if len(content) > LARGEST:
        raise UnfitError(f"{name} is larger than {LARGEST >> 20} MB, the most that is shown")
    return content


def read_object(content: bytes, name: str) -> dict[str, Any]:
    """Return the JSON object in `content`; errors call it `name`."""
    try:
        value = json.loads(content.decode("utf-8"), parse_constant=refuse_constant)
        # JSON can escape half of a surrogate pair, which is no character.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as fault:
        raise UnfitError(f"{name} can’t be read as JSON") from fault
    if not isinstance(value, dict):
        raise UnfitError(f"{name} holds no JSON object")
    return value


def refuse_constant(name: str) -> NoReturn:
    """Refuse the constant `name`, such as NaN: Python reads it, but it is no JSON."""
    raise ValueError(f"{name} is no JSON")


def folders_in(path: Path) -> list[str]:
    """Return the names in `path` that are neither files nor hidden; none if it can't be listed."""
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
    """Return whether `path` is a folder and no link; False if that can't be known."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def written_at(path: Path) -> float:
    """Return when `path` was last written, in seconds since 1970; 0 if that can't be known."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def outline_of(folder: Path) -> Stamp:
    """Return a stamp that changes when the run in `folder` is written again."""
    try:
        entries = [path.lstat() for path in (folder, folder / "run.json", folder / "report.json")]
    except OSError:
        return ((written_at(folder),),)
    return tuple((one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns) for one in entries)


def stamp_of(folder: Path) -> Stamp:
    """Return a stamp that changes when any file of the run in `folder` changes."""
    try:
        return (*_stamps(folder), *_stamps(folder / "figures"))
    except OSError:
        return ()


def _stamps(folder: Path) -> Iterator[tuple[Any, ...]]:
    if not is_folder(folder):
        return
    with os.scandir(folder) as entries:
        for entry in islice(entries, _MOST):
            now = entry.stat(follow_symlinks=False)
            yield entry.name, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns

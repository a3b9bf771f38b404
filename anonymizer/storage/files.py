"""The atomic writer [I/O]: a file or a folder takes its place whole and on disk, or not at all.

While unfinished, it stands next to its place as `.NAME.veil07af`. That is a file, or a folder with
`new`, with `lock` and, while it is replaced, with `old`. Its writer keeps it locked. One without a
lock belongs to a killed writer. As it may say who searched for what, the next writer of the place
removes it. `index` imports nothing from here: `index/build.py` writes folders by the same names.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from io import BufferedIOBase, BufferedWriter, FileIO
from pathlib import Path
from typing import IO

from ..errors import BadInput

KEY = "veil[0-9a-f]{4}"  # pattern of the end of an unfinished file's name
AT_ONCE = 1 << 20  # bytes that the system reads or writes in one call
_LONGEST = 240  # bytes of a name; disks take 255
_LOCK = "lock"
_TRIES = 9  # to make an unfinished file before another process's sweep takes it

Plain = Callable[[Path], AbstractContextManager[object]]  # turns the system's errors into ours


@contextmanager
def replaced_whole(
    path: Path, mode: int = 0o600, plain: Plain = nullcontext
) -> Iterator[BufferedWriter]:
    """Open a file that takes the place of `path` when the block has ended well.

    `plain` gets the path and is entered around the work done here, not around the block.
    """
    with plain(path):
        sweep_for(path, folders=False)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        temporary, file = _own(
            path, lambda new: BufferedWriter(FileIO(os.open(new, flags, mode), "w"), AT_ONCE)
        )
    try:
        yield file
        with plain(path):
            sync(file)
            temporary.replace(path)
            sync_folder(path.parent)
    finally:
        for end in (file.close, temporary.unlink):
            # The file is in its place by now, or another error is on its way to the user.
            with suppress(OSError):
                end()


@contextmanager
def replaced_folder(
    folder: Path, plain: Plain = nullcontext, *, first_stays: bool = False
) -> Iterator[Path]:
    """Make a folder that takes the place of `folder` when the block has ended well.

    The block must sync what it writes, except the folder itself. What is in the place stays until
    then, or for good if `first_stays`. `plain` is as in `replaced_whole`.
    """
    with plain(folder):
        sweep_for(folder)
        holder, lock = _own(folder, _new_holder)
    with lock:
        try:
            with plain(folder):
                (holder / "new").mkdir()
            yield holder / "new"
            with plain(folder):
                sync_folder(holder / "new")
                if not (first_stays and folder.exists()):
                    _switch(holder / "new", folder, holder / "old")
                sync_folder(folder.parent)
        finally:
            _remove(holder, folder)
    if holder.exists():
        raise BadInput(f"{folder} is written, but {holder} can't be removed; delete it by hand")


@contextmanager
def scratch_folder(place: Path, plain: Plain = nullcontext) -> Iterator[Path]:
    """Make a folder for what is on its way to `place`; it is gone when the block has ended."""
    with plain(place):
        sweep_for(place)
        holder, lock = _own(place, _new_holder)
    with lock:
        try:
            # The name of what is unfinished: if this writer is killed, the next one clears it.
            with plain(place):
                (holder / "new").mkdir()
            yield holder / "new"
        finally:
            _remove(holder, place)


def discard(folder: Path) -> None:
    """Remove `folder`; it is renamed first, so that nobody finds half of it under its name."""
    with suppress(OSError):
        holder = _unfinished(folder)
        holder.mkdir(mode=0o700)
        folder.rename(holder / "new")
        shutil.rmtree(holder)


def sweep(folder: Path, names: str) -> None:
    """Remove the unfinished files and folders of killed writers whose names fit pattern `names`."""
    ours = re.compile(rf"\.(?P<name>{names})\.{KEY}")
    for left in folder.glob(".*"):
        if match := ours.fullmatch(left.name):
            _clear(left, folder / match["name"])


def sweep_for(path: Path, *, folders: bool = True) -> None:
    """Remove the unfinished folders that killed writers of `path` left; or its unfinished files."""
    ours = re.compile(rf"\.{re.escape(_short(path.name))}\.{KEY}")
    for left in path.parent.glob(".*"):
        if ours.fullmatch(left.name) and left.is_dir() == folders:
            _clear(left, path)


def new_key() -> str:
    """Return a random end for the name of something unfinished."""
    return f"veil{secrets.token_hex(2)}"


def _unfinished(path: Path) -> Path:
    """Return a new place next to `path` for what will replace it."""
    return path.with_name(f".{_short(path.name)}.{new_key()}")


def _short(name: str) -> str:
    raw = os.fsencode(name)
    return name if len(raw) <= _LONGEST else hashlib.sha256(raw).hexdigest()


def _clear(left: Path, place: Path) -> None:
    """Remove what a killed writer of `place` left; put back what survived only there."""
    # An error means that it is in use by a living writer, or gone.
    with suppress(OSError):
        if left.is_symlink():
            return  # no writer of ours makes links
        if left.is_file():
            with left.open("r+b") as file:
                _lock(file, refused=True)
                left.unlink()
            return
        inside = {path.name for path in left.iterdir()}
        if not inside:
            left.rmdir()
        elif inside <= {"new", "old", _LOCK}:
            held = left / _LOCK
            with held.open("r+b") if _LOCK in inside else nullcontext() as lock:
                if lock:
                    _lock(lock, refused=True)
                if not place.exists() and (left / "old").exists():
                    (left / "old").replace(place)
                _remove(left, place)


def _own(path: Path, make: Callable[[Path], BufferedWriter]) -> tuple[Path, BufferedWriter]:
    """Return an unfinished place for `path` and its locked file, which `make` opens there."""
    # A sweep may remove the place between its making and its locking: then make another one.
    for tries in range(_TRIES):
        place = _unfinished(path)
        try:
            file = make(place)
            try:
                _lock(file)
                (place / _LOCK if place.is_dir() else place).stat()  # an error if it is gone
            except OSError:
                file.close()
                raise
            break
        except (BlockingIOError, FileExistsError, FileNotFoundError):
            if tries == _TRIES - 1:
                raise
    return place, file


def _new_holder(holder: Path) -> BufferedWriter:
    holder.mkdir(mode=0o700)
    return (holder / _LOCK).open("wb")


def _lock(file: IO[bytes], *, refused: bool = False) -> None:
    """Lock `file`; raise OSError if another has it or, with `refused`, if no lock can be had."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    # Some disks know no locks. Sweeps refuse these, so writers are safe there without a lock.
    except OSError:
        if refused:
            raise


def _remove(holder: Path, place: Path) -> None:
    """Remove `holder`, unless the folder that was to be replaced survives only in it."""
    if place.exists() or not (holder / "old").exists():
        for name in ("new", "old"):
            shutil.rmtree(holder / name, ignore_errors=True)
        # The lock goes last: a sweep that finds no lock may remove the rest.
        with suppress(OSError):
            (holder / _LOCK).unlink(missing_ok=True)
            holder.rmdir()


def _switch(new: Path, folder: Path, old: Path) -> None:
    """Move the folder `new` to its place; if that fails, put back what was there."""
    if folder.exists() and exchange(new, folder):
        return
    if folder.exists():
        folder.replace(old)
    try:
        new.replace(folder)
    except BaseException:
        if old.exists():
            old.replace(folder)
        raise


def exchange(one: Path, other: Path) -> bool:
    """Swap `one` and `other` in a single step that no kill can break; return False if refused."""
    try:
        swap = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError):  # not Linux, or an old libc
        return False
    here, swapping = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(swap(here, os.fsencode(one), here, os.fsencode(other), swapping) == 0)


def write_file(path: Path, lines: Iterable[bytes], mode: int = 0o666) -> str:
    """Write `lines` to a new file in an unfinished folder, and sync it; return its SHA-256."""
    digest = hashlib.sha256()
    # Made with its mode before it has content, so that others can never read a private file. New:
    # what is there already may be a second name of another release's part.
    path.touch(mode, exist_ok=False)
    with path.open("wb") as file:
        for line in lines:
            file.write(line)
            digest.update(line)
        sync(file)
    return digest.hexdigest()


def sync(file: BufferedIOBase) -> None:
    """Write the content of `file` through to the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Write the entries of `folder` through to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Where things lie in a workspace folder [I/O], and which of them are current."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .errors import UsageError

CURRENT = "current.json"
_OURS = (
    r"current\.json|demo\.json|release|profiles\.(jsonl|npz|held-out\.tsv)|town\.(tsv|truth\.json)"
)
_TEMPORARY = re.compile(rf"\.({_OURS})\.[a-z0-9_]{{8}}")  # as tempfile names them
_UNFINISHED = re.compile(r"\..+\.\d{4,}\.[a-z0-9_]{8}")
_YOUNG = 60  # seconds: `town` writes its log without asking


@dataclass(frozen=True)
class Current:
    """What search and serve use, as paths; the verbs that make things set it."""

    index: str = ""
    profiles: str = ""
    release: str = ""
    truth: str = ""  # of a synthetic town: only invented people may be chosen on the page
    log_sha256: str = ""  # of that town's log, as its truth must have it


class Workspace:
    """A folder with indexes, profiles, a release and a log of average precision."""

    def __init__(self, root: Path):
        self.root = root

    @property
    def log(self) -> Path:
        """Return the database of average precision."""
        return self.root / "precision.sqlite"

    def current(self) -> Current:
        """Read what is current."""
        path = self.root / CURRENT
        if not path.exists():
            return Current()
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if not all(isinstance(value, str) for value in values.values()):
                raise ValueError("a value is no text")
            return Current(**values)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as fault:
            raise UsageError(
                f"{path} can't be read; delete it and make index, profiles and release again"
            ) from fault

    def make_current(self, **paths: str) -> None:
        """Switch to new artefacts at once; those not named stay."""
        self.create()
        changed = replace(self.current(), **paths)
        write_whole(self.root / CURRENT, json.dumps(vars(changed), indent=1) + "\n")

    def create(self) -> None:
        """Make the folder if it is missing."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise UsageError(
                f"can't make the workspace {self.root}: {fault.strerror}; name another folder "
                "with --workspace"
            ) from fault

    def relative(self, path: Path) -> str:
        """Write a path inside the workspace relative to it, so that the folder can be moved."""
        full, root = path.resolve(), self.root.resolve()
        return str(full.relative_to(root)) if full.is_relative_to(root) else str(full)

    def find(self, kind: str) -> Path:
        """Return the path of the current index, profiles or release; say how to make one."""
        path: str = getattr(self.current(), kind)
        if not path or not (self.root / path).exists():
            raise UsageError(f"no {kind} in {self.root}; {_REMEDY[kind]}")
        return self.root / path

    def truth(self) -> dict[str, Any] | None:
        """Read the truth of the town whose profiles are current; None for real people.

        A truth of another log than the profiles' is none: real people must never be listed.
        """
        current = self.current()
        if not current.truth:
            return None
        path = self.root / current.truth
        try:
            truth = json.loads(path.read_text(encoding="utf-8"))
            if not all(isinstance(truth[part], dict) for part in ("users", "interests")):
                raise ValueError("a part is missing")
        except (OSError, ValueError, KeyError, TypeError) as fault:
            raise UsageError(
                f"{path} is missing or damaged; write the town again: veilsearch town -o LOG.tsv"
            ) from fault
        return truth if truth.get("log_sha256") == current.log_sha256 else None

    @contextmanager
    def writing(self, verb: str) -> Iterator[None]:
        """Keep other processes from writing here, and clear away what a killed one left."""
        self.create()
        self.current()  # damage is told before the work, not after it
        lock = self._locked()
        try:
            began = time.strftime("%Y-%m-%d %H:%M:%S")
            held = f"veilsearch {verb}, process {os.getpid()} on {_host()}, since {began}"
            with suppress(OSError):  # on a full disk the sweep makes room
                os.ftruncate(lock, 0)
                os.pwrite(lock, held.encode(), 0)
            self._sweep()
            yield
        finally:
            os.close(lock)

    def _locked(self) -> int:
        """Open the lock's file and take the lock; say who has it."""
        try:
            lock = os.open(self.root / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lock
            except OSError:
                holder = os.pread(lock, 500, 0).decode("utf-8", "replace")
                os.close(lock)
                raise
        except BlockingIOError as fault:
            raise UsageError(
                f"{self.root} is being written to by {holder or 'another veilsearch'}; wait until "
                "it is done"
            ) from fault
        except OSError as fault:
            raise UsageError(
                f"{self.root} can't be written to ({fault.strerror}); see to rights and room, or "
                "name another folder with --workspace"
            ) from fault

    def _sweep(self) -> None:
        """Remove what killed writers of our own files left: it may hold who searched for what.

        Nothing else is touched: the workspace may be a folder with other files in it.
        """
        for path in self.root.glob(".*"):
            with suppress(FileNotFoundError):  # its writer may be done by now
                age = time.time() - path.stat().st_mtime
                if _TEMPORARY.fullmatch(path.name) and age > _YOUNG:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in (self.root / "indexes").glob(".*"):
            if _UNFINISHED.fullmatch(path.name):  # only who has the lock builds here
                shutil.rmtree(path, ignore_errors=True)
        for path in self._leftover_builds():
            _discard(path)

    def _leftover_builds(self) -> Iterator[Path]:
        """Yield builds that a killed or failed writer never switched to, or did not remove."""
        built = self.root / self.current().index
        if built.parent == self.root / "indexes" and built.is_dir():
            name = built.name.rpartition(".")[0]
            yield from (p for p in _builds(built.parent, name) if p != built)

    # -- indexes: each build in a folder of its own, one of them current -------------------------

    def new_index(self, name: str) -> Path:
        """Return the path of a folder that is not there yet, for a new build of an index."""
        if not name or name != Path(name).name or name.startswith("."):
            raise UsageError(f"--name {name!r} must be a plain file name")
        self.create()
        folder = self.root / "indexes"
        try:
            folder.mkdir(exist_ok=True)
        except OSError as fault:
            raise UsageError(
                f"can't make {folder}: {fault.strerror}; see to rights and room, or name another "
                "folder with --workspace"
            ) from fault
        number = 1 + max([_build_number(path, name) for path in folder.iterdir()], default=0)
        return folder / f"{name}.{number:04d}"

    def index_named(self, name: str) -> Path:
        """Return the current build of an index by its name, else its latest."""
        folder = self.root / "indexes"
        builds = _builds(folder, name)
        current = self.root / self.current().index
        if current in builds:  # a later one was never switched to
            return current
        if not builds:
            names = sorted({path.name.rpartition(".")[0] for path in folder.glob("*.*")})
            raise UsageError(
                f"no index {name} in {self.root}; there are: {', '.join(names) or 'none'}"
            )
        return max(builds, key=lambda path: _build_number(path, name))

    def index_to_update(self, name: str | None) -> Path:
        """Return the index of a name, or the current one."""
        return self.index_named(name) if name else self.find("index")

    def switch_index(self, built: Path) -> None:
        """Make a finished build current and remove the builds it replaces."""
        self.make_current(index=self.relative(built))
        name = built.name.rpartition(".")[0]
        for path in _builds(built.parent, name):
            if _build_number(path, name) < _build_number(built, name):
                _discard(path)


def _host() -> str:
    return os.uname().nodename


_REMEDY = {
    "index": "build one with: veilsearch index CORPUS",
    "profiles": "make them with: veilsearch profiles LOG",
    "release": "make one with: veilsearch anonymize PROFILES -m p-linkability",
}


def _build_number(path: Path, name: str) -> int:
    stem, _, number = path.name.rpartition(".")
    return int(number) if stem == name and number.isascii() and number.isdecimal() else 0


def _builds(folder: Path, name: str) -> list[Path]:
    return [path for path in folder.glob("*.*") if _build_number(path, name)]


def _discard(build: Path) -> None:
    """Remove a build; half of one never has its name, and the next sweep removes what is left."""
    with suppress(OSError):
        hidden = tempfile.mkdtemp(prefix=f".{build.name}.", dir=build.parent)
        build.rename(hidden)
        shutil.rmtree(hidden)


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
            _sync_folder(path.parent)  # what it replaces may go now
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as fault:
        raise UsageError(
            f"{path} can't be written ({fault.strerror or fault}); see to folder, room and rights"
        ) from fault


def _sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

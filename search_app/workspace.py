"""Where things lie in a workspace folder [I/O], and which of them are current."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .builds import UNFINISHED, builds_of, discard, latest_builds, name_of, number_of
from .console import printable
from .errors import UsageError, plain_when_writing

CURRENT = "current.json"
EXPERIMENTS = "experiments"  # the folder of runs
_OURS = (
    r"current\.json|demo\.json|release"
    r"|profiles\.(jsonl|npz|held-out\.tsv|made\.json|origins\.npz)"
    r"|town\.(tsv|truth\.json)"
)
_TEMPORARY = re.compile(rf"\.({_OURS})\.[a-z0-9_]{{8}}")  # as tempfile names them
_YOUNG = 60  # seconds: `town` writes its log without asking
_LOCKED = f".{CURRENT}."  # what begins so is written by who has the lock only
_LONGEST = 200  # bytes of an index's name: disks take 255, and a build under way has 15 more


@dataclass(frozen=True)
class Current:
    """What search and serve use, as paths; the verbs that make things set it."""

    index: str = ""
    profiles: str = ""
    release: str = ""
    truth: str = ""  # of a synthetic town: only invented people may be chosen on the page
    log_sha256: str = ""  # of that town's log, as its truth must have it
    builds: Mapping[str, str] | None = (
        None  # index by name -> its build; None: nobody kept a record
    )


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
            builds = values.get("builds")
            named = () if builds is None else builds.values()
            rest = (value for key, value in values.items() if key != "builds")
            if not all(isinstance(value, str) for value in (*rest, *named)):
                raise ValueError("a value is no text")
            return Current(**values)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as fault:
            raise UsageError(
                f"{path} can't be read; delete it and make index, profiles and release again"
            ) from fault

    def make_current(self, **paths: str) -> None:
        """Switch to new artefacts at once; those not named stay."""
        self._switch(**paths)

    def _switch(self, **values: Any) -> None:
        self.create()
        changed = replace(self.current(), **values)
        write_whole(self.root / CURRENT, json.dumps(vars(changed), indent=1) + "\n", public=True)

    def create(self) -> None:
        """Make the folder if it is missing."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise UsageError(
                f"can't make the workspace {self.root}: {fault.strerror}; name another folder "
                "with --workspace"
            ) from fault

    def check(self) -> None:
        """Refuse a workspace that is not there or is no folder."""
        if not self.root.exists():
            raise UsageError(
                f"the workspace {self.root} is not there; build an index in it with: veilsearch "
                "index CORPUS, or name another folder with --workspace"
            )
        if not self.root.is_dir():
            raise UsageError(f"the workspace {self.root} is a file; name a folder with --workspace")

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
            self._finish_replacements()
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
                done = age > _YOUNG or path.name.startswith(_LOCKED)
                if _TEMPORARY.fullmatch(path.name) and done:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in self.indexes.glob(".*"):
            if UNFINISHED.fullmatch(path.name):  # only who has the lock builds here
                shutil.rmtree(path, ignore_errors=True)
        for path in self._leftover_builds():
            discard(path)

    def _finish_replacements(self) -> None:
        """Undo or carry out what a killed writer replaced in many files at once."""
        if any(self.root.glob(".repl*.*")):
            from .replacing import finish

            finish(self)

    def _leftover_builds(self) -> Iterator[Path]:
        """Yield builds that a killed or failed writer never switched to, or did not remove.

        Where the build in use is gone, what is left of a name may be all there is.
        """
        recorded = self.current().builds
        index = name_of(self.root / self.current().index)
        for name, used in self.builds().items():
            if used.is_dir() and (recorded is not None or name == index):
                yield from (path for path in builds_of(self.indexes, name) if path != used)

    # -- indexes: each build in a folder of its own, one of them current -------------------------

    def new_index(self, name: str) -> Path:
        """Return the path of a folder that is not there yet, for a new build of an index."""
        _check_name(name)
        self.create()
        folder = self.indexes
        try:
            folder.mkdir(exist_ok=True)
        except OSError as fault:
            raise UsageError(
                f"can't make {folder}: {fault.strerror}; see to rights and room, or name another "
                "folder with --workspace"
            ) from fault
        number = 1 + max([number_of(path, name) for path in folder.iterdir()], default=0)
        return folder / f"{name}.{number:04d}"

    @property
    def indexes(self) -> Path:
        """Return the folder of all builds."""
        return self.root / "indexes"

    def builds(self) -> dict[str, Path]:
        """Return the build each index uses, by name: the one last switched to.

        A build that nothing was switched to is none, except in a workspace without a record.
        """
        current = self.current()
        used = self._record(current)
        index = self.root / current.index
        if index.parent == self.indexes:
            used[name_of(index)] = index.name
        return {name: self.indexes / build for name, build in used.items()}

    def _record(self, current: Current) -> dict[str, str]:
        kept = latest_builds(self.indexes) if current.builds is None else current.builds
        return dict(kept)

    def index_named(self, name: str) -> Path:
        """Return the build that the index of a name uses."""
        used = {each: build for each, build in self.builds().items() if build.is_dir()}
        if name not in used:
            names = ", ".join(sorted(used)) or "none"
            raise UsageError(f"no index {name} in {self.root}; there are: {names}")
        return used[name]

    def index_to_update(self, name: str | None) -> Path:
        """Return the index of a name, or the current one."""
        return self.index_named(name) if name else self.find("index")

    def switch_index(self, built: Path) -> str:
        """Make a finished build current and remove the builds it replaces.

        Return its name if another index was current before, else nothing.
        """
        name, before = name_of(built), self.current()
        record = {**self._record(before), name: built.name}
        self._switch(index=self.relative(built), builds=record)
        for path in builds_of(built.parent, name):
            if number_of(path, name) < number_of(built, name):
                discard(path)
        return name if before.index and name_of(Path(before.index)) != name else ""


def _check_name(name: str) -> None:
    """Refuse a name of an index that no folder can have, or no terminal can show."""
    if not name or name != Path(name).name or name.startswith("."):
        raise UsageError(f"--name {name!r} must be a plain file name")
    if printable(name) != name:
        raise UsageError(f"--name {name!r} has control characters; give a name without them")
    size = len(os.fsencode(name))
    if size > _LONGEST:
        raise UsageError(f"File name too long: --name has {size} bytes; give at most {_LONGEST}")


def _host() -> str:
    return os.uname().nodename


_REMEDY = {
    "index": "build one with: veilsearch index CORPUS",
    "profiles": "make them with: veilsearch profiles LOG",
    "release": "make one with: veilsearch anonymize PROFILES -m p-linkability",
}


def write_whole(path: Path, text: str, *, public: bool = False) -> None:
    """Write a text file whole or not at all; unless it is public, only its owner may read it."""
    from index.manifest import sync

    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with plain_when_writing(path):
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            handle = os.open(temporary, flags, 0o666 if public else 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync(path.parent)  # what it replaces may go now
        finally:
            temporary.unlink(missing_ok=True)

"""Where things are in a workspace folder [I/O], and which of them are current."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anonymizer.storage.files import discard, replaced_whole, sweep

from ..console import printable
from ..errors import UsageError, plain_when_writing
from ..settings import DEFAULT_METHOD, POSTGRESQL, load_settings
from .builds import NAMES, builds_of, latest_builds, name_of, number_of
from .postgresql import Server

CURRENT = "current.json"
TURN = ".turn"  # the number of the last writing, where several hosts write
INDEX_NAME = "corpus"  # the name of an index by default
RELEASE = "release"  # the folder of the served release by default
DIAL = "dial"  # the folder of releases that only the dial shows
EXPERIMENTS = "experiments"  # the folder of experiments' runs
_OURS = (
    r"current\.json|demo\.json|release(\.\d+)?"
    r"|profiles\.(jsonl|npz|held-out\.tsv|made\.json|origins\.npz)"
    r"|town\.(tsv|truth\.json)"
)
_LONGEST = 200  # bytes of an index's name: file systems take 255, and an unfinished build adds 15


@dataclass(frozen=True)
class Current:
    """The paths that search and serve use; verbs that make something set them."""

    index: str = ""
    profiles: str = ""
    release: str = ""
    truth: str = ""  # of a synthetic town; only its people may be chosen on the page
    log_sha256: str = ""  # of that town's log; the truth must have the same hash
    builds: Mapping[str, str] | None = None  # name of an index -> its build; None: not recorded


class Workspace:
    """A folder with indexes, profiles, a release and a log of average precision."""

    def __init__(self, root: Path):
        self.root = root
        # Raises if a lock on all hosts was lost since it was taken.
        self.refuse_lost_lock: Callable[[], object] = lambda: None

    @property
    def log(self) -> Path:
        """Return the path of the log of average precision."""
        return self.root / "precision.sqlite"

    def stamp(self) -> tuple[int, int, int] | None:
        """Return a value that every update of the workspace changes; None if nothing is there."""
        try:
            status = (self.root / CURRENT).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def current(self) -> Current:
        """Return what is current; nothing in a new workspace."""
        path = self.root / CURRENT
        if not path.exists():
            return Current()
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if values.pop("check", check_of(values)) != check_of(values):
                raise ValueError("it changed since it was written")
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
        """Make `paths` current in one step; paths that are not named stay."""
        self._switch(**paths)

    def _switch(self, **values: Any) -> None:
        self.create()
        self.refuse_lost_lock()
        changed = replace(self.current(), **values)
        write_whole(self.root / CURRENT, with_check(vars(changed), indent=1), public=True)

    def create(self) -> None:
        """Make the folder if it is missing, for its owner only."""
        try:
            self.root.mkdir(0o700, parents=True, exist_ok=True)
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
        """Return `path` relative to the workspace if it is inside: then the folder can be moved."""
        full, root = path.resolve(), self.root.resolve()
        return str(full.relative_to(root)) if full.is_relative_to(root) else str(full)

    def find(self, kind: str) -> Path:
        """Return the path of the current `kind`: index, profiles or release."""
        path: str = getattr(self.current(), kind)
        if not path or not (self.root / path).exists():
            raise UsageError(f"no {kind} in {self.root}; {_REMEDY[kind]}")
        return self.root / path

    def truth(self) -> dict[str, Any] | None:
        """Return the truth of the town whose profiles are current; None for real people."""
        # A truth of another log than the profiles' does not count: real people must not be listed.
        current = self.current()
        if not current.truth:
            return None
        path = self.root / current.truth
        try:
            truth = json.loads(path.read_text(encoding="utf-8"))
            if not all(isinstance(truth[part], dict) for part in ("users", "interests")):
                raise ValueError("a part is missing")
            if truth.get("check", check_of(truth)) != check_of(truth):
                raise ValueError("it changed since it was written")
        except (OSError, ValueError, KeyError, TypeError) as fault:
            raise UsageError(
                f"{path} is missing or damaged; write the town again: veilsearch town -o LOG.tsv"
            ) from fault
        return truth if truth.get("log_sha256") == current.log_sha256 else None

    @contextmanager
    def writing(self, verb: str) -> Iterator[None]:
        """Let only `verb` write here, and remove the unfinished files of killed writers."""
        self.create()
        self.current()  # damage is reported before the work, not after it
        with self._locked() as lock:
            began = time.strftime("%Y-%m-%d %H:%M:%S")
            host = os.uname().nodename
            held = f"veilsearch {verb}, process {os.getpid()} on {host}, since {began}"
            with suppress(OSError):  # on a full disk the sweep makes room
                os.ftruncate(lock, 0)
                os.pwrite(lock, held.encode(), 0)
            # Unfinished files of killed writers may hold who searched for what, so they go. Only
            # our own names are touched: the workspace may be a folder with other files in it.
            sweep(self.root, _OURS)
            # No build here can be under way: only the owner of the lock builds.
            sweep(self.indexes, NAMES)
            sweep(self.root / DIAL, ".+")
            for path in self._unused_builds():
                discard(path)
            if any(self.root.glob(".repl*.*")):
                from .replacing import finish

                finish(self)
            yield

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Give the open lock file, locked; refuse, with the holder's name, if another has it."""
        lock = self._lock_file()
        try:
            if not self._lock(lock):
                holder = os.pread(lock, 500, 0).decode("utf-8", "replace") or "another veilsearch"
                raise UsageError(
                    f"{self.root} is being written to by {holder}; wait until it is done"
                )
            if (server := self._server()) is None:
                yield lock
                return
            # The folder may be on several hosts, and not every file system locks across them.
            with server.locked() as held:
                if held is None:
                    raise UsageError(
                        f"{self.root} is being written to by veilsearch on another host; wait "
                        "until it is done"
                    )
                self._refuse_copy(held.turns)
                turn = secrets.randbits(62)
                held.begin(turn)
                write_whole(self.root / TURN, str(turn))
                held.settle(turn)
                self.refuse_lost_lock = held.refuse_lost
                try:
                    yield lock
                finally:
                    self.refuse_lost_lock = lambda: None
        finally:
            os.close(lock)

    def _server(self) -> Server | None:
        """Return the server on which the people are; None if they are in this folder."""
        settings = load_settings(self.root)
        return Server(settings.postgresql) if settings.store == POSTGRESQL else None

    def refuse_copy(self) -> None:
        """Raise if hosts share people, and this folder missed what another host wrote."""
        if server := self._server():
            self._refuse_copy(server.turns)

    def _refuse_copy(self, turns: Callable[[], set[int]]) -> None:
        # Another host may write between two looks; twice is no chance.
        for _ in range(2):
            last, own = turns(), self.root / TURN
            if not last or (own.exists() and own.read_bytes() in {b"%d" % one for one in last}):
                return
        raise UsageError(
            f"{self.root} is not the folder that the hosts of its people share, or a copy that "
            "missed changes; see: docs/operate.md, Several front ends"
        )

    def _lock_file(self) -> int:
        try:
            return os.open(self.root / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as fault:
            raise self._unwritable(fault) from fault

    def _lock(self, lock: int) -> bool:
        """Lock the file `lock`; return whether nobody else has."""
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as fault:
            raise self._unwritable(fault) from fault
        return True

    def _unwritable(self, fault: OSError) -> UsageError:
        return UsageError(
            f"{self.root} can't be written to ({fault.strerror}); check permissions and "
            "free space, or name another folder with --workspace"
        )

    def _unused_builds(self) -> Iterator[Path]:
        """Yield builds that no index uses: a killed or failed writer left them."""
        # If the build in use is missing, the others of its name may be all there is: they stay.
        recorded = self.current().builds
        index = name_of(self.root / self.current().index)
        for name, used in self.builds().items():
            if used.is_dir() and (recorded is not None or name == index):
                yield from (path for path in builds_of(self.indexes, name) if path != used)

    # -- indexes: each build in a folder of its own, one of them current -------------------------

    def new_index(self, name: str) -> Path:
        """Return the path of a new folder for the next build of the index `name`."""
        if not name or name != Path(name).name or name.startswith("."):
            raise UsageError(f"--name {name!r} must be a plain file name")
        if printable(name) != name:
            raise UsageError(f"--name {name!r} has control characters; give a name without them")
        if (size := len(os.fsencode(name))) > _LONGEST:
            raise UsageError(
                f"File name too long: --name has {size} bytes; give at most {_LONGEST}"
            )
        self.create()
        folder = self.indexes
        try:
            folder.mkdir(exist_ok=True)
        except OSError as fault:
            raise UsageError(
                f"can't make {folder}: {fault.strerror}; check permissions and free space, or "
                "name another folder with --workspace"
            ) from fault
        number = 1 + max([number_of(path, name) for path in folder.iterdir()], default=0)
        return folder / f"{name}.{number:04d}"

    @property
    def indexes(self) -> Path:
        """Return the folder of all builds."""
        return self.root / "indexes"

    def builds(self) -> dict[str, Path]:
        """Return the build that each index uses, by name: the one last switched to."""
        # A build that was never switched to does not count, except in a workspace without a record.
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
        """Return the build that the index `name` uses."""
        used = {index: build for index, build in self.builds().items() if build.is_dir()}
        if name not in used:
            names = ", ".join(sorted(used)) or "none"
            raise UsageError(f"no index {name} in {self.root}; there are: {names}")
        return used[name]

    def record_index(self, built: Path) -> None:
        """Let its index use the finished build `built`; the current index stays current."""
        self._switch(builds={**self._record(self.current()), name_of(built): built.name})

    def switch_index(self, built: Path) -> str:
        """Make the finished build `built` current, and remove the builds it replaces.

        Return its name if an index of another name was current before, else nothing.
        """
        name, before = name_of(built), self.current()
        record = {**self._record(before), name: built.name}
        self._switch(index=self.relative(built), builds=record)
        for path in builds_of(built.parent, name):
            if number_of(path, name) < number_of(built, name):
                discard(path)
        return name if before.index and name_of(Path(before.index)) != name else ""


_REMEDY = {
    "index": "build one with: veilsearch index CORPUS",
    "profiles": "make them with: veilsearch profiles LOG",
    "release": f"make one with: veilsearch anonymize PROFILES -m {DEFAULT_METHOD}",
}


def with_check(record: Mapping[str, Any], indent: int | None = None) -> str:
    """Return `record` as JSON with a hash of itself as `check`, so that damage is noticed."""
    rest = {name: value for name, value in record.items() if name != "check"}
    return json.dumps({**rest, "check": check_of(rest)}, ensure_ascii=False, indent=indent) + "\n"


def check_of(record: Mapping[str, Any]) -> str:
    """Return the hash of `record` without its `check`."""
    rest = {name: value for name, value in record.items() if name != "check"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def write_whole(path: Path, text: str, *, public: bool = False) -> None:
    """Write `text` to `path` completely or not at all; only its owner reads it unless `public`."""
    mode = 0o666 if public else 0o600
    with plain_when_writing(path), replaced_whole(path, mode) as file:
        file.write(text.encode())

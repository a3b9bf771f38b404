"""The ledger of releases [I/O]: which were made and published in a workspace, a line each.

Two releases of the same people, held against each other, tell more than either (guarantee G4), so
whoever runs a workspace must be able to see all there were, and `publish` refuses a second one. A
line tells no user and no hash of the profiles, but one of who the people are: a release of other
profiles of theirs is a second one, too. Where somebody is forgotten, what was published of all is
noted once more for those who remain. What it can't know is a release of most of them, made by hand
with a person more or less. Lines written before there was this hash count for nobody. A line is on
the disk before the verb says it is done.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from anonymizer.records import as_json, check_record, read_object, sync_folder

from .errors import UsageError, plain_when_writing
from .workspace import Workspace

if TYPE_CHECKING:
    from anonymizer.publication import Candidate

MADE, PUBLISHED = "made", "published"
OUTLIVED = "outlived"  # was published of these people and of some who have been forgotten since
OUT = frozenset({PUBLISHED, OUTLIVED})
_EXAMPLE = {
    "at": 1_794_994_800,
    "event": MADE,
    "method": "p-linkability",
    "parameters": {},
    "users": 720,
    "rows": 189,
    "sha256": "0a1b",
    "people": "0a1b",
}


class Noted(NamedTuple):
    """A release as it was made or published."""

    at: int  # seconds since 1970
    event: str  # made, published or outlived
    method: str
    parameters: Mapping[str, Any]
    users: int
    rows: int
    sha256: str  # of the rows
    people: str = ""  # a hash of who they are, of what was published


def ledger_path(workspace: Workspace) -> Path:
    """Return the ledger's file."""
    return workspace.root / "ledger.jsonl"


def note_made(workspace: Workspace, release: Path, *, users: int, rows: int) -> None:
    """Note that a release was made."""
    from anonymizer.release import ROWS, read_manifest

    manifest = read_manifest(release)
    said = (manifest["method"], manifest["parameters"], users, rows, manifest["sha256"][ROWS])
    line = as_json(Noted(int(time.time()), MADE, *said)._asdict())
    workspace.create()
    path = ledger_path(workspace)
    with plain_when_writing(path), _locked(path) as handle:
        _append(handle, line)
        sync_folder(path.parent)


@contextmanager
def publishing(workspace: Workspace) -> Iterator[Callable[[Candidate], None]]:
    """Let nobody else publish meanwhile; yield what notes what was verified, before it is there."""
    workspace.create()
    path = ledger_path(workspace)
    with plain_when_writing(path), _locked(path) as handle:

        def note(candidate: Candidate) -> None:
            said = (candidate.method, candidate.parameters, candidate.users, candidate.rows)
            noted = Noted(int(time.time()), PUBLISHED, *said, candidate.sha256, candidate.people)
            _append(handle, as_json(noted._asdict()))
            sync_folder(path.parent)

        yield note


def note_fewer(workspace: Workspace, fewer: Mapping[str, str]) -> None:
    """Note what was published of people, for those of them who will remain; by their hashes."""
    path = ledger_path(workspace)
    fewer = {before: after for before, after in fewer.items() if before != after}
    if not fewer or not path.exists():
        return
    with plain_when_writing(path), _locked(path) as handle:
        noted = read_ledger(workspace)
        known = {(each.people, each.sha256) for each in noted if each.event in OUT}
        for each in noted:
            people = fewer.get(each.people, "")
            if people and each.event in OUT and (people, each.sha256) not in known:
                known.add((people, each.sha256))
                _append(handle, as_json(each._replace(event=OUTLIVED, people=people)._asdict()))


def fault_of_second(
    noted: Sequence[Noted], candidate: Candidate, *, second: bool, path: Path
) -> str:
    """Return why a release must not be published beside earlier ones; nothing if it may be."""
    from anonymizer.measures.verification import PROMISES

    earlier = [each for each in noted if each.event in OUT and each.people]
    earlier = [each for each in earlier if each.people == candidate.people]
    if not earlier or earlier[-1].sha256 == candidate.sha256:
        return ""
    others = len({each.sha256 for each in earlier} - {candidate.sha256})
    line = f"{others} other releases of these people were published, which tell more together"
    if others == 1:
        line = "another release of these people was published; two tell more than either"
    once = [each.method for each in earlier if each.method in PROMISES]
    if candidate.once or any(PROMISES[method].once for method in once):
        return (
            f"{line}, and what is promised is promised of one alone: publish that one again, or, "
            f"if nobody ever got it, take its line out of {path}"
        )
    return "" if second else f"{line}: publish that one again, or take --second upon yourself"


def read_ledger(workspace: Workspace) -> tuple[Noted, ...]:
    """Read all lines, the oldest first; half a line, left by a kill, is none."""
    path = ledger_path(workspace)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as fault:
        raise UsageError(f"{path} can't be read ({fault.strerror}); see to rights") from fault
    lines = content.split(b"\n")[:-1]
    return tuple(_read(line, f"{path}, line {number}") for number, line in enumerate(lines, 1))


class LastLedger:
    """Reads a ledger whenever it has changed since it was asked last."""

    def __init__(self, workspace: Workspace):
        self._workspace = workspace
        self._last: tuple[object, tuple[Noted, ...]] = (None, ())

    def __call__(self) -> tuple[Noted, ...]:
        """Return all lines, the oldest first."""
        try:
            status = ledger_path(self._workspace).stat()
        except OSError:
            return read_ledger(self._workspace)
        state, (known, noted) = (status.st_ino, status.st_mtime_ns, status.st_size), self._last
        if state != known:
            noted = read_ledger(self._workspace)
            self._last = state, noted
        return noted


def _read(line: bytes, where: str) -> Noted:
    try:
        record = read_object(line)
        check_record({"people": "", **record}, _EXAMPLE)
        return Noted(**record)
    except (ValueError, RecursionError) as fault:
        raise UsageError(f"{where}: damaged ({fault}); restore the file from a copy") from fault


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Open the file while nobody else writes; `publish` takes no lock of the workspace."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _append(handle: int, line: bytes) -> None:
    """Write a line behind the last whole one, down to the disk; a half one goes."""
    size = os.fstat(handle).st_size
    whole = os.pread(handle, size, 0).rfind(b"\n") + 1
    os.ftruncate(handle, whole)
    try:
        written = os.pwrite(handle, line, whole)
        if written < len(line):
            raise OSError(28, "No space left on device")
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, whole)
        raise

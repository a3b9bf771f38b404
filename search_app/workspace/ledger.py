"""The ledger of releases [I/O]: one line for each release made or published in a workspace.

A person who stands in two different rows can be found where the rows overlap. So `publish` refuses
a release if a person of an earlier one would stand in another row. The line of a published release
holds a hash of each row, and of each person in it one that needs the secret key next to the ledger.
It holds no user and no hash of the profiles. Pairs of row and person that an earlier line has are
not written again. The line holds the certificate, too, which stays the same when the same rows are
published again. Lines of versions before 0.3 do not know their people. A line is on the disk
before the verb ends. It ends in a hash of itself and of the line before, so a changed, missing or
inserted line between two others is noticed. Once something was published, the key's file names the
number of lines and the last one, so a missing end is noticed, too. A line comes before its number:
after a kill there may be a line more than the key's file knows, never one less.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import re
import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from anonymizer.storage.files import sync_folder
from anonymizer.storage.parts import ROW_HASH
from anonymizer.storage.records import as_json, check_record, read_object

from ..errors import UsageError, plain_when_writing
from .folder import Workspace, write_whole

if TYPE_CHECKING:
    from anonymizer.publishing import Candidate
    from anonymizer.verification.finding import Finding, Verdict

    from .overlap import Overlap

NAME = "ledger.jsonl"
MADE, PUBLISHED = "made", "published"
ADMITTED = "admitted"  # a cohort of newcomers; the line is of all cohorts
ONE = "one release"  # the claim that a ledger judges
WITHDRAWN = "withdrawn"  # a row of it, or several; the line is of the rows that are left
_CHAINED = re.compile(rb'(\{.*), "chain": "[0-9a-f]{64}"\}')
_EXAMPLE = {
    "at": 1_794_994_800,
    "event": MADE,
    "method": "none",
    "parameters": {},
    "users": 720,
    "rows": 189,
    "sha256": "0a1b",
    "key": "0a1b",
    "stood": "AAAA",
    "certificate": {},
}
_KEY = re.compile(
    rb"([0-9a-f]{64})\n(?:([1-9][0-9]{0,8}) ([0-9a-f]{64})\n)?"
)  # lines, hash of the last
_AT_ONCE = 1 << 20  # bytes
_DAY = "%d %b %Y, %H:%M UTC"


class Noted(NamedTuple):
    """A release as it was made or published."""

    at: int  # seconds since 1970
    event: str  # made, published, withdrawn or admitted
    method: str
    parameters: Mapping[str, object]
    users: int
    rows: int
    sha256: str  # of the rows
    key: str = ""  # which key the hashes need; empty: it is not known who the people are
    stood: str = ""  # who stands in which row, as base64 of hashes; only what is new
    certificate: Mapping[str, object] = {}  # as it was published with the rows


def ledger_path(workspace: Workspace) -> Path:
    """Return the path of the ledger of `workspace`."""
    return workspace.root / NAME


def key_path(ledger: Path) -> Path:
    """Return the path of the secret key of the file `ledger`."""
    name = "ledger.key" if ledger.name == NAME else f"{ledger.name}.key"
    return ledger.with_name(name)


def note_made(workspace: Workspace, release: Path, event: str = MADE) -> None:
    """Note in the ledger that `release` was made, or another `event` of it."""
    from anonymizer.storage.parts import MEMBERS, ROWS, part_files, read_manifest

    manifest = read_manifest(release)
    members = sum(path.read_bytes().count(b"\n") for path in part_files(release, MEMBERS))
    rows, digest = 0, hashlib.sha256()
    for path in part_files(release, ROWS):
        with path.open("rb") as file:
            while block := file.read(_AT_ONCE):
                rows += block.count(b"\n")
                digest.update(block)
    about = (manifest["method"], manifest["parameters"], members, rows, digest.hexdigest())
    line = _written(Noted(int(time.time()), event, *about))
    workspace.create()
    path = ledger_path(workspace)
    with plain_when_writing(path), _locked(path) as handle:
        _append(path, handle, line)
        sync_folder(path.parent)


@dataclass(frozen=True)
class Publication:
    """A release that is about to be published, and what a ledger says of its people."""

    path: Path  # of the ledger
    handle: int
    line: Noted  # of this release
    promised_once: bool
    unknown: Sequence[Noted]  # published before, of people who are not known
    overlaps: Sequence[tuple[Noted, Overlap]]  # with releases that were published before

    @property
    def once(self) -> bool:
        """Return whether a promise holds for one release only, this one's or an earlier one's."""
        from anonymizer.methods import promise_of

        earlier = (*self.unknown, *(line for line, _ in self.overlaps))
        promises = (promise_of(line.method, line.parameters) for line in earlier)
        return self.promised_once or any(promise.once for promise in promises)

    @property
    def fault(self) -> str:
        """Return what this release and earlier ones reveal together; empty if nothing."""
        faults = [
            f"{_people(overlap.people)} in another row than in the release of {_day(line)}, "
            f"{overlap.alone:,} of them alone in both rows together"
            for line, overlap in self.overlaps
        ]
        if any(overlap.alone for _, overlap in self.overlaps):
            faults.append(
                "of each person who shares both rows with nobody, someone with both files learns "
                "which terms the two rows share"
            )
        faults += [
            f"an earlier version noted the release of {_day(line)} without its people, who may be "
            "the same; if its rows are published again, they are known"
            for line in self.unknown
        ]
        return "; ".join(faults)

    def note(self) -> None:
        """Note in the ledger that the release is published."""
        # Called before the published file appears: after a kill the ledger may have a line too
        # many, but never one too few.
        _append(self.path, self.handle, _written(self.line))
        sync_folder(self.path.parent)


@contextmanager
def publishing(path: Path, candidate: Candidate) -> Iterator[Publication]:
    """Let nobody else publish by the ledger at `path`; yield what it says of `candidate`."""
    from .overlap import compared, hashed, unpacked

    with plain_when_writing(path), _locked(path) as handle:
        earlier = [line for line in _read(path) if line.event == PUBLISHED]
        key = _key(path, earlier)
        if key is None:
            key = secrets.token_bytes(32)
            write_whole(key_path(path), f"{key.hex()}\n")
        known = [line for line in earlier if line.key]
        pairs = hashed(candidate.stood, key)
        new, overlaps = compared([unpacked(_decoded(line)) for line in known], pairs)
        stood = base64.b64encode(pairs[new].tobytes()).decode()
        about = (candidate.method, candidate.parameters, candidate.users, candidate.rows)
        line = Noted(int(time.time()), PUBLISHED, *about, candidate.sha256, _name_of(key), stood)
        line = line._replace(certificate=candidate.certificate)
        # The same rows again reveal nothing new, and then it is known of which people they are.
        clear = {candidate.sha256, *(line.sha256 for line in known)}
        unknown = [line for line in earlier if line.sha256 not in clear]
        there = [pair for pair in zip(known, overlaps, strict=True) if pair[1].people]
        yield Publication(path, handle, line, candidate.once, unknown, there)


def publish_noted(
    release: Path, profiles: Path, output: Path, ledgers: Sequence[Path], *, second: bool = False
) -> Verdict:
    """Return the verdict on `release`, judged by `profiles`; publish it to `output` if it holds.

    Each of `ledgers` notes it. If people stand in other rows in a release that one of these has,
    it is not published, unless a `second` release is accepted.
    """
    from anonymizer.publishing import publish

    with ExitStack() as held:
        # The ledgers stay locked until the file is written, so nobody publishes a second one
        # meanwhile. The note comes before the file: a ledger must never lack a published one.
        def others(candidate: Candidate) -> list[Finding]:
            publications = [held.enter_context(publishing(path, candidate)) for path in ledgers]
            findings = [_second_release(one, second) for one in publications]
            if all(finding.holds for finding in findings):
                for one in publications:
                    one.note()
            return findings

        return publish(release, profiles, output, others, partial(earlier_certificate, ledgers))


def _second_release(publication: Publication, second: bool) -> Finding:
    """Judge a release by what a ledger says of its people."""
    from anonymizer.verification.finding import Finding

    path, fault = publication.path, publication.fault
    if not fault:
        good = "nobody stands in another row than in what was published before"
        return Finding(ONE, True, path.name, good)
    if publication.once:
        remedy = "a promise holds for one release only; publish the rows of the earlier release"
    elif not second:
        remedy = "publish the rows of the earlier release, or accept this with --second"
    else:
        return Finding(ONE, True, path.name, f"accepted by --second: {fault}")
    return Finding(ONE, False, path.name, f"{fault}; {remedy}")


def _people(number: int) -> str:
    return "1 of these people stands" if number == 1 else f"{number:,} of these people stand"


def _day(line: Noted) -> str:
    return time.strftime(_DAY, time.gmtime(line.at))


def _key(path: Path, lines: Collection[Noted]) -> bytes | None:
    """Return the secret key of the ledger at `path`, which has `lines`; None if it needs none."""
    place, used = key_path(path), {line.key for line in lines} - {""}
    try:
        content = place.read_bytes()
    except FileNotFoundError:
        if used:
            raise UsageError(
                f"{place} is missing, so nobody can be found in {path.name}; restore it from a copy"
            ) from None
        return None
    match = _KEY.fullmatch(content)
    key = bytes.fromhex(match[1].decode()) if match else b""
    if not key or used - {_name_of(key)}:
        raise UsageError(
            f"{place} is damaged, or the key of another ledger than {path.name}; restore it from "
            "a copy"
        )
    return key


def _name_of(key: bytes) -> str:
    """Return a name of `key` that says nothing about it."""
    from .overlap import hash_of

    return hash_of("", key).hex()


def check_key(workspace: Workspace) -> Path | None:
    """Return the path of the key of the ledger in `workspace`, None if it has none; check it."""
    path = ledger_path(workspace)
    return None if _key(path, _read(path)) is None else key_path(path)


def read_ledger(workspace: Workspace) -> tuple[Noted, ...]:
    """Return the ledger's lines in `workspace`, oldest first, without one that a kill cut off."""
    return _read(ledger_path(workspace))


def _read(path: Path) -> tuple[Noted, ...]:
    # First, as a line may be written meanwhile: the ledger is never behind its key's file.
    least, newest = _end_of(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = b""  # nothing was noted yet, unless the key's file says otherwise
    except OSError as fault:
        raise UsageError(f"{path} can't be read ({fault.strerror}); check permissions") from fault
    *lines, rest = content.split(b"\n")
    if len(lines) < least:
        where = f"{path}, line {len(lines) + 1}"
        raise UsageError(f"{where}: damaged (it is missing); restore the file from a copy")
    # A kill leaves a beginning of a line. More than a whole line has a spoilt end.
    if rest and _CHAINED.fullmatch(rest[:-1]):
        lines.append(rest)
    noted, before = [], b""
    for number, line in enumerate(lines, 1):
        try:
            record = read_object(line)
            # Lines of versions before 0.3 have no hash, and stand before all that have one.
            chained = _CHAINED.fullmatch(line)
            if chained or _CHAINED.fullmatch(before):
                if not chained or line + b"\n" != _chained(chained[1] + b"}", before):
                    raise ValueError("it is not as it was written after the line before")
                del record["chain"]
            before = line
            if number == least and hashlib.sha256(line).hexdigest() != newest:
                raise ValueError(f"it is not the line that {key_path(path).name} names")
            record.pop("people", None)  # a hash of all people, by versions before 0.3
            check_record({"key": "", "stood": "", "certificate": {}, **record}, _EXAMPLE)
            noted.append(Noted(**record))
            _decoded(noted[-1])
        except (ValueError, RecursionError) as fault:
            where = f"{path}, line {number}"
            raise UsageError(f"{where}: damaged ({fault}); restore the file from a copy") from fault
    return tuple(noted)


def _end_of(path: Path) -> tuple[int, str]:
    """Return how many lines the ledger at `path` has at least, and the hash of the last of them."""
    # A damaged file of the key is noticed by those who need the key.
    try:
        match = _KEY.fullmatch(key_path(path).read_bytes())
    except OSError:
        return 0, ""
    return (int(match[2]), match[3].decode()) if match and match[2] else (0, "")


def _written(line: Noted) -> bytes:
    """Return `line` as the ledger has it; only what was published may have a certificate."""
    record = line._asdict()
    if not record["certificate"]:
        del record["certificate"]
    return as_json(record)


def _decoded(line: Noted) -> bytes:
    return base64.b64decode(line.stood, validate=True)


def rows_published(ledger: Sequence[Noted]) -> tuple[set[str], set[bytes]]:
    """Return which rows were published by `ledger`: hashes of all of a release, and of each row."""
    public = [line for line in ledger if line.event == PUBLISHED]
    return {line.sha256 for line in public}, set[bytes]().union(*map(rows_of, public))


def certificate_of(ledger: Sequence[Noted], sha256: str) -> dict[str, Any]:
    """Return the certificate with which rows of this hash were published by `ledger`, or nothing.

    Rows keep their first one. A later one would say something of profiles that changed since.
    """
    lines = (line for line in ledger if line.event == PUBLISHED and line.sha256 == sha256)
    return next((dict(line.certificate) for line in lines if line.certificate), {})


def earlier_certificate(ledgers: Sequence[Path], sha256: str) -> dict[str, Any]:
    """Return the certificate of rows of this hash by the files `ledgers`, or nothing."""
    there = filter(Path.is_file, ledgers)  # what is none is refused by those who write it
    return certificate_of([line for path in there for line in _read(path)], sha256)


def rows_of(line: Noted) -> set[bytes]:
    """Return the hash of each row that the published `line` was the first to have."""
    stood = _decoded(line)  # a hash of a row and one of a person, by turns
    return {stood[at : at + ROW_HASH] for at in range(0, len(stood), 2 * ROW_HASH)}


def people_published(workspace: Workspace, people: Collection[str]) -> set[str]:
    """Return who of `people` stands in a row that was published by the ledger of `workspace`."""
    from .overlap import hash_of

    path = ledger_path(workspace)
    public = [line for line in _read(path) if line.event == PUBLISHED]
    key = _key(path, public)
    if key is None:
        return set()
    stood = b"".join(map(_decoded, public))
    hashes = {stood[at : at + ROW_HASH] for at in range(ROW_HASH, len(stood), 2 * ROW_HASH)}
    return {person for person in people if hash_of(person, key) in hashes}


class LastLedger:
    """Reads a ledger again only if it has changed since the last call."""

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


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Open the file while no other process writes it."""
    # It has its own lock: `publish` does not take the workspace's.
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _chained(record: bytes, before: bytes) -> bytes:
    """Return the line of `record`, with a hash of it and of the line `before` it."""
    chain = hashlib.sha256(before + b"\n" + record).hexdigest()
    return record[:-1] + f', "chain": "{chain}"}}\n'.encode()


def _append(path: Path, handle: int, record: bytes) -> None:
    """Write `record` after the last whole line, synced to the disk; a cut-off line is removed.

    The file of the key names the new line, if there is a key.
    """
    content = os.pread(handle, os.fstat(handle).st_size, 0)
    whole = content.rfind(b"\n") + 1
    line = _chained(record.rstrip(b"\n"), content[:whole].rstrip(b"\n").rpartition(b"\n")[2])
    os.ftruncate(handle, whole)
    try:
        written = os.pwrite(handle, line, whole)
        # A short write means a full disk. The line must be whole or absent.
        if written < len(line):
            raise OSError(28, "No space left on device")
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, whole)
        raise
    key = key_path(path)
    match = _KEY.fullmatch(key.read_bytes()) if key.exists() else None
    number = content.count(b"\n") + 1
    # A ledger that lost lines stays known as such.
    if match and number > int(match[2] or 0):
        end = hashlib.sha256(line.removesuffix(b"\n")).hexdigest()
        write_whole(key, f"{match[1].decode()}\n{number} {end}\n")

"""Releases on disk [I/O]: written whole or not at all, checked when read.

RELEASE/release.json    format, method, parameters, how the profiles were made, seed, input hash,
                        facts, hash of the rows
RELEASE/rows.jsonl      {"row": "g0001", "users": 4, "terms": {...}} a line
RELEASE/private/        who has which row, what was deleted of whose terms (where a method deletes),
                        its secret key (where it has one), and the hashes of all files; for the
                        owner only

Outside of private/ nothing names a user or holds a time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .line_reading import read_fields, read_rows
from .line_writing import record_lines, row_lines
from .model import BadInput, Profiles, Release
from .records import (
    Record,
    as_json,
    check_record,
    exchange,
    plain_errors,
    read_object,
    sync_folder,
    write_file,
)

FORMAT = 2
MANIFEST = "release.json"
ROWS = "rows.jsonl"
PRIVATE = "private"
MEMBERS = "private/members.jsonl"
DELETIONS = "private/deletions.jsonl"
KEY = "private/key.json"
CHECKSUMS = "private/checksums.sha256"  # as sha256sum writes and checks them
_OURS = "veil"  # begins the last part of a holder's name: .release.veil07af
_LOCK = "lock"

# The records by example.
_ROW: Record = {"row": "g0001", "users": 4, "terms": {"kitten": 1.0}}
_MEMBER: Record = {"user": "u1", "row": "g0001"}
_KEY: Record = {"key": "0a1b"}
_MANIFEST: Record = {
    "format": FORMAT,
    "method": "none",
    "parameters": {},
    "profiles": {},
    "seed": 0,
    "input_hash": "0a1b",
    "facts": {},
    "sha256": {},
}


def write_release(
    release: Release,
    folder: Path,
    *,
    seed: int,
    input_hash: str,
    profiles: Mapping[str, Any] | None = None,
) -> None:
    """Write a release; a release already there stays until the new one is whole.

    Beside it stand the choices that made its profiles.
    """
    _refuse_named_users(release)
    manifest = {
        "format": FORMAT,
        "method": release.method,
        "parameters": dict(release.parameters),
        "profiles": dict(profiles or {}),
        "seed": seed,
        "input_hash": input_hash,
        "facts": dict(release.facts),
    }
    with plain_errors(folder, "written"):
        _refuse_foreign(folder)
        _sweep(folder)
        with _holder(folder) as holder:
            _fill(holder / "new", release, manifest)
            _switch(holder / "new", folder, holder / "old")
            sync_folder(folder.parent)
    if holder.exists():
        raise BadInput(f"{folder} is written, but {holder} can't be removed; delete it by hand")


def read_release(folder: Path) -> Release:
    """Read a release and refuse it unless all its parts are whole and fit together."""
    with plain_errors(folder, "read"):
        manifest = _read_manifest(folder / MANIFEST)
        checksums = (folder / CHECKSUMS).read_bytes()
        also = [name for name in (DELETIONS, KEY) if name.encode() in checksums]
        names = (MANIFEST, ROWS, MEMBERS, *also)
        parts = {name: (folder / name).read_bytes() for name in names}
        changed = _changed(parts, manifest, checksums)
    if changed:
        raise BadInput(f"{folder / changed}: changed since it was written; make the release again")
    rows, sizes = read_rows(BytesIO(parts.pop(ROWS)), folder / ROWS, _ROW)
    users, row_of_user = _read_members(parts.pop(MEMBERS), folder / MEMBERS, rows)
    wrong = np.flatnonzero(np.bincount(row_of_user, minlength=len(rows)) != sizes)
    if wrong.size:
        where = f"{folder / ROWS}, line {wrong[0] + 1}"
        raise BadInput(f"{where}: users is not the number of members; make the release again")
    method, parameters, facts = (manifest[name] for name in ("method", "parameters", "facts"))
    key = _read_key(parts[KEY], folder / KEY) if KEY in parts else None
    return Release(rows, users, row_of_user, method, parameters, facts, key=key)


def read_manifest(folder: Path) -> Record:
    """Return what release.json says, which fits its format; its other parts are not looked at."""
    with plain_errors(folder, "read"):
        return _read_manifest(folder / MANIFEST)


def read_hash(folder: Path) -> str:
    """Return the SHA-256 of a release's published rows."""
    return str(read_manifest(folder)["sha256"][ROWS])


def read_input_hash(folder: Path) -> str:
    """Return the fingerprint of the profiles that a release was made from."""
    return str(read_manifest(folder)["input_hash"])


def _refuse_named_users(release: Release) -> None:
    users = set(release.users)
    seed = release.parameters.get("first_seed")  # the one parameter that names a user
    if seed in users - {"given", "drawn"}:
        raise BadInput("first_seed holds a user's id, which no release may; write given or drawn")
    if any(isinstance(fact, str) and fact in users for fact in release.facts.values()):
        raise BadInput("a fact holds a user's id, which no release may; leave it out")
    if users.isdisjoint(release.rows.users):
        return
    rows = [release.rows.users[row] for row in release.row_of_user.tolist()]
    if any(user == row for user, row in zip(release.users, rows, strict=True)):
        raise BadInput("a row has the name of its user; call the rows g0001, g0002, ...")


def _refuse_foreign(folder: Path) -> None:
    """Refuse to replace anything but a release."""
    if folder.is_dir() and not folder.is_symlink():
        if {path.name for path in folder.iterdir()} == {MANIFEST, ROWS, PRIVATE}:
            return
    elif not os.path.lexists(folder):
        return
    raise BadInput(f"{folder}: is there already and is no release; remove it or name another")


@contextmanager
def _holder(folder: Path) -> Iterator[Path]:
    """Make a folder for what is under way, with a file that is locked while its writer lives."""
    holder = folder.parent / f".{folder.name}.{_OURS}{secrets.token_hex(2)}"
    holder.mkdir(mode=0o700)
    try:
        with (holder / _LOCK).open("wb") as lock:
            with suppress(OSError):  # where there are no locks, nobody sweeps either
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield holder
    finally:
        _remove(holder, folder)


def _sweep(folder: Path) -> None:
    """Remove what killed writers of this folder left: it says who has which row."""
    name = re.compile(rf"\.{re.escape(folder.name)}\.{_OURS}[0-9a-f]{{4}}")
    for holder in folder.parent.glob(".*"):
        if name.fullmatch(holder.name):
            with suppress(OSError):  # it is in use, or not ours
                if _is_abandoned(holder):
                    if not folder.exists() and (holder / "old").exists():
                        (holder / "old").replace(folder)
                    _remove(holder, folder)


def _is_abandoned(holder: Path) -> bool:
    """Tell whether a folder holds nothing but ours; raise if its writer is at work."""
    if not {path.name for path in holder.iterdir()} <= {"new", "old", _LOCK}:
        return False
    with (holder / _LOCK).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def _remove(holder: Path, folder: Path) -> None:
    """Remove a holder unless the release that was to be replaced has only survived in it."""
    if folder.exists() or not (holder / "old").exists():
        shutil.rmtree(holder, ignore_errors=True)


def _fill(new: Path, release: Release, manifest: Record) -> None:
    new.mkdir()
    (new / PRIVATE).mkdir(mode=0o700)
    names = release.rows.users
    rows = row_lines(release.rows, {"row": names, "users": release.grouping.sizes.tolist()})
    served = [names[row] for row in release.row_of_user.tolist()]
    members = record_lines({"user": release.users, "row": served})
    sums = {
        ROWS: write_file(new / ROWS, rows),
        MEMBERS: write_file(new / MEMBERS, members, mode=0o600),
    }
    if release.deletions is not None:
        deleted = row_lines(release.deletions, {"user": release.deletions.users})
        sums[DELETIONS] = write_file(new / DELETIONS, deleted, mode=0o600)
    if release.key is not None:
        sums[KEY] = write_file(new / KEY, [as_json({"key": release.key.hex()})], mode=0o600)
    whole = as_json({**manifest, "sha256": {ROWS: sums[ROWS]}}, indent=1)
    sums[MANIFEST] = write_file(new / MANIFEST, [whole])
    write_file(new / CHECKSUMS, [_sum_line(*entry) for entry in sums.items()], mode=0o600)
    sync_folder(new / PRIVATE)
    sync_folder(new)


def _switch(new: Path, folder: Path, old: Path) -> None:
    """Move a new folder to its place; if that fails, what was there is put back."""
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


def _read_manifest(path: Path) -> Record:
    try:
        manifest = read_object(path.read_bytes())
        if manifest.get("format") != FORMAT:
            raise ValueError(f"format={manifest.get('format')!r} must be {FORMAT}")
        check_record(manifest, _MANIFEST)
    except (ValueError, RecursionError) as fault:
        raise BadInput(f"{path}: {fault}; make the release again") from fault
    return manifest


def _changed(parts: Mapping[str, bytes], manifest: Record, checksums: bytes) -> str:
    """Return a part that is not as it was written; nothing if all are."""
    found = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
    lines = checksums.splitlines(keepends=True)
    changed = [name for name, sha256 in found.items() if _sum_line(name, sha256) not in lines]
    if manifest["sha256"] != {ROWS: found[ROWS]}:
        changed.append(ROWS)
    return "".join(changed[:1])


def read_key(folder: Path) -> bytes | None:
    """Return the secret key that a release keeps; None of a method that has none."""
    path = folder / KEY
    if not path.exists():
        return None
    with plain_errors(path, "read"):
        return _read_key(path.read_bytes(), path)


def _read_key(content: bytes, path: Path) -> bytes:
    try:
        record = read_object(content)
        check_record(record, _KEY)
        return bytes.fromhex(record["key"])
    except (ValueError, RecursionError) as fault:  # none of which may show the key
        raise BadInput(f"{path}: holds no key; make the release again") from fault


def _sum_line(name: str, sha256: str) -> bytes:
    return f"{sha256}  {name}\n".encode()


def _read_members(
    content: bytes, path: Path, rows: Profiles
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the users and each one's row number."""
    fields = read_fields(BytesIO(content), path, _MEMBER)
    numbers = np.array([rows.row_of.get(row, -1) for row in fields["row"]], dtype=np.int64)
    if numbers.min() < 0:
        line = int(np.argmin(numbers)) + 1
        raise BadInput(f"{path}, line {line}: there is no such row; make the release again")
    return tuple(fields["user"]), numbers

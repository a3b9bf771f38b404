"""The manifest of an index folder: what was built, with a checksum of every file. [I/O]"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .brief import is_one_search
from .model import Document, SearchError

FORMAT = 2
MANIFEST = "manifest.json"
REMEDY = "build it again with: veilsearch index CORPUS"
_FINGERPRINTS = 1 << 256
_STAMPS = ".checked.json"  # a name with a dot belongs to no index
_STEADY = 2  # seconds; a change soon after another may have the same time


class Fingerprint:
    """A corpus in one number: the sum of its documents' SHA-256, in any order."""

    # A sum, so that an update can add and remove documents without reading the others.
    def __init__(self, start: str = "0") -> None:
        self._sum = int(start, 16)

    def add(self, document: Document) -> bytes:
        """Add `document`; return its own part of the sum."""
        text = "\0".join((document.id, document.title, document.text, document.url))
        part = hashlib.sha256(text.encode()).digest()
        self._sum = (self._sum + int.from_bytes(part)) % _FINGERPRINTS
        return part

    def remove(self, part: bytes) -> None:
        """Remove the document whose own part of the sum is `part`."""
        self._sum = (self._sum - int.from_bytes(part)) % _FINGERPRINTS

    def __str__(self) -> str:
        return f"{self._sum:064x}"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of the index in `folder`; refuse it unless its checksum is right."""
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8")
        manifest = json.loads(text)
        manifest.pop("checksum")
    except FileNotFoundError as error:
        raise SearchError(f"{folder}: no index here (no {MANIFEST}); {REMEDY}") from error
    except OSError as error:
        raise SearchError(
            f"{folder}: {MANIFEST} can't be read ({error.strerror}); check its rights, or {REMEDY}"
        ) from error
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        raise SearchError(f"{folder}: {MANIFEST} is damaged; {REMEDY}") from error
    if manifest.get("format") != FORMAT:
        raise SearchError(
            f"{folder}: format={manifest.get('format')} of the index must be {FORMAT}; {REMEDY}"
        )
    # Written again it must be the same text, with the same checksum.
    if _text(manifest) != text:
        raise SearchError(f"{folder}: {MANIFEST} is damaged; {REMEDY}")
    return dict(manifest)


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write `manifest` with a checksum of every file in `folder`; all is flushed to the disk."""
    manifest["files"] = {}
    for name in _names(folder):
        sync(folder / name)
        manifest["files"][name] = {
            "bytes": (folder / name).stat().st_size,
            "sha256": _digest(folder / name),
        }
    # The manifest comes last: an index without one is unfinished.
    (folder / MANIFEST).write_text(_text(manifest), encoding="utf-8")
    parts = {folder / Path(name).parent for name in manifest["files"]}
    for path in (folder / MANIFEST, *sorted(parts - {folder}), folder):
        sync(path)


def faults_of(folder: Path, manifest: dict[str, Any]) -> Iterator[str]:
    """Yield how the files in `folder` differ from `manifest`; raise if only extra files do.

    All bytes are read, but for one search: files that nobody touched since are not read again.
    """
    files, there = manifest["files"], set(_names(folder))
    stamps = _stamps(folder, files) if is_one_search() else None
    untouched = stamps is not None and stamps == _kept_stamps(folder)
    foreign = sorted(there - set(files))
    damaged = []
    for name, built in files.items():
        path = folder / name
        if name not in there:
            damaged.append(f"{name} is missing")
        elif path.stat().st_size != built["bytes"]:
            damaged.append(f"{name} has {path.stat().st_size} bytes instead of {built['bytes']}")
        elif not untouched and _digest(path) != built["sha256"]:
            damaged.append(f"{name} has changed since it was built")
    # A whole index needs no new build: to delete the extra file is enough.
    if foreign and not damaged:
        more = f" (nor do {len(foreign) - 1} more)" if foreign[1:] else ""
        raise SearchError(
            f"{folder}: {foreign[0]} does not belong to the index{more}; delete that file"
        )
    yield from (f"{name} does not belong to the index" for name in foreign)
    yield from damaged
    if stamps and not (untouched or foreign or damaged):
        _keep_stamps(folder, stamps)


def _stamps(folder: Path, files: dict[str, Any]) -> dict[str, list[Any]] | None:
    """Return what changes if one of `files` is written or replaced; None if one is missing."""
    stamps = {}
    with suppress(OSError):
        for name, built in files.items():
            facts = (folder / name).stat()
            # Anybody may set the time of a change back, but not the last of these.
            times = [facts.st_mtime_ns, facts.st_ctime_ns]
            stamps[name] = [built["sha256"], facts.st_size, facts.st_ino, *times]
    return stamps if len(stamps) == len(files) else None


def _kept_stamps(folder: Path) -> object:
    """Return the stamps of the files that were last read whole and were right, if they are kept."""
    try:
        return json.loads((folder / _STAMPS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _keep_stamps(folder: Path, stamps: dict[str, list[Any]]) -> None:
    if max(stamp[-1] for stamp in stamps.values()) / 1e9 > time.time() - _STEADY:
        return
    path = folder / f"{_STAMPS}.{os.getpid()}"
    with suppress(OSError):  # where nobody may write, all is read each time
        path.write_text(json.dumps(stamps), encoding="utf-8")
        path.replace(folder / _STAMPS)


def _names(folder: Path) -> list[str]:
    """Return the names of an index's files, except the manifest."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    # Names with a dot come from file systems and desktops.
    names = (path.as_posix() for path in paths if not any(p.startswith(".") for p in path.parts))
    return sorted(name for name in names if name != MANIFEST)


def _text(manifest: dict[str, Any]) -> str:
    """Return the text of `manifest` with a checksum of itself."""
    content = json.dumps(manifest, indent=1, sort_keys=True)
    checksum = hashlib.sha256(content.encode()).hexdigest()
    return json.dumps({**manifest, "checksum": checksum}, indent=1, sort_keys=True) + "\n"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Flush the file or folder at `path` to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

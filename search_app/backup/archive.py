"""The file of a backup [I/O]: a tar of the workspace's files, and last a list of their hashes."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, Any

from .. import __version__
from ..errors import UsageError
from ..workspace.folder import check_of

_FOLDER = "workspace/"  # in the tar, before each name
_LIST = "backup.json"
_AT_ONCE = 1 << 20  # bytes that are read in one go
_FORMAT = 1
_DEEPEST = 20  # folders in one another, in a workspace
_SHOWN = 40  # characters of a version that a message shows


def write_archive(file: IO[bytes], contents: Iterable[tuple[str, Path]]) -> None:
    """Write to `file` what is in the files of `contents`, by name, and a list of all hashes."""
    hashes = {}
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, path in contents:
            with path.open("rb") as content:
                counting = _Hashing(content)
                entry = _entry(f"{_FOLDER}{name}", path.stat().st_size)
                try:
                    tar.addfile(entry, counting)
                except OSError as fault:  # of tarfile: the file is shorter by now
                    raise UsageError(f"{path} can't be read whole ({fault}); try again") from fault
            hashes[name] = counting.hash.hexdigest()
        record: dict[str, Any] = {"format": _FORMAT, "veilsearch": __version__, "files": hashes}
        text = json.dumps({**record, "check": check_of(record)}, indent=1).encode()
        tar.addfile(_entry(_LIST, len(text)), io.BytesIO(text))


def read_archive(path: Path) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each file of the backup in `path`: its name, and its content in parts.

    At the end the hashes of all that was read are compared. A backup that was cut off or changed is
    refused then, so what was yielded counts only after that.
    """
    hashes: dict[str, str] = {}
    with _plain(path), tarfile.open(path, "r:") as tar:
        for entry in tar:
            content = tar.extractfile(entry) if entry.isreg() else None
            if content is None:
                raise ValueError(f"{entry.name!r} is no file")
            if entry.name == _LIST:
                _compare(json.load(content), hashes)
                return
            name = _name(entry.name)
            if name in hashes:
                raise ValueError(f"{name!r} comes twice")
            counting = _Hashing(content)
            yield name, _parts(path, counting)
            hashes[name] = counting.hash.hexdigest()
        raise ValueError("its end is missing")


def _parts(path: Path, content: _Hashing) -> Iterator[bytes]:
    with _plain(path):
        while part := content.read(_AT_ONCE):
            yield part


def _compare(record: Any, hashes: dict[str, str]) -> None:
    if record.pop("check") != check_of(record):
        raise ValueError("the list of its files is damaged")
    if record["format"] != _FORMAT:
        by = ascii(record["veilsearch"])[:_SHOWN]
        raise UsageError(f"veilsearch {by} made this backup in a form that this version can't read")
    if changed := sorted(record["files"].items() ^ hashes.items()):
        raise ValueError(f"{changed[0][0]!r} is not as it was written")


def _name(name: str) -> str:
    """Return the `name` of an entry relative to the workspace; refuse one that leads elsewhere."""
    inner = name.removeprefix(_FOLDER)
    parts = PurePosixPath(inner).parts
    if inner == name or not 0 < len(parts) < _DEEPEST or parts[0] == "/" or ".." in parts:
        raise ValueError(f"{name!r} is not in a workspace")
    return inner


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry


class _Hashing:
    """A file that is read, and the hash of what was read of it."""

    def __init__(self, file: IO[bytes]):
        self._file, self.hash = file, sha256()

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes."""
        part = self._file.read(size)
        self.hash.update(part)
        return part


@contextmanager
def _plain(path: Path) -> Iterator[None]:
    """Turn what is wrong with the backup in `path` into one line."""
    try:
        yield
    except OSError as fault:
        raise UsageError(f"{path} can't be read ({fault.strerror or fault})") from fault
    except (
        tarfile.TarError,
        EOFError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as fault:
        raise UsageError(f"{path} is no whole backup ({fault}); take another one") from fault

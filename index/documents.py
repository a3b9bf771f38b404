"""Corpora on disk to documents, streaming; every file and document is counted. [I/O]"""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from .entries import Entries, wordnet_entries
from .formats import FORMATS, tell
from .model import Account, Document, SearchError

__all__ = ["FORMATS", "Account", "Entries", "read_documents", "wordnet_entries"]

PACKED = (".gz", ".bz2")
SNIFF = 1 << 16


def read_documents(paths: Sequence[Path], form: str | None, account: Account) -> Iterator[Document]:
    """Read files and folders; without a form, each file's suffix or first bytes tell it."""
    if form is not None and form not in FORMATS:
        raise SearchError(f"format={form} must be one of {', '.join(FORMATS)}")
    for file, told in _plan(paths, form, account):
        yield from _read_file(file, told, account)


def _plan(paths: Sequence[Path], form: str | None, account: Account) -> list[tuple[Path, str]]:
    """Tell every file's format before the first is read."""
    plan = []
    for path in paths:
        for file in _files(path, account):
            fault = _fault(file)
            if fault and file == path:
                raise SearchError(f"{file}: {fault}")
            told = "" if fault else form or _tell(file)
            if told:
                plan.append((file, told))
            elif file == path:
                known = ", ".join(FORMATS)
                raise SearchError(f"{file}: unknown format; name it with --format, one of {known}")
            else:
                account.skip(str(file), "whole file", fault or "unknown format")
    return plan


def _files(path: Path, account: Account) -> list[Path]:
    """List a folder's files to the bottom; a subfolder that can't be listed is skipped."""

    def unlisted(error: OSError) -> None:
        if Path(error.filename) == path:
            raise SearchError(f"{path}: {_unopened(error)}") from error
        account.skip(error.filename, "whole folder", _unopened(error))

    try:
        if not path.exists():
            raise SearchError(f"{path}: no such file or folder; give the path of a corpus")
        if not path.is_dir():
            return [path]
    except OSError as error:
        raise SearchError(f"{path}: {_unopened(error)}") from error
    walked = os.walk(path, onerror=unlisted)
    return sorted(Path(folder, name) for folder, _, names in walked for name in names)


def _fault(file: Path) -> str:
    """Say why a file can't be read; a pipe can't, since it gives its bytes only once."""
    try:
        if file.exists() and not file.is_file():
            return "not a regular file; save it to a file first"
        file.open("rb").close()
    except OSError as error:
        return _unopened(error)
    return ""


def _unopened(error: OSError) -> str:
    return f"cannot be opened ({error.strerror}); see to its rights"


def _tell(file: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in file.suffixes if suffix.lower() not in PACKED]
    with _unpacked(file) as stream:
        return tell(suffixes[-1] if suffixes else "", stream.read(SNIFF))


def _read_file(file: Path, form: str, account: Account) -> Iterator[Document]:
    found = False
    with _unpacked(file) as stream:
        for line, document in FORMATS[form](stream, account):
            found = True
            if isinstance(document, str):
                account.skip(str(file), f"line {line}", document)
            else:
                account.read += 1
                yield document
    if not found:
        account.skip(str(file), "whole file", "no document found")


@contextmanager
def _unpacked(file: Path) -> Iterator[BinaryIO]:
    """Open a file, unpacking what its suffix or its first bytes say is packed."""
    try:
        with _open(file) as stream:
            yield stream
    except (OSError, EOFError, zlib.error) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise SearchError(f"{file}: cannot be read to its end ({said}); get it again") from error


def _open(file: Path) -> BinaryIO:
    with file.open("rb") as raw:
        magic = raw.read(3)
    if file.suffix.lower() == ".gz" or magic.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.open(file))
    if file.suffix.lower() == ".bz2" or magic == b"BZh":
        return cast(BinaryIO, bz2.open(file))
    return file.open("rb")

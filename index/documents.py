"""Corpora on disk to documents, streaming; every file and document is counted. [I/O]"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path, PurePath
from typing import cast

from .corpus_files import corpus_files, left_out
from .entries import Entries, wordnet_entries
from .formats import FORMATS, tell
from .model import Account, Document, SearchError
from .packing import PACKED, PEEK, Broken, unpacked

__all__ = ["FORMATS", "Account", "Entries", "read_documents", "wordnet_entries"]

_NOT_FILES = ("wordnet", "irds")  # formats that are read from elsewhere

UNKNOWN = "unknown format"
EMPTY = "no document found"


def read_documents(paths: Sequence[Path], form: str | None, account: Account) -> Iterator[Document]:
    """Read files and folders; without a form, each file's suffix or first bytes tell it."""
    if form is not None and form not in FORMATS:
        raise SearchError(f"format={form} must be one of {', '.join((*FORMATS, *_NOT_FILES))}")
    files = corpus_files(paths, form, account)
    named = set(paths)
    for file, _ in files:
        if file in named and form is None:
            try:
                _check_told(file)
            except OSError as error:  # it has gone since it was listed, or its disk fails
                raise _unread(str(file), error) from error
    account.size += sum(size for _, size in files)
    for file, size in files:
        before = account.done
        try:
            with _open(file) as raw:
                for document in _read_file(raw, file, form, file in named, account):
                    account.done = max(account.done, before + min(raw.tell(), size))
                    yield document
        except OSError as error:  # it has gone since it was listed
            _break(str(file), "whole file", error, file in named, account)
        account.done = before + size


def _check_told(file: Path) -> None:
    """Refuse a file of unknown format before any is read; archives tell member by member."""
    with _open(file) as raw:
        name, stream = next(unpacked(raw, str(file)), ("", ""))
        if name == str(file):
            if isinstance(stream, Broken):
                raise _unread(name, stream)
            if isinstance(stream, BufferedReader) and not _told(name, stream):
                known = ", ".join(FORMATS)
                raise SearchError(f"{file}: {UNKNOWN}; name it with --format, one of {known}")


def _open(file: Path) -> BufferedReader:
    return cast(BufferedReader, file.open("rb", buffering=PEEK))


def _told(name: str, stream: BufferedReader) -> str | None:
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    known = [suffix for suffix in suffixes if suffix not in PACKED]
    return tell(known[-1] if known else "", stream.peek(PEEK))


def _read_file(
    raw: BufferedReader, file: Path, form: str | None, named: bool, account: Account
) -> Iterator[Document]:
    """Read a file, or what is in it; what breaks is counted, or refused if it was named."""
    found = False
    for name, stream in unpacked(raw, str(file)):
        found = True
        inside = name.removeprefix(f"{file}/")
        if isinstance(stream, str):
            account.skip(name, "whole file", stream)
        elif isinstance(stream, Broken):
            _break(name, "whole file", stream, named, account)
        elif name != inside and (reason := left_out(inside, form)):
            account.skip(name, "whole file", reason)
        else:
            told = form or _told(name, stream)
            if told:
                yield from _read_stream(stream, name, told, named, account)
            else:
                account.skip(name, "whole file", UNKNOWN)
    if not found:
        account.skip(str(file), "whole file", EMPTY)


def _read_stream(
    stream: BufferedReader, name: str, form: str, named: bool, account: Account
) -> Iterator[Document]:
    line = 0
    try:
        for line, document in FORMATS[form](stream, account):
            if isinstance(document, str):
                account.skip(name, f"line {line}", document)
            else:
                account.read += 1
                yield document
    except (Broken, OSError) as error:
        _break(name, f"after line {line}" if line else "whole file", error, named, account)
        return
    if not line:
        account.skip(name, "whole file", EMPTY)


def _break(name: str, where: str, error: Broken | OSError, named: bool, account: Account) -> None:
    if named:
        raise _unread(name, error) from error
    what = "broken archive" if isinstance(error, Broken) else "cannot be read further"
    account.skip(name, where, f"{what} ({_said(error)})")


def _unread(name: str, error: Broken | OSError) -> SearchError:
    if isinstance(error, OSError):
        return SearchError(f"{name}: cannot be read ({_said(error)}); see to the file and its disk")
    return SearchError(f"{name}: cannot be read to its end ({_said(error)}); get it again")


def _said(error: Broken | OSError) -> str:
    return str(error.strerror or error) if isinstance(error, OSError) else str(error)

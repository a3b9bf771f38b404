"""Corpora on disk to a stream of documents; every file and document is counted. [I/O]

A format has a reader `(stream, account) -> (line, document or why it is skipped)`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path, PurePath
from typing import cast

from ..model import Account, Document, SearchError
from .files import corpus_files, why_skipped
from .lines import is_table, read_jsonl, read_tsv
from .packing import PACKED, PEEK, BrokenFile, unpacked
from .records import Reader
from .trec import read_trec
from .wordnet import Entries, wordnet_entries

__all__ = ["FORMATS", "Account", "Entries", "read_documents", "wordnet_entries"]

FORMATS: dict[str, Reader] = {
    "trec": read_trec,
    "jsonl": read_jsonl,
    "beir": read_jsonl,
    "tsv": read_tsv,
}
SUFFIXES = {
    **dict.fromkeys((".trec", ".sgml", ".sgm", ".trectext", ".trecweb"), "trec"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
}

_TREC = re.compile(rb"<DOC(?:\s[^<>]{0,1000})?>", re.I)
_NOT_FILES = ("wordnet", "irds")  # formats that are not read from files

UNKNOWN = "unknown format"
EMPTY = "no document found"


def read_documents(paths: Sequence[Path], form: str | None, account: Account) -> Iterator[Document]:
    """Yield the documents of `paths` in the format `form`, or in what each file shows by itself."""
    if form is not None and form not in FORMATS:
        raise SearchError(f"format={form} must be one of {', '.join((*FORMATS, *_NOT_FILES))}")
    files = corpus_files(paths, form, account)
    named = set(paths)
    # All named files are looked at before the first is read, so that no build fails late.
    for file, _ in files:
        if file in named and form is None:
            try:
                _check_format(file)
            except OSError as error:  # it was removed since it was listed, or its disk fails
                raise _unread(str(file), error) from error
    account.size += sum(size for _, size in files)
    for file, size in files:
        before = account.done
        try:
            with _open(file) as raw:
                for document in _read_file(raw, file, form, file in named, account):
                    account.done = max(account.done, before + min(raw.tell(), size))
                    yield document
        except OSError as error:  # it was removed since it was listed
            _break(str(file), "whole file", error, file in named, account)
        account.done = before + size


def _check_format(file: Path) -> None:
    """Refuse a file of unknown format before any is read; archives have a format per member."""
    with _open(file) as raw:
        name, stream = next(unpacked(raw, str(file)), ("", ""))
        if name == str(file):
            if isinstance(stream, BrokenFile):
                raise _unread(name, stream)
            if isinstance(stream, BufferedReader) and not _format_of(name, stream):
                known = ", ".join(FORMATS)
                raise SearchError(f"{file}: {UNKNOWN}; name it with --format, one of {known}")


def _open(file: Path) -> BufferedReader:
    return cast(BufferedReader, file.open("rb", buffering=PEEK))


def format_of(suffix: str, start: bytes) -> str | None:
    """Return the format that a file's `suffix` or first bytes, `start`, show; None if unknown."""
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    start = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if suffix == ".tsv":
        return "tsv" if is_table(start) else None
    if start.startswith(b"{"):
        return "jsonl"
    return "trec" if start.startswith(b"<") and _TREC.search(start) else None


def _format_of(name: str, stream: BufferedReader) -> str | None:
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    known = [suffix for suffix in suffixes if suffix not in PACKED]
    return format_of(known[-1] if known else "", stream.peek(PEEK))


def _read_file(
    raw: BufferedReader, file: Path, form: str | None, named: bool, account: Account
) -> Iterator[Document]:
    """Yield the documents of a file or its members; a break is counted, or refused if `named`."""
    empty = True
    for name, stream in unpacked(raw, str(file)):
        empty = False
        inside = name.removeprefix(f"{file}/")
        if isinstance(stream, str):
            account.skip(name, "whole file", stream)
        elif isinstance(stream, BrokenFile):
            _break(name, "whole file", stream, named, account)
        elif name != inside and (reason := why_skipped(inside, form)):
            account.skip(name, "whole file", reason)
        else:
            known = form or _format_of(name, stream)
            if known:
                yield from _read_stream(stream, name, known, named, account)
            else:
                account.skip(name, "whole file", UNKNOWN)
    if empty:
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
    except (BrokenFile, OSError) as error:
        _break(name, f"after line {line}" if line else "whole file", error, named, account)
        return
    if not line:
        account.skip(name, "whole file", EMPTY)


def _break(
    name: str, where: str, error: BrokenFile | OSError, named: bool, account: Account
) -> None:
    if named:
        raise _unread(name, error) from error
    what = "broken archive" if isinstance(error, BrokenFile) else "can't be read further"
    account.skip(name, where, f"{what} ({_why(error)})")


def _unread(name: str, error: BrokenFile | OSError) -> SearchError:
    if isinstance(error, OSError):
        return SearchError(f"{name}: can't be read ({_why(error)}); check the file and its disk")
    return SearchError(f"{name}: can't be read to its end ({_why(error)}); get it again")


def _why(error: BrokenFile | OSError) -> str:
    return str(error.strerror or error) if isinstance(error, OSError) else str(error)

"""Corpora on disk to a stream of documents; every file and document is counted. [I/O]

A format of many documents has a reader `(stream, account) -> (line, document or why it is
skipped)`. In the other formats a file is one document, whose id is the path in its folder.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from io import BufferedIOBase, BufferedReader
from pathlib import Path, PurePath
from typing import cast

from ..model import Account, Document, SearchError
from .files import corpus_files, noted, place_of, why_skipped
from .lines import is_table, read_csv, read_jsonl, read_tsv
from .packing import PACKED, PEEK, BrokenFile, unpacked
from .pdf import PdfTexts
from .records import LIMIT, TOO_LONG, Reader, own_document
from .texts import TEXTS, decoded
from .trec import read_trec
from .wordnet import Entries, wordnet_entries

__all__ = ["FORMATS", "Account", "Entries", "read_documents", "wordnet_entries"]

RECORDS: dict[str, Reader] = {
    "trec": read_trec,
    "jsonl": read_jsonl,
    "beir": read_jsonl,
    "tsv": read_tsv,
}
FORMATS = (*RECORDS, "csv", "pdf", *TEXTS)
SUFFIXES = {
    **dict.fromkeys((".trec", ".sgml", ".sgm", ".trectext", ".trecweb"), "trec"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    ".csv": "csv",
    ".pdf": "pdf",
}

_TREC = re.compile(rb"<DOC(?:\s[^<>]{0,1000})?>", re.I)
_NOT_FILES = ("wordnet", "irds")  # formats that are not read from files

UNKNOWN = "unknown format"
EMPTY = "no document found"
WHOLE = -1  # in place of a line: a file that is one document


@dataclass
class _Reading:
    """How files are read."""

    paths: Sequence[Path]
    form: str | None
    account: Account
    columns: Mapping[str, str]
    named: Collection[Path] = field(init=False)
    pdfs: PdfTexts = field(default_factory=PdfTexts)

    def __post_init__(self) -> None:
        self.named = {*self.paths}

    def id_of(self, file: Path, name: str) -> str:
        """Return the path of `file` in the folder it was listed from, and `name`'s place in it."""
        folder = next((path for path in self.paths if file.is_relative_to(path)), file)
        own = file.name if file in self.named else file.relative_to(folder).as_posix()
        return own + name.removeprefix(str(file))


def read_documents(
    paths: Sequence[Path],
    form: str | None,
    account: Account,
    *,
    columns: Mapping[str, str] | None = None,
    but: Collection[str] = (),
) -> Iterator[Document]:
    """Yield the documents of `paths` in the format `form`, or in what each file shows by itself.

    `columns` of a table have these names. Files whose path is in `but` are not read.
    """
    if form is not None and form not in FORMATS:
        raise SearchError(f"format={form} must be one of {', '.join((*FORMATS, *_NOT_FILES))}")
    how = _Reading(paths, form, account, columns or {})
    listed = corpus_files(paths, form, account)
    files = [(file, size) for file, size in listed if place_of(file) not in but]
    # All named files are looked at before the first is read, so that no build fails late.
    for file, _ in files:
        if file in how.named and form is None:
            try:
                _check_format(file)
            except OSError as error:  # it was removed since it was listed, or its disk fails
                raise _unread(str(file), error) from error
    account.size += sum(size for _, size in files)
    with closing(how.pdfs):
        for file, size in files:
            before = account.done
            try:
                account.sources[place_of(file)] = source = noted(file)
                with _open(file) as raw:
                    for document in _read_file(raw, file, how):
                        account.done = max(account.done, before + min(raw.tell(), size))
                        source.ids.append(document.id)
                        yield document
            except OSError as error:  # it was removed since it was listed
                _break(str(file), "whole file", error, file in how.named, account)
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
    if start.startswith(b"%PDF-"):
        return "pdf"
    if start.startswith(b"<") and _TREC.search(start):
        return "trec"
    return "text" if suffix in (".txt", ".text") else None


def _format_of(name: str, stream: BufferedReader) -> str | None:
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    known = [suffix for suffix in suffixes if suffix not in PACKED]
    return format_of(known[-1] if known else "", stream.peek(PEEK))


def _read_file(raw: BufferedReader, file: Path, how: _Reading) -> Iterator[Document]:
    """Yield the documents of a file or its members; a break is counted, or refused if named."""
    empty, account, named = True, how.account, file in how.named
    for name, stream in unpacked(raw, str(file)):
        empty = False
        inside = name.removeprefix(f"{file}/")
        if isinstance(stream, str):
            account.skip(name, "whole file", stream)
        elif isinstance(stream, BrokenFile):
            _break(name, "whole file", stream, named, account)
        elif name != inside and (reason := why_skipped(inside, how.form)):
            account.skip(name, "whole file", reason)
        elif form := how.form or _format_of(name, stream):
            reader = _reader(form, how.id_of(file, name), how)
            yield from _read_stream(stream, name, reader, named, account)
        else:
            account.skip(name, "whole file", UNKNOWN)
    if empty:
        account.skip(str(file), "whole file", EMPTY)


def _reader(form: str, id_: str, how: _Reading) -> Reader:
    """Return what reads a file in the format `form`, whose own id would be `id_`."""
    if form in RECORDS:
        return RECORDS[form]
    if form == "csv":
        return partial(read_csv, name=id_, columns=how.columns)
    return lambda stream, _account: iter([(WHOLE, _whole(stream, id_, form, how))])


def _read_stream(
    stream: BufferedReader, name: str, reader: Reader, named: bool, account: Account
) -> Iterator[Document]:
    line = 0
    try:
        for line, document in reader(stream, account):
            if isinstance(document, str):
                where = "whole file" if line == WHOLE else f"line {line}"
                account.skip(name, where, document)
            else:
                account.read += 1
                yield document
    except (BrokenFile, OSError) as error:
        _break(name, f"after line {line}" if line else "whole file", error, named, account)
        return
    if not line:
        account.skip(name, "whole file", EMPTY)


def _whole(stream: BufferedIOBase, id_: str, form: str, how: _Reading) -> Document | str:
    """Return the one document in `stream`; without a title, its file's name is one."""
    made = _texts(stream, form, how)
    if isinstance(made, str):
        return made
    title, text = made
    if not (title or text):
        return EMPTY
    return own_document(id_, title or PurePath(id_).stem.replace("_", " "), text, "")


def _texts(stream: BufferedIOBase, form: str, how: _Reading) -> tuple[str, str] | str:
    """Return the title and text of the file in `stream`, or why it is skipped."""
    if form == "pdf":
        made = how.pdfs.read(stream)
        if isinstance(made, str):
            return made
        how.account.cut += made[2]
        return made[0], made[1]
    data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        return TOO_LONG
    return TEXTS[form](decoded(data, how.account, page=form == "html"))


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

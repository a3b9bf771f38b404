"""The files of a corpus: folders walked to the bottom; what is left out is counted. [I/O]"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from .model import Account, SearchError

READ_ALREADY = "a folder that was read already (a link leads to it)"
BESIDE_CORPUS = "queries or judgments of a BEIR corpus"
NO_CORPUS = "not a BEIR corpus.jsonl"
QUERIES = "queries or judgments by its name; name the file itself to read it"
QUERIES_INSIDE = "queries or judgments by its name; unpack it and name the file itself to read it"
LINK_TO_NOTHING = "a link to nothing; mend or remove it"

_CORPUS = re.compile(r"corpus\.jsonl(\.\w+)?", re.I)
_BESIDE = re.compile(r"(queries\.jsonl|qrels)(\..*)?", re.I)
_QUERIES = re.compile(r"(queries|topics|qrels)([._-].*)?\.(tsv|jsonl)(\.\w+)?", re.I)


def corpus_files(
    paths: Sequence[Path], form: str | None, account: Account
) -> list[tuple[Path, int]]:
    """List the files to read and their sizes; one that is named is refused if it can't be read."""
    files = []
    for path in paths:
        named = not _is_folder(path)
        for file in [path] if named else _listed(path, form, account):
            found = _sized(file)
            if not isinstance(found, str):
                files.append((file, found))
            elif named:
                raise SearchError(f"{file}: {found}")
            else:
                account.skip(str(file), "whole file", found)
    return files


def left_out(member: str, form: str | None) -> str | None:
    """Say why a member of an archive is left out, by its name and its folders', as in a folder."""
    *folders, name = re.split(r"[/\\]", member)
    if _QUERIES.fullmatch(name) or any(_BESIDE.fullmatch(folder) for folder in folders):
        return QUERIES_INSIDE
    return NO_CORPUS if form == "beir" and not _CORPUS.fullmatch(name) else None


def _is_folder(path: Path) -> bool:
    try:
        if not path.exists():
            if path.is_symlink():
                raise SearchError(f"{path}: {LINK_TO_NOTHING}")
            raise SearchError(f"{path}: no such file or folder; give the path of a corpus")
        return path.is_dir()
    except OSError as error:
        raise SearchError(f"{path}: {_unopened(error)}") from error


def _listed(folder: Path, form: str | None, account: Account) -> list[Path]:
    """List a folder's files to the bottom, each real folder once, in the order of their names."""
    files: list[Path] = []
    seen: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            names = _names(here, seen)
        except OSError as error:
            if here == folder:
                raise SearchError(f"{here}: {_unopened(error)}") from error
            account.skip(str(here), "whole folder", _unopened(error))
            continue
        if names is None:
            account.skip(str(here), "whole folder", READ_ALREADY)
            continue
        kept = _kept(here, names, form, account)
        files += [here / name for name, is_folder in kept if not is_folder]
        waiting += [here / name for name, is_folder in reversed(kept) if is_folder]
    return sorted(files)


def _names(folder: Path, seen: set[tuple[int, int]]) -> list[tuple[str, bool]] | None:
    """Return what is in a folder, and what of it is a folder; None if it was seen before."""
    facts = folder.stat()
    place = (facts.st_dev, facts.st_ino)
    if place in seen:
        return None
    with os.scandir(str(folder)) as entries:
        names = sorted((entry.name, _leads_to_folder(entry)) for entry in entries)
    seen.add(place)
    return names


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle, which must not hide what stands beside it
        return False


def _kept(
    folder: Path, names: list[tuple[str, bool]], form: str | None, account: Account
) -> list[tuple[str, bool]]:
    """Leave out what a folder holds beside its documents: queries and judgments."""
    corpus = any(_CORPUS.fullmatch(name) for name, _ in names)
    beir = corpus and any(_BESIDE.fullmatch(name) for name, _ in names)
    kept = []
    for name, is_folder in names:
        reason = ""
        if beir and _BESIDE.fullmatch(name):
            reason = BESIDE_CORPUS
        elif not is_folder and (beir or form == "beir") and not _CORPUS.fullmatch(name):
            reason = NO_CORPUS
        elif not is_folder and _QUERIES.fullmatch(name):
            reason = QUERIES
        if reason:
            account.skip(str(folder / name), "whole folder" if is_folder else "whole file", reason)
        else:
            kept.append((name, is_folder))
    return kept


def _sized(file: Path) -> int | str:
    """Return a file's size, or why it can't be read; a pipe gives its bytes only once."""
    try:
        if file.is_symlink() and not file.exists():
            return LINK_TO_NOTHING
        if file.exists() and not file.is_file():
            return "not a regular file; save it to a file first"
        with file.open("rb") as opened:
            return os.fstat(opened.fileno()).st_size
    except OSError as error:
        return _unopened(error)


def _unopened(error: OSError) -> str:
    return f"cannot be opened ({error.strerror}); see to its rights"

"""The files of a corpus, from folders at any depth; what is skipped is counted. [I/O]"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from ..model import Account, SearchError, Source

READ_ALREADY = "a folder that was read already (a link leads to it)"
BESIDE_CORPUS = "queries or judgments of a BEIR corpus"
NO_CORPUS = "not a BEIR corpus.jsonl"
QUERIES = "queries or judgments by its name; name the file itself to read it"
ABOUT = "about other files by its name; name the file itself to read it"
QUERIES_INSIDE = "queries or judgments by its name; unpack it and name the file itself to read it"
LINK_TO_NOTHING = "a link to nothing; mend or remove it"

_TICK = 2_000_000_000  # nanoseconds; the coarsest clock of a disk

_CORPUS = re.compile(r"corpus\.jsonl(\.\w+)?", re.I)
_BESIDE = re.compile(r"(queries\.jsonl|qrels)(\..*)?", re.I)
_QUERIES = re.compile(r"(queries|topics|qrels)([._-].*)?\.(tsv|jsonl|txt|csv)(\.\w+)?", re.I)
_ABOUT = re.compile(r"(readme|licen[cs]e|copying|source|notice)\.(txt|md)", re.I)


def corpus_files(
    paths: Sequence[Path], form: str | None, account: Account
) -> list[tuple[Path, int]]:
    """Return the files to read with their sizes; one of `paths` that can't be read is refused."""
    files = []
    for path in paths:
        named = not _is_folder(path)
        for file in [path] if named else _listed(path, form, account):
            size = _sized(file)
            if not isinstance(size, str):
                files.append((file, size))
            elif named:
                raise SearchError(f"{file}: {size}")
            else:
                account.skip(str(file), "whole file", size)
    return files


def place_of(path: Path) -> str:
    """Return the full path of `path`; links in it stay links."""
    return os.path.abspath(path)  # noqa: PTH100  # resolve() would follow them


def noted(file: Path) -> Source:
    """Return size, time of change and hash of `file`."""
    with file.open("rb") as opened:
        facts = os.fstat(opened.fileno())
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    changed = _changed(facts)
    # A file may change twice within one tick of the disk's clock.
    settled = time.time_ns() - changed > _TICK
    return Source(facts.st_size, changed if settled else 0, digest)


def is_same(file: Path, before: Source) -> bool:
    """Return whether `file` is as it was `before`; it is read only if it may have changed."""
    try:
        facts = file.stat()
        if facts.st_size != before.size:
            return False
        return _changed(facts) == before.modified or noted(file).sha256 == before.sha256
    except OSError:  # it was removed since it was listed, or its disk fails: who reads it says so
        return False


def _changed(facts: os.stat_result) -> int:
    # Programs that copy or restore a file set the first time, but none can set the second.
    return max(facts.st_mtime_ns, facts.st_ctime_ns)


def is_gone(file: Path) -> bool:
    """Return whether `file` is surely not there any more."""
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # its folder can't be opened: nobody knows
        return False
    return False


def why_skipped(member: str, form: str | None) -> str | None:
    """Return why `member` of an archive is skipped by its path; the rules are those of folders."""
    *folders, name = re.split(r"[/\\]", member)
    if _QUERIES.fullmatch(name) or any(_BESIDE.fullmatch(folder) for folder in folders):
        return QUERIES_INSIDE
    if _ABOUT.fullmatch(name):
        return ABOUT
    return NO_CORPUS if form == "beir" and not _CORPUS.fullmatch(name) else None


def _is_folder(path: Path) -> bool:
    try:
        if not path.exists():
            if path.is_symlink():
                raise SearchError(f"{path}: {LINK_TO_NOTHING}")
            raise SearchError(f"{path}: no such file or folder; name the path of a corpus")
        return path.is_dir()
    except OSError as error:
        raise SearchError(f"{path}: {_unopened(error)}") from error


def _listed(folder: Path, form: str | None, account: Account) -> list[Path]:
    """Return the files in `folder` at any depth, in the order of their names."""
    # Each real folder is read only once, so that links can't make a circle.
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
    """Return the names in `folder`, and whether each is a folder; None if it was seen before."""
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
    # A link in a circle must not hide the other files in its folder.
    except OSError:
        return False


def _kept(
    folder: Path, names: list[tuple[str, bool]], form: str | None, account: Account
) -> list[tuple[str, bool]]:
    """Return `names` without what is no document: queries and judgments."""
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
        elif not is_folder and _ABOUT.fullmatch(name):
            reason = ABOUT
        if reason:
            account.skip(str(folder / name), "whole folder" if is_folder else "whole file", reason)
        else:
            kept.append((name, is_folder))
    return kept


def _sized(file: Path) -> int | str:
    """Return the size of `file`, or why it can't be read."""
    try:
        if file.is_symlink() and not file.exists():
            return LINK_TO_NOTHING
        # A pipe gives its bytes only once, but a file may be read several times.
        if file.exists() and not file.is_file():
            return "not a regular file; save it to a file first"
        with file.open("rb") as opened:
            return os.fstat(opened.fileno()).st_size
    except OSError as error:
        return _unopened(error)


def _unopened(error: OSError) -> str:
    return f"can't be opened ({error.strerror}); check its rights"

"""What `veilsearch doctor` looks at [I/O]: each check says what it found, and the remedy."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .errors import UsageError
from .settings import Settings
from .workspace import Workspace

_LEAST_DISK = 1_000_000_000
_LEAST_MEMORY = 1_500_000_000
_REBUILD = "build it again with: veilsearch index CORPUS"


@dataclass(frozen=True)
class Check:
    """One thing looked at; `remedy` is empty if all is well."""

    name: str
    found: str
    remedy: str = ""

    @property
    def good(self) -> bool:
        """Tell whether nothing needs to be done."""
        return not self.remedy


def checkup(settings: Settings) -> Iterator[Check]:
    """Look at everything, one after the other; a check that fails never stops the next."""
    workspace = Workspace(settings.workspace)
    yield Check("python", platform.python_version())
    yield _guarded("java", lambda: _java(settings), "run scripts/setup again")
    yield _guarded("wordnet", lambda: _wordnet(settings), "run scripts/setup again")
    yield _disk(settings.workspace)
    yield _memory()
    for kind in _ARTEFACTS:
        yield _guarded(kind, partial(_artefact, workspace, kind), "make it again")
    yield _guarded("town", partial(_town, workspace), "write it again: veilsearch town -o LOG.tsv")
    yield _guarded("log", lambda: _log(workspace), f"delete {workspace.log}")


def _guarded(name: str, look: Callable[[], str], remedy: str) -> Check:
    """Turn any fault into a finding: the doctor must outlive the patient."""
    try:
        return Check(name, look())
    except Exception as fault:
        text = " ".join(str(fault).split()) or type(fault).__name__
        found, _, advice = text.partition("; ")
        return Check(name, found, advice or remedy or "see the message")


def _java(settings: Settings) -> str:
    from index import jvm

    jvm.start(settings.heap)
    return jvm.java_version()


def _wordnet(settings: Settings) -> str:
    from anonymizer.wordnet import is_compiled, open_wordnet
    from anonymizer.wordnet_compile import find_files

    if not is_compiled(settings.cache):
        find_files()
        return "files found; they are compiled at first use"
    wordnet = open_wordnet(settings.cache)
    return f"{wordnet.size:,} synsets, {len(wordnet.terms):,} terms in {settings.cache}"


def _disk(folder: Path) -> Check:
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    writable = os.access(there, os.W_OK)
    found = f"{free / 1e9:.1f} GB free at {there}" + ("" if writable else ", not writable")
    if not writable:
        return Check("disk", found, "name a folder you may write to with --workspace")
    return Check("disk", found, "" if free >= _LEAST_DISK else "free at least 1 GB")


def _memory() -> Check:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return Check("memory", "unknown on this system")
    found = f"{size / 1e9:.1f} GB free"
    return Check("memory", found, "" if size >= _LEAST_MEMORY else "close something: 1.5 GB wanted")


def _artefact(workspace: Workspace, kind: str) -> str:
    from .opening import as_of_one_moment

    def look() -> str:
        if not getattr(workspace.current(), kind):
            return "none yet"
        path = workspace.find(kind)
        return f"{_ARTEFACTS[kind](path)}: {path}"

    return as_of_one_moment(workspace, look)


def _index(folder: Path) -> str:
    from index.inspection import inspect_index
    from index.manifest import read_manifest

    faults = inspect_index(folder)
    if faults:
        more = f" (and {len(faults) - 1} more)" if faults[1:] else ""
        raise UsageError(f"{faults[0].removesuffix(f'; {_REBUILD}')}{more}; {_REBUILD}")
    counts = read_manifest(folder)["counts"]
    return (
        f"{counts['documents']:,} documents, every checksum right, Lucene's CheckIndex finds "
        "nothing, every row the same in both halves"
    )


def _profiles(path: Path) -> str:
    from anonymizer.profile_file import read_profiles

    return f"{len(read_profiles(path)):,} users"


def _release(folder: Path) -> str:
    from anonymizer.release import read_release

    release = read_release(folder)
    return f"{release.method}, {len(release.users):,} users in {len(release.rows):,} rows"


def _town(workspace: Workspace) -> str:
    if not workspace.current().truth:
        return "none: the people here are real, or there are none yet"
    truth = workspace.truth()
    if truth is None:
        raise UsageError("its truth belongs to another log; run: veilsearch profiles LOG.tsv")
    return f"{len(truth['users']):,} invented people"


def _log(workspace: Workspace) -> str:
    from .precision_log import PrecisionLog

    if not workspace.log.exists():
        return "none yet"
    return f"{PrecisionLog(workspace.log).check():,} searches: {workspace.log}"


_ARTEFACTS: dict[str, Callable[[Path], str]] = {
    "index": _index,
    "profiles": _profiles,
    "release": _release,
}

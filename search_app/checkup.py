"""What `veilsearch doctor` looks at [I/O]: each check says what it found, and the remedy."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .builds import name_of
from .errors import UsageError
from .ledger import read_ledger
from .people_file import FILE as PEOPLE
from .settings import Settings
from .verbs.index import NAME
from .workspace import EXPERIMENTS, Workspace

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


class Finding(UsageError):
    """What was found and its remedy, apart: file names may hold what parts them in a line."""

    def __init__(self, found: str, remedy: str):
        super().__init__(f"{found}; {remedy}")
        self.found, self.remedy = found, remedy


def checkup(settings: Settings) -> Iterator[Check]:
    """Look at everything, one after the other; a check that fails never stops the next."""
    workspace = Workspace(settings.workspace)
    yield Check("python", platform.python_version())
    yield guarded("java", lambda: _java(settings), "run scripts/setup again")
    yield guarded("wordnet", lambda: _wordnet(settings), "run scripts/setup again")
    yield _place(settings.workspace)
    yield _disk(settings.workspace)
    yield _memory()
    for kind in _ARTEFACTS:
        yield guarded(kind, partial(_artefact, workspace, kind), "make it again")
    yield from _other_indexes(workspace)
    yield guarded("town", partial(_town, workspace), "write it again: veilsearch town -o LOG.tsv")
    yield guarded("log", lambda: _log(workspace), f"delete {workspace.log}")
    yield guarded("people", partial(_people, workspace), "restore it from a copy")
    yield guarded("ledger", partial(_ledger, workspace), "restore it from a copy")
    yield guarded("runs", partial(_runs, workspace), "run the experiment again")


def guarded(name: str, look: Callable[[], str], remedy: str) -> Check:
    """Turn any fault into a finding: the doctor must outlive the patient."""
    try:
        return Check(name, look())
    except Finding as finding:
        return Check(name, finding.found, finding.remedy)
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


def _place(folder: Path) -> Check:
    """Tell a folder from a file, and from what is not there (yet, or by a slip of the pen)."""
    if folder.exists() and not folder.is_dir():
        return Check("workspace", f"{folder} is a file", "name a folder with --workspace")
    return Check("workspace", str(folder) if folder.exists() else f"{folder} is not there yet")


def _disk(folder: Path) -> Check:
    there = next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
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


def _other_indexes(workspace: Workspace) -> Iterator[Check]:
    """Look at the indexes that are not current: `search --index` serves any of them."""
    from .opening import as_of_one_moment

    try:
        current = name_of(Path(workspace.current().index))
        names = sorted(set(workspace.builds()) - {current})
    except (UsageError, OSError):
        return  # said of the current index already
    for name in names:

        def look(name: str = name) -> str:
            folder = workspace.index_named(name)
            return f"{_index(folder)}: {folder}"

        yield guarded(
            "index", partial(as_of_one_moment, workspace, look), _for_name(_REBUILD, name)
        )


def _index(folder: Path) -> str:
    from index.inspection import inspect_index
    from index.manifest import read_manifest

    faults = inspect_index(folder)
    if faults:
        more = f" (and {len(faults) - 1} more)" if faults[1:] else ""
        found, remedy = _parted(faults[0])
        raise Finding(f"{found}{more}", _for_name(remedy, name_of(folder)))
    counts = read_manifest(folder)["counts"]
    return (
        f"{counts['documents']:,} documents, every checksum right, Lucene's CheckIndex finds "
        "nothing, every row the same in both halves"
    )


def _parted(fault: str) -> tuple[str, str]:
    """Part a fault of an index from its remedy, which is to build again where none is named."""
    found, _, remedy = fault.rpartition("; ")
    if found and remedy.endswith((_REBUILD, "delete that file")):
        return found, remedy
    return fault, _REBUILD


def _for_name(remedy: str, name: str) -> str:
    """Name the index in the advice to build it again, unless that is its name anyway."""
    if not remedy.endswith(_REBUILD) or name == NAME:
        return remedy
    return f"{remedy} --name {shlex.quote(name)}"


def _profiles(path: Path) -> str:
    from anonymizer.origins import read_origins
    from anonymizer.profile_file import fingerprint, read_profiles

    profiles = read_profiles(path)
    origins = read_origins(path, fingerprint(profiles))
    known = "with" if origins else "without"
    return f"{len(profiles):,} users, {known} where their terms came from"


def _release(folder: Path) -> str:
    from anonymizer.release import read_release

    release = read_release(folder)
    left_out = f", {release.left_out:,} left out" if release.left_out else ""
    return f"{release.method}, {len(release.users):,} users in {len(release.rows):,} rows{left_out}"


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


def _people(workspace: Workspace) -> str:
    from .people_store import PeopleStore

    path = workspace.root / PEOPLE
    if not path.exists():
        return "nobody has signed in or chosen anything yet"
    mode = path.stat().st_mode & 0o777  # opened, the file would be made its owner's only
    if mode & 0o077:
        raise Finding(f"{path} is open to others ({mode:o})", f"chmod 600 {shlex.quote(str(path))}")
    with closing(PeopleStore(path)) as store:
        return f"{store.check():,} people have a code: {path}"


def _ledger(workspace: Workspace) -> str:
    noted = read_ledger(workspace)
    made = sum(each.event == "made" for each in noted)
    return f"{made:,} releases made, {len(noted) - made:,} published"


def _runs(workspace: Workspace) -> str:
    from .experiments.run_folder import MANIFEST, changed_file

    place = workspace.root / EXPERIMENTS
    folders = sorted(path.parent for path in place.glob(f"*/{MANIFEST}"))
    changed = {folder: name for folder in folders if (name := changed_file(folder))}
    if changed:
        told = ", ".join(f"{folder}: {name}" for folder, name in changed.items())
        remedy = "run the experiment again"
        if MANIFEST in changed.values():
            remedy = f"remove the folder if it is {MANIFEST}, then {remedy}"
        raise Finding(f"not as it was written: {told}", remedy)
    counted = f"{len(folders):,} run{'s' if len(folders) > 1 else ''}"
    return f"{counted}, every checksum right: {place}" if folders else "none yet"


_ARTEFACTS: dict[str, Callable[[Path], str]] = {
    "index": _index,
    "profiles": _profiles,
    "release": _release,
}

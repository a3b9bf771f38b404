"""The checks of `veilsearch doctor` [I/O]: each says what it found, and the remedy."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..accounts.database import kept_people
from ..disclosure.numbers import count
from ..errors import UsageError
from ..settings import Settings
from ..workspace.builds import name_of
from ..workspace.folder import EXPERIMENTS, INDEX_NAME, Workspace
from ..workspace.ledger import Noted, certificate_of, check_key, read_ledger

if TYPE_CHECKING:
    from anonymizer.families import Family

_LEAST_DISK = 1_000_000_000
_LEAST_MEMORY = 1_500_000_000
_INSTALL = "install veilsearch again, or in a checkout run: scripts/setup"
_REBUILD = "build it again with: veilsearch index CORPUS"


@dataclass(frozen=True)
class Check:
    """The result of one check; `remedy` is empty if all is well."""

    name: str
    found: str
    remedy: str = ""

    @property
    def good(self) -> bool:
        """Return whether nothing needs to be done."""
        return not self.remedy


class FailedCheck(UsageError):
    """What a check found, and apart from it the remedy: a file name may hold a semicolon."""

    def __init__(self, fault: str, remedy: str):
        super().__init__(f"{fault}; {remedy}")
        self.fault, self.remedy = fault, remedy


def checkup(settings: Settings) -> Iterator[Check]:
    """Yield every check of the workspace in `settings`; one that fails never stops the next."""
    workspace = Workspace(settings.workspace)
    yield Check("python", platform.python_version())
    yield guarded("java", partial(_java, settings), _INSTALL)
    yield guarded("wordnet", partial(_wordnet, settings), _INSTALL)
    yield from _packages()
    folder = settings.workspace
    if folder.exists() and not folder.is_dir():
        yield Check("workspace", f"{folder} is a file", "name a folder with --workspace")
    else:
        yield Check("workspace", str(folder) if folder.exists() else f"{folder} is not there yet")
    yield _disk(folder)
    size = _memory()
    if size is None:
        yield Check("memory", "unknown on this system")
    else:
        advice = "" if size >= _LEAST_MEMORY else "close something: 1.5 GB wanted"
        yield Check("memory", f"{size / 1e9:.1f} GB free", advice)
    yield from _cluster(workspace, settings)
    index: dict[str, Callable[[Path], str]] = {"index": partial(_index, settings=settings)}
    for kind, look in {**index, **_ARTEFACTS}.items():
        yield guarded(kind, partial(_artefact, workspace, kind, look), "make it again")
    yield guarded("waiting", partial(_waiting, workspace, settings), "see: veilsearch verify")
    yield from _other_indexes(workspace, settings)
    yield guarded("town", partial(_town, workspace), "write it again: veilsearch town -o LOG.tsv")
    yield guarded("log", partial(_log, workspace, settings), f"delete {workspace.log}")
    yield guarded("people", partial(_people, workspace, settings), "restore it from a copy")
    yield guarded("ledger", partial(_ledger, workspace), "restore it from a copy")
    yield guarded("published", partial(_published, workspace), "publish it again")
    yield guarded("runs", partial(_runs, workspace), "run the experiment again")


def guarded(name: str, look: Callable[[], str], remedy: str) -> Check:
    """Return the check `name`: what `look` returns, or its fault with the fault's `remedy`."""
    try:
        return Check(name, look())
    except FailedCheck as failed:
        return Check(name, failed.fault, failed.remedy)
    # Damaged files fail in ways that nobody foresees; the other checks must still run.
    except Exception as fault:
        text = " ".join(str(fault).split()) or type(fault).__name__
        fault_text, _, advice = text.partition("; ")
        return Check(name, fault_text, advice or remedy or "see the message")


def _java(settings: Settings) -> str:
    from index.lucene import jvm

    jvm.start(settings.heap)
    return jvm.java_version()


def _wordnet(settings: Settings) -> str:
    from anonymizer.terms.wordnet import is_compiled, open_wordnet
    from anonymizer.terms.wordnet_build import find_files

    if not is_compiled(settings.cache):
        find_files()
        return "files found; they are compiled at first use"
    wordnet = open_wordnet(settings.cache)
    return f"{wordnet.size:,} synsets, {len(wordnet.terms):,} terms in {settings.cache}"


def _packages() -> Iterator[Check]:
    """Yield a check of each thing that an installed package adds."""
    from anonymizer.attacks import ATTACKS
    from anonymizer.families import PackageFault
    from anonymizer.measures import MEASURES
    from anonymizer.methods import METHODS
    from anonymizer.querylog.formats import LAYOUTS

    from ..experiments.modes import MODES

    families: tuple[Family[Any], ...] = (METHODS, MEASURES, ATTACKS, MODES, LAYOUTS)
    for one in chain.from_iterable(family.look() for family in families):
        what, _, remedy = str(one).partition("; ")
        yield Check("package", what, remedy if isinstance(one, PackageFault) else "")


def _memory(table: Path = Path("/proc/meminfo")) -> int | None:
    """Return the bytes that a program may take by the system's `table`; None if it has none."""
    # Copies of files that the system keeps in memory count as free: it gives them back.
    with suppress(OSError):
        for line in table.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _disk(folder: Path) -> Check:
    there = next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(there).free
    writable = os.access(there, os.W_OK)
    room = f"{free / 1e9:.1f} GB free at {there}" + ("" if writable else ", not writable")
    if not writable:
        return Check("disk", room, "name a folder you may write to with --workspace")
    return Check("disk", room, "" if free >= _LEAST_DISK else "free at least 1 GB")


def _cluster(workspace: Workspace, settings: Settings) -> Iterator[Check]:
    """Yield the checks of the cluster that searches, and of the current index in it."""
    from index.backends import OpenSearchBackend
    from index.inspection import cluster_checks

    from ..workspace.opening import backend_of

    backend, folder = backend_of(settings), None
    if not isinstance(backend, OpenSearchBackend):
        return
    with suppress(UsageError):  # there is none yet, or the check of the index reports it
        folder = workspace.find("index")
    with closing(backend.cluster):
        # Many lines of one kind: what they say names its subject.
        for _, look in cluster_checks(folder, backend):
            yield guarded("cluster", look, "see the cluster's log")


def _artefact(workspace: Workspace, kind: str, what: Callable[[Path], str]) -> str:
    from ..workspace.opening import as_of_one_moment

    # An update may replace and remove the artefact while it is read: then look again.
    def look() -> str:
        if not getattr(workspace.current(), kind):
            return "none yet"
        path = workspace.find(kind)
        return f"{what(path)}: {path}"

    return as_of_one_moment(workspace, look)


def _other_indexes(workspace: Workspace, settings: Settings) -> Iterator[Check]:
    """Yield a check of each index that is not current: `search --index` serves any of them."""
    from ..workspace.opening import as_of_one_moment

    try:
        current = name_of(Path(workspace.current().index))
        names = sorted(set(workspace.builds()) - {current})
    except (UsageError, OSError):
        return  # the check of the current index has reported this
    for name in names:

        def look(name: str = name) -> str:
            folder = workspace.index_named(name)
            return f"{_index(folder, settings)}: {folder}"

        seen = partial(as_of_one_moment, workspace, look)
        yield guarded("index", seen, _for_name(_REBUILD, name))


def _index(folder: Path, settings: Settings) -> str:
    from index.inspection import inspect_index
    from index.lucene.java import RENAME
    from index.manifest import read_manifest

    from ..workspace.opening import backend_of

    backend = backend_of(settings)
    faults = inspect_index(folder, backend)
    if faults:
        more = f" (and {len(faults) - 1} more)" if faults[1:] else ""
        # A file name may hold a semicolon, so only a known remedy is split off.
        fault, _, remedy = faults[0].rpartition("; ")
        if not (fault and remedy.endswith((_REBUILD, "delete that file", RENAME))):
            fault, remedy = faults[0], _REBUILD
        raise FailedCheck(f"{fault}{more}", _for_name(remedy, name_of(folder)))
    counts = read_manifest(folder)["counts"]
    whole = (
        "Lucene's CheckIndex finds no fault, every document the same in Lucene and in the forward "
        "index"
        if backend.name == "Lucene"
        else "the same fill in OpenSearch"
    )
    return f"{counts['documents']:,} documents, every checksum right, {whole}"


def _for_name(remedy: str, name: str) -> str:
    """Return `remedy`, with `--name` if it is to build an index again that has no default name."""
    if not remedy.endswith(_REBUILD) or name == INDEX_NAME:
        return remedy
    return f"{remedy} --name {shlex.quote(name)}"


def _profiles(path: Path) -> str:
    from anonymizer.profiles.origins import read_origins
    from anonymizer.storage.profiles import fingerprint, read_profiles

    from ..workspace.profile_choices import fault_of_choices

    profiles = read_profiles(path)
    made_from = fingerprint(profiles)
    origins = read_origins(path, made_from)
    if fault := fault_of_choices(path, made_from):
        raise FailedCheck(fault, "make the profiles again with: veilsearch profiles LOG")
    known = "with" if origins else "without"
    return f"{len(profiles):,} users, {known} the origins of their terms"


def _release(folder: Path) -> str:
    from anonymizer.methods import promise_of
    from anonymizer.storage.releases import read_release

    release = read_release(folder, promise_of)
    none = f", {release.left_out:,} without a row" if release.left_out else ""
    return f"{release.method}, {len(release.users):,} users in {len(release.rows):,} rows{none}"


def _waiting(workspace: Workspace, settings: Settings) -> str:
    from ..tasks.admitting import count_waiting
    from ..workspace.opening import as_of_one_moment

    def look() -> str:
        current = workspace.current()
        if not (current.profiles and current.release):
            return "nobody: there is no release yet"
        waiting = count_waiting(workspace, settings)
        waits = count(waiting, "person waits", "people wait") if waiting else "nobody waits"
        return f"{waits} for a cohort"

    return as_of_one_moment(workspace, look)


def _town(workspace: Workspace) -> str:
    from ..tasks.town import town_log

    if not workspace.current().truth:
        return "none: the people in this workspace are real, or there are none yet"
    truth = workspace.truth()
    if truth is None:
        raise UsageError("its truth belongs to another log; run: veilsearch profiles LOG.tsv")
    log = town_log(workspace)
    if hashlib.sha256(log.read_bytes()).hexdigest() != workspace.current().log_sha256:
        raise UsageError(f"{log} changed since it was written; veilsearch town -o LOG.tsv")
    return f"{len(truth['users']):,} invented people"


def _log(workspace: Workspace, settings: Settings) -> str:
    from ..evaluation.log import PrecisionLog, place_of_log

    place = place_of_log(workspace, settings)
    if isinstance(place, Path) and not place.exists():
        return "none yet"
    return f"{PrecisionLog(place).check():,} searches: {place}"


def _people(workspace: Workspace, settings: Settings) -> str:
    from ..accounts.store import PeopleStore

    place = kept_people(workspace.root, settings)
    if place is None:
        return "nobody has signed in or chosen anything yet"
    workspace.refuse_copy()
    if isinstance(place, Path):
        # Looked at before the store is opened, as opening closes the file to others.
        _refuse_open(place)
    with closing(PeopleStore(place)) as store:
        if left := store.leaving():
            people = count(len(left), "person was", "people were")
            raise FailedCheck(
                f"{people} not forgotten everywhere, because a command was killed",
                "start the server, or run veilsearch forget again",
            )
        return f"{count(store.check(), 'person has', 'people have')} a code: {place}"


def _refuse_open(path: Path) -> None:
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise FailedCheck(
            f"{path} is open to others ({mode:o})", f"chmod 600 {shlex.quote(str(path))}"
        )


def _ledger(workspace: Workspace) -> str:
    entries = read_ledger(workspace)
    if key := check_key(workspace):
        _refuse_open(key)
    made = sum(entry.event == "made" for entry in entries)
    published = sum(entry.event == "published" for entry in entries)
    return f"{count(made, 'release', 'releases')} made, {published:,} published"


def _published(workspace: Workspace) -> str:
    from anonymizer.errors import AnonymizerError
    from anonymizer.publishing import check_published
    from anonymizer.storage.parts import read_cohorts

    from ..workspace.opening import as_of_one_moment
    from ..workspace.releases import published_files, release_folders

    def look() -> str:
        files, releases, noted = published_files(workspace), [], tuple[Noted, ...]()
        with suppress(UsageError):  # another check reports it
            noted = read_ledger(workspace)
        for folder in release_folders(workspace) if files else ():
            with suppress(AnonymizerError):  # the check of the release reports it
                releases.append(read_cohorts(folder))
        for path in files:
            check_published(path, releases, partial(certificate_of, noted))
        return f"{count(len(files), 'file', 'files')}, as published" if files else "none here"

    return as_of_one_moment(workspace, look)


def _runs(workspace: Workspace) -> str:
    from ..experiments.results.folder import MANIFEST, changed_file

    place = workspace.root / EXPERIMENTS
    folders = sorted(path.parent for path in place.glob(f"*/{MANIFEST}"))
    changed = {folder: name for folder in folders if (name := changed_file(folder))}
    if changed:
        files = ", ".join(f"{folder}: {name}" for folder, name in changed.items())
        remedy = "run the experiment again"
        if MANIFEST in changed.values():
            remedy = f"if it is {MANIFEST}, remove the folder; then {remedy}"
        raise FailedCheck(f"changed since the run was written: {files}", remedy)
    counted = count(len(folders), "run", "runs")
    return f"{counted}, every checksum right: {place}" if folders else "none yet"


_ARTEFACTS: dict[str, Callable[[Path], str]] = {
    "profiles": _profiles,
    "release": _release,
}

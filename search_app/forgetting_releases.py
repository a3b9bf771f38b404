"""A workspace's releases, and the files published of them, without a person's part in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from anonymizer.measures.finding import Finding
from anonymizer.measures.verification import PROMISES, verify
from anonymizer.model import AnonymizerError
from anonymizer.publication import Candidate, publish, published_hash
from anonymizer.records import read_object
from anonymizer.release import DELETIONS, MANIFEST, MEMBERS, read_hash, read_manifest
from index.model import SearchError

from .errors import UsageError
from .forgetting_profiles import Changed, owners_of
from .ledger import fault_of_second, ledger_path, note_made, publishing, read_ledger
from .replacing import Replacement
from .settings import Settings
from .verbs.anonymize import remake_release
from .workspace import Workspace

_REFUSED = (AnonymizerError, SearchError, UsageError, TypeError, ValueError)


@dataclass(frozen=True)
class _Successor:
    """A release made anew, where it is for the time being, and its profiles beside it."""

    release: Path
    profiles: Path


@dataclass
class Remade:
    """What became of the releases a person was in; the first by the hash of their old rows."""

    successors: dict[str, _Successor | None] = field(default_factory=dict)
    anew: list[Path] = field(default_factory=list)
    dropped: list[Path] = field(default_factory=list)
    lone: set[str] = field(default_factory=set)  # old rows that must have no second beside them
    withdrawn: list[Path] = field(default_factory=list)  # files published of those


def forget_in_releases(
    workspace: Workspace,
    settings: Settings,
    user: str,
    changed: Mapping[str, Changed],
    replacement: Replacement,
) -> Remade:
    """Make anew, or remove, each release that was made from changed profiles or serves a user."""
    remade = Remade()
    for folder in _releases(workspace):
        try:
            manifest = read_manifest(folder)
            old, made_from, choices = (
                read_hash(folder),
                manifest["input_hash"],
                manifest["profiles"],
            )
            method = manifest["method"]
            if method in PROMISES and PROMISES[method].once:
                remade.lone.add(old)
        except AnonymizerError:
            old, made_from, choices = "", "", {}
        profiles = changed.get(made_from)
        if profiles is None and not _serves(folder, user, choices):
            continue
        successor = _remade(folder, profiles, workspace, settings, replacement)
        remade.successors[old] = successor
        (remade.anew if successor else remade.dropped).append(folder)
        if successor is None:
            replacement.remove(folder)
    return remade


def forget_in_published(
    workspace: Workspace, remade: Remade, replacement: Replacement
) -> tuple[str, ...]:
    """Publish anew, or remove, what was published of releases that changed.

    What is promised of one release alone is broken by a second, so there is none.
    Return the files of which nobody knows any more of which release they are.
    """
    unclear = []
    known = {read_hash(folder) for folder in _readable(workspace)} | {*remade.successors}
    for path in sorted(workspace.root.rglob("*")):
        seen = path.is_file() and _is_looked_at(workspace, path)
        rows = published_hash(path) if seen else ""
        if rows in remade.successors:
            replacement.remove(path)
            successor = remade.successors[rows]
            alone = rows in remade.lone
            if successor and (
                alone or _is_kept_from(workspace, successor, replacement.place(path))
            ):
                remade.withdrawn.append(path)
        elif rows and rows not in known:
            unclear.append(workspace.relative(path))
    return tuple(unclear)


def _releases(workspace: Workspace) -> list[Path]:
    """Return the folders of releases in the workspace, and the current one wherever it is."""
    current = workspace.current().release
    found = {workspace.root / current} if current and (workspace.root / current).is_dir() else set()
    for manifest in workspace.root.rglob(MANIFEST):
        if _is_looked_at(workspace, manifest):
            found.add(manifest.parent)
    return sorted(found)


def _is_looked_at(workspace: Workspace, path: Path) -> bool:
    """Tell whether a file is neither hidden nor an index's."""
    parts = path.relative_to(workspace.root).parts
    return parts[0] != workspace.indexes.name and not any(part.startswith(".") for part in parts)


def _readable(workspace: Workspace) -> Iterator[Path]:
    for folder in _releases(workspace):
        try:
            read_manifest(folder)
        except AnonymizerError:
            continue
        yield folder


def _serves(folder: Path, user: str, choices: dict[str, object]) -> bool:
    """Tell whether a person, or a session of theirs, has a row or has lost terms in a release.

    If that can't be read, they may.
    """
    return any(_names(folder / part, user, choices) for part in (MEMBERS, DELETIONS))


def _names(part: Path, user: str, choices: dict[str, object]) -> bool:
    try:
        with part.open("rb") as lines:
            users = [str(read_object(line)["user"]) for line in lines]
    except (OSError, ValueError, KeyError, RecursionError):
        return part.exists()
    return bool(owners_of(user, users, choices))


def _remade(
    folder: Path,
    changed: Changed | None,
    workspace: Workspace,
    settings: Settings,
    replacement: Replacement,
) -> _Successor | None:
    """Make a release anew where it will be found, and note it; None where that can't be."""
    if changed is None or changed.profiles is None:
        return None
    staged = replacement.place(folder)
    try:
        release = remake_release(folder, changed.profiles, staged, settings)
    except _REFUSED as fault:
        if isinstance(fault.__cause__, OSError):  # a full disk is no reason to lose a release
            raise
        return None
    if not verify(staged, changed.staged).holds:
        replacement.withdraw(folder)
        return None
    note_made(workspace, staged, users=len(release.users), rows=len(release.rows))
    return _Successor(staged, changed.staged)


def _is_kept_from(workspace: Workspace, successor: _Successor, output: Path) -> bool:
    """Publish a release made anew, if it may be published; tell whether another keeps it from that.

    That its own forerunner was published is no reason not to: that one is to be forgotten. Another
    is, if it promises something of one release alone.
    """
    path, faults = ledger_path(workspace), list[str]()
    with publishing(workspace) as note:

        def judged(candidate: Candidate) -> list[Finding]:
            fault = fault_of_second(read_ledger(workspace), candidate, second=True, path=path)
            if not fault:
                note(candidate)
                return []
            faults.append(fault)
            return [Finding("one release", False, path.name, fault)]

        publish(successor.release, successor.profiles, output, judged)
    return bool(faults)

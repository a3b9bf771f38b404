"""Withdraw the rows of people who leave from a workspace's releases and published files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from anonymizer.errors import AnonymizerError
from anonymizer.publishing import log_next_to, write_successor
from anonymizer.sensitivity.files import holds_texts
from anonymizer.storage.changes import people_named, with_edited, without_rows
from anonymizer.storage.parts import read_cohorts, read_manifest, row_hash
from anonymizer.storage.releases import row_lines_of

from ..errors import UsageError
from ..workspace.folder import Workspace
from ..workspace.ledger import PUBLISHED, WITHDRAWN, Noted, note_made, read_ledger, rows_of
from ..workspace.releases import is_looked_at, published_files, release_folders
from ..workspace.replacing import Replacement
from . import needles
from .profiles import Changed, owners_of

_BEGINNING = 200  # bytes


class PublishedCopy(NamedTuple):
    """A published file that held a withdrawn row."""

    path: str  # empty: it is not in the workspace
    sha256: str  # of its rows; empty if its first line is damaged
    at: int | None  # when it was published, in seconds since 1970; None: the ledger does not say
    successor: bool  # whether the same file without the row stands there now


@dataclass
class Leaving:
    """What became of the releases of people who leave, or whose profile changes."""

    rows: int = 0  # rows withdrawn
    lessened: list[Path] = field(default_factory=list)  # releases that lost rows, and have some
    edited: int = 0  # rows with a member whose profile lost a term
    dropped: list[Path] = field(default_factory=list)  # releases without any row left
    # By the line of a withdrawn row: where the releases that are left are until the replacement.
    withdrawn: dict[bytes, list[Path]] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)  # what is wrong with the ledger


def leave_releases(
    workspace: Workspace,
    people: Set[str],
    terms: Collection[str] | None,
    changed: Mapping[str, Changed],
    replacement: Replacement,
    *,
    kept: bool,
) -> Leaving:
    """Withdraw the rows of `people`, or note that their `terms` changed; return what was done.

    All other rows stay byte for byte. Releases follow the profiles that `changed`. If profiles
    are `kept`, these people remain, without a row.
    """
    done = Leaving()
    for folder in release_folders(workspace):
        try:
            cohorts = read_cohorts(folder)
            manifest, names = cohorts[0].manifest, people_named(cohorts)
        except AnonymizerError as fault:
            if isinstance(fault.__cause__, OSError) and not isinstance(
                fault.__cause__, FileNotFoundError
            ):
                raise  # such as a full disk: no reason to lose a release
            # A damaged release can't be lessened, and serves nobody; it goes if it names one.
            if needles.files_with(folder, people):
                replacement.remove(folder)
                done.dropped.append(folder)
            continue
        change = changed.get(manifest["input_hash"])
        owners = owners_of(people, names, manifest["profiles"])
        if change is None and (terms is not None or not owners):
            continue
        input_hash = change.fingerprint if change else manifest["input_hash"]
        staged = replacement.place(folder)
        if terms is not None:
            done.edited += with_edited(cohorts, staged, owners, terms, input_hash)
            continue
        result = without_rows(cohorts, staged, owners, known=kept, input_hash=input_hash)
        done.rows += result.withdrawn
        if not result.left:
            replacement.remove(folder)
            done.dropped.append(folder)
        elif result.withdrawn:
            done.lessened.append(folder)
        left = [staged] if result.left else []
        for line in result.lines:
            done.withdrawn.setdefault(line, []).extend(left)
    return done


def beginnings(left: Leaving) -> frozenset[str]:
    """Return how each row withdrawn by `left` begins: with its name and its first terms."""
    # A copy of it may stand in any file: of the rows alone, or packed. A whole row is long.
    cut = (line[:_BEGINNING].rpartition(b'"')[0] for line in left.withdrawn)  # after a whole word
    return frozenset(beginning.decode() for beginning in cut)


def note_withdrawn(workspace: Workspace, left: Leaving) -> tuple[str, ...]:
    """Note in the ledger that releases lost rows, as `left` says; return what is wrong with it."""
    # After the switch, so that it tells of nothing that never happened. Nobody is kept from leaving
    # by a ledger that can't be written.
    for folder in left.lessened:
        try:
            note_made(workspace, folder, WITHDRAWN)
        except UsageError as fault:
            left.damaged.append(str(fault))
    return tuple(dict.fromkeys(left.damaged))


def withdraw_published(
    workspace: Workspace, left: Leaving, replacement: Replacement
) -> tuple[list[PublishedCopy], tuple[str, ...]]:
    """Take published files that hold a withdrawn row out of the workspace; return them.

    Where rows are of groups, the same file without the row takes its place. By the ledger, files
    elsewhere are returned, too. Return also the files published of unknown releases.
    """
    copies, unclear, known = list[PublishedCopy](), list[str](), set[bytes]()
    files = published_files(workspace)
    for folder in release_folders(workspace) if files else ():
        with suppress(AnonymizerError):
            known |= row_lines_of(folder)
    public, here = _publications(workspace, left), set[bytes]()
    for path, published in files.items():
        name = workspace.relative(path)
        gone = published.lines & left.withdrawn.keys()
        if gone:
            replacement.remove(path)
            if log_next_to(path).exists():
                replacement.remove(log_next_to(path))
            releases = {release for line in gone for release in left.withdrawn[line]}
            # Someone who knows who left would know which single-person row was theirs, so those
            # files get no successor.
            successor = any(
                _is_of_groups(release)
                and write_successor(release, published, replacement.place(path))
                for release in sorted(releases)
            )
            at = _first(public, published.sha256, gone)
            copies.append(PublishedCopy(name, published.sha256, at, successor))
            here |= gone
        elif not published.lines <= known:
            unclear.append(name)
    hashes = {row_hash(line) for line in left.withdrawn.keys() - here}
    elsewhere = (line for line in public if hashes & rows_of(line))
    copies += (PublishedCopy("", line.sha256, line.at, False) for line in elsewhere)
    return copies, tuple(unclear)


def files_without_users(workspace: Workspace) -> tuple[str, ...]:
    """Return files in `workspace` that hold queries, or documents they found, of nobody named."""
    # Nobody knows whose these are. A folder of orders lies in the run that made it.
    holders = []
    for path in sorted(workspace.root.rglob("*")):
        if not is_looked_at(workspace, path):
            continue
        orders = path.is_dir() and path.name == "runs" and (path.parent / "run.json").exists()
        if orders or (path.is_file() and holds_texts(path)):
            holders.append(workspace.relative(path))
    return tuple(holders)


def _publications(workspace: Workspace, left: Leaving) -> list[Noted]:
    """Return what was published, the oldest first; if that is not known, `left` gets the fault."""
    try:
        return [line for line in read_ledger(workspace) if line.event == PUBLISHED]
    except UsageError as fault:
        left.damaged.append(str(fault))
        return []


def _first(public: Collection[Noted], sha256: str, rows: Collection[bytes]) -> int | None:
    """Return when a file of `sha256` was published, or `rows` of it; None if it is not known."""
    # A file that lost rows is in no line of the ledger. Its rows are in an earlier one.
    hashes = set(map(row_hash, rows))
    same = [line.at for line in public if line.sha256 == sha256]
    return min(same or [line.at for line in public if hashes & rows_of(line)], default=None)


def _is_of_groups(release: Path) -> bool:
    from anonymizer.methods import promise_of

    manifest = read_manifest(release)
    return not promise_of(manifest["method"], manifest["parameters"]).single_person

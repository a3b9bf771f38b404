"""Remove a person or some of their terms from a workspace's profiles and marketing tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from anonymizer.errors import BadInput
from anonymizer.marketing.table import is_table, write_table_without
from anonymizer.model import Profiles
from anonymizer.profiles.origins import (
    Origins,
    binary_profiles,
    origins_path,
    read_origins,
    write_origins,
)
from anonymizer.profiles.rare_terms import person_of
from anonymizer.profiles.withdrawal import origins_without, profiles_without
from anonymizer.storage.profiles import fingerprint, read_profiles, write_rest
from anonymizer.storage.records import read_object

from ..workspace.folder import Workspace
from ..workspace.profile_choices import (
    choices_of,
    choices_path,
    held_out_hash,
    noted_fingerprint,
    write_choices,
)
from ..workspace.replacing import Replacement
from ..workspace.tables import is_database


@dataclass(frozen=True)
class KnownProfiles:
    """Profiles that hold people who leave: as users, or as these users' sessions."""

    path: Path
    profiles: Profiles
    fingerprint: str
    origins: Origins | None
    choices: dict[str, object]
    owners: frozenset[str]  # the users in `profiles` who are these people


@dataclass(frozen=True)
class Changed:
    """The changed profiles, None if nobody is left, and their fingerprint."""

    profiles: Profiles | None
    fingerprint: str  # of the former profiles if nobody is left


def known_profiles(workspace: Workspace, people: Set[str]) -> list[KnownProfiles]:
    """Return the profiles in `workspace` with any of `people`: the current ones and all others."""
    known = []
    for path in _profile_files(workspace):
        profiles, made_from, origins = _read(path)
        choices = choices_of(path, made_from)
        owners = owners_of(people, profiles.users, choices)
        if owners:
            known.append(KnownProfiles(path, profiles, made_from, origins, choices, owners))
    return known


def _read(path: Path) -> tuple[Profiles, str, Origins | None]:
    """Return the profiles at `path`, their fingerprint, and their origins if these are sound."""
    made_from, profiles, origins = noted_fingerprint(path), None, None
    if not made_from:
        profiles = read_profiles(path)
        made_from = fingerprint(profiles)
    with suppress(BadInput):  # damaged, or of other profiles
        origins = read_origins(path, made_from)
        # Reading every line takes longer than all else.
        profiles = profiles or (binary_profiles(origins, made_from) if origins else None)
    return profiles or read_profiles(path), made_from, origins


def owners_of(
    people: Set[str], users: Collection[str], choices: Mapping[str, object]
) -> frozenset[str]:
    """Return which of `users` are one of `people`: the users themselves, and their sessions."""
    if choices.get("granularity") == "user":
        return frozenset(people).intersection(users)
    return frozenset(user for user in users if user in people or person_of(user) in people)


def forget_in_profiles(
    known: Collection[KnownProfiles], terms: Collection[str] | None, replacement: Replacement
) -> dict[str, Changed]:
    """Rewrite `known` profiles, their origins and choices; return the changes by fingerprint."""
    changed = {}
    for one in known:
        made_from = one.fingerprint
        rest = profiles_without(one.profiles, one.owners, terms)
        if rest is None:
            for path in (one.path, choices_path(one.path), origins_path(one.path)):
                replacement.remove(path)
        else:
            made_from = _write(one, rest, terms, replacement)
        changed[one.fingerprint] = Changed(rest, made_from)
    return changed


def _write(
    known: KnownProfiles, rest: Profiles, terms: Collection[str] | None, replacement: Replacement
) -> str:
    """Write the `rest` of `known` profiles and what belongs to them; return their fingerprint."""
    staged = replacement.place(known.path)
    write_rest(rest, staged, known.path, known.profiles.users, known.owners)
    made_from = fingerprint(rest)
    if known.choices:
        replacement.place(choices_path(known.path))
        write_choices(staged, made_from, known.choices, held_out_hash(known.path))
    if not origins_path(known.path).exists():
        return made_from
    # Removed unless rewritten: damaged origins, or those of other profiles, may hold the person.
    replacement.remove(origins_path(known.path))
    others = origins_without(known.origins, known.owners, terms) if known.origins else None
    if others is not None:
        replacement.place(origins_path(known.path))
        write_origins(others, staged, made_from)
    return made_from


def _profile_files(workspace: Workspace) -> list[Path]:
    """Return the current profiles, and all other profiles directly in the workspace."""
    name = workspace.current().profiles
    current = {workspace.root / name} if name and (workspace.root / name).exists() else set()
    files = [*workspace.root.glob("[!.]*.jsonl"), *workspace.root.glob("[!.]*.npz")]
    return sorted(current | {path for path in files if path.is_file() and _is_of_profiles(path)})


def _is_of_profiles(path: Path) -> bool:
    """Return whether `path` holds profiles that can be read; others are reported at the end."""
    try:
        if path.suffix == ".jsonl":
            with path.open("rb") as file:
                return set(read_object(file.readline())) == {"user", "terms"}
        if path.name.endswith(".origins.npz"):
            return False
        read_profiles(path)
        return True
    except (OSError, ValueError, RecursionError, BadInput):
        return False


def forget_in_tables(
    workspace: Workspace,
    known: Collection[KnownProfiles],
    changed: Mapping[str, Changed],
    replacement: Replacement,
) -> tuple[str, ...]:
    """Rewrite or remove the tables in `workspace`; return those that can't be read completely."""
    # A term that only these people had reveals what they searched for, even in a table without
    # users.
    tables = list(_tables(workspace, replacement)) if known else []
    gone = set[str]()
    if tables:  # the terms that nobody in the workspace has any more
        rest = [change.profiles for change in changed.values() if change.profiles is not None]
        others = {*_profile_files(workspace)} - {one.path for one in known}
        rest += [read_profiles(path) for path in sorted(others)]
        before = {term for one in known for term in one.profiles.terms}
        rare = before.difference(*(profiles.terms for profiles in rest))
        gone = {term.strip().lower() for term in rare}
    unclear = []
    for path in tables if gone else ():
        staged = replacement.place(path)
        try:
            _, stay = write_table_without(path, staged, gone)
        except BadInput as fault:
            if isinstance(fault.__cause__, OSError):  # such as a full disk: not the table's fault
                raise
            unclear.append(workspace.relative(path))
            continue
        if not stay:
            replacement.remove(path)
    return tuple(unclear)


def _tables(workspace: Workspace, replacement: Replacement) -> Iterator[Path]:
    """Yield the tables in `workspace`, except in folders that `replacement` replaces or removes."""
    folders = {*replacement.replaced, *replacement.removed, workspace.indexes}
    for path in sorted(workspace.root.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(workspace.root).parts)
        if (
            not hidden
            and not is_database(path)
            and folders.isdisjoint(path.parents)
            and is_table(path)
        ):
            yield path

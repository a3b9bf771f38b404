"""A workspace's profiles, and what belongs to them, without a person or some of their terms."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.model import BadInput, Profiles
from anonymizer.origins import origins_path, read_origins, write_origins
from anonymizer.profile_file import fingerprint, read_profiles, write_profiles
from anonymizer.records import read_object
from anonymizer.withdrawal import origins_without, profiles_without

from .replacing import Replacement
from .verbs.profiles import choices_of, choices_path, write_choices
from .workspace import Workspace


@dataclass(frozen=True)
class Known:
    """Profiles that know a person: as a user, or as the sessions of one."""

    path: Path
    profiles: Profiles
    fingerprint: str
    choices: dict[str, Any]
    owners: frozenset[str]

    def terms_of_owners(self) -> Iterator[str]:
        """Yield the person's terms."""
        for owner in self.owners:
            yield from self.profiles.row(owner)


@dataclass(frozen=True)
class Changed:
    """What profiles have become: where they are for the time being, None if nobody is left."""

    profiles: Profiles | None
    staged: Path


def known_profiles(workspace: Workspace, user: str) -> list[Known]:
    """Read the current profiles and all others directly in the workspace; keep who know a user."""
    found = []
    for path in _profile_files(workspace):
        profiles = read_profiles(path)
        made_from = fingerprint(profiles)
        choices = choices_of(path, made_from)
        owners = owners_of(user, profiles.users, choices)
        if owners:
            found.append(Known(path, profiles, made_from, choices, owners))
    return found


def owners_of(user: str, users: Sequence[str], choices: dict[str, Any]) -> frozenset[str]:
    """Return which profiles are a person's: their own, and those of their sessions."""
    if choices.get("granularity") == "user":
        return frozenset({user} & set(users))
    session = re.compile(rf"{re.escape(user)}(#[1-9][0-9]*)?")
    return frozenset(filter(session.fullmatch, users))


def forget_in_profiles(
    known: Collection[Known], terms: Collection[str] | None, replacement: Replacement
) -> dict[str, Changed]:
    """Write profiles, origins and choices anew; return what became of which profiles."""
    changed = {}
    for each in known:
        left = profiles_without(each.profiles, each.owners, terms)
        if left is None:
            for path in (each.path, choices_path(each.path), origins_path(each.path)):
                replacement.remove(path)
        else:
            _write(each, left, terms, replacement)
        changed[each.fingerprint] = Changed(left, replacement.place(each.path))
    return changed


def gone_terms(
    workspace: Workspace, known: Collection[Known], changed: Mapping[str, Changed]
) -> set[str]:
    """Return the terms of changed profiles that nobody in the workspace has any more."""
    had = {term for each in known for term in each.profiles.terms}
    left = [each.profiles for each in changed.values() if each.profiles is not None]
    others = {*_profile_files(workspace)} - {each.path for each in known}
    left += [read_profiles(path) for path in sorted(others)]
    return had.difference(*(profiles.terms for profiles in left))


def _write(
    known: Known, left: Profiles, terms: Collection[str] | None, replacement: Replacement
) -> None:
    staged = replacement.place(known.path)
    write_profiles(left, staged)
    made_from = fingerprint(left)
    if known.choices:
        replacement.place(choices_path(known.path))
        write_choices(staged, made_from, known.choices)
    if not origins_path(known.path).exists():
        return
    replacement.remove(origins_path(known.path))  # those of other profiles, or damaged, may tell
    with suppress(BadInput):
        origins = read_origins(known.path, known.fingerprint)
        rest = origins_without(origins, known.owners, terms) if origins else None
        if rest is not None:
            replacement.place(origins_path(known.path))
            write_origins(rest, staged, made_from)


def _profile_files(workspace: Workspace) -> list[Path]:
    """Return the current profiles, and whatever else of profiles lies beside them."""
    current = workspace.current().profiles
    found = {workspace.root / current} if current and (workspace.root / current).exists() else set()
    beside = [*workspace.root.glob("[!.]*.jsonl"), *workspace.root.glob("[!.]*.npz")]
    return sorted(found | {path for path in beside if path.is_file() and _is_of_profiles(path)})


def _is_of_profiles(path: Path) -> bool:
    """Tell whether a file holds profiles that can be read; what can't is told in the end."""
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

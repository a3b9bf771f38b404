"""All a workspace knows of a person, or of some terms of theirs, taken out of it [I/O].

    profiles, origins ─▶ without the person ─┐
    logs, held-out, truth ─▶ without lines ──┼─▶ replacing.py: in one step, whole or not at all
    releases ─▶ made anew and verified ──────┤
    marketing tables ─▶ without their terms ─┘

A release that can't be made anew (it was made from other profiles, or too few people remain) is
removed. What people.sqlite holds is forgotten by its own store, last: while the workspace is in use
nobody shall lose their code and keep their profile. Log files elsewhere are not touched: profiles
made of them again bring the person back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from anonymizer.publication import people_hash

from . import needles
from .errors import UsageError
from .forgetting_lines import forget_lines
from .forgetting_profiles import Changed, Known, forget_in_profiles, known_profiles
from .forgetting_releases import Remade, forget_in_published, forget_in_releases
from .forgetting_tables import forget_in_tables
from .ledger import note_fewer
from .people_file import FILES
from .replacing import Replacement, is_cut_short
from .settings import Settings
from .workspace import Current, Workspace


class UnknownPerson(UsageError):
    """Nothing here is of the person who is to be forgotten."""


class Forgotten(NamedTuple):
    """What was done; paths are those in the workspace."""

    changed: tuple[str, ...]  # written anew
    removed: tuple[str, ...]  # without a successor
    release_made: bool  # the current release was made anew
    releases_dropped: tuple[str, ...]
    withdrawn: tuple[str, ...]  # published files of releases that must have no second
    left: tuple[str, ...]  # files that still hold the id, or may; nobody here can change them


def forget(
    workspace: Workspace, settings: Settings, user: str, terms: Collection[str] | None = None
) -> Forgotten:
    """Take a person out of a workspace; with terms, only these terms of theirs."""
    workspace.check()
    was_cut_short = is_cut_short(workspace)
    with workspace.writing("forget"), Replacement(workspace) as replacement:
        known = known_profiles(workspace, user)
        _refuse_sessions(known, user)
        gone = _whole_or_terms(known, terms, was_cut_short)
        changed = forget_in_profiles(known, gone, replacement)
        note_fewer(workspace, _hashes(known, changed))
        sha256 = forget_lines(workspace, settings, user, gone, replacement)
        made = forget_in_releases(workspace, settings, user, changed, replacement)
        unclear = forget_in_published(workspace, made, replacement)
        unclear += forget_in_tables(workspace, known, changed, replacement)
        if not replacement.replaced and not replacement.removed and not was_cut_short:
            raise UnknownPerson(
                f"nobody of this id is in {workspace.root}, so nothing was changed; see that the "
                "id is written as in the profiles"
            )
        current = _current_after(workspace, replacement, sha256)
        replaced, removed = replacement.replaced, replacement.removed
        replacement.carry_out(**current)
    left = unclear if gone is not None else (*unclear, *needles.files_with(workspace.root, user))
    return _told(workspace, replaced, removed, made, current["release"], left)


def look_again(workspace: Workspace, user: str, done: Forgotten) -> Forgotten:
    """Name people.sqlite as left no more, if its store has forgotten the person by now."""
    root = workspace.root
    left = [name for name in done.left if name not in FILES or needles.holds(root / name, user)]
    return done._replace(left=tuple(left))


def _refuse_sessions(known: Collection[Known], user: str) -> None:
    """Refuse one session of a person: the others would stay."""
    for each in known:
        if each.choices.get("granularity") == "session" and user in each.owners:
            raise UsageError("this is a session's name; give the person's, without # and number")


def _whole_or_terms(
    known: Collection[Known], terms: Collection[str] | None, was_cut_short: bool
) -> set[str] | None:
    """Return the terms to forget; None, for all, where the person has no others."""
    if terms is None:
        return None
    had = {term for each in known for term in each.terms_of_owners()}
    if not had & set(terms):
        if not was_cut_short:  # else they may have gone a moment ago
            raise UsageError("none of these terms is in a profile of this person; see the terms")
        return set(terms)
    return set(terms) if had - set(terms) else None


def _hashes(known: Collection[Known], changed: Mapping[str, Changed]) -> dict[str, str]:
    """Return the hash of who remains of the people in each file, by the hash of all."""
    left = [(each, changed[each.fingerprint].profiles) for each in known]
    return {
        people_hash(each.profiles.users, each.choices): people_hash(rest.users, each.choices)
        for each, rest in left
        if rest is not None
    }


def _current_after(
    workspace: Workspace, replacement: Replacement, sha256: Callable[[Current], str]
) -> dict[str, str]:
    """Return what is current when all is done: what was removed is not."""
    current = workspace.current()
    gone = {workspace.relative(path) for path in replacement.removed}
    kept = {
        name: "" if getattr(current, name) in gone else getattr(current, name)
        for name in ("profiles", "release", "truth")
    }
    if not kept["profiles"]:
        kept["truth"] = ""
    return {**kept, "log_sha256": sha256(current) if kept["truth"] else ""}


def _told(
    workspace: Workspace,
    replaced: Collection[Path],
    removed: Collection[Path],
    made: Remade,
    release: str,
    left: Collection[str],
) -> Forgotten:
    def names(paths: Collection[Path]) -> tuple[str, ...]:
        return tuple(sorted(workspace.relative(path) for path in paths))

    anew = bool(release) and release in names(made.anew)
    dropped, withdrawn = names(made.dropped), names(made.withdrawn)
    return Forgotten(names(replaced), names(removed), anew, dropped, withdrawn, tuple(left))

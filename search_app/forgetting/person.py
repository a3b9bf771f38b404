"""Remove all that a workspace knows of people, or of some terms of a person [I/O].

    people.sqlite ─▶ without the people
    profiles, origins ─▶ without the people ─┐
    logs, held-out, truth ─▶ without lines ──┼─▶ replacing.py: in one step, whole or not at all
    releases ─▶ without their rows ──────────┤
    marketing tables ─▶ without their terms ─┘

A row never changes. The row of a person who leaves is withdrawn, and all other rows stay byte for
byte: two states of a release differ by a row as it was released. A removed term leaves the profile,
and the row stays. The store of people.sqlite forgets first, while the workspace is locked: who
has lost their row has nothing left that could grow and be admitted again, even after a kill. If the
workspace is in use, nobody loses their code. Log files outside the workspace are not changed: new
profiles made from them bring the person back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from anonymizer.profiles.rare_terms import person_of

from ..accounts.database import kept_people
from ..accounts.store import PeopleStore
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Current, Workspace
from ..workspace.replacing import Replacement, is_cut_short
from . import needles
from .lines import forget_lines
from .profiles import KnownProfiles, forget_in_profiles, forget_in_tables, known_profiles
from .releases import (
    Leaving,
    PublishedCopy,
    beginnings,
    files_without_users,
    leave_releases,
    note_withdrawn,
    withdraw_published,
)


class UnknownPerson(UsageError):
    """The workspace holds nothing of the people, or of the terms, to forget."""


class ForgetReport(NamedTuple):
    """What was done; paths are relative to the workspace."""

    changed: tuple[str, ...] = ()  # rewritten
    removed: tuple[str, ...] = ()  # removed for good
    rows_withdrawn: int = 0  # of all releases
    releases_dropped: tuple[str, ...] = ()  # no row of theirs was left
    published: tuple[PublishedCopy, ...] = ()  # files that held a withdrawn row
    left: tuple[str, ...] = ()  # files that hold an id, or may hold it, and can't be changed here
    damaged: tuple[str, ...] = ()  # what is wrong with the ledger, and the remedy
    profiles: int = 0  # people to forget who had one
    whole: bool = False  # people were forgotten, not only terms of a person who has others
    rows_edited: int = 0  # of all releases: rows that hold a share of what a member's profile lost


def forget(
    workspace: Workspace,
    settings: Settings,
    people: Set[str],
    terms: Collection[str] | None = None,
    store: PeopleStore | None = None,
) -> ForgetReport:
    """Remove `people` from `workspace`, or only `terms` of one person; return what was done.

    Who an earlier call was forgetting when it was killed is forgotten, too. Without `store`,
    the workspace's file of people is opened.
    """
    workspace.check()
    was_cut_short = is_cut_short(workspace)
    with (
        workspace.writing("forget"),
        _opened(workspace, settings, store) as accounts,
        Replacement(workspace) as replacement,
    ):
        people = people if terms else people | accounts.leaving()
        known = known_profiles(workspace, people)
        _refuse_sessions(known, people)
        grown = {term for user in people for term in accounts.grown(user)}
        gone = _whole_or_terms(known, grown, terms, was_cut_short)
        changed = forget_in_profiles(known, gone, replacement)
        sha256 = forget_lines(workspace, settings, people, gone, replacement)
        left = leave_releases(workspace, people, gone, changed, replacement, kept=False)
        published, unclear = withdraw_published(workspace, left, replacement)
        unclear += forget_in_tables(workspace, known, changed, replacement)
        unclear += files_without_users(workspace)
        current = _current_after(workspace, replacement, sha256)
        done = _report(workspace, replacement, left, published, unclear)
        owners = {user for one in known for user in one.owners}
        named = {*map(person_of, owners - people)} | owners & people
        done = done._replace(profiles=len(named), rows_edited=left.edited)

        def carry_out(known_to_store: bool) -> None:
            nonlocal done
            if known_to_store:
                done = done._replace(changed=(*done.changed, accounts.file))
            if replacement.replaced or replacement.removed or was_cut_short:
                replacement.carry_out(**current)
            elif not known_to_store:
                raise UnknownPerson(
                    f"nobody with this id is in {workspace.root}, so nothing was changed; check "
                    "that the id is written as in the profiles"
                )

        if gone is None:
            accounts.forget(*people, then=carry_out)
        else:
            carry_out(accounts.forget_grown(dict.fromkeys(people, gone)))
        if store is None and accounts.file in done.changed and workspace.stamp():
            # A server of this workspace has prepared searches of them; a new state has nothing.
            workspace.make_current()
        done = done._replace(damaged=note_withdrawn(workspace, left))
    if gone is not None:
        return done
    still = needles.files_with(workspace.root, people | beginnings(left))
    return done._replace(left=(*done.left, *still), whole=True)


def _refuse_sessions(known: Sequence[KnownProfiles], people: Set[str]) -> None:
    """Raise if one of `people` is a session: the person's other sessions would stay."""
    for one in known:
        if one.choices.get("granularity") == "session" and people & one.owners:
            raise UsageError(
                "this is the name of a session; give the person's name, without # and number"
            )


@contextmanager
def _opened(
    workspace: Workspace, settings: Settings, store: PeopleStore | None
) -> Iterator[PeopleStore]:
    """Give `store`, or the one of `workspace`, which is empty if there is no file."""
    if store is not None:
        yield store
        return
    with closing(PeopleStore(kept_people(workspace.root, settings))) as own:
        yield own


def leave_group(workspace: Workspace, people: Set[str]) -> ForgetReport:
    """Withdraw the rows of `people`, who keep profile and code; return what was done."""
    workspace.check()
    with workspace.writing("forget"), Replacement(workspace) as replacement:
        left = leave_releases(workspace, people, None, {}, replacement, kept=True)
        published, unclear = withdraw_published(workspace, left, replacement)
        if not left.rows:
            if known_profiles(workspace, people):
                raise UnknownPerson("this person has no row (any more), so nothing was changed")
            raise UnknownPerson(
                f"nobody with this id has a row in {workspace.root}, so nothing was changed; check "
                "that the id is written as in the profiles"
            )
        current = _current_after(workspace, replacement, lambda current: current.log_sha256)
        done = _report(workspace, replacement, left, published, unclear)
        replacement.carry_out(**current)
        done = done._replace(damaged=note_withdrawn(workspace, left))
    still = needles.files_with(workspace.root, beginnings(left))
    return done._replace(left=(*done.left, *still))


def _report(
    workspace: Workspace,
    replacement: Replacement,
    left: Leaving,
    published: Collection[PublishedCopy],
    unclear: Collection[str],
) -> ForgetReport:
    """Return what `replacement` does, and what became of releases and published files."""

    def names(paths: Collection[Path]) -> tuple[str, ...]:
        return tuple(sorted(workspace.relative(path) for path in paths))

    replaced, removed = names(replacement.replaced), names(replacement.removed)
    dropped, damaged = names(left.dropped), tuple(dict.fromkeys(left.damaged))
    return ForgetReport(
        replaced, removed, left.rows, dropped, tuple(published), tuple(unclear), damaged
    )


def _whole_or_terms(
    known: Collection[KnownProfiles],
    grown: Set[str],
    terms: Collection[str] | None,
    was_cut_short: bool,
) -> set[str] | None:
    """Return the `terms` to forget; None, which means all, if the person has no others.

    They may be in profiles `known`, or in what has `grown`.
    """
    if terms is None:
        return None
    owned = {term for one in known for own in one.owners for term in one.profiles.row(own)}
    some = owned & set(terms)
    # If an earlier call was killed, it may have removed the terms already.
    if not (some or grown & set(terms) or was_cut_short):
        raise UnknownPerson("none of these terms is in a profile of this person; check the terms")
    return None if some and owned <= set(terms) else set(terms)


def _current_after(
    workspace: Workspace, replacement: Replacement, sha256: Callable[[Current], str]
) -> dict[str, str]:
    """Return what is current after `replacement`: without what it removes."""
    current = workspace.current()
    gone = {workspace.relative(path) for path in replacement.removed}
    parts = {name: getattr(current, name) for name in ("profiles", "release", "truth")}
    kept = {name: "" if path in gone else path for name, path in parts.items()}
    if not kept["profiles"]:
        kept["truth"] = ""
    return {**kept, "log_sha256": sha256(current) if kept["truth"] else ""}

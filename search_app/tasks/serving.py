"""Which release a workspace serves [I/O]: what a switch changes for people, and the switch."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anonymizer.errors import AnonymizerError
from anonymizer.methods import promise_of
from anonymizer.model import Release
from anonymizer.storage.changes import people_gone, people_named
from anonymizer.storage.parts import MEMBERS, ROWS, read_cohorts, row_hash
from anonymizer.storage.profiles import fingerprint
from anonymizer.storage.releases import read_hash, read_release

from ..disclosure.numbers import count
from ..errors import UsageError
from ..workspace.folder import RELEASE, Workspace
from ..workspace.ledger import read_ledger, rows_published

_NO_ROW = "no row"


class RowChange(NamedTuple):
    """What rows a number of people had, and what rows they have afterwards."""

    people: int
    before: str
    after: str

    def __str__(self) -> str:
        """Return the change as a line."""
        return f"{count(self.people, 'person', 'people')}: {self.before} -> {self.after}"


def served_release(workspace: Workspace) -> Release | None:
    """Return the release that `workspace` serves; None if there is none, or it can't be read."""
    path = workspace.current().release
    try:
        return read_release(workspace.root / path, promise_of) if path else None
    except AnonymizerError:
        return None


def changes(before: Release | None, after: Release | None) -> list[RowChange]:
    """Return for how many people what changes if `after` is served where `before` was."""
    from ..disclosure.kinds import in_short

    if before is not None and after is not None and _equal(before, after):
        return []
    (old, had), (new, has) = (
        (set(release.users), in_short(release)) if release else (set[str](), _NO_ROW)
        for release in (before, after)
    )
    counted = {(had, has): old & new, (had, _NO_ROW): old - new, (_NO_ROW, has): new - old}
    return [RowChange(len(users), *rows) for rows, users in counted.items() if users]


def change_lines(changed: list[RowChange]) -> list[str]:
    """Return the lines that say what is `changed`."""
    return [str(change) for change in changed] or ["Nobody's row changes."]


def serve_release(workspace: Workspace, folder: Path, profiles: Path) -> None:
    """Let `workspace` serve the release in `folder`, which was made from `profiles`."""
    current, used = workspace.current(), workspace.relative(profiles)
    # Search needs the profiles that a release was made from, so both switch at once.
    workspace.make_current(
        release=workspace.relative(folder),
        profiles=used,
        truth=current.truth if used == current.profiles else "",
    )


def refuse_starting_over(workspace: Workspace) -> None:
    """Refuse if people in `workspace` would get a row on top of that of the served release."""
    path = workspace.current().release
    if path and (why := _settled(workspace, workspace.root / path)):
        raise UsageError(
            f"{why}. A new release gives everybody a second row, and who holds both rows of "
            "somebody learns more. For new people: veilsearch profiles LOG --add, then veilsearch "
            "admit. To start over all the same: --second"
        )


def free_place(workspace: Workspace) -> Path:
    """Return the folder for the next release that `workspace` serves.

    It is the usual one, or a further one if people stand for good in rows of what is there.
    """
    # The old release stays: without it nobody could be taken out of what was published of it.
    names = (f"{RELEASE}.{number}" if number > 1 else RELEASE for number in itertools.count(1))
    places = (workspace.root / name for name in names)
    return next(place for place in places if not _settled(workspace, place))


def _settled(workspace: Workspace, folder: Path) -> str:
    """Return why people stand for good in rows of the release in `folder`; "" if they don't.

    They do if they are real, and it was published, lost rows or got newcomers.
    """
    try:
        cohorts = read_cohorts(folder)
    except AnonymizerError:  # there is none, or it can't be read and serves nobody
        return ""
    truth = workspace.truth()
    if truth and people_named(cohorts) <= truth["users"].keys():
        return ""
    releases, rows = rows_published(read_ledger(workspace))
    lines = (line for cohort in cohorts for line in cohort.parts[ROWS].splitlines())
    published = read_hash(folder) in releases or any(row_hash(line) in rows for line in lines)
    gone = people_gone(cohorts)
    if not (published or gone or len(cohorts) > 1):
        return ""
    people = sum(cohort.parts[MEMBERS].count(b"\n") for cohort in cohorts)
    known = "it was published" if published else "it was not published"
    return f"{people:,} people stand in a row of {folder}, {gone:,} lost theirs, and {known}"


def _equal(one: Release, other: Release) -> bool:
    """Return whether everybody has the same row in both releases."""
    served = one.users == other.users and np.array_equal(one.row_of_user, other.row_of_user)
    return served and fingerprint(one.rows) == fingerprint(other.rows)

"""veilsearch forget: take people, or some terms of a person, out of the workspace."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import console
from ..disclosure.numbers import count
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import EXPERIMENTS, Workspace
from .arguments import add_json

if TYPE_CHECKING:
    from ..forgetting.person import ForgetReport

_DAY = "%d %b %Y, %H:%M UTC"
_LOGS = (
    "Logs outside the workspace are not changed. Take the person out of them, too: profiles "
    "made from them again would bring the person back."
)
_OUTSIDE = (
    "Copies of published files that others have can't be called back. Who compares them with the "
    "file of today sees which row is gone: that somebody of that group left."
)
_STAYS = (
    "The group's row still holds a share of it; to withdraw the row: veilsearch forget --user U "
    "--leave"
)
_NO_ROW = "This person has no row (any more)."
_RUNS = (
    "Runs of experiments still hold figures of each test person, by number and without a name; run "
    "them again to have none of theirs."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.epilog = (
        "Everything is changed in one step. Profiles, origins, held-out queries, query logs, "
        "the town's truth and marketing tables are written again without these people. Each row in "
        "which one of them had a part is withdrawn; every other row of a release stays byte for "
        "byte. Published files that hold the row are named, and replaced by the same file without "
        "it; files of single-person rows are removed. With --term only the profile changes: rows "
        f"stay. {_LOGS}"
    )
    parser.add_argument(
        "--user",
        required=True,
        nargs="+",
        metavar="U",
        help="ids of people; -: read them from stdin, one a line",
    )
    parser.add_argument(
        "--term",
        action="append",
        metavar="T",
        help="forget only this term of one person; may be repeated",
    )
    parser.add_argument(
        "--leave",
        action="store_true",
        help="withdraw people's rows only: they keep profile and code, and leave their group",
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Forget as `arguments` say, print what changed; return 1 if files still hold the id."""
    from ..accounts.database import place_of_people
    from ..forgetting.person import forget, leave_group

    workspace = Workspace(settings.workspace)
    people = _given(arguments)
    if arguments.leave:
        left = leave_group(workspace, people)
        console.answer(_as_json(left), _lines(left, "Left the group"), as_json=arguments.json)
        return 1 if left.left else 0
    done = forget(workspace, settings, people, arguments.term)
    console.answer(_as_json(done), _lines(done, "Forgotten"), as_json=arguments.json)
    if len(people) > 1:
        console.say(f"{done.profiles:,} of these {len(people):,} people had a profile.")
    if not arguments.json and done.changed != (place_of_people(workspace.root, settings).name,):
        stays = _STAYS if done.rows_edited else _NO_ROW
        console.say(_LOGS if done.whole else stays)
    if (workspace.root / EXPERIMENTS).is_dir():
        console.say(_RUNS)
    return 1 if done.left else 0


def _given(arguments: argparse.Namespace) -> frozenset[str]:
    """Return the ids that `arguments` give; refuse what does not go together."""
    # From stdin, ids do not show in the list of processes.
    given = map(str.strip, sys.stdin) if arguments.user == ["-"] else arguments.user
    people = frozenset(filter(None, given))
    if not people:
        raise UsageError("--user is empty; give ids of people as the profiles have them")
    if arguments.term and arguments.leave:
        raise UsageError("--leave keeps the profile, so it goes without --term; give one of them")
    if arguments.term and len(people) > 1:
        raise UsageError("terms are forgotten for one person at a time; name one")
    return people


def _as_json(done: ForgetReport) -> dict[str, Any]:
    return {**done._asdict(), "published": [copy._asdict() for copy in done.published]}


def _lines(done: ForgetReport, what: str) -> Iterator[str]:
    """Yield `what` was done, with each file; say what else the person should know."""
    yield f"{what}: {count(len(done.changed), 'file or folder', 'files and folders')} written again"
    yield from (f"  {name}" for name in done.changed)
    yield from (f"  removed: {name}" for name in done.removed)
    if done.rows_withdrawn:
        rows = count(done.rows_withdrawn, "row was", "rows were")
        yield f"  {rows} withdrawn; all others are as they were, byte for byte"
    for copy in done.published:
        at = "" if copy.at is None else f", published {time.strftime(_DAY, time.gmtime(copy.at))}"
        now = "without the row now" if copy.successor else "removed"
        now = now if copy.path else "it is not in the workspace; take it down where it is"
        name = copy.path or "a file"
        yield f"  published: {name}, SHA-256 of its rows {copy.sha256}{at}: {now}"
    if done.releases_dropped:
        console.say("Releases without any row left were removed.")
    if done.published:
        console.say(_OUTSIDE)
    for fault in done.damaged:
        console.say(f"The ledger could not be used: {fault}")
    _warn_of(done.left)


def _warn_of(left: tuple[str, ...]) -> None:
    for name in left:
        console.say(f"Left: {name} may hold the id, a term, a query or the row; check it by hand")

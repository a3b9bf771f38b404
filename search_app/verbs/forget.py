"""veilsearch forget: take a person, or terms of theirs, out of the workspace."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace import EXPERIMENTS, Workspace

if TYPE_CHECKING:
    from ..forgetting import Forgotten

_LOGS = (
    "Logs outside the workspace are not touched: profiles made of them again bring the person "
    "back, so take them out of the logs first."
)
_WITHDRAWN = (
    "Not published anew: {}, for composition and pooled promise nothing of a second release of the "
    "same people. What was made anew serves search here; publish refuses it."
)
_RUNS = (
    "Runs of experiments hold lines of figures for each person who asked, by a number that names "
    "nobody; run them again to be without this person's."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.epilog = (
        "Profiles, origins, held-out queries, logs by columns, the town's truth, marketing "
        "tables and published files are written anew without the person (those of composition and "
        "pooled are removed: they must have no second), releases made anew from "
        f"the profiles that remain, all in one step. {_LOGS}"
    )
    parser.add_argument(
        "--user", required=True, metavar="U", help="the person's id; - reads it from stdin"
    )
    parser.add_argument(
        "--term", action="append", metavar="T", help="forget but this term; may be given again"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Forget, and tell what was done; exit with 1 where files are left that hold the id."""
    from .. import needles
    from ..forgetting import UnknownPerson, forget, look_again

    workspace = Workspace(settings.workspace)
    user = _user(arguments.user)
    whole = arguments.term is None
    try:
        done = forget(workspace, settings, user, arguments.term)
    except UnknownPerson:
        if not (whole and _forget_choices(workspace, user)):
            raise
        _print_store(arguments.json, left := needles.files_with(workspace.root, user))
        return 1 if left else 0
    if whole:
        _forget_choices(workspace, user)
        done = look_again(workspace, user, done)
    _print(done, arguments.json)
    if (workspace.root / EXPERIMENTS).is_dir():
        console.say(_RUNS)
    return 1 if done.left else 0


def _user(given: str) -> str:
    """Return the id; read from stdin it does not stand in the list of processes."""
    user = sys.stdin.readline().strip() if given == "-" else given
    if not user:
        raise UsageError("--user is empty; give the person's id as the profiles have it")
    return user


def _forget_choices(workspace: Workspace, user: str) -> bool:
    """Forget code, sessions, choices and kept searches; tell whether there was anything."""
    from ..people_file import FILE
    from ..people_store import PeopleStore

    path = workspace.root / FILE
    if not path.exists():
        return False
    store = PeopleStore(path)
    try:
        codes = any(user == owner for owner, _ in store.codes())
        had = codes or any(store.choices(user)) or bool(store.searches(user))
        store.forget(user)
    finally:
        store.close()
    return had


def _print_store(as_json: bool, left: tuple[str, ...]) -> None:
    if as_json:
        console.show_json({"changed": ["people.sqlite"], "left": list(left)})
        return
    console.show("Forgotten: people.sqlite")
    _print_left(left)


def _print(done: Forgotten, as_json: bool) -> None:
    if as_json:
        console.show_json(done._asdict())
        return
    console.show(f"Forgotten: {len(done.changed)} files and folders written anew")
    for name in done.changed:
        console.show(f"  {name}")
    for name in done.removed:
        console.show(f"  removed: {name}")
    if done.releases_dropped:
        console.say(
            "Releases that could not be made anew without the person were removed; make others "
            "with: veilsearch anonymize"
        )
    if done.withdrawn:
        console.say(_WITHDRAWN.format(", ".join(done.withdrawn)))
    _print_left(done.left)
    console.say(_LOGS)


def _print_left(left: tuple[str, ...]) -> None:
    for name in left:
        console.say(f"Left: {name} holds the id or a term, or words like these; see to it by hand")

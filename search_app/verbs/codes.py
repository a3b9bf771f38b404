"""veilsearch codes: make, list and revoke the codes by which people sign in."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace import Workspace, write_whole

if TYPE_CHECKING:
    from ..people_store import PeopleStore

_SHOWN = 5  # places of wrong ids that are named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--new", nargs="*", metavar="USER", help="make codes; those before end")
    what.add_argument("--all", action="store_true", help="make codes for all who have none")
    what.add_argument("--revoke", nargs="*", metavar="USER", help="end codes and sessions")
    what.add_argument("--list", action="store_true", help="list who has a code since when")
    parser.add_argument(
        "--users", type=Path, metavar="FILE", help="more ids for --new and --revoke, one a line"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.tsv",
        help="write new codes here: user, tab, code",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Change the codes; exit with 1 if some of those to be revoked had none."""
    from ..people_file import FILE
    from ..people_store import PeopleStore

    workspace = Workspace(settings.workspace)
    workspace.check()
    _refuse(arguments, workspace)
    path, makes = workspace.root / FILE, arguments.all or arguments.new is not None
    with closing(PeopleStore(path if makes or path.exists() else None)) as store:
        if arguments.list:
            return _list(store, arguments)
        if arguments.revoke is not None:
            return _revoke(store, arguments)
        with workspace.writing("codes"):
            return _make(store, workspace, arguments)


def _refuse(arguments: argparse.Namespace, workspace: Workspace) -> None:
    makes = arguments.all or arguments.new is not None
    if arguments.output and not makes:
        raise UsageError("-o goes with --new and --all only: codes made before can't be read again")
    if arguments.all and not arguments.output:
        raise UsageError("--all needs -o FILE.tsv: the codes are told once only")
    if arguments.users and (arguments.all or arguments.list):
        raise UsageError("--users goes with --new and --revoke only")
    output: Path | None = arguments.output
    if output and output.resolve().is_relative_to(workspace.root.resolve()):
        raise UsageError(
            f"-o {output} lies in the workspace, which keeps no code; name a file outside of it"
        )


def _make(store: PeopleStore, workspace: Workspace, arguments: argparse.Namespace) -> int:
    """Make codes; they count once they are written where they can be read."""
    from anonymizer.profile_file import read_profiles

    known = read_profiles(workspace.find("profiles")).row_of
    if arguments.all:
        have = {user for user, _ in store.codes()}
        users = [user for user in known if user not in have]
    else:
        users, have = list(_named(arguments.new, arguments, known)), set()
    keep = partial(_write, arguments.output) if arguments.output else partial(_show, arguments)
    with console.progress("Making codes", len(users)) as progress:
        store.new_codes(users, keep, progress)
    if arguments.output:
        _tell(arguments, len(users), len(have))
    return 0


def _named(
    given: list[str], arguments: argparse.Namespace, known: Mapping[str, object] | None
) -> dict[str, str]:
    """Return the ids given and those in the file, each with its place; all must be known."""
    places = {user: f"id number {number}" for number, user in enumerate(given, 1)}
    if arguments.users:
        lines = _lines(arguments.users)
        places |= {
            user: f"{arguments.users}, line {number}"
            for number, user in lines
            if user not in places
        }
    if not places:
        raise UsageError("no ids; name them after --new or --revoke, or in a file with --users")
    wrong = [] if known is None else [place for user, place in places.items() if user not in known]
    if wrong:
        more = f" and {len(wrong) - _SHOWN:,} more" if len(wrong) > _SHOWN else ""
        raise UsageError(
            f"no profile for {'; '.join(wrong[:_SHOWN])}{more}; no code was made: codes are for "
            "people with a profile"
        )
    return places


def _lines(file: Path) -> list[tuple[int, str]]:
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        why = getattr(fault, "strerror", None) or "it is not UTF-8"
        raise UsageError(f"--users {file} can't be read: {why}; write one id a line") from fault
    return [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]


def _write(output: Path, codes: Mapping[str, str]) -> None:
    if any(set(user) & set("\t\r\n") for user in codes):
        raise UsageError("an id has a tab or a line end in it, which FILE.tsv can't hold")
    write_whole(output, "".join(f"{user}\t{code}\n" for user, code in codes.items()))


def _show(arguments: argparse.Namespace, codes: Mapping[str, str]) -> None:
    if arguments.json:
        console.show_json({"codes": codes})
        return
    for user, code in codes.items():
        console.show(f"{user}  {code}")


def _tell(arguments: argparse.Namespace, made: int, had: int) -> None:
    if arguments.json:
        console.show_json({"written": str(arguments.output), "made": made, "had_one": had})
        return
    before = f"; {had:,} had one before, which stay" if had else ""
    console.show(f"{arguments.output}: {made:,} codes, readable by you only{before}")
    console.say("Hand the codes out, then delete the file: nobody needs it to sign in.")


def _list(store: PeopleStore, arguments: argparse.Namespace) -> int:
    codes = [(user, _shown(made)) for user, made in store.codes()]
    if arguments.json:
        console.show_json({"codes": [{"user": user, "made": made} for user, made in codes]})
        return 0
    for user, made in codes:
        console.show(f"{user}  {made}")
    if not codes:
        console.say("Nobody has a code yet; make some with: veilsearch codes --all -o FILE.tsv")
    return 0


def _shown(made: int) -> str:
    return f"{datetime.fromtimestamp(made, UTC):%Y-%m-%d %H:%M} UTC"


def _revoke(store: PeopleStore, arguments: argparse.Namespace) -> int:
    named = _named(arguments.revoke, arguments, None)
    had = [user for user in named if store.revoke(user)]
    if arguments.json:
        console.show_json({"revoked": len(had), "had_none": len(named) - len(had)})
    else:
        none = f"; {len(named) - len(had):,} had none" if len(had) < len(named) else ""
        console.show(f"{len(had):,} codes revoked{none}")
    return 0 if len(had) == len(named) else 1

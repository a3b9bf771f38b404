"""veilsearch codes: make, list and revoke codes of people, and tokens of their scripts."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .. import console
from ..disclosure.numbers import count
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Workspace, write_whole
from .arguments import add_json, ids_in

if TYPE_CHECKING:
    from ..accounts.store import PeopleStore

_SHOWN = 5  # ids that a message lists by their places


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--new", nargs="*", metavar="USER", help="make new codes; old ones end")
    what.add_argument("--all", action="store_true", help="make codes for everybody without one")
    what.add_argument("--revoke", nargs="*", metavar="USER", help="end codes, sessions and tokens")
    what.add_argument("--list", action="store_true", help="list who has a code, and since when")
    what.add_argument("--token", metavar="USER", help="make a token for scripts of USER")
    what.add_argument(
        "--revoke-tokens", metavar="USER", help="end all tokens of USER, not the code"
    )
    parser.add_argument("--name", metavar="NAME", help="what --token is for; USER sees it on /me")
    parser.add_argument(
        "--users", type=Path, metavar="FILE", help="more ids for --new or --revoke, one a line"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.tsv",
        help="file for the new codes: user, tab, code",
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Change codes or tokens as `arguments` say; return 1 if some of those to revoke had none."""
    from ..accounts.database import kept_people, place_of_people
    from ..accounts.store import PeopleStore

    workspace = Workspace(settings.workspace)
    workspace.check()
    _check_use(arguments, workspace)
    makes = arguments.all or arguments.new is not None
    # Looking must not create the file.
    place = (place_of_people if makes else kept_people)(workspace.root, settings)
    with closing(PeopleStore(place)) as store:
        if makes:
            with workspace.writing("codes"):
                return _make(store, workspace, arguments)
        if arguments.token is not None:
            return _make_token(store, arguments)
        return _list(store, arguments) if arguments.list else _revoke(store, arguments)


def _check_use(arguments: argparse.Namespace, workspace: Workspace) -> None:
    output: Path | None = arguments.output
    if output and not (arguments.all or arguments.new is not None):
        raise UsageError("-o goes only with --new or --all: codes made before can't be read again")
    if (arguments.token is None) != (arguments.name is None):
        raise UsageError("--token USER and --name NAME go together; give both")
    if arguments.all and not output:
        raise UsageError("--all needs -o FILE.tsv: the codes are shown once only")
    if arguments.users and arguments.new is None and arguments.revoke is None:
        raise UsageError("--users goes only with --new or --revoke")
    if output and output.resolve().is_relative_to(workspace.root.resolve()):
        raise UsageError(
            f"-o {output} lies in the workspace, which keeps no code; name a file outside of it"
        )
    if output and output.exists():
        raise UsageError(
            f"-o {output} is there already, and may hold codes that nobody has got yet; name "
            "another file"
        )


def _revoke(store: PeopleStore, arguments: argparse.Namespace) -> int:
    """End codes, or a person's tokens; return 1 if there were none."""
    if arguments.revoke_tokens is not None:
        ended = store.revoke_tokens(arguments.revoke_tokens)
        line = f"{count(ended, 'token', 'tokens')} revoked"
        console.answer({"revoked": ended}, [line], as_json=arguments.json)
        return 0 if ended else 1
    # Not checked against the profiles: a person without one may still have a code.
    named = _named(arguments.revoke, arguments)
    revoked = sum(store.revoke(user) for user in named)
    missing = len(named) - revoked
    line = f"{count(revoked, 'code', 'codes')} revoked" + (
        f"; {missing:,} had none" if missing else ""
    )
    console.answer({"revoked": revoked, "had_none": missing}, [line], as_json=arguments.json)
    return 1 if missing else 0


def _make_token(store: PeopleStore, arguments: argparse.Namespace) -> int:
    """Make a token for a person's scripts, and show it this once."""
    from ..accounts.codes import LONGEST_NAME, is_name
    from ..accounts.store import MOST_TOKENS

    if not is_name(arguments.name):
        raise UsageError(f"--name has 1 to {LONGEST_NAME} visible characters")
    token = store.new_token(arguments.token, arguments.name)
    if token is None:
        raise UsageError(
            f"no token was made: that person has no code, or {MOST_TOKENS} tokens already; "
            "veilsearch codes --list, or --revoke-tokens USER"
        )
    console.answer({"token": token}, [token], as_json=arguments.json)
    return 0


def _make(store: PeopleStore, workspace: Workspace, arguments: argparse.Namespace) -> int:
    """Make codes; they become valid only once they are written or shown."""
    from anonymizer.storage.profiles import read_profiles

    from ..accounts.codes import LONGEST_ID, is_id

    output: Path | None = arguments.output
    there = workspace.current().profiles
    known = read_profiles(workspace.find("profiles")).row_of if there else {}
    new: dict[str, str] = {}  # people without a profile, with the places of their ids
    have = {user for user, _ in store.codes()}
    if arguments.all:
        users = [user for user in known if user not in have]
    else:
        places = _named(arguments.new, arguments)
        users, new = list(places), {user: at for user, at in places.items() if user not in known}
        if odd := [place for user, place in new.items() if not is_id(user)]:
            raise UsageError(
                f"{_listed(odd)}: an id has 1 to {LONGEST_ID} characters, none of them invisible, "
                "no blank at its ends, and is no name of a row as g0001; no code was made"
            )

    def keep(codes: Mapping[str, str]) -> None:
        if output is None:
            lines = (f"{user}  {code}" for user, code in codes.items())
            console.answer({"codes": codes}, lines, as_json=arguments.json)
            return
        if any(set(user) & set("\t\r\n") for user in codes):
            raise UsageError("FILE.tsv can't hold an id with a tab or a line end; remove -o")
        write_whole(output, "".join(f"{user}\t{code}\n" for user, code in codes.items()))

    store.new_codes(users, keep)
    if ended := len(have.intersection(users)):
        console.say(f"{count(ended, 'earlier code', 'earlier codes')} ended")
    if new:
        console.say(
            f"no profile yet for {_listed([*new.values()])}: new here, with "
            "searches in plain order until they choose more. If an id is mistyped: veilsearch "
            "codes --revoke"
        )
    kept = len(have) if arguments.all else 0
    if output and arguments.json:
        console.show_json({"written": str(output), "made": len(users), "had_one": kept})
    elif output:
        before = f"; {kept:,} had a code before, which stays valid" if kept else ""
        console.show(
            f"{output}: {count(len(users), 'code', 'codes')}, readable by you only{before}"
        )
        console.say("Hand the codes out, then delete the file: signing in does not need it.")
    return 0


def _listed(places: list[str]) -> str:
    more = f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
    return f"{'; '.join(places[:_SHOWN])}{more}"


def _named(given: list[str], arguments: argparse.Namespace) -> dict[str, str]:
    """Return the ids `given` and those in --users, with their places."""
    # An error must not print ids of people, so each id is named by its place.
    places = {user: f"id number {number}" for number, user in enumerate(given, 1)}
    if file := arguments.users:
        for number, user in ids_in(file, "--users"):
            if user not in given:
                places[user] = f"{file}, line {number}"
    if not places:
        raise UsageError("no ids; name them after --new or --revoke, or in a file with --users")
    return places


def _list(store: PeopleStore, arguments: argparse.Namespace) -> int:
    codes = [
        (user, f"{datetime.fromtimestamp(made, UTC):%Y-%m-%d %H:%M} UTC")
        for user, made in store.codes()
    ]
    listed = {"codes": [{"user": user, "made": made} for user, made in codes]}
    console.answer(listed, (f"{user}  {made}" for user, made in codes), as_json=arguments.json)
    if not (codes or arguments.json):
        console.say("Nobody has a code yet; make some with: veilsearch codes --all -o FILE.tsv")
    return 0

"""veilsearch anonymize: turn profiles into a release."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import DEFAULT_METHOD, Settings
from ..workspace.folder import Workspace
from .arguments import (
    PROFILES,
    add_engine,
    add_json,
    add_second,
    add_seed,
    add_set,
    assignments,
    engine_of,
    help_with,
    parts_of,
    seed_of,
)

if TYPE_CHECKING:
    from ..tasks.releasing import ReleaseRequest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.formatter_class = help_with(_parameters)
    text = f"{PROFILES}; a method that takes a log: the query log"
    parser.add_argument("profiles", type=Path, nargs="?", metavar="PROFILES", help=text)
    parser.add_argument(
        "-m",
        "--method",
        default=DEFAULT_METHOD,
        metavar="METHOD",
        help=f"one of the methods below ({DEFAULT_METHOD})",
    )
    add_set(parser, "a parameter of the method")
    parser.add_argument(
        "--log", type=Path, nargs="+", metavar="LOG", help="the query log for --set network=log"
    )
    add_seed(parser)
    parser.add_argument(
        "--parts",
        type=int,
        metavar="N",
        help="deal the users into N parts, if memory is short, and group each by itself "
        "(default: 1; more for over 8,388,608 users)",
    )
    add_engine(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="RELEASE/",
        help="write there and serve it only after `veilsearch use` (default: write "
        "WORKSPACE/release and serve it)",
    )
    add_second(parser)
    add_json(parser)


def _parameters() -> str:
    """Return the parameters of every method."""
    from anonymizer.methods import METHODS

    return "\n".join(f"{method.help()}\n" for method in METHODS.values())


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the release that `arguments` name; without -o serve it; return the exit code."""
    from anonymizer.model import Release

    from ..tasks.releasing import ReleaseRequest, takes_log, write_release_of
    from ..tasks.serving import (
        change_lines,
        changes,
        free_place,
        refuse_starting_over,
        serve_release,
        served_release,
    )

    workspace, output = Workspace(settings.workspace), arguments.output
    request = ReleaseRequest(
        arguments.method,
        assignments(arguments.set),
        seed_of(arguments),
        arguments.log or (),
        parts_of(arguments),
    )
    log = takes_log(arguments.method)
    _refuse_engine(arguments, log)
    if log and not arguments.profiles:
        raise UsageError(f"{arguments.method} takes a query log; name it in place of PROFILES")
    if not arguments.profiles or (log and not output):
        workspace.find("profiles")  # refuses before a folder is made
    with workspace.writing("anonymize"):
        _refuse_served(workspace, output)
        if not (output or arguments.second):
            refuse_starting_over(workspace)
        # Looked up again: `writing` may first finish a step that a killed command began.
        source = arguments.profiles or workspace.find("profiles")
        profiles = source if output or not log else _profiles_of(source, workspace, settings)
        place = output or free_place(workspace)
        before = None if output else served_release(workspace)

        # Before it is written, as it may replace the release that is served.
        def say_changes(release: Release) -> None:
            for line in change_lines(changes(before, release)):
                console.say(line)

        with _on_engine(arguments, request) as on_engine:
            made = write_release_of(
                source,
                place,
                on_engine,
                settings,
                check=None if output else say_changes,
            )
        if not output:
            serve_release(workspace, place, profiles)
    _answer(made, output, as_json=arguments.json)
    return 0


def _answer(made: dict[str, Any], output: Path | None, *, as_json: bool) -> None:
    """Say what was `made`, and that a release in the folder `output` is not served."""
    from anonymizer.methods import promise_of

    from ..disclosure.kinds import kind_of

    kind = kind_of(promise_of(made["method"], made["parameters"]))
    console.answer(made, kind.lines(made), as_json=as_json)
    if not as_json and (warning := kind.warning(made)):
        console.say(warning)
    if output and not as_json:
        console.say(f"It is not served. To serve it: veilsearch use {shlex.quote(str(output))}")


def _refuse_engine(arguments: argparse.Namespace, log: bool) -> None:
    """Refuse a cluster for what it can't do; with `log`, the method takes a log."""
    if not engine_of(arguments):
        return
    if log and not arguments.output:
        raise UsageError(f"--engine spark with {arguments.method} needs a folder: -o RELEASE/")
    if not log and (arguments.parts or 1) < 2:
        raise UsageError("--engine spark works part by part; name 2 or more: --parts 16")


@contextmanager
def _on_engine(arguments: argparse.Namespace, request: ReleaseRequest) -> Iterator[ReleaseRequest]:
    """Give the `request` for the engine that `arguments` name."""
    engine = engine_of(arguments)
    if not engine:
        yield request
        return

    from anonymizer.backends.spark_parts import deal_on
    from anonymizer.methods import refuse_parts

    from ..tasks.profiling import on_cluster
    from ..tasks.releasing import made_of_log_on

    # Before a session starts, which takes seconds.
    if request.parts:
        refuse_parts(request.method, request.values)
    with on_cluster(engine, request.method) as cluster:
        yield replace(request, deal=deal_on(cluster), of_log=partial(made_of_log_on, cluster))


def _profiles_of(log: Path, workspace: Workspace, settings: Settings) -> Path:
    """Return the current profiles if they are those that are made of `log`; else refuse."""
    from anonymizer.storage.profiles import fingerprint, read_profiles

    from ..tasks.releasing import OF_LOG, made_of_log

    # Search needs the profiles next to the release, and nobody wants theirs replaced by chance.
    made = fingerprint(made_of_log(log, settings).profiles)
    path = workspace.current().profiles
    if path and fingerprint(read_profiles(workspace.find("profiles"))) == made:
        return workspace.find("profiles")
    raise UsageError(
        "the current profiles are not those of this log; name a folder with -o, or first run: "
        f"veilsearch profiles {shlex.quote(str(log))} --terms {OF_LOG} --weights tf"
    )


def _refuse_served(workspace: Workspace, output: Path | None) -> None:
    """Refuse an `output` that is the release which `workspace` serves."""
    served = workspace.current().release
    if output and served and output.resolve() == (workspace.root / served).resolve():
        raise UsageError(f"-o {output} is the served release; name another folder, or leave out -o")

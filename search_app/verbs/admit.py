"""veilsearch admit: give people who wait rows of their own."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import console
from ..disclosure.numbers import count
from ..settings import Settings
from ..workspace.folder import Workspace
from .arguments import add_json

if TYPE_CHECKING:
    from ..tasks.admitting import Admission


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done; write nothing"
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Give those who wait rows as `arguments` say; return 1 if they are too few."""
    from ..tasks.admitting import TooFew, admit

    workspace = Workspace(settings.workspace)
    workspace.check()
    with workspace.writing("admit"):
        try:
            done = admit(workspace, settings, dry_run=arguments.dry_run)
        except TooFew as fault:
            console.say(f"veilsearch: {fault}")
            return 1
    made = {**done._asdict(), "dry_run": arguments.dry_run}
    console.answer(made, _lines(done, arguments.dry_run), as_json=arguments.json)
    return 0


def _lines(done: Admission, dry_run: bool) -> Iterator[str]:
    """Yield what was `done`, or would be in a `dry_run`."""
    if not done.waiting:
        yield "Nobody waits."
        if done.gathering:
            gather = count(done.gathering, "person gathers", "people gather")
            yield f"{gather} interests by searching: {done.needed} are needed to wait."
        return
    yield count(done.waiting, "person waits", "people wait")
    if done.published:
        yield (
            f"{count(done.published, 'stands', 'stand')} in another row that was published, and "
            "can get no second one; under another id they can"
        )
    if not done.cohort:
        return
    one, many = ("would be", "would be") if dry_run else ("was", "were")
    admitted, rows = count(done.admitted, one, many), count(done.rows, "row", "rows")
    yield f"{admitted} admitted in {rows}: cohort {done.cohort} of {done.release}"
    if done.against_all is not None:
        yield (
            "compared with all people of the release, not of a cohort, belief changes by up to "
            f"{done.against_all:.3f}"
        )
    if none := done.waiting - done.published - done.admitted:
        yield f"{count(none, one, many)} left without a row: all of their terms are suppressed"

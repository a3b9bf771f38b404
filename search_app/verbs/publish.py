"""veilsearch publish: write the public part of a release, if it passes verify."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Workspace
from .arguments import add_json, add_release, release_and_profiles
from .verify import as_dict, lines, population


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    add_release(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", required=True, help="file to write"
    )
    parser.add_argument(
        "--second",
        action="store_true",
        help="publish although people stand in other rows than in releases published before; "
        "refused if a promise holds for one release only",
    )
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="a further ledger, which several workspaces share; its key is FILE.key",
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Verify and write what `arguments` name; on any breach write nothing and return 1."""
    from ..workspace.ledger import ONE, publish_noted

    release, profiles = release_and_profiles(arguments, settings)
    workspace = Workspace(settings.workspace)
    ledgers = _ledgers(workspace, arguments)
    shared: Path | None = arguments.ledger
    is_new = shared is not None and not shared.exists()
    # While this writes, `forget` is refused: it needs the ledger to know all that is published.
    with workspace.writing("publish"):
        verdict = publish_noted(
            release, profiles, arguments.output, ledgers, second=arguments.second
        )
    published = str(arguments.output) if verdict.holds else None
    made = {"published": published, **as_dict(release, verdict)}
    if verdict.holds:
        rows = f"{verdict.checked['rows']} rows of {population(verdict)}"
        shown = iter([f"{published}: {rows}, the very bytes that were verified"])
        if arguments.second:
            for line in {finding.line for finding in verdict.findings if finding.claim == ONE}:
                console.say(line)
    else:
        shown = lines(release, verdict)
    console.answer(made, shown, as_json=arguments.json)
    if verdict.holds and is_new:
        console.say(f"new ledger {shared} made")
    if not (verdict.holds or arguments.json):
        console.say("Nothing was published.")
    return 0 if verdict.holds else 1


def _ledgers(workspace: Workspace, arguments: argparse.Namespace) -> list[Path]:
    """Return the ledger of `workspace` and the shared one, in the order in which all lock them."""
    from ..workspace.ledger import ledger_path

    shared: Path | None = arguments.ledger
    if shared and shared.resolve() == arguments.output.resolve():
        raise UsageError(f"--ledger {shared} is the file to publish; name another one")
    own = ledger_path(workspace)
    paths = {path.resolve(): path for path in (shared, own) if path}
    return [paths[full] for full in sorted(paths)]

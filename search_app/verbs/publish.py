"""veilsearch publish: write the public part of a release, if it passes verify."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Workspace
from .arguments import add_json, add_release, release_and_profiles
from .verify import as_dict, lines, population

if TYPE_CHECKING:
    from anonymizer.publishing import Candidate
    from anonymizer.verification.finding import Finding

    from ..workspace.ledger import Publication

_ONE = "one release"  # the claim that a ledger judges


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
    from anonymizer.publishing import publish

    from ..workspace.ledger import earlier_certificate, publishing

    release, profiles = release_and_profiles(arguments, settings)
    workspace = Workspace(settings.workspace)
    ledgers = _ledgers(workspace, arguments)
    shared: Path | None = arguments.ledger
    is_new = shared is not None and not shared.exists()
    # While this writes, `forget` is refused: it needs the ledger to know all that is published.
    with workspace.writing("publish"), ExitStack() as held:
        # The ledgers stay locked until the file is written, so nobody publishes a second one
        # meanwhile. The note comes before the file: a ledger must never lack a published one.
        def others(candidate: Candidate) -> list[Finding]:
            publications = [held.enter_context(publishing(path, candidate)) for path in ledgers]
            findings = [_second_release(one, arguments.second) for one in publications]
            if all(finding.holds for finding in findings):
                for one in publications:
                    one.note()
            return findings

        earlier = partial(earlier_certificate, ledgers)
        verdict = publish(release, profiles, arguments.output, others, earlier)
    published = str(arguments.output) if verdict.holds else None
    made = {"published": published, **as_dict(release, verdict)}
    if verdict.holds:
        rows = f"{verdict.checked['rows']} rows of {population(verdict)}"
        shown = iter([f"{published}: {rows}, the very bytes that were verified"])
        if arguments.second:
            for line in {finding.line for finding in verdict.findings if finding.claim == _ONE}:
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


def _second_release(publication: Publication, second: bool) -> Finding:
    """Judge a release by what a ledger says of its people."""
    from anonymizer.verification.finding import Finding

    path, fault = publication.path, publication.fault
    if not fault:
        good = "nobody stands in another row than in what was published before"
        return Finding(_ONE, True, path.name, good)
    if publication.once:
        remedy = "a promise holds for one release only; publish the rows of the earlier release"
    elif not second:
        remedy = "publish the rows of the earlier release, or accept this with --second"
    else:
        return Finding(_ONE, True, path.name, f"accepted by --second: {fault}")
    return Finding(_ONE, False, path.name, f"{fault}; {remedy}")

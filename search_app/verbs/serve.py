"""veilsearch serve: serve the web pages."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType

from .. import console
from ..errors import UsageError
from ..settings import ACCESS, PRIVATE, Settings
from .arguments import add_admission, add_place, with_admission

STUDY = "study"
MOST_WORKERS = 64
UNPROTECTED = (
    "Codes and searches can be read on the way: put a proxy with a certificate in front and set "
    "https = true in veilsearch.toml. See: veilsearch doctor --deploy"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument(
        "folder", nargs="?", type=Path, metavar="FOLDER", help="mode study: its folder"
    )
    add_place(parser)
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="processes that serve together, each with a Java of its own (1)",
    )
    also = "; study: the study in FOLDER"
    add_admission(parser, (*ACCESS, STUDY), also)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve the workspace in `settings` as `arguments` say, until stopped; return 0."""
    from index.brief import loading

    from ..accounts.admission import is_loopback

    if (arguments.mode == STUDY) != (arguments.folder is not None):
        raise UsageError("to serve a study: veilsearch serve --mode study FOLDER")
    if arguments.mode == STUDY and arguments.workers != 1:
        raise UsageError("--workers: a study has one server, so leave it out with --mode study")
    if not 1 <= arguments.workers <= MOST_WORKERS:
        raise UsageError(f"--workers {arguments.workers} must be from 1 to {MOST_WORKERS}")
    if arguments.mode == STUDY:
        return _serve_study(arguments, settings)
    settings, loopback = with_admission(settings, arguments), is_loopback(arguments.host)
    place = arguments.host, arguments.port
    with _leaving_on_sigterm():
        with loading():
            from ..server.following import serve_live
            from ..server.opening import Serving
            from ..web import Live

            serving = Serving(settings, console.say, loopback=loopback)
            if serving.check() == PRIVATE and not (loopback or settings.https):
                console.say(UNPROTECTED)
            live = Live(serving.open()) if arguments.workers == 1 else None
        if live is not None:
            serve_live(serving, live, *place)
        else:
            from ..server.workers import serve_workers

            serve_workers(settings, *place, arguments.workers, loopback=loopback)
    return 0


def _serve_study(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve the study's folder in `arguments` by the workspace in `settings`; return 0."""
    from ..accounts.admission import is_loopback, token_fault, token_remedy
    from ..accounts.database import place_of_people
    from ..accounts.store import PeopleStore
    from ..server.following import following
    from ..server.waitress import serve
    from ..study.check import begin, faults_of
    from ..study.design import CODE, INTERESTS, read_study
    from ..study.rankings import Rankings, open_rankings
    from ..study.store import FILE, StudyStore, only_server
    from ..web import ServedStudy, create_study_app
    from ..workspace.folder import Workspace

    arguments.mode = None
    settings, folder = with_admission(settings, arguments), arguments.folder
    if faults := faults_of(folder, settings):
        raise UsageError("\n".join(faults))
    if settings.admin_token and (fault := token_fault(settings.admin_token)):
        raise UsageError(f"{fault}; {token_remedy()}")
    if not settings.admin_token:
        console.say(f"Nobody can see the leader's page; {token_remedy()}")
    if not (is_loopback(arguments.host) or settings.https):
        console.say(UNPROTECTED)
    study = read_study(folder)
    people = None
    if study.profile == CODE:
        people = PeopleStore(place_of_people(settings.workspace, settings))
    with _leaving_on_sigterm():
        rankings = open_rankings(settings)
        if study.profile == INTERESTS:
            rankings.of_interests(rankings.interests())  # the first participant need not wait
        workspace = Workspace(settings.workspace)
        with only_server(folder), closing(StudyStore(folder / FILE)) as store:
            begin(study, store, workspace)
            place = ServedStudy(study, store, rankings, settings, people)

            def ready(address: str) -> None:
                console.say(
                    f"Serving the study {address}, its leader {address}leader (Ctrl+C stops)"
                )

            def reopen() -> Rankings:
                begin(study, store, workspace)
                return open_rankings(settings)

            with following(place, workspace, reopen):
                app = create_study_app(place)
                serve(app, arguments.host, arguments.port, ready, proxy=settings.proxy)
    return 0


@contextmanager
def _leaving_on_sigterm() -> Iterator[None]:
    """End the process with exit 0 on a signal that comes before anything is served."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return

    def leave(_signal: int, _frame: FrameType | None) -> None:
        # An exception would be lost if it came within a callback from Java or while an object is
        # deleted, and the server would go on. Nothing is half-written: files are whole or absent.
        os._exit(0)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

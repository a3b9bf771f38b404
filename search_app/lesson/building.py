"""Releases of the dial that are still missing [I/O]: another process makes them, one at a time.

It starts when a first page was served, and has the lowest priority. It writes only while it has
the workspace, and only if the profiles are still those that it read. If it is killed, the release
that it was making is not there.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from pathlib import Path

from anonymizer.errors import AnonymizerError
from anonymizer.methods import read_parameters
from anonymizer.storage.profiles import fingerprint, read_profiles
from anonymizer.storage.releases import read_input_hash, write_release

from ..errors import UsageError
from ..settings import Settings
from ..tasks.releasing import released
from ..workspace.folder import DIAL, Workspace
from ..workspace.ledger import note_made
from ..workspace.profile_choices import choices_of

Plan = Mapping[str, tuple[str, Mapping[str, str]]]  # name -> method and its options
_TRIES, _PAUSE = 60, 1.0  # for each release, and seconds between two


class Building:
    """The releases of a plan that a workspace lacks, until they are made."""

    def __init__(self, settings: Settings, plan: Plan, say: Callable[[str], object]):
        self._settings = settings
        self._plan = plan
        self._say = say
        self._ended = False
        self._process: multiprocessing.process.BaseProcess | None = None

    def waiting(self) -> tuple[str, ...]:
        """Return the names of what will be made."""
        if self._ended:
            return ()
        return tuple(_lacking(Workspace(self._settings.workspace), self._plan))

    @contextmanager
    def after(self, begin: threading.Event) -> Iterator[None]:
        """Make what is missing as soon as `begin` is set; at the end of the block, stop."""
        thread = threading.Thread(target=self._run, args=(begin,), name="dial", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended = True
            begin.set()
            thread.join()

    def _run(self, begin: threading.Event) -> None:
        begin.wait()
        if not self._ended and _lacking(Workspace(self._settings.workspace), self._plan):
            # Ctrl-C reaches all processes of a terminal, but only the server shall answer it.
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            context = multiprocessing.get_context("spawn")
            process = context.Process(target=_run_apart, args=(self._settings, dict(self._plan)))
            process.start()
            while process.is_alive() and not self._ended:
                process.join(0.2)
            # It is in no state that matters: what it writes is whole or absent.
            process.terminate()
            process.join()
            if not self._ended and _lacking(Workspace(self._settings.workspace), self._plan):
                self._say("The dial lacks releases that could not be made; it shows the others")
        self._ended = True


def _run_apart(settings: Settings, plan: Plan) -> None:
    """Make what `plan` has and the workspace of `settings` lacks; end with the parent process."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    os.nice(19)
    with Path(os.devnull).open("w") as nowhere:
        sys.stderr = nowhere  # bars would stand among the lines of the server
        make_missing(settings, plan)


def _end_with(parent: int) -> None:
    wait([parent])
    os._exit(1)  # sys.exit would end this thread only


def make_missing(settings: Settings, plan: Plan) -> None:
    """Make each release of `plan` that the workspace of `settings` lacks."""
    workspace = Workspace(settings.workspace)
    for name in _lacking(workspace, plan):
        _make(workspace, settings, workspace.root / DIAL / name, *plan[name])


def _make(
    workspace: Workspace, settings: Settings, folder: Path, method: str, given: Mapping[str, str]
) -> None:
    """Make a release in `folder`, of the profiles that are in use when it is written."""
    made, made_from = None, ""
    for _ in range(_TRIES):
        # The workspace may be in use or full, or change at this moment.
        with suppress(AnonymizerError, UsageError):
            source = workspace.find("profiles")
            profiles = read_profiles(source)
            # A method takes long: it runs again for other profiles, not for a busy workspace.
            if fingerprint(profiles) != made_from:
                made, made_from = None, fingerprint(profiles)
                choices, values = (
                    choices_of(source, made_from),
                    read_parameters(method, dict(given)),
                )
                made = released(profiles, method, values, 0, settings, choices=choices)
            if made is None:  # the method refused these profiles
                return
            # Only now, as nobody should wait for a method before they are forgotten.
            with workspace.writing("demo"):
                if fingerprint(read_profiles(workspace.find("profiles"))) == made_from:
                    # Another demo of this workspace may have made it meanwhile.
                    if _input_of(folder) != made_from:
                        folder.parent.mkdir(0o700, exist_ok=True)
                        write_release(made, folder, seed=0, input_hash=made_from, profiles=choices)
                        note_made(workspace, folder)
                    return
        time.sleep(_PAUSE)


def _lacking(workspace: Workspace, plan: Plan) -> list[str]:
    """Return the names of `plan` without a release of the profiles in use."""
    # The release in use says by a hash which profiles these are; reading them takes longer.
    try:
        used = read_input_hash(workspace.find("release"))
    except (AnonymizerError, UsageError):
        return []
    return [name for name in plan if _input_of(workspace.root / DIAL / name) != used]


def _input_of(folder: Path) -> str:
    """Return the hash of the profiles of the release in `folder`; empty without a sound one."""
    try:
        return read_input_hash(folder)
    except AnonymizerError:
        return ""

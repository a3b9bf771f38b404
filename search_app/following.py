"""A server follows its workspace: what becomes current is opened beside, then served. [I/O]

Index, profiles and release change together. Until all of the new state is open and warm, the old
one answers; what can't be opened is tried again later, and the old one goes on answering.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from .errors import UsageError
from .opening import stamp
from .web import Live, Site
from .workspace import Workspace

EVERY = 0.5  # seconds between two looks at the workspace
LONGEST = 60.0  # seconds between two tries to open the same state
PATIENCE = 30.0  # seconds that an opening under way may take when the server ends

Say = Callable[[str], object]


class Follower:
    """A thread that keeps a live site at the state of its workspace."""

    def __init__(self, live: Live, workspace: Workspace, open_site: Callable[[], Site], say: Say):
        self._live = live
        self._workspace = workspace
        self._open = open_site
        self._say = say
        self._served = live.now.state
        self._failed: object = self._served
        self._pause = self._again = 0.0
        self._told: set[str] = set()
        self._looking = threading.RLock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def stop(self) -> None:
        """End; what is being opened is not served any more."""
        self._ended.set()
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        while not self._ended.wait(EVERY):
            try:
                self.look()
            except Exception as fault:  # a thread that ends would serve the old index for ever
                self._stumble(fault)

    def look(self) -> None:
        """Serve what has become current, and let go of what is not used any more."""
        with self._looking:
            state = stamp(self._workspace)
            if state != self._served and (state != self._failed or time.monotonic() >= self._again):
                self._follow(state)
            self._live.close_unused()

    def follow_now(self) -> None:
        """Serve what is current before anything else is answered; any thread may call."""
        with self._looking:
            self._again = 0.0
            self.look()
            if self._failed != self._served:
                raise UsageError(
                    "it is done in the workspace, but what is served is still as it was before, "
                    "because the new state can't be opened; look with: veilsearch doctor"
                )

    def _stumble(self, fault: Exception) -> None:
        """Say what kind of fault came up, once for each kind; its text may name people."""
        kind = type(fault).__name__
        if kind not in self._told:
            self._told.add(kind)
            self._tell(f"Following the workspace failed ({kind}); it goes on all the same")

    def _tell(self, text: str) -> None:
        """Say something if anybody can be told."""
        with suppress(Exception):  # a closed terminal, a full disk
            self._say(text)

    def _follow(self, state: object) -> None:
        try:
            site = self._open()
        except Exception as fault:  # whatever it is, the old state can still be served
            self._keep(state, fault)
            return
        if self._ended.is_set():
            return
        self._live.switch(site)
        site.transcripts.clear()  # somebody may be forgotten whose terms stand in them
        self._served = self._failed = site.state
        named = ", ".join(part for part in (site.build, site.release_name) if part)
        self._tell(f"The workspace was updated; served from now on: {named}")

    def _keep(self, state: object, fault: Exception) -> None:
        """Say once that the old state goes on being served, and try again later and later."""
        again = state == self._failed
        self._pause = min(2 * self._pause, LONGEST) if again else EVERY
        self._again = time.monotonic() + self._pause
        self._failed = state
        self._live.now.transcripts.clear()
        if not again:  # no text of the fault: it may name people
            self._tell(
                f"The workspace was updated but can't be opened ({type(fault).__name__}); what was "
                "served before still is, and opening is tried again. See: veilsearch doctor"
            )

"""A server follows its workspace: it opens the new state while the old one is served [I/O].

The old state answers until all of the new one is open and warm. If the new one can't be opened, it
is tried again later, and the old one goes on answering.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from .. import console
from ..errors import UsageError
from ..web import Live, Site, create_app
from ..workspace.folder import Workspace
from ..workspace.opening import stamp
from .opening import Serving
from .waitress import serve

EVERY = 0.5  # seconds between two looks at the workspace
LONGEST = 60.0  # seconds between two tries to open the same state
PATIENCE = 30.0  # seconds that a running opening may take when the server ends

Say = Callable[[str], object]


def serve_live(serving: Serving, live: Live, host: str, port: int) -> None:
    """Serve `live` on `host` and `port` until stopped, and follow updates of its workspace."""
    follower = Follower(live, serving.workspace, serving.open, console.say)
    serving.follow = follower.follow_now
    follower.start()
    try:
        serve(
            create_app(live),
            host,
            port,
            lambda address: console.say(f"Serving {address} (Ctrl+C stops)"),
            proxy=serving.settings.proxy,
        )
    finally:
        follower.stop()


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
        self._faults: set[str] = set()
        self._looking = threading.RLock()  # reentrant, as `follow_now` calls `look`
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; a site that is being opened will not be served."""
        self._ended.set()
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        while not self._ended.wait(EVERY):
            try:
                self.look()
                # Where another rule is usual, opening has not waited for this.
                self._live.now.modes.settle()
            # If the thread ended, the old index would be served for ever.
            except Exception as fault:
                kind = type(fault).__name__  # its text may name people
                if kind not in self._faults:
                    self._faults.add(kind)
                    self._try_to_say(f"Following the workspace failed ({kind}); it is tried again")

    def look(self) -> None:
        """Serve the current state if it is new, and close sites that no request uses any more."""
        with self._looking:
            state = stamp(self._workspace)
            if state != self._served and (state != self._failed or time.monotonic() >= self._again):
                self._follow(state)
            self._live.close_unused()

    def follow_now(self) -> None:
        """Serve the current state at once, or refuse if it can't be opened. Any thread may call."""
        with self._looking:
            self._again = 0.0
            self.look()
            if self._failed != self._served:
                raise UsageError(
                    "the workspace has changed, but the server can't open its new state and still "
                    "serves the old one; see: veilsearch doctor"
                )

    def _try_to_say(self, text: str) -> None:
        """Say `text`; a closed terminal or a full disk must not end the thread."""
        with suppress(Exception):
            self._say(text)

    def _follow(self, state: object) -> None:
        try:
            site = self._open()
        # Whatever fails, the old state can still be served. The pauses between tries grow.
        except Exception as fault:
            again = state == self._failed
            self._pause = min(2 * self._pause, LONGEST) if again else EVERY
            self._again = time.monotonic() + self._pause
            self._failed = state
            # The update may have forgotten a person whose terms stand in the transcripts.
            self._live.now.transcripts.clear()
            if not again:  # without the text of the fault, which may name people
                self._try_to_say(
                    f"The workspace was updated but can't be opened ({type(fault).__name__}). The "
                    "old state is served until opening succeeds. See: veilsearch doctor"
                )
            return
        if self._ended.is_set():
            return
        self._live.switch(site)
        self._served = self._failed = site.state
        named = ", ".join(part for part in (site.build, site.release_name) if part)
        self._try_to_say(f"The workspace was updated; served from now on: {named}")

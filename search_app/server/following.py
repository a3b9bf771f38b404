"""A server follows its workspace: it opens the new state while the old one is served [I/O].

The old state answers until all of the new one is open and warm. If the new one can't be opened, it
is tried again later. Until then a site searches in plain order, and a study orders nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Generic, Protocol, TypeVar

from flask import Flask

from .. import console
from ..errors import UsageError
from ..web import Live, create_app
from ..workspace.folder import Workspace
from .opening import Serving
from .waitress import serve

EVERY = 0.5  # seconds between two looks at the workspace
LONGEST = 60.0  # seconds between two tries to open the same state
PATIENCE = 30.0  # seconds that a running opening may take when the server ends

Say = Callable[[str], object]


def serve_live(serving: Serving, live: Live, host: str, port: int) -> None:
    """Serve `live` on `host` and `port` until stopped, and follow updates of its workspace."""
    with followed_app(serving, live) as app:
        serve(
            app,
            host,
            port,
            lambda address: console.say(f"Serving {address} (Ctrl+C stops)"),
            proxy=serving.settings.proxy,
        )


@contextmanager
def followed_app(serving: Serving, live: Live) -> Iterator[Flask]:
    """Give the application that serves `live`, which follows the workspace of `serving`."""
    with following(live, serving.workspace, serving.open, serving.fetch) as follower:
        serving.follow = follower.follow_now
        yield create_app(live)


@contextmanager
def following(
    live: Followed[T],
    workspace: Workspace,
    open_state: Callable[[], T],
    fetch: Callable[[], object] = lambda: None,
    say: Say = console.say,
) -> Iterator[Follower[T]]:
    """Give a thread that keeps `live` at the state of `workspace`, which `open_state` opens.

    `fetch` is called now and then, to change the workspace if something elsewhere has changed.
    """
    follower = Follower(live, workspace, open_state, say, fetch)
    follower.start()
    try:
        yield follower
    finally:
        follower.stop()


class OpenedState(Protocol):
    """What was opened of a workspace: its stamp then, and the names of what is in it."""

    @property
    def state(self) -> object:
        """Return the stamp of the workspace when this was opened."""

    @property
    def parts(self) -> str:
        """Return the names of what is served of it."""


T = TypeVar("T", bound=OpenedState)
T_contra = TypeVar("T_contra", bound=OpenedState, contravariant=True)


class Followed(Protocol[T_contra]):
    """What serves a state of a workspace, and can be switched to the next one."""

    @property
    def state(self) -> object:
        """Return the stamp of the state that is served."""

    def switch(self, now: T_contra, /) -> None:
        """Serve the state `now` from now on."""

    def fail(self) -> str:
        """Note that the next state can't be opened; return what is served until it can."""

    def settle(self) -> None:
        """Prepare what opening did not wait for, as another rule is usual."""

    def close_unused(self) -> object:
        """Close former states that nobody uses any more, and return anything."""


class Follower(Generic[T]):
    """A thread that keeps what is served at the state of its workspace."""

    def __init__(
        self,
        live: Followed[T],
        workspace: Workspace,
        open_state: Callable[[], T],
        say: Say,
        fetch: Callable[[], object] = lambda: None,
    ):
        self._fetch = fetch
        self._live = live
        self._workspace = workspace
        self._open = open_state
        self._say = say
        self._failed: object = ()  # the state that could not be opened; no state is ()
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
                self._live.settle()
                self._fetch()
            # If the thread ended, the old index would be served for ever.
            except Exception as fault:
                kind = type(fault).__name__  # its text may name people
                if kind not in self._faults:
                    self._faults.add(kind)
                    self._try_to_say(f"Following the workspace failed ({kind}); it is tried again")

    def look(self) -> None:
        """Serve the current state if it is new, and close sites that no request uses any more."""
        with self._looking:
            state = self._workspace.stamp()
            served, waits = self._live.state, time.monotonic() < self._again
            if state != served and not (state == self._failed and waits):
                self._follow(state)
            self._live.close_unused()

    def follow_now(self) -> None:
        """Serve the current state at once, or refuse if it can't be opened. Any thread may call."""
        with self._looking:
            self._again = 0.0
            self.look()
            if self._failed != ():
                raise UsageError(
                    "the workspace has changed, but the server can't open its new state and until "
                    "then searches in plain order only; see: veilsearch doctor"
                )

    def _try_to_say(self, text: str) -> None:
        """Say `text`; a closed terminal or a full disk must not end the thread."""
        with suppress(Exception):
            self._say(text)

    def _follow(self, state: object) -> None:
        try:
            site = self._open()
        # Whatever fails, the server goes on. The pauses between tries grow.
        except Exception as fault:
            again = state == self._failed
            self._pause = min(2 * self._pause, LONGEST) if again else EVERY
            self._again = time.monotonic() + self._pause
            self._failed = state
            until = self._live.fail()
            if not again:  # without the text of the fault, which may name people
                kind = type(fault).__name__
                self._try_to_say(f"The workspace was updated but can't be opened ({kind}). {until}")
            return
        if self._ended.is_set():
            return
        self._live.switch(site)
        self._failed = ()
        self._try_to_say(f"The workspace was updated; served from now on: {site.parts}")

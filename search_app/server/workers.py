"""Several processes that serve one port as one server [I/O]: `serve --workers N`.

The parent holds the port and what workers share, and starts workers again that end. It has no Java.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from anonymizer.errors import AnonymizerError
from index.model import SearchError

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..web import Live, create_app
from .following import PATIENCE, Follower, following
from .opening import Serving
from .sharing import Caller, SharedPart, answer_calls, memory_of, own_parts, shared_parts
from .waitress import GRACE, THREADS, WorkerShare, bind, serve

_LINES = THREADS + 3  # calls at once: of all threads that answer, of the follower, of orders
_HEEDS = 60.0  # seconds in which a worker drops what was removed, else it is ended
_TRIES, _WITHIN = 5, 60.0  # starts of a worker within that time, in seconds; then no more
_PAUSE = 0.5  # seconds before a worker is started again
_CREW = "crew"
_MANY = 1 << 40  # connections: more than any worker has


class WorkerPlan(NamedTuple):
    """What every worker needs."""

    settings: Settings
    loopback: bool
    host: str
    bound: socket.socket
    loads: Any  # how many connections each worker has; _MANY for one that does not serve
    drops: Any  # a number in memory that all read

    @property
    def workers(self) -> int:
        """Return how many workers there are."""
        return len(self.loads)


@dataclass
class _Worker:
    """A worker as the parent knows it."""

    process: Any
    orders: Connection
    joined: bool = False  # whether it serves, so that it must heed removals
    lock: threading.Lock = field(default_factory=threading.Lock)


def serve_workers(settings: Settings, host: str, port: int, count: int, *, loopback: bool) -> None:
    """Serve the workspace of `settings` by `count` processes until a signal."""
    context = multiprocessing.get_context("spawn")  # a forked process could not start Java
    with bind(host, port) as bound:
        loads, drops = context.RawArray("q", [_MANY] * count), context.RawValue("q", 0)
        crew = Crew(context, WorkerPlan(settings, loopback, host, bound, loads, drops))
        crew.run()


class Crew:
    """The workers of a server; they call its public methods by `SharedPart`."""

    def __init__(self, context: Any, plan: WorkerPlan):
        self._context, self._plan = context, plan
        self._parts = {**shared_parts(plan.settings, plan.drops), _CREW: self}
        self._workers: dict[int, _Worker] = {}
        self._starts: dict[int, list[float]] = {n: [] for n in range(1, plan.workers + 1)}
        self._ready: set[int] = set()
        self._fault: UsageError | None = None
        self._spoken = {number: Counter[str]() for number in self._starts}
        self._ending = False
        self._awake, self._wake = os.pipe()

    # -- what workers call -----------------------------------------------------------------------

    def join(self, number: int) -> None:
        """Note that the worker `number` serves what it opened: it heeds removals from now on."""
        self._workers[number].joined = True

    def ready(self, number: int, address: str) -> None:
        """Note that the worker `number` takes requests at `address`; say so when all do."""
        before = len(self._ready)
        self._ready.add(number)
        if before < len(self._ready) == self._plan.workers:
            console.say(f"Serving {address} with {self._plan.workers} workers (Ctrl+C stops)")

    def say(self, number: int, text: str) -> None:
        """Say `text` for the worker `number`, once if several say the same."""
        self._spoken[number][text] += 1
        others = (spoken[text] for one, spoken in self._spoken.items() if one != number)
        if self._spoken[number][text] > max(others, default=0):
            console.say(text)

    def fail(self, number: int, text: str) -> None:
        """Note that the worker `number` can't serve, as `text` says."""
        if len(self._ready) < self._plan.workers:
            self._fault = self._fault or UsageError(text)
        else:
            self.say(number, text)

    def everywhere(self, number: int) -> None:
        """Let all workers but `number` drop what was removed; on return they have, or ended."""
        others = [w for n, w in sorted(self._workers.items()) if n != number and w.joined]
        with ExitStack() as held:
            for worker in others:  # all at once, and in one order, so that no two wait for another
                held.enter_context(worker.lock)
                with suppress(OSError):
                    worker.orders.send(None)
            until = time.monotonic() + _HEEDS
            for worker in others:
                with suppress(EOFError, OSError):
                    if worker.orders.poll(max(until - time.monotonic(), 0)):
                        worker.orders.recv()
                    else:
                        worker.process.kill()

    # -- what the parent does --------------------------------------------------------------------

    def run(self) -> None:
        """Keep all workers running until a signal, then end them."""
        before = {one: signal.signal(one, self._end) for one in (signal.SIGTERM, signal.SIGINT)}
        try:
            for number in self._starts:
                self._start(number)
            while not self._ending:
                sentinels = {w.process.sentinel: n for n, w in self._workers.items()}
                for ended in wait([*sentinels, self._awake]):
                    if ended in sentinels and not self._ending:
                        self._again(sentinels[ended])
        finally:
            self._stop()
            for one, handler in before.items():
                signal.signal(one, handler)

    def _end(self, *_: object) -> None:
        if self._ending:  # a second signal
            for worker in [*self._workers.values()]:
                worker.process.kill()
        self._ending = True
        os.write(self._wake, b".")

    def _start(self, number: int) -> None:
        self._starts[number].append(time.monotonic())
        lines = [self._context.Pipe() for _ in range(_LINES)]
        orders, obeyed = self._context.Pipe()
        theirs = [line for _, line in lines]
        process = self._context.Process(
            target=run_worker, args=(self._plan, number, theirs, obeyed), daemon=True
        )
        # Ctrl-C reaches all processes of a terminal, but only the parent shall answer it.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self._workers[number] = _Worker(process, orders)
        # With our ends of theirs closed, the end of a worker closes its lines.
        for line in (*theirs, obeyed):
            line.close()
        for line, _ in lines:
            answer_calls(self._parts, line)

    def _again(self, number: int) -> None:
        """Start the worker `number` again, which has ended, unless it ends all the time."""
        worker = self._workers.pop(number)
        self._plan.loads[number - 1] = _MANY
        # Its orders are closed once nobody uses them: `everywhere` may wait for an answer.
        worker.process.join()
        if self._fault:
            raise self._fault
        now, how = time.monotonic(), f"Worker {number} ended ({worker.process.exitcode})"
        recent = self._starts[number] = [at for at in self._starts[number] if now - at < _WITHIN]
        if len(recent) < _TRIES:
            console.say(f"{how}; it is started again")
            wait([self._awake], _PAUSE)
            if not self._ending:
                self._start(number)
        elif self._workers:
            console.say(f"{how} {_TRIES} times within a minute; the others serve on")
        else:
            raise UsageError("no worker is left that serves: each ended again and again")

    def _stop(self) -> None:
        """End all workers: each answers what was asked before, as long as one server may take."""
        self._plan.bound.close()  # when all workers have closed it, too, nobody can connect
        processes = [worker.process for worker in self._workers.values()]
        for process in processes:
            process.terminate()
        until = time.monotonic() + GRACE + PATIENCE
        for process in processes:
            process.join(max(until - time.monotonic(), 0))
            process.kill()
            process.join()


def run_worker(plan: WorkerPlan, number: int, lines: list[Connection], orders: Connection) -> None:
    """Serve as the worker `number` of `plan`; calls go by `lines`, and `orders` come."""
    # As where one process serves: nothing is half-written before it does.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    followers: list[Follower[Any]] = []
    threading.Thread(target=_obey, args=(orders, followers), daemon=True).start()
    call = Caller(lines)
    crew = SharedPart(call, _CREW)
    say = partial(crew.say, number)
    memory = memory_of(call, plan.drops, partial(crew.everywhere, number))
    try:
        serving = Serving(plan.settings, say, loopback=plan.loopback, shared=memory)
        live = Live(serving.open())
    except (UsageError, AnonymizerError, SearchError) as fault:
        crew.fail(number, " ".join(str(fault).split()))
        raise SystemExit(2) from fault
    with following(live, serving.workspace, serving.open, serving.fetch, say) as follower:
        followers.append(follower)
        serving.follow = follower.follow_now
        app = create_app(live)
        app.extensions.update(own_parts(call, plan.settings))
        crew.join(number)
        follower.look()  # what was removed before it joined
        ready = partial(crew.ready, number)
        share = WorkerShare(plan.bound, plan.loads, number)
        serve(app, plan.host, 0, ready, proxy=plan.settings.proxy, share=share)


def _obey(orders: Connection, followers: list[Follower[Any]]) -> None:
    """Drop what was removed whenever `orders` say so, and say when it is done."""
    try:
        while True:
            orders.recv()
            for follower in followers:
                with suppress(UsageError):  # it can't open the new state, so it shows no person
                    follower.follow_now()
            orders.send(None)
    finally:
        # The parent has ended, or what was removed might stay: this process must not.
        os._exit(1)

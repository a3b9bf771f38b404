"""Units measured one after another in this process, or by several processes at once. [I/O]"""
# Workers get their data from this process; nothing of it is written to disk.

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from anonymizer.errors import AnonymizerError
from anonymizer.terms.wordnet import open_wordnet
from index.opening import open_forward

from ..errors import UsageError
from .data import Data
from .design import Unit
from .pipeline import Measured, World, measure, warm_up


@dataclass(frozen=True)
class Place:
    """The folders that a worker opens itself."""

    index: Path
    cache: Path


_worlds: list[World] = []  # in a worker: its one world


def measured(
    data: Data, place: Place, units: Sequence[Unit], workers: int
) -> Generator[tuple[Unit, Measured, float], None, None]:
    """Yield each of `units` when it is measured, in any order, with its results and seconds."""
    if workers == 1 or len(units) < 2:
        world = open_world(data, place)
        warm_up(world, units)
        yield from ((unit, *_measure(unit, world)) for unit in units)
        return
    with _processes(data, place, units, min(workers, len(units))) as pool:
        # A worker may die while units are still submitted, so both blocks name its end.
        with _dead_worker_named(), _blocked(signal.SIGINT):
            units_by_future = {pool.submit(_measure, unit): unit for unit in units}
        for done in as_completed(units_by_future):
            with _dead_worker_named():
                result = done.result()
            yield units_by_future[done], *result


def open_world(data: Data, place: Place) -> World:
    """Return `data` with the index and WordNet opened from `place`."""
    return World(data, open_forward(place.index), open_wordnet(place.cache), time.monotonic)


@contextmanager
def _processes(
    data: Data, place: Place, units: Sequence[Unit], count: int
) -> Iterator[ProcessPoolExecutor]:
    """Provide workers that end when the block is left, or when this process dies."""
    # A forked process can't use the JVM of its parent.
    context = multiprocessing.get_context("spawn")
    # Only this process holds `alive`. If it dies, however it dies, workers see the pipe close.
    ends, alive = context.Pipe(duplex=False)
    handed = data, place, units, ends
    pool = ProcessPoolExecutor(count, context, initializer=_begin, initargs=handed)
    try:
        yield pool
        pool.shutdown()
    finally:
        alive.close()
        pool.shutdown(wait=True, cancel_futures=True)
        ends.close()


@contextmanager
def _blocked(number: signal.Signals) -> Iterator[None]:
    """Block a signal within the block; processes that start there never get it."""
    # Ctrl-C reaches all processes of a terminal, but only this one shall answer it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(data: Data, place: Place, units: Sequence[Unit], ends: Connection) -> None:
    """Prepare a worker; it exits when its parent closes the pipe or dies."""

    def follow() -> None:
        # Nothing is ever sent: poll returns when the pipe closes. A running unit is abandoned.
        ends.poll(None)
        # sys.exit would end only this thread.
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
    _worlds.append(open_world(data, place))
    warm_up(_worlds[0], units)


def _measure(unit: Unit, world: World | None = None) -> tuple[Measured, float]:
    """Return the results of `unit` and its seconds; a fault's message names the unit."""
    began = time.monotonic()
    try:
        return measure(world or _worlds[0], unit), time.monotonic() - began
    except (AnonymizerError, UsageError) as fault:
        raise UsageError(f"{unit.label} (seed {unit.seed}): {fault}") from fault


@contextmanager
def _dead_worker_named() -> Iterator[None]:
    """Turn the death of a worker into a message of one line."""
    try:
        yield
    except BrokenProcessPool as fault:
        raise UsageError(
            "a worker died, perhaps for want of memory; run the same command again with fewer "
            "--workers: it goes on where it stopped"
        ) from fault

"""Units measured one after another, here or by processes beside each other. [I/O]

Workers are handed all they need; none of it is written to the disk.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from anonymizer.model import AnonymizerError
from anonymizer.wordnet import open_wordnet
from index.build import open_forward

from ..errors import UsageError
from .data import Data
from .outcomes import Unit
from .pipeline import Measured, World, measure, warm_up


@dataclass(frozen=True)
class Place:
    """Where a worker finds what it is not handed."""

    index: Path
    cache: Path


_worlds: list[World] = []  # a worker's one


def measured(
    data: Data, place: Place, units: Sequence[Unit], workers: int
) -> Generator[tuple[Unit, Measured, float], None, None]:
    """Measure units and yield them as they are done, in any order, with the seconds each took."""
    if workers == 1 or len(units) < 2:
        world = open_world(data, place)
        warm_up(world, units)
        yield from ((unit, *_measure_in(world, unit)) for unit in units)
        return
    with _processes(data, place, units, min(workers, len(units))) as pool:
        with _told(), _left_to_us(signal.SIGINT):  # one may end while others are still asked
            asked = {pool.submit(_measure, unit): unit for unit in units}
        for done in as_completed(asked):
            yield asked[done], *_result(done)


def open_world(data: Data, place: Place) -> World:
    """Open what units are made and searched with."""
    return World(data, open_forward(place.index), open_wordnet(place.cache), time.monotonic)


@contextmanager
def _processes(
    data: Data, place: Place, units: Sequence[Unit], count: int
) -> Iterator[ProcessPoolExecutor]:
    """Have workers, which go at once when the block is left, or when this process is no more."""
    context = multiprocessing.get_context("spawn")  # a JVM does not survive a fork
    ends, alive = context.Pipe(duplex=False)  # only we hold `alive`
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
def _left_to_us(number: signal.Signals) -> Iterator[None]:
    """Have processes that start meanwhile never notice a signal, which waits for us."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(data: Data, place: Place, units: Sequence[Unit], ends: Connection) -> None:
    """Make a worker ready; it goes when its parent lets it, or has gone."""
    threading.Thread(target=_follow, args=(ends,), daemon=True).start()
    _worlds.append(open_world(data, place))
    warm_up(_worlds[0], units)


def _follow(ends: Connection) -> None:
    """Wait for nothing to be read any more; a unit under way is not waited for."""
    ends.poll(None)
    os._exit(1)


def _measure(unit: Unit) -> tuple[Measured, float]:
    return _measure_in(_worlds[0], unit)


def _measure_in(world: World, unit: Unit) -> tuple[Measured, float]:
    """Measure a unit; whatever is wrong with it is told with its name."""
    began = time.monotonic()
    try:
        return measure(world, unit), time.monotonic() - began
    except (AnonymizerError, UsageError) as fault:
        raise UsageError(f"{unit.label} (seed {unit.seed}): {fault}") from fault


def _result(done: Future[tuple[Measured, float]]) -> tuple[Measured, float]:
    with _told():
        return done.result()


@contextmanager
def _told() -> Iterator[None]:
    """Tell of a worker that is no more in one line."""
    try:
        yield
    except BrokenProcessPool as fault:
        raise UsageError(
            "a worker has ended before its time, perhaps for want of memory; the same command "
            "goes on where it stopped: take fewer --workers"
        ) from fault

"""Units measured one after another, here or by processes beside each other. [I/O]

Workers are handed all they need; none of it is written to the disk.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing.connection import wait
from pathlib import Path
from typing import NamedTuple

from anonymizer.wordnet import open_wordnet
from index.build import open_forward

from .data import Data
from .outcomes import Unit
from .pipeline import Measured, World, measure


class Place(NamedTuple):
    """Where a worker finds what it is not handed."""

    index: Path
    cache: Path


_worlds: list[World] = []  # a worker's one


def measured(
    data: Data, place: Place, units: Iterable[Unit], workers: int
) -> Iterator[tuple[Unit, Measured]]:
    """Measure units and yield them as they are done, in any order."""
    left = list(units)
    if workers == 1 or len(left) < 2:
        world = _world(data, place)
        yield from ((unit, measure(world, unit)) for unit in left)
        return
    context = multiprocessing.get_context("spawn")  # a JVM does not survive a fork
    count = min(workers, len(left))
    pool = ProcessPoolExecutor(count, context, initializer=_begin, initargs=(data, place))
    try:
        asked: dict[Future[Measured], Unit] = {pool.submit(_measure, unit): unit for unit in left}
        for done in as_completed(asked):
            yield asked[done], done.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _world(data: Data, place: Place) -> World:
    return World(data, open_forward(place.index), open_wordnet(place.cache))


def _begin(data: Data, place: Place) -> None:
    """Make a worker ready: it leaves Ctrl+C to its parent, and goes when that has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, daemon=True).start()
    _worlds.append(_world(data, place))


def _follow() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        wait([parent.sentinel])
        os._exit(1)


def _measure(unit: Unit) -> Measured:
    return measure(_worlds[0], unit)

"""The plan of a benchmark's run: what it measures, on what, and how large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .bars import Measured

USERS, LINES = 657_000, 36_000_000  # of AOL's log
FULL, LOAD = "full", "load"  # runs of their own, as they take minutes


@dataclass(frozen=True)
class Load:
    """How pages are requested under load (R13)."""

    documents: int = 200_000
    clients: int = 32
    warm_up: float = 20  # seconds that do not count
    seconds: float = 30


@dataclass(frozen=True)
class Plan:
    """What is measured, and how large. Tests measure the same on less."""

    only: tuple[str, ...] = ()
    rounds: int = 5
    kinds: tuple[str, ...] = ()  # of steps, besides the quick ones: FULL, LOAD
    folder: Path | None = None  # keeps what takes long to make
    demo: Path | None = None  # a workspace like the demo's; None: the run builds one
    heap: str = "2g"
    pool: int = 1000
    queries: int = 30
    documents: int = 20_000  # of R3
    page_warm_up: int = 10
    clustered: tuple[int, ...] = (8_000, 16_000, 32_000, 64_000, 128_000)  # people of R4
    obvious: int = 20_000  # people of R5
    made_up: int = 20_000  # people of R9 and R14, besides the demo's
    many: int = 100_000  # of R14, in a full run
    whole: int = USERS  # of R6's log
    deleted: float = 1.0  # share of AltaVista's log in R7
    load: Load = field(default_factory=Load)


class Place(NamedTuple):
    """The folders of a run: one removed at its end, and one that may be kept."""

    temporary: Path
    kept: Path


class Step(NamedTuple):
    """A measurement of some bars together, and what to say while it runs."""

    bars: tuple[str, ...]
    doing: str
    measure: Callable[[Plan, Place], Measured]
    kind: str = ""  # FULL or LOAD: only if the plan has it

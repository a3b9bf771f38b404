"""The plan of a benchmark's run: what it measures, on what, and how large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .bars import Measured

SIZES = (8_000, 16_000, 32_000, 64_000, 128_000)
USERS, LINES = 657_000, 36_000_000  # of AOL's log
PREFIXES = (*(8_000 << doubled for doubled in range(7)), USERS)
SMALL = 32_000


@dataclass(frozen=True)
class Load:
    """How pages are requested under load (R13)."""

    documents: int = 200_000
    clients: int = 32
    mode: str = "group"
    warm_up: float = 20
    seconds: float = 30


@dataclass(frozen=True)
class Plan:
    """What is measured, and how large."""

    workspace: Path
    heap: str = "2g"
    only: tuple[str, ...] = ()
    rounds: int = 5
    pool: int = 1000
    queries: int = 30
    page_warm_up: int = 10
    people: int = 720  # of the invented town
    clustered: tuple[int, ...] = SIZES  # users of R4
    obvious: int = 20_000  # users of R5
    logged: tuple[int, ...] = (SMALL,)  # users of the prefixes of R6's log
    reduced: float = 0.1  # share of AltaVista's log in R7
    read: int = 8_000_000  # lines of R10 at most
    folder: Path | None = None  # keeps what takes long to make
    corpora: tuple[Path, ...] = ()
    threads: int = 1  # Anserini's
    under_load: bool = False
    load: Load = field(default_factory=Load)

    @property
    def whole(self) -> bool:
        """Return whether the whole log of R6 is measured: all of AOL's users."""
        return max(self.logged) >= USERS

    def wants(self, ratio: str) -> bool:
        """Return whether `ratio` is to be measured."""
        return ratio in self.only


class Place(NamedTuple):
    """The folders of a run: one removed at its end, and one that may be kept."""

    temporary: Path
    kept: Path


class Step(NamedTuple):
    """A measurement of some ratios together, and what to say while it runs."""

    ratios: tuple[str, ...]
    doing: str
    measure: Callable[[Plan, Place], Measured]
    bars: tuple[str, ...] = ()  # if other steps measure other bars of these ratios
    label: str = ""  # shown instead of the ratios, if another step has the same

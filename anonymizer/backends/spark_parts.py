"""Parts of profiles on Spark: a task for each part, which reads it where it was dealt to.

Parts are dealt into a folder next to the release, which workers see under the same path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from ..arrays import Ints
from ..model import Profiles
from .parts import LocalParts, Parts, deal
from .spark import SparkSession

G = TypeVar("G")
T = TypeVar("T")


@dataclass(frozen=True)
class SparkParts:
    """Parts that the workers of a cluster read and work on."""

    cluster: SparkSession
    local: LocalParts

    @property
    def terms(self) -> tuple[str, ...]:
        """Return the terms of all parts."""
        return self.local.terms

    @property
    def part_of(self) -> Ints:
        """Return the part of each user, in the order of the profiles."""
        return self.local.part_of

    def each(self, work: Callable[[Profiles, G], T], given: Sequence[G]) -> Iterator[T]:
        """Yield `work(profiles, given[i])` for each part i, in the order of the parts."""
        # Who stands where is not for the workers.
        bare = replace(
            self.local, folder=self.local.folder.absolute(), part_of=self.local.part_of[:0]
        )
        task = self.cluster.task(partial(_worked, bare, work))
        yield from self.cluster.stream(self.cluster.items([*enumerate(given)]).map(task))


def deal_on(cluster: SparkSession) -> Callable[[Iterable[Profiles], int, bytes, Path], Parts]:
    """Return what deals profiles as `parts.deal` does, into parts for the `cluster`."""

    def dealt(blocks: Iterable[Profiles], count: int, key: bytes, folder: Path) -> Parts:
        return SparkParts(cluster, deal(blocks, count, key, folder))

    return dealt


def _worked(parts: LocalParts, work: Callable[[Profiles, G], T], one: tuple[int, G]) -> T:
    number, given = one
    return work(parts.read(number), given)

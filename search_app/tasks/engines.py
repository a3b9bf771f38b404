"""The engine that works on a log or on profiles in parts: this machine, or a Spark cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from .. import console

if TYPE_CHECKING:
    from anonymizer.backends.spark import Cluster


class Engine(NamedTuple):
    """A Spark cluster, by the address of its master, and the number of parts, if one is named."""

    master: str
    parts: int | None = None

    @contextmanager
    def cluster(self, label: str) -> Iterator[Cluster]:
        """Give a session on the cluster, whose tasks are shown under the name `label`."""
        from anonymizer.backends.spark import connected

        with console.shares(label) as progress, connected(self.master, progress) as cluster:
            yield cluster

"""What the tests of engines share: one OpenSearch cluster for a whole run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .opensearch import Cluster, NoEngine


@pytest.fixture(scope="session")
def started() -> Cluster:
    """Return the run's three nodes, green; skip where there are none."""
    try:
        return Cluster()
    except NoEngine as fault:
        pytest.skip(str(fault))


@pytest.fixture
def opensearch(started: Cluster) -> Iterator[Cluster]:
    """Return the nodes for a test that kills none."""
    with started.together():
        yield started


@pytest.fixture
def lone_opensearch(started: Cluster) -> Iterator[Cluster]:
    """Return the nodes for a test that kills some; nobody else uses them meanwhile."""
    with started.alone():
        yield started

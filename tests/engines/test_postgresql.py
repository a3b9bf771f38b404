"""People and the log of precision in PostgreSQL: the real server, and two real front ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from search_app.workspace.postgresql import Server

from ..search_app.accounts import test_store
from .postgres import Cluster, cluster, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
NOW = test_store.NOW


@pytest.fixture(scope="session")
def database() -> Iterator[Cluster]:
    with cluster() as made:
        yield made


@pytest.fixture
def server(database: Cluster) -> Server:
    database.empty()
    return Server(database.address)

"""Killed nodes under load: every answer is whole and right, or an error in one plain line."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from index.model import Index, SearchError
from search_app.server.opening import Serving
from search_app.web import create_app

from .opensearch import NODES, Cluster, until
from .twins import Place, answer, drawn, on_cluster, queries

CLIENTS = 8
SIZE = 100
ASKED = queries(60)
SHARDS = 5  # more than nodes, so that two of three nodes never have a copy of each


class Client(threading.Thread):
    """Searches again and again; keeps what was wrong and what was refused."""

    def __init__(self, index: Index, right: list[object], at: int, ended: threading.Event) -> None:
        super().__init__()
        self._index, self._right, self._at, self._ended = index, right, at, ended
        self.answers = 0
        self.wrong: list[str] = []
        self.refused: list[str] = []

    def run(self) -> None:
        while not self._ended.is_set():
            self._at = (self._at + 7) % len(ASKED)
            try:
                found = answer(self._index.pool(ASKED[self._at], SIZE, deadline=30.0))
            except SearchError as fault:
                self.refused.append(str(fault))
            else:
                if found != self._right[self._at]:
                    self.wrong.append(ASKED[self._at])
            self.answers += 1


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """Return Lucene's answers."""
    place = Place(tmp_path_factory.mktemp("lucene") / "workspace")
    assert place.index(drawn(1500)) == 0
    index = place.open()
    try:
        return [answer(pool) for pool in index.pools(ASKED, SIZE)]
    finally:
        index.close()


@pytest.fixture
def filled(lone_opensearch: Cluster, tmp_path: Path) -> Iterator[Place]:
    """Return a workspace whose index is on the nodes, each shard on two of them."""
    place = on_cluster(
        tmp_path / "workspace", lone_opensearch, "failures", shards=SHARDS, replicas=1
    )
    assert place.index(drawn(1500)) == 0
    lone_opensearch.green()
    yield place
    for n in set(NODES) - set(lone_opensearch.alive()):
        lone_opensearch.start(n)
    lone_opensearch.green()
    lone_opensearch.call("DELETE", "/failures*")


@pytest.mark.parametrize("victim", ["a data node", "the cluster manager"])
def test_a_node_dies_under_load(
    lone_opensearch: Cluster, filled: Place, right: list[object], victim: str
) -> None:
    index, ended = filled.open(), threading.Event()
    manager = lone_opensearch.manager()
    dead = manager if "manager" in victim else next(n for n in NODES if n != manager)
    clients = [Client(index, right, 7 * at, ended) for at in range(CLIENTS)]
    for client in clients:
        client.start()

    def more() -> None:
        before = [client.answers for client in clients]
        until(
            lambda: all(c.answers > n + 10 for c, n in zip(clients, before, strict=True)), "silence"
        )

    try:
        more()
        lone_opensearch.kill(dead)
        survivor = next(n for n in NODES if n != dead)
        path = "/_cluster/health?wait_for_nodes=2&timeout=60s"
        assert not lone_opensearch.call("GET", path, node=survivor)["timed_out"]
        more()
        lone_opensearch.start(dead)
        lone_opensearch.green()
        more()
    finally:
        ended.set()
        for client in clients:
            client.join()
        index.close()
    assert [client.wrong for client in clients] == [[]] * CLIENTS
    assert all(len(client.refused) <= 1 for client in clients), [c.refused for c in clients]


def test_two_of_three_nodes_die_and_come_back(
    lone_opensearch: Cluster, filled: Place, right: list[object]
) -> None:
    """Every request fails at once, and whole: no node is waited for that can't answer."""
    said: list[str] = []
    site = Serving(filled.settings, said.append).open()
    try:
        client = create_app(site).test_client()
        assert client.get(f"/?q={ASKED[0]}").status_code == 200
        lone_opensearch.kill(*NODES[1:])
        page = client.get(f"/?q={ASKED[0]}")
        assert page.status_code == 503
        assert "The index can’t be used" in page.text
        assert ASKED[0] not in page.text.partition("<main")[2].replace(f'value="{ASKED[0]}"', "")
        assert client.get("/api/v1/health").status_code == 503
        for query in ASKED:
            with pytest.raises(SearchError) as refused:
                site.modes.engine.pool(query, SIZE)
            assert "\n" not in str(refused.value)
            assert not set(query.split()) & set(str(refused.value).split())
        for n in NODES[1:]:
            lone_opensearch.start(n)
        lone_opensearch.green()
        found = [answer(site.modes.engine.pool(query, SIZE)) for query in ASKED]
        assert found == right
        assert client.get("/api/v1/health").status_code == 200
    finally:
        site.close()

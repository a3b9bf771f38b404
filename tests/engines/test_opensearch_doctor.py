"""What doctor says of a cluster: every finding in one line with its remedy, and after a restore."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from index.backends import OpenSearchBackend
from index.inspection import cluster_checks
from search_app.server.checkup import Check, checkup, guarded
from search_app.workspace.opening import backend_of

from .opensearch import Cluster, until
from .test_opensearch_fills import of_now
from .twins import Place, drawn, on_cluster


@pytest.fixture
def place(opensearch: Cluster, tmp_path: Path, worker_id: str) -> Iterator[Place]:
    name = f"doctor-{worker_id}"
    place = on_cluster(tmp_path / "workspace", opensearch, name, shards=2)
    assert place.index(drawn(100)) == 0
    yield place
    opensearch.call("DELETE", f"/{name}*")


def looks(place: Place) -> dict[str, Check]:
    """Return what doctor finds in the cluster, by name."""
    backend = backend_of(place.settings)
    assert isinstance(backend, OpenSearchBackend)
    found = cluster_checks(place.workspace.find("index"), backend)
    return {name: guarded(name, look, "") for name, look in found}


def test_a_whole_cluster_is_described_and_each_fault_is_named(
    opensearch: Cluster, place: Place
) -> None:
    index = f"{place.settings.search.index}-corpus-0001"
    alias = index.removesuffix("-0001")
    until(lambda: looks(place)["shards"].good, "its copies are not there")
    assert {name: check.found for name, check in looks(place).items()} == {
        "hosts": "3 of 3 hosts answer",
        "versions": "3 nodes, OpenSearch 3.6.0",
        "partial results": (
            "partial results refused by every search of veilsearch; for other programs the cluster "
            "allows them"
        ),
        "alias": f"{alias} is {index}",
        "shards": f"{index} is green: all 4 copies of its shards are there",
        "copies": "replicas=1",
        "mapping": "mapping as veilsearch made it, closed to writes",
        "documents": f"100 documents, the same in {index} and in the forward index",
    }
    ours = [check for check in checkup(place.settings) if check.name == "cluster"]
    assert all(check.good for check in ours)
    assert len(ours) == len(looks(place))
    put = partial(opensearch.call, "PUT")
    faults: list[tuple[str, partial[Any], str]] = [
        ("copies", partial(put, f"/{index}/_settings", {"number_of_replicas": 0}), "replicas=0"),
        ("mapping", partial(put, f"/{index}/_settings", {"blocks.write": None}), "takes writes"),
        (
            "documents",
            partial(put, f"/{index}/_doc/7?refresh=true", {"number": 7}),
            "1 deleted documents, which count in scores",
        ),
        (
            "documents",
            partial(opensearch.call, "DELETE", f"/{index}/_doc/7?refresh=true"),
            "1 only in the forward index, 0 only in the cluster",
        ),
        (
            "mapping",
            partial(put, f"/{index}/_mapping", {"properties": {"user": {"type": "keyword"}}}),
            "another mapping (fields.user)",
        ),
        ("alias", partial(opensearch.call, "DELETE", f"/{index}/_alias/{alias}"), "no index"),
    ]
    for name, fault, told in faults:
        fault()
        check = looks(place)[name]
        assert told in check.found, check
        assert check.remedy, check
        assert "\n" not in check.found + check.remedy
    one_dead = on_cluster(
        place.root.with_name("one dead"), opensearch, "x", hosts=[*opensearch.hosts, "127.0.0.1:1"]
    )
    backend = backend_of(one_dead.settings)
    assert isinstance(backend, OpenSearchBackend)
    [hosts, *_] = [guarded(name, look, "") for name, look in cluster_checks(None, backend)]
    assert hosts.found.startswith("127.0.0.1:1 does not answer")


def test_a_snapshot_brings_a_lost_index_back(opensearch: Cluster, place: Place) -> None:
    """By OpenSearch's own means, as docs/operate.md says."""
    before, snapshots = of_now(place), f"{place.settings.search.index}-copies"
    wanted = {"indices": f"{place.settings.search.index}-*", "include_global_state": False}
    location = {"location": str(opensearch.room / "snapshots" / snapshots)}
    opensearch.call("PUT", f"/_snapshot/{snapshots}", {"type": "fs", "settings": location})
    path = f"/_snapshot/{snapshots}/march"
    made = opensearch.call("PUT", f"{path}?wait_for_completion=true", wanted)
    assert made["snapshot"]["state"] == "SUCCESS"
    opensearch.call("DELETE", f"/{wanted['indices']}")
    assert not looks(place)["alias"].good
    opensearch.call("POST", f"{path}/_restore?wait_for_completion=true", wanted)
    until(lambda: all(check.good for check in looks(place).values()), "it is not as before")
    assert of_now(place) == before
    opensearch.call("DELETE", f"/_snapshot/{snapshots}")

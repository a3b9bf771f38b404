"""The three nodes that tests share: they are real, they can be killed, and they come back."""

from __future__ import annotations

from .opensearch import NODES, VERSION, Cluster


def test_three_nodes_of_the_pinned_version_are_green(opensearch: Cluster) -> None:
    nodes = opensearch.call("GET", "/_cat/nodes?format=json&h=name,version")
    assert sorted(nodes, key=str) == [{"name": f"n{n}", "version": VERSION} for n in NODES]


def test_a_killed_manager_is_followed_by_another_and_comes_back(lone_opensearch: Cluster) -> None:
    before = lone_opensearch.manager()
    lone_opensearch.kill(before)
    assert before not in lone_opensearch.alive()
    lone_opensearch.start(before)
    lone_opensearch.green()
    assert lone_opensearch.manager() != before


def test_the_slow_log_has_what_is_searched_for(opensearch: Cluster) -> None:
    opensearch.call("PUT", "/slow-log", {"mappings": {"properties": {"a": {"type": "keyword"}}}})
    try:
        opensearch.log_requests("slow-log")
        opensearch.call("POST", "/slow-log/_search", {"query": {"term": {"a": "heliotrope"}}})
        assert "heliotrope" in opensearch.slow_log()
    finally:
        opensearch.call("DELETE", "/slow-log")

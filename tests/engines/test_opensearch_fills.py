"""Filling, adding and deleting on a cluster: as on Lucene, and always the old or the new whole."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from index.backends import NewBuild
from index.lucene.java import ANALYZERS, ENGLISH
from index.model import Document, Index, SearchError
from search_app.workspace.opening import as_of_one_moment, backend_of

from .opensearch import NODES, Cluster
from .twins import Place, answer, drawn, on_cluster, queries
from .wire import Passing, wire

ROOT = Path(__file__).parents[2]
ASKED = queries(25, seed=1)
SIZE = 200
Answers = list[object]


def answers(index: Index) -> Answers:
    """Return the answers of `index` to all that is asked: rows, scores, ids."""
    pools = [index.pool(query, SIZE) for query in ASKED]
    return [(answer(pool), index.ids(pool.rows).tolist()) for pool in pools]


def of_now(place: Place) -> Answers:
    """Return the answers of the current index of `place`, opened for it."""
    with closing(place.open()) as index:
        return answers(index)


@pytest.fixture
def name(opensearch: Cluster, worker_id: str) -> Iterator[str]:
    """Return how the names of indexes begin that are removed in the end."""
    name = f"fills-{worker_id}"
    yield name
    opensearch.call("DELETE", f"/{name}*")


STEPS = {
    "built with repeated ids": (drawn(300) + drawn(40, seed=5, first=20), ()),
    "added, replaced, deleted": (drawn(80, seed=6, first=250), ("--add", "--delete=d1")),
    "deleted": ([], [f"--delete=d{at}" for at in range(0, 200, 3)]),
}


@contextmanager
def reading(place: Place) -> Iterator[Answers]:
    """Give the answers that a reader gets one after the other, and its faults."""
    seen, ended = Answers(), threading.Event()

    def read() -> None:
        while not ended.is_set():
            if place.workspace.current().index:
                try:
                    seen.append(as_of_one_moment(place.workspace, lambda: of_now(place)))
                except SearchError as fault:
                    seen.append(str(fault))
            time.sleep(0.01)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield seen
    finally:
        ended.set()
        reader.join()


def test_every_change_gives_what_it_gives_on_lucene_and_a_reader_sees_it_whole(
    opensearch: Cluster, name: str, tmp_path: Path
) -> None:
    lucene, cluster = Place(tmp_path / "l"), on_cluster(tmp_path / "o", opensearch, name, shards=2)
    states = []
    with reading(cluster) as seen:
        for step, (documents, options) in STEPS.items():
            for place in (lucene, cluster):
                given = (
                    place.index(documents, *options) if documents else place.call("index", *options)
                )
                assert given == 0, step
            states.append(of_now(lucene))
            assert of_now(cluster) == states[-1], step
        last = len(seen)
        while len(seen) < last + 2:
            time.sleep(0.05)
    order = [states.index(one) if one in states else one for one in seen]
    assert all(type(one) is int for one in order), order
    assert order == sorted(order, key=int)
    assert order[-1] == len(states) - 1
    for path in (lucene.workspace.find("index") / "forward").iterdir():
        twin = cluster.workspace.find("index") / "forward" / path.name
        assert path.read_bytes() == twin.read_bytes(), path.name


# What a process asks for when SIGKILL ends it: the cluster does it all the same.
MOMENTS = {
    "the base is cloned": ("POST", "-filling"),
    "documents go": ("POST", "-writing/_bulk"),
    "files go": ("POST", "-files/_bulk"),
    "it is marked as whole": ("PUT", "/_mapping"),
    "the alias is switched": ("POST", "/_aliases"),
}


def test_a_fill_that_is_killed_leaves_the_old_and_the_next_one_is_as_if_it_was_not(
    opensearch: Cluster, name: str, tmp_path: Path
) -> None:
    old, new = drawn(120), drawn(40, seed=6, first=100)
    killing: list[subprocess.Popen[bytes]] = []
    moment = ("", "")

    def see(request: Passing) -> None:
        there = request.method == moment[0] and moment[1] in request.path
        if killing and there and not request.path.endswith("-filling/_mapping"):
            killing[0].send_signal(signal.SIGKILL)
            killing.pop().wait()

    lucene = Place(tmp_path / "l")
    with wire(opensearch.hosts, see) as url:
        place = on_cluster(tmp_path / "o", opensearch, name, hosts=[url])
        for one in (lucene, place):
            assert one.index(old) == 0
        before = of_now(lucene)
        assert lucene.index(new, "--add") == 0
        after = of_now(lucene)
        file = place.root.with_name("corpus.jsonl")
        with closing(place.open()) as held:
            for why, wanted in MOMENTS.items():
                moment = wanted
                words = ["--workspace", place.root, "index", file, "--add"]
                command = [sys.executable, "-m", "search_app", *map(str, words)]
                with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as process:
                    killing.append(process)
                    _, said = process.communicate()
                assert process.returncode == -signal.SIGKILL, (why, said)
                # Only the last moment comes after the workspace's own switch.
                assert of_now(place) == (after if "alias" in why else before), why
                assert answers(held) == before, why
        assert place.index(new, "--add") == 0
        assert of_now(place) == after
    there = {row["index"] for row in opensearch.call("GET", f"/_cat/indices/{name}-*?format=json")}
    fills = {index.removesuffix("-files") for index in there}
    assert len(fills) == 2, "the current one, and the one before, for other hosts"
    assert there == fills | {f"{fill}-files" for fill in fills}


def test_nothing_deleted_comes_back_with_a_shard_that_moved_meanwhile(
    opensearch: Cluster, name: str, tmp_path: Path
) -> None:
    lucene, moved = Place(tmp_path / "l"), list[str]()

    def see(request: Passing) -> None:
        if moved and request.path.endswith("0002/_forcemerge?only_expunge_deletes=true"):
            index, was = request.path.split("/")[1], moved.pop()
            [row] = opensearch.call("GET", f"/_cat/shards/{index}?format=json")
            to = f"n{next(n for n in NODES if row['node'] != f'n{n}')}"
            move = {"index": index, "shard": 0, "from_node": row["node"], "to_node": to}
            opensearch.call("POST", "/_cluster/reroute", {"commands": [{was: move}]})

    slow = {"indices.recovery.max_bytes_per_sec": "50kb"}
    with wire(opensearch.hosts, see) as url:
        # Without a second copy, which a fill would wait for while the shard arrives.
        place = on_cluster(tmp_path / "o", opensearch, name, hosts=[url], replicas=0)
        for one in (lucene, place):
            assert one.index(drawn(600)) == 0
        moved.append("move")
        opensearch.call("PUT", "/_cluster/settings", {"transient": slow})
        try:
            for one in (lucene, place):
                assert one.index(drawn(100, seed=6, first=50), "--add") == 0
        finally:
            reset = dict.fromkeys(slow)
            opensearch.call("PUT", "/_cluster/settings", {"transient": reset})
        assert not moved
        path = f"/_cluster/health/{name}*?wait_for_no_relocating_shards=true&timeout=60s"
        assert not opensearch.call("GET", path)["timed_out"]
        assert of_now(place) == of_now(lucene)
    stats = opensearch.call("GET", f"/{name}-corpus-0002/_stats/docs")
    assert stats["_all"]["total"]["docs"]["deleted"] == 0


def test_a_fill_that_another_removes_makes_up_no_index(
    opensearch: Cluster, name: str, tmp_path: Path
) -> None:
    one, other = (on_cluster(tmp_path / f"{n}", opensearch, name) for n in range(2))
    backend = backend_of(one.settings)
    facts = {"k1": 0.9, "b": 0.4, "analyzer": ANALYZERS[ENGLISH]}
    new = NewBuild(tmp_path / "corpus.0001", "corpus", facts, 0, None)
    writer, _ = backend.writer(new)
    assert other.index(drawn(50)) == 0
    writer.add(Document("d1", "", "one"))
    with (
        closing(writer),
        pytest.raises(
            SearchError, match=r"\(index_not_found_exception\); fill from one host at a t"
        ),
    ):
        writer.commit(one_segment=True)
    there = {row["index"] for row in opensearch.call("GET", f"/_cat/indices/{name}-*?format=json")}
    assert there == {f"{name}-corpus-0002", f"{name}-corpus-0002-files"}


def test_an_index_that_is_gone_or_is_not_ours_is_refused(
    opensearch: Cluster, name: str, tmp_path: Path
) -> None:
    place = on_cluster(tmp_path / "o", opensearch, name)
    assert place.index(drawn(50)) == 0
    index, alias = f"{name}-corpus-0001", f"{name}-corpus"
    opensearch.call("DELETE", f"/{index}")
    other = on_cluster(tmp_path / "other", opensearch, name)
    for there in (False, True):
        if there:  # somebody else's, by the same name and behind the alias
            opensearch.call("PUT", f"/{index}", {"aliases": {alias: {}}})
        for use in (place.open, lambda: other.call("index", "--from-cluster")):
            with pytest.raises(SearchError, match=r"; fill.* index") as refused:
                use()
            assert "\n" not in str(refused.value)
    with pytest.raises(SearchError, match="not made by veilsearch; remove that"):
        place.index(drawn(50))
    opensearch.call("DELETE", f"/{index}")
    assert place.index(drawn(50)) == 0
    assert len(of_now(place)) == len(ASKED)

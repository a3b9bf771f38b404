"""Filling an index in a cluster: a new one behind an alias, which names it when it is whole. [I/O]

The alias NAME stands for one of the indexes NAME-0001, NAME-0002, ... A fill makes the next one. It
writes to NAME-0002-filling: an empty index, or a clone of the index that it extends. NAME-0002 is a
clone of that. A clone links files, and leaves out what was deleted, which counts in statistics. An
index without the mark `whole` is an unfinished fill, and the next fill removes it.

Every copy of a shard counts its own deleted documents in scores. So none has any before the index
serves, and copies that come later are made of those. See `_merge`.
"""

from __future__ import annotations

import re
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..lucene.java import ENGLISH
from ..lucene.tokens import places_of
from ..model import Document, SearchError
from .client import PATIENCE, ClusterError, OpenSearchCluster
from .terms import ANALYZER, text_of

BLOCK = 2 << 20  # characters of text that one request takes
LEAST = 500  # characters that are added for each document, also an empty one
_FLUSH = "_flush?force=true&wait_if_ongoing=true"
EXPUNGE = "only_expunge_deletes=true"
TRIES = 60  # a second apart, to be rid of deleted documents: a cluster lets go of all in half that
WAITING = 2  # requests, at most, that wait for the cluster, so that memory stays flat
LONG = 3600.0  # seconds for what a cluster does to a whole index
FILES = "-files"  # ends the name of the index that holds the folder's files
FILLING = "-filling"  # ends the name of an index that takes documents
WRITING = "-writing"  # ends the alias by which it takes them
_NAMES = re.compile(r"[a-z0-9][a-z0-9._-]{0,120}")
_FOREIGN = "not made by veilsearch; remove that, or set another index in [search]"
# While documents go no shard moves: a copy on its way would miss a merge and keep what is deleted.
_STAYING = {"index.routing.rebalance.enable": "none"}
_NUMBERED = rf"-([0-9]{{4,}})({FILLING})?"


def alias_of(cluster: OpenSearchCluster, name: str) -> str:
    """Return the alias in `cluster` of the workspace's index `name`."""
    alias = f"{cluster.place.index}-{name}"
    if not _NAMES.fullmatch(alias):
        raise SearchError(
            f"{alias} can't be the name of an index in OpenSearch; give --name in small letters, "
            "digits, points and hyphens"
        )
    return alias


def current_of(cluster: OpenSearchCluster, alias: str) -> str | None:
    """Return the index that `alias` stands for; None if it stands for none."""
    try:
        names = cluster.ask("GET", f"/{alias}/_alias")
    except ClusterError as error:
        if error.status == 404:
            return None
        raise
    if foreign := [name for name in names if not _is_fill(name, alias)]:
        raise SearchError(f"{alias} in the cluster is {foreign[0]}, {_FOREIGN}")
    return max(names, key=number_of, default=None)


def indexes_of(cluster: OpenSearchCluster, alias: str) -> dict[str, bool]:
    """Return the indexes that fills of `alias` made: name -> whether it is whole."""
    answer = cluster.ask("GET", f"/{alias}-*/_mapping")
    fills = {
        name: one["mappings"].get("_meta", {})
        for name, one in sorted(answer.items())
        if _is_fill(name, alias)
    }
    if foreign := [name for name, facts in fills.items() if "veilsearch" not in facts]:
        raise SearchError(f"{foreign[0]} in the cluster is {_FOREIGN}")
    return {
        name: bool(facts.get("whole")) and not name.endswith(FILLING)
        for name, facts in fills.items()
    }


def _is_fill(name: str, alias: str) -> bool:
    return re.fullmatch(re.escape(alias) + _NUMBERED, name) is not None


def create_index(
    cluster: OpenSearchCluster, alias: str, bm25: tuple[float, float], base: str | None = None
) -> str:
    """Begin the next index of `alias`, empty or as its `base`; remove unfinished ones.

    Return its name.
    """
    cluster.check_version()
    current_of(cluster, alias)  # refuses what is not ours before the work, not after it
    there = indexes_of(cluster, alias)
    for name, whole in there.items():
        if not whole:
            remove(cluster, name)
    name = f"{alias}-{1 + max(map(number_of, there), default=0):04d}"
    remove(cluster, name)  # the files of an index that somebody removed without them
    plan = plan_of(cluster.place.shards, bm25)
    if base:
        _clone(cluster, base, name + FILLING)
        meta = {"_meta": plan["mappings"]["_meta"]}
        cluster.ask("PUT", f"/{name}{FILLING}/_mapping", meta, seconds=LONG)
    else:
        cluster.ask("PUT", f"/{name}{FILLING}", plan, seconds=LONG, safely=False)
    cluster.ask("PUT", f"/{name}{FILLING}/_alias/{name}{WRITING}", seconds=LONG)
    return name


def _clone(cluster: OpenSearchCluster, old: str, new: str) -> None:
    """Make the index `new` of the files of `old`, which takes no documents from then on."""
    # Only what takes no documents can be cloned.
    cluster.ask("PUT", f"/{old}/_settings", {"index.blocks.write": True}, seconds=LONG)
    settings = {"index.number_of_replicas": 0, "index.blocks.write": None, **_STAYING}
    body = {"settings": settings}
    cluster.ask("POST", f"/{old}/_clone/{new}", body, seconds=LONG, safely=False)
    _wait(cluster, new, "wait_for_status=green")


def plan_of(shards: int, bm25: tuple[float, float]) -> dict[str, Any]:
    """Return settings and mapping of an index of `shards` parts, scored by `bm25`, to be filled."""
    words = {"type": "text", "analyzer": "veilsearch"}
    return {
        "settings": {
            "number_of_shards": shards,
            # Copies are made of the finished index, file by file, so they are equal.
            "number_of_replicas": 0,
            # Nobody searches it before it is whole, so no segment is made for that.
            "refresh_interval": "-1",
            **_STAYING,
            # Statistics count deleted documents until a merge drops them, whatever their share.
            "merge.policy.expunge_deletes_allowed": 0,
            "similarity.default": {"type": "BM25", "k1": bm25[0], "b": bm25[1]},
            "analysis.analyzer.veilsearch": ANALYZER,
        },
        "mappings": {
            "dynamic": "strict",
            # By this a fill knows its own indexes, and removes no others.
            "_meta": {"veilsearch": 1},
            # The words are in the index already; only the record is given back.
            "_source": {"includes": ["record"]},
            "properties": {
                "number": {"type": "long"},
                "docid": {"type": "keyword"},
                "contents": words,
                "title": words,
                "record": {"type": "object", "enabled": False},
            },
        },
    }


class OpenSearchWriter:
    """Adds to an index in a cluster that nobody searches yet."""

    def __init__(
        self, cluster: OpenSearchCluster, name: str, first: int = 0, language: str = ENGLISH
    ) -> None:
        self._cluster, self._name, self._language = cluster, name, language
        self._next, self._characters = first, 0
        self._block: list[Document] = []
        self._dropped: list[int] = []
        self._thread = ThreadPoolExecutor(1)
        self._sent: deque[Future[None]] = deque()

    def add(self, document: Document) -> None:
        """Add `document` under the next number."""
        self._block.append(document)
        self._characters += LEAST + len(document.title) + len(document.text)
        if self._characters >= BLOCK:
            self._send()

    def drop(self, number: int) -> None:
        """Drop the document that was added under `number`, now or before."""
        self._dropped.append(number)

    def commit(self, *, one_segment: bool) -> None:
        """Make all that was added searchable, without what was dropped; `one_segment` merges."""
        self._send()
        self._wait(0)
        for low in range(0, len(self._dropped), 10_000):
            part = self._dropped[low : low + 10_000]
            self._bulk([{"delete": {"_id": str(number)}} for number in part])
        filled = f"{self._name}{FILLING}"
        _ask_shards(self._cluster, "POST", f"/{filled}/{_FLUSH}")
        # What was deleted where it was added counts in scores for half a minute; not in a clone.
        _clone(self._cluster, filled, self._name)
        remove(self._cluster, filled)
        merge = "max_num_segments=1" if one_segment else EXPUNGE
        _merge(self._cluster, self._name, merge)

    def close(self) -> None:
        """Send nothing more; an index that was not finished is removed by the next fill."""
        for block in self._sent:
            block.cancel()
        self._thread.shutdown()

    def _send(self) -> None:
        """Analyze a block, and hand it to the thread that waits for the cluster."""
        block, self._block, self._characters = self._block, [], 0
        if not block:
            return
        texts = [text for one in block for text in (f"{one.title} {one.text}", one.title)]
        written = [text_of(places) for places in places_of(texts, self._language)]
        lines: list[Any] = []
        for at, one in enumerate(block):
            number, record = self._next + at, vars(one)
            named = {"number": number, "docid": one.id, "record": record}
            fields = {"contents": written[2 * at], "title": written[2 * at + 1]}
            lines += [{"index": {"_id": str(number)}}, {**named, **fields}]
        self._next += len(block)
        self._wait(WAITING)
        self._sent.append(self._thread.submit(self._bulk, lines))

    def _wait(self, left: int) -> None:
        while len(self._sent) > left:
            self._sent.popleft().result()

    def _bulk(self, lines: list[Any]) -> None:
        # To an alias, which goes with its index. By an index's own name a cluster would make up
        # another index, with scores of its own, if a fill on another host removed this one.
        path = f"/{self._name}{WRITING}/_bulk?require_alias=true"
        what = "filter_path=errors,items.*.error.type"
        answer = self._cluster.ask("POST", f"{path}&{what}", lines, seconds=LONG)
        if answer["errors"]:
            kinds = {one["error"]["type"] for item in answer["items"] for one in item.values()}
            raise SearchError(
                f"{self._name}: the cluster refuses documents ({', '.join(sorted(kinds))}); fill "
                "from one host at a time, and see the cluster's log"
            )


def finish(cluster: OpenSearchCluster, name: str, facts: dict[str, Any]) -> None:
    """Mark the index `name` as whole, with `facts` about it; nothing is written to it any more."""
    last = {"index.number_of_replicas": cluster.place.replicas, "index.blocks.write": True}
    cluster.ask("PUT", f"/{name}/_settings", last, seconds=LONG)
    if cluster.place.replicas:
        try:
            _wait(cluster, name, "wait_for_status=green", seconds=60)
        except ClusterError as error:
            # 408: nodes for the copies are missing, or slow; the index itself is whole.
            if error.status != 408:
                raise
    # By construction there are none: see `_merge`. But scores depend on it, so look.
    if deleted_in(cluster, name):
        _merge(cluster, name, EXPUNGE)
    # Front ends that are started later compare these facts with their folder.
    meta = {"_meta": {"veilsearch": 1, "whole": True, **facts}}
    cluster.ask("PUT", f"/{name}/_mapping", meta, seconds=LONG)
    cluster.ask("PUT", f"/{name}/_settings", dict.fromkeys(_STAYING), seconds=LONG)


def _merge(cluster: OpenSearchCluster, name: str, how: str) -> None:
    """Merge the index `name`, until no copy of it has a deleted document."""
    for _ in range(TRIES):
        for step in (_FLUSH, f"_forcemerge?{how}", "_refresh"):
            _ask_shards(cluster, "POST", f"/{name}/{step}")
        # A copy on its way holds what was there before the merge, and no count has it until it has
        # arrived. Whatever leaves after this wait is made of merged files.
        _wait(
            cluster,
            name,
            "wait_for_status=yellow&wait_for_no_relocating_shards=true"
            "&wait_for_no_initializing_shards=true",
        )
        if not (left := deleted_in(cluster, name)):
            return
        time.sleep(1)
    raise SearchError(
        f"{name}: {left:,} deleted documents still count in the cluster; run the command again"
    )


def deleted_in(cluster: OpenSearchCluster, name: str) -> int:
    """Return how many deleted documents all copies of the index `name` that are there have."""
    answer = _ask_shards(cluster, "GET", f"/{name}/_stats/docs?filter_path=_shards,_all.total.docs")
    return int(answer["_all"]["total"]["docs"]["deleted"])


def _wait(cluster: OpenSearchCluster, name: str, until: str, seconds: float = LONG) -> None:
    """Return when the index `name` is as `until` says; raise ClusterError, 408, after `seconds`."""
    path = f"/_cluster/health/{name}?{until}&timeout={seconds:.0f}s&filter_path=status"
    cluster.ask("GET", path, seconds=LONG + PATIENCE)


def _ask_shards(cluster: OpenSearchCluster, method: str, path: str) -> Any:
    """Return the answer to a request; raise if a shard failed, which is HTTP 200 all the same."""
    answer = cluster.ask(method, path, seconds=LONG)
    if answer["_shards"]["failed"]:
        raise SearchError(
            "a part of the index does not answer in the cluster; see the cluster's log"
        )
    return answer


def make_current(cluster: OpenSearchCluster, alias: str, name: str) -> None:
    """Let `alias` stand for the index `name` alone, in one step; remove those before the last.

    The last one stays until the next fill: other front ends may still search it.
    """
    before = current_of(cluster, alias)
    actions: list[dict[str, Any]] = [{"add": {"index": name, "alias": alias}}]
    if before and before != name:
        actions.append({"remove": {"index": before, "alias": alias}})
    cluster.ask("POST", "/_aliases", {"actions": actions})
    # Also what is whole: a fill that ended before its own switch left that.
    for other in indexes_of(cluster, alias):
        if other not in (name, before):
            remove(cluster, other)


def remove(cluster: OpenSearchCluster, name: str) -> None:
    """Remove the index `name` and the files that belong to it, if they are there."""
    cluster.ask("DELETE", f"/{name},{name}{FILES}?ignore_unavailable=true")


def check_filled(cluster: OpenSearchCluster, name: str, fingerprint: str) -> None:
    """Refuse the index `name` unless it is whole and has the documents of `fingerprint`."""
    try:
        answer = cluster.ask("GET", f"/{name}/_mapping?filter_path=*.mappings._meta")
    except ClusterError as error:
        if error.status != 404:
            raise
        answer = {}
    facts = answer.get(name, {}).get("mappings", {}).get("_meta", {})
    if not facts.get("whole") or facts.get("fingerprint") != fingerprint:
        what = "not in the cluster" if not facts else "another one, or unfinished, in the cluster"
        raise SearchError(
            f"{name}: this index is {what}; fill it again with: veilsearch index CORPUS"
        )


def number_of(name: str) -> int:
    """Return the number of the fill that made the index `name`."""
    return int(name.removesuffix(FILLING).rpartition("-")[2])

"""What `veilsearch doctor` finds out about a cluster and an index in it. [I/O]

Each function returns what it found, or raises SearchError with the fault and a remedy. No request
has a query or anything of a person in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from ..manifest import REMEDY
from ..model import Ints, SearchError
from .client import LEAST, ClusterError, ClusterPlace, OpenSearchCluster
from .filling import current_of, deleted_in, number_of, plan_of

PAGE = 10_000  # documents whose numbers come in one answer; a cluster gives no more
_WAIT = "start the nodes that are missing, then wait until veilsearch doctor says green"
_SECONDS = 5.0  # for a host to answer


def answering(place: ClusterPlace) -> str:
    """Return how many hosts of `place` answer; raise for those that do not."""
    # Each host by itself: a search would go to another one, and nobody would notice.
    silent = {}
    for host in place.hosts:
        with closing(OpenSearchCluster(replace(place, hosts=(host,)))) as alone:
            try:
                alone.ask("GET", "/", seconds=_SECONDS)
            except ClusterError as fault:
                silent[host] = str(fault).partition("; ")
    if len(silent) == len(place.hosts):
        fault_text, _, remedy = next(iter(silent.values()))
        raise SearchError(f"{fault_text}, at none of {', '.join(place.hosts)}; {remedy}")
    if silent:
        raise SearchError(
            f"{', '.join(silent)} {'does' if len(silent) == 1 else 'do'} not answer, searches go "
            f"to the other hosts; start what is missing, or take it out of hosts in [search]"
        )
    return f"{len(place.hosts)} of {len(place.hosts)} hosts answer"


def versions(cluster: OpenSearchCluster) -> str:
    """Return the versions of all nodes of `cluster`; refuse ones whose scores are others."""
    cluster.check_version()
    nodes = cluster.ask("GET", "/_nodes/_all/none?filter_path=nodes.*.version").get("nodes", {})
    numbers = sorted({str(node["version"]) for node in nodes.values()})
    if any(int(number.partition(".")[0]) < LEAST[0] for number in numbers):
        raise SearchError(
            f"nodes have the versions {', '.join(numbers)}; upgrade all of them to OpenSearch 3"
        )
    return f"{len(nodes)} nodes, OpenSearch {', '.join(numbers)}"


def health(cluster: OpenSearchCluster, index: str) -> str:
    """Return that every copy of every shard of `index` is there; raise where one is missing."""
    state = cluster.ask("GET", f"/_cluster/health/{index}")
    # A copy that is being made does not help yet if a node dies.
    missing = state["unassigned_shards"] + state["initializing_shards"]
    if state["status"] == "red":
        raise SearchError(
            f"{index} is red: a shard has no copy that is there, so every search fails; {_WAIT}"
        )
    if state["status"] != "green":
        raise SearchError(
            f"{index} is {state['status']}: {missing} copies of shards are missing, so a node that "
            f"dies may take the index along; {_WAIT}, or set fewer replicas in [search]"
        )
    return f"{index} is green: all {state['active_shards']} copies of its shards are there"


def copies(cluster: OpenSearchCluster, index: str, replicas: int) -> str:
    """Return how many copies of each shard of `index` there are besides the first."""
    there = int(_settings(cluster, index)["number_of_replicas"])
    if there != replicas:
        raise SearchError(
            f"{index} has replicas={there}, and the setting is {replicas}; change one of them: in "
            f"[search], or in the cluster by PUT /{index}/_settings"
        )
    return f"replicas={there}" + ("" if there else ": the index dies with any of its nodes")


def current(cluster: OpenSearchCluster, alias: str, index: str) -> str:
    """Return that `alias` stands for `index`, the one that is searched here."""
    now = current_of(cluster, alias)
    if now == index:
        return f"{alias} is {index}"
    if now is None:
        raise SearchError(
            f"{alias} stands for no index, so no other host can copy this one; {REMEDY}"
        )
    if number_of(now) > number_of(index):
        raise SearchError(
            f"{alias} is {now} by now, and {index} is searched here; serve copies it by itself, "
            "or copy it with: veilsearch index --from-cluster"
        )
    raise SearchError(f"{alias} is {now}, older than {index}, which is searched here; {REMEDY}")


def mapping(cluster: OpenSearchCluster, index: str, bm25: tuple[float, float]) -> str:
    """Return that `index` has the mapping and the `bm25` it was made with, and refuses writes."""
    # How many shards there are changes no score, so any number serves for the comparison.
    plan, settings = plan_of(1, bm25), _settings(cluster, index)
    there = cluster.ask("GET", f"/{index}/_mapping")[index]["mappings"]
    differing = {*_differing(there.get("properties"), plan["mappings"]["properties"])}
    for name in ("similarity.default", "analysis.analyzer.veilsearch"):
        own: Any = settings
        for part in name.split("."):
            own = own.get(part, {})
        differing |= {*_differing(own, plan["settings"][name], name)}
    if differing:
        raise SearchError(f"{index} has another mapping ({', '.join(sorted(differing))}); {REMEDY}")
    if settings.get("blocks", {}).get("write") != "true":
        raise SearchError(
            f"{index} takes writes, so documents may change; close it by PUT "
            f'/{index}/_settings with {{"index.blocks.write": true}}'
        )
    return "mapping as veilsearch made it, closed to writes"


def documents(cluster: OpenSearchCluster, index: str, numbers: Ints) -> str:
    """Return that `index` has the documents of `numbers`, and of no others even a trace."""
    there = np.fromiter(_numbers(cluster, index), np.int64)
    if there.shape == numbers.shape and (there == numbers).all():
        if left := deleted_in(cluster, index):
            raise SearchError(
                f"{index} has {left:,} deleted documents, which count in scores; {REMEDY}"
            )
        return f"{there.size:,} documents, the same in {index} and in the forward index"
    lost, more = np.setdiff1d(numbers, there).size, np.setdiff1d(there, numbers).size
    raise SearchError(
        f"{index} and the forward index have different documents: {lost:,} only in the forward "
        f"index, {more:,} only in the cluster; {REMEDY}"
    )


def partial_results(cluster: OpenSearchCluster) -> str:
    """Return that no search here takes a part for the whole, and the default of `cluster`."""
    name = "search.default_allow_partial_results"
    answer = cluster.ask("GET", "/_cluster/settings?include_defaults=true&flat_settings=true")
    # What is set for now goes before what is set for good, and that before the default.
    layers = (answer.get(layer, {}) for layer in ("transient", "persistent", "defaults"))
    given = next((layer[name] for layer in layers if name in layer), "true")
    return "partial results refused by every search of veilsearch; " + (
        "for other programs the cluster allows them"
        if given == "true"
        else "the cluster refuses them to other programs, too"
    )


def _settings(cluster: OpenSearchCluster, index: str) -> dict[str, Any]:
    return dict(cluster.ask("GET", f"/{index}/_settings")[index]["settings"]["index"])


def _differing(there: Any, made: Any, name: str = "fields") -> Iterator[str]:
    """Yield the names of what is not in `there` as it was `made`, or is there besides."""
    if isinstance(made, dict) and isinstance(there, dict):
        for key in made.keys() | there.keys():
            yield from _differing(there.get(key), made.get(key), f"{name}.{key}")
    elif str(there).lower() != str(made).lower():  # a cluster writes numbers as texts
        yield name


def _numbers(cluster: OpenSearchCluster, index: str) -> Iterator[int]:
    """Yield the numbers of all documents of `index`, in order."""
    after: list[int] = []
    # By pages after the last number: a cluster counts no further than 10,000 from the start.
    while True:
        page = cluster.ask(
            "POST",
            f"/{index}/_search?allow_partial_search_results=false&request_cache=false",
            {
                "size": PAGE,
                "query": {"match_all": {}},
                "sort": [{"number": "asc"}],
                "stored_fields": "_none_",
                "track_total_hits": False,
                **({"search_after": after} if after else {}),
            },
        )
        if page["_shards"]["failed"] or page["timed_out"]:
            raise SearchError(f"{index} answers only in part; {_WAIT}")
        hits = page["hits"]["hits"]
        yield from (hit["sort"][0] for hit in hits)
        if len(hits) < PAGE:
            return
        after = hits[-1]["sort"]

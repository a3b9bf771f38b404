"""The files of an index folder in the cluster, so that another front end can copy them. [I/O]

A front end keeps the forward index in its own memory. The files are in an index of their own, in
pieces; their hashes are in the manifest, which is one of them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ..manifest import MANIFEST
from ..model import SearchError
from .client import ClusterError, OpenSearchCluster
from .filling import FILES, current_of

PIECE = 2 << 20  # bytes of a file that one request takes
_PLAN = {
    "settings": {"number_of_shards": 1, "refresh_interval": "-1"},
    "mappings": {"dynamic": False, "_meta": {"veilsearch": 1}},
}


def send_files(
    cluster: OpenSearchCluster, name: str, folder: Path, manifest: Mapping[str, Any]
) -> None:
    """Put the files of `folder`, which `manifest` lists, next to the index `name`."""
    place = f"{name}{FILES}"
    settings = {**_PLAN["settings"], "number_of_replicas": cluster.place.replicas}
    cluster.ask("PUT", f"/{place}", {**_PLAN, "settings": settings}, safely=False)
    # The manifest is the last, so where it is, the files that it lists are there.
    for file in [*manifest["files"], MANIFEST]:
        with (folder / file).open("rb") as opened:
            for at, piece in enumerate(iter(partial(opened.read, PIECE), b"")):
                line = {"bytes": base64.b64encode(piece).decode()}
                _bulk(cluster, place, [{"index": {"_id": f"{file}:{at}"}}, line])
    cluster.ask("POST", f"/{place}/_flush")


def copy_files(cluster: OpenSearchCluster, alias: str, folder: Path) -> None:
    """Copy the files of the index that `alias` stands for into the empty `folder`."""
    name = current_of(cluster, alias)
    if name is None:
        raise SearchError(
            f"the cluster has no index {alias}; fill one with: veilsearch index CORPUS"
        )
    place = f"{name}{FILES}"
    _copy(cluster, place, MANIFEST, folder)
    for file in _listed(folder / MANIFEST):
        _copy(cluster, place, file, folder)


def _listed(path: Path) -> list[str]:
    """Return the names of files in the manifest at `path`; none of them may lead elsewhere."""
    with suppress(ValueError, LookupError, AttributeError):
        names = [str(name) for name in json.loads(path.read_text(encoding="utf-8"))["files"]]
        if not any(Path(name).is_absolute() or ".." in Path(name).parts for name in names):
            return names
    raise SearchError("the index's manifest in the cluster is damaged; fill the index again")


def _copy(cluster: OpenSearchCluster, place: str, file: str, folder: Path) -> None:
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    with (folder / file).open("wb") as opened:
        for piece in _pieces(cluster, place, file):
            opened.write(piece)


def _pieces(cluster: OpenSearchCluster, place: str, file: str) -> Iterator[bytes]:
    """Yield the pieces of `file`; the last is shorter than the others, or missing."""
    at, size = 0, PIECE
    while size == PIECE:
        body = {"ids": [f"{file}:{at}"]}
        path = f"/{place}/_mget?filter_path=docs.found,docs._source"
        try:
            answer = cluster.ask("POST", path, body)["docs"][0]
        except ClusterError as error:
            if error.status != 404:
                raise
            raise SearchError(f"{place} is not in the cluster; fill the index again") from error
        piece = base64.b64decode(answer["_source"]["bytes"]) if answer.get("found") else b""
        yield piece
        at, size = at + 1, len(piece)


def _bulk(cluster: OpenSearchCluster, place: str, lines: list[Any]) -> None:
    answer = cluster.ask("POST", f"/{place}/_bulk?filter_path=errors", lines)
    if answer["errors"]:
        raise SearchError(f"{place}: the cluster refuses a file of the index; see its log")

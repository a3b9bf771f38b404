"""What holds the searchable half of an index: Lucene in this process, or a cluster. [I/O]

The other half, the forward index, is in the folder in any case.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from .lucene import jvm
from .lucene.java import ANALYZERS
from .lucene.searching import LuceneIndex
from .manifest import REMEDY, read_manifest
from .model import Document, Index, SearchError, Whole
from .opensearch.client import ClusterError, OpenSearchCluster
from .opensearch.copying import copy_files, send_files
from .opensearch.filling import (
    OpenSearchWriter,
    alias_of,
    check_filled,
    create_index,
    current_of,
    finish,
    make_current,
    number_of,
)
from .opensearch.searching import OpenSearchIndex

_PLACE = "opensearch"  # in a manifest: the index in the cluster


class Scoring(NamedTuple):
    """BM25's settings; None: those that the index was built with."""

    k1: float | None = None
    b: float | None = None
    title_boost: float = 0.0


class FilledIndex(Index, Protocol):
    """An index that can be compared with a forward index."""

    size: int  # documents

    def numbers(self, rows: Sequence[int]) -> list[int]:
        """Return the numbers under which the documents of `rows`, which ascend, were added."""


class IndexWriter(Protocol):
    """What adds to an index that nobody searches yet."""

    def add(self, document: Document) -> None:
        """Add `document` under the next number."""

    def drop(self, number: int) -> None:
        """Drop the document that was added under `number`, now or before."""

    def commit(self, *, one_segment: bool) -> None:
        """Write all that waits, without what was dropped; `one_segment` merges."""

    def close(self) -> None:
        """Close the index; what was not committed does not stay."""


class NewBuild(NamedTuple):
    """A build of the index `name` that is to be made in `folder`."""

    folder: Path
    name: str
    facts: Mapping[str, Any]  # of its manifest: analyzer, k1 and b
    first: int  # the number of the first new document
    base: Path | None  # the folder of the build that it extends


class MadeBuild(NamedTuple):
    """A build in `folder`, whose rows are documents with these `numbers`."""

    folder: Path
    facts: Mapping[str, Any]  # of its manifest
    numbers: Whole


@dataclass(frozen=True)
class LuceneBackend:
    """Lucene in this process, whose Java has a memory of `heap`."""

    heap: str = "2g"
    name: ClassVar = "Lucene"

    def writer(self, new: NewBuild) -> tuple[IndexWriter, dict[str, Any]]:
        """Return a writer of `new`, after linking what its base has, and more for its manifest."""
        from .lucene.writing import LuceneWriter  # who only searches needs none of it

        if new.base:
            _link(new.base / "lucene", new.folder / "lucene")
        return LuceneWriter(new.folder / "lucene", new.first, language_of(new.facts)), {}

    def opened(self, build: MadeBuild, scoring: Scoring) -> FilledIndex:
        """Return Lucene's index of `build`."""
        k1, b, boost = scoring
        facts = build.facts
        k1, b = facts["k1"] if k1 is None else k1, facts["b"] if b is None else b
        return LuceneIndex(build.folder / "lucene", k1, b, boost, language_of(facts))

    def check(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        """Refuse the index in `folder` if its `manifest` says that it is in a cluster."""
        if _PLACE in manifest:
            raise SearchError(
                f'{folder}: this index is in OpenSearch; set backend = "opensearch" in [search] '
                f"of veilsearch.toml, or {REMEDY}"
            )

    def keep(self, _folder: Path, _manifest: Mapping[str, Any]) -> None:
        """Do nothing: the folder holds all."""

    def switch(self, _manifest: Mapping[str, Any]) -> None:
        """Do nothing with the manifest: the workspace says which folder is current."""


@dataclass(frozen=True)
class OpenSearchBackend:
    """A `cluster`; only words are analyzed in this process, whose Java has a memory of `heap`."""

    cluster: OpenSearchCluster
    heap: str = "2g"
    name: ClassVar = "OpenSearch"

    def writer(self, new: NewBuild) -> tuple[IndexWriter, dict[str, Any]]:
        """Return a writer of `new` in the cluster, and more for its manifest."""
        alias, facts = alias_of(self.cluster, new.name), new.facts
        base = read_manifest(new.base)[_PLACE]["index"] if new.base else None
        made = create_index(self.cluster, alias, (facts["k1"], facts["b"]), base)
        writer = OpenSearchWriter(self.cluster, made, new.first, language_of(facts))
        return writer, {_PLACE: {"index": made, "alias": alias}}

    def opened(self, build: MadeBuild, scoring: Scoring) -> FilledIndex:
        """Return the cluster's index of `build`; it has the k1 and b that it was filled with."""
        facts = build.facts
        for name in ("k1", "b"):
            given = getattr(scoring, name)
            if given is not None and given != facts[name]:
                raise SearchError(
                    f"{name}={given} is set, but the cluster's index has {name}={facts[name]}; "
                    "unset it, or fill the index again with: veilsearch index CORPUS"
                )
        place = facts[_PLACE]["index"]
        language = language_of(facts)
        return OpenSearchIndex(self.cluster, place, build.numbers, scoring.title_boost, language)

    def check(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        """Refuse the index in `folder` if the one of its `manifest` is not whole in the cluster."""
        if _PLACE not in manifest:
            raise SearchError(
                f"{folder}: this index is Lucene's, not in OpenSearch; {REMEDY}, or set "
                'backend = "lucene" in [search] of veilsearch.toml'
            )
        self.cluster.check_version()
        check_filled(self.cluster, manifest[_PLACE]["index"], manifest["fingerprint"])

    def keep(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        """Send the folder's files to the cluster, for front ends elsewhere, and end the fill."""
        name = manifest[_PLACE]["index"]
        send_files(self.cluster, name, folder, manifest)
        finish(self.cluster, name, {"fingerprint": manifest["fingerprint"]})

    def switch(self, manifest: Mapping[str, Any]) -> None:
        """Let the alias stand for the index of `manifest`."""
        place = manifest[_PLACE]
        make_current(self.cluster, place["alias"], place["index"])

    def place_of(self, manifest: Mapping[str, Any]) -> dict[str, str] | None:
        """Return index and alias of the index of `manifest`; None if it is Lucene's."""
        return manifest.get(_PLACE)

    def has_later(self, manifest: Mapping[str, Any]) -> bool:
        """Return whether the cluster has a later fill than that of `manifest`, or only another."""
        place = self.place_of(manifest)
        current = current_of(self.cluster, place["alias"]) if place else None
        if place is None or current is None:
            return False
        try:
            check_filled(self.cluster, place["index"], manifest["fingerprint"])
        except ClusterError:
            raise
        except SearchError:  # it is gone, and another was filled
            return True
        return number_of(current) > number_of(place["index"])

    def copy(self, name: str, folder: Path) -> None:
        """Copy the files of the index `name` that is current in the cluster into `folder`."""
        copy_files(self.cluster, alias_of(self.cluster, name), folder)


Backend = LuceneBackend | OpenSearchBackend
LUCENE, AS_BUILT = LuceneBackend(), Scoring()


def language_of(facts: Mapping[str, Any]) -> str:
    """Return the language by which the index of a manifest with these `facts` is analyzed."""
    for language, name in ANALYZERS.items():
        if facts["analyzer"] == name:
            return language
    raise SearchError(f"the index has the analyzer {facts['analyzer']}, unknown here; {REMEDY}")


def start_java(backend: Backend) -> None:
    """Start the Java of this process, which analyzes words whatever the `backend` is."""
    jvm.start(backend.heap)


def _link(old: Path, new: Path) -> None:
    """Link the files of `old` into `new`, or copy them if the disk has no links."""
    # Lucene never changes a file, so two indexes may share one.
    new.mkdir()
    for path in old.iterdir():
        try:
            os.link(path, new / path.name)
        except OSError:
            shutil.copyfile(path, new / path.name)

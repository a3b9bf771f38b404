"""Anserini's own way to search, which Pyserini calls, over an index of its own. [I/O]"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from index.build import READ
from index.lucene import jvm
from index.lucene.java import java, talking
from index.lucene.searching import LuceneIndex

from ..processes import process


def searching(searcher: LuceneIndex, folder: Path, size: int) -> Callable[[str], object]:
    """Return the call of Pyserini's LuceneSearcher.search, over the documents of `searcher`."""
    # Importing Pyserini itself needs torch. Its searcher hands the query to this class of Anserini,
    # which needs an index of its own form, and returns the hits as Java objects.
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    with (corpus / "documents.jsonl").open("w", encoding="utf-8") as file:
        for first in range(0, searcher.size, READ):
            for read in searcher.documents(range(first, min(first + READ, searcher.size))):
                document = {"id": read.id, "contents": f"{read.title} {read.text}"}
                file.write(json.dumps(document) + "\n")
    options = {
        "-collection": "JsonCollection",
        "-generator": "DefaultLuceneDocumentGenerator",
        "-input": str(corpus),
        "-index": str(folder / "index"),
        "-threads": str(os.cpu_count() or 1),
    }
    words = [word for option in options.items() for word in option]
    home = str(java("java.lang.System").getProperty("java.home"))
    command = [f"{home}/bin/java", "-Xmx2g", "-cp", str(jvm.jar())]
    process([*command, "io.anserini.index.IndexCollection", *words, "-storeRaw", "-optimize"])
    with talking(folder):
        simple = java("io.anserini.search.SimpleSearcher")(str(folder / "index"))

    def search(query: str) -> object:
        with jvm.talking:
            return simple.search(query, size)

    return search

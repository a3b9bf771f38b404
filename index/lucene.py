"""Searching an index with Lucene. [I/O]"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import jvm
from .hits import column
from .java import analyzer, directory, java, talking
from .model import Document, Pool, SearchError, clean

K1, B = 0.9, 0.4
HIGHEST_K1 = 1000  # Lucene counts in 32 bits: at 1e39 no score is a number
MOST_HITS = 10_000
MOST_TERMS = 1000  # Lucene refuses more than 1,024


def check_bm25(k1: float, b: float) -> None:
    """Refuse settings of BM25 that are out of range."""
    if not 0 <= k1 <= HIGHEST_K1:
        raise SearchError(f"k1={k1} must be from 0 to {HIGHEST_K1}")
    if not 0 <= b <= 1:
        raise SearchError(f"b={b} must be from 0 to 1")


class LuceneIndex:
    """An index, opened; safe to share between threads, which take turns."""

    def __init__(self, folder: Path, k1: float = K1, b: float = B) -> None:
        check_bm25(k1, b)
        self._folder = folder
        with talking(folder):
            opened = java("org.apache.lucene.index.DirectoryReader").open(directory(folder))
            self._reader = jvm.bridge().cast("org.apache.lucene.index.IndexReader", opened)
            self._searcher = java("org.apache.lucene.search.IndexSearcher")(self._reader)
            similarity = java("org.apache.lucene.search.similarities.BM25Similarity")
            self._searcher.setSimilarity(similarity(float(k1), float(b)))
            self._rows, self._scores = column("doc", "Integer"), column("score", "Float")
            self.size = int(self._reader.maxDoc())
        self._closed = False

    def pool(self, query: str, size: int) -> Pool:
        """Return the best documents for a query, at most `size`.

        A query is a bag of words: of more than 1,000 different words the first 1,000 count.
        """
        if not 1 <= size <= MOST_HITS:
            raise SearchError(f"size={size} must be from 1 to {MOST_HITS}")
        with self._open():
            found = self._searcher.search(_query(query), int(size))
            rows, scores = self._rows.apply(found), self._scores.apply(found)
        return Pool(np.array(rows, dtype=np.int64), np.array(scores, dtype=np.float32))

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Read the documents of some rows."""
        with self._open():
            stored = self._searcher.storedFields()
            records = [stored.document(int(row)).get("record") for row in rows]
        return [Document(*json.loads(record)) for record in records]

    def numbers(self, rows: Sequence[int]) -> list[int]:
        """Return the numbers under which the documents of ascending rows were added."""
        with self._open():
            values = java("org.apache.lucene.index.MultiDocValues")
            found = values.getNumericValues(self._reader, "number")
            return [found.longValue() if found.advanceExact(int(row)) else -1 for row in rows]

    def close(self) -> None:
        """Close the index once the call under way is done."""
        with talking(self._folder):
            self._closed = True
            self._reader.close()

    @contextmanager
    def _open(self) -> Iterator[None]:
        with talking(self._folder):
            if self._closed:
                raise SearchError(f"{self._folder}: this index was closed; open it again")
            yield


def _query(text: str) -> Any:
    text = clean(text)
    if len(text) <= MOST_TERMS:
        return _generator().buildQuery("contents", analyzer(), text)
    tokens = java("io.anserini.analysis.AnalyzerUtils").analyze(analyzer(), text).toArray()
    kept = set(list(dict.fromkeys(tokens))[:MOST_TERMS])
    text = " ".join(token for token in tokens if token in kept)
    return _generator().buildQuery("contents", _blanks(), text)


@cache
def _blanks() -> Any:
    return java("org.apache.lucene.analysis.core.WhitespaceAnalyzer")()


@cache
def _generator() -> Any:
    return java("io.anserini.search.query.BagOfWordsQueryGenerator")()

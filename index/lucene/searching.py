"""Search of an index with Lucene. [I/O]"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..limits import BLOCK, QueryClock, check_size, check_threads
from ..model import Document, Ints, Pool, ScorePart, SearchError, clean
from . import jvm
from .hits import Records, column, counting, ids_of, search_all
from .java import ENGLISH, directory, java, talking
from .query import MOST_CLAUSES, ParsedQuery, clauses, lucene_query, parse_query, terms_of

K1, B = 0.9, 0.4


class LuceneIndex:
    """An open index; threads can share it, and take turns."""

    def __init__(
        self,
        folder: Path,
        k1: float = K1,
        b: float = B,
        title_boost: float = 0.0,
        language: str = ENGLISH,
    ) -> None:
        self._folder, self._title_boost, self._language = folder, title_boost, language
        with talking(folder):
            opened = java("org.apache.lucene.index.DirectoryReader").open(directory(folder))
            # IndexSearcher has several constructors, so pyjnius needs the declared type.
            self._reader = jvm.bridge().cast("org.apache.lucene.index.IndexReader", opened)
            similarity = java("org.apache.lucene.search.similarities.BM25Similarity")
            self._similarity = similarity(float(k1), float(b))
            # Lucene's own limit is 1,024.
            java("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(MOST_CLAUSES)
            self._searcher = self._new_searcher()
            self._rows, self._scores = column("doc", "Integer"), column("score", "Float")
            self._count = counting(self._reader, "contents")
            self._records = Records(self._searcher, "record")
            self.size = int(self._reader.maxDoc())
        self._closed = False

    def _parsed(self, query: str, operators: bool) -> ParsedQuery:
        return parse_query(query, operators=operators, language=self._language)

    def pool(
        self, query: str, size: int, *, operators: bool = False, deadline: float | None = None
    ) -> Pool:
        """Return the best documents for `query`, at most `size`; raise TooSlow after `deadline`."""
        check_size(size)
        # The clock starts before the wait for a turn: the person waits then, too.
        clock = QueryClock(deadline, query)
        with clock.turn(jvm.talking), self._open():
            parsed = self._parsed(query, operators)
            top = self._search(lucene_query(parsed, self._title_boost), size, clock)
            return self._pool(top, parsed.cut)

    def pools(
        self, queries: Sequence[str], size: int, *, threads: int = 1, operators: bool = False
    ) -> Iterator[Pool]:
        """Yield the pool of each of `queries`; `threads` of Java's threads search at a time."""
        check_size(size)
        check_threads(threads)
        left = iter(queries)
        while block := list(islice(left, BLOCK)):
            with self._open():
                parsed = [self._parsed(query, operators) for query in block]
                wanted = [lucene_query(query, self._title_boost) for query in parsed]
                tops = search_all(self._searcher, wanted, size, threads)
                pools = [self._pool(top, one.cut) for top, one in zip(tops, parsed, strict=True)]
            yield from pools

    def explain(
        self,
        query: str,
        rows: Sequence[int],
        *,
        operators: bool = False,
        deadline: float | None = None,
    ) -> list[list[ScorePart]]:
        """Return for each of `rows` what each part of `query` adds to its score, in 32 bits."""
        clock = QueryClock(deadline, query)
        with clock.turn(jvm.talking), self._open():
            parsed = self._parsed(query, operators)
            whole = lucene_query(parsed, self._title_boost)
            parts: list[list[ScorePart]] = [[] for _ in rows]
            # A row that the whole query does not find may have some of its terms all the same.
            values = self._values(whole, rows, clock)
            hits = [at for at, value in enumerate(values) if value is not None]
            left = [rows[at] for at in hits]
            for part, wanted in clauses(parsed, self._title_boost):
                values = self._values(wanted, left, clock)
                for at, value in zip(hits, values, strict=True):
                    if value is not None:
                        parts[at].append(ScorePart(part.field, part.term, value))
            return parts

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Return the documents of `rows`."""
        with self._open():
            records = self._records.of([int(row) for row in rows])
        return [Document(*json.loads(record)) for record in records]

    def ids(self, rows: Ints) -> NDArray[np.object_]:
        """Return the ids of `rows`, without reading the documents."""
        # Doc values are read in ascending order.
        distinct, places = np.unique(rows, return_inverse=True)
        if distinct.size and not 0 <= distinct[0] <= distinct[-1] < self.size:
            raise SearchError(f"rows must be from 0 to {self.size - 1}")
        with self._open():
            values = java("org.apache.lucene.index.MultiDocValues")
            of_ids = values.getBinaryValues(self._reader, "id")
            if of_ids is None:
                raise SearchError(f"{self._folder}: the index has no ids; build it again")
            names = ids_of(of_ids, distinct.tolist())
        return np.array(names, dtype=np.object_)[places]

    def document_counts(self, words: Sequence[str]) -> list[int | None]:
        """Return how many documents have each of `words`; None for a stop word."""
        with self._open():
            counts = [
                [int(self._count.apply(term)) for term in terms_of(word, self._language)]
                for word in words
            ]
        return [max(own, default=None) for own in counts]

    def row_of(self, name: str) -> int | None:
        """Return the row of the document whose id is `name`; None if there is none."""
        with self._open():
            exact = java("org.apache.lucene.index.Term")("id", clean(name))
            query = java("org.apache.lucene.search.TermQuery")(exact)
            rows = list(self._rows.apply(self._searcher.search(query, 1)))
        return int(rows[0]) if rows else None

    def numbers(self, rows: Sequence[int]) -> list[int]:
        """Return the numbers under which the documents of `rows`, which ascend, were added."""
        with self._open():
            values = java("org.apache.lucene.index.MultiDocValues")
            number = values.getNumericValues(self._reader, "number")
            return [number.longValue() if number.advanceExact(int(row)) else -1 for row in rows]

    @property
    def searcher(self) -> Any:
        """Return Lucene's own IndexSearcher, for callers that hold `jvm.talking`."""
        return self._searcher

    def close(self) -> None:
        """Close the index as soon as the running call is done."""
        with talking(self._folder):
            self._closed = True
            self._reader.close()

    def _search(self, query: Any, size: int, clock: QueryClock) -> Any:
        if clock.deadline is None:
            return self._searcher.search(query, int(size))
        milliseconds = math.ceil(1000 * clock.left())
        timeout = java("org.apache.lucene.index.QueryTimeoutImpl")(milliseconds)
        self._searcher.setTimeout(timeout)
        try:
            top = self._searcher.search(query, int(size))
        finally:
            self._searcher.setTimeout(None)
        # A searcher never forgets that a search timed out, so a new one takes its place.
        if self._searcher.timedOut():
            self._searcher = self._new_searcher()
            raise clock.over()
        return top

    def _new_searcher(self) -> Any:
        searcher = java("org.apache.lucene.search.IndexSearcher")(self._reader)
        searcher.setSimilarity(self._similarity)
        return searcher

    def _pool(self, top: Any, cut: bool) -> Pool:
        rows, scores = self._rows.apply(top), self._scores.apply(top)
        return Pool(np.array(rows, dtype=np.int64), np.array(scores, dtype=np.float32), cut)

    def _values(self, query: Any, rows: Sequence[int], clock: QueryClock) -> Iterator[float | None]:
        """Yield the score of each row, None if the query does not find it, while there is time."""
        # IndexSearcher.explain takes a Query or a Weight; pyjnius must see which.
        query = jvm.bridge().cast("org.apache.lucene.search.Query", query)
        for row in rows:
            clock.left()
            explained = self._searcher.explain(query, int(row))
            yield float(explained.getValue().floatValue()) if explained.isMatch() else None

    @contextmanager
    def _open(self) -> Iterator[None]:
        with talking(self._folder):
            if self._closed:
                raise SearchError(f"{self._folder}: this index was closed; open it again")
            yield

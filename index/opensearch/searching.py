"""Search of an index that is in an OpenSearch cluster. [I/O]

The cluster gets the terms of a query, and numbers of documents: never a person, a profile or a row
of a release. Each answer is whole, or there is none. Analysis stays in this process's Java.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..limits import BLOCK, QueryClock, check_size, check_threads
from ..lucene import jvm
from ..lucene.java import ENGLISH, talking
from ..lucene.query import parse_query, parts_of, terms_of
from ..model import Document, Ints, Pool, ScorePart, SearchError, Whole, clean
from .client import (
    LATE,
    MANY,
    MOST_SENT,
    PATIENCE,
    READING,
    ClusterError,
    NoTimeLeft,
    OpenSearchCluster,
)
from .queries import among, named_parts, of_term, whole_query

# Statistics of all shards together, so that scores do not depend on the shard; no partial answer;
# nothing of a query is kept in the cluster. Errors come without their texts.
_SEARCH = (
    "search_type=dfs_query_then_fetch&allow_partial_search_results=false&request_cache=false"
    "&filter_path=error.type,error.root_cause.type,timed_out,_shards,hits"
)
_UNKEPT = {"allow_partial_search_results": False, "request_cache": False}  # of many searches
_BEST_FIRST = [{"_score": "desc"}, {"number": "asc"}]
_NO_FIELDS = {"_source": False, "stored_fields": "_none_", "track_total_hits": False}
_TOO_MANY = (MANY, "too_many_clauses")  # in all, in one part
MOST = 10_000  # documents that one request may name


class OpenSearchIndex:
    """An index in a cluster; threads can share it."""

    def __init__(
        self,
        cluster: OpenSearchCluster,
        name: str,
        numbers: Whole,
        title_boost: float = 0.0,
        language: str = ENGLISH,
    ) -> None:
        self._cluster, self._name, self._numbers = cluster, name, numbers
        self._title_boost, self._language = title_boost, language
        self._closed = False
        counted = self._ask("GET", f"/{name}/_count?filter_path=count,_shards")
        if not _is_whole(counted):
            raise self._partial()
        self.size = int(counted["count"])

    def pool(
        self, query: str, size: int, *, operators: bool = False, deadline: float | None = None
    ) -> Pool:
        """Return the best documents for `query`, at most `size`; raise TooSlow after `deadline`."""
        check_size(size)
        clock = QueryClock(deadline, query)
        with clock.turn(jvm.talking), talking(self._name):
            body, cut = self._body(query, size, operators)
        return self._pool(self._search(body, clock), cut)

    def pools(
        self, queries: Sequence[str], size: int, *, threads: int = 1, operators: bool = False
    ) -> Iterator[Pool]:
        """Yield the pool of each of `queries`; `threads` of them are asked at a time."""
        check_size(size)
        check_threads(threads)
        clock, left = QueryClock(None, ""), iter(queries)
        with ThreadPoolExecutor(threads) as asking:
            while block := list(islice(left, BLOCK)):
                with talking(self._name):
                    bodies = [self._body(query, size, operators) for query in block]
                answers = asking.map(lambda one: self._search(one[0], clock), bodies)
                for hits, (_, cut) in zip(answers, bodies, strict=True):
                    yield self._pool(hits, cut)

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
        with clock.turn(jvm.talking), talking(self._name):
            parsed = parse_query(query, operators=operators, language=self._language)
            whole = whole_query(parsed, self._title_boost)
            named = named_parts(parsed, self._title_boost)
            parts = list(parts_of(parsed, self._title_boost))
        numbers = self._numbers_of(np.asarray(rows, dtype=np.int64))
        wanted = among(whole, numbers)
        wanted["bool"]["should"] = named  # they say their own scores; the sum does not count
        body = {"size": len(rows), "query": wanted, "sort": _BEST_FIRST[1:], **_NO_FIELDS}
        hits = self._search(body, clock, "&include_named_queries_score=true") if numbers else []
        scores = {int(hit["sort"][0]): hit.get("matched_queries", {}) for hit in hits}
        return [
            [
                ScorePart(part.field, part.term, float(np.float32(own[str(at)])))
                for at, part in enumerate(parts)
                if str(at) in own
            ]
            for own in (scores.get(number, {}) for number in numbers)
        ]

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Return the documents of `rows`."""
        if not len(rows):
            return []
        ids = [str(number) for number in self._numbers_of(np.asarray(rows, dtype=np.int64))]
        # Not in real time: nothing is written any more, so the log of writes need not be looked at.
        path = f"/{self._name}/_mget?realtime=false&filter_path=docs.found,docs._source"
        answers = self._ask("POST", path, {"ids": ids}, seconds=READING)["docs"]
        if not all(answer.get("found") for answer in answers):
            raise SearchError(f"{self._name}: a document of the index is not in the cluster")
        return [Document(**answer["_source"]["record"]) for answer in answers]

    def ids(self, rows: Ints) -> NDArray[np.object_]:
        """Return the ids of `rows`, without reading the documents."""
        distinct, places = np.unique(rows, return_inverse=True)
        names = [
            hit["fields"]["docid"][0] for hit in self._hits_of(distinct, docvalue_fields=["docid"])
        ]
        if len(names) != distinct.size:
            raise SearchError(f"{self._name}: a document of the index is not in the cluster")
        return np.array(names, dtype=np.object_)[places]

    def document_counts(self, words: Sequence[str]) -> list[int | None]:
        """Return how many documents have each of `words`; None for a stop word."""
        with talking(self._name):
            terms = [terms_of(word, self._language) for word in words]
        known = sorted({term for own in terms for term in own})
        counts = dict(zip(known, self._counts_of(known), strict=True))
        return [max((counts[term] for term in own), default=None) for own in terms]

    def row_of(self, name: str) -> int | None:
        """Return the row of the document whose id is `name`; None if there is none."""
        exact = {"constant_score": {"filter": {"term": {"docid": clean(name)}}}}
        body = {"size": 1, "query": exact, "sort": _BEST_FIRST[1:], **_NO_FIELDS}
        hits = self._search(body)
        return int(self._rows([hit["sort"][0] for hit in hits])[0]) if hits else None

    def numbers(self, rows: Sequence[int]) -> list[int]:
        """Return the numbers of those documents of `rows`, which ascend, that the cluster has."""
        return [int(hit["sort"][0]) for hit in self._hits_of(np.asarray(rows, dtype=np.int64))]

    def close(self) -> None:
        """Refuse every later call."""
        self._closed = True
        self._cluster.close()

    def _body(self, query: str, size: int, operators: bool) -> tuple[dict[str, Any], bool]:
        """Return the request for the pool of `query`, and whether only its beginning is asked."""
        parsed = parse_query(query, operators=operators, language=self._language)
        wanted = whole_query(parsed, self._title_boost)
        return {"size": size, "query": wanted, "sort": _BEST_FIRST, **_NO_FIELDS}, parsed.cut

    def _pool(self, hits: list[dict[str, Any]], cut: bool) -> Pool:
        values = [hit["sort"] for hit in hits]
        scores = np.array([score for score, _ in values], dtype=np.float32)
        return Pool(self._rows([number for _, number in values]), scores, cut)

    def _rows(self, numbers: Sequence[int]) -> Ints:
        """Return the rows of the documents with these `numbers`."""
        wanted = np.array(numbers, dtype=np.int64)
        # A number that is not there has a place all the same, so what stands there is compared.
        rows = np.searchsorted(self._numbers, wanted)
        if rows.size and not np.array_equal(
            self._numbers[np.minimum(rows, self._numbers.size - 1)], wanted
        ):
            raise SearchError(f"{self._name}: the cluster has other documents than the folder")
        return rows

    def _numbers_of(self, rows: Ints) -> list[int]:
        if rows.size and not 0 <= rows.min() <= rows.max() < self._numbers.size:
            raise SearchError(f"rows must be from 0 to {self._numbers.size - 1}")
        return [int(number) for number in self._numbers[rows]]

    def _hits_of(self, rows: Ints, **more: Any) -> Iterator[dict[str, Any]]:
        """Yield what the cluster has of `rows`, which ascend, in their order."""
        for low in range(0, rows.size, MOST):
            numbers = self._numbers_of(rows[low : low + MOST])
            exact = {"constant_score": {"filter": {"terms": {"number": numbers}}}}
            body = {"size": len(numbers), "query": exact, "sort": _BEST_FIRST[1:], **_NO_FIELDS}
            yield from self._search({**body, **more})

    def _counts_of(self, terms: Sequence[str]) -> list[int]:
        """Return how many documents have each of `terms`."""
        if not terms:
            return []
        lines: list[dict[str, Any]] = []
        for term in terms:
            lines += [_UNKEPT, {"size": 0, "track_total_hits": True, "query": of_term(term)}]
        options = "filter_path=responses._shards,responses.timed_out,responses.hits.total"
        path = f"/{self._name}/_msearch?{options}"
        # Here a shard's fault is no fault of the whole answer, so no node was asked again.
        for _ in range(MOST_SENT):
            answers = self._ask("POST", path, lines, seconds=READING)["responses"]
            if all(map(_is_whole, answers)):
                return [int(answer["hits"]["total"]["value"]) for answer in answers]
        raise self._partial()

    def _search(
        self, body: dict[str, Any], clock: QueryClock | None = None, more: str = ""
    ) -> list[dict[str, Any]]:
        """Return the hits of a search, all that there are, within the time of `clock`."""
        seconds, timed = PATIENCE if clock else READING, clock and clock.deadline is not None
        if clock and timed:
            # The cluster stops by itself, too: else it would go on for a client that has left.
            seconds = clock.left()
            body = {**body, "timeout": f"{math.ceil(1000 * seconds)}ms"}
        try:
            path = f"/{self._name}/_search?{_SEARCH}{more}"
            answer = self._ask("POST", path, body, seconds=seconds)
        except ClusterError as error:
            late = isinstance(error, NoTimeLeft) or error.kind == LATE
            if clock and timed and late:
                raise clock.over() from error
            raise
        if clock and timed and answer["timed_out"]:
            raise clock.over()
        if not _is_whole(answer):
            raise self._partial()
        hits: list[dict[str, Any]] = answer["hits"].get("hits", [])
        return hits

    def _ask(self, *request: Any, **options: Any) -> Any:
        with self._open():
            return self._cluster.ask(*request, **options)

    def _partial(self) -> SearchError:
        return SearchError(f"{self._name}: a part of this index does not answer in the cluster")

    @contextmanager
    def _open(self) -> Iterator[None]:
        if self._closed:
            raise SearchError(f"{self._name}: this index was closed; open it again")
        try:
            yield
        except ClusterError as error:
            if error.status == 404:
                raise SearchError(
                    f"{self._name}: this index is no longer in the cluster; fill it again with: "
                    "veilsearch index CORPUS"
                ) from error
            if error.kind in _TOO_MANY:
                raise SearchError(
                    "the cluster takes fewer terms in a query than Lucene here; set "
                    "indices.query.bool.max_clause_count: 2100 in opensearch.yml"
                ) from error
            raise


def _is_whole(answer: dict[str, Any]) -> bool:
    """Return whether all shards gave all of their part of `answer`."""
    return not answer.get("timed_out") and answer.get("_shards", {}).get("failed") == 0

"""Loops in Java, composed of its method handles: hits to numpy, ids of rows, many queries. [I/O]

Each is one crossing from Python to Java for any number of hits, rows or queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import jvm
from .java import class_of, handles, java, lookup, signature

SCORE_DOC = "org.apache.lucene.search.ScoreDoc"
TOP_DOCS = "org.apache.lucene.search.TopDocs"
SEARCHER = "org.apache.lucene.search.IndexSearcher"
QUERY = "org.apache.lucene.search.Query"
BINARY = "org.apache.lucene.index.BinaryDocValues"
BYTES = "org.apache.lucene.util.BytesRef"
STORED = "org.apache.lucene.index.StoredFields"
DOCUMENT = "org.apache.lucene.document.Document"
ROWS = "java.nio.IntBuffer"
STREAM = "java.util.stream.Stream"
FUNCTION = "java.util.function.Function"
CALLABLE = "java.util.concurrent.Callable"


def column(field: str, box: str) -> Any:
    """Compile `found -> [hit.field for hit in found.scoreDocs]` in Java: one crossing for all."""
    do, hits = handles(), class_of(f"[L{SCORE_DOC};")
    getter = lookup().findGetter(class_of(SCORE_DOC), field, java(f"java.lang.{box}").TYPE)
    value = do.filterReturnValue(do.arrayElementGetter(hits), getter)
    listed = lookup().findGetter(class_of(TOP_DOCS), "scoreDocs", hits)
    each = _each(value, do.arrayLength(hits), f"[L{SCORE_DOC};", f"[{box[0]}")
    return _function(do.filterArguments(each, 0, listed))


def ids_of(values: Any, rows: Sequence[int]) -> list[str]:
    """Read the id of each row from its binary values, in one loop; the rows must ascend."""
    do = handles()
    there = lookup().findVirtual(class_of(BINARY), "advanceExact", signature("(I)Z"))
    read = lookup().findVirtual(class_of(BINARY), "binaryValue", signature(f"()L{_path(BYTES)};"))
    decode = lookup().findVirtual(
        class_of(BYTES), "utf8ToString", signature("()Ljava/lang/String;")
    )
    text = do.filterReturnValue(read.bindTo(values), decode)
    told = do.dropArguments(text, 0, java("java.lang.Boolean").TYPE)
    at = do.filterArguments(told, 0, there.bindTo(values))
    row = lookup().findVirtual(class_of(ROWS), "get", signature("(I)I"))
    count = lookup().findVirtual(class_of(ROWS), "limit", signature("()I"))
    value = do.filterReturnValue(row, at)
    found = _function(_each(value, count, ROWS, "[Ljava.lang.String;"))
    return list(found.apply(java(ROWS).wrap(list(rows))))


class Records:
    """A searcher's stored texts of one field, of any number of rows at once."""

    def __init__(self, searcher: Any, field: str) -> None:
        do = handles()
        stored = lookup().findVirtual(
            class_of(SEARCHER), "storedFields", signature(f"()L{_path(STORED)};")
        )
        read = lookup().findVirtual(
            class_of(STORED), "document", signature(f"(I)L{_path(DOCUMENT)};")
        )
        text = lookup().findVirtual(
            class_of(DOCUMENT), "get", signature("(Ljava/lang/String;)Ljava/lang/String;")
        )
        value = do.filterReturnValue(
            do.foldArguments(read, stored.bindTo(searcher)), do.insertArguments(text, 1, field)
        )
        row = lookup().findVirtual(class_of(ROWS), "get", signature("(I)I"))
        count = lookup().findVirtual(class_of(ROWS), "limit", signature("()I"))
        loop = _each(do.filterReturnValue(row, value), count, ROWS, "[Ljava.lang.String;")
        self._read, self._rows = _function(loop), java(ROWS)

    def of(self, rows: Sequence[int]) -> list[str]:
        """Read the texts of some rows."""
        return list(self._read.apply(self._rows.wrap(list(rows)))) if rows else []


def search_all(searcher: Any, queries: Sequence[Any], size: int, threads: int) -> list[Any]:
    """Search for all queries, in so many of Java's threads: each one's TopDocs."""
    kind = signature(f"(L{_path(QUERY)};I)L{_path(TOP_DOCS)};")
    search = lookup().findVirtual(class_of(SEARCHER), "search", kind).bindTo(searcher)
    asked = java("java.util.ArrayList")(len(queries) or 1)
    for query in queries:
        asked.add(query)
    function = _function(handles().insertArguments(search, 1, java("java.lang.Integer")(size)))
    answers = jvm.bridge().cast(STREAM, asked.parallelStream().map(function))
    # A parallel stream runs in the pool of the thread that ends it, so a task of ours ends it.
    end = lookup().findVirtual(class_of(STREAM), "toList", signature("()Ljava/util/List;"))
    work = _as(CALLABLE, end.bindTo(answers).asType(signature("()Ljava/lang/Object;")))
    pool = java("java.util.concurrent.ForkJoinPool")(threads)
    try:
        found = pool.submit(work).get()
        return [found.get(at) for at in range(len(queries))]
    finally:
        pool.shutdown()


def _each(value: Any, length: Any, source: str, target: str) -> Any:
    """Compile `source -> target` with the loop `target[at] = value(source, at)`."""
    do, values = handles(), class_of(target)
    store = do.collectArguments(do.arrayElementSetter(values), 2, value)
    row = signature(f"({_descriptor(target)}I{_descriptor(source)})V")
    store = do.permuteArguments(store, row, 0, 1, 2, 1)  # of values, at, source and at again
    same = do.dropArguments(
        do.identity(values), 1, java("java.lang.Integer").TYPE, class_of(source)
    )
    start = do.filterArguments(do.arrayConstructor(values), 0, length)
    return do.countedLoop(length, start, do.foldArguments(same, store))


def _function(handle: Any) -> Any:
    return _as(FUNCTION, handle.asType(signature("(Ljava/lang/Object;)Ljava/lang/Object;")))


def _as(interface: str, handle: Any) -> Any:
    proxies = java("java.lang.invoke.MethodHandleProxies")
    made = proxies.asInterfaceInstance(class_of(interface), handle)
    return jvm.bridge().cast(interface, made)


def _descriptor(name: str) -> str:
    return _path(name) if name.startswith("[") else f"L{_path(name)};"


def _path(name: str) -> str:
    return name.replace(".", "/")

"""Loops in Java, composed of its method handles: hits to numpy, ids of rows, many queries. [I/O]

Each is one call from Python to Java for any number of hits, rows or queries. To compose them takes
longer than one search, which asks for its hits one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

from ..brief import is_one_search
from . import jvm
from .java import class_of, handles, java, lookup, method, signature

SCORE_DOC = "org.apache.lucene.search.ScoreDoc"
TOP_DOCS = "org.apache.lucene.search.TopDocs"
SEARCHER = "org.apache.lucene.search.IndexSearcher"
QUERY = "org.apache.lucene.search.Query"
READER = "org.apache.lucene.index.IndexReader"
TERM = "org.apache.lucene.index.Term"
BINARY = "org.apache.lucene.index.BinaryDocValues"
BYTES = "org.apache.lucene.util.BytesRef"
STORED = "org.apache.lucene.index.StoredFields"
DOCUMENT = "org.apache.lucene.document.Document"
ROWS = "java.nio.IntBuffer"
STREAM = "java.util.stream.Stream"
FUNCTION = "java.util.function.Function"
OF_TWO = "java.util.function.BiFunction"
CALLABLE = "java.util.concurrent.Callable"


def column(field: str, box: str) -> Any:
    """Return the Java function `top -> [hit.field for hit in top.scoreDocs]`; `box` is its type."""
    if is_one_search():
        return SimpleNamespace(apply=lambda top: [getattr(hit, field) for hit in top.scoreDocs])
    do, hits = handles(), class_of(f"[L{SCORE_DOC};")
    getter = lookup().findGetter(class_of(SCORE_DOC), field, java(f"java.lang.{box}").TYPE)
    value = do.filterReturnValue(do.arrayElementGetter(hits), getter)
    listed = lookup().findGetter(class_of(TOP_DOCS), "scoreDocs", hits)
    loop = _loop(value, do.arrayLength(hits), f"[{box[0]}", f"[L{SCORE_DOC};")
    return as_function(do.filterArguments(loop, 0, listed))


def counting(reader: Any, field: str) -> Any:
    """Return the Java function from a term to how many documents of `reader` have it in `field`."""
    made = lookup().findConstructor(
        class_of(TERM), signature("(Ljava/lang/String;Ljava/lang/String;)V")
    )
    count = method(READER, "docFreq", f"(L{_path(TERM)};)I").bindTo(reader)
    return as_function(
        handles().filterReturnValue(handles().insertArguments(made, 0, field), count)
    )


def ids_of(values: Any, rows: Sequence[int]) -> list[str]:
    """Return the id of each of `rows`, which must ascend, from the binary `values` of the index."""
    return list(_reading_ids().apply(values, java(ROWS).wrap(list(rows))))


@cache
def _reading_ids() -> Any:
    """Return the Java function `values, rows -> ids`."""
    do, number = handles(), java("java.lang.Integer").TYPE
    there = method(BINARY, "advanceExact", "(I)Z")
    read = method(BINARY, "binaryValue", f"()L{_path(BYTES)};")
    text = do.filterReturnValue(read, method(BYTES, "utf8ToString", "()Ljava/lang/String;"))
    # A row's value is there only after advanceExact, whose boolean is dropped.
    after = do.dropArguments(text, 0, java("java.lang.Boolean").TYPE)
    at = do.foldArguments(do.dropArguments(after, 2, number), there)
    value = do.collectArguments(at, 1, method(ROWS, "get", "(I)I"))
    count = do.dropArguments(method(ROWS, "limit", "()I"), 0, class_of(BINARY))
    loop = _loop(value, count, "[Ljava.lang.String;", BINARY, ROWS)
    objects = "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"
    return _as(OF_TWO, loop.asType(signature(objects)))


class Records:
    """The stored texts of one field, read for any number of rows in one call."""

    def __init__(self, searcher: Any, field: str) -> None:
        self._rows = java(ROWS)
        if is_one_search():  # of an index without openings
            texts = searcher.storedFields()
            self._read = SimpleNamespace(
                apply=lambda rows: [texts.document(row).get(field) for row in rows.array()]
            )
            return
        do = handles()
        stored = method(SEARCHER, "storedFields", f"()L{_path(STORED)};")
        read = method(STORED, "document", f"(I)L{_path(DOCUMENT)};")
        text = method(DOCUMENT, "get", "(Ljava/lang/String;)Ljava/lang/String;")
        value = do.filterReturnValue(
            do.foldArguments(read, stored.bindTo(searcher)), do.insertArguments(text, 1, field)
        )
        row = method(ROWS, "get", "(I)I")
        count = method(ROWS, "limit", "()I")
        loop = _loop(do.filterReturnValue(row, value), count, "[Ljava.lang.String;", ROWS)
        self._read = as_function(loop)

    def of(self, rows: Sequence[int]) -> list[str]:
        """Return the texts of `rows`."""
        return list(self._read.apply(self._rows.wrap(list(rows)))) if rows else []


def search_all(searcher: Any, queries: Sequence[Any], size: int, threads: int) -> list[Any]:
    """Return the TopDocs of each of `queries`, searched in `threads` of Java's threads."""
    kind = f"(L{_path(QUERY)};I)L{_path(TOP_DOCS)};"
    search = method(SEARCHER, "search", kind).bindTo(searcher)
    listed = java("java.util.ArrayList")(len(queries) or 1)
    for query in queries:
        listed.add(query)
    function = as_function(handles().insertArguments(search, 1, java("java.lang.Integer")(size)))
    answers = jvm.bridge().cast(STREAM, listed.parallelStream().map(function))
    # A parallel stream runs in the thread pool of its last step, so that is a task of our pool.
    end = method(STREAM, "toList", "()Ljava/util/List;")
    work = _as(CALLABLE, end.bindTo(answers).asType(signature("()Ljava/lang/Object;")))
    pool = java("java.util.concurrent.ForkJoinPool")(threads)
    try:
        results = pool.submit(work).get()
        return [results.get(at) for at in range(len(queries))]
    finally:
        pool.shutdown()


def _loop(value: Any, length: Any, target: str, *sources: str) -> Any:
    """Return a method `sources -> target`, with the loop `target[at] = value(*sources, at)`."""
    do, values = handles(), class_of(target)
    store = do.collectArguments(do.arrayElementSetter(values), 2, value)
    row = signature(f"({_descriptor(target)}I{''.join(map(_descriptor, sources))})V")
    places = range(2, 2 + len(sources))
    store = do.permuteArguments(store, row, 0, 1, *places, 1)  # of values, at, sources, at again
    same = do.dropArguments(
        do.identity(values), 1, java("java.lang.Integer").TYPE, *map(class_of, sources)
    )
    start = do.collectArguments(do.arrayConstructor(values), 0, length)
    return do.countedLoop(length, start, do.foldArguments(same, store))


def as_function(handle: Any) -> Any:
    """Return the Java method `handle`, of one argument, as an object of Java's Function."""
    return _as(FUNCTION, handle.asType(signature("(Ljava/lang/Object;)Ljava/lang/Object;")))


def _as(interface: str, handle: Any) -> Any:
    proxies = java("java.lang.invoke.MethodHandleProxies")
    made = proxies.asInterfaceInstance(class_of(interface), handle)
    return jvm.bridge().cast(interface, made)


def _descriptor(name: str) -> str:
    return _path(name) if name.startswith("[") else f"L{_path(name)};"


def _path(name: str) -> str:
    return name.replace(".", "/")

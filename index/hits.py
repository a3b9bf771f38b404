"""Hits from Java to numpy in one crossing, by a loop composed of Java's method handles. [I/O]"""

from __future__ import annotations

from functools import cache
from typing import Any

from . import jvm
from .java import java

SCORE_DOC = "org.apache.lucene.search.ScoreDoc"
TOP_DOCS = "org.apache.lucene.search.TopDocs"
FUNCTION = "java.util.function.Function"


def column(field: str, box: str) -> Any:
    """Compile `found -> [hit.field for hit in found.scoreDocs]` in Java: one crossing for all."""
    lookup, hits = _handles().publicLookup(), _class(f"[L{SCORE_DOC};")
    getter = lookup.findGetter(_class(SCORE_DOC), field, java(f"java.lang.{box}").TYPE)
    listed = lookup.findGetter(_class(TOP_DOCS), "scoreDocs", hits)
    whole = _handles().filterArguments(_each(getter, hits, box[0]), 0, listed)
    made = java("java.lang.invoke.MethodHandleProxies").asInterfaceInstance(
        _class(FUNCTION), whole.asType(_signature("(Ljava/lang/Object;)Ljava/lang/Object;"))
    )
    return jvm.bridge().cast(FUNCTION, made)


def _each(getter: Any, hits: Any, kind: str) -> Any:
    """Compile `hits -> values` with the loop `values[at] = getter(hits[at])`."""
    handles, values = _handles(), _class(f"[{kind}")
    length = handles.arrayLength(hits)
    value = handles.filterReturnValue(handles.arrayElementGetter(hits), getter)
    store = handles.collectArguments(handles.arrayElementSetter(values), 2, value)
    row = _signature(f"([{kind}I[L{SCORE_DOC.replace('.', '/')};)V")
    store = handles.permuteArguments(store, row, 0, 1, 2, 1)  # of values, at, hits and at again
    same = handles.dropArguments(handles.identity(values), 1, java("java.lang.Integer").TYPE, hits)
    start = handles.filterArguments(handles.arrayConstructor(values), 0, length)
    return handles.countedLoop(length, start, handles.foldArguments(same, store))


def _signature(text: str) -> Any:
    return java("java.lang.invoke.MethodType").fromMethodDescriptorString(text, None)


def _class(name: str) -> Any:
    return java("java.lang.Class").forName(name)


@cache
def _handles() -> Any:
    return java("java.lang.invoke.MethodHandles")

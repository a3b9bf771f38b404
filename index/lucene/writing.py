"""Writing an index with Lucene. [I/O]

One thread adds documents, and only neighbours are merged. So documents keep their order, and
Lucene's document number is the row of the forward index. They cross to Java in blocks, as bytes: a
call for each field of each document takes longer than indexing it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..model import Document
from . import jvm
from .blocks import BlockWriter
from .java import (
    ENGLISH,
    analyzer,
    class_of,
    directory,
    handles,
    java,
    lookup,
    method,
    refuse_no_room,
    signature,
    talking,
)

BUFFER_SHARE = 8  # one part in 8 of Java's memory holds documents that are not written yet
WRITING = "the index can't be written"
REMEDY = "; check space and rights"
FIELD = "org.apache.lucene.document.Field"
BYTES = "org.apache.lucene.util.BytesRef"
BYTES_ = "Lorg/apache/lucene/util/BytesRef;"
STRING = "Ljava/lang/String;"
STEP = f"(I[{STRING}[{STRING}[{STRING}[{STRING}I)V"  # place, four columns, first number


class LuceneWriter(BlockWriter):
    """Adds to a new or old index in a folder; files are added and removed, never changed."""

    def __init__(self, folder: Path, first: int = 0, language: str = ENGLISH) -> None:
        super().__init__(first)
        self._folder = folder
        with talking(WRITING, REMEDY):
            config = java("org.apache.lucene.index.IndexWriterConfig")(analyzer(language))
            # This policy merges only neighbours, so documents keep their order.
            config.setMergePolicy(java("org.apache.lucene.index.LogDocMergePolicy")())
            config.setUseCompoundFile(False)  # saves a copy of each file
            # Merges in another thread would print their errors instead of raising them.
            serial = java("org.apache.lucene.index.SerialMergeScheduler")()
            config.setMergeScheduler(serial)
            memory = java("java.lang.Runtime").getRuntime().maxMemory()
            config.setRAMBufferSizeMB(memory / BUFFER_SHARE / 2**20)
            self._writer = java("org.apache.lucene.index.IndexWriter")(directory(folder), config)
            self._add_block = _block_adder(self._writer)

    def _finish(self, one_segment: bool) -> None:
        # Without dropped documents, so that statistics are right.
        with talking(WRITING, REMEDY):
            if self._dropped:
                values = java("org.apache.lucene.document.NumericDocValuesField")
                self._writer.deleteDocuments(values.newSlowSetQuery("number", *self._dropped))
            if one_segment:
                self._writer.forceMerge(1)
            elif self._dropped:
                self._writer.forceMergeDeletes(True)
            self._writer.commit()

    def close(self) -> None:
        """Close the index; what was not committed is rolled back."""
        try:
            self._thread.submit(jvm.detach)
        finally:
            # A thread whose start was interrupted would wait forever.
            super().close()
        with talking(WRITING, REMEDY):
            self._writer.rollback()
        (self._folder / "write.lock").unlink(missing_ok=True)

    def _prepared(self, block: list[Document], first: int) -> Callable[[], None]:
        return partial(self._add, block, first)

    def _add(self, block: list[Document], first: int) -> None:
        columns = (
            [f"{one.title} {one.text}" for one in block],
            [one.title for one in block],
            [one.id for one in block],
            [json.dumps((e.id, e.title, e.text, e.url), ensure_ascii=False) for e in block],
        )
        # NULs can separate texts, as documents are cleaned of them.
        packed = ["\0".join(column).encode() for column in columns]
        with talking(WRITING, REMEDY):
            refuse_no_room(2 * sum(map(len, packed)))
            arguments = java("java.util.ArrayList")()
            for column in packed:
                arguments.add(java(BYTES)(column))
            arguments.add(java("java.lang.Integer")(first))
            self._add_block.invokeWithArguments(arguments)


def _block_adder(writer: Any) -> Any:
    """Return a Java method `(contents, titles, ids, records, first) -> add a document for each`.

    It fills one document again and again: `contents` is title and text, `title` only the title (for
    its boost), `record` is what results show, and `number` counts from `first`.
    """
    hidden, document = java(f"{FIELD}$Store").NO, java("org.apache.lucene.document.Document")()
    fields = [
        java("org.apache.lucene.document.TextField")("contents", "", hidden),
        java("org.apache.lucene.document.TextField")("title", "", hidden),
        java("org.apache.lucene.document.StringField")("id", "", hidden),
        java("org.apache.lucene.document.StoredField")("record", ""),
    ]
    number = java("org.apache.lucene.document.NumericDocValuesField")("number", 0)
    name = java("org.apache.lucene.document.BinaryDocValuesField")("id", java(BYTES)())
    for field in (*fields, number, name):
        document.add(field)
    steps = [_set_text(field, column) for column, field in enumerate(fields)]
    kind = "org.apache.lucene.index.IndexWriter"
    added = method(kind, "addDocument", "(Ljava/lang/Iterable;)J")
    plain = added.bindTo(writer).bindTo(document).asType(signature("()V"))
    one = handles().dropArguments(plain, 0, signature(STEP).parameterList())
    for step in (*steps, _set_bytes(name, 2), _set_number(number)):
        one = handles().foldArguments(one, step)
    return _for_each(one)


def _set_text(field: Any, column: int) -> Any:
    """Return a Java method that sets a text field of the document from its column."""
    setter = method(FIELD, "setStringValue", f"({STRING})V")
    return _of_column(setter.bindTo(field), column)


def _set_bytes(field: Any, column: int) -> Any:
    """Return a Java method that sets a field of bytes of the document from its column."""
    setter = method(FIELD, "setBytesValue", f"({BYTES_})V")
    packed = lookup().findConstructor(class_of(BYTES), signature("(Ljava/lang/CharSequence;)V"))
    text = packed.asType(signature(f"({STRING}){BYTES_}"))
    return _of_column(handles().filterArguments(setter.bindTo(field), 0, text), column)


def _of_column(setter: Any, column: int) -> Any:
    """Return a Java method that gives `setter` the value of the document in `column`."""
    values = handles().arrayElementGetter(class_of("[Ljava.lang.String;"))
    value = handles().collectArguments(setter, 0, values)
    return handles().permuteArguments(value, signature(STEP), 1 + column, 0)


def _set_number(field: Any) -> Any:
    """Return a Java method that sets the document's number to the first one plus its place."""
    setter = method(FIELD, "setLongValue", "(J)V")
    plus = lookup().findStatic(class_of("java.lang.Math"), "addExact", signature("(JJ)J"))
    value = handles().collectArguments(setter.bindTo(field), 0, plus)
    return handles().permuteArguments(value.asType(signature("(II)V")), signature(STEP), 5, 0)


def _for_each(step: Any) -> Any:
    """Return a Java method that loops over the documents of four packed columns."""
    integer = java("java.lang.Integer")
    length = handles().arrayLength(class_of("[Ljava.lang.String;"))
    loop = handles().countedLoop(length, None, step)
    split = method("java.lang.String", "split", f"({STRING}I)[{STRING}")
    split = handles().insertArguments(split, 2, integer(-1))  # -1: keep empty texts at the end
    split = handles().insertArguments(split, 1, java("java.lang.String")("\0"))
    text = method(BYTES, "utf8ToString", f"(){STRING}")
    unpack = handles().filterReturnValue(text, split)
    return handles().filterArguments(loop, 0, unpack, unpack, unpack, unpack)

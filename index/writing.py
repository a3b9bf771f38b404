"""Writing an index with Lucene. [I/O]

Documents are numbered in the order in which they are added, by one thread and with merges of
neighbours only, so that Lucene's document number is the row of the forward index. They cross to
Java in blocks, as bytes: a call for each field of each document takes longer than indexing it.
"""

from __future__ import annotations

import json
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from . import jvm
from .java import analyzer, class_of, directory, handles, java, lookup, signature, talking
from .model import Document

BUFFER_SHARE = 8  # the part of Java's memory that holds documents not yet written
BLOCK = 1 << 20  # characters that cross to Java at a time
LEAST = 100  # characters that any document counts for
WAITING = 2  # blocks, so that memory stays flat

WRITING = "the index can't be written"
REMEDY = "; see to room and rights"
FIELD = "org.apache.lucene.document.Field"
BYTES = "org.apache.lucene.util.BytesRef"
BYTES_ = "Lorg/apache/lucene/util/BytesRef;"
STRING = "Ljava/lang/String;"
STEP = f"(I[{STRING}[{STRING}[{STRING}[{STRING}I)V"  # place, four columns, first number


class LuceneWriter:
    """Adds to an index in a folder, new or not: no file is changed, only added and removed."""

    def __init__(self, folder: Path, first: int = 0) -> None:
        self._folder = folder
        self._next = first
        self._block: list[Document] = []
        self._characters = 0
        self._dropped: list[int] = []
        self._thread = ThreadPoolExecutor(1)
        self._sent: deque[Future[None]] = deque()
        with talking(WRITING, REMEDY):
            config = java("org.apache.lucene.index.IndexWriterConfig")(analyzer())
            config.setMergePolicy(java("org.apache.lucene.index.LogDocMergePolicy")())
            config.setUseCompoundFile(False)  # a copy of each file less
            serial = java("org.apache.lucene.index.SerialMergeScheduler")()
            config.setMergeScheduler(serial)  # a thread of its own prints what fails in it
            memory = java("java.lang.Runtime").getRuntime().maxMemory()
            config.setRAMBufferSizeMB(memory / BUFFER_SHARE / 2**20)
            self._writer = java("org.apache.lucene.index.IndexWriter")(directory(folder), config)
            self._add_block = _block_adder(self._writer)

    def add(self, document: Document) -> None:
        """Add a document under the next number."""
        self._block.append(document)
        shown = len(document.id) + len(document.title) + len(document.text) + len(document.url)
        self._characters += LEAST + shown
        if self._characters >= BLOCK:
            self._send()

    def drop(self, number: int) -> None:
        """Leave out the document that was added under a number, now or before."""
        self._dropped.append(number)

    def commit(self, *, one_segment: bool) -> None:
        """Commit with what was dropped gone: statistics and order are those of a new index."""
        self._send()
        self._wait(0)
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
        """Let go of the index; what was not committed is rolled back."""
        try:
            for block in self._sent:
                block.cancel()
            self._thread.submit(jvm.detach)
        finally:
            self._thread.shutdown()  # else one whose start was interrupted waits forever
        with talking(WRITING, REMEDY):
            self._writer.rollback()
        (self._folder / "write.lock").unlink(missing_ok=True)

    def _send(self) -> None:
        """Hand a block to the thread that talks to Java, so that reading goes on meanwhile."""
        block, self._block, self._characters = self._block, [], 0
        if block:
            self._wait(WAITING)
            self._sent.append(self._thread.submit(self._add, block, self._next))
            self._next += len(block)

    def _wait(self, left: int) -> None:
        while len(self._sent) > left:
            self._sent.popleft().result()

    def _add(self, block: list[Document], first: int) -> None:
        columns = (
            [f"{each.title} {each.text}" for each in block],
            [each.title for each in block],
            [each.id for each in block],
            [_record(each) for each in block],
        )
        # No text holds a NUL: documents are cleaned.
        packed = ["\0".join(column).encode() for column in columns]
        with talking(WRITING, REMEDY):
            arguments = java("java.util.ArrayList")()
            for column in packed:
                arguments.add(java(BYTES)(column))
            arguments.add(java("java.lang.Integer")(first))
            self._add_block.invokeWithArguments(arguments)


def _record(document: Document) -> str:
    shown = (document.id, document.title, document.text, document.url)
    return json.dumps(shown, ensure_ascii=False)


def _block_adder(writer: Any) -> Any:
    """Compile `(contents, titles, ids, records, first) -> add a document for each` in Java.

    One document is filled again and again: `contents` is title and text, `title` the title alone
    (for its boost), `record` what is shown, `number` counts from `first`.
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
    one = _add_one(writer, document)
    for step in (*steps, _set_bytes(name, 2), _set_number(number)):
        one = handles().foldArguments(one, step)
    return _for_each(one)


def _add_one(writer: Any, document: Any) -> Any:
    """Compile adding the filled document."""
    kind = class_of("org.apache.lucene.index.IndexWriter")
    added = signature("(Ljava/lang/Iterable;)J")
    method = lookup().findVirtual(kind, "addDocument", added).bindTo(writer).bindTo(document)
    plain = method.asType(signature("()V"))
    return handles().dropArguments(plain, 0, signature(STEP).parameterList())


def _set_text(field: Any, column: int) -> Any:
    """Compile setting a field to its column's value for the document."""
    setter = lookup().findVirtual(class_of(FIELD), "setStringValue", signature(f"({STRING})V"))
    return _of_column(setter.bindTo(field), column)


def _set_bytes(field: Any, column: int) -> Any:
    """Compile setting a field to its column's value as bytes."""
    setter = lookup().findVirtual(class_of(FIELD), "setBytesValue", signature(f"({BYTES_})V"))
    packed = lookup().findConstructor(class_of(BYTES), signature("(Ljava/lang/CharSequence;)V"))
    text = packed.asType(signature(f"({STRING}){BYTES_}"))
    return _of_column(handles().filterArguments(setter.bindTo(field), 0, text), column)


def _of_column(setter: Any, column: int) -> Any:
    """Compile handing a setter its column's value for the document."""
    values = handles().arrayElementGetter(class_of("[Ljava.lang.String;"))
    value = handles().collectArguments(setter, 0, values)
    return handles().permuteArguments(value, signature(STEP), 1 + column, 0)


def _set_number(field: Any) -> Any:
    """Compile setting the document's number to the first one plus its place."""
    setter = lookup().findVirtual(class_of(FIELD), "setLongValue", signature("(J)V"))
    plus = lookup().findStatic(class_of("java.lang.Math"), "addExact", signature("(JJ)J"))
    value = handles().collectArguments(setter.bindTo(field), 0, plus)
    return handles().permuteArguments(value.asType(signature("(II)V")), signature(STEP), 5, 0)


def _for_each(step: Any) -> Any:
    """Compile a loop over the documents of four packed columns."""
    integer = java("java.lang.Integer")
    length = handles().arrayLength(class_of("[Ljava.lang.String;"))
    loop = handles().countedLoop(length, None, step)
    split = lookup().findVirtual(
        class_of("java.lang.String"), "split", signature(f"({STRING}I)[{STRING}")
    )
    split = handles().insertArguments(split, 2, integer(-1))  # -1: keep empty texts at the end
    split = handles().insertArguments(split, 1, java("java.lang.String")("\0"))
    text = lookup().findVirtual(class_of(BYTES), "utf8ToString", signature(f"(){STRING}"))
    unpack = handles().filterReturnValue(text, split)
    return handles().filterArguments(loop, 0, unpack, unpack, unpack, unpack)

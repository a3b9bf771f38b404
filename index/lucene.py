"""Lucene: write an index, search it; nothing else of ours calls Lucene's classes. [I/O]

Documents are numbered in the order in which they are added, by one thread and with merges of
neighbours only, so that Lucene's document number is the row of the forward index.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from . import jvm
from .model import Document, Pool, SearchError, clean

ANALYZER = "DefaultEnglishAnalyzer, porter"
K1, B = 0.9, 0.4
HIGHEST_K1 = 1000  # Lucene counts in 32 bits: at 1e39 no score is a number
MOST_HITS = 10_000
MOST_TERMS = 1000  # Lucene refuses more than 1,024
BUFFER_SHARE = 8  # the part of Java's memory that holds documents not yet written

WRITING = "the index can't be written"

SCORE_DOC = "org.apache.lucene.search.ScoreDoc"
TOP_DOCS = "org.apache.lucene.search.TopDocs"
FUNCTION = "java.util.function.Function"


def check_bm25(k1: float, b: float) -> None:
    """Refuse settings of BM25 that are out of range."""
    if not 0 <= k1 <= HIGHEST_K1:
        raise SearchError(f"k1={k1} must be from 0 to {HIGHEST_K1}")
    if not 0 <= b <= 1:
        raise SearchError(f"b={b} must be from 0 to 1")


class LuceneWriter:
    """Writes an index into a new folder: commits when its block ends well, else rolls back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with _talking(WRITING):
            config = _java("org.apache.lucene.index.IndexWriterConfig")(_analyzer())
            config.setMergePolicy(_java("org.apache.lucene.index.LogDocMergePolicy")())
            memory = _java("java.lang.Runtime").getRuntime().maxMemory()
            config.setRAMBufferSizeMB(memory / BUFFER_SHARE / 2**20)
            self._writer = _java("org.apache.lucene.index.IndexWriter")(_directory(folder), config)
            self._row = _Row()

    def add(self, document: Document, number: int, *, replaces: bool = False) -> None:
        """Add a document; if it replaces the one with its id, that one goes."""
        with _talking(WRITING):
            filled = self._row.fill(document, number)
            if replaces:
                self._writer.updateDocument(self._row.key(document), filled)
            else:
                self._writer.addDocument(filled)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        with _talking(WRITING):
            try:
                if failed is None:
                    self._writer.forceMerge(1)
                    self._writer.commit()
            finally:
                self._writer.rollback()  # closes; what was committed stays
        (self._folder / "write.lock").unlink(missing_ok=True)


class _Row:
    """One Lucene document, filled again and again."""

    def __init__(self) -> None:
        kind = _java("org.apache.lucene.document.FieldType")()
        kind.setIndexOptions(_java("org.apache.lucene.index.IndexOptions").DOCS_AND_FREQS)
        hidden = _java("org.apache.lucene.document.Field$Store").NO
        empty = jvm.bridge().cast("java.lang.CharSequence", _java("java.lang.String")(""))
        self._contents = _java("org.apache.lucene.document.Field")("contents", empty, kind)
        self._id = _java("org.apache.lucene.document.StringField")("id", "", hidden)
        self._number = _java("org.apache.lucene.document.NumericDocValuesField")("number", 0)
        self._record = _java("org.apache.lucene.document.StoredField")("record", "")
        self._term = _java("org.apache.lucene.index.Term")
        self._document = _java("org.apache.lucene.document.Document")()
        for field in (self._contents, self._id, self._number, self._record):
            self._document.add(field)

    def fill(self, document: Document, number: int) -> Any:
        self._contents.setStringValue(f"{document.title} {document.text}")
        self._id.setStringValue(document.id)
        self._number.setLongValue(number)
        shown = (document.id, document.title, document.text, document.url)
        self._record.setStringValue(json.dumps(shown, ensure_ascii=False))
        return self._document

    def key(self, document: Document) -> Any:
        return self._term("id", document.id)


class LuceneIndex:
    """An index, opened; safe to share between threads, which take turns."""

    def __init__(self, folder: Path, k1: float = K1, b: float = B) -> None:
        check_bm25(k1, b)
        self._folder = folder
        with _talking(folder):
            opened = _java("org.apache.lucene.index.DirectoryReader").open(_directory(folder))
            self._reader = jvm.bridge().cast("org.apache.lucene.index.IndexReader", opened)
            self._searcher = _java("org.apache.lucene.search.IndexSearcher")(self._reader)
            similarity = _java("org.apache.lucene.search.similarities.BM25Similarity")
            self._searcher.setSimilarity(similarity(float(k1), float(b)))
            self._rows, self._scores = _column("doc", "Integer"), _column("score", "Float")
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
            values = _java("org.apache.lucene.index.MultiDocValues")
            found = values.getNumericValues(self._reader, "number")
            return [found.longValue() if found.advanceExact(int(row)) else -1 for row in rows]

    def close(self) -> None:
        """Close the index once the call under way is done."""
        with _talking(self._folder):
            self._closed = True
            self._reader.close()

    @contextmanager
    def _open(self) -> Iterator[None]:
        with _talking(self._folder):
            if self._closed:
                raise SearchError(f"{self._folder}: this index was closed; open it again")
            yield


def _query(text: str) -> Any:
    text = clean(text)
    if len(text) <= MOST_TERMS:
        return _generator().buildQuery("contents", _analyzer(), text)
    tokens = _java("io.anserini.analysis.AnalyzerUtils").analyze(_analyzer(), text).toArray()
    kept = set(list(dict.fromkeys(tokens))[:MOST_TERMS])
    text = " ".join(token for token in tokens if token in kept)
    return _generator().buildQuery("contents", _blanks(), text)


def _column(field: str, box: str) -> Any:
    """Compile `found -> [hit.field for hit in found.scoreDocs]` in Java: one crossing for all."""
    lookup, hits = _handles().publicLookup(), _class(f"[L{SCORE_DOC};")
    getter = lookup.findGetter(_class(SCORE_DOC), field, _java(f"java.lang.{box}").TYPE)
    listed = lookup.findGetter(_class(TOP_DOCS), "scoreDocs", hits)
    whole = _handles().filterArguments(_each(getter, hits, box[0]), 0, listed)
    made = _java("java.lang.invoke.MethodHandleProxies").asInterfaceInstance(
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
    same = handles.dropArguments(handles.identity(values), 1, _java("java.lang.Integer").TYPE, hits)
    start = handles.filterArguments(handles.arrayConstructor(values), 0, length)
    return handles.countedLoop(length, start, handles.foldArguments(same, store))


def _signature(text: str) -> Any:
    return _java("java.lang.invoke.MethodType").fromMethodDescriptorString(text, None)


def _class(name: str) -> Any:
    return _java("java.lang.Class").forName(name)


@cache
def _handles() -> Any:
    return _java("java.lang.invoke.MethodHandles")


@cache
def _java(name: str) -> Any:
    return jvm.bridge().autoclass(name)


@cache
def _analyzer() -> Any:
    return _java("io.anserini.analysis.DefaultEnglishAnalyzer").newStemmingInstance("porter")


@cache
def _blanks() -> Any:
    return _java("org.apache.lucene.analysis.core.WhitespaceAnalyzer")()


@cache
def _generator() -> Any:
    return _java("io.anserini.search.query.BagOfWordsQueryGenerator")()


def _directory(folder: Path) -> Any:
    path = _java("java.nio.file.Paths").get(str(folder.resolve()))
    return _java("org.apache.lucene.store.MMapDirectory")(path)


@contextmanager
def _talking(subject: object) -> Iterator[None]:
    """Talk to Java, one thread at a time; what it raises becomes one plain line."""
    with jvm.talking:
        try:
            yield
        except (jvm.bridge().JavaException, UnicodeError) as error:
            said = str(getattr(error, "innermessage", None) or error).split("\n")[0]
            raise SearchError(f"{subject}: Lucene says: {said}") from error

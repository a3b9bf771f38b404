"""The forward index: documents x terms as memory-mapped arrays, and cosines over them. [I/O]

Columns are numbered by falling document frequency, so the terms most documents have lie close
together in memory. A row's number is Lucene's document number.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .model import SearchError
from .products import row_products

Analyse = Callable[[str], Iterable[str]]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ARRAYS = ("numbers", "indptr", "indices", "tf", "df", "norms_tf", "norms_tfidf")
TERMS = "terms.json"
VECTORS = ("tfidf", "tf")
BLOCK = 1 << 15  # rows whose norms are worked out at a time
DIGITS = 12


class ForwardWriter:
    """Gathers documents' term counts in order: 8 bytes for each document and term."""

    def __init__(self, analyse: Analyse) -> None:
        self._analyse = analyse
        self._column = defaultdict[str, int](count().__next__)
        self._columns = array("i")
        self._tf = array("i")
        self._ends = array("q", [0])
        self._dropped = array("q")

    def add(self, text: str) -> None:
        """Count the next document's terms."""
        counts = Counter(self._analyse(text))
        self._columns.extend(map(self._column.__getitem__, counts))
        self._tf.extend(counts.values())
        self._ends.append(len(self._tf))

    def drop(self, number: int) -> None:
        """Leave out the document that was added as the given number, counted from 0."""
        self._dropped.append(number)

    def write(self, folder: Path) -> int:
        """Write the arrays and the terms into a new folder; return the number of terms."""
        counts, numbers = self._kept()
        df = np.bincount(counts.indices, minlength=counts.shape[1])
        order = np.argsort(-df, kind="stable")[: np.count_nonzero(df)]
        place = np.zeros(df.size, dtype=np.int32)
        place[order] = np.arange(order.size, dtype=np.int32)
        terms = list(self._column)
        arrays: dict[str, NDArray[Any]] = {
            "numbers": numbers,
            "indptr": counts.indptr.astype(np.int64),
            "indices": place[counts.indices].astype(np.min_scalar_type(order.size)),
            "tf": counts.data.astype(np.min_scalar_type(counts.data.max(initial=0))),
            "df": df[order],
            "norms_tf": _norms(counts, np.ones(df.size)),
            "norms_tfidf": _norms(counts, _idf(numbers.size, np.maximum(df, 1))),
        }
        folder.mkdir()
        for name in ARRAYS:
            np.save(folder / f"{name}.npy", arrays[name])
        (folder / TERMS).write_text(json.dumps([terms[column] for column in order]))
        return int(order.size)

    def _kept(self) -> tuple[csr_matrix, Ints]:
        """Return the counts without the documents that were dropped, and their numbers."""
        kept = np.ones(len(self._ends) - 1, dtype=np.bool_)
        kept[np.asarray(self._dropped)] = False
        parts = (np.asarray(self._tf), np.asarray(self._columns), np.asarray(self._ends))
        counts = csr_matrix(parts, shape=(kept.size, len(self._column)))
        return counts if kept.all() else counts[kept], np.flatnonzero(kept)


class Forward:
    """A forward index, opened; safe to share between threads."""

    def __init__(self, arrays: dict[str, NDArray[Any]], terms: list[str]) -> None:
        self.terms = terms
        self.numbers = arrays["numbers"]
        self.documents = int(self.numbers.size)
        self._parts = (arrays["indptr"], arrays["indices"], arrays["tf"])
        if not self._parts_fit():
            raise ValueError("the arrays do not fit together")
        self._norms = {name: arrays[f"norms_{name}"] for name in VECTORS}
        self._idf = _idf(self.documents, arrays["df"])
        self._column = {term: column for column, term in enumerate(terms)}
        self._columns = lru_cache(1024)(self._number)  # a person asks again with the same terms

    @classmethod
    def open(cls, folder: Path) -> Forward:
        """Map the arrays of a folder into memory and read its terms."""
        try:
            arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
            plain = {name: mapped.view(np.ndarray) for name, mapped in arrays.items()}
            return cls(plain, json.loads((folder / TERMS).read_text()))
        except (OSError, ValueError, EOFError) as error:
            raise SearchError(f"{folder}: broken forward index; build the index again") from error

    def _parts_fit(self) -> bool:
        """Tell whether all stays inside the arrays: the compiled loop checks nothing."""
        indptr, indices, tf = self._parts
        ends = indptr.size == self.documents + 1 and indptr[0] == 0
        inside = indices.size == tf.size == indptr[-1] and bool(np.all(np.diff(indptr) >= 0))
        known = not indices.size or 0 <= indices.min() <= indices.max() < len(self.terms)
        return bool(ends and inside and known)

    def columns(self, terms: Sequence[str]) -> Ints:
        """Number the terms, -1 where no document has one."""
        return self._columns(tuple(terms))

    def _number(self, terms: tuple[str, ...]) -> Ints:
        numbers = np.array([self._column.get(term, -1) for term in terms], dtype=np.int64)
        numbers.flags.writeable = False
        return numbers

    def cosines(self, rows: Ints, columns: Ints, weights: Floats, vectors: str = "tfidf") -> Floats:
        """Compare a profile with the documents of some rows, rounded to 12 decimals.

        Columns must differ but for -1, a term no document has: it counts for the profile's length
        alone. A document's vector is tf or tf * ln(1 + documents / df), over all its terms.
        """
        if vectors not in VECTORS:
            raise SearchError(f"vectors={vectors} must be one of {', '.join(VECTORS)}")
        weights = weights / (np.abs(weights).max(initial=0) or 1)  # lest squares overflow
        known = columns >= 0
        profile = np.zeros(len(self.terms))
        profile[columns[known]] = weights[known]
        if vectors == "tfidf":
            profile[columns[known]] *= self._idf[columns[known]]
        rows = np.asarray(rows, dtype=np.int64)
        if rows.size and not 0 <= rows.min() <= rows.max() < self.documents:
            raise SearchError(f"rows must be from 0 to {self.documents - 1}")
        lengths = self._norms[vectors][rows] * np.linalg.norm(weights)
        products = row_products(rows, *self._parts, profile)
        cosines = np.divide(products, lengths, out=np.zeros(len(rows)), where=lengths > 0)
        rounded: Floats = np.round(cosines, DIGITS)
        return rounded


def _idf(documents: int, df: NDArray[Any]) -> Floats:
    return np.log1p(documents / df)


def _norms(counts: csr_matrix, weights: Floats) -> Floats:
    norms = np.empty(counts.shape[0])
    for low in range(0, norms.size, BLOCK):
        block = counts[low : low + BLOCK].astype(np.float64)
        norms[low : low + BLOCK] = np.sqrt(block.power(2) @ weights**2)
    return norms

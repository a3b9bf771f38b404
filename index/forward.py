"""The forward index: documents x terms as memory-mapped arrays, and cosines over them. [I/O]

Columns are numbered by falling document frequency, so the terms most documents have lie close
together in memory. A row is Lucene's document; `numbers` holds the number it was added under.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .model import SearchError
from .products import row_parts, row_products

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ARRAYS = ("numbers", "indptr", "indices", "tf", "df", "norms_tf", "norms_tfidf")
TERMS = "terms.json"
VECTORS = ("tfidf", "tf")
DIGITS = 12


class Target(NamedTuple):
    """A profile made ready for products with documents."""

    size: int  # all its terms
    places: Ints  # of those that documents have, among all
    columns: Ints  # and their columns
    factors: Floats  # what such a term's count in a document is times
    length: float
    vectors: str


class Vectors(NamedTuple):
    """Documents' vectors, whole: what a cosine is made of where no profile can come."""

    terms: list[str]  # those the documents have, each once
    weights: Floats  # what a term's count in a document is times
    ends: Ints  # where each document's part of the next two ends
    places: Ints  # numbers of terms, in the order in which products are summed
    counts: Ints
    norms: Floats  # one a document, over all its terms


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
        self._idf = idf(self.documents, arrays["df"])
        column = {term: at for at, term in enumerate(terms)}
        self._columns = lru_cache(1024)(partial(_numbers, column))  # people ask again

    @classmethod
    def open(cls, folder: Path) -> Forward:
        """Map the arrays of a folder into memory and read its terms."""
        try:
            arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
            plain = {name: mapped.view(np.ndarray) for name, mapped in arrays.items()}
            return cls(plain, json.loads((folder / TERMS).read_text()))
        except (FileNotFoundError, ValueError, EOFError) as error:
            raise SearchError(f"{folder}: broken forward index; build the index again") from error
        except OSError as error:
            said = error.strerror or error
            raise SearchError(f"{folder} can't be opened ({said}); see to its rights") from error

    @property
    def counts(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return where each row starts, its columns, and its counts of them."""
        return self._parts

    def weights_of(self, row: int) -> tuple[Ints, Floats]:
        """Return a document's vector over terms, scaled to length 1: columns and weights."""
        indptr, indices, tf = self._parts
        part = slice(int(indptr[row]), int(indptr[row + 1]))
        columns: Ints = indices[part].astype(np.int64)
        weights: Floats = tf[part] * self._idf[columns]
        return columns, weights / (np.linalg.norm(weights) or 1)

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

    def target(self, columns: Ints, weights: Floats, vectors: str = "tfidf") -> Target:
        """Prepare a profile to be compared with documents.

        Columns must differ but for -1, a term no document has: it counts for the profile's length
        alone. A document's vector is tf or tf * ln(1 + documents / df), over all its terms.
        """
        if vectors not in VECTORS:
            raise SearchError(f"vectors={vectors} must be one of {', '.join(VECTORS)}")
        weights = weights / (np.abs(weights).max(initial=0) or 1)  # lest squares overflow
        places: Ints = np.flatnonzero(columns >= 0)
        known = columns[places]
        factors = weights[places] * (1.0 if vectors == "tf" else self._idf[known])
        return Target(len(columns), places, known, factors, length_of(weights), vectors)

    def cosines(self, rows: Ints, target: Target) -> Floats:
        """Compare a profile with the documents of some rows, rounded to 12 decimals."""
        profile = np.zeros(len(self.terms))
        profile[target.columns] = target.factors
        rows = self._rows(rows)
        lengths: Floats = self._norms[target.vectors][rows] * target.length
        products = row_products(rows, *self._parts, profile)
        cosines = np.zeros(len(rows))
        np.divide(products, lengths, out=cosines, where=lengths > 0)
        return np.round(cosines, DIGITS)

    def contributions(self, rows: Ints, target: Target) -> Floats:
        """Return each term's share of the cosines, rows x terms: a row's sum is its cosine."""
        places = np.full(len(self.terms), -1)
        places[target.columns] = target.places
        factors = np.zeros(target.size)
        factors[target.places] = target.factors
        rows = self._rows(rows)
        lengths = self._norms[target.vectors][rows] * target.length
        parts = row_parts(rows, *self._parts, places, factors)
        parts /= np.where(lengths > 0, lengths, 1)[:, None]
        return parts

    def vectors(self, rows: Ints, vectors: str = "tfidf") -> Vectors:
        """Return the vectors of some rows, from which anybody can compute the same cosines."""
        indptr, indices, tf = self._parts
        rows = self._rows(rows)
        none = np.empty(0, dtype=np.int64)  # else there would be nothing to join
        parts = [slice(int(indptr[row]), int(indptr[row + 1])) for row in rows.tolist()]
        columns = np.concatenate([none, *(indices[part] for part in parts)])
        known, places = np.unique(columns, return_inverse=True)
        return Vectors(
            terms=[self.terms[column] for column in known.tolist()],
            weights=np.ones(known.size) if vectors == "tf" else self._idf[known],
            ends=np.cumsum([part.stop - part.start for part in parts], dtype=np.int64),
            places=places,
            counts=np.concatenate([none, *(tf[part] for part in parts)]),
            norms=self._norms[vectors][rows],
        )

    def _rows(self, rows: Ints) -> Ints:
        rows = np.asarray(rows, dtype=np.int64)
        if rows.size and not 0 <= rows.min() <= rows.max() < self.documents:
            raise SearchError(f"rows must be from 0 to {self.documents - 1}")
        return rows


def _numbers(column: Mapping[str, int], terms: tuple[str, ...]) -> Ints:
    numbers = np.array([column.get(term, -1) for term in terms], dtype=np.int64)
    numbers.flags.writeable = False
    return numbers


def length_of(weights: Floats) -> float:
    """Return a profile's length: added from the smallest square up, so all machines get one."""
    return (
        float(np.sqrt(np.add.accumulate(np.sort(np.square(weights)))[-1])) if weights.size else 0.0
    )


def idf(documents: int, df: NDArray[Any]) -> Floats:
    """Return the terms' weights in documents' vectors."""
    return np.log1p(documents / df)

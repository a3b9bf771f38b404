"""The forward index: documents x terms as memory-mapped arrays, and cosines over them. [I/O]

Columns are numbered by falling document frequency, so the most frequent terms lie close together in
memory. A row is Lucene's document; `numbers` holds the number it was added under.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from loops.loop import uncompiled

from ..brief import is_one_search
from ..model import Floats, Ints, SearchError, Whole
from .products import LANES, alike, lane_products, products_away, row_parts, row_products
from .spelling import Spelling
from .texts import TEXTS, Openings

ARRAYS = ("numbers", "indptr", "indices", "tf", "df", "norms_tf", "norms_tfidf")
TERMS = "terms.json"
VECTORS = ("tfidf", "tf")
DIGITS = 12
FEW_COUNTS = 100_000  # Python takes a tenth of a second for them


class Target(NamedTuple):
    """A profile, prepared for products with documents."""

    size: int  # number of all its terms
    places: Ints  # places, among these, of the terms that documents have
    columns: Ints  # the columns of these terms
    factors: Floats  # by which a document's count of such a term is multiplied
    length: float
    vectors: str


class Neighbours(NamedTuple):
    """For each of some documents the others that are most like it, nearest first."""

    places: Ints  # documents x neighbours: places among the documents
    cosines: Floats  # rounded to 12 decimals; 0: there is no such neighbour


class _Blanks(threading.local):
    """Vectors of each thread over the columns of an index: of zeros, and of no place (-1)."""

    # To make such a vector for each pool would take about as long as the products with it.
    def __init__(self, size: int) -> None:
        self.zeros = np.zeros(size)
        self.nowhere = np.full(size, -1)


class DocumentVectors(NamedTuple):
    """Complete vectors of documents, for a browser that ranks by a profile it does not send."""

    terms: list[str]  # those that the documents have, each once
    weights: Floats  # by which a document's count of a term is multiplied
    ends: Ints  # where each document's part of the next two arrays ends
    places: Ints  # numbers of terms, in the order in which products are summed
    counts: Ints
    norms: Floats  # the length of each document's vector, over all its terms


class Forward:
    """A forward index, opened; safe to share between threads."""

    def __init__(
        self, arrays: dict[str, NDArray[Any]], terms: list[str], openings: Openings | None = None
    ) -> None:
        self.terms, self.openings = terms, openings
        self.numbers = arrays["numbers"]
        self.documents = int(self.numbers.size)
        indptr, indices, tf = self._parts = (arrays["indptr"], arrays["indices"], arrays["tf"])
        # The compiled loops check no bounds, so a damaged file must not lead outside the arrays.
        ends = indptr.size == self.documents + 1 and indptr[0] == 0
        inside = indices.size == tf.size == indptr[-1] and bool(np.all(np.diff(indptr) >= 0))
        known = not indices.size or 0 <= indices.min() <= indices.max() < len(terms)
        if not (ends and inside and known):
            raise ValueError("the arrays do not fit together")
        self._norms = {name: arrays[f"norms_{name}"] for name in VECTORS}
        self._idf = idf(self.documents, arrays["df"])
        column = {term: at for at, term in enumerate(terms)}
        self._blanks = _Blanks(len(terms))
        # The same profiles and rows come again with each search.
        self._columns = lru_cache(1024)(partial(_numbers, column))

    @classmethod
    def open(cls, folder: Path) -> Forward:
        """Return the forward index in `folder`, its arrays mapped into memory."""
        try:
            arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
            plain = {name: mapped.view(np.ndarray) for name, mapped in arrays.items()}
            # Indexes that were built before version 0.12 have no openings.
            openings = Openings(folder) if (folder / TEXTS).is_file() else None
            return cls(plain, json.loads((folder / TERMS).read_text()), openings)
        except (FileNotFoundError, ValueError, EOFError) as error:
            raise SearchError(f"{folder}: broken forward index; build the index again") from error
        except OSError as error:
            why = error.strerror or error
            raise SearchError(f"{folder} can't be opened ({why}); check its rights") from error

    @property
    def counts(self) -> tuple[Whole, Whole, Whole]:
        """Return where each row starts, its columns, and its counts of them."""
        return self._parts

    @property
    def blank(self) -> Floats:
        """Return a vector of zeros over all columns, this thread's own; it must be left so."""
        return self._blanks.zeros

    def lengths(self, form: str = "tfidf") -> Floats:
        """Return the length of each document's vector in the `form` tfidf or tf."""
        return self._norms[form]

    def weights_of(self, row: int) -> tuple[Ints, Floats]:
        """Return the vector of document `row`, scaled to length 1: columns and weights."""
        indptr, indices, tf = self._parts
        part = slice(int(indptr[row]), int(indptr[row + 1]))
        columns: Ints = indices[part].astype(np.int64)
        weights: Floats = tf[part] * self._idf[columns]
        return columns, weights / (np.linalg.norm(weights) or 1)

    @cached_property
    def spelling(self) -> Spelling:
        """Return the terms, prepared for finding those that are spelled almost like a word."""
        return Spelling(self.terms)

    def columns(self, terms: Sequence[str]) -> Ints:
        """Return the columns of `terms`, -1 for a term that no document has."""
        return self._columns(tuple(terms))

    def target(self, columns: Ints, weights: Floats, vectors: str = "tfidf") -> Target:
        """Return a profile with `weights` at `columns`, prepared for comparison with documents.

        Columns must differ, except -1, a term that no document has: it adds only to the profile's
        length. A document's vector is tf or tf * ln(1 + documents / df), over all its terms.
        """
        weights = weights / (np.abs(weights).max(initial=0) or 1)  # so that no square overflows
        places: Ints = np.flatnonzero(columns >= 0)
        known = columns[places]
        factors = weights[places] * (1.0 if vectors == "tf" else self._idf[known])
        return Target(len(columns), places, known, factors, length_of(weights), vectors)

    def cosines(self, rows: Ints, target: Target) -> Floats:
        """Return the cosines of the documents of `rows` with `target`, rounded to 12 decimals."""
        rows, profile = self.checked(rows), self.blank
        try:
            profile[target.columns] = target.factors
            products = self._fitting(row_products, rows)(rows, *self._parts, profile)
        finally:
            profile[target.columns] = 0.0
        return self._cosines(products, rows, target)

    def cosines_with_each(self, rows: Sequence[Ints], targets: Sequence[Target]) -> list[Floats]:
        """Return for each of `targets`, at most LANES, its cosines with its own `rows`.

        They are those of `cosines`, to the bit, but take less time: a document is read only once.
        """
        rows, there = [*map(self.checked, rows)], np.zeros(self.documents, dtype=np.bool_)
        for own in rows:
            there[own] = True
        columns = np.unique(np.concatenate([target.columns for target in targets]))
        places = np.zeros(len(self.terms), dtype=np.int32)
        places[columns] = np.arange(1, columns.size + 1)
        profiles = np.zeros((columns.size + 1, LANES))
        for lane, target in enumerate(targets):
            profiles[places[target.columns], lane] = target.factors
        products = lane_products(np.flatnonzero(there), *self._parts, places, profiles)
        row_at = np.cumsum(there) - 1
        return [
            self._cosines(products[row_at[own], lane], own, target)
            for lane, (own, target) in enumerate(zip(rows, targets, strict=True))
        ]

    def _cosines(self, products: Floats, rows: Ints, target: Target) -> Floats:
        lengths: Floats = self._norms[target.vectors][rows] * target.length
        cosines = np.zeros(len(rows))
        np.divide(products, lengths, out=cosines, where=lengths > 0)
        # Rounded, so that documents tie if only rounding differs.
        return np.round(cosines, DIGITS)

    def contributions(self, rows: Ints, target: Target) -> Floats:
        """Return each term's share of the cosines of `rows` with `target`: rows x terms."""
        rows, places = self.checked(rows), self._blanks.nowhere
        factors = np.zeros(target.size)
        factors[target.places] = target.factors
        lengths = self._norms[target.vectors][rows] * target.length
        try:
            places[target.columns] = target.places
            parts = self._fitting(row_parts, rows)(rows, *self._parts, places, factors)
        finally:
            places[target.columns] = -1
        parts /= np.where(lengths > 0, lengths, 1)[:, None]
        return parts

    def _fitting(self, loop: Callable[..., Floats], rows: Ints) -> Callable[..., Floats]:
        """Return `loop` over `rows`, or a twin of it if to load its machine code takes longer."""
        starts = self._parts[0]
        if is_one_search() and int(np.sum(starts[rows + 1] - starts[rows])) <= FEW_COUNTS:
            return uncompiled(loop)
        return loop

    def vectors(self, rows: Ints, vectors: str = "tfidf") -> DocumentVectors:
        """Return the vectors of `rows`, from which anybody can compute the same cosines."""
        indptr, indices, tf = self._parts
        rows = self.checked(rows)
        none = np.empty(0, dtype=np.int64)  # concatenate needs at least one array
        parts = [slice(int(indptr[row]), int(indptr[row + 1])) for row in rows.tolist()]
        columns = np.concatenate([none, *(indices[part] for part in parts)])
        known, places = np.unique(columns, return_inverse=True)
        return DocumentVectors(
            terms=[self.terms[column] for column in known.tolist()],
            weights=np.ones(known.size) if vectors == "tf" else self._idf[known],
            ends=np.cumsum([part.stop - part.start for part in parts], dtype=np.int64),
            places=places,
            counts=np.concatenate([none, *(tf[part] for part in parts)]),
            norms=self._norms[vectors][rows],
        )

    def projections_away(
        self,
        rows: Ints,
        vector: tuple[Ints, Floats],
        common: Floats,
        scale: tuple[float, float, float, float],
        best: tuple[int, int],
        form: str = "tfidf",
    ) -> tuple[Floats, float]:
        """Return documents' products with a `vector`, less what is `common`, and the largest.

        See `products_away`. Documents are those of `rows`, which are checked, and of length 1. The
        `vector` has columns, which differ, and by what counts there are multiplied. `common` is of
        all documents. Products are not rounded.
        """
        lengths = self._norms[form]
        return products_away(rows, lengths, self._parts, vector, self.blank, common, scale, best)

    def idf_at(self, columns: Ints, vectors: str = "tfidf") -> Floats:
        """Return by what a document's count at each of `columns` is multiplied."""
        return self._idf[columns] if vectors == "tfidf" else np.ones(columns.size)

    def neighbours(self, rows: Ints, most: int) -> Neighbours:
        """Return for each document of `rows` the `most` others of `rows` that are most like it.

        Documents are compared as vectors of (1 + ln tf) * ln(1 + documents / df).
        """
        return Neighbours(*alike(self.checked(rows), *self._parts, self._idf, most))

    def checked(self, rows: Ints) -> Ints:
        """Return `rows` as numbers of documents; refuse any that no document has."""
        rows = np.asarray(rows, dtype=np.int64)
        # Without a sign, a number below 0 is a large one.
        if rows.size and rows.view(np.uint64).max() >= self.documents:
            raise SearchError(f"rows must be from 0 to {self.documents - 1}")
        return rows


def _numbers(column: Mapping[str, int], terms: tuple[str, ...]) -> Ints:
    numbers = np.array([column.get(term, -1) for term in terms], dtype=np.int64)
    numbers.flags.writeable = False
    return numbers


def length_of(weights: Floats) -> float:
    """Return the length of a profile with these `weights`."""
    # Squares are added one by one from the smallest, so every machine gets the same sum.
    return (
        float(np.sqrt(np.add.accumulate(np.sort(np.square(weights)))[-1])) if weights.size else 0.0
    )


def idf(documents: int, df: Whole) -> Floats:
    """Return the weights of terms that `df` of `documents` have."""
    return np.log1p(documents / df)

"""Queries with labels, and labels of documents: relevance that comes from no profile. [I/O]

    queries  qid<TAB>user<TAB>kind<TAB>query<TAB>labels   a head line may stand first
    labels   document<TAB>labels

Labels are words with blanks between them. A document is relevant to a query if both have a label in
common. The kind says whether the query is in or off the interests of its user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.arrays import Marks

from ..errors import UsageError
from ..measures.relevance import KINDS
from .runs import is_word
from .topics import Topic, lines_of

_QUERY = "qid<TAB>user<TAB>kind<TAB>query<TAB>labels"
_LABELS = "document<TAB>labels"


class LabelledQuery(NamedTuple):
    """A query of a person, whether it is in or off their interests, and its labels."""

    topic: Topic
    kind: str
    labels: frozenset[str]


@dataclass(frozen=True)
class Relevance:
    """Queries with labels, and the labels of documents by id."""

    queries: Sequence[LabelledQuery]
    labels: Mapping[str, frozenset[str]]

    def relevant(self, query: LabelledQuery, ids: NDArray[np.object_]) -> Marks:
        """Return which documents of `ids` share a label with `query`."""
        none = frozenset[str]()
        shared = [not query.labels.isdisjoint(self.labels.get(name, none)) for name in ids.tolist()]
        return np.array(shared, dtype=np.bool_)


def read_relevance(queries: Path, labels: Path) -> Relevance:
    """Return the relevance in the files `queries` and `labels`, plain or gzipped."""
    known = dict[str, frozenset[str]]()
    for line, (name, words) in _rows(labels, _LABELS):
        if name in known:
            raise UsageError(f"{labels}, line {line}: a document stands twice; give it one line")
        known[name] = frozenset(words.split())
    made = tuple(_queries(queries))
    if not made:
        raise UsageError(f"{queries}: no queries; write {_QUERY}")
    if not any(known.values()):
        raise UsageError(f"{labels}: no labels; write {_LABELS}")
    return Relevance(made, known)


def _queries(path: Path) -> Iterator[LabelledQuery]:
    seen = set[str]()
    for line, (qid, user, kind, query, labels) in _rows(path, _QUERY):
        where = f"{path}, line {line}"
        if not is_word(qid) or qid in seen:
            raise UsageError(f"{where}: qid must be one word that no other line has")
        if kind not in KINDS:
            raise UsageError(f"{where}: kind must be {' or '.join(KINDS)}")
        if not user or not query:
            raise UsageError(f"{where}: an empty column; give user and query")
        seen.add(qid)
        yield LabelledQuery(Topic(qid, query, line, user), kind, frozenset(labels.split()))


def _rows(path: Path, form: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the columns of each line of `path` that is not empty or a head."""
    columns = form.split("<TAB>")
    for number, line in lines_of(path):
        fields = [field.strip() for field in line.split("\t")]
        if number == 1 and [field.lower() for field in fields] == columns:
            continue
        if len(fields) != len(columns):
            raise UsageError(
                f"{path}, line {number}: {len(fields)} columns instead of {len(columns)}; "
                f"write {form}"
            )
        yield number, fields

"""A parsed query as OpenSearch takes it: the same clauses, nested in the same way, as Lucene's.

The nesting counts: each boolean query rounds its sum to 32 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..lucene.query import Exact, ParsedQuery, bag_of, parts_of, wished_of
from ..lucene.tokens import places_of
from .terms import text_of, written

_CLAUSE = {"+": "must", "-": "must_not", "": "should"}
NOTHING: dict[str, Any] = {"match_none": {}}
_Clauses = list[tuple[str, dict[str, Any]]]


def whole_query(query: ParsedQuery, title_boost: float = 0.0) -> dict[str, Any]:
    """Return `query` for OpenSearch; with a `title_boost` the title counts, too."""
    whole = _in_field("contents", query)
    if not title_boost:
        return whole
    title = _in_field("title", wished_of(query))
    if title == NOTHING:
        return whole
    title["bool"]["boost"] = title_boost
    return _together([("must", whole), ("should", title)])


def named_parts(query: ParsedQuery, title_boost: float = 0.0) -> list[dict[str, Any]]:
    """Return each scoring part of `query`, by the number of its place as a name."""
    return [
        _clause(part.field, part.exact, part.term, query.language, boost=part.boost, _name=str(at))
        for at, part in enumerate(parts_of(query, title_boost))
    ]


def among(query: dict[str, Any], numbers: Sequence[int]) -> dict[str, Any]:
    """Return `query` with the same scores, for the documents of these `numbers` alone."""
    return {"bool": {"must": [query], "filter": [{"terms": {"number": list(numbers)}}]}}


def of_term(term: str) -> dict[str, Any]:
    """Return the query for documents that have `term`."""
    return {"term": {"contents": {"value": written(term)}}}


def _in_field(field: str, query: ParsedQuery) -> dict[str, Any]:
    words = bag_of(query).items()
    terms = [_clause(field, None, term, "", boost=float(count)) for term, count in words]
    bag = _together([("should", term) for term in terms]) if terms else NOTHING
    if not query.exact:
        return bag
    exact = [(_CLAUSE[part.sign], _clause(field, part, "", query.language)) for part in query.exact]
    return _together([*exact, ("should", bag)])


def _together(clauses: _Clauses) -> dict[str, Any]:
    # Without this setting a query that only excludes finds everything else.
    together: dict[str, Any] = {"adjust_pure_negative": False}
    for kind, clause in clauses:
        together.setdefault(kind, []).append(clause)
    return {"bool": together}


def _clause(
    field: str, exact: Exact | None, term: str, language: str, **more: object
) -> dict[str, Any]:
    """Return the query for a `term`, or for the words of `exact` in their places."""
    if exact and len(exact.terms) > 1:
        text = text_of(places_of([exact.text], language)[0])
        return {"match_phrase": {field: {"query": text, **more}}}
    return {"term": {field: {"value": written(exact.terms[0] if exact else term), **more}}}

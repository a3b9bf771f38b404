"""What a device is handed: documents with their vectors, which it orders itself."""

from __future__ import annotations

from typing import Annotated, TypedDict

from .records import Count, Mark, Place, Share, SharedRow
from .schema import Rule


class Candidate(TypedDict):
    """A document with its vector, to be ordered elsewhere."""

    id: Annotated[str, "The document’s id."]
    title: str
    url: Annotated[str, "Its address; empty where it has none that is safe to link to."]
    source: Annotated[str, "Where it is from, as the pages show it."]
    snippet: Annotated[str, "The part of its text that best shows why it was found."]
    marks: Annotated[list[Mark], "The words of the query in the snippet."]
    plain_rank: Annotated[Place, "Its rank in the plain order of the whole pool."]
    score: Annotated[float, "BM25."]
    terms: Annotated[list[Count], "Its terms, by their places in vocabulary."]
    counts: Annotated[list[Place], "How often it has each of them."]
    norm: Annotated[float, Rule("minimum", 0), "The length of its vector."]


class Candidates(TypedDict):
    """Documents for a query with their vectors: what orders them is not told here."""

    query: Annotated[str, "What was searched for: at most 2,000 characters of what was asked."]
    pool: Annotated[Place, "How many documents were to be found."]
    operators: Annotated[bool, "Whether quotes, + and - meant something."]
    mix: Annotated[Share, "What a profile is to count beside BM25, and what the row counted."]
    found: Annotated[Count, "How many documents the pool has; a row may have kept fewer."]
    milliseconds: Count
    notices: Annotated[list[str], "What a person should be told, each in a sentence."]
    row: Annotated[SharedRow | None, "The row that chose the documents; none where none did."]
    vocabulary: Annotated[list[str], "The terms of all these documents."]
    weights: Annotated[
        list[float], "For each of these terms ln(1 + documents of the index / those with it)."
    ]
    documents: Annotated[list[Candidate], "In the plain order."]

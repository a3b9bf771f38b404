"""Experiments the obvious way, sharing no code with the program: dicts, sorted(), definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from .toy_world import NEEDLE, Asked

Row = Mapping[str, float]


def split(log: Sequence[Asked], share: float) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Hold out the last queries of everybody, whose queries all differ."""
    asked: dict[str, list[str]] = {}
    for line in sorted(log, key=lambda line: line.time):
        asked.setdefault(line.user, []).append(line.query)
    kept, held = {}, {}
    for user, queries in asked.items():
        size = len(queries) - math.floor(share * len(queries))
        kept[user], held[user] = queries[:size], queries[size:]
    return kept, held


def profiles(kept: Mapping[str, Sequence[str]], size: int, weights: str) -> dict[str, Row]:
    """Take the most frequent terms of everybody who has enough; ties: the earlier first."""
    made = {}
    for user, queries in kept.items():
        counts = Counter(w for query in queries for w in query.split() if NEEDLE not in w)
        if len(counts) >= size:
            best = sorted(counts, key=lambda term: -counts[term])[:size]
            made[user] = {term: float(counts[term]) if weights == "tf" else 1.0 for term in best}
    return made


def represent(members: Sequence[Row], representative: str) -> Row:
    terms = {term for member in members for term in member}
    if representative == "union":
        return {term: max(member.get(term, 0.0) for member in members) for term in terms}
    return {term: sum(member.get(term, 0.0) for member in members) / len(members) for term in terms}


class Corpus:
    """Documents' vectors over all their terms: tf, or tf · ln(1 + N / df)."""

    def __init__(self, texts: Mapping[str, str], vectors: str) -> None:
        self.names = list(texts)
        counts = [Counter(text.split()) for text in texts.values()]
        df = Counter(term for count in counts for term in count)
        self._vectors = [
            {
                term: tf * (1.0 if vectors == "tf" else math.log(1 + len(texts) / df[term]))
                for term, tf in count.items()
            }
            for count in counts
        ]

    def scores(self, pool: Sequence[int], row: Row) -> list[float]:
        return [cosine(self._vectors[document], row) for document in pool]


def cosine(one: Row, other: Row) -> float:
    product = math.fsum(weight * other.get(term, 0.0) for term, weight in one.items())
    lengths = math.hypot(*one.values()) * math.hypot(*other.values())
    return round(product / lengths, 12) if lengths else 0.0


def ordered(pool: Sequence[int], scores: Sequence[float]) -> list[int]:
    """Order a pool by score; ties keep its order."""
    return [pool[at] for at in sorted(range(len(pool)), key=lambda at: (-scores[at], at))]


def average_precision(order: Sequence[int], gold: Sequence[int], first: int = 30) -> float:
    """Return the mean precision at the first relevant documents found."""
    relevant, precisions = set(gold[:30]), []
    for rank, document in enumerate(order, 1):
        if document in relevant:
            precisions.append((len(precisions) + 1) / rank)
    return math.fsum(precisions[:first]) / len(precisions[:first])

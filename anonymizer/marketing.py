# ruff: noqa
# mypy: ignore-errors
"""TEMPORARY: the bid table of section B and its generator, until the real file takes its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .model import Floats


@dataclass(frozen=True)
class MarketingTable:
    """What an advertiser would pay for each term, and gets for it."""

    terms: tuple[str, ...]
    bid: Floats
    impressions: Floats
    clicks: Floats
    synthetic: bool


def read_table(path: Path) -> MarketingTable:
    """Read a table from CSV."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    rows = [line.split(",") for line in lines[1:]]
    bid, impressions, clicks = (np.array([float(row[at]) for row in rows]) for at in (1, 2, 3))
    return MarketingTable(tuple(row[0] for row in rows), bid, impressions, clicks, False)


def synthetic_table(
    terms: Sequence[str], tf: Floats, df: Floats, rng: np.random.Generator
) -> MarketingTable:
    """Draw a table."""
    bid = np.round(rng.lognormal(0, 1, len(terms)), 2) * (rng.random(len(terms)) < 0.5)
    impressions = np.round(rng.lognormal(3, 1, len(terms)) * df) * (bid > 0)
    clicks = np.round(impressions * rng.random(len(terms)) / 4) * (rng.random(len(terms)) < 0.5)
    return MarketingTable(tuple(terms), bid, impressions, clicks, True)


def values_of(table: MarketingTable, terms: Sequence[str], what: str) -> Floats:
    """Return the value of one occurrence of each term; 0 where the table does not know it."""
    column = table.clicks * table.bid if what == "revenue" else getattr(table, what)
    known = dict(zip(table.terms, column.tolist(), strict=True))
    return np.array([known.get(term, 0.0) for term in terms])

"""The histograms of rows of one person each: drawn, said in a sentence, and as numbers."""

from __future__ import annotations

import numpy as np

from ..binning import quantile, share_counts
from ..group_figures import Figures
from ..lone_figures import RowFigures
from .histograms import Counted, Words, share_histogram, whole_histogram
from .lone_facts import percent
from .wording import count

NAMES = ("left", "lengths", "usual", "rarest")


def lone_charts(figures: Figures, rows: RowFigures) -> list[Counted]:
    """Draw what there is to draw."""
    drawn = [_left(rows)] if rows.kept.size else []
    return [*drawn, _lengths(figures), _usual(rows), _rarest(rows)]


def _left(rows: RowFigures) -> Counted:
    words = Words(
        "left",
        "How much is left of a person",
        "share of their different terms that is left",
        "people",
        ("from", "to", "people"),
    )
    half = percent(float(np.quantile(rows.kept, 0.5, method="inverted_cdf")))
    none = f"; of {rows.rowless:,} nothing is left, and they have no row" if rows.rowless else ""
    sentence = (
        f"Of half of the {rows.kept.size:,} people at most {half} % of their different terms are "
        f"left{none}."
    )
    return share_histogram(words, share_counts(rows.kept), sentence)


def _lengths(figures: Figures) -> Counted:
    words = Words(
        "lengths", "How many terms a row has", "terms of a row", "rows", ("terms", "rows")
    )
    counts = np.bincount(figures.terms)
    low, half, high = (quantile(counts, share) for share in (1e-12, 0.5, 1))
    sentence = (
        f"The shortest of {count(len(figures.terms), 'row', 'rows')} has {low:,}, the longest "
        f"{high:,}; half of them have at most {half:,}."
    )
    return whole_histogram(words, counts, sentence)


def _usual(rows: RowFigures) -> Counted:
    words = Words(
        "usual",
        "How many rows have a released term",
        "rows that have the term",
        "released terms",
        ("rows", "released_terms"),
    )
    counts = np.bincount(rows.having)
    low, half, high = (quantile(counts, share) for share in (1e-12, 0.5, 1))
    sentence = (
        f"Every released term stands in {low:,} or more of the {rows.rarest.size:,} rows; half of "
        f"these {rows.having.size:,} terms stand in at most {half:,}, the most usual in {high:,}."
    )
    return whole_histogram(words, counts, sentence)


def _rarest(rows: RowFigures) -> Counted:
    words = Words(
        "rarest",
        "How many rows have a row’s rarest term",
        "rows that have its rarest term",
        "rows",
        ("having_rarest_term", "rows"),
    )
    counts = np.bincount(rows.rarest)
    low, half = (quantile(counts, share) for share in (1e-12, 0.5))
    most = f"at most {half:,}" if half > low else f"no more than {low:,}"
    sentence = (
        f"Who knows the rarest term of somebody’s row is left with {low:,} rows or more that have "
        f"it; for half of the rows with {most}."
    )
    return whole_histogram(words, counts, sentence)

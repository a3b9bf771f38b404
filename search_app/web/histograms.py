"""Histograms of counts: drawn, said in a sentence, and as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..binning import SHARES, Bar, exact, share_bars, whole_bars
from .drawing import About, Chart, Column, Tick, few, histogram

_TICKS = 8
_QUARTERS = [Tick(SHARES * n / 4, f"{n / 4:.2f}") for n in range(5)]


class Numbers(NamedTuple):
    """What a histogram's CSV file holds: whole numbers one by one."""

    head: tuple[str, ...]
    rows: Sequence[tuple[float | int, ...]]


Counted = tuple[Chart, Numbers]


class Words(NamedTuple):
    """What a histogram is of, in words, and the head of its CSV file."""

    name: str
    heading: str
    across: str
    up: str
    head: tuple[str, ...]


def whole_histogram(words: Words, counts: np.ndarray, sentence: str) -> Counted:
    """Draw counts[n] things of n each."""
    bars = whole_bars(counts)
    labels = [_range(bar) for bar in bars]
    apart = few(len(bars), _TICKS)
    ticks = [
        Tick(at + 0.5, labels[at] if bars[at].low == bars[at].high else f"{bars[at].low:,.0f}…")
        for at in range(0, len(bars), apart)
    ]
    numbers = [(int(bar.low), bar.number) for bar in exact(counts)]
    return _chart(words, bars, labels, ticks, sentence, numbers)


def share_histogram(words: Words, counts: np.ndarray, sentence: str) -> Counted:
    """Draw counts in bars of equal width from 0 to 1."""
    bars = share_bars(counts)
    labels = [f"{bar.low:.2f} to {bar.high:.2f}" for bar in bars]
    return _chart(words, bars, labels, _QUARTERS, sentence, [tuple(bar) for bar in bars])


def _chart(
    words: Words,
    bars: Sequence[Bar],
    labels: Sequence[str],
    ticks: Iterable[Tick],
    sentence: str,
    numbers: Sequence[tuple[float | int, ...]],
) -> Counted:
    told = [(label, bar.number) for label, bar in zip(labels, bars, strict=True)]
    columns = [Column(number, f"{label}: {number:,} {words.up}") for label, number in told]
    about = About(words.name, words.heading, sentence, words.across, words.up)
    drawing = histogram(about, columns, ticks)
    head = words.across.capitalize(), words.up.capitalize()
    rows = [(label, f"{number:,}") for label, number in told]
    return Chart(words.name, words.heading, drawing, sentence, head, rows), Numbers(
        words.head, numbers
    )


def _range(bar: Bar) -> str:
    low, high = f"{bar.low:,.0f}", f"{bar.high:,.0f}"
    return low if low == high else f"{low} to {high}"

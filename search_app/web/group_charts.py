"""The histograms of a release's groups: drawn, said in a sentence, and as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..binning import SHARES, Bar, exact, quantile, share_bars, share_counts, whole_bars
from ..group_figures import Figures
from .drawing import About, Chart, Column, Tick, few, histogram
from .wording import count, two_decimals

NAMES = ("sizes", "shares", "terms", "support", "belief")
_TICKS = 8
_QUARTERS = [Tick(SHARES * n / 4, f"{n / 4:.2f}") for n in range(5)]


class Numbers(NamedTuple):
    """What a histogram's CSV file holds: whole numbers one by one."""

    head: tuple[str, ...]
    rows: Sequence[tuple[float | int, ...]]


Counted = tuple[Chart, Numbers]


class _Words(NamedTuple):
    name: str
    heading: str
    across: str
    up: str
    head: tuple[str, ...]


def charts(figures: Figures) -> list[Counted]:
    """Draw what there is to draw."""
    drawn = [_sizes(figures)]
    if figures.measured and figures.told.size:
        drawn += [_shares(figures), _terms(figures), _support(figures), _belief(figures)]
    return drawn


def _sizes(figures: Figures) -> Counted:
    words = _Words(
        "sizes",
        "How many people share a row",
        "people in a group",
        "groups",
        ("people", "groups"),
    )
    counts = np.bincount(figures.people)
    low, half, high = (quantile(counts, share) for share in (1e-12, 0.5, 1))
    of_one = int(counts[1]) if counts.size > 1 else 0
    alone = f" {count(of_one, 'row is', 'rows are')} one person’s own profile." if of_one else ""
    sentence = (
        f"The smallest of {count(len(figures.people), 'group', 'groups')} has {low:,}, the largest "
        f"{high:,}; half of them have at most {half:,}.{alone}"
    )
    return _whole(words, counts, sentence)


def _shares(figures: Figures) -> Counted:
    words = _Words(
        "shares",
        "How surely a member has a term of the group",
        "share of members who have a term, on average",
        "groups",
        ("from", "to", "groups"),
    )
    values = figures.among_told("share")
    sentence = (
        "Take somebody of a group and one of its terms by chance: they have it with a chance of "
        f"{_percent(np.median(values))} in the middle group, {_percent(values.max())} in the worst."
    )
    return _share(words, share_counts(values), sentence)


def _terms(figures: Figures) -> Counted:
    words = _Words(
        "terms",
        "Each term of each group",
        "share of members who have the term",
        "terms of groups",
        ("from", "to", "terms"),
    )
    total = int(figures.shares.sum())
    sentence = (
        f"{_percent(figures.certain / total)} of all {total:,} terms of groups are had by every "
        "member of their group: who knows your group knows these of you."
    )
    return _share(words, figures.shares, sentence)


def _support(figures: Figures) -> Counted:
    words = _Words(
        "support",
        "How many stand behind a released term",
        "members who have the term",
        "released terms",
        ("members", "released_terms"),
    )
    total, single = int(figures.support.sum()), int(figures.support[1])
    half = quantile(figures.support, 0.5)
    most = f"; half of them stand for {half:,} or fewer" if half > 1 else ""
    sentence = (
        f"{_percent(single / total)} of all {total:,} released terms stand for one person of their "
        f"group only{most}."
    )
    return _whole(words, figures.support, sentence)


def _belief(figures: Figures) -> Counted:
    words = _Words(
        "belief",
        "What the group adds to what is known of everybody",
        "largest change of the chance that a member has some term",
        "groups",
        ("from", "to", "groups"),
    )
    values = figures.among_told("belief")
    sentence = (
        "Knowing the group moves the chance that somebody in it has a certain term by up to "
        f"{two_decimals(np.median(values))} in the middle group and by up to "
        f"{two_decimals(values.max())} in the worst."
    )
    return _share(words, share_counts(values), sentence)


def _whole(words: _Words, counts: np.ndarray, sentence: str) -> Counted:
    bars = whole_bars(counts)
    labels = [_range(bar) for bar in bars]
    apart = few(len(bars), _TICKS)
    ticks = [
        Tick(at + 0.5, labels[at] if bars[at].low == bars[at].high else f"{bars[at].low:,.0f}…")
        for at in range(0, len(bars), apart)
    ]
    numbers = [(int(bar.low), bar.number) for bar in exact(counts)]
    return _chart(words, bars, labels, ticks, sentence, numbers)


def _share(words: _Words, counts: np.ndarray, sentence: str) -> Counted:
    bars = share_bars(counts)
    labels = [f"{bar.low:.2f} to {bar.high:.2f}" for bar in bars]
    return _chart(words, bars, labels, _QUARTERS, sentence, [tuple(bar) for bar in bars])


def _chart(
    words: _Words,
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


def _percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"

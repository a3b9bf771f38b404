"""Histograms of counts, as drawings and as numbers."""

from __future__ import annotations

from ...disclosure.histograms import SHARES, Bar, Histogram, exact, share_bars, whole_bars
from .drawing import Caption, Chart, Stick, Tick, histogram

_TICKS = 8
_QUARTERS = [Tick(SHARES * n / 4, f"{n / 4:.2f}") for n in range(5)]


def drawn(data: Histogram) -> Chart:
    """Return the chart of `data`: a drawing, and a table of the same numbers."""
    bars = share_bars(data.counts) if data.shares else whole_bars(data.counts)
    labels = [_label(bar, shares=data.shares) for bar in bars]
    columns = [
        Stick(bar.number, f"{label}: {bar.number:,} {data.up}")
        for bar, label in zip(bars, labels, strict=True)
    ]
    caption = Caption(data.name, data.heading, data.sentence, data.across, data.up)
    # At most _TICKS labels fit below the bars.
    every = range(0, len(bars), max(1, -(-len(bars) // _TICKS)))
    places = [(at, bars[at].low, bars[at].high) for at in every]
    ticks = [Tick(at + 0.5, f"{low:,.0f}" + "…" * (low != high)) for at, low, high in places]
    drawing = histogram(caption, columns, _QUARTERS if data.shares else ticks)
    rows = [(label, f"{bar.number:,}") for bar, label in zip(bars, labels, strict=True)]
    head = data.across.capitalize(), data.up.capitalize()
    return Chart(data.name, data.heading, drawing, data.sentence, head, rows)


def numbers(data: Histogram) -> tuple[tuple[str, ...], list[tuple[float | int, ...]]]:
    """Return the head and rows of the CSV file of `data`: shares in bars, whole numbers singly."""
    if data.shares:
        return data.head, [tuple(bar) for bar in share_bars(data.counts)]
    return data.head, [(int(bar.low), bar.number) for bar in exact(data.counts)]


def _label(bar: Bar, *, shares: bool) -> str:
    if shares:
        return f"{bar.low:.2f} to {bar.high:.2f}"
    low, high = f"{bar.low:,.0f}", f"{bar.high:,.0f}"
    return low if low == high else f"{low} to {high}"

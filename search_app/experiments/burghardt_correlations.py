"""Table 3 of the burghardt experiment: what of a term goes with what."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from .burghardt_shares import input_facts, warning
from .claims import p_text
from .outcomes import Outcomes
from .report import Table
from .unit_facts import MARKET

_ACROSS = ("revenue", "impressions", "clicks", "bid", "user_frequency")
_DOWN = ("term_frequency", "user_frequency", "bid", "clicks", "impressions")
_LEVEL = 0.01  # one-tailed, as in the paper
_SHOWN = ("corr.", "sig.", "N")
_ABOUT = (
    "Pearson's correlation, its one-tailed p (* where below 0.01) and the number of terms that it "
    "is of: those with an estimate of both, and of the frequencies with each other those with any "
    "estimate. Without a marketing table they are all terms. A table's empty cell and its 0 are "
    "read alike: neither is an estimate. Frequencies are those of the profiles."
)


def table_3(outcomes: Outcomes) -> Table:
    """Correlate what each term has, pair by pair."""
    facts = input_facts(outcomes)
    rows = []
    for at, one in enumerate(_DOWN):
        others = _ACROSS[: len(_ACROSS) - at]
        cells = [_texts(facts, one, other) for other in others]
        if any(map(any, cells)):
            for what, *texts in zip(_SHOWN, *cells, strict=True):
                rows.append((_plain(one), what, *texts, *[""] * at))
    head = ("", "of", *map(_plain, _ACROSS))
    title = "Table 3: correlations of the input"
    return Table("table-3", title, f"{_ABOUT}{warning(outcomes, *MARKET)}", head, tuple(rows))


def correlation(facts: Mapping[str, float], one: str, other: str) -> tuple[float, int] | None:
    """Return the correlation of two values of a term, and over how many terms."""
    for pair in (f"{one}_{other}", f"{other}_{one}"):
        if f"r_{pair}" in facts:
            return float(facts[f"r_{pair}"]), int(facts[f"n_{pair}"])
    return None


def significance(r: float, n: int) -> float:
    """Return the one-tailed p of a correlation, by Student's t."""
    from scipy.special import stdtr

    if abs(r) >= 1:
        return 0.0
    return float(stdtr(n - 2, -abs(r) * sqrt((n - 2) / (1 - r * r))))


def _texts(facts: Mapping[str, float], one: str, other: str) -> tuple[str, str, str]:
    """Write a correlation, its p and its number of terms; nothing where there is none."""
    found = correlation(facts, one, other)
    if found is None:
        return "", "", ""
    r, n = found
    p = significance(r, n)
    return f"{r:z.3f}{'*' if p < _LEVEL else ''}", p_text(p), f"{n:,}"


def _plain(name: str) -> str:
    return name.replace("_", " ")

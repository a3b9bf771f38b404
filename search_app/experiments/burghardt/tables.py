"""The tables of the burghardt experiment: the paper's 3, 5, 6 and 7, and some of ours."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from ..facts import MARKET
from ..report.claims import p_text
from ..report.report import Table
from .shares import (
    FIS,
    GENERIC,
    GREEDY,
    INSERT,
    MEASURES,
    NONE,
    OWN,
    RANDOM,
    Cell,
    KeptShares,
    percent,
)
from .times import Passes, seconds_at

_LEVEL = ("k, m",)
_BEHIND = ("R", "R / best %", "W", "fis")
_ACROSS = ("revenue", "impressions", "clicks", "bid", "user_frequency")
_DOWN = ("term_frequency", "user_frequency", "bid", "clicks", "impressions")
_SURE = 0.01  # one-tailed, as in the paper
Row = tuple[str, ...]


def tables(shares: KeptShares, again: KeptShares, passes_by_level: Passes) -> list[Table]:
    """Return every table; `again` are the shares of releases with re-inserted terms."""
    title = "Table 5: quality of the anonymized log, by the paper's algorithm"
    generic = "Table 6: impact of the target, generic measures"
    market = "Table 7: impact of the target, measures of advertisement"
    return [
        table_3(shares),
        _most(shares, GREEDY, ("table-5", title)),
        _impact(shares, GENERIC, ("table-6", generic)),
        _impact(shares, MARKET, ("table-7", market)),
        iterations(shares, passes_by_level),
        _most(shares, INSERT, ("insertion", "What insertion keeps, as in table 5")),
        gains(shares),
        reinsertion(shares, again),
    ]


def table_3(shares: KeptShares) -> Table:
    """Return the correlations of each pair of a term's values in `shares`."""
    rows = list[Row]()
    for at, one in enumerate(_DOWN):
        others = _ACROSS[: len(_ACROSS) - at]
        cells = []
        for known in (shares.correlation(one, other) for other in others):
            if known is None:
                cells.append(("", "", ""))
                continue
            p = significance(*known)
            mark = "*" if p < _SURE else ""
            cells.append((f"{known[0]:z.3f}{mark}", p_text(p), f"{known[1]:,}"))
        if any(map(any, cells)):
            for what, *texts in zip(("corr.", "sig.", "N"), *cells, strict=True):
                rows.append((_plain(one), what, *texts, *[""] * at))
    about = (
        "Pearson's correlation, its one-tailed P (* where below 0.01) and its number of terms. "
        "These are the terms with an estimate of both values; for the two frequencies, those with "
        "any estimate, or all terms without a marketing table. An empty cell of the table is read "
        "like 0, and neither is an estimate. Frequencies are those of the "
        f"profiles.{shares.warning(*MARKET)}"
    )
    head = ("", "of", *map(_plain, _ACROSS))
    return Table("table-3", "Table 3: correlations of the input", about, head, tuple(rows))


def significance(r: float, n: int) -> float:
    """Return the one-tailed P of a correlation `r` over `n` terms, by Student's t."""
    from scipy.special import stdtr

    # The t statistic would divide by 0.
    if abs(r) >= 1:
        return 0.0
    return float(stdtr(n - 2, -abs(r) * sqrt((n - 2) / (1 - r * r))))


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _named(cell: Cell) -> str:
    return f"{cell.k}, {cell.m}"


def _measured(shares: KeptShares, algorithm: str, of: Sequence[str] = tuple(MEASURES)) -> list[str]:
    grid = shares.grid(algorithm)
    return [name for name in of if any(shares.all_of(algorithm, cell, name) for cell in grid)]


def _most(shares: KeptShares, algorithm: str, names: tuple[str, str]) -> Table:
    """Return the most that `algorithm` keeps of each measure."""

    def text(cell: Cell, measure: str) -> str:
        best = shares.best(algorithm, cell, measure)
        if best is None:
            return NONE
        mark = "" if best.target == OWN.get(measure) else f" ({best.target})"
        return f"{percent(best.share, measure)}{mark}"

    about = (
        "The most that any target keeps, in % of the original. The target is in brackets if it is "
        f"not the measure's own; distinct terms have no own target.{shares.warning(*MARKET)}"
    )
    measures = _measured(shares, algorithm)
    rows = [(_named(at), *(text(at, name) for name in measures)) for at in shares.grid(algorithm)]
    head = (*_LEVEL, *(f"{shares.called(name)} %" for name in measures))
    return Table(*names, about, head, tuple(rows))


def _impact(shares: KeptShares, of: Sequence[str], names: tuple[str, str]) -> Table:
    """Return the distances between targets by the measures in `of`."""
    about = (
        "By the paper's algorithm: how many points of the original the best target keeps more than "
        "random (R, the mean of its runs), the worst other target (W) and fis. R / best is how "
        "much less random keeps than the best, in % of what the best keeps. The paper calls its "
        "numbers relative to the original log. Its R of log size can't be that: it is 28 where "
        "only 19 % are kept. So R is read as R / best, and W and fis are read as "
        f"points.{shares.warning(*of)}"
    )
    measures = _measured(shares, GREEDY, of)
    rows = [
        (_named(cell), *(text for name in measures for text in _behind(shares, cell, name)))
        for cell in shares.grid(GREEDY)
    ]
    columns = (f"{shares.called(name)}: {what}" for name in measures for what in _BEHIND)
    return Table(*names, about, (*_LEVEL, *columns), tuple(rows) if measures else ())


def _behind(shares: KeptShares, cell: Cell, measure: str) -> tuple[str, str, str, str]:
    """Return how far random (in points, in % of the best), the worst other and fis are behind."""
    kept = shares.all_of(GREEDY, cell, measure)
    most, random = max(kept.values(), default=0.0), kept.get(RANDOM)
    worst = min(shares.all_of(GREEDY, cell, measure, random=False).values(), default=None)
    first, second, third = (
        NONE if share is None else percent(most - share, measure)
        for share in (random, worst, kept.get(FIS))
    )
    relative = percent((most - random) / most) if random is not None and most > 0 else NONE
    return first, relative, second, third


def iterations(shares: KeptShares, passes_by_level: Passes) -> Table:
    """Return how often the paper's algorithm went over all users of `shares`, and how long."""
    about = (
        "Passes of the paper's algorithm that deleted something; one more finds nothing to delete. "
        "Seconds are medians over targets, from one run on one machine. The first pass includes "
        "what comes before it. A later pass is the mean of all later ones, the last included. "
        "Every process compiles its code before. Reused releases keep the seconds of the run that "
        "made them, with the same code on such a machine. With m = 1 there are no passes (–). The "
        "paper says 4 minutes a pass for m = 2 and 13 for m = 3."
    )
    rows = list[Row]()
    for cell in shares.grid(GREEDY):
        targets = shares.targets(GREEDY, cell)
        columns = [
            [shares.fact(GREEDY, cell, target, name) for target in targets]
            for name in ("passes", "deletions", "deletions_pass_1")
        ]
        passes, deletions, first = ([one for one in some if one is not None] for some in columns)
        if passes and len(passes) == len(deletions) == len(first):
            shared = [100 * (one / every) for one, every in zip(first, deletions, strict=True)]
            rows.append((_named(cell), _range(passes, "g"), _range(deletions, ",.0f"),
                         _range(shared, ".1f"), *seconds_at(passes_by_level, cell)))  # fmt: skip
    head = (*_LEVEL, "passes", "deletions", "in the first pass %",
            "first pass s", "later pass s", "paper: first", "paper: second")  # fmt: skip
    return Table("iterations", "Passes, by target from least to most", about, head, tuple(rows))


def _range(values: Sequence[float], form: str) -> str:
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def gains(shares: KeptShares) -> Table:
    """Return how much more insertion keeps than the paper's algorithm, from `shares`."""
    about = (
        "How many points of the original insertion keeps more than the paper's algorithm, each "
        f"with its best target.{shares.warning(*MARKET)}"
    )
    measures = _measured(shares, INSERT)
    rows = [
        (_named(cell), *(_signed(shares.gained(cell, name), name) for name in measures))
        for cell in shares.grid(INSERT)
        if cell in shares.grid(GREEDY)
    ]
    head = (*_LEVEL, *map(shares.called, measures))
    return Table("gains", "What insertion keeps more", about, head, tuple(rows))


def _signed(share: float | None, measure: str = "") -> str:
    text = percent(share, measure)
    return f"+{text}" if text != NONE and float(text) > 0 else text


def reinsertion(shares: KeptShares, again: KeptShares) -> Table:
    """Return what re-insertion wins: `again` are the `shares` after it."""
    rows = list[Row]()
    for cell in again.grid(GREEDY):
        for target in again.targets(GREEDY, cell):
            plain, back, ours = (
                some.of(algorithm, cell, target, "log_size")
                for some, algorithm in ((shares, GREEDY), (again, GREEDY), (shares, INSERT))
            )
            more = _signed(None if plain is None or back is None else back - plain)
            rows.append((_named(cell), target, percent(plain), percent(back), more, percent(ours)))
    head = (*_LEVEL, "target", "greedy", "with re-insertion", "more", "insertion")
    about = "Log size kept in %, with the same target in each row."
    return Table("reinsertion", "Giving back what deletion wastes", about, head, tuple(rows))

"""The tables of the burghardt experiment: the paper's 3, 5, 6 and 7, and ours beside them."""

from __future__ import annotations

from collections.abc import Sequence

from .burghardt_correlations import table_3
from .burghardt_search import search_table
from .burghardt_shares import (
    FIS,
    GENERIC,
    GREEDY,
    INSERT,
    MEASURES,
    OWN,
    RANDOM,
    REINSERT,
    Cell,
    Shares,
    called,
    percent,
    warning,
)
from .burghardt_times import Times, seconds_at
from .outcomes import Outcomes
from .report import Table
from .summaries import SummedUp
from .unit_facts import MARKET

_LEVEL = ("k, m",)
_NONE = "–"
_BEHIND = ("R", "R / best %", "W", "fis")


def tables(summed: SummedUp, times: Times) -> tuple[Table, ...]:
    """Return every table that has rows."""
    outcomes = summed.outcomes
    shares = Shares(outcomes)
    found = [
        table_3(outcomes),
        table_5(outcomes, shares),
        table_6(outcomes, shares),
        table_7(outcomes, shares),
        iterations(shares, times),
        insertion(outcomes, shares),
        gains(outcomes, shares),
        reinsertion(outcomes, shares),
        search_table(summed),
    ]
    return tuple(table for table in found if table is not None and table.rows)


def table_5(outcomes: Outcomes, shares: Shares) -> Table:
    """Tell what the paper's algorithm keeps at most, measure by measure."""
    return _most(
        outcomes,
        shares,
        GREEDY,
        ("table-5", "Table 5: quality of the anonymized log, by the paper's algorithm"),
    )


def insertion(outcomes: Outcomes, shares: Shares) -> Table:
    """Tell the same of insertion."""
    title = "What insertion keeps, as in table 5"
    return _most(outcomes, shares, INSERT, ("insertion", title))


def _most(outcomes: Outcomes, shares: Shares, algorithm: str, names: tuple[str, str]) -> Table:
    about = (
        "The most that any target keeps, in % of the original. In brackets the target, where it "
        f"is not the measure's own; none is for distinct terms.{warning(outcomes, *MARKET)}"
    )
    measures = _measured(shares, algorithm)
    rows = [
        (_named(cell), *(_best_text(shares, algorithm, cell, each) for each in measures))
        for cell in shares.grid(algorithm)
    ]
    head = (*_LEVEL, *(f"{called(outcomes, each)} %" for each in measures))
    return Table(*names, about, head, tuple(rows))


def _measured(shares: Shares, algorithm: str, of: Sequence[str] = tuple(MEASURES)) -> list[str]:
    grid = shares.grid(algorithm)
    return [name for name in of if any(shares.all_of(algorithm, cell, name) for cell in grid)]


def _named(cell: Cell) -> str:
    return f"{cell.k}, {cell.m}"


def _best_text(shares: Shares, algorithm: str, cell: Cell, measure: str) -> str:
    best = shares.best(algorithm, cell, measure)
    if best is None:
        return _NONE
    mark = "" if best.target == OWN.get(measure) else f" ({best.target})"
    return f"{percent(best.share, measure)}{mark}"


def table_6(outcomes: Outcomes, shares: Shares) -> Table:
    """Tell how far targets lie apart by what is no advertiser's."""
    title = "Table 6: impact of the target, generic measures"
    return _impact(outcomes, shares, GENERIC, ("table-6", title))


def table_7(outcomes: Outcomes, shares: Shares) -> Table:
    """Tell how far targets lie apart by what advertisers pay for."""
    title = "Table 7: impact of the target, measures of advertisement"
    return _impact(outcomes, shares, MARKET, ("table-7", title))


def _impact(outcomes: Outcomes, shares: Shares, of: Sequence[str], names: tuple[str, str]) -> Table:
    about = (
        "By the paper's algorithm: how many points of the original the best target keeps more than "
        "random (R, the mean of its runs), the worst other one (W) and fis; and how much less than "
        "the best random keeps, in % of what the best keeps (R / best). The paper says that its "
        "numbers are relative to the original log, which its R of log size can't be: 28 where "
        "19 % are kept. R / best is the reading that is taken of it; its W and fis are points."
        f"{warning(outcomes, *of)}"
    )
    measures = _measured(shares, GREEDY, of)
    rows = [
        (
            _named(cell),
            *(text for each in measures for text in _behind(shares, cell, each)),
        )
        for cell in shares.grid(GREEDY)
    ]
    head = (
        *_LEVEL,
        *(f"{called(outcomes, each)}: {what}" for each in measures for what in _BEHIND),
    )
    return Table(*names, about, head, tuple(rows) if measures else ())


def _behind(shares: Shares, cell: Cell, measure: str) -> tuple[str, str, str, str]:
    """Write how far random, in points and of the best, the worst other and fis stay behind."""
    found = shares.all_of(GREEDY, cell, measure)
    most = max(found.values(), default=0.0)
    others = [share for target, share in found.items() if target != RANDOM]
    worst = min(others, default=None)
    behind = [found.get(RANDOM), worst, found.get(FIS)]
    first, second, third = (
        _NONE if share is None else percent(most - share, measure) for share in behind
    )
    random, relative = found.get(RANDOM), _NONE
    if random is not None and most > 0:
        relative = percent((most - random) / most)
    return first, relative, second, third


def iterations(shares: Shares, times: Times) -> Table:
    """Tell how often the paper's algorithm went over all users, as in section 5.2."""
    about = (
        "Passes that deleted something, by the paper's algorithm; a last one finds nothing left to "
        "delete. Seconds are medians over targets, of one run on one machine: of the first pass, "
        "with what comes before it, and of a later one, on average over all, the last included. "
        "Every process has compiled before. Of what was measured before, by the same code on such "
        "a machine, it is what it took then. – stands where a release was made in no passes (m = "
        "1). The paper says 4 minutes a pass for m = 2 and 13 for m = 3."
    )
    rows = []
    for cell in shares.grid(GREEDY):
        targets = shares.targets(GREEDY, cell)
        columns = [
            [shares.fact(GREEDY, cell, target, name) for target in targets]
            for name in ("passes", "deletions", "deletions_pass_1")
        ]
        passes, deletions, first = ([each for each in some if each is not None] for some in columns)
        if passes and len(passes) == len(deletions) == len(first):
            shared = [one / every for one, every in zip(first, deletions, strict=True)]
            rows.append((_named(cell), _range(passes, "g"), _range(deletions, ",.0f"),
                         _range([100 * each for each in shared], ".1f"),
                         *seconds_at(times, cell)))  # fmt: skip
    head = (*_LEVEL, "passes", "deletions", "in the first pass %",
            "first pass s", "later pass s", "paper: first", "paper: second")  # fmt: skip
    return Table("iterations", "Passes, by target from least to most", about, head, tuple(rows))


def _range(values: Sequence[float], form: str) -> str:
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def gains(outcomes: Outcomes, shares: Shares) -> Table:
    """Set insertion against the best of the paper's targets."""
    about = (
        "How many points of the original insertion keeps more than the paper's algorithm, each by "
        f"its best target.{warning(outcomes, *MARKET)}"
    )
    measures = _measured(shares, INSERT)
    grid = [cell for cell in shares.grid(INSERT) if cell in shares.grid(GREEDY)]
    rows = [(_named(cell), *(_gain(shares, cell, each) for each in measures)) for cell in grid]
    head = (*_LEVEL, *(called(outcomes, each) for each in measures))
    return Table("gains", "What insertion keeps more", about, head, tuple(rows))


def _gain(shares: Shares, cell: Cell, measure: str) -> str:
    ours, papers = (shares.best(each, cell, measure) for each in (INSERT, GREEDY))
    if ours is None or papers is None:
        return _NONE
    return _signed(ours.share - papers.share, measure)


def _signed(share: float, measure: str = "") -> str:
    text = percent(share, measure)
    return f"+{text}" if float(text) > 0 else text


def reinsertion(outcomes: Outcomes, shares: Shares) -> Table:
    """Tell what is won by giving terms back to k or more people at once."""
    again = Shares(outcomes, REINSERT)
    rows = []
    for cell in again.grid(GREEDY):
        for target in again.targets(GREEDY, cell):
            plain, back, ours = (
                found.of(algorithm, cell, target, "log_size")
                for found, algorithm in ((shares, GREEDY), (again, GREEDY), (shares, INSERT))
            )
            more = _NONE if plain is None or back is None else _signed(back - plain)
            told = (percent(plain), percent(back), more, percent(ours))
            rows.append((_named(cell), target, *told))
    head = (*_LEVEL, "target", "greedy", "with re-insertion", "more", "insertion")
    about = "Log size kept in %, by the same target each time."
    return Table("reinsertion", "Giving back what deletion wastes", about, head, tuple(rows))

"""How long the passes of the paper's algorithm took, in one run on one machine: section 5.2.

Seconds are no rows: they stand in the provenance of the run that measured them, and a release that
is reused has none. The first pass has in it what comes before it, as the paper's line 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import mean, median
from typing import NamedTuple

from .burghardt_shares import FIS, GREEDY, PAPER, TABLES, Cell, given
from .claims import Draft, Wording, as_verdict, listed, stated
from .outcomes import Outcomes, PassSeconds
from .report import UNDECIDED

PAPERS_TIMES = {  # of the first pass and the second
    Cell(2, 2): ("2 h 55 min 58 s", "9 min 25 s"),
    Cell(2, 5): ("7 min 41 s", ""),
    Cell(3, 2): ("90 h 8 min 24 s", ""),
    Cell(3, 5): ("48 min 45 s", ""),
}
NONE = "–"
_ONE = "One run on one machine."
Drafts = list[Draft]


class Took(NamedTuple):
    """The seconds of a release, averaged over seeds."""

    first: float
    later: float | None  # of each later pass; None if there is none
    longest_later: float
    every: float


class Times:
    """The seconds of the releases of tables by the paper's algorithm where m > 1."""

    def __init__(self, outcomes: Outcomes, seconds: PassSeconds) -> None:
        self.releases = 0
        self.took: dict[tuple[Cell, str], Took] = {}  # of those measured in this run
        for variant in outcomes.experiment.named(TABLES):
            m, k = given(variant, "m"), given(variant, "k")
            if given(variant, "algorithm") != GREEDY or not isinstance(k, int):
                continue
            if isinstance(m, int) and m > 1:
                self.releases += 1
                runs = [list(seconds.get(unit.name, ())) for unit in outcomes.units_of(variant)]
                if runs and all(runs):
                    self.took[Cell(m, k), str(given(variant, "target"))] = _took(runs)

    @property
    def whole(self) -> bool:
        """Tell whether each release was measured in this run."""
        return 0 < self.releases == len(self.took)

    def cells(self) -> list[Cell]:
        """List the levels of privacy that were measured."""
        return sorted({cell for cell, _ in self.took})

    def of(self, cell: Cell) -> dict[str, Took]:
        """Return what each target took at a level of privacy."""
        return {target: took for (at, target), took in self.took.items() if at == cell}

    def first(self, cell: Cell) -> float:
        """Return what a first pass took, as a median over targets."""
        return median(took.first for took in self.of(cell).values())

    def later(self, cell: Cell) -> float | None:
        """Return what a later pass took, as a median over targets; None if there was none."""
        known = [took.later for took in self.of(cell).values() if took.later is not None]
        return median(known) if known else None


def _took(runs: list[list[float]]) -> Took:
    later = [mean(run[1:]) for run in runs if len(run) > 1]
    return Took(
        first=mean(run[0] for run in runs),
        later=mean(later) if later else None,
        longest_later=max((max(run[1:], default=0.0) for run in runs), default=0.0),
        every=mean(sum(run) for run in runs),
    )


def seconds_at(times: Times, cell: Cell) -> tuple[str, str, str, str]:
    """Write what the first pass and a later one took here, and in the paper."""
    papers = PAPERS_TIMES.get(cell, ("", ""))
    if not times.of(cell):
        return NONE, NONE, *papers
    return shown(times.first(cell)), shown(times.later(cell)), *papers


def shown(seconds: float | None) -> str:
    """Write seconds."""
    return NONE if seconds is None else f"{seconds:,.3f}"


def time_claims(times: Times) -> Drafts:
    """Judge what the paper says of times; undecided where not all were measured in this run."""
    return [draft for make in _CLAIMS for draft in make(times)] if times.releases else []


def _stated(times: Times, words: Wording, finding: str, holds: bool) -> Draft:
    """State a claim on times."""
    if times.whole:
        return stated(words, f"{finding} {_ONE}", as_verdict(holds))
    missing = times.releases - len(times.took)
    why = f"Of {missing} of {times.releases} releases no time was measured in this run."
    return stated(words, why, UNDECIDED)


def first_is_longest(times: Times) -> Drafts:
    """Ask whether the first pass takes most time."""
    found = [took for took in times.took.values() if took.later is not None]
    if times.whole and not found:
        return []
    text = "The first iteration requires most time (read as: more than any later one)."
    words = Wording("first-iteration-longest", text, f"{PAPER} 5.2")
    right = sum(took.first > took.longest_later for took in found)
    told = [
        f"{shown(times.first(cell))} and {shown(times.later(cell))} s at {cell}"
        for cell in times.cells()[:1]
    ]
    finding = (
        f"It is so in {right} of {len(found)} releases. The first and a later one take, as medians "
        f"over targets, {''.join(told)}; in the paper 2 h 55 min 58 s and 9 min 25 s at "
        f"{Cell(2, 2)}."
    )
    return [_stated(times, words, finding, right == len(found))]


def fis_is_slowest(times: Times) -> Drafts:
    """Ask whether the target that looks at frequent sets takes most time, all levels together."""
    text = "The target that requires most time is fis (read as: over all levels of privacy)."
    words = Wording("fis-slowest", text, f"{PAPER} 5.2")
    by_cell = [times.of(cell) for cell in times.cells()]
    common = [target for target in (by_cell or [{}])[0] if all(target in each for each in by_cell)]
    if times.whole and (FIS not in common or len(common) < 2):
        return []
    totals = {target: sum(each[target].every for each in by_cell) for target in common}
    slowest = max(totals, key=totals.__getitem__, default="")
    told = [f"{shown(took)} of {target}" for target, took in totals.items()]
    first = sum(_slowest(each) == FIS for each in by_cell)
    finding = (
        f"Slowest is {slowest}; in all they took, in seconds, {listed(told or [NONE])}. At {first} "
        f"of {len(by_cell)} levels fis is the slowest."
    )
    return [_stated(times, words, finding, slowest == FIS)]


def _slowest(took: Mapping[str, Took]) -> str:
    """Name the target that took longest at a level of privacy."""
    return max(took, key=lambda target: took[target].every)


def larger_k_is_faster(times: Times) -> Drafts:
    """Ask whether the first pass is shorter for k = 5, or the next larger k, than for k = 2."""
    text = (
        "For k = 5 (or the next larger k there is) the first iteration takes less time than for "
        "k = 2."
    )
    words = Wording("larger-k-faster", text, f"{PAPER} 5.2: 7 min 41 s and 2 h 55 min 58 s")
    pairs = []
    for cell in (each for each in times.cells() if each.k == 2):
        larger = [each for each in times.cells() if each.m == cell.m and each.k > 2]
        if larger:
            other = next((each for each in larger if each.k == 5), larger[0])
            pairs.append((cell, other))
    return _shorter(times, words, pairs)


def triples_take_longer(times: Times) -> Drafts:
    """Ask whether the first pass is longer for m = 3 than for m = 2, at each k."""
    text = "For m = 3 the first iteration takes more time than for m = 2, at each k."
    words = Wording("m-3-slower", text, f"{PAPER} 5.2: 90 h 8 min 24 s and 2 h 55 min 58 s")
    cells = times.cells()
    pairs = [(Cell(3, k), Cell(2, k)) for m, k in cells if m == 2 and Cell(3, k) in cells]
    return _shorter(times, words, pairs)


def _shorter(times: Times, words: Wording, pairs: list[tuple[Cell, Cell]]) -> Drafts:
    """Claim of each pair of levels that the first pass is longer at the first one."""
    if times.whole and not pairs:
        return []
    told = [
        f"{shown(times.first(slow))} s at {slow} and {shown(times.first(fast))} s at {fast}"
        for slow, fast in pairs
    ]
    finding = f"As medians over targets it takes {'; '.join(told)}."
    right = all(times.first(slow) > times.first(fast) for slow, fast in pairs)
    return [_stated(times, words, finding, right)]


_CLAIMS: tuple[Callable[[Times], Drafts], ...] = (
    first_is_longest,
    fis_is_slowest,
    larger_k_is_faster,
    triples_take_longer,
)

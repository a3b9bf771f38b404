"""How long the passes of the paper's algorithm took, in one run on one machine (section 5.2)."""
# Seconds are no rows: they are in the provenance of the run that measured them. The first pass
# includes what comes before it, like line 3 of the paper's algorithm.

from __future__ import annotations

from statistics import mean, median
from typing import NamedTuple

from ..outcomes import Outcomes, PassSeconds
from .shares import GREEDY, NONE, TABLES, Cell

PAPERS_TIMES = {  # times of the first pass and the second
    Cell(2, 2): ("2 h 55 min 58 s", "9 min 25 s"),
    Cell(2, 5): ("7 min 41 s", ""),
    Cell(3, 2): ("90 h 8 min 24 s", ""),
    Cell(3, 5): ("48 min 45 s", ""),
}


class Took(NamedTuple):
    """The seconds of a release, averaged over seeds."""

    first: float
    later: float | None  # mean of the later passes; None if there is none
    longest_later: float
    every: float


class Times:
    """The seconds of the paper's algorithm for the releases of the tables where m > 1."""

    def __init__(self, outcomes: Outcomes, seconds: PassSeconds) -> None:
        self.releases = 0
        self.took: dict[tuple[Cell, str], Took] = {}  # level and target, if measured in this run
        for variant in outcomes.experiment.named(TABLES):
            m, k = variant.number("m"), variant.number("k")
            # With m = 1 the algorithm makes no passes.
            if variant.given.get("algorithm") == GREEDY and m and k and m > 1:
                self.releases += 1
                runs = [list(seconds.get(unit.name, ())) for unit in outcomes.units_of(variant)]
                if runs and all(runs):
                    later = [mean(run[1:]) for run in runs if len(run) > 1]
                    self.took[Cell(int(m), int(k)), str(variant.given.get("target"))] = Took(
                        first=mean(run[0] for run in runs),
                        later=mean(later) if later else None,
                        longest_later=max(max(run[1:], default=0.0) for run in runs),
                        every=mean(sum(run) for run in runs),
                    )

    @property
    def whole(self) -> bool:
        """Return whether all releases were measured in this run."""
        return 0 < self.releases == len(self.took)

    def cells(self) -> list[Cell]:
        """Return the levels of privacy that were measured."""
        return sorted({cell for cell, _ in self.took})

    def of(self, cell: Cell) -> dict[str, Took]:
        """Return the seconds of each target at the level `cell`."""
        return {target: took for (at, target), took in self.took.items() if at == cell}

    def first(self, cell: Cell) -> float:
        """Return the seconds of a first pass at `cell`, as a median over targets."""
        return median(took.first for took in self.of(cell).values())

    def later(self, cell: Cell) -> float | None:
        """Return the seconds of a later pass at `cell`, as a median over targets, or None."""
        known = [took.later for took in self.of(cell).values() if took.later is not None]
        return median(known) if known else None


def seconds_at(times: Times, cell: Cell) -> tuple[str, str, str, str]:
    """Return the times at `cell` of the first pass and a later one, here and in the paper."""
    papers = PAPERS_TIMES.get(cell, ("", ""))
    if not times.of(cell):
        return NONE, NONE, *papers
    return shown(times.first(cell)), shown(times.later(cell)), *papers


def shown(seconds: float | None) -> str:
    """Return `seconds` as text."""
    return NONE if seconds is None else f"{seconds:,.3f}"

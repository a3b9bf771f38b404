"""How long the passes of the paper's algorithm took, in one run on one machine (section 5.2)."""
# Seconds are no rows: they are in the provenance of the run that measured them. The first pass
# includes what comes before it, like line 3 of the paper's algorithm.

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean, median

from ..outcomes import Outcomes, PassSeconds
from .shares import GREEDY, NONE, TABLES, Cell

PAPERS_TIMES = {  # times of the first pass and the second
    Cell(2, 2): ("2 h 55 min 58 s", "9 min 25 s"),
    Cell(2, 5): ("7 min 41 s", ""),
    Cell(3, 2): ("90 h 8 min 24 s", ""),
    Cell(3, 5): ("48 min 45 s", ""),
}
Passes = Mapping[Cell, Sequence[list[float]]]


def passes_of(outcomes: Outcomes, seconds: PassSeconds) -> Passes:
    """Return the `seconds` of each target's passes by level, where all seeds were measured."""
    passes: dict[Cell, list[list[float]]] = defaultdict(list)
    for variant in outcomes.experiment.named(TABLES):
        m, k = variant.number("m"), variant.number("k")
        # With m = 1 the algorithm makes no passes.
        if variant.given.get("algorithm") == GREEDY and m and k and m > 1:
            runs = [list(seconds.get(unit.name, ())) for unit in outcomes.units_of(variant)]
            if runs and all(runs):
                later = [mean(run[1:]) for run in runs if len(run) > 1]
                first = mean(run[0] for run in runs)
                passes[Cell(int(m), int(k))].append([first, *([mean(later)] if later else [])])
    return passes


def seconds_at(passes: Passes, cell: Cell) -> tuple[str, str, str, str]:
    """Return the times at `cell` of the first pass and a later one, here and in the paper.

    Here they are medians over targets.
    """
    columns = ([times[at] for times in passes.get(cell, ()) if at < len(times)] for at in (0, 1))
    first, later = (f"{median(some):,.3f}" if some else NONE for some in columns)
    return (first, later, *PAPERS_TIMES.get(cell, ("", "")))

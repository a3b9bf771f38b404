"""Whether a row is made of its members' profiles, over exactly the terms that it may release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ...arrays import Floats, Ints, Marks
from ..files.evidence import JudgedRows
from ..finding import CountedLine, Findings, row_findings
from ..tally import Tally

NEAR = 1e-12  # of a mean, relative
HALF = 2.0**-53  # what one addition can lose, relative


def judge_rows(parameters: Mapping[str, Any], tally: Tally, rows: JudgedRows) -> Findings:
    """Yield whether `rows` have the terms and weights that `parameters` and `tally` demand."""
    may = _released(parameters, tally)
    at, known = find(rows.keys, tally.keys)
    row = rows.keys // rows.span
    allowed = known.copy()
    allowed[known] = may[at[known]]
    dropped = may.copy()
    dropped[at[known]] = False
    count = rows.users.size
    line = "has a term that no member has"
    yield from row_findings(
        "terms", tally.sure(marked(row[~known], count)), line, "only terms that a member has"
    )
    line = f"has a term that more than p={parameters['p']} of its members have"
    good = "no term is released that the guarantee suppresses"
    yield from row_findings(
        "guarantee", tally.sure(marked(row[known & ~allowed], count)), line, good
    )
    line = "lacks a term that it must release"
    lacking = tally.sure(marked(tally.keys[dropped] // tally.span, count))
    yield from row_findings("terms", lacking, line, "every term that must be released is there")
    cells, weights = at[allowed], rows.cells.weights[allowed]
    if parameters["representative"] == "union":
        wrong = weights != tally.largest[cells]
    else:
        wrong = _off_centroid(tally, cells, weights)
    line = f"has a weight that is not the {parameters['representative']}'s"
    good = CountedLine(f"{{}} weights are the {parameters['representative']}'s", weights.size)
    yield from row_findings("weights", tally.sure(marked(row[allowed][wrong], count)), line, good)


def expected_rows(parameters: Mapping[str, Any], tally: Tally) -> tuple[Marks, Floats]:
    """Return marks for the cells of `tally` that rows must release, and every cell's weight."""
    if parameters["representative"] == "union":
        return _released(parameters, tally), tally.largest
    return _released(parameters, tally), tally.sums / tally.sizes[tally.group]


def _released(parameters: Mapping[str, Any], tally: Tally) -> Marks:
    """Return marks for the cells that a row must release; it must not release the others."""
    if parameters["guarantee"] == "average":
        return np.ones(tally.keys.size, dtype=np.bool_)
    p = Fraction(str(parameters["p"]))
    limit = np.zeros(int(tally.sizes.max()) + 1, dtype=np.int64)
    sizes = np.unique(tally.sizes)
    limit[sizes] = [math.floor(p * size) for size in sizes.tolist()]
    return tally.counts <= limit[tally.sizes][tally.group]


def find(keys: Ints, among: Ints) -> tuple[Ints, Marks]:
    """Return where each of `keys` stands in `among`, and whether it does; both ascend."""
    # If no term is suppressed, both are equal and need no search.
    if keys.size == among.size and np.array_equal(keys, among):
        return np.arange(keys.size), np.ones(keys.size, dtype=np.bool_)
    return find_any(keys, among)


def find_any(keys: Ints, among: Ints) -> tuple[Ints, Marks]:
    """Return where each of `keys` stands in `among`, which ascends, and whether it does."""
    at = np.minimum(np.searchsorted(among, keys), among.size - 1)
    return at, among[at] == keys


def marked(rows: Ints, count: int) -> Marks:
    """Return marks for those of `count` rows whose numbers are in `rows`."""
    marks: Marks = np.bincount(rows, minlength=count) > 0
    return marks


def _off_centroid(tally: Tally, cells: Ints, weights: Floats) -> Marks:
    """Return marks for the weights that are not the mean of their members'."""
    members = tally.sizes[tally.group[cells]]
    # If all weights are 1, the mean is one division, so it must be exact.
    if tally.weights is None:
        wrong: Marks = weights != tally.counts[cells] / members
        return wrong
    mean = tally.sums[cells] / members
    lost = members * HALF
    # The sum of many members may lose more than NEAR.
    allowed = np.maximum(NEAR, lost)
    # Where rounding could decide, the mean is taken again from an exact sum.
    doubt, off = lost + 4 * HALF, np.abs(weights - mean)
    wrong = off > allowed * mean
    near = np.abs(off - allowed * mean) <= doubt * mean
    for cell in np.flatnonzero(near).tolist():
        exact = math.fsum(tally.weights_of(int(cells[cell]))) / int(members[cell])
        wrong[cell] = abs(float(weights[cell]) - exact) > float(allowed[cell]) * exact
    return wrong

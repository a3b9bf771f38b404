"""Whether a row is what its members' profiles give, over exactly the terms that it may release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .evidence import Rows
from .finding import Findings, Floats, Ints, Marks, told_rows
from .tally import Tally

NEAR = 1e-12  # of a mean, relative
HALF = 2.0**-53  # what one addition can lose, relative


def judge_rows(parameters: Mapping[str, Any], tally: Tally, rows: Rows) -> Findings:
    """Check each row's terms, and then the weights of those that it releases rightly."""
    may = _released(parameters, tally)
    at, known = find(rows.keys, tally.keys)
    row = rows.keys // rows.span
    allowed = known.copy()
    allowed[known] = may[at[known]]
    dropped = may.copy()
    dropped[at[known]] = False
    count = rows.users.size
    line = "has a term that no member has"
    yield from told_rows("terms", _any(row[~known], count), line, "only terms that a member has")
    line = f"has a term that more than p={parameters['p']} of its members have"
    good = "no term is released that the guarantee leaves out"
    yield from told_rows("guarantee", _any(row[known & ~allowed], count), line, good)
    line = "lacks a term that it must release"
    lacking = _any(tally.keys[dropped] // tally.span, count)
    yield from told_rows("terms", lacking, line, "every term that must be released is")
    cells, weights = at[allowed], rows.cells.weights[allowed]
    wrong = _REPRESENTATIVES[parameters["representative"]](tally, cells, weights)
    line = f"has a weight that is not the {parameters['representative']}'s"
    good = f"{weights.size} weights are the {parameters['representative']}'s"
    yield from told_rows("weights", _any(row[allowed][wrong], count), line, good)


def expected_rows(parameters: Mapping[str, Any], tally: Tally) -> tuple[Marks, Floats]:
    """Return which cells the rows must release, and every cell's weight."""
    if parameters["representative"] == "union":
        return _released(parameters, tally), tally.largest
    return _released(parameters, tally), tally.sums / tally.sizes[tally.group]


def _released(parameters: Mapping[str, Any], tally: Tally) -> Marks:
    """Mark the cells that a row must release; the others it must not."""
    if parameters["guarantee"] == "average":
        return np.ones(tally.keys.size, dtype=np.bool_)
    p = Fraction(str(parameters["p"]))
    limit = np.zeros(int(tally.sizes.max()) + 1, dtype=np.int64)
    sizes = np.unique(tally.sizes)
    limit[sizes] = [math.floor(p * size) for size in sizes.tolist()]
    return tally.counts <= limit[tally.sizes][tally.group]


def find(keys: Ints, among: Ints) -> tuple[Ints, Marks]:
    """Return where each key stands among others, and whether it does; both ascend."""
    if keys.size == among.size and np.array_equal(keys, among):
        return np.arange(keys.size), np.ones(keys.size, dtype=np.bool_)
    at = np.minimum(np.searchsorted(among, keys), among.size - 1)
    return at, among[at] == keys


def _any(rows: Ints, count: int) -> Marks:
    """Mark the rows that stand in a list."""
    found = np.zeros(count, dtype=np.bool_)
    found[rows] = True
    return found


def _off_centroid(tally: Tally, cells: Ints, weights: Floats) -> Marks:
    """Mark the weights that are not their members' mean: exactly, where all weights are 1."""
    members = tally.sizes[tally.group[cells]]
    if tally.weights is None:
        wrong: Marks = weights != tally.counts[cells] / members
        return wrong
    mean = tally.sums[cells] / members
    lost = members * HALF
    allowed = np.maximum(NEAR, lost)  # a plain sum of many loses more
    doubt, off = lost + 4 * HALF, np.abs(weights - mean)
    wrong = off > allowed * mean
    near = np.abs(off - allowed * mean) <= doubt * mean
    for cell in np.flatnonzero(near).tolist():
        exact = math.fsum(tally.weights_of(int(cells[cell]))) / int(members[cell])
        wrong[cell] = abs(float(weights[cell]) - exact) > float(allowed[cell]) * exact
    return wrong


def _off_union(tally: Tally, cells: Ints, weights: Floats) -> Marks:
    """Mark the weights that are not exactly the largest of their members'."""
    wrong: Marks = weights != tally.largest[cells]
    return wrong


_REPRESENTATIVES = {"centroid": _off_centroid, "union": _off_union}

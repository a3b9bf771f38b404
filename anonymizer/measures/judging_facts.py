"""The facts of a release, counted once more from the judge's own tally."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .evidence import MANIFEST, Rows
from .finding import Finding, Findings
from .grounds import Grounds
from .judging_rows import find
from .tally import Tally

FACTS = (
    "users",
    "groups",
    "single_person_rows",
    "smallest_group",
    "mean_group",
    "largest_group",
    "average_linkability",
    "mean_average_linkability",
    "share_linkability",
    "worst_linkability",
    "mean_worst_linkability",
    "released_linkability",
    "change_of_belief",
    "terms_in_groups",
    "terms_released",
    "terms_suppressed",
)
NEAR = 1e-12  # between two computations of the same number, relative; absolute below 1


def judge_facts(facts: Mapping[str, Any], true: Mapping[str, int | float], near: float) -> Findings:
    """Check that each fact is stated and true, and that there is no other; near: how exactly."""
    missing = [name for name in true if name not in facts]
    wrong = [name for name in true if name in facts and not _same(facts[name], true[name], near)]
    for name in missing:
        yield Finding("facts", False, MANIFEST, f"{name} is missing")
    for name in wrong:
        yield Finding("facts", False, MANIFEST, f"{name} is not {true[name]!r}")
    unknown = len(facts.keys() - true.keys())
    if unknown:
        yield Finding("facts", False, MANIFEST, f"{unknown} facts are none that can be checked")
    if not (missing or wrong or unknown):
        yield Finding("facts", True, MANIFEST, f"all {len(true)} facts are as counted again")


def _same(stated: object, true: int | float, near: float) -> bool:
    if type(true) is int:
        return type(stated) is int and stated == true
    if not near:
        return repr(stated) == repr(true)
    return type(stated) is float and math.isclose(stated, true, rel_tol=near, abs_tol=near)


def general_facts(grounds: Grounds) -> dict[str, int | float]:
    """Return every fact that release.json states, unless its method has others."""
    return counted_facts(grounds.tally, grounds.rows)


def counted_facts(tally: Tally, rows: Rows) -> dict[str, int | float]:
    """Return the general facts."""
    sizes, groups = tally.sizes, tally.sizes.size
    served = int(sizes.sum())
    average = Fraction(tally.profile_terms, tally.users)
    worst = np.maximum.reduceat(tally.counts, tally.begins) / sizes
    share = np.add.reduceat(tally.counts, tally.begins) / (sizes * tally.distinct)
    values = (
        served,
        groups,
        int(np.count_nonzero(sizes == 1)),
        int(sizes.min()),
        served / groups,
        int(sizes.max()),
        float(average / int(tally.distinct.min())),
        float(average) * math.fsum(1 / tally.distinct) / groups,
        float(share.max()),
        float(worst.max()),
        math.fsum(worst) / groups,
        _released(tally, rows),
        _belief(tally),
        tally.keys.size,
        rows.keys.size,
        tally.keys.size - rows.keys.size,
    )
    return dict(zip(FACTS, values, strict=True))


def facts_of_rows(tally: Tally, rows: Rows, groups: int) -> dict[str, int | float]:
    """Return the same facts where rows hide their members' shares: what each publishes is taken.

    The members' own shares, or how many terms they have, would tell more than the rows do. Only
    the first rows are groups; in the tally, users are their members.
    """
    sizes, cells = tally.sizes[:groups], int(rows.cells.ends[groups])
    average = Fraction(tally.profile_terms, tally.users)
    terms, begins = np.diff(rows.cells.ends[: groups + 1]), rows.cells.ends[:groups]
    shares, columns = rows.cells.weights[:cells], rows.cells.columns[:cells]
    share, worst = (of.reduceat(shares, begins) for of in (np.add, np.maximum))
    prior = tally.having / tally.users
    lacked = np.bincount(columns, minlength=tally.span) < groups
    present = np.abs(shares - prior[columns])
    values = (
        int(tally.sizes.sum()),
        groups,
        int(np.count_nonzero(sizes == 1)),
        int(sizes.min()),
        tally.users / groups,
        int(sizes.max()),
        float(average / int(terms.min())),
        float(average) * math.fsum(1 / terms) / groups,
        float((share / terms).max()),
        float(worst.max()),
        math.fsum(worst) / groups,
        float(worst.max()),
        max(float(present.max()), float(prior.max(where=lacked, initial=0.0))),
        cells,
        cells,
        0,
    )
    return dict(zip(FACTS, values, strict=True))


def _released(tally: Tally, rows: Rows) -> float:
    """Return the largest share of members who have a term that stands in their row."""
    at, known = find(rows.keys, tally.keys)
    standing = at[known]
    share = tally.counts[standing] / tally.sizes[tally.group[standing]]
    return float(share.max(initial=0.0))


def _belief(tally: Tally) -> float:
    """Return the largest change of belief: in a term of some group, or in one that it lacks."""
    prior = tally.having / tally.users
    column = tally.column
    present = np.abs(tally.counts / tally.sizes[tally.group] - prior[column])
    lacked = np.bincount(column, minlength=tally.span) < tally.sizes.size
    return max(float(present.max()), float(prior.max(where=lacked, initial=0.0)))

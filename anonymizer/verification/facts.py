"""The facts of a release, counted again from the judge's own tally."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats, Ints
from .choices import MOST
from .files.evidence import MANIFEST, JudgedRows
from .files.strict_lines import is_real, is_whole
from .finding import Findings, settled
from .recounts.rows import find
from .tally import Grounds, Tally

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
# What vocabularies state in addition.
OCCURRENCES = (
    "users_left_out",
    "kept_occurrences",
    "replaced_occurrences",
    "suppressed_occurrences",
)
OWN_SHARE = "own_share"  # where a row has words that not all of its people match
# Of any method; all other facts are real numbers.
WHOLE = {*FACTS[:4], "largest_group", *FACTS[13:], *OCCURRENCES, "queries_released"}
# These can be counted in the rows alone, so they follow when a row is withdrawn.
COUNTS = FACTS[:6]
_DIGITS = 12  # of a real number: two computations of it may differ in the last of 16


def judge_facts(
    facts: Mapping[str, Any], true: Mapping[str, int | float], changed: bool
) -> Findings:
    """Yield whether `facts` are the `true` ones, digit by digit, and no others.

    If the release has `changed`, only what its rows show can be counted again.
    """
    known = {name: _written(value) for name, value in true.items()}
    true = {name: value for name, value in known.items() if name in COUNTS or not changed}
    faults = {
        f"{name} is not a number as facts are written": not _is_one(facts[name], like=known[name])
        for name in sorted((known.keys() - true.keys()) & facts.keys())
    }
    faults |= {f"{name} is missing": name not in facts for name in known}
    # By their digits, as True equals 1 and 1 equals 1.0.
    faults |= {
        f"{name} is not {value!r}": name in facts and repr(facts[name]) != repr(value)
        for name, value in true.items()
    }
    unknown = len(facts.keys() - known.keys())
    faults[f"{unknown} facts are not known to the judge"] = unknown > 0
    good = f"all {len(true)} facts are as counted again"
    if changed:
        good = (
            f"{len(true)} facts are as counted again; {len(known) - len(true)} facts are of "
            "all rows and people at the making, and were checked then"
        )
    yield from settled("facts", MANIFEST, faults, good)


def _written(value: int | float) -> int | float:
    """Return `value` as release.json must state it."""
    return float(f"{value:.{_DIGITS}g}") if type(value) is float else value


def _is_one(stated: object, like: int | float) -> bool:
    """Return whether `stated` may be a fact of the same type as `like`."""
    if type(like) is int:
        return is_whole(stated, 0, MOST)
    return isinstance(stated, float) and is_real(stated) and repr(stated) == repr(_written(stated))


class FactFigures(NamedTuple):
    """Of a release, or of a shard of one, what the facts of all shards follow from."""

    sizes: Ints
    distinct: Ints  # terms of each group
    worst: Floats  # of each group
    share: float  # the largest; so are released and belief
    released: float
    belief: float
    terms: int
    terms_released: int
    terms_suppressed: int


def figures_of(grounds: Grounds) -> FactFigures:
    """Return the figures of the groups in `grounds`."""
    tally, rows = grounds.tally, grounds.rows
    sizes = tally.sizes
    worst = np.maximum.reduceat(tally.counts, tally.begins) / sizes
    share = np.add.reduceat(tally.counts, tally.begins) / (sizes * tally.distinct)
    prior = tally.having / tally.users
    column = tally.column
    at, known = find(rows.keys, tally.keys)
    standing = at[known]
    released = tally.counts[standing] / tally.sizes[tally.group[standing]]
    present = np.abs(tally.counts / tally.sizes[tally.group] - prior[column])
    lacked = np.bincount(column, minlength=tally.span) < tally.sizes.size
    return FactFigures(
        sizes,
        tally.distinct,
        worst,
        float(share.max()),
        float(released.max(initial=0.0)),
        max(float(present.max()), float(prior.max(where=lacked, initial=0.0))),
        tally.keys.size,
        rows.keys.size,
        tally.keys.size - int(np.count_nonzero(known)),
    )


def general_facts(grounds: Grounds) -> dict[str, int | float]:
    """Return the facts of `grounds` that release.json must state, unless its method has others."""
    tally = grounds.tally
    return facts_of_figures([figures_of(grounds)], tally.profile_terms / tally.users)


def facts_of_figures(shards: Sequence[FactFigures], average: float) -> dict[str, int | float]:
    """Return the facts of all `shards`; `average` is the mean number of terms of a profile."""
    sizes, distinct, worst = (np.concatenate([one[at] for one in shards]) for at in range(3))
    served, groups = int(sizes.sum()), sizes.size
    values = (
        served,
        groups,
        int(np.count_nonzero(sizes == 1)),
        int(sizes.min()),
        served / groups,
        int(sizes.max()),
        average / int(distinct.min()),
        # fsum depends on no order, so a second count has the same digits.
        math.fsum(average / distinct) / groups,
        max(one.share for one in shards),
        float(worst.max()),
        math.fsum(worst) / groups,
        max(one.released for one in shards),
        max(one.belief for one in shards),
        sum(one.terms for one in shards),
        sum(one.terms_released for one in shards),
        sum(one.terms_suppressed for one in shards),
    )
    return dict(zip(FACTS, values, strict=True))


def facts_of_rows(tally: Tally, rows: JudgedRows, groups: int) -> dict[str, int | float]:
    """Return the facts of what the first `groups` of `rows` publish, which hide their members."""
    sizes, cells = tally.sizes[:groups], int(rows.cells.ends[groups])
    average = tally.profile_terms / tally.users
    terms, begins = np.diff(rows.cells.ends[: groups + 1]), rows.cells.ends[:groups]
    shares, columns = rows.cells.weights[:cells], rows.cells.columns[:cells]
    # One sum after the other, as reduceat rounds by the order of terms.
    cell = shares.data
    share = np.array([math.fsum(cell[i : i + n]) for i, n in zip(begins, terms, strict=True)])
    worst = np.maximum.reduceat(shares, begins)
    prior = tally.having / tally.users
    lacked = np.bincount(columns, minlength=tally.span) < groups
    present = np.abs(shares - prior[columns])
    values = (
        int(tally.sizes.sum()),
        groups,
        int(np.count_nonzero(sizes == 1)),
        int(sizes.min()),
        int(sizes.sum()) / groups,
        int(sizes.max()),
        average / int(terms.min()),
        math.fsum(average / terms) / groups,
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

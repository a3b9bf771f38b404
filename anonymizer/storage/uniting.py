"""One release of several cohorts: the rows of all, and those facts that follow from theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..model import Release, stacked
from .records import rounded

# How the fact of all cohorts follows from each cohort's. No other fact does.
_OF_ALL: dict[str, Callable[[Sequence[Any]], Any]] = {
    "users": sum,
    "groups": sum,
    "single_person_rows": sum,
    "smallest_group": min,
    "largest_group": max,
    "average_linkability": max,
    "share_linkability": max,
    "worst_linkability": max,
    "released_linkability": max,
    "change_of_belief": max,
    "terms_in_groups": sum,
    "terms_released": sum,
    "terms_suppressed": sum,
    "users_left_out": sum,
    "kept_occurrences": sum,
    "replaced_occurrences": sum,
    "suppressed_occurrences": sum,
}


def united(cohorts: Sequence[Release]) -> Release:
    """Return the `cohorts` of a release as one: the rows of groups first, then fallback rows."""
    first = cohorts[0]
    if len(cohorts) == 1:
        return first
    sizes = np.array([len(cohort.rows) for cohort in cohorts])
    groups = np.array([cohort.groups for cohort in cohorts])
    starts, cohort_of = np.cumsum(sizes) - sizes, np.repeat(np.arange(sizes.size), sizes)
    fallback = np.arange(cohort_of.size) - starts[cohort_of] >= groups[cohort_of]
    order = np.argsort(fallback, kind="stable")
    number = np.argsort(order)
    rows = stacked([cohort.rows for cohort in cohorts])
    behind = zip(cohorts, starts.tolist(), strict=True)
    served = [number[cohort.row_of_user + start] for cohort, start in behind]
    return Release(
        rows.some(order),
        tuple(user for cohort in cohorts for user in cohort.users),
        np.concatenate(served),
        first.method,
        first.parameters,
        facts_of_all([cohort.facts for cohort in cohorts]),
        promise=first.promise,
        slots=tuple(
            slot._replace(row=int(number[slot.row + start]))
            for cohort, start in zip(cohorts, starts.tolist(), strict=True)
            for slot in cohort.slots
        ),
        taxonomy=first.taxonomy,
        cohort_of_row=cohort_of[order],
    )


def facts_of_all(facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the facts of all cohorts together, from the `facts` of each; others are dropped."""
    stated = set(facts[0]).intersection(*facts[1:])
    of_all = {
        name: combined([one[name] for one in facts])
        for name, combined in _OF_ALL.items()
        if name in stated
    }
    if {"groups", "mean_group"} <= stated:
        people = sum(one["groups"] * one["mean_group"] for one in facts)
        of_all["mean_group"] = rounded(people / of_all["groups"])
    if {"users", "own_share"} <= stated:
        shares = sum(one["users"] * one["own_share"] for one in facts)
        of_all["own_share"] = rounded(shares / of_all["users"])
    return of_all

"""(k,m)-anonymity by deleting terms.

Burghardt, Böhm, Guttman & Clifton, Anonymous Search Histories Featuring Personalized Advertisement
(a four-page form of it is in CIKM 2010), definition 1: a log is (k,m)-anonymous if every
combination of at most m terms of somebody's history stands in at least k histories. It speaks of
sets of terms: how often somebody asked for a term is not covered; frequencies="drop" leaves it out.

algorithm "greedy" is the paper's, user by user until nothing changes; with reinsert="groups" terms
are then given back to as many users at once as can have them. "insert" is ours: it gives terms to
groups of users in one pass, in several orders of which the best is kept. The target says what a
term is worth; bid, clicks, impressions and revenue are read from a marketing table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..histories import MOST_TERMS, Histories, histories_of
from ..km_greedy import OnPass, delete_greedily, unheard
from ..km_orders import Worth, give_back, most_kept
from ..marketing import VALUES, MarketingTable, values_of
from ..model import (
    BadInput,
    BadParameter,
    Floats,
    Ints,
    Profiles,
    Progress,
    Release,
    Unsatisfiable,
    silent,
)
from ..reduced import reduced_release

TARGETS = ("logsize", "users", "fis", "random", *VALUES)
NAME = "km-anonymity"
_CHOICES = {
    "algorithm": ("insert", "greedy"),
    "target": TARGETS,
    "ties": ("random", "first"),
    "reinsert": ("none", "groups"),
    "frequencies": ("keep", "drop"),
}
_WITHOUT_EFFECT = {"insert": {"ties": "random", "reinsert": "none"}, "greedy": {}}  # whatever given


def anonymize(
    profiles: Profiles,
    *,
    k: int = 5,
    m: int = 2,
    algorithm: str = "insert",
    target: str = "logsize",
    ties: str = "random",
    reinsert: str = "none",
    frequencies: str = "keep",
    marketing: str = "none",  # whoever calls reads it and hands the table in
    table: MarketingTable | None = None,
    rng: np.random.Generator,
    progress: Progress = silent,
    on_pass: OnPass = unheard,  # called at the end of each pass of "greedy"; it changes nothing
    **_others: object,
) -> Release:
    """Delete terms until any m of a user are had by k users; release what is left of each."""
    chosen = {"algorithm": algorithm, "target": target, "ties": ties}
    chosen |= {"reinsert": reinsert, "frequencies": frequencies}
    _refuse(profiles, k, m, chosen, marketing if table is None else "handed in")
    histories, worth = histories_of(profiles), _worth(profiles, target, table)
    if algorithm == "greedy":
        passes = _greedily(histories, worth, k, m, ties, reinsert, rng, progress, on_pass)
    else:
        kept = most_kept(histories, worth, k=k, m=m, rng=rng, progress=progress)
        passes = np.where(kept, 0, 1).astype(np.int64)
    settled = {**chosen, **_WITHOUT_EFFECT[algorithm]}
    parameters = {"k": k, "m": m, **settled, "marketing": _whose(table, target)}
    return reduced_release(
        profiles, passes == 0, passes, parameters, method=NAME, frequencies=frequencies
    )


def _whose(table: MarketingTable | None, target: str) -> str:
    """Name the kind of table that the target read."""
    if table is None or target not in VALUES:
        return "none"
    return "synthetic" if table.drawn else "given"


def idle(parameters: Mapping[str, Any]) -> list[str]:
    """Name the parameters that have no effect beside the others."""
    # At m = 1 and at k = 1 all algorithms and targets come to the same; these two are not named,
    # as tables tell of each.
    greedy = parameters["algorithm"] == "greedy" and min(parameters["m"], parameters["k"]) > 1
    effective = {
        "ties": greedy and parameters["target"] != "random",
        "reinsert": greedy,
        "marketing": parameters["target"] in VALUES,
    }
    return [name for name, has_effect in effective.items() if not has_effect]


def _refuse(profiles: Profiles, k: int, m: int, chosen: Mapping[str, str], marketing: str) -> None:
    """Refuse what is not allowed, all of it at once; then what nobody could satisfy."""
    faults = [
        f"{name}={value} must be one of {', '.join(_CHOICES[name])}"
        for name, value in chosen.items()
        if value not in _CHOICES[name]
    ]
    faults += [f"k={k} must be 1 or more"] * (k < 1)
    faults += [f"m={m} must be from 1 to {MOST_TERMS}"] * (not 1 <= m <= MOST_TERMS)
    if marketing not in ("none", "handed in"):
        faults.append(f"marketing={marketing} needs that table handed in")
    elif chosen["target"] in VALUES and marketing == "none":
        faults.append(
            f"target={chosen['target']} needs a marketing table: set marketing=FILE.csv, or "
            "marketing=synthetic for an invented one"
        )
    if faults:
        raise BadParameter("; ".join(faults))
    if k > len(profiles):
        raise Unsatisfiable(
            f"k={k} is more than the {len(profiles)} users there are; take a smaller k"
        )


def _worth(profiles: Profiles, target: str, table: MarketingTable | None) -> Worth:
    values = values_of(table, profiles.terms, target) if table and target in VALUES else None
    worth = Worth(target, profiles.weights.data, values)
    with np.errstate(over="ignore"):
        totals = [worth.weights.sum()]
        if values is not None:
            totals.append((worth.weights * values[profiles.weights.indices]).sum())
    if not np.isfinite(totals).all():
        raise BadInput("weights are too large to be added up; divide them by a large number")
    return worth


def _utility(histories: Histories, worth: Worth) -> Floats | None:
    """Return what a term is worth in the whole log; nothing where chance or sets decide."""
    if worth.target == "users":
        return np.bincount(histories.terms, minlength=histories.span).astype(np.float64)
    if worth.target in ("random", "fis"):
        return None
    tf: Floats = np.bincount(histories.terms, worth.weights, histories.span).astype(np.float64)
    return tf if worth.values is None else worth.values * tf


def _greedily(
    histories: Histories,
    worth: Worth,
    k: int,
    m: int,
    ties: str,
    reinsert: str,
    rng: np.random.Generator,
    progress: Progress,
    on_pass: OnPass,
) -> Ints:
    """Return the pass in which each cell was deleted, and 0 where it is kept, or given back."""
    utility = _utility(histories, worth)
    passes = delete_greedily(
        histories,
        k=k,
        m=m,
        target=worth.target if utility is None else "value",
        values=utility,
        ties=ties,
        rng=rng,
        progress=progress,
        on_pass=on_pass,
    )
    if reinsert == "none":
        return passes
    kept = give_back(histories, passes == 0, worth, k=k, m=m, rng=rng)
    return np.where(kept, 0, passes)

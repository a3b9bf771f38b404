# ruff: noqa
# mypy: ignore-errors
"""TEMPORARY: (k,m)-anonymity by deletion, small and slow, until the real file takes its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations

import numpy as np
from scipy.sparse import csr_matrix

from ..marketing import MarketingTable, values_of
from ..model import BadParameter, Floats, Profiles, Progress, Release, Unsatisfiable, silent
from ..reduced import reduced_release
from ..wordnet import WordNet

_MARKET = ("bid", "clicks", "impressions", "revenue")
_CHOICES = {
    "algorithm": ("insert", "greedy"),
    "target": ("logsize", "users", "fis", "random", *_MARKET),
    "ties": ("random", "first"),
    "reinsert": ("none", "groups"),
    "frequencies": ("keep", "drop"),
}


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
    marketing: str = "none",
    wordnet: WordNet,
    table: MarketingTable | None = None,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Release:
    """Delete terms until every combination of m terms stands in k histories."""
    given = {"algorithm": algorithm, "target": target, "ties": ties}
    given |= {"reinsert": reinsert, "frequencies": frequencies}
    for name, value in given.items():
        if value not in _CHOICES[name]:
            raise BadParameter(f"{name}={value} must be one of {', '.join(_CHOICES[name])}")
    values = _values(profiles, target, table)
    histories = [set(profiles.slice(row)[0].tolist()) for row in range(len(profiles))]
    if algorithm == "greedy":
        passes = _quick_greedy(profiles, k, m, target, values, ties, reinsert, rng)
    else:
        passes = _quick(profiles, k, m, target, table, rng)
    parameters = {"k": k, "m": m, **given}
    state = "none" if table is None else "synthetic" if table.synthetic else "given"
    return _released(profiles, histories, passes, {**parameters, "marketing": state})


def idle(given: Mapping[str, object]) -> list[str]:
    """Name the parameters that have no effect beside the others."""
    return ["ties", "reinsert"] if given["algorithm"] == "insert" else []


def _values(profiles: Profiles, target: str, table: MarketingTable | None) -> Floats | None:
    weights, span = profiles.weights, len(profiles.terms)
    users = np.bincount(weights.indices, minlength=span).astype(float)
    frequency: Floats = np.bincount(weights.indices, weights.data, minlength=span)
    if target == "random":
        return None
    if target in ("users", "fis"):
        return users
    if target == "logsize":
        return frequency
    if table is None:
        raise BadParameter(f"target={target} needs a marketing table")
    return frequency * values_of(table, profiles.terms, target)


def _quick_greedy(profiles, k, m, target, values, ties, reinsert, rng):
    from ..histories import histories_of
    from ..km_greedy import delete_greedily
    from ..km_insertion import insert

    h = histories_of(profiles)
    rule = target if target in ("random", "fis") else "value"
    given = values if rule == "value" else None
    at = delete_greedily(h, k=k, m=m, target=rule, values=given, ties=ties, rng=rng)
    if reinsert == "groups":
        tf = np.bincount(h.terms, profiles.weights.data, h.span)
        order = np.argsort(-tf, kind="stable")
        at = np.where(insert(h, k=k, m=m, order=order, start=at == 0), 0, at)
    return [
        {t: n for t, n in zip(h.terms[a:b].tolist(), at[a:b].tolist()) if n}
        for a, b in zip(h.ends[:-1], h.ends[1:])
    ]


def _quick(profiles, k, m, target, table, rng):
    from ..histories import histories_of
    from ..km_orders import most_kept

    h = histories_of(profiles)
    values = values_of(table, profiles.terms, target) if target in _MARKET else None
    kept = most_kept(h, target, weights=profiles.weights.data, values=values, k=k, m=m, rng=rng)
    return [
        dict.fromkeys(h.terms[a:b][~kept[a:b]].tolist(), 1) for a, b in zip(h.ends[:-1], h.ends[1:])
    ]


def _released(
    profiles: Profiles,
    histories: list[set[int]],
    passes: list[dict[int, int]],
    parameters: dict[str, object],
) -> Release:
    weights = profiles.weights
    owner = np.repeat(np.arange(len(profiles)), profiles.sizes)
    cells = zip(owner.tolist(), weights.indices.tolist())
    at = np.array([passes[u].get(t, 0) for u, t in cells], dtype=np.int64)
    return reduced_release(
        profiles, at == 0, at, parameters, frequencies=str(parameters["frequencies"])
    )

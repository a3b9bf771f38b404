"""A world in which all that Burghardt et al. claim holds, and what we claim beside it.

Every number is a level of its measure minus what a target loses of it, so that each cell of a table
can be worked out by hand; a test that wants another world says what is otherwise in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from search_app.experiments.burghardt import figures
from search_app.experiments.design import Experiment, ExperimentInputs, Unit, Variant
from search_app.experiments.outcomes import Outcomes, PassSeconds
from search_app.experiments.report.report import Report
from search_app.experiments.report.summaries import sum_up

from ..conftest import outcomes_of

KS, MS = (2, 20, 100), (1, 2, 3)
ALONE = 0.02  # more than at m = 2 is kept at m = 1, by every target and algorithm
TARGETS = ("logsize", "users", "fis", "random", "bid", "clicks", "impressions", "revenue")
LEVELS = {  # by k
    "distinct_terms": (0.11, 0.02, 0.002),
    "log_size": (0.45, 0.30, 0.18),
    "users": (0.95, 0.87, 0.70),
    "bid": (0.51, 0.33, 0.20),
    "clicks": (0.85, 0.75, 0.61),
    "impressions": (0.85, 0.71, 0.57),
    "revenue": (0.61, 0.41, 0.30),
}
LOST = {  # by who doesn't target at it
    "distinct_terms": 0.001,
    "log_size": 0.02,
    "users": 0.01,
    "bid": 0.13,
    "clicks": 0.2,
    "impressions": 0.15,
    "revenue": 0.1,
}
OWN = {"log_size": "logsize", "distinct_terms": "random"}
MORE = {"insert": 0.03, "reinsert": 0.01}  # than the paper's algorithm keeps
Change = Callable[[dict[str, Any], str], float]


def unchanged(_given: dict[str, Any], _measure: str) -> float:
    return 0.0


def share(given: dict[str, Any], measure: str) -> float:
    """Say what a release keeps of a measure."""
    target, k, m = given["target"], given["k"], given["m"]
    level = LEVELS[measure][KS.index(k)]
    if m == 1:
        return level + ALONE
    if measure == "log_size" and m == 3 and k == 2:
        level -= 0.08
    insert = given["algorithm"] == "insert"
    more = MORE["insert"] if insert else MORE["reinsert"] * (given["reinsert"] == "groups")
    if measure == "log_size" and target == "random" and not insert:
        # 28 % less than the best at k = 100; given back, a tenth of that
        lost = level * {2: 0.1, 20: 0.14, 100: 0.28}[k]
        return level - (lost / 10 if given["reinsert"] == "groups" else lost) + more
    lost = 0.0 if target == OWN.get(measure, measure) else LOST[measure]
    lost = 0.01 if (measure, target) == ("log_size", "users") else lost
    lost = 0.16 if (measure, m, k, lost) == ("revenue", 3, 2, 0.1) else lost
    lost = 0.41 if (measure, target) == ("clicks", "bid") else lost
    return level - lost + more


def facts_of(
    change: Change = unchanged, *, synthetic: bool = True, **others: float
) -> Callable[[Unit], dict[str, float]]:
    """Say what is measured of each unit."""
    whose = {"table_synthetic": int(synthetic)}

    def facts(unit: Unit) -> dict[str, float]:
        if not unit.method:
            return {**INPUT, **whose, **others}
        given = dict(unit.parameters)
        if unit.method == "p-linkability":
            size = given["k"] or 3
            belief = {"change_of_belief": 1 / size}
            return {"users": 24, "mean_group": size, "kept_users": 1.0, **belief, **whose}
        kept = {f"kept_{name}": share(given, name) + change(given, name) for name in LEVELS}
        passes, in_first = {1: (1, 1000), 2: (6, 900), 3: (4, 900)}[given["m"]]
        first = {"passes": passes, "deletions": 1000, "deletions_pass_1": in_first}
        first["change_of_belief"] = 0.99
        return {"users": 24, "mean_group": 1.0, **kept, **first, **whose, **others}

    return facts


INPUT: dict[str, float] = {
    "profiles": 2400,
    "robots_dropped": 7,
    "terms": 250_000,
    "log_size": 60000.0,
    "longest_history": 450,
    "weights_in_index": 0.66,
    "users_not_in_index": 3,
    "r_term_frequency_user_frequency": 0.8,
    "n_term_frequency_user_frequency": 5000,
}
_VALUES = ("term_frequency", "user_frequency", "bid", "clicks", "impressions", "revenue")
for _at, _one in enumerate(_VALUES):
    for _other in _VALUES[_at + 1 :]:
        INPUT.setdefault(
            f"r_{_one}_{_other}", -0.01 if (_one, _other) == ("bid", "clicks") else 0.1
        )
        INPUT.setdefault(f"n_{_one}_{_other}", 1000)


def release(table: str, **given: Any) -> Variant:
    """Return a variant of deletion that nobody asks."""
    modes, seeds = given.pop("modes", ()), given.pop("seeds", (0,))
    usual = {"k": 5, "m": 2, "algorithm": "greedy", "target": "logsize", "reinsert": "none"}
    complete = {**usual, **given}
    return Variant(table, "km-anonymity", given, "tf", modes=modes, seeds=seeds, complete=complete)


def groups(k: int | None, p: float | None = None) -> Variant:
    given = {"p": p, "k": k}
    return Variant("search", "p-linkability", given, "tf", complete=given)


def variants() -> list[Variant]:
    """Return every table of the experiment, in small."""
    found = [Variant("input", weights="tf", modes=())]
    found += [
        release("tables", k=k, m=m, algorithm=algorithm, target=target, seeds=seeds)
        for k in KS
        for m in MS
        for algorithm in ("greedy", "insert")
        for target in TARGETS
        for seeds in ((0, 1) if target == "random" else (0,),)
    ]
    found += [
        release("reinsert", k=k, m=m, target=target, reinsert="groups", seeds=(0,))
        for k in KS
        for m in (1, 2)
        for target in ("logsize", "random")
    ]
    found.append(Variant("baselines", weights="tf", modes=("none", "own", "average")))
    for k in KS:
        found.append(release("search", k=k, algorithm="insert", modes=("group",)))
        found.append(release("search", k=k, algorithm="greedy", modes=("group",)))
        found.append(groups(k))
    return [*found, groups(None, 0.4)]


AP = {"none": 0.3, "own": 1.0, "average": 0.5}


def level(unit: Unit, mode: str, _pool: int) -> float:
    """Say how high each mode stands: insertion 0.8, greedy 0.7, groups 0.6, less 0.01 a k of 10."""
    if mode != "group":
        return AP[mode]
    if unit.method == "p-linkability":
        return 0.6
    return 0.8 if unit.parameters["algorithm"] == "insert" else 0.7


def world(
    facts: Callable[[Unit], dict[str, float]] | None = None,
    *,
    by_level: Callable[[Unit, str, int], float] = level,
    keep: Callable[[Variant], bool] = lambda _variant: True,
) -> Outcomes:
    """Return the outcomes of it all, or of the variants that are kept."""
    some = [each for each in variants() if keep(each)]
    made = outcomes_of(some, by_level, facts or facts_of(), ("AP", "AP_c"), "burghardt")
    inputs = replace(ExperimentInputs(), robots=100, size=None, users=None)
    return replace(made, experiment=Experiment("burghardt", "A title", inputs, tuple(some)))


def report(outcomes: Outcomes, took: PassSeconds | None = None) -> Report:
    return figures.report(sum_up(outcomes), took or {})


def seconds(outcomes: Outcomes, **others: float) -> dict[str, list[float]]:
    """Say what each of three passes took: 16 s, 4 s and 1 s by k, ten times as much for triples.

    A later one takes a sixteenth of it; fis twice as much, and any other target as is said.
    """
    found = {}
    for unit in outcomes.units:
        given = dict(unit.parameters)
        if given.get("algorithm") == "greedy":
            first = {2: 16.0, 20: 4.0, 100: 1.0}[given["k"]] * (10 if given["m"] == 3 else 1)
            first *= others.get(given["target"], 2 if given["target"] == "fis" else 1)
            found[unit.name] = [first, first / 16, first / 16] if given["m"] > 1 else [first]
    return found

"""R4 and R5: grouping alone, for growing numbers of users and against its obvious version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.arrays import Floats, Ints
from anonymizer.grouping.bounds import Bounds, bounds_of
from anonymizer.grouping.greedy import cluster
from anonymizer.model import Profiles
from anonymizer.similarity.wordnet import unit_rows

from ..bars import Measured
from ..inputs.aol import zipf
from ..plan import Place, Plan
from ..timing import Times, divided, seconds_of, timed, times_of

P = 0.4
TERMS, VOCABULARY = 40, 60_000
LARGE, FEW = 50_000, 3  # users from which a round takes seconds; rounds for these
TURNS = 1  # as the obvious version takes ten seconds and more
BAR_OF = 128_000  # users in the bar in seconds
WARM_UP = 500  # users in the first call, which compiles

Case = tuple[Profiles, csr_matrix, Bounds]


def measure_growth(plan: Plan, _place: Place) -> Measured:
    """Time clustering alone on doubling numbers of users (R4), `plan.rounds` times in turns."""
    cases = {users: prepared(users) for users in sorted(plan.clustered)}
    cluster(*prepared(WARM_UP), 0)
    taken: dict[int, list[float]] = {users: [] for users in cases}
    for number in range(plan.rounds):
        for users, case in cases.items():
            if number < FEW or users < LARGE:
                taken[users].append(seconds_of(partial(cluster, *case, 0)))
    times = {users: times_of(seconds) for users, seconds in taken.items()}
    seconds = {users: of_users.median for users, of_users in times.items()}
    ratios = doublings(seconds)
    values = {"growth": max(ratios.values())} if ratios else {}
    calls = {"growth": min(of_users.calls for of_users in times.values())}
    if BAR_OF in times:
        values["clustering"], calls["clustering"] = seconds[BAR_OF], times[BAR_OF].calls
    facts = {
        **quartiles({str(users): of_users for users, of_users in times.items()}),
        "time(2n) / time(n)": {name: round(value, 2) for name, value in ratios.items()},
        "exponent": round(exponent(seconds), 2) if len(seconds) > 1 else None,
    }
    return Measured(values, facts, calls=calls)


def quartiles(times: Mapping[str, Times]) -> dict[str, Any]:
    """Return the medians and quartiles in `times` in seconds, as facts."""
    return {
        "seconds": {name: round(t.median, 3) for name, t in times.items()},
        "quartiles": {n: [round(t.low, 3), round(t.high, 3)] for n, t in times.items()},
        "calls": {name: t.calls for name, t in times.items()},
    }


def doublings(seconds: Mapping[int, float]) -> dict[str, float]:
    """Return the ratios time(2n) / time(n) of `seconds` by number of users."""
    doubled = [(one, two) for one, two in pairwise(sorted(seconds)) if two == 2 * one]
    return {f"{two} / {one}": seconds[two] / seconds[one] for one, two in doubled}


def exponent(seconds: Mapping[int, float]) -> float:
    """Return the slope of the line that fits the logarithms of users and `seconds` best."""
    x, y = np.log(np.array([*seconds.items()], dtype=np.float64)).T
    return float(np.polyfit(x, y, 1)[0])


def measure_obvious(plan: Plan, _place: Place) -> Measured:
    """Time clustering and its obvious version in turns on `plan.obvious` users (R5)."""
    case = prepared(plan.obvious)
    cluster(*prepared(WARM_UP), 0)
    groups: list[Ints] = []
    plain: list[Ints] = []
    calls: dict[str, Callable[[], None]] = {
        "clustering": lambda: groups.append(cluster(*case, 0).group_of),
        "obvious": lambda: plain.append(obvious(*case, 0)),
    }
    taken = timed(calls, min(plan.rounds, TURNS))
    values, counts = divided(taken, {"obvious": ("clustering", "obvious")})
    same = all(np.array_equal(groups[0], others) for others in (*groups, *plain))
    return Measured(
        values,
        facts={
            "users": plan.obvious,
            "groups": int(groups[0].max()) + 1,
            **quartiles(taken),
            "same groups": same,
        },
        wrong={} if same else {"obvious": "the groups differ from those of the obvious version"},
        calls=counts,
    )


def prepared(users: int) -> Case:
    """Return the arguments of clustering for invented `users`."""
    profiles = invented_profiles(users)
    return profiles, unit_rows(profiles.weights), bounds_of(profiles, p=P, k=None, l=None, t=None)


def invented_profiles(users: int) -> Profiles:
    """Return profiles of `users` with `TERMS` Zipf-distributed terms, a third of their topic."""
    rng = np.random.default_rng(users)
    drawn = zipf(VOCABULARY, 22, users * 3 * TERMS, rng).reshape(users, -1)
    topics = rng.integers(VOCABULARY, size=(2_000, 300), dtype=np.int32)
    mine = topics[zipf(2_000, 20, users, rng)]
    own = rng.random(drawn.shape) < 0.35
    picked = np.take_along_axis(mine, zipf(300, 5, drawn.size, rng).reshape(drawn.shape), 1)
    drawn = np.where(own, picked, drawn)
    rows = [np.sort(list(dict.fromkeys(row))[:TERMS]) for row in drawn.tolist()]
    columns = np.concatenate(rows)
    ends = np.cumsum([0, *map(len, rows)])
    matrix = csr_matrix((np.ones(columns.size), columns, ends), shape=(users, VOCABULARY))
    names = tuple(f"t{number}" for number in range(VOCABULARY))
    return Profiles(tuple(f"u{number}" for number in range(users)), names, matrix)


def obvious(profiles: Profiles, unit: csr_matrix, bounds: Bounds, seed: int) -> Ints:
    """Return groups by algorithm 1 as written: for each `seed` one sparse product and a sort."""
    group_of = np.full(len(profiles), -1)
    seeds: list[int] = []
    while True:
        similarity = _likeness(unit, seed)
        living = np.flatnonzero(group_of < 0)
        others = living[living != seed]
        closest_first = others[np.argsort(-similarity[others], kind="stable")]
        members, covered = [seed, *closest_first.tolist()], set[int]()
        for taken, row in enumerate(members, 1):
            covered.update(profiles.slice(row)[0].tolist())
            if len(covered) >= bounds.terms:
                del members[taken:]
                break
        else:
            break  # together they have too few terms
        group_of[members] = len(seeds)
        seeds.append(seed)
        living = np.flatnonzero(group_of < 0)
        if not living.size:
            return group_of
        seed = int(living[np.argmin(similarity[living])])
    for row in members:
        group_of[row] = int(np.argmax(_likeness(unit, row)[seeds]))
    return group_of


def _likeness(unit: csr_matrix, row: int) -> Floats:
    similarities: Floats = np.round((unit @ unit[row].T).toarray().ravel(), 12)
    return similarities

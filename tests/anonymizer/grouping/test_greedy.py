"""Algorithm 1 against ten naive lines: the index, the batches and the shards change no group."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import compiled
from anonymizer.errors import BadInput, Unsatisfiable
from anonymizer.grouping import greedy as clustering
from anonymizer.grouping import neighbours
from anonymizer.grouping.bounds import Bounds
from anonymizer.grouping.greedy import cluster
from anonymizer.grouping.greedy_scan import scan
from anonymizer.model import Grouping, Profiles
from anonymizer.similarity.wordnet import unit_rows

from ..small_world import Row, fits


def naive(rows: list[Row], bounds: Bounds, seed: int, linkage: str = "seed") -> list[int]:
    """Algorithm 1, word for word, over dictionaries."""
    units = [unit(row) for row in rows]
    free, groups = list(range(len(rows))), []
    while free:
        free.remove(seed)
        group = [seed]
        while not fits(rows, group, bounds) and free:
            target = units[seed] if linkage == "seed" else centre(units, group)
            group.append(max(free, key=lambda row: (cosine(units[row], target), -row)))
            free.remove(group[-1])
        groups.append(group)
        if free:
            seed = min(free, key=lambda row: (cosine(units[row], units[seed]), row))
    leftover = [] if fits(rows, groups[-1], bounds) else groups.pop()
    if leftover and not groups:
        raise Unsatisfiable("no groups")
    ends = [units[g[0]] if linkage == "seed" else centre(units, g) for g in groups]
    for row in leftover:
        order = sorted(range(len(groups)), key=lambda g: (-cosine(units[row], ends[g]), g))
        takers = [g for g in order if fits(rows, [*groups[g], row], bounds)]
        if not takers:
            raise Unsatisfiable("no groups")
        groups[takers[0]].append(row)
    return [next(g for g, group in enumerate(groups) if row in group) for row in range(len(rows))]


def unit(row: Row) -> Row:
    length = math.sqrt(sum(weight * weight for weight in row.values()))
    return {term: weight / length for term, weight in row.items()}


def centre(units: list[Row], group: list[int]) -> Row:
    total: Row = {}
    for member in group:
        for term, weight in units[member].items():
            total[term] = total.get(term, 0.0) + weight
    return unit(total)


def cosine(one: Row, other: Row) -> float:
    return round(sum(one[term] * other.get(term, 0.0) for term in sorted(one)), 12)


@pytest.fixture(params=["as set", "short lists"])
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let lists run out, batches end and searches for the farthest begin even among few users."""
    if request.param == "short lists":
        monkeypatch.setattr(clustering, "CLOSEST", 1)
        monkeypatch.setattr(clustering, "LONGER", 2)
        monkeypatch.setattr(clustering, "BATCH", 3)
        monkeypatch.setattr(clustering, "LOOK", 0)
    yield


WORDS = [f"t{number:02d}" for number in range(14)]
WEIGHTS = st.sampled_from([0.5, 1.0, 1.0, 1.0, 3.0, 1e-9])
ROWS = st.lists(
    st.dictionaries(st.sampled_from(WORDS), WEIGHTS, min_size=1, max_size=6),
    min_size=1,
    max_size=40,
)


def profiles_of(rows: list[Row]) -> Profiles:
    return Profiles.from_rows({f"u{number}": row for number, row in enumerate(rows)})


def outcome(call: object) -> list[int] | str:
    try:
        found = call()  # type: ignore[operator]
    except Unsatisfiable:
        return "unsatisfiable"
    return found.group_of.tolist() if isinstance(found, Grouping) else found


@pytest.mark.usefixtures("limits")
@given(rows=ROWS, need=st.integers(0, 8), members=st.integers(1, 4), start=st.integers(0, 50))
def test_groups_equal_the_naive_twin(rows: list[Row], need: int, members: int, start: int) -> None:
    profiles, bounds = profiles_of(rows), Bounds(need, members)
    unit_, first = unit_rows(profiles.weights), start % len(rows)
    expected = outcome(lambda: naive(rows, bounds, first))
    assert outcome(lambda: cluster(profiles, unit_, bounds, first)) == expected
    assert outcome(lambda: scan(profiles, unit_, bounds, first)) == expected
    dense = unit_.toarray()
    assert outcome(lambda: scan(profiles, dense, bounds, first)) == expected


@given(
    rows=ROWS,
    diversity=st.sampled_from([1.0, 1.5, 2.0, 3.0, 5.0]),
    distance=st.sampled_from([0.2, 0.4, 0.6, 0.8, 2.0]),
    start=st.integers(0, 50),
)
def test_groups_with_bounds_that_may_be_lost(
    rows: list[Row], diversity: float, distance: float, start: int
) -> None:
    profiles, bounds = profiles_of(rows), Bounds(1, 1, math.log(diversity), distance)
    unit_, first = unit_rows(profiles.weights), start % len(rows)
    expected = outcome(lambda: naive(rows, bounds, first))
    assert outcome(lambda: cluster(profiles, unit_, bounds, first)) == expected


@given(rows=ROWS, need=st.integers(1, 8), start=st.integers(0, 50))
def test_centroid_linkage_equals_the_naive_twin(rows: list[Row], need: int, start: int) -> None:
    profiles, bounds = profiles_of(rows), Bounds(need)
    vectors, first = unit_rows(profiles.weights), start % len(rows)
    expected = outcome(lambda: naive(rows, bounds, first, "centroid"))
    assert outcome(lambda: scan(profiles, vectors, bounds, first, linkage="centroid")) == expected


def crowd(users: int, seed: int, terms: int = 400) -> Profiles:
    """Make users with few to many terms, some of which nearly everybody has."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, terms + 1) ** 0.8
    rows = [
        {f"t{t:03d}": 1.0 for t in rng.choice(terms, rng.geometric(0.15), p=share / share.sum())}
        for _ in range(users)
    ]
    return profiles_of(rows)


def whole_scan(profiles: Profiles, bounds: Bounds, first: int) -> list[int]:
    return scan(profiles, unit_rows(profiles.weights), bounds, first).group_of.tolist()


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("need", [12, 60])
def test_a_crowd_is_grouped_as_by_a_scan(seed: int, need: int) -> None:
    profiles, bounds = crowd(700, seed), Bounds(need)
    found = cluster(profiles, unit_rows(profiles.weights), bounds, seed)
    assert found.group_of.tolist() == whole_scan(profiles, bounds, seed)


@pytest.mark.parametrize("seed", range(4))
def test_cosines_near_nothing_are_told_apart(seed: int) -> None:
    """Weights from 1e-9 to 1000: many cosines are next to 0, which sums in 32 bits can't tell."""
    rng = np.random.default_rng(seed)
    rows = [
        {f"t{t:02d}": float(10 ** rng.uniform(-9, 3)) for t in rng.choice(60, rng.geometric(0.2))}
        for _ in range(250)
    ]
    profiles, bounds = profiles_of(rows), Bounds(12)
    found = cluster(profiles, unit_rows(profiles.weights), bounds, seed)
    assert found.group_of.tolist() == whole_scan(profiles, bounds, seed)


@pytest.mark.parametrize("many", [0.0, 1e9], ids=["all added up", "all noted"])
def test_both_ways_to_add_up_find_the_same(monkeypatch: pytest.MonkeyPatch, many: float) -> None:
    profiles, bounds = crowd(600, 9), Bounds(30)
    expected = whole_scan(profiles, bounds, 5)
    monkeypatch.setattr(neighbours, "MANY", many)
    found = cluster(profiles, unit_rows(profiles.weights), bounds, 5)
    assert found.group_of.tolist() == expected


@pytest.mark.parametrize("cores", [1, 2, 3, 7, 50])
def test_groups_do_not_depend_on_the_number_of_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    profiles, bounds = crowd(40, 3), Bounds(25)
    expected = whole_scan(profiles, bounds, 0)
    monkeypatch.setattr(clustering, "cores", lambda: cores)
    monkeypatch.setattr(compiled, "cores", lambda: cores)
    found = cluster(profiles, unit_rows(profiles.weights), bounds, 0)
    assert found.group_of.tolist() == expected


def test_progress_ends_with_everybody() -> None:
    profiles, told = crowd(300, 1), []
    cluster(profiles, unit_rows(profiles.weights), Bounds(20), 0, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 300


def test_too_many_users_for_the_index_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "MOST_ROWS", 5)
    profiles = profiles_of([{"a": 1.0}] * 6)
    with pytest.raises(BadInput, match=r"6 users .* which 5 can be; take more --parts"):
        cluster(profiles, unit_rows(profiles.weights), Bounds(1), 0)


def test_a_place_in_a_list_holds_every_cosine_and_row() -> None:
    highest = int(np.rint(np.float64(1 + 2**-52) * neighbours.UNITS))
    assert neighbours.HIGHEST - highest >= 0
    assert (neighbours.HIGHEST << neighbours.ROW_BITS | neighbours.ROWS) < 2**63

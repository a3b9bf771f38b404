"""(k,m)-anonymity end to end: the paper's examples, what is refused, and what has no effect."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from anonymizer.errors import BadInput, BadParameter, Unsatisfiable
from anonymizer.marketing.table import MarketingTable
from anonymizer.methods import anonymize, idle_parameters
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.verification.combinations import Sets, least_support, sets_of

from ..small_logs import draw_rows

TABLE = MarketingTable(
    ("t0", "t1", "t2", "t3", "t4", "t5"),
    bid=np.array([1.0, 2.0, 0.0, 4.0, 0.5, 8.0]),
    impressions=np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0]),
    clicks=np.array([1.0, 0.0, 3.0, 1.0, 2.0, 7.0]),
    synthetic=False,
)
# Four users have a and b, two of them c too, and one has what nobody else has.
ROWS: dict[str, dict[str, float]] = {
    "u1": {"a": 1.0, "b": 2.0, "c": 3.0},
    "u2": {"a": 1.0, "b": 1.0, "c": 1.0},
    "u3": {"a": 4.0, "b": 1.0},
    "u4": {"a": 1.0, "b": 1.0},
    "u5": {"own": 9.0},
}


def made(rows: dict[str, dict[str, float]], seed: int = 0, **parameters: Any) -> Release:
    """Run the method on rows; a table is handed in where there is one."""
    table = parameters.pop("table", None)
    profiles = Profiles.from_rows(rows)
    handed_in: dict[str, Any] = {"wordnet": None, "table": table}
    return anonymize("km-anonymity", Inputs(profiles, seed=seed, **handed_in), parameters)


def kept(release: Release) -> dict[str, dict[str, float]]:
    """Return each user's row; who has none is missing."""
    names = release.rows.users
    rows = zip(release.users, release.row_of_user.tolist(), strict=True)
    return {user: dict(release.rows.row(names[row])) for user, row in rows}


def lost(release: Release) -> dict[str, set[str]]:
    deletions = release.deletions
    return {} if deletions is None else {u: {*deletions.row(u)} for u in deletions.users}


def drawn(rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """Draw a small log of users who have a term each, of uneven weights."""
    rows = [row for row in draw_rows(rng, users=12, span=6) if row] or [{0}]
    return {
        f"u{n}": {f"t{term}": float(rng.integers(1, 4)) for term in row}
        for n, row in enumerate(rows)
    }


# -- the paper's examples --------------------------------------------------------------------------


def georgia() -> dict[str, dict[str, float]]:
    """Return a log with the supports of table 1: who has which of the three, the rest alone."""
    both = {"Arnold Georgia Lilburn": 1, "Arnold Georgia": 14, "Georgia Lilburn": 4}
    alone = {"Georgia": 1380 - 1 - 14 - 4, "Arnold": 167 - 1 - 14, "Lilburn": 6 - 1 - 4}
    rows = [dict.fromkeys(t.split(), 1.0) for t, n in (both | alone).items() for _ in range(n)]
    return {f"u{number}": row for number, row in enumerate(rows)}


def sets_from(rows: Iterable[Iterable[str]]) -> Sets:
    """Hand rows to the judge's counter, terms numbered by the alphabet."""
    every = [sorted(row) for row in rows]
    number = {term: at for at, term in enumerate(sorted({t for row in every for t in row}))}
    columns = [number[term] for row in every for term in row]
    ends = np.cumsum([0, *map(len, every)])
    return sets_of(ends, np.array(columns, dtype=np.int64))


def test_example_4_arnold_and_lilburn_are_one_person() -> None:
    log = georgia()
    sets = sets_from(log.values())
    assert [least_support(sets, size) for size in (1, 2, 3)] == [6, 1, 1]
    assert lost(made(log, k=6, m=1)) == {}
    gone = lost(made(log, k=7, m=1))
    assert len(gone) == 6
    assert set().union(*gone.values()) == {"Lilburn"}
    assert lost(made(log, k=1, m=2)) == {}


@pytest.mark.parametrize("algorithm", ["insert", "greedy"])
def test_example_4_thelma_arnold_would_not_have_been_found(algorithm: str) -> None:
    """Only she has Arnold and Lilburn, so at k = 2 and m = 2 she loses one, and nobody else any.

    The rarer one goes, as it is worth less: 6 others have searched for Lilburn, 167 for Arnold.
    """
    release = made(georgia(), k=2, m=2, algorithm=algorithm, ties="first")
    assert lost(release) == {"u0": {"Lilburn"}}
    assert least_support(sets_from(kept(release).values()), 2) == 4  # Lilburn and Georgia


# -- the method ------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["insert", "greedy"])
def test_frequencies_are_dropped_from_rows_only(algorithm: str) -> None:
    given = {"k": 2, "m": 2, "algorithm": algorithm}
    own = made(ROWS, **given, frequencies="keep")
    assert kept(own) == {u: r for u, r in ROWS.items() if u != "u5"}
    release = made(ROWS, **given)
    assert kept(release) == {u: dict.fromkeys(r, 1.0) for u, r in ROWS.items() if u != "u5"}
    assert lost(release) == {"u5": {"own"}}
    assert release.parameters["frequencies"] == "drop"
    assert release.left_out == 1


@pytest.mark.parametrize("algorithm", ["insert", "greedy"])
@pytest.mark.parametrize("target", ["random", "logsize", "users", "fis", "revenue"])
def test_the_seed_settles_everything(algorithm: str, target: str) -> None:
    rng, different = np.random.default_rng(5), 0
    for _ in range(12):
        rows = drawn(rng)
        given = {"k": 1 + (len(rows) > 2), "algorithm": algorithm, "target": target}

        def run(seed: int, rows: Any = rows, given: Any = given) -> Any:
            try:
                release = made(rows, seed, **given, reinsert="groups", table=TABLE)
            except Unsatisfiable as fault:
                return str(fault)
            return kept(release), lost(release), release.rows.users

        assert run(1) == run(1)
        different += run(1) != run(2)
    assert different or target != "random"


def test_whose_table_it_is_stands_in_the_release() -> None:
    rows = {"u1": {"t0": 1.0}, "u2": {"t0": 1.0}}
    told = {
        (target, table is None): made(rows, k=2, target=target, table=table).parameters["marketing"]
        for target, table in (("bid", TABLE), ("logsize", TABLE), ("logsize", None))
    }
    assert told == {("bid", False): "given", ("logsize", False): "none", ("logsize", True): "none"}


# -- what has no effect ----------------------------------------------------------------------------

USUAL: dict[str, Any] = {"ties": "first", "reinsert": "groups", "marketing": "synthetic"}


@pytest.mark.parametrize(
    ("given", "idle"),
    [
        ({"algorithm": "insert"}, ["ties", "reinsert", "marketing"]),
        ({"algorithm": "insert", "target": "bid"}, ["ties", "reinsert"]),
        ({"algorithm": "greedy"}, ["marketing"]),
        ({"algorithm": "greedy", "target": "clicks"}, []),
        ({"algorithm": "greedy", "target": "random"}, ["ties", "marketing"]),
        ({"algorithm": "greedy", "m": 1, "target": "bid"}, ["ties", "reinsert"]),
        ({"algorithm": "greedy", "k": 1, "m": 3}, ["ties", "reinsert", "marketing"]),
    ],
)
def test_parameters_without_effect_are_known(given: dict[str, Any], idle: list[str]) -> None:
    assert idle_parameters("km-anonymity", {**USUAL, **given}) == idle


@pytest.mark.parametrize(
    "given",
    [
        {"algorithm": "insert"},
        {"algorithm": "greedy", "target": "random"},
        {"algorithm": "greedy", "m": 1},
        {"algorithm": "greedy", "k": 1, "m": 3, "target": "fis"},
    ],
)
def test_what_has_no_effect_changes_nothing(given: dict[str, Any]) -> None:
    rng = np.random.default_rng(8)
    idle = idle_parameters("km-anonymity", {**USUAL, **given})
    other = {"ties": "random", "reinsert": "none"}
    given = {"k": 2, "ties": "first", "reinsert": "groups", **given}
    changed = {**given, **{name: other[name] for name in idle if name in other}}
    assert changed != given
    compared = 0
    for seed in range(30):
        rows = drawn(rng)
        try:
            one = made(rows, seed, **given)
        except Unsatisfiable:
            continue
        two = made(rows, seed, **changed)
        assert (kept(one), lost(one)) == (kept(two), lost(two))
        compared += 1
    assert compared > 15


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"k": 0}, "k=0 must be 1 or more"),
        ({"m": 0}, "m=0 must be from 1 to 4"),
        ({"m": 5}, "m=5 must be from 1 to 4"),
        ({"algorithm": "best"}, "algorithm=best must be one of insert, greedy"),
        ({"target": "terms"}, "target=terms must be one of logsize, users, fis, random, bid"),
        ({"ties": "last"}, "ties=last must be one of random, first"),
        ({"reinsert": "all"}, "reinsert=all must be one of none, groups"),
        ({"frequencies": "some"}, "frequencies=some must be one of drop, keep"),
        ({"target": "bid"}, "target=bid needs a marketing table: set marketing=FILE.csv, or"),
        ({"marketing": "t.csv"}, "marketing=t.csv needs that table, and none was"),
        ({"target": "bid", "marketing": "synthetic"}, "marketing=synthetic needs that table"),
    ],
)
def test_what_is_not_allowed_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(BadParameter) as said:
        made(ROWS, **given)
    assert told in str(said.value)
    assert ";" not in str(said.value)


def test_all_of_it_is_said_at_once() -> None:
    wrong = {"algorithm": "a", "target": "b", "ties": "c", "reinsert": "d", "frequencies": "e"}
    with pytest.raises(BadParameter) as said:
        made(ROWS, k=-1, m=9, marketing="t.csv", **wrong)
    faults = str(said.value).split("; ")
    assert [fault.split("=")[0] for fault in faults] == [*wrong, "k", "m", "marketing"]


@pytest.mark.parametrize("algorithm", ["insert", "greedy"])
def test_what_nobody_could_keep_is_refused(algorithm: str) -> None:
    with pytest.raises(
        Unsatisfiable, match="k=6 is more than the number of users, 5; take a small"
    ):
        made(ROWS, k=6, algorithm=algorithm)
    with pytest.raises(Unsatisfiable, match="none of 5 users can keep a term; take a smaller k or"):
        made(ROWS, k=5, algorithm=algorithm)


@pytest.mark.parametrize("target", ["logsize", "bid"])
def test_weights_that_can_not_be_added_up_are_refused(target: str) -> None:
    rows = {"u1": {"t4": 1.7e308}, "u2": {"t4": 1.7e308}}
    with pytest.raises(BadInput, match="weights are too large to be added up; divide them by a l"):
        made(rows, k=2, target=target, table=TABLE)
    one = {"u1": {"t5": 1e308}, "u2": {"t4": 1.0}}  # its own sum is a number, eight times it is not
    assert made(one, k=1, target="logsize", table=TABLE).left_out == 0
    with pytest.raises(BadInput, match="too large"):
        made(one, k=1, target="bid", table=TABLE)

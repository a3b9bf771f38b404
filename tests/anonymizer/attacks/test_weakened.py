"""A weakened copy of a release is caught, the sound one is not, and raw profiles fall."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from anonymizer.attacks import ATTACKS, Attacked, applicable
from anonymizer.errors import BadInput, BadParameter
from anonymizer.model import Release

from ..small_world import drawn_people
from ..small_world import release as made_by
from .worlds import (
    AVERAGE,
    BELIEF,
    COMBINATIONS,
    EVERY_TERM,
    FOUR,
    HIDING,
    PAIRS,
    VOCABULARY,
    Rows,
    attacked,
    centroids,
    drawn,
    figures,
    release,
)

TWELVE: Rows = {f"u{at:02d}": {"a": 1.0, "b": 1.0} for at in range(6)}
TWELVE |= {f"u{at:02d}": {"b": 1.0, "c": 1.0} for at in range(6, 12)}
USERS = [*TWELVE]
THREES = [USERS[at::4] for at in range(4)]  # of each three, one or two have a


def beaten(people: Rows, made: Release, name: str) -> set[str]:
    return {one.measure for one in figures(name, people, made).values() if one.beats}


def with_cell(row: int, term: str, weight: float) -> list[dict[str, float]]:
    rows = centroids(TWELVE, THREES)
    rows[row][term] = weight
    return rows


def km(*sets: str) -> tuple[Rows, Release]:
    """Return people with these letters as terms, and a release that keeps all, of k = m = 2."""
    people: Rows = {f"u{at}": dict.fromkeys(text, 1.0) for at, text in enumerate(sets)}
    groups = [[user] for user in people]
    return people, release(people, groups, COMBINATIONS, k=2, m=2)


UNEQUAL = [USERS[:4], USERS[4:6], USERS[6:9], USERS[9:]]
FOURTH = centroids(TWELVE, [USERS[:4], USERS[4:8], USERS[8:]])
Case = tuple[Rows, Release, str]
# What is weakened, the sound release and the weakened one, each with the attack that judges it.
CASES: dict[str, Callable[[], tuple[Case, Case]]] = {
    "a cell over p": lambda: (
        (TWELVE, release(TWELVE, THREES, p=0.2), "inference"),
        (TWELVE, release(TWELVE, THREES, rows=with_cell(0, "a", 0.8), p=0.2), "inference"),
    ),
    "a cell that lies": lambda: (
        (TWELVE, release(TWELVE, THREES, HIDING, p=0.2), "inference"),
        (TWELVE, release(TWELVE, THREES, HIDING, with_cell(0, "a", 0.5), p=0.2), "inference"),
    ),
    "groups beyond p": lambda: (
        (TWELVE, release(TWELVE, THREES, p=0.2), "fitting"),
        (TWELVE, release(TWELVE, UNEQUAL, p=0.2), "fitting"),
    ),
    "a released term that too many members have": lambda: (
        (TWELVE, release(TWELVE, THREES, EVERY_TERM, [{"a": 0.3}, {"a": 0.3}, {"c": 0.3},
                                                      {"c": 0.3}], p=0.7), "inference"),
        (TWELVE, release(TWELVE, THREES, EVERY_TERM, p=0.7), "inference"),
    ),
    "a group of few terms": lambda: (
        (FOUR, release(FOUR, PAIRS, AVERAGE, p=0.67), "inference"),
        (FOUR, release(FOUR, [["u1", "u2", "u3"], ["u4"]], AVERAGE, p=0.67), "inference"),
    ),
    "k - 1 people in a row": lambda: (
        (TWELVE, release(TWELVE, THREES, VOCABULARY, k=3), "singling-out"),
        (TWELVE, release(TWELVE, UNEQUAL, VOCABULARY, k=3), "singling-out"),
    ),
    "k - 1 rows with a pair": lambda: (
        (*km("abc", "abc", "ab"), "beyond-m"),
        (*km("abc", "ab", "ac", "bd", "cd"), "beyond-m"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("weakened", CASES)
def test_a_weakened_copy_is_caught(weakened: str) -> None:
    sound, weak = CASES[weakened]()
    assert beaten(*sound) == set()
    assert beaten(*weak)


def unequal(made: Release) -> Release:
    """Return `made` with a member moved to the next row, and all rows as they were."""
    row_of = made.row_of_user.copy()
    row_of[np.flatnonzero(row_of == 0)[0]] = 1
    return Release(
        made.rows, made.users, row_of, made.method, made.parameters, promise=made.promise
    )


@pytest.mark.parametrize(("method", "given"), [("pooled", {"p": 0.4}), ("composition", {"p": 0.5})])
def test_real_methods_hold_and_their_unequal_copies_do_not(
    method: str, given: dict[str, Any]
) -> None:
    profiles = drawn_people(43, 2)
    made = made_by(method, profiles, **given)
    for name in ("inference", "fitting"):
        results = ATTACKS[name](Attacked(profiles, made, known=(1,)))
        promised = any(one.most is not None for one in results)
        assert promised == ((name, method) != ("fitting", "pooled"))
        assert not any(one.beats for one in results)
        claims = [one.value for one in results if one.measure.startswith("column: true terms")]
        assert claims == [0] * (name == "inference")
    weak = ATTACKS["inference"](Attacked(profiles, unequal(made), known=(1,)))
    assert any(one.beats for one in weak)


def test_cohorts_keep_their_promise_by_themselves() -> None:
    """Each cohort is sound by its own shares; by those of everybody it would not be."""
    later = {f"v{user}": {"x": 1.0, "y": 1.0} for user in range(4)}
    people, groups = {**TWELVE, **later}, [*THREES, ["v0", "v1"], ["v2", "v3"]]
    made = release(people, groups, p=0.2)
    assert beaten(people, made, "inference")
    assert beaten(people, made, "fitting")
    both = Release(
        made.rows, made.users, made.row_of_user, made.method, made.parameters,
        promise=BELIEF, cohort_of_row=np.array([0, 0, 0, 0, 1, 1]),
    )  # fmt: skip
    assert beaten(people, both, "inference") == beaten(people, both, "fitting") == set()


def test_raw_profiles_fall() -> None:
    people = {user: {**row, f"own {user}": 1.0} for user, row in drawn(60, 0).items()}
    made = release(people, [[*people][at::6] for at in range(6)], p=0.3)
    linking = figures("linking", people, made, choice="rarest")
    assert linking[1, "top-1"].raw == 1
    assert figures("membership", people, made)[None, "AUC"].raw == pytest.approx(1, abs=0.001)
    fitting = figures("fitting", people, made)[None, "members found"]
    assert fitting.raw == 1
    learnt = figures("inference", people, made)
    assert learnt[0, "boosting: precision of the 10 best guesses"].raw is not None
    assert learnt[0, "column: precision of the 10 best guesses"].raw > 0.3


def test_the_same_seed_gives_the_same_figures() -> None:
    people = drawn(40, 5)
    made = release(people, [[*people][at::8] for at in range(8)], p=0.3)

    def run(seed: int) -> str:
        target = attacked(people, made, seed=seed, victims=20, known=(1, 2), second=made)
        return json.dumps([one for name in applicable(target) for one in ATTACKS[name](target)])

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_an_attack_does_not_depend_on_those_before() -> None:
    people = drawn(40, 5)
    target = attacked(people, release(people, [[*people][at::8] for at in range(8)], p=0.3))
    first = ATTACKS["fitting"](target)
    for name in applicable(target):
        ATTACKS[name](target)
    assert ATTACKS["fitting"](target) == first


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ({"victims": 0}, "victims=0 must be 1 or more"),
        ({"known": (3,)}, "known=3 is more than the 2 terms"),
        ({"known": (0,)}, "known terms must be 1 or more"),
        ({"second": release({"x": {"a": 1}, "y": {"b": 1}}, [["x"], ["y"]])}, "other people"),
    ],
)
def test_bad_input(how: dict[str, Any], line: str) -> None:
    with pytest.raises((BadInput, BadParameter), match=line):
        attacked(FOUR, release(FOUR, PAIRS), **how)


def test_one_person_and_other_people() -> None:
    one: Rows = {"u1": {"a": 1}}
    with pytest.raises(BadInput, match="one person alone"):
        attacked(one, release(one, [["u1"]]))
    with pytest.raises(BadInput, match="other people"):
        attacked(FOUR, release({"x": {"a": 1}, "y": {"b": 1}}, [["x"], ["y"]]))


def test_an_attack_without_its_input() -> None:
    target = attacked(FOUR, release(FOUR, PAIRS))
    assert {*ATTACKS} - {*applicable(target)} == {"two-releases", "beyond-m"}
    for name in ("two-releases", "beyond-m"):
        with pytest.raises(BadParameter):
            ATTACKS[name](target)

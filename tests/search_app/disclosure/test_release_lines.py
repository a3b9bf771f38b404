"""What `anonymize` says of releases of either kind, and that its verb prints these lines."""

from __future__ import annotations

from typing import Any

import pytest

from anonymizer.methods import promise_of
from search_app.disclosure.disclosure import Disclosure
from search_app.disclosure.kinds import kind_of

from ..single_rows import CHOICES

OF_ROWS = {
    "users": 717,
    "groups": 717,
    "terms_released": 29_400,
    "users_left_out": 3,
    "users_kept": 1.0,
    "distinct_terms_kept": 0.03,
    "log_size_kept": 0.22,
}
OF_GROUPS = {
    "users": 717,
    "groups": 717,
    "smallest_group": 1,
    "largest_group": 1,
    "mean_group": 1.0,
    "single_person_rows": 717,
    "average_linkability": 0.5,
    "share_linkability": 0.6,
    "worst_linkability": 1.0,
    "released_linkability": 1.0,
    "change_of_belief": 0.75,
}
CHOSEN = {**CHOICES, "k": 5, "m": 2, "frequencies": "drop"}


def made(method: str) -> dict[str, Any]:
    facts = OF_ROWS if method == "km-anonymity" else OF_GROUPS
    return {"method": method, "parameters": CHOSEN, "facts": facts, "release": "w/release"}


def kind(made: dict[str, Any]) -> type[Disclosure]:
    return kind_of(promise_of(made["method"], made["parameters"]))


def release_lines(made: dict[str, Any]) -> list[str]:
    return kind(made).lines(made)


def warning(made: dict[str, Any]) -> str:
    return kind(made).warning(made)


def test_rows_of_one_person_each_have_lines_of_their_own_and_no_warning() -> None:
    told = made("km-anonymity")
    assert [" ".join(line.split()) for line in release_lines(told)] == [
        "717 of 720 users have a row of their own: w/release",
        "promised: any m terms of a row stand in k rows k=5 m=2",
        "made by algorithm=insert, target=logsize, marketing=none, frequencies=drop",
        "users without a row: no term is left 3",
        "distinct terms kept 3 %",
        "log size kept 22 %",
    ]
    assert warning(told) == ""


def test_k_1_is_warned_of() -> None:
    told = {**made("km-anonymity"), "parameters": {**CHOSEN, "k": 1}}
    assert warning(told) == (
        "Warning: k=1 deletes nothing and hides nobody, and can't be published. Take --set k=2, "
        "or more"
    )


@pytest.mark.parametrize(
    ("users", "left_out", "line"),
    [(1, 0, "1 of 1 user has a row"), (1, 2, "1 of 3 users has a"), (2, 0, "2 of 2 users have a")],
)
def test_one_user_is_told_as_one(users: int, left_out: int, line: str) -> None:
    facts = {**OF_ROWS, "users": users, "users_left_out": left_out}
    assert release_lines({**made("km-anonymity"), "facts": facts})[0].startswith(line)


@pytest.mark.parametrize(
    ("share", "shown"), [(0.0, "under 1 %"), (0.01, "1 %"), (0.29, "29 %"), (1.0, "over 99 %")]
)
def test_a_rounded_share_is_neither_surely_nothing_nor_surely_all(share: float, shown: str) -> None:
    facts = {**OF_ROWS, "distinct_terms_kept": share}
    told = release_lines({**made("km-anonymity"), "facts": facts})
    assert told[-2].endswith(f"  {shown}")


@pytest.mark.parametrize("method", ["pooled", "composition"])
def test_what_bounds_belief_is_told_by_that(method: str) -> None:
    facts = {
        **{**OF_GROUPS, "users": 700, "groups": 233, "mean_group": 3.0},
        **{"smallest_group": 3, "largest_group": 3, "single_person_rows": 0},
        **{"change_of_belief": 0.399, "worst_linkability": 0.806},
    }
    told = {"method": method, "parameters": {"p": 0.4}, "facts": facts, "release": "w/release"}
    lines = [" ".join(line.split()) for line in release_lines(told)]
    hides = method == "pooled"
    assert lines == [
        "699 users in 233 groups of 3: w/release",
        "promised: belief about a term changes at most by p=0.4",
        "largest change of belief, by the rows 0.399",
        *["unassigned, served by the mean of all groups 1"] * hides,
        f"{'published share' if hides else 'share of members'}, worst term 0.806",
    ]


def test_groups_are_told_by_their_linkability_and_those_of_one_are_warned_of() -> None:
    told = made("p-linkability")
    first, *rest = release_lines(told)
    assert first == "717 users in 717 groups of 1: w/release"
    assert rest[-1].split() == [
        "largest",
        "change",
        "of",
        "belief,",
        "by",
        "members'",
        "shares",
        "0.750",
    ]
    assert warning(told).startswith("Warning: 717 groups have one member")
    assert warning({**told, "facts": {**OF_GROUPS, "single_person_rows": 0}}) == ""

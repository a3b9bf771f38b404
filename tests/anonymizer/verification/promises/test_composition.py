"""Releases by composition, whole and broken on purpose: each fault is told by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ...small_release import Rows, SmallRelease
from ...small_shares import composition
from ..faults import breaches, judged

# Half of all have tea, and so does half of each pair; each has a term of their own.
PEOPLE: Rows = {
    f"u{number}": {"tea" if number % 2 else "cup": 3.0, f"own{number}": 1.0} for number in range(8)
}
PAIRS = [["u0", "u1"], ["u2", "u3"], ["u4", "u5"], ["u6", "u7"]]
SPLIT = [["u0", "u2"], ["u1", "u3"], ["u4", "u5"], ["u6", "u7"]]


def test_a_release_that_holds(tmp_path: Path) -> None:
    verdict = judged(composition(PEOPLE, PAIRS, p=0.375), tmp_path)
    assert verdict.breaches == []
    assert verdict.holds
    assert verdict.checked == {"users": 8, "rows": 4, "terms": 10, "cells": 16}
    told = {finding.claim: finding.line for finding in verdict.findings}
    assert told["p"].endswith("within p=0.375 of that of all users; the farthest is 0.3750")
    assert told["groups"] == "groups are equally large: each has 2 members"


def test_one_share_too_far(tmp_path: Path) -> None:
    # one of two has own0, one of eight of all: 1/2 - 1/8
    found = breaches(composition(PEOPLE, PAIRS, p=0.374999), tmp_path)
    assert found == [
        ("p", "rows.jsonl, line 1: 4 of 4 rows: has a share, or lacks a term, more than p=0.374999 "
         "off the share of all users")
    ]  # fmt: skip


def test_a_term_that_a_group_lacks_counts(tmp_path: Path) -> None:
    # the first group has no tea, the second no cup; half of all have either
    ((claim, line),) = breaches(composition(PEOPLE, SPLIT, p=0.49), tmp_path)
    assert claim == "p"
    assert line.startswith("rows.jsonl, line 1: 2 of 4 rows: has a share, or lacks a term")
    assert breaches(composition(PEOPLE, SPLIT, p=0.5), tmp_path) == []
    # nobody of the last row has tea, and all its own terms are within p
    rows: Rows = {f"u{n}": {"tea": 1.0, "x": 1.0} for n in range(6)}
    rows |= {"v0": {"x": 1.0}, "v1": {"x": 1.0}}
    groups = [["u0", "u1"], ["u2", "u3"], ["u4", "u5"], ["v0", "v1"]]
    found = breaches(composition(rows, groups, p=0.5), tmp_path)
    assert [line.split(": ")[0] for _, line in found] == ["rows.jsonl, line 4"]


def test_sizes_that_differ_by_more_than_one(tmp_path: Path) -> None:
    groups = [["u0", "u1", "u2"], ["u3"], ["u4", "u5"], ["u6", "u7"]]
    found = dict(breaches(composition(PEOPLE, groups, p=1.0), tmp_path))
    assert found == {
        "groups": "rows.jsonl, line 2: must have 2 or 3 members, as there are 8 users in 4 groups"
    }


def test_sizes_that_differ_by_one_where_users_do_not_divide(tmp_path: Path) -> None:
    groups = [["u0", "u1", "u2"], ["u3", "u4", "u5"], ["u6", "u7"]]
    for size, wanted in ((2, 4), (4, 2)):
        verdict = judged(composition(PEOPLE, groups, p=1.0, size=size), tmp_path)
        assert [finding.line for finding in verdict.breaches] == [
            f"8 users must make {wanted} groups of size={size}, but there are 3"
        ]
    verdict = judged(composition(PEOPLE, groups, p=1.0), tmp_path)
    assert verdict.holds
    assert "2 members, or 3, as 8 users can't make 3 groups of one size" in str(verdict)


def test_a_weight_that_is_a_mean_of_weights(tmp_path: Path) -> None:
    """Weights play no part: of two members one has tea, however much of it."""
    made = composition(PEOPLE, PAIRS, p=0.5)
    assert made.rows[0]["terms"]["tea"] == 1 / 2
    made.rows[0]["terms"]["tea"] = 3 / 2
    found = dict(breaches(made, tmp_path))
    assert found["weights"].endswith("line 1: has a weight that is not the share of its members")


def test_a_term_that_is_left_out_and_one_that_is_added(tmp_path: Path) -> None:
    made = composition(PEOPLE, PAIRS, p=0.5)
    del made.rows[1]["terms"]["own2"]
    made.rows[3]["terms"] |= {"zzz": 0.5}
    lines = [line for claim, line in breaches(made, tmp_path) if claim == "terms"]
    assert lines == [
        "rows.jsonl, line 4: has a term that it must not publish",
        "rows.jsonl, line 2: lacks a term that it must publish",
    ]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"p": 0}, "p must be above 0 and at most 1"),
        ({"p": 1.01}, "p must be above 0 and at most 1"),
        ({"p": None}, "p must be above 0 and at most 1"),
        ({"size": 1}, f"size must be a whole number from 2 to {2**31 - 1}, or null"),
        ({"documents": 1}, "documents must be a whole number from 2 to 5000"),
        ({"steps": 0}, f"steps must be a whole number from 1 to {10**11}, or null"),
        ({"u1": 1}, "there are more than documents, min_users, p, size, steps"),
    ],
)
def test_parameters_out_of_range(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    found = dict(breaches(changed(given), tmp_path))
    assert found["parameters"] == f"release.json: {told}"


def changed(given: dict[str, Any]) -> SmallRelease:
    made = composition(PEOPLE, PAIRS, p=0.5)
    made.parameters |= given
    return made


def test_a_key_is_none_of_its_parts(tmp_path: Path) -> None:
    made = composition(PEOPLE, PAIRS, p=0.5)
    made.key = {"key": "00" * 32}
    assert breaches(made, tmp_path) == [
        ("files", "private/key.json: its method keeps no key; remove the file")
    ]

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.measures import MEASURES
from anonymizer.measures.linkability import facts
from anonymizer.model import BadInput, Grouping, Profiles, Release
from anonymizer.representative import represent


def release_of(profiles: Profiles, group_of: list[int]) -> Release:
    grouping = Grouping(np.array(group_of))
    rows = represent(profiles, grouping, "centroid")
    return Release(rows, profiles.users, grouping.group_of, "test", {})


def test_the_papers_groups(paper: Profiles) -> None:
    release = release_of(paper, [0, 0, 1, 1])
    values = {(m.group, m.name): m.value for m in MEASURES["linkability"](paper, release)}
    assert values["g0001", "average"] == 2.5 / 4
    assert values["g0002", "average"] == 2.5 / 5
    assert values["g0001", "worst"] == 1 / 2  # each term stands with one of two
    assert values["g0002", "worst"] == 1  # java stands with both
    assert values["g0002", "belief"] == 1 - 2 / 4  # half of all users have java
    assert values["g0001", "belief"] == 1 / 2  # java: 2 of 4 have it, none here


def test_facts_take_the_worst_group(paper: Profiles) -> None:
    summed = facts(paper, release_of(paper, [0, 0, 1, 1]))
    assert (summed["groups"], summed["smallest_group"], summed["mean_group"]) == (2, 2, 2.0)
    assert summed["average_linkability"] == 2.5 / 4
    assert summed["worst_linkability"] == 1


def test_a_long_profile_alone_is_told_by_the_true_share() -> None:
    terms = {f"t{number}": 1.0 for number in range(5)}
    profiles = Profiles.from_rows({"long": terms, "short": {"a": 1.0}})
    summed = facts(profiles, release_of(profiles, [0, 1]))
    assert summed["single_person_rows"] == 2
    assert summed["share_linkability"] == 1  # each one's row is their own profile
    assert summed["average_linkability"] == 3 / 1  # |U|avg = (5 + 1) / 2 over one term


def test_another_populations_release_is_refused(paper: Profiles) -> None:
    release = release_of(paper, [0, 0, 1, 1])
    with pytest.raises(BadInput, match="not made from these profiles"):
        facts(paper, replace(release, users=("a", "b", "c", "d")))


def test_a_row_may_hold_what_no_member_has(paper: Profiles) -> None:
    release = release_of(paper, [0, 0, 1, 1])
    pooled = Profiles.from_rows({"g0001": {"kitten": 0.25, "pup": 0.5}, "g0002": {"kitten": 0.25}})
    summed = facts(paper, replace(release, rows=pooled))
    assert summed["released_linkability"] == 1 / 2  # kitten of {UP1, UP2}; nobody's in the other


ROWS = st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=8)


@given(ROWS, st.data())
def test_equal_to_counting_by_hand(rows: list[set[str]], data: st.DataObject) -> None:
    draws = [data.draw(st.integers(0, 2)) for _ in rows]
    number = {group: at for at, group in enumerate(dict.fromkeys(draws))}
    group_of = [number[draw] for draw in draws]
    named = {f"u{i}": dict.fromkeys(sorted(row), 1.0) for i, row in enumerate(rows)}
    profiles = Profiles.from_rows(named)
    found = MEASURES["linkability"](profiles, release_of(profiles, group_of))
    for at in set(group_of):
        members = [row for row, group in zip(rows, group_of, strict=True) if group == at]
        share = {t: sum(t in m for m in members) / len(members) for t in profiles.terms}
        prior = {t: sum(t in m for m in rows) / len(rows) for t in profiles.terms}
        expected = {
            "average": np.mean([len(row) for row in rows]) / sum(s > 0 for s in share.values()),
            "share": np.mean([s for s in share.values() if s > 0]),
            "worst": max(share.values()),
            "belief": max(abs(share[t] - prior[t]) for t in profiles.terms),
        }
        mine = {m.name: m.value for m in found if m.group == f"g{at + 1:04d}"}
        assert mine == pytest.approx(expected)

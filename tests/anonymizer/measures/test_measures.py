"""Sizes, distributions, terms kept and closeness, against counting by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import BadInput
from anonymizer.measures import MEASURES
from anonymizer.measures.linkability import facts
from anonymizer.measures.measurement import Measurement, summarize
from anonymizer.model import Grouping, Profiles, Release
from anonymizer.promise import UNKNOWN
from anonymizer.rows.representative import represent


def release_of(profiles: Profiles, group_of: list[int]) -> Release:
    rows = represent(profiles, Grouping(np.array(group_of)), "centroid")
    return Release(rows, profiles.users, np.array(group_of), "test", {}, promise=UNKNOWN)


def without(release: Release, term: str) -> Release:
    """Leave a term out of every row."""
    rows = {row: release.rows.row(row) for row in release.rows.users}
    kept = {row: {t: w for t, w in terms.items() if t != term} for row, terms in rows.items()}
    return replace(release, rows=Profiles.from_rows(kept))


def values(profiles: Profiles, release: Release, measure: str) -> dict[tuple[str, str], float]:
    rows = MEASURES[measure](profiles, release)
    return {(row.name, row.user or row.group): row.value for row in rows}


def test_the_papers_groups(paper: Profiles) -> None:
    release = release_of(paper, [0, 0, 1, 1])
    assert values(paper, release, "sizes") == {("users", "g0001"): 2, ("users", "g0002"): 2}
    kept = values(paper, without(release, "java"), "kept-terms")
    assert kept["share of own terms kept", "UP3"] == 2 / 3  # mocha and coffee, not java
    assert kept["share of own terms kept", "UP1"] == 1
    assert kept["distinct terms in profiles", ""] == 9
    assert kept["distinct terms released", ""] == 8
    assert kept["terms of groups suppressed", ""] == 1
    spread = values(paper, release, "distribution")
    assert spread["average, 0%", ""] == 2.5 / 5
    assert spread["average, 100%", ""] == 2.5 / 4
    assert spread["share of members, by term, 75%", ""] == 1 / 2  # eight terms of one, java of two
    assert spread["share of members, by term, 100%", ""] == 1
    summed = facts(paper, without(release, "java"))
    assert (summed["terms_in_groups"], summed["terms_released"]) == (9, 8)
    assert summed["terms_suppressed"] == 1
    assert summed["worst_linkability"] == 1  # both have java
    assert summed["released_linkability"] == 1 / 2


def test_the_order_of_users_in_a_release_is_no_matter(paper: Profiles) -> None:
    release = release_of(paper, [0, 0, 1, 1])
    turned = replace(release, users=release.users[::-1], row_of_user=release.row_of_user[::-1])
    for measure in MEASURES:
        assert values(paper, release, measure) == values(paper, turned, measure)


def test_a_release_with_other_terms_is_refused(paper: Profiles) -> None:
    release = release_of(paper, [0, 0, 1, 1])
    rows = Profiles.from_rows({"g0001": {"tea": 1.0}, "g0002": {"java": 1.0}})
    with pytest.raises(BadInput, match="it has other terms"):
        values(paper, replace(release, rows=rows), "closeness")


ROWS = st.lists(
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([1.0, 0.5, 1e200, 1e-200])
    .map(float), min_size=1), min_size=1, max_size=8,
)  # fmt: skip


@given(ROWS, st.sampled_from("abcdef"), st.data())
def test_equal_to_counting_by_hand(
    rows: list[dict[str, float]], gone: str, data: st.DataObject
) -> None:
    draws = [data.draw(st.integers(0, 2)) for _ in rows]
    number = {group: at for at, group in enumerate(dict.fromkeys(draws))}
    profiles = Profiles.from_rows({f"u{at}": row for at, row in enumerate(rows)})
    group_of = [number[draw] for draw in draws]
    release = release_of(profiles, group_of)
    linked = MEASURES["linkability"](profiles, release)
    for at in set(group_of):
        members = [row for row, group in zip(rows, group_of, strict=True) if group == at]
        share = {t: sum(t in m for m in members) / len(members) for t in profiles.terms}
        prior = {t: sum(t in m for m in rows) / len(rows) for t in profiles.terms}
        assert {m.name: m.value for m in linked if m.group == f"g{at + 1:04d}"} == pytest.approx({
            "average": np.mean([len(row) for row in rows]) / sum(s > 0 for s in share.values()),
            "share": np.mean([s for s in share.values() if s > 0]),
            "worst": max(share.values()),
            "belief": max(abs(share[t] - prior[t]) for t in profiles.terms),
        })  # fmt: skip
    if all(set(release.rows.row(row)) != {gone} for row in release.rows.users):
        release = without(release, gone)
    kept = values(profiles, release, "kept-terms")
    close = values(profiles, release, "closeness")
    for user in profiles.users:
        own, row = profiles.row(user), release.row_for(user).weights
        assert kept["share of own terms kept", user] == len(own.keys() & row.keys()) / len(own)
        expected = cosine(own, dict(row))
        assert close["cosine of user and row", user] == pytest.approx(expected, abs=1e-12)


def cosine(one: dict[str, float], other: dict[str, float]) -> float:
    one = {term: weight / max(one.values()) for term, weight in one.items()}
    other = {term: weight / max(other.values()) for term, weight in other.items()}
    dot = math.fsum(one[term] * other[term] for term in one.keys() & other.keys())
    return dot / math.hypot(*one.values()) / math.hypot(*other.values())


def test_summaries_by_hand() -> None:
    rows = [Measurement("m", float(value), group=f"g{value}") for value in range(1, 101)]
    (summary,) = summarize(rows)
    assert summary == ("m", "groups", 100, 50.5, 1.0, 5.0, 50.0, 95.0, 100.0)
    assert [s.of for s in summarize([Measurement("m", 1.0), Measurement("m", 2.0, "u")])] == [
        "release",
        "users",
    ]


# -- linkability -----------------------------------------------------------------------------------


def test_linkability_of_the_papers_groups(paper: Profiles) -> None:
    release = release_of(paper, [0, 0, 1, 1])
    values = {(m.group, m.name): m.value for m in MEASURES["linkability"](paper, release)}
    assert values["g0001", "average"] == 2.5 / 4
    assert values["g0002", "average"] == 2.5 / 5
    assert values["g0001", "worst"] == 1 / 2  # each term stands with one of two
    assert values["g0002", "worst"] == 1  # java stands with both
    assert values["g0002", "belief"] == 1 - 2 / 4  # half of all users have java
    assert values["g0001", "belief"] == 1 / 2  # java: 2 of 4 have it, none here


def test_another_populations_release_is_refused(paper: Profiles) -> None:
    release = release_of(paper, [0, 0, 1, 1])
    with pytest.raises(BadInput, match="not made from these profiles"):
        facts(paper, replace(release, users=("a", "b", "c", "d")))


def test_a_row_may_hold_what_no_member_has(paper: Profiles) -> None:
    release = release_of(paper, [0, 0, 1, 1])
    pooled = Profiles.from_rows({"g0001": {"kitten": 0.25, "pup": 0.5}, "g0002": {"kitten": 0.25}})
    summed = facts(paper, replace(release, rows=pooled))
    assert summed["released_linkability"] == 1 / 2  # kitten of {UP1, UP2}; nobody's in the other

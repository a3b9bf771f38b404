"""What a person sees of themselves: counts that can be checked by hand, and the judge's measures.

Four people: 1 has a b c d, 2 has a b e, 3 has a f, 4 has g. The first three are one group, whose
row has lost all that only one of them has but c.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.measures import MEASURES
from anonymizer.model import Profiles, Release
from anonymizer.profiles.origins import TermOrigin
from anonymizer.promise import AVERAGE
from search_app.disclosure.groups import Groups
from search_app.disclosure.own_view import MemberShare, OwnView, Population

PEOPLE = {
    "1": {"a": 3.0, "b": 2.0, "c": 1.0, "d": 1.0},
    "2": {"a": 1.0, "b": 1.0, "e": 1.0},
    "3": {"a": 1.0, "f": 1.0},
    "4": {"g": 1.0},
}
ROW = {"a": 1.0, "b": 0.75, "c": 0.25}


def population(row: dict[str, float] = ROW) -> Population:
    release = Release(
        rows=Profiles.from_rows({"g0001": row, "g0002": {"g": 1.0}}),
        users=("1", "2", "3", "4"),
        row_of_user=np.array([0, 0, 0, 1], dtype=np.int64),
        method="p-linkability",
        parameters={"p": 0.5},
        promise=AVERAGE,
    )
    return Population(Profiles.from_rows(PEOPLE), release)


def names(view: OwnView, part: str) -> list[str]:
    return [each.term for each in getattr(view, part)]


def known(view: OwnView) -> tuple[str, str]:
    """Return how many terms all members have, and how the sentence on them begins."""
    fact = Groups(population().release).own_known(view)
    return fact.value, fact.meaning[:57].strip()


def test_own_terms_are_split_by_what_the_row_has() -> None:
    view = population().view("1", {"a": TermOrigin(3, 10, 20)})
    assert names(view, "terms") == ["a", "b", "c", "d"]
    assert names(view, "common") == ["a", "b", "c"]
    assert names(view, "lost") == ["d"]
    assert names(view, "only_mine") == ["c", "d"]
    assert known(view) == ("1", "“a”. Anyone who knows your group and what all its members")
    first, second, *_ = view.terms
    assert (first.weight, first.released, first.members, first.people) == (3.0, 1.0, 3, 3)
    assert (first.origin, second.origin) == (TermOrigin(3, 10, 20), None)
    assert (second.members, second.people) == (2, 2)


def test_what_the_row_leaves_out_is_not_in_its_worst_term() -> None:
    group = population({"b": 0.75, "c": 0.25}).view("1", {}).group
    assert group is not None
    assert (group.worst, group.worst_released) == (MemberShare(3, 3), MemberShare(2, 3))


def test_a_made_term_of_a_row_is_nobodys() -> None:
    group = population({"animal": 1.0}).view("1", {}).group
    assert group is not None
    assert group.worst_released == MemberShare(0, 3)


def test_who_is_in_no_group_has_their_terms_all_the_same() -> None:
    with_five = Profiles.from_rows({**PEOPLE, "5": {"a": 1.0, "h": 1.0}})
    view = Population(with_five, population().release).view("5", {})
    assert view.group is None
    assert names(view, "lost") == ["a", "h"]
    assert names(view, "only_mine") == ["h"]
    assert Population(with_five, None).view("1", {}).group is None


@st.composite
def populations(draw: st.DrawFn) -> Population:
    terms = st.dictionaries(st.sampled_from("abcdefgh"), st.just(1.0), min_size=1, max_size=6)
    people = {
        str(at): each for at, each in enumerate(draw(st.lists(terms, min_size=1, max_size=9)))
    }
    groups = draw(st.lists(st.integers(0, 3), min_size=len(people), max_size=len(people)))
    _, row_of = np.unique(groups, return_inverse=True)
    rows: dict[str, dict[str, float]] = {}
    for (_, profile), row in zip(people.items(), row_of.tolist(), strict=True):
        rows.setdefault(f"g{row}", {}).update(profile)
    kept = {
        name: {term: 1.0 for term in row if draw(st.booleans())} or dict(list(row.items())[:1])
        for name, row in sorted(rows.items())
    }
    order = draw(st.permutations(range(len(people))))
    release = Release(
        rows=Profiles.from_rows(kept),
        users=tuple(str(at) for at in order),
        row_of_user=row_of[list(order)].astype(np.int64),
        method="p-linkability",
        parameters={},
        promise=AVERAGE,
    )
    return Population(Profiles.from_rows(people), release)


@given(populations())
def test_every_group_agrees_with_the_judge(people: Population) -> None:
    release = people.release
    assert release is not None
    found = {}
    for user in people.profiles.users:
        group = people.view(user, {}).group
        assert group is not None
        found |= {
            ("average", group.row.name): group.average,
            ("share", group.row.name): group.share,
            ("worst", group.row.name): group.worst.value,
            ("belief", group.row.name): group.belief,
        }
    measured = MEASURES["linkability"](people.profiles, release)
    assert found == pytest.approx({(each.name, each.group): each.value for each in measured})


@given(populations())
def test_terms_only_one_has_are_found_by_looking_at_everybody(people: Population) -> None:
    rows = {user: people.profiles.row(user) for user in people.profiles.users}
    for user, own in rows.items():
        others = {term for other, row in rows.items() if other != user for term in row}
        assert names(people.view(user, {}), "only_mine") == sorted(set(own) - others)

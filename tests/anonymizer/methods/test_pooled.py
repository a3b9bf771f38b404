"""pooled: rows, remainders, keys, and what is refused; the judge holds shares against p."""

from __future__ import annotations

from typing import Any

import pytest

from anonymizer.errors import BadParameter, Unsatisfiable
from anonymizer.measures.facts import facts
from anonymizer.measures.kept import kept_terms
from anonymizer.measures.linkability import sizes
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release

from ..small_shares import left_over
from ..small_world import KEY, drawn_people, members_of, release

OTHER_KEY = KEY[::-1]


def contents(profiles: Profiles, made: Release) -> list[list[list[str]]]:
    """Return the groups' members by their terms: of equal ones the key tells who is where."""
    return sorted(
        sorted(sorted(profiles.row(user)) for user in group) for group in members_of(made)
    )


def test_nothing_is_made_of_the_profiles_that_are_left_over() -> None:
    """Other people in their places change nothing at all."""
    profiles = drawn_people(62)
    left = left_over(KEY, profiles.users, 3)
    rows = {user: profiles.row(user) for user in profiles.users}
    rows |= {user: {"t00": 9.0, "t29": 1.0} for user in left}
    made, other = (release("pooled", of, p=0.4) for of in (profiles, Profiles.from_rows(rows)))
    assert [*map(made.rows.row, made.rows.users)] == [*map(other.rows.row, other.rows.users)]
    assert made.row_of_user.tolist() == other.row_of_user.tolist()
    assert facts(profiles, made) == facts(Profiles.from_rows(rows), other)


def test_who_is_left_over_is_served_by_all_members_shares() -> None:
    profiles = drawn_people(32)
    made = release("pooled", profiles, p=0.1)
    assert made.grouping.sizes.tolist() == [10, 10, 10, 2]
    assert members_of(made)[3] == left_over(KEY, profiles.users, 10)
    assert (made.groups, made.released_row(3).users) == (3, 30)  # who stands behind it


def test_the_row_of_those_left_over_is_measured_as_no_group() -> None:
    profiles = drawn_people(62)
    made = release("pooled", profiles, p=0.4)
    assert len(made.rows) == 21
    assert [row.value for row in sizes(profiles, made)] == [3.0] * 20
    kept = {row.name: row.value for row in kept_terms(profiles, made) if not row.user}
    assert kept["terms of groups released"] == made.rows.weights[:20].nnz
    assert "terms of groups suppressed" not in kept


def test_one_person_less_changes_whom_the_key_leaves_over_by_no_more() -> None:
    rows = {user: drawn_people(62).row(user) for user in drawn_people(62).users}
    before = members_of(release("pooled", Profiles.from_rows(rows), p=0.4))[-1]
    gone = next(user for user in rows if user not in before)
    del rows[gone]
    after = members_of(release("pooled", Profiles.from_rows(rows), p=0.4))[-1]
    assert (len(before), len(after)) == (2, 1)
    assert {*after} < {*before}


def test_the_paper_s_bound_makes_groups_larger_or_is_told() -> None:
    made = release("pooled", drawn_people(60, most=6), p=0.4, meet_paper="true")
    assert made.grouping.sizes[0] > 3
    profiles = Profiles.from_rows({f"u{i}": {"t00": 1.0, "t01": 1.0} for i in range(20)})
    with pytest.raises(Unsatisfiable, match=r"no two groups have .* or meet_paper=false"):
        release("pooled", profiles, p=0.4, meet_paper="true")
    made = release("pooled", profiles, p=0.4)  # what all have tells nothing
    assert made.rows.at(0) == {"t00": 1.0, "t01": 1.0}


def bytes_of(made: Release) -> tuple[bytes, bytes]:
    return made.rows.weights.toarray().tobytes(), made.row_of_user.tobytes()


def test_seed_and_key_settle_it() -> None:
    profiles = drawn_people(41)
    made, again = (release("pooled", profiles, seed=3) for _ in range(2))
    assert bytes_of(made) == bytes_of(again)
    assert bytes_of(made) != bytes_of(release("pooled", profiles, seed=4))


def test_another_key_only_renumbers_and_breaks_ties() -> None:
    profiles = drawn_people(42)  # nobody is left over, so the same are dealt out
    made, other = (release("pooled", profiles, seed=3, key=key) for key in (KEY, OTHER_KEY))
    groups, others = members_of(made), members_of(other)
    assert groups != others
    assert contents(profiles, made) == contents(profiles, other)
    for term in made.rows.terms:  # the same pools' sizes and means, for other groups
        said = [[of.rows.at(row).get(term, 0.0) for row in range(14)] for of in (made, other)]
        assert sorted(said[0]) == sorted(said[1])


@pytest.mark.parametrize("people", [42, 44])
def test_groups_do_not_depend_on_places_in_the_file(people: int) -> None:
    """Else who knows the file's order and the seed could tell whose profile is where."""
    profiles = drawn_people(people)
    rows = {user: profiles.row(user) for user in reversed(profiles.users)}
    made, other = (release("pooled", of, seed=3) for of in (profiles, Profiles.from_rows(rows)))
    assert made.rows.terms == other.rows.terms
    assert contents(profiles, made) == contents(profiles, other)
    assert members_of(made) != members_of(other)  # numbered by the order of first members


def test_the_seed_alone_tells_neither_numbers_nor_who_is_left_over() -> None:
    profiles = drawn_people(41)
    made, other = (release("pooled", profiles, seed=3, key=key) for key in (KEY, OTHER_KEY))
    assert members_of(made)[-1] != members_of(other)[-1]


def test_the_key_is_kept_and_not_shown() -> None:
    made = release("pooled", drawn_people(20))
    assert made.key == KEY
    assert KEY.hex() not in repr(made)
    assert repr(KEY) not in repr(made)
    chosen = {"p": 0.4, "meet_paper": "false", "documents": 40, "steps": 6000, "min_users": 1}
    assert made.parameters == chosen


def test_too_few_users_are_refused() -> None:
    with pytest.raises(
        Unsatisfiable, match="5 users are too few for two groups of 3; take a larger"
    ):
        release("pooled", drawn_people(5), p=0.4)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"p": 0.0}, "p=0.0 must be above 0 and at most 1"),
        ({"meet_paper": "yes"}, "meet_paper=yes must be true or false"),
        ({"documents": 6000}, "documents=6000 must be from 2 to 5000"),
        ({"key": b""}, "a secret key of 32 bytes is needed"),
    ],
)
def test_bad_parameters_are_refused(chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        release("pooled", drawn_people(20), **chosen)


def test_documents_must_be_handed_in() -> None:
    with pytest.raises(BadParameter, match="a sample of an index's documents"):
        anonymize("pooled", Inputs(drawn_people(20), key=KEY), {})

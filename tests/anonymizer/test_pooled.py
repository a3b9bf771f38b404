"""pooled: rows, remainders, keys, and every published share within p."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.measures.kept_terms import kept_terms
from anonymizer.measures.linkability import sizes
from anonymizer.measures.release_facts import facts
from anonymizer.methods import anonymize
from anonymizer.model import BadParameter, Profiles, Release, Unsatisfiable
from anonymizer.secret_order import secret_numbers
from anonymizer.wordnet import WordNet

from .small_shares import left_over
from .small_world import KEY, drawn_people, members_of, priors, release, true_share

OTHER_KEY = KEY[::-1]


def only(profiles: Profiles, users: list[str]) -> Profiles:
    """Return the profiles of these users."""
    return Profiles.from_rows({user: profiles.row(user) for user in users})


def contents(profiles: Profiles, made: Release) -> list[list[list[str]]]:
    """Return the groups' members by their terms: of equal ones the key tells who is where."""
    return sorted(
        sorted(sorted(profiles.row(user)) for user in group) for group in members_of(made)
    )


def check(profiles: Profiles, made: Release, m: int, p: float) -> None:
    """Hold a release against its promise, in fractions, with nothing but its key."""
    groups, bound = members_of(made), Fraction(str(p))
    count = len(profiles) // m
    dealt = only(profiles, [user for group in groups[:count] for user in group])
    prior = priors(dealt)
    if len(profiles) % m:
        assert made.rows.at(count) == {term: float(share) for term, share in prior.items()}
    assert [len(group) for group in groups[:count]] == [m] * count
    assert len(groups) == count + (len(profiles) % m > 0)
    for term in dealt.terms:
        truth = [true_share(profiles, group, term) for group in groups[:count]]
        said = [made.rows.at(row).get(term, 0.0) for row in range(count)]
        nearest = [Fraction(share).limit_denominator(len(profiles)) for share in said]
        assert all(abs(share - prior[term]) <= bound for share in nearest)
        assert [float(share) for share in nearest] == said
        assert sum(nearest) == sum(truth)
        numbers = secret_numbers(KEY, f"ties of {term}", count)
        order = sorted(range(count), key=lambda g: (-truth[g], numbers[g]))
        changed = [g for g in order if nearest[g] != truth[g]]
        for share in {nearest[g] for g in changed}:
            places = [at for at, g in enumerate(order) if nearest[g] == share]
            pool = [order[at] for at in range(places[0], places[-1] + 1)]
            assert {nearest[g] for g in pool} == {share}  # next to each other


@settings(max_examples=25, deadline=None)
@given(st.integers(10, 60), st.integers(0, 99), st.sampled_from([0.2, 0.3, 0.4, 0.5, 0.75]))
def test_every_published_share_is_within_p(
    wordnet: WordNet, users: int, seed: int, p: float
) -> None:
    profiles = drawn_people(users, seed)
    made = release("pooled", profiles, wordnet, seed=seed, p=p)
    check(profiles, made, -(-1 // Fraction(str(p))), p)


@pytest.mark.parametrize(("p", "m"), [(1, 2), (0.5, 2), (0.4, 3), (0.3, 4), (0.2, 5), (0.1, 10)])
def test_groups_have_as_many_members_as_1_over_p(wordnet: WordNet, p: float, m: int) -> None:
    made = release("pooled", drawn_people(30), wordnet, p=p)
    assert made.grouping.sizes.tolist()[: 30 // m] == [m] * (30 // m)


def test_nothing_is_made_of_the_profiles_that_are_left_over(wordnet: WordNet) -> None:
    """Other people in their places change nothing at all."""
    profiles = drawn_people(62)
    left = left_over(KEY, profiles.users, 3)
    rows = {user: profiles.row(user) for user in profiles.users}
    rows |= {user: {"t00": 9.0, "t29": 1.0} for user in left}
    made, other = (
        release("pooled", of, wordnet, p=0.4) for of in (profiles, Profiles.from_rows(rows))
    )
    assert [*map(made.rows.row, made.rows.users)] == [*map(other.rows.row, other.rows.users)]
    assert made.row_of_user.tolist() == other.row_of_user.tolist()
    assert facts(profiles, made) == facts(Profiles.from_rows(rows), other)


def test_who_is_left_over_is_served_by_all_members_shares(wordnet: WordNet) -> None:
    profiles = drawn_people(32)
    made = release("pooled", profiles, wordnet, p=0.1)
    assert made.grouping.sizes.tolist() == [10, 10, 10, 2]
    assert members_of(made)[3] == left_over(KEY, profiles.users, 10)
    assert (made.groups, made.released_row(3).users) == (3, 30)  # who stands behind it


def test_the_row_of_those_left_over_is_measured_as_no_group(wordnet: WordNet) -> None:
    profiles = drawn_people(62)
    made = release("pooled", profiles, wordnet, p=0.4)
    assert len(made.rows) == 21
    assert [row.value for row in sizes(profiles, made)] == [3.0] * 20
    kept = {row.name: row.value for row in kept_terms(profiles, made) if not row.user}
    assert kept["terms of groups released"] == made.rows.weights[:20].nnz
    assert "terms of groups suppressed" not in kept


def test_one_person_less_changes_whom_the_key_leaves_over_by_no_more(wordnet: WordNet) -> None:
    rows = {user: drawn_people(62).row(user) for user in drawn_people(62).users}
    before = members_of(release("pooled", Profiles.from_rows(rows), wordnet, p=0.4))[-1]
    gone = next(user for user in rows if user not in before)
    del rows[gone]
    after = members_of(release("pooled", Profiles.from_rows(rows), wordnet, p=0.4))[-1]
    assert (len(before), len(after)) == (2, 1)
    assert {*after} < {*before}


def test_nobody_is_left_over_where_sizes_divide(wordnet: WordNet) -> None:
    assert release("pooled", drawn_people(30), wordnet, p=0.4).grouping.sizes.tolist() == [3] * 10


def test_the_paper_s_bound_makes_groups_larger(wordnet: WordNet) -> None:
    profiles = drawn_people(60, most=6)
    made = release("pooled", profiles, wordnet, p=0.4, meet_paper="true")
    m = int(made.grouping.sizes[0])
    assert m > 3
    check(profiles, made, m, 0.4)
    groups = members_of(made)[: 60 // m]
    inside = only(profiles, [user for group in groups for user in group])
    average = Fraction(int(inside.sizes.sum()), len(inside))
    for group in groups:
        distinct = set().union(*(profiles.row(user) for user in group))
        assert average / len(distinct) <= Fraction(2, 5)


def test_where_the_paper_s_bound_can_not_be_met_it_is_told(wordnet: WordNet) -> None:
    profiles = Profiles.from_rows({f"u{i}": {"t00": 1.0, "t01": 1.0} for i in range(20)})
    with pytest.raises(Unsatisfiable, match=r"no two groups have .* or meet_paper=false"):
        release("pooled", profiles, wordnet, p=0.4, meet_paper="true")
    made = release("pooled", profiles, wordnet, p=0.4)  # what all have tells nothing
    assert made.rows.at(0) == {"t00": 1.0, "t01": 1.0}


def bytes_of(made: Release) -> tuple[bytes, bytes]:
    return made.rows.weights.toarray().tobytes(), made.row_of_user.tobytes()


def test_seed_and_key_settle_it(wordnet: WordNet) -> None:
    profiles = drawn_people(41)
    made, again = (release("pooled", profiles, wordnet, seed=3) for _ in range(2))
    assert bytes_of(made) == bytes_of(again)
    assert bytes_of(made) != bytes_of(release("pooled", profiles, wordnet, seed=4))


def test_another_key_only_renumbers_and_breaks_ties(wordnet: WordNet) -> None:
    profiles = drawn_people(42)  # nobody is left over, so the same are dealt out
    made, other = (
        release("pooled", profiles, wordnet, seed=3, key=key) for key in (KEY, OTHER_KEY)
    )
    groups, others = members_of(made), members_of(other)
    assert groups != others
    assert contents(profiles, made) == contents(profiles, other)
    for term in made.rows.terms:  # the same pools' sizes and means, for other groups
        said = [[of.rows.at(row).get(term, 0.0) for row in range(14)] for of in (made, other)]
        assert sorted(said[0]) == sorted(said[1])


@pytest.mark.parametrize("people", [42, 44])
def test_groups_do_not_depend_on_places_in_the_file(wordnet: WordNet, people: int) -> None:
    """Else who knows the file's order and the seed could tell whose profile is where."""
    profiles = drawn_people(people)
    rows = {user: profiles.row(user) for user in reversed(profiles.users)}
    made, other = (
        release("pooled", of, wordnet, seed=3) for of in (profiles, Profiles.from_rows(rows))
    )
    assert made.rows.terms == other.rows.terms
    assert contents(profiles, made) == contents(profiles, other)
    assert members_of(made) != members_of(other)  # numbered by the order of first members


def test_the_seed_alone_tells_neither_numbers_nor_who_is_left_over(wordnet: WordNet) -> None:
    profiles = drawn_people(41)
    made, other = (
        release("pooled", profiles, wordnet, seed=3, key=key) for key in (KEY, OTHER_KEY)
    )
    assert members_of(made)[-1] != members_of(other)[-1]


def test_the_key_is_kept_and_not_shown(wordnet: WordNet) -> None:
    made = release("pooled", drawn_people(20), wordnet)
    assert made.key == KEY
    assert KEY.hex() not in repr(made)
    assert repr(KEY) not in repr(made)
    assert made.parameters == {"p": 0.4, "meet_paper": "false", "documents": 40, "steps": 6000}


def test_too_few_users_are_refused(wordnet: WordNet) -> None:
    with pytest.raises(Unsatisfiable, match="5 users make no two groups of 3; take a larger p, or"):
        release("pooled", drawn_people(5), wordnet, p=0.4)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"p": 0.0}, "p=0.0 must be above 0 and at most 1"),
        ({"meet_paper": "yes"}, "meet_paper=yes must be true or false"),
        ({"documents": 6000}, "documents=6000 must be from 2 to 5000"),
        ({"key": b""}, "a secret key of 32 bytes must be handed in"),
    ],
)
def test_bad_parameters_are_refused(wordnet: WordNet, chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        release("pooled", drawn_people(20), wordnet, **chosen)


def test_documents_must_be_handed_in(wordnet: WordNet) -> None:
    with pytest.raises(BadParameter, match="a sample of an index's documents"):
        anonymize("pooled", drawn_people(20), {}, wordnet=wordnet, key=KEY)

"""composition: every group's share of every term within p, absent terms included."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.annealing import Annealed
from anonymizer.methods import anonymize
from anonymizer.model import BadParameter, Profiles, Release, Unsatisfiable
from anonymizer.wordnet import WordNet

from .small_world import drawn_people, members_of, priors, release, true_share


def check(profiles: Profiles, made: Release, p: float) -> None:
    """Hold each cell of each group against p, and each row against its members."""
    groups, prior = members_of(made), priors(profiles)
    sizes = {len(group) for group in groups}
    assert max(sizes) - min(sizes) <= 1
    for row, group in enumerate(groups):
        released = made.rows.at(row)
        for term in profiles.terms:
            share = true_share(profiles, group, term)
            assert abs(share - prior[term]) <= Fraction(str(p))
            assert released.pop(term, 0.0) == pytest.approx(float(share), abs=1e-15)
        assert released == {}


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 60), st.integers(0, 99), st.sampled_from([0.2, 0.3, 0.4, 0.5, 0.75]))
def test_every_cell_is_within_p(wordnet: WordNet, users: int, seed: int, p: float) -> None:
    profiles = drawn_people(users, seed)
    try:
        made = release("composition", profiles, wordnet, seed=seed, p=p)
    except Unsatisfiable as refused:
        assert "take a larger p, or more users" in str(refused)
        return
    check(profiles, made, p)


def test_a_group_without_a_popular_term_would_count(wordnet: WordNet) -> None:
    rows = {f"u{i}": {"tea" if i % 2 else "cup": 1.0} for i in range(8)}
    made = release("composition", Profiles.from_rows(rows), wordnet, p=0.25, size=4)
    for row in range(2):  # alone with their like, everybody would have tea, or nobody
        assert 0.25 <= made.rows.at(row)["tea"] <= 0.75


def test_groups_are_equally_large_or_differ_by_one(wordnet: WordNet) -> None:
    made = release("composition", drawn_people(23), wordnet, p=0.9, size=5)
    assert sorted(made.grouping.sizes.tolist()) == [5, 6, 6, 6]
    check(drawn_people(23), made, 0.9)


def test_alike_people_are_grouped_where_p_allows(wordnet: WordNet) -> None:
    rows = {f"u{i}": {f"t{i % 4:02d}": 1.0} for i in range(16)}
    made = release("composition", Profiles.from_rows(rows), wordnet, p=0.75, size=4)
    assert sorted(sorted(row.values()) for row in map(made.rows.at, range(4))) == [[1.0]] * 4


def test_one_of_whom_all_are_alike_is_as_good_as_any(wordnet: WordNet) -> None:
    profiles = Profiles.from_rows({f"u{i}": {"t00": 1.0, "t01": 2.0} for i in range(10)})
    made = release("composition", profiles, wordnet, p=0.1, size=3)
    assert [made.rows.at(row) for row in range(3)] == [{"t00": 1.0, "t01": 1.0}] * 3


def different_people(users: int) -> Profiles:
    """Return people no two of whom have the same terms."""
    drawn = drawn_people(users)
    rows = {frozenset(drawn.row(user)): user for user in drawn.users}
    return Profiles.from_rows({user: drawn.row(user) for user in sorted(rows.values())})


def test_the_seed_settles_it(wordnet: WordNet) -> None:
    profiles = different_people(40)
    first, again, other = (
        release("composition", profiles, wordnet, p=0.4, seed=seed) for seed in (1, 1, 2)
    )
    assert first.row_of_user.tolist() == again.row_of_user.tolist()
    assert first.rows.weights.data.tobytes() == again.rows.weights.data.tobytes()
    assert first.row_of_user.tolist() != other.row_of_user.tolist()


def test_what_was_chosen_is_told(wordnet: WordNet) -> None:
    made = release("composition", drawn_people(20), wordnet, p=0.6, documents=5000)
    assert made.parameters == {"p": 0.6, "size": None, "documents": 40, "steps": 6000}
    assert made.method == "composition"
    assert made.key is None


def test_too_few_users_are_refused(wordnet: WordNet) -> None:
    with pytest.raises(Unsatisfiable, match="3 users make no two groups of 2; take more users"):
        release("composition", drawn_people(3), wordnet, p=0.4)
    with pytest.raises(Unsatisfiable, match="9 users make no two groups of 5; take a smaller size"):
        release("composition", drawn_people(9), wordnet, p=0.4, size=5)


def test_where_no_size_keeps_it_the_best_tried_is_told(wordnet: WordNet) -> None:
    rows = {f"u{i}": {"tea" if i < 3 else "cup": 1.0} for i in range(10)}
    said = "within 0.01 of all users'; the best tried was 5, with 4 shares beyond it; take a larger"
    with pytest.raises(Unsatisfiable, match=said):  # 1 or 2 of 5 have tea: not 3/10
        release("composition", Profiles.from_rows(rows), wordnet, p=0.01)


@pytest.mark.parametrize("size", [None, 4])
def test_whatever_annealing_says_nothing_beyond_p_is_released(
    wordnet: WordNet, monkeypatch: pytest.MonkeyPatch, size: int | None
) -> None:
    """All shares are counted anew at the end."""

    def wrong(*_given: object, **_more: object) -> Annealed:
        return Annealed(np.repeat(np.arange(2), 4), 1.0, 0)

    monkeypatch.setattr("anonymizer.methods.composition.anneal", wrong)
    rows = {f"u{i}": {"tea" if i < 4 else "cup": 1.0} for i in range(8)}
    with pytest.raises(Unsatisfiable, match=r"4 shares would be more than 0\.3 off"):
        release("composition", Profiles.from_rows(rows), wordnet, p=0.3, size=size)


def test_a_size_that_can_not_keep_it_is_refused(wordnet: WordNet) -> None:
    rows = {f"u{i}": {"tea" if i < 3 else "cup": 1.0} for i in range(8)}
    said = "groups of 3 were found with 4 shares more than 0.1 off, none without; take a larger"
    with pytest.raises(Unsatisfiable, match=said):  # two groups of 4: 1/4 and 2/4, not 3/8
        release("composition", Profiles.from_rows(rows), wordnet, p=0.1, size=3)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"p": 0.0}, "p=0.0 must be above 0 and at most 1"),
        ({"p": 1.5}, "p=1.5 must be above 0"),
        ({"size": 1}, "size=1 must be at least 2, or off"),
        ({"documents": 1, "steps": 0}, "documents=1 must be from 2 to 5000; steps=0 must be from"),
    ],
)
def test_bad_parameters_are_refused(wordnet: WordNet, chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        release("composition", drawn_people(20), wordnet, **chosen)


def test_documents_must_be_handed_in(wordnet: WordNet) -> None:
    with pytest.raises(BadParameter, match="a sample of an index's documents"):
        anonymize("composition", drawn_people(20), {}, wordnet=wordnet)


def test_where_people_stand_in_the_file_plays_no_part(wordnet: WordNet) -> None:
    profiles = different_people(40)
    rows = {user: profiles.row(user) for user in reversed(profiles.users)}
    made, turned = (
        release("composition", of, wordnet, p=0.4) for of in (profiles, Profiles.from_rows(rows))
    )
    assert made.rows.weights.toarray().tobytes() == turned.rows.weights.toarray().tobytes()
    row_of = dict(zip(turned.users, turned.row_of_user.tolist(), strict=True))
    assert [row_of[user] for user in made.users] == made.row_of_user.tolist()


def test_who_of_people_with_the_same_terms_takes_which_place_no_seed_tells(
    wordnet: WordNet,
) -> None:
    """The two who have t00 must be in different groups: either of them may be in the first."""
    rows = {"a": {"t00": 1.0}, "b": {"t00": 1.0}, "c": {"t01": 1.0}, "d": {"t02": 1.0}}
    profiles = Profiles.from_rows(rows)
    keys = [bytes([n]) * 32 for n in range(40)]
    made = [release("composition", profiles, wordnet, p=0.3, size=2, key=key) for key in keys]
    assert len({each.rows.weights.toarray().tobytes() for each in made}) == 1
    assert {int(each.row_of_user[0]) for each in made} == {0, 1}


def test_weights_play_no_part(wordnet: WordNet) -> None:
    profiles = different_people(30)
    ones = Profiles(profiles.users, profiles.terms, (profiles.weights > 0).astype(np.float64))
    weighed, plain = (release("composition", of, wordnet, p=0.5) for of in (profiles, ones))
    assert weighed.row_of_user.tolist() == plain.row_of_user.tolist()
    assert (weighed.rows.weights != plain.rows.weights).nnz == 0

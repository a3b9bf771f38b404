"""composition: sizes, what is refused, and what neither seed, order nor weights decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anonymizer.errors import BadParameter, Unsatisfiable
from anonymizer.grouping.annealing import Annealed
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles

from ..small_world import drawn_people, release


def test_groups_are_equally_large_or_differ_by_one() -> None:
    made = release("composition", drawn_people(23), p=0.9, size=5)
    assert sorted(made.grouping.sizes.tolist()) == [5, 6, 6, 6]


def test_alike_people_are_grouped_where_p_allows() -> None:
    rows = {f"u{i}": {f"t{i % 4:02d}": 1.0} for i in range(16)}
    made = release("composition", Profiles.from_rows(rows), p=0.75, size=4)
    assert sorted(sorted(row.values()) for row in map(made.rows.at, range(4))) == [[1.0]] * 4


def different_people(users: int) -> Profiles:
    """Return people no two of whom have the same terms."""
    drawn = drawn_people(users)
    rows = {frozenset(drawn.row(user)): user for user in drawn.users}
    return Profiles.from_rows({user: drawn.row(user) for user in sorted(rows.values())})


def test_the_seed_settles_it() -> None:
    profiles = different_people(40)
    first, again, other = (release("composition", profiles, p=0.4, seed=seed) for seed in (1, 1, 2))
    assert first.row_of_user.tolist() == again.row_of_user.tolist()
    assert first.rows.weights.data.tobytes() == again.rows.weights.data.tobytes()
    assert first.row_of_user.tolist() != other.row_of_user.tolist()


def test_what_was_chosen_is_told() -> None:
    made = release("composition", drawn_people(20), p=0.6, documents=5000)
    assert made.parameters == {
        "p": 0.6,
        "size": None,
        "documents": 40,
        "steps": 6000,
        "min_users": 1,
    }
    assert made.method == "composition"
    assert made.key is None


def test_too_few_users_are_refused() -> None:
    with pytest.raises(
        Unsatisfiable, match="3 users are too few for two groups of 2; take more users"
    ):
        release("composition", drawn_people(3), p=0.4)
    with pytest.raises(
        Unsatisfiable, match="9 users are too few for two groups of 5; take a smaller size"
    ):
        release("composition", drawn_people(9), p=0.4, size=5)


def test_where_no_size_keeps_it_the_best_tried_is_told() -> None:
    rows = {f"u{i}": {"tea" if i < 3 else "cup": 1.0} for i in range(10)}
    said = "within 0.01 of all users'; the best tried was 5, with 4 shares beyond it; take a larger"
    with pytest.raises(Unsatisfiable, match=said):  # 1 or 2 of 5 have tea: not 3/10
        release("composition", Profiles.from_rows(rows), p=0.01)


@pytest.mark.parametrize("size", [None, 4])
def test_whatever_annealing_says_nothing_beyond_p_is_released(
    monkeypatch: pytest.MonkeyPatch, size: int | None
) -> None:
    """All shares are counted anew at the end."""

    def wrong(*_given: object, **_more: object) -> Annealed:
        return Annealed(np.repeat(np.arange(2), 4), 1.0, 0)

    monkeypatch.setattr("anonymizer.grouping.annealing.anneal", wrong)
    rows = {f"u{i}": {"tea" if i < 4 else "cup": 1.0} for i in range(8)}
    with pytest.raises(Unsatisfiable, match=r"4 shares would be more than 0\.3 off"):
        release("composition", Profiles.from_rows(rows), p=0.3, size=size)


def test_a_size_that_can_not_keep_it_is_refused() -> None:
    rows = {f"u{i}": {"tea" if i < 3 else "cup": 1.0} for i in range(8)}
    said = "the best groups of 3 have 4 shares more than 0.1 off; take a larger"
    with pytest.raises(Unsatisfiable, match=said):  # two groups of 4: 1/4 and 2/4, not 3/8
        release("composition", Profiles.from_rows(rows), p=0.1, size=3)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"p": 0.0}, "p=0.0 must be above 0 and at most 1"),
        ({"p": 1.5}, "p=1.5 must be above 0"),
        ({"size": 1}, "size=1 must be at least 2, or off"),
        ({"documents": 1, "steps": 0}, "documents=1 must be from 2 to 5000; steps=0 must be from"),
    ],
)
def test_bad_parameters_are_refused(chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        release("composition", drawn_people(20), **chosen)


def test_documents_must_be_handed_in() -> None:
    with pytest.raises(BadParameter, match="a sample of an index's documents"):
        anonymize("composition", Inputs(drawn_people(20)), {})


def test_where_people_stand_in_the_file_plays_no_part() -> None:
    profiles = different_people(40)
    rows = {user: profiles.row(user) for user in reversed(profiles.users)}
    made, turned = (
        release("composition", of, p=0.4) for of in (profiles, Profiles.from_rows(rows))
    )
    assert made.rows.weights.toarray().tobytes() == turned.rows.weights.toarray().tobytes()
    row_of = dict(zip(turned.users, turned.row_of_user.tolist(), strict=True))
    assert [row_of[user] for user in made.users] == made.row_of_user.tolist()


def test_who_of_people_with_the_same_terms_takes_which_place_no_seed_tells() -> None:
    """The two who have t00 must be in different groups: either of them may be in the first."""
    rows = {"a": {"t00": 1.0}, "b": {"t00": 1.0}, "c": {"t01": 1.0}, "d": {"t02": 1.0}}
    profiles = Profiles.from_rows(rows)
    keys = [bytes([n]) * 32 for n in range(40)]
    made = [release("composition", profiles, p=0.3, size=2, key=key) for key in keys]
    assert len({each.rows.weights.toarray().tobytes() for each in made}) == 1
    assert {int(each.row_of_user[0]) for each in made} == {0, 1}


def test_weights_play_no_part() -> None:
    profiles = different_people(30)
    ones = Profiles(profiles.users, profiles.terms, (profiles.weights > 0).astype(np.float64))
    weighed, plain = (release("composition", of, p=0.5) for of in (profiles, ones))
    assert weighed.row_of_user.tolist() == plain.row_of_user.tolist()
    assert (weighed.rows.weights != plain.rows.weights).nnz == 0

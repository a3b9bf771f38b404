from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from anonymizer.errors import BadInput
from anonymizer.model import Grouping, Profiles, Release, largest
from anonymizer.promise import UNKNOWN


def test_a_row_reads_back_what_was_put_in(paper: Profiles) -> None:
    assert paper.row("UP4") == {"programming language": 0.6, "java": 1.0, "C++": 0.4}
    assert paper.sizes.tolist() == [2, 2, 3, 3]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"u": {"a": float("nan")}}, "finite number above 0"),
        ({"u": {"a": float("inf")}}, "finite number above 0"),
        ({"u": {"a": -1.0}}, "finite number above 0"),
        ({"u": {"a": 0.0}}, "finite number above 0"),
        ({"u": {"a": 1.0}, "v": {}}, "1 users have no term"),
    ],
)
def test_profiles_refuse_broken_weights(rows: dict[str, dict[str, float]], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Profiles.from_rows(rows)


def test_profiles_refuse_users_that_stand_twice() -> None:
    with pytest.raises(BadInput, match="1 users occur twice"):
        Profiles(("u", "u"), ("a",), csr_matrix(np.ones((2, 1))))


def test_some_profiles_stand_in_the_order_asked_for(paper: Profiles) -> None:
    some = paper.some([3, 0])
    assert some.users == (paper.users[3], paper.users[0])
    assert [some.row(user) for user in some.users] == [paper.row(user) for user in some.users]


def test_an_unknown_user_is_not_echoed(paper: Profiles) -> None:
    with pytest.raises(BadInput) as caught:
        paper.row("secret-person")
    assert "secret-person" not in str(caught.value)


def test_profiles_do_not_change_with_the_matrix_they_were_made_from() -> None:
    weights = csr_matrix(np.ones((1, 1)))
    profiles = Profiles(("u",), ("a",), weights)
    weights.data[0] = 7
    assert profiles.row("u") == {"a": 1.0}


@pytest.mark.parametrize("group_of", [[], [0, 2], [-1, 0], [[0], [0]]])
def test_a_grouping_refuses_all_but_partitions(group_of: list[object]) -> None:
    with pytest.raises(BadInput):
        Grouping(np.array(group_of, dtype=np.int64))


def test_a_release_refuses_rows_without_users(paper: Profiles) -> None:
    with pytest.raises(BadInput, match="every row needs at least one user"):
        Release(paper, ("a", "b"), np.array([0, 1]), "test", {}, promise=UNKNOWN)


def test_a_released_row_holds_no_user(paper: Profiles) -> None:
    release = Release(
        paper, ("a", "b", "c", "d", "e"), np.array([0, 1, 2, 3, 3]), "test", {}, promise=UNKNOWN
    )
    row = release.row_for("e")
    assert (row.name, row.users, row.weights["java"]) == ("UP4", 2, 1.0)


CELLS = st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from([0.25, 0.5, 1.0]))


@given(st.lists(CELLS, max_size=30))
def test_largest_keeps_each_cells_maximum(cells: list[tuple[int, int, float]]) -> None:
    expected = np.zeros((4, 5))
    for row, column, weight in cells:
        expected[row, column] = max(expected[row, column], weight)
    rows, columns, weights = (np.array([cell[i] for cell in cells]) for i in range(3))
    matrix = largest(rows.astype(int), columns.astype(int), weights.astype(float), (4, 5))
    assert matrix.toarray().tolist() == expected.tolist()

"""Releases of reduced profiles: rows in the order of their content, and all that was deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.measures.release_facts import facts, own_facts
from anonymizer.measures.verification import verify
from anonymizer.model import BadInput, BadParameter, Profiles, Release, Unsatisfiable
from anonymizer.profile_file import fingerprint, write_profiles
from anonymizer.reduced import reduced_release
from anonymizer.release import read_release, write_release

from .small_logs import is_anonymous
from .small_reduced import PARAMETERS, reduced
from .small_release import Rows

PROFILES: Rows = {
    "anna": {"b": 2.0, "a": 1.0},
    "berta": {"a": 3.0},
    "carla": {"a": 1.0, "c": 1.0},
    "dora": {"c": 5.0},
    "emma": {"a": 2.0},
}


def marks(profiles: Profiles, kept: dict[str, Any]) -> np.ndarray:
    """Return for each cell whether the user keeps the term."""
    cells = [(user, term) for user in profiles.users for term in sorted(profiles.row(user))]
    return np.array([term in kept.get(user, ()) for user, term in cells])


def released(rows: Rows, kept: dict[str, Any], **parameters: Any) -> tuple[Profiles, Release]:
    profiles = Profiles.from_rows(rows)
    given_ = {**PARAMETERS, **parameters}
    cells = marks(profiles, kept)
    passes = np.where(cells, 0, 1)
    frequencies = given_["frequencies"]
    release = reduced_release(
        profiles, cells, passes, given_, method="km-anonymity", frequencies=frequencies
    )
    return profiles, release


def test_rows_stand_in_the_order_of_their_content() -> None:
    kept = {"anna": "ab", "berta": "a", "carla": "ac", "emma": "a"}
    _, release = released(PROFILES, kept)
    assert [release.rows.row(row) for row in release.rows.users] == [
        {"a": 2.0},  # emma; terms before weights, and a whole row before what begins with it
        {"a": 3.0},  # berta
        {"a": 1.0, "b": 2.0},  # anna
        {"a": 1.0, "c": 1.0},  # carla
    ]
    assert release.rows.users == ("g0001", "g0002", "g0003", "g0004")
    assert release.users == ("anna", "berta", "carla", "emma")
    assert release.row_of_user.tolist() == [2, 1, 3, 0]
    assert release.left_out == 1
    assert release.method == "km-anonymity"
    assert not release.serves("dora")
    assert release.deletions is not None
    assert release.deletions.users == ("dora",)
    assert release.deletions.row("dora") == {"c": 1.0}


def test_weights_may_be_dropped() -> None:
    _, release = released(PROFILES, {"berta": "a", "emma": "a"}, frequencies="drop")
    assert release.rows.weights.data.tolist() == [1.0, 1.0]
    assert release.rows.terms == ("a",)


def test_nothing_deleted_and_nothing_kept() -> None:
    _, release = released(PROFILES, {user: list(row) for user, row in PROFILES.items()})
    assert release.deletions is None
    assert release.left_out == 0
    with pytest.raises(Unsatisfiable, match="no term can be kept of 5 users; take a smaller k"):
        released(PROFILES, {})


def test_passes_are_told_as_they_are() -> None:
    profiles = Profiles.from_rows({"anna": {"a": 1.0, "b": 1.0, "c": 1.0}, "berta": {"b": 1.0}})
    passes = np.array([0, 3, 1, 2])
    release = reduced_release(profiles, passes == 0, passes, PARAMETERS, method="km-anonymity")
    assert release.deletions is not None
    assert release.deletions.row("anna") == {"b": 3.0, "c": 1.0}
    assert release.deletions.row("berta") == {"b": 2.0}
    assert release.deletions.terms == ("b", "c")


def test_marks_that_do_not_fit_are_refused() -> None:
    profiles = Profiles.from_rows(PROFILES)
    some, none = np.ones(7, dtype=bool), np.zeros(7, dtype=np.int64)
    with pytest.raises(BadInput, match="6 marks and 7 passes are not for 7 cells"):
        reduced_release(profiles, some[1:], none, {}, method="km-anonymity")
    with pytest.raises(BadInput, match="a cell is deleted in a pass from 1, or kept"):
        reduced_release(profiles, some, none + 1, {}, method="km-anonymity")
    with pytest.raises(BadInput, match="a cell is deleted in a pass from 1, or kept"):
        reduced_release(profiles, ~some, none - 1, {}, method="km-anonymity")
    with pytest.raises(BadParameter, match="frequencies=all must be one of drop, keep"):
        reduced_release(profiles, some, none, {}, method="km-anonymity", frequencies="all")


def test_no_row_is_the_namesake_of_a_user() -> None:
    _, release = released({"g0002": {"a": 1.0}, "g7": {"a": 1.0}}, {"g0002": "a", "g7": "a"})
    assert release.rows.users == ("gg0001", "gg0002")


def test_facts_of_the_method_are_its_own() -> None:
    profiles, release = released(PROFILES, {"anna": "a", "berta": "a", "carla": "a"})
    assert own_facts(profiles, release) == {
        "users": 3,
        "groups": 3,
        "terms_released": 3,
        "users_left_out": 2,
        "users_kept": 0.6,
        "distinct_terms_kept": 0.33,  # 1 / 3
        "log_size_kept": 0.33,  # 5 / 15
    }
    assert facts(profiles, release) == own_facts(profiles, release)
    _, dropped = released(PROFILES, {"anna": "a", "berta": "a"}, frequencies="drop")
    assert own_facts(profiles, dropped)["log_size_kept"] == 0.27  # 4 / 15, of the profiles' weights
    other = Release(release.rows, release.users, release.row_of_user, "p-linkability", {})
    assert own_facts(profiles, other) == {}


def test_a_single_history_leaves_no_trace_in_the_facts() -> None:
    """Forget one of a thousand whose history is deleted whole: only the counts of people differ."""
    people: Rows = {f"u{n}": {"a": 1.0, "b": 1.0} for n in range(1000)}
    kept = dict.fromkeys(people, "ab")
    own = {f"own{n}": 50.0 for n in range(7)}
    other = {**people, "v": {"z": 1.0, **own}, "w": {"z": 1.0}}
    found = facts(*released({**other, "forgotten": {"z": 1.0, "own1": 3.0}}, kept))
    after = facts(*released(other, kept))
    assert {name for name in found if found[name] != after[name]} == {"users_left_out"}


CELL = st.sampled_from([1.0, 2.0, 3.0, 0.1, 1e300, 1e-300])
ROWS = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "c", "ä", 'e"\\', "f f"]), CELL, min_size=1),
    min_size=1,
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(ROWS, st.data(), st.sampled_from(["u{}", "g{:04d}", 'ü "\\{}']))
def test_what_is_made_is_what_naive_code_makes_and_verifies_if_it_is_anonymous(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, float]], data: Any, name: str
) -> None:
    users: Rows = {name.format(n): row for n, row in enumerate(rows, 1)}
    kept = {user: data.draw(st.sets(st.sampled_from(sorted(row)))) for user, row in users.items()}
    if not any(kept.values()):
        kept[name.format(1)] = {*rows[0]}
    given_ = {"k": 2, "m": 2, "frequencies": data.draw(st.sampled_from(["keep", "drop"]))}
    profiles, release = released(users, kept, **given_)
    naive = reduced(users, kept, given_)
    assert [release.rows.row(row) for row in release.rows.users] == [r["terms"] for r in naive.rows]
    letters = release.rows.users[0].rstrip("0123456789")
    assert [release.row_for(member["user"]).name for member in naive.members] == [
        letters + member["row"][1:] for member in naive.members
    ]
    release = Release(
        release.rows, release.users, release.row_of_user, release.method, release.parameters,
        facts(profiles, release), release.deletions,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("release")
    write_release(release, folder / "r", seed=0, input_hash=fingerprint(profiles))
    write_profiles(profiles, folder / "p.jsonl")
    verdict = verify(folder / "r", folder / "p.jsonl")
    found = {finding.claim for finding in verdict.breaches}
    assert found == (set() if is_anonymous([r["terms"] for r in naive.rows], 2, 2) else {"k, m"})
    read = read_release(folder / "r")
    assert read.left_out == release.left_out == len(users) - len(naive.members)
    assert own_facts(profiles, read) == own_facts(profiles, release)


def test_the_record_of_deletions_is_for_the_owner_alone(tmp_path: Path) -> None:
    _, release = released(PROFILES, {"berta": "a", "emma": "a"})
    write_release(release, tmp_path / "r", seed=0, input_hash="")
    path = tmp_path / "r" / "private" / "deletions.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().splitlines()[0] == '{"user": "anna", "terms": {"a": 1.0, "b": 1.0}}'

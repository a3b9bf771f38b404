"""Releases of reduced profiles: rows in the order of their content, and all that was deleted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import Unsatisfiable
from anonymizer.measures.facts import facts, own_facts
from anonymizer.methods import promise_of
from anonymizer.methods.km_anonymity import METHOD
from anonymizer.model import Profiles, Release
from anonymizer.rows.reduced import reduced_release
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import read_release, write_release
from anonymizer.verification.judge import verify

from ..small_logs import is_anonymous
from ..small_reduced import PARAMETERS, reduced
from ..small_release import Rows

MADE: Any = {"method": METHOD.name, "promise": METHOD.promise}
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
        profiles,
        cells,
        passes,
        given_,
        method="km-anonymity",
        promise=METHOD.promise,
        frequencies=frequencies,
    )
    return profiles, release


def test_nothing_deleted_and_nothing_kept() -> None:
    _, release = released(PROFILES, {user: list(row) for user, row in PROFILES.items()})
    assert release.deletions is None
    assert release.left_out == 0
    with pytest.raises(Unsatisfiable, match="none of 5 users can keep a term; take a smaller k"):
        released(PROFILES, {})


def test_passes_are_told_as_they_are() -> None:
    profiles = Profiles.from_rows({"anna": {"a": 1.0, "b": 1.0, "c": 1.0}, "berta": {"b": 1.0}})
    passes = np.array([0, 3, 1, 2])
    release = reduced_release(profiles, passes == 0, passes, PARAMETERS, **MADE)
    assert release.deletions is not None
    assert release.deletions.row("anna") == {"b": 3.0, "c": 1.0}
    assert release.deletions.row("berta") == {"b": 2.0}
    assert release.deletions.terms == ("b", "c")


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
    release = replace(release, facts=facts(profiles, release))
    folder = tmp_path_factory.mktemp("release")
    write_release(release, folder / "r", seed=0, input_hash=fingerprint(profiles))
    write_profiles(profiles, folder / "p.jsonl")
    verdict = verify(folder / "r", folder / "p.jsonl")
    found = {finding.claim for finding in verdict.breaches}
    assert found == (set() if is_anonymous([r["terms"] for r in naive.rows], 2, 2) else {"k, m"})
    read = read_release(folder / "r", promise_of)
    assert read.left_out == release.left_out == len(users) - len(naive.members)
    assert own_facts(profiles, read) == own_facts(profiles, release)


def test_the_record_of_deletions_is_for_the_owner_alone(tmp_path: Path) -> None:
    _, release = released(PROFILES, {"berta": "a", "emma": "a"})
    assert (release.serves("emma"), release.serves("dora")) == (True, False)
    write_release(release, tmp_path / "r", seed=0, input_hash="")
    path = tmp_path / "r" / "private" / "deletions.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().splitlines()[0] == '{"user": "anna", "terms": {"a": 1.0, "b": 1.0}}'

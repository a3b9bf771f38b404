"""Where terms came from, beside a naive twin; and on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import BadInput, BadParameter
from anonymizer.model import Profiles, QueryLog
from anonymizer.profiles import events as profile_counts
from anonymizer.profiles.building import ProfileChoices, build_profiles
from anonymizer.profiles.origins import (
    Origins,
    TermOrigin,
    binary_profiles,
    origins_path,
    read_origins,
    write_origins,
)
from anonymizer.storage.profiles import fingerprint

from .small_events import Event, log_of, split_by_time


def build(log: QueryLog, **chosen: Any) -> tuple[Profiles, Origins]:
    made: list[Origins] = []
    profiles, _ = build_profiles(log, str.split, ProfileChoices(**chosen), on_origins=made.append)
    (origins,) = made
    return profiles, origins


def test_a_time_of_0_is_none_and_times_before_1970_are_times() -> None:
    assert build(log_of([("u", "java", 0)]))[1].of("u") == {"java": TermOrigin(1, None, None)}
    early = [("u", "java", -5), ("u", "java", 1 << 40)]  # too far apart for 32 bits
    assert build(log_of(early))[1].of("u") == {"java": TermOrigin(2, -5, 1 << 40)}


@pytest.mark.parametrize("weights", ["binary", "tf"])
def test_profiles_whose_weights_are_all_1_are_their_origins(weights: str) -> None:
    log = log_of([("u", "java java", 1), ("u", "java tea", 2), ("v", "tea", 3)])
    profiles, origins = build(log, weights=weights)
    known = binary_profiles(origins, fingerprint(profiles))
    assert (known is not None) == (weights == "binary")
    if known:
        assert {user: known.row(user) for user in known.users} == {
            user: profiles.row(user) for user in profiles.users
        }
    assert binary_profiles(origins, "0" * 64) is None


LOGS = st.lists(
    st.tuples(
        st.sampled_from("uvw"),
        st.lists(st.sampled_from("abcd"), max_size=3).map(" ".join),
        st.integers(1, 40) | st.integers(1, 1 << 34),
    ),
    min_size=1,
    max_size=25,
)


def twin(log: QueryLog, profiles: Profiles) -> dict[str, dict[str, TermOrigin]]:
    """Count and date the slow way."""
    rows = list(zip(log.user.tolist(), log.time.tolist(), strict=True))
    found: dict[str, dict[str, TermOrigin]] = {}
    for user in profiles.users:
        found[user] = {}
        for term in profiles.row(user):
            times = [
                time
                for row, (number, time) in enumerate(rows)
                if log.users[number] == user and term in log.text(row).split()
            ]
            found[user][term] = TermOrigin(len(times), min(times), max(times))
    return found


@given(LOGS, st.sampled_from([0.0, 0.5]), st.sampled_from([None, 1, 2]))
def test_origins_equal_their_naive_twin(
    events: list[Event], share: float, size: int | None
) -> None:
    log = log_of(events)
    try:
        profiles, origins = build(log, size=size, test_share=share)
    except (BadInput, BadParameter):
        return  # nobody has a term, which other tests look at
    assert origins.users == profiles.users
    assert origins.terms == profiles.terms
    assert {user: origins.of(user) for user in profiles.users} == twin(
        log_of(split_by_time(events, share)[0]), profiles
    )


def test_sessions_have_origins_of_their_own() -> None:
    events = [("u", "java", 10), ("u", "java", 11), ("u", "java", 5_000)]
    _, origins = build(log_of(events), granularity="session", gap=60)
    assert origins.of("u#1") == {"java": TermOrigin(2, 10, 11)}
    assert origins.of("u#2") == {"java": TermOrigin(1, 5_000, 5_000)}


def test_shares_of_the_work_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [(f"u{n % 1_501}", f"w{n % 7} w{n % 11} w{n % 13}", n % 97) for n in range(9_000)]
    made = []
    for number in (1, 2, 3):
        monkeypatch.setattr(profile_counts, "cores", lambda number=number: number)
        profiles, origins = build(log_of(events), size=3, weights="recency")
        cells = (profiles.weights.data, origins.columns, origins.times, origins.first, origins.last)
        made.append((profiles.users, profiles.terms, [part.tobytes() for part in cells]))
    assert len(made[0][0]) > 1_000
    assert made[0] == made[1] == made[2]


# -- on disk ---------------------------------------------------------------------------------------


@pytest.fixture
def small() -> Origins:
    return build(log_of([("u", "java island", 7), ("v", "java", 9)]))[1]


def test_origins_come_back_as_they_were_written(tmp_path: Path, small: Origins) -> None:
    profiles = tmp_path / "p.jsonl"
    assert read_origins(profiles) is None
    write_origins(small, profiles, "abc")
    assert origins_path(profiles) == tmp_path / "p.origins.npz"
    assert origins_path(profiles).stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [origins_path(profiles)]
    for made_from in ("abc", None):
        read = read_origins(profiles, made_from)
        assert read is not None
        assert {user: read.of(user) for user in "uv"} == {user: small.of(user) for user in "uv"}
    with pytest.raises(
        BadInput, match="belongs to other profiles than those next to it; delete it"
    ):
        read_origins(profiles, "abd")


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": np.array([0, 1, 2], np.int32)},
        {"columns": np.array([0, -1, 0], np.int32)},
        {"ends": np.array([0, 3, 3])},
        {"ends": np.array([0, 2])},
        {"times": np.array([1, 1], np.uint32)},
    ],
)
def test_parts_that_do_not_fit_together_are_refused(
    tmp_path: Path, small: Origins, wrong: dict[str, Any]
) -> None:
    write_origins(Origins(**{**vars(small), **wrong}), tmp_path / "p.npz", "abc")
    with pytest.raises(BadInput, match="damaged, or no file of origins"):
        read_origins(tmp_path / "p.npz")

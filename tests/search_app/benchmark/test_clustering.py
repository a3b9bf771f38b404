"""R4 and R5: real groups, the same by both ways, and ratios of the times they took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.constraints import bounds_of
from anonymizer.model import Profiles
from search_app.benchmark import clustering
from search_app.benchmark.plan import Place, Plan


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, tmp_path)


def test_invented_profiles_have_forty_terms_each() -> None:
    assert clustering.invented_profiles(300).sizes.tolist() == [40] * 300


def test_the_obvious_version_groups_by_hand() -> None:
    """Mean size 2, p = 0.5: four terms a group. u0 takes u5, then u2; u1 takes u4, then u3."""
    rows = [("a", "b"), ("c", "d"), ("a", "e", "f"), ("c", "g", "h"), ("c",), ("a",)]
    profiles = Profiles.from_rows(
        {f"u{number}": dict.fromkeys(row, 1.0) for number, row in enumerate(rows)}
    )
    lengths = np.sqrt(profiles.sizes)
    unit = profiles.weights.multiply(1 / lengths[:, None]).tocsr()
    bounds = bounds_of(profiles, p=0.5, k=None, l=None, t=None)
    assert bounds.terms == 4
    assert clustering.obvious(profiles, unit, bounds, 0).tolist() == [0, 1, 0, 1, 1, 0]


def test_only_twice_as_many_users_make_a_ratio() -> None:
    assert clustering.doublings({8: 2.0, 16: 5.0, 40: 9.0, 80: 9.0}) == {
        "16 / 8": 2.5,
        "80 / 40": 1.0,
    }


def test_growth_is_the_worst_doubling(place: Place) -> None:
    found = clustering.measure_growth(Plan(place.kept, clustered=(200, 400, 800), rounds=1), place)
    seconds = found.facts["seconds"]
    assert list(seconds) == ["200", "400", "800"]
    assert all(value > 0 for value in seconds.values())
    worst = max(found.facts["time(2n) / time(n)"].values())
    assert found.values["growth"] == pytest.approx(worst, abs=0.006)
    assert "clustering" not in found.values, "the bar in seconds is of 128,000 users"


def test_both_ways_make_the_same_groups(place: Place) -> None:
    found = clustering.measure_obvious(Plan(place.kept, obvious=400, rounds=2), place)
    assert found.facts["same groups"]
    assert found.facts["calls"] == {"clustering": 2, "obvious": 2}
    assert found.calls == {"obvious": 2}
    assert not found.wrong
    assert 100 < found.facts["groups"] < 200, "40 terms at p = 0.4 take 100 terms: 3 people"
    assert found.values["obvious"] > 0


def test_both_ways_take_turns_a_few_times(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    ours, theirs = clustering.cluster, clustering.obvious

    def cluster(profiles: Profiles, *rest: Any) -> Any:
        said.append("ours" if len(profiles) == 60 else "warming up")
        return ours(profiles, *rest)

    def obvious(*case: Any) -> Any:
        said.append("theirs")
        return theirs(*case)

    monkeypatch.setattr(clustering, "cluster", cluster)
    monkeypatch.setattr(clustering, "obvious", obvious)
    found = clustering.measure_obvious(Plan(place.kept, obvious=60, rounds=9), place)
    assert said == ["warming up", *["ours", "theirs"] * 2]
    assert found.calls == {"obvious": 2}
    low, high = found.facts["quartiles"]["obvious"]
    assert low <= found.facts["seconds"]["obvious"] <= high


def test_other_groups_are_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "obvious", lambda profiles, *_: np.zeros(len(profiles)))
    found = clustering.measure_obvious(Plan(place.kept, obvious=100, rounds=1), place)
    assert found.wrong == {"obvious": "the groups differ from those of the obvious version"}

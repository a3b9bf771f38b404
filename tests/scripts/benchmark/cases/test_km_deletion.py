"""R7: the cases, and the real method on a small log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anonymizer.storage.profiles import write_profiles
from scripts.benchmark.bars import BARS
from scripts.benchmark.cases import km_deletion
from scripts.benchmark.cases.km_deletion import BAR_OF, case_of
from scripts.benchmark.inputs.altavista import altavista_profiles

TINY = 0.001


def test_the_real_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(km_deletion, "WARM_UP", TINY)
    profiles = tmp_path / "profiles.npz"
    write_profiles(altavista_profiles(TINY), profiles)
    km_deletion.main([str(profiles), *(",".join(map(str, case)) for case in BAR_OF.values())])
    results = json.loads(capsys.readouterr().out)
    assert len(results) == len(BAR_OF)
    assert all(result["seconds"] > 0 for result in results)
    assert all(0 < result["share of log size kept"] < 1 for result in results)


def test_each_case_has_a_bar_and_greedy_breaks_ties_one_way() -> None:
    for name, case in BAR_OF.items():
        assert f"({case.k},{case.m})" in BARS[name].what
        assert case_of(",".join(map(str, case))) == case
        assert ("ties" in case.parameters) == (case.algorithm == "greedy")

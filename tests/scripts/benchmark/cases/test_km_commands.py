"""R9 of (k,m)-anonymity: the real commands on a small log, and what they took divided."""

from __future__ import annotations

from pathlib import Path

from scripts.benchmark.bars import BARS
from scripts.benchmark.cases import km_commands
from scripts.benchmark.plan import Place, Plan

TINY = 0.001


def test_the_real_commands_on_a_small_log(tmp_path: Path) -> None:
    place = Place(tmp_path / "goes", tmp_path / "kept")
    place.temporary.mkdir()
    place.kept.mkdir()
    found = km_commands.measure(Plan(place.kept, reduced=TINY, rounds=1), place)
    assert set(found.values) == {"verify km", "verify km triples"}
    assert found.calls == {"verify km": 1, "verify km triples": 1}
    taken = found.facts["commands"]["insert (2,3)"]
    seconds = taken["verify"]["seconds"], taken["anonymize"]["seconds"]
    assert found.values["verify km triples"] == seconds[0] / seconds[1] > 0
    assert found.facts["profiles"]["gigabytes"] > 0
    assert not list(place.temporary.iterdir())
    for name, m in km_commands.MOST.items():
        assert (BARS[name].ratio, BARS[name].most) == ("R9", 0.25)
        assert f"(2,{m})" in BARS[name].what

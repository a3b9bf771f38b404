"""R9 of (k,m)-anonymity: the real commands on a small log, and what they took divided."""

from __future__ import annotations

from pathlib import Path

import pytest

from search_app.benchmark import km_commands
from search_app.benchmark.bars import BARS
from search_app.benchmark.plan import Place, Plan
from search_app.benchmark.processes import Run

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


def test_m_is_what_the_bar_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str, ...]] = []

    def verb(_workspace: Path, *words: object) -> tuple[Run, None]:
        said.append(tuple(map(str, words)))
        seconds = {"anonymize": 4.0, "verify": 1.0}.get(said[-1][0], 9.0)
        return Run(seconds * ("m=3" in said[-1]) or seconds, 0.5), None

    monkeypatch.setattr(km_commands, "verb", verb)
    monkeypatch.setattr(km_commands, "compile_all", lambda *_: None)
    monkeypatch.setattr(km_commands, "made", lambda folder, *_: folder / "log.tsv")
    place = Place(tmp_path, tmp_path)
    found = km_commands.measure(Plan(tmp_path, rounds=5), place)
    assert [words[0] for words in said] == ["profiles", *("anonymize", "verify") * 6]
    asked = ["m=2" if "m=2" in words else "m=3" for words in said if words[0] == "anonymize"]
    assert asked == ["m=2", "m=3"] * 3
    assert found.values == {"verify km": 0.25, "verify km triples": 0.25}
    assert found.calls == {"verify km": 3, "verify km triples": 3}
    for name, m in km_commands.MOST.items():
        assert (BARS[name].ratio, BARS[name].most) == ("R9", 0.25)
        assert f"(2,{m})" in BARS[name].what

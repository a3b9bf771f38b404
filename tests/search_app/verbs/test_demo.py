"""The embedded demo, built as a newcomer builds it: all of WordNet, 800 people, real Lucene."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.methods import promise_of
from anonymizer.storage.releases import read_release
from anonymizer.terms.wordnet import WordNet
from search_app.cli import run
from search_app.errors import UsageError
from search_app.settings import load_settings
from search_app.tasks import demo as demonstration
from search_app.town import PAIR, examples
from search_app.workspace.folder import Workspace
from search_app.workspace.opening import open_modes


@pytest.fixture(scope="session")
def pair(demo: Path) -> dict[str, str]:
    """Return the coffee lover and the programmer of the lecture."""
    truth = json.loads((demo / "town.truth.json").read_text(encoding="utf-8"))
    return examples.pair(truth, read_release(demo / "release", promise_of))


def search(demo: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    assert run(["--workspace", str(demo), "search", "java", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def under(wordnet: WordNet, synset: str, root: str) -> bool:
    """Tell whether a synset stands below a root, or is it."""
    top = wordnet.number(root)
    return any(top in wordnet.path(path) for path in wordnet.paths(wordnet.number(synset)))


def share(found: Any, wordnet: WordNet, roots: list[str]) -> float:
    hits = [hit["id"] for hit in found["hits"][:10]]
    return sum(any(under(wordnet, hit, root) for root in roots) for hit in hits) / len(hits)


DRINKS = ["beverage.n.01", "coffee.n.01", "coffee_substitute.n.01"]


@pytest.mark.parametrize("mode", ["own", "group"])
def test_java_is_coffee_to_one_and_programming_to_the_other(
    demo: Path,
    pair: dict[str, str],
    wordnet: WordNet,
    capsys: pytest.CaptureFixture[str],
    mode: str,
) -> None:
    coffee = search(demo, capsys, "--user", pair["coffee"], "--mode", mode)
    programs = search(demo, capsys, "--user", pair["programming"], "--mode", mode)
    assert share(coffee, wordnet, DRINKS) >= 0.8
    assert share(programs, wordnet, DRINKS) == 0
    first = {hit["id"] for hit in programs["hits"][:5]}
    assert {"java.n.03", "applet.n.01", "object-oriented_programming_language.n.01"} <= first


def test_the_group_beats_no_personalization_over_the_whole_town(demo: Path) -> None:
    settings = load_settings(demo)
    modes = open_modes(Workspace(demo), settings)
    truth = json.loads((demo / "town.truth.json").read_text(encoding="utf-8"))
    assert modes.release is not None
    for label in PAIR:
        fans = [user for user in truth["interests"][label] if user in modes.release.users]
        answers = [modes.answers("java", ("none", "group"), fan, pool=100) for fan in fans]
        plain, group = (
            np.mean([answer[at].precision.ap for answer in answers if answer[at].precision])
            for at in (0, 1)
        )
        assert plain + 0.05 < group < 1, label


def test_the_release_keeps_its_promise(demo: Path) -> None:
    release = json.loads((demo / "release" / "release.json").read_text(encoding="utf-8"))
    assert release["facts"]["users"] == demonstration.USERS
    assert release["facts"]["average_linkability"] <= release["parameters"]["p"] == 0.4


def test_a_second_run_builds_nothing(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in demo.rglob("*.jsonl")}
    assert run(["--workspace", str(demo), "demo", "--no-serve"]) == 0
    assert "built already" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in demo.rglob("*.jsonl")} == before


def test_a_half_built_demo_is_built_again(demo: Path) -> None:
    workspace = Workspace(demo)
    assert demonstration.is_built(workspace)
    marker = demo / "demo.json"
    text = marker.read_text()
    try:
        for damaged in (b"{}", b"x", b"\xff", b""):
            marker.write_bytes(damaged)
            assert not demonstration.is_built(workspace)
    finally:
        marker.write_text(text)


def test_other_peoples_profiles_are_never_built_over(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    for truth in ("", "my-town.truth.json"):  # real people, and a lecturer's own town
        workspace.make_current(profiles="mine.jsonl", truth=truth)
        with pytest.raises(UsageError, match="not the demo's; name another folder"):
            demonstration.refuse_other_data(workspace)
    workspace.make_current(truth="town.truth.json")
    demonstration.refuse_other_data(workspace)


def test_doctor_is_green_after_the_demo(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--workspace", str(demo), "doctor"]) == 0
    assert "BAD" not in capsys.readouterr().out

"""veilsearch bench: what it refuses, leaves out, prints and keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts.benchmark import page, report, suite
from scripts.benchmark.__main__ import main
from scripts.benchmark.bars import BARS, Measured
from scripts.benchmark.plan import Step
from scripts.docs import put_into
from search_app.verbs import bench as verb

from ...search_app.conftest import Run


class Bench(Run):
    """Calls the verb."""

    def __call__(self, *arguments: object, code: int = 0) -> str:
        return super().__call__("bench", *arguments, code=code)


@pytest.fixture
def bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path / "none", capsys)


def test_the_script_takes_the_same_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "R99", "--load", "--full"])
    assert "no bar or step R99" in capsys.readouterr().err


def test_without_the_sources_it_says_where_they_are(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verb, "_CHECKOUT", tmp_path)
    assert "clone the repository" in bench.refused()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where figures are kept, with two steps that measure at once."""
    steps = {
        name: Step((bar,), "counting", lambda _plan, _place, bar=bar: Measured({bar: 1.0}))
        for name, bar in (("one", "growth"), ("two", "help"))
    }
    monkeypatch.setattr(suite, "STEPS", steps)
    monkeypatch.setattr(report, "commit", lambda: "abc")
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(page, "KEPT", tmp_path / "page.json")
    page.PAGE.write_text("<!-- scripts/docs.py: performance bars -->\n<!-- end -->\n")
    return page.KEPT


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--only", "R1,R99"], "--only: no bar or step R99; there are: R1, R2, R3"),
        (["--only", "r13"], "--only r13: these take minutes; add --full or --load"),
        (["--rounds", "0"], "--rounds 0 must be at least 1"),
    ],
)
def test_wrong_use_is_one_line(bench: Bench, words: list[str], why: str) -> None:
    assert why in bench.refused(*words)


def test_what_is_measured_is_kept_and_the_page_is_written(bench: Bench, kept: Path) -> None:
    answer = bench.json("--write", "--only", "r11")
    assert set(answer) == {"two"} == set(json.loads(kept.read_text()))
    assert answer["two"]["findings"]["help"]["value"] == 1.0
    assert bench.talk.splitlines()[0] == "bench: 1 of 1, two: counting ..."
    text = page.PAGE.read_text()
    assert text == put_into(text)
    assert f"| {BARS['help'].what} | 1 | at most 8 | ok |" in text


def test_a_run_goes_on_where_another_failed(bench: Bench, kept: Path) -> None:
    bench("--write", "--only", "one")
    assert set(bench.json("--missing")) == {"two"}
    steps = json.loads(kept.read_text())
    for other in ({"commit": "older"}, {"settled": False}):
        kept.write_text(json.dumps({"one": {**steps["one"], **other}}))
        assert set(bench.json("--missing")) == {"one", "two"}

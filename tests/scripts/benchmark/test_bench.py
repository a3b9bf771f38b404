"""scripts/bench: what it refuses, and what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.benchmark.__main__ import main
from scripts.benchmark.bars import RATIOS
from scripts.benchmark.cases.index_building import trec_files

from ...search_app.conftest import Run


class Bench(Run):
    """Calls scripts/bench on one workspace."""

    main = staticmethod(main)


@pytest.fixture
def bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path / "workspace", capsys)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--only", "R1,R99"], "--only: no ratio R99; there are: R1, R2, R3"),
        (["--rounds", "0", "--pool", "20000"], "--rounds 0 must be at least 1; --pool 20000 must"),
        (["--load", "--full"], "give one of them"),
        (["--load", "--only", "R13"], "remove it with"),
        (["--load", "--seconds", "0"], "--seconds must be above 0"),
    ],
)
def test_wrong_use_is_one_line(bench: Bench, words: list[str], told: str) -> None:
    assert told in bench.refused(*words)


def test_what_needs_an_index_says_how_to_make_one(bench: Bench) -> None:
    report = bench.json("--only", "r2,R12", "--rounds", "1")
    assert [each["ratio"] for each in report["findings"]] == ["R2", "R12"]
    assert {each["verdict"] for each in report["findings"]} == {"not measured"}
    assert "veilsearch index" in report["findings"][0]["reason"]
    assert report["seconds"] < 600


def test_a_table_has_a_line_for_each_bar(bench: Bench) -> None:
    lines = bench("--only", "R8,R12").splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["ratio", "R8", "R12"]
    assert all("not measured: " in line for line in lines[1:3])
    assert lines[3] == "0 ok, 0 MISSED, 0 too busy to judge, 0 no bar, 2 not measured"
    assert re.search(r"computing, on \d+ cores?.*; load [\d.]+ before and [\d.]+ after$", lines[4])
    assert lines[5].startswith("veilsearch ")
    assert bench.talk == "", "progress is for terminals"


def test_the_help_lists_every_ratio_and_groups_its_options(bench: Bench) -> None:
    said = bench("--help")
    listed = said[said.index("  --only") : said.index("  --full")]
    assert {ratio for ratio in RATIOS if ratio != "index"} == {*re.findall(r"\bR\d+\b", listed)}
    heads = [line for line in said.splitlines() if re.match(r"[a-z].*:$", line)]
    assert [head.split()[0] for head in heads[1:]] == ["what", "how", "with", "with", "what"]


def test_both_ways_to_build_an_index_are_timed(bench: Bench, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "notes.md").write_text("not TREC")
    (corpus / "part.trec").write_text(
        "".join(
            f"<DOC>\n<DOCNO>d{at}</DOCNO>\n<TEXT>\njava coffee {at}\n</TEXT>\n</DOC>\n"
            for at in range(20)
        )
    )
    assert trec_files(corpus) == [corpus / "part.trec"]
    report = bench.json("--index", corpus, "--rounds", "1", "--threads", "1")
    ratio, memory = report["findings"]
    (ours,), (theirs,) = report["facts"]["index"]["seconds"].values()
    assert ratio["value"] == pytest.approx(ours / theirs, 0.05)
    assert 0 < memory["value"] < 3
    assert report["facts"]["index"]["files"] == 1

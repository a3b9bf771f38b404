"""Search by smoothed rows on the command line: asked for by flag or settings, for newcomers too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ..conftest import Run, call, jsonl

TOPICS = (("coffee", "mocha", "bean"), ("island", "volcano", "beach"))
# what stands in one document: cup and beach are asked for by few
TEXTS = ["java island volcano", "java coffee", "java cup mocha", "java beach", "java coffee mocha"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an index, and a pooled release of ten people in groups of five."""
    root = tmp_path_factory.mktemp("smoothing") / "workspace"
    documents = [{"id": f"d{at}", "title": "", "text": text} for at, text in enumerate(TEXTS)]
    lines = []
    for number in range(10):
        topic = TOPICS[number % 2]
        terms = {*topic[: 2 + number % 3 // 2], "cup" if number < 4 else "java"}
        lines.append({"user": f"needle-{number}", "terms": dict.fromkeys(sorted(terms), 1.0)})
    people = jsonl(root.with_name("people.jsonl"), lines)
    sets = [word for each in ("p=0.2", "documents=5") for word in ("--set", each)]
    call(root, "index", jsonl(root.with_name("corpus.jsonl"), documents))
    call(root, "anonymize", people, "-m", "pooled", *sets)
    call(root, "publish", root / "release", "-o", root.with_name("public.jsonl"))
    return root


@pytest.fixture
def run(made: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    capsys.readouterr()
    return Run(made, capsys)


def test_a_flag_smooths_the_row_that_serves(run: Run) -> None:
    plain = run("search", "java", "--user", "needle-1")
    smooth = run("search", "java", "--user", "needle-1", "--smoothing", "--explain")
    head, headed = (text.splitlines()[0] for text in (plain, smooth))
    assert "smoothed" not in plain
    assert headed.split(";")[0] == f"{head.split(';')[0]}, smoothed"
    assert "your group’s smoothed" in smooth
    scores = [
        [hit["score"] for hit in run.json("search", "java", "--user", "needle-1", *more)["hits"]]
        for more in ((), ("--smoothing",))
    ]
    assert scores[0] != scores[1]


def test_settings_smooth_it_too(made: Path, run: Run, tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    shutil.copytree(made, root, symlinks=True)
    (root / "veilsearch.toml").write_text("smoothing = true\n")
    asked = ("search", "java", "--user", "needle-2", "--json")
    by_settings = json.loads(Run(root, run.capsys)(*asked))["hits"]
    assert by_settings == run.json("search", "java", "--user", "needle-2", "--smoothing")["hits"]
    own = ("search", "java", "--user", "needle-2", "--mode", "own")
    assert json.loads(Run(root, run.capsys)(*own, "--json"))["hits"] == run.json(*own)["hits"]
    (root / "veilsearch.toml").write_text("smoothing = 1\n")
    assert "smoothing=1 must be of type bool" in Run(root, run.capsys).refused(*asked)


@pytest.mark.parametrize("where", ["release", "public.jsonl"])
def test_a_newcomer_is_served_by_a_smoothed_row_of_what_is_public(
    made: Path, run: Run, tmp_path: Path, where: str
) -> None:
    file = tmp_path / "me.jsonl"
    file.write_text(json.dumps({"user": "needle-zoe", "terms": {"coffee": 1.0}}) + "\n")
    release = made / "release" if where == "release" else made.with_name(where)
    asked = ("search", "java", "--newcomer", file, "--release", release, "--mode", "group")
    plain, smooth = run.json(*asked), run.json(*asked, "--smoothing")
    assert plain["row"] == smooth["row"]
    member = next(
        user
        for user in (f"needle-{number}" for number in range(10))
        if run.json("search", "java", "--user", user)["row"] == smooth["row"]
    )
    theirs = run.json("search", "java", "--user", member, "--smoothing")
    assert smooth["hits"] == theirs["hits"]  # the row tells nothing of who is served
    assert plain["hits"] != smooth["hits"]

"""`experiment value` on the toy world: its corpus, log, queries and labels as files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from search_app.measures.relevance import AP, GAIN, RELEVANCE
from search_app.workspace.folder import Workspace

from ...conftest import Run
from .. import toy_world
from ..toy_world import DOCUMENT, NEEDLE, PERSON, Place

WORDS = [topic.split()[0] for topic in toy_world.TOPICS]
DEFINITION = """
name = "toy-value"
report = "value"
[inputs]
size = 8
users = 12
[defaults]
method = "p-linkability"
parameters = { p = 0.6 }
modes = ["group", "group-evidence", "group-careful"]
[[variant]]
name = "baselines"
method = ""
parameters = {}
modes = ["none", "average", "own"]
[[variant]]
name = "p-linkability"
"""


@pytest.fixture(scope="module")
def files(toy: Place, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Write queries, labels and a definition; return the arguments that name them all."""
    room = tmp_path_factory.mktemp("labelled")
    users = sorted({line.user for line in toy_world.log()})
    lines = [
        f"q{number}\t{user}\t{kind}\triver {word} {NEEDLE}\t{word}\n"
        for number, (user, word, kind) in enumerate(
            zip([*users, *users], WORDS * 5, ["in", "off", "in"] * 10, strict=False)
        )
    ]
    (room / "queries.tsv").write_text("".join(lines))
    labels = (f"{name}\t{text}\n" for name, text in toy_world.documents().items())
    (room / "labels.tsv").write_text("".join(labels))
    (room / "value.toml").write_text(DEFINITION)
    named = {"--corpus": toy.log.with_name("corpus.jsonl"), "--log": toy.log,
             "--queries": room / "queries.tsv", "--labels": room / "labels.tsv"}  # fmt: skip
    return [str(room / "value.toml"), *(str(word) for pair in named.items() for word in pair)]


def test_any_bed_is_measured_and_said_to_nobody(
    run: Run, toy: Place, files: list[str], tmp_path: Path
) -> None:
    before = Workspace(toy.root).current()
    out = tmp_path / "out"
    run("experiment", *files, "-o", out)
    assert Workspace(toy.root).current().index == before.index
    rows = list(csv.DictReader((out / "rows.csv").read_text().splitlines()))
    assert set(RELEVANCE) < rows[0].keys()
    assert len(rows) == 24 * 6
    for row in rows:
        if row["mode"] == "none":
            assert float(row[GAIN]) == 0
        assert 0 <= float(row[AP]) <= 1
        assert (row[f"{GAIN} in"] == "") != (row[f"{GAIN} off"] == "")
    report = json.loads((out / "report.json").read_bytes())
    assert [one["name"] for one in report["claims"]] == [
        f"{name}-pool-100"
        for name in ("average-helps-nobody", "harmed-evidence", "harmed-careful", "worst-tenth",
                     "papers-order-otherwise")
    ]  # fmt: skip
    command = json.loads((out / "provenance.json").read_bytes())["command"]
    assert command == (
        "veilsearch experiment value.toml --corpus corpus.jsonl --log log.tsv "
        "--queries queries.tsv --labels labels.tsv"
    )
    for path in out.rglob("*"):
        if path.is_file():
            content = path.read_bytes().decode("utf-8", "replace")
            assert not any(word in content for word in (NEEDLE, PERSON, DOCUMENT)), path.name
    # The same corpus is not indexed twice, and what was measured is taken over.
    builds = list(Workspace(toy.root).indexes.iterdir())
    again = run.json("experiment", *files, "-o", out)
    assert (again["reused"], again["units"]) == (2, 2)
    assert list(Workspace(toy.root).indexes.iterdir()) == builds


@pytest.mark.parametrize(
    ("cut", "more", "why"),
    [
        (5, (), "judges by relevance of its own; give --queries and --labels"),
        (1, (), "the workspace has no town; name a log with --log LOG"),
        (7, (), "needs labels of documents, too"),
        (9, ("--index", "corpus"), "--corpus and --index name two indexes"),
    ],
)
def test_what_does_not_fit_is_refused(
    run: Run, files: list[str], tmp_path: Path, cut: int, more: tuple[str, ...], why: str
) -> None:
    assert why in run.refused("experiment", *files[:cut], *more, "-o", tmp_path / "out")


def test_labels_of_unknown_documents_are_refused(
    run: Run, files: list[str], tmp_path: Path
) -> None:
    (tmp_path / "labels").write_text(f"none-such\t{WORDS[0]}\n")
    said = run.refused("experiment", *files[:-1], tmp_path / "labels", "-o", tmp_path / "out")
    assert "none of 24 queries of people with a profile has 2 relevant documents" in said


def test_labels_need_queries(run: Run, toy: Place, tmp_path: Path) -> None:
    arguments = toy.arguments(tmp_path / "out", "--labels", tmp_path)
    assert "--labels and --queries FILE go together" in run.refused(*arguments)

"""`evaluate --relevance`: the same numbers by a loop, the controls, and bad input."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from search_app.measures.significance import interval, worst_decile

from ..conftest import Run
from .conftest import PEOPLE, THEMES

WORDS = [theme.split() for theme in THEMES]
HEAD = "qid\tuser\tkind\tquery\tlabels\n"
MEASURES = {"AP": "AP by relevance", "nDCG@10": "nDCG@10", "gain": "gain", "harmed": "harmed",
            "harmed_much": "harmed_much"}  # fmt: skip


@pytest.fixture
def files(six_people: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Write a query in and one off each person's interests; a label is a word of a theme."""
    queries, labels = tmp_path / "queries.tsv", tmp_path / "labels.tsv.gz"
    lines = [
        f"q{kind}{at}\t{person}\t{kind}\tjava\t{WORDS[(at + by) % 5][0]}\n"
        for at, person in enumerate(PEOPLE)
        for kind, by in (("in", 0), ("off", 1))
    ]
    queries.write_text(HEAD + "".join(lines))
    with gzip.open(labels, "wt") as file:
        for line in (six_people.parent / "corpus.jsonl").read_text().splitlines():
            record = json.loads(line)
            file.write(f"{record['id']}\t{record['text']}\n")
    return queries, labels


def judged(veilsearch: Run, files: tuple[Path, Path], *more: object) -> dict[str, dict]:
    found = veilsearch.json("evaluate", "--relevance", files[0], "--labels", files[1], *more)
    return {each["mode"]: each for each in found["modes"]}


def test_the_figures_are_those_of_a_loop_over_rows(
    veilsearch: Run, files: tuple[Path, Path], tmp_path: Path
) -> None:
    modes = judged(veilsearch, files, "-o", tmp_path / "rows.csv")
    assert list(modes) == ["none", "own", "group", "stranger", "global-average"]
    people: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    lost: dict[str, list[float]] = defaultdict(list)
    with (tmp_path / "rows.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            for name, column in MEASURES.items():
                people[row["mode"], name, row["person"]].append(float(row[column]))
            for name in ("gain", "harmed"):
                people[row["mode"], f"{name} {row['kind']}", row["person"]].append(float(row[name]))
            lost[row["mode"]] += [-float(row["gain"])] if float(row["gain"]) < -0.01 else []
    for mode, found in modes.items():
        means = {
            name: np.array(
                [np.mean(v) for (m, n, _), v in people.items() if (m, n) == (mode, name)]
            )
            for name in (*MEASURES, "gain in", "gain off", "harmed in", "harmed off")
        }
        assert all(len(values) == 6 for values in means.values())
        for name in MEASURES:
            assert tuple(found[name].values()) == pytest.approx(interval(means[name]), abs=1e-9)
        for kind in ("in", "off"):
            for name in ("gain", "harmed"):
                wanted = means[f"{name} {kind}"].mean()
                assert found[kind][name]["mean"] == pytest.approx(wanted, abs=1e-9)
        assert found["worst_decile_gain"] == pytest.approx(worst_decile(means["gain"]))
        # everybody has two queries, so means over queries are those over people
        assert found["mean_loss_where_harmed"] == pytest.approx(np.mean(lost[mode] or [0]))
    assert modes["none"]["gain"]["mean"] == modes["none"]["harmed"]["mean"] == 0
    assert modes["own"]["in"]["gain"]["mean"] > 0.1 > modes["own"]["off"]["gain"]["mean"]


def test_by_evidence_the_global_average_is_the_plain_order(
    veilsearch: Run, files: tuple[Path, Path]
) -> None:
    by_cosine = judged(veilsearch, files)
    by_evidence = judged(veilsearch, files, "--ranking", "evidence", "--modes", "own")
    assert list(by_evidence) == ["none", "own", "stranger", "global-average"]
    average = by_evidence["global-average"]
    assert average == {**by_evidence["none"], "mode": "global-average", "control": True}
    assert by_cosine["global-average"]["gain"]["mean"] != 0
    assert by_evidence["own"] != by_cosine["own"]


def test_lines_show_the_controls(veilsearch: Run, files: tuple[Path, Path]) -> None:
    said = veilsearch("evaluate", "--relevance", files[0], "--labels", files[1])
    assert said.splitlines()[0].startswith("12 queries of 6 people over pools of 100 documents")
    assert "controls, which know nothing of a person: stranger, global-average" in said
    assert "not judged: none" in said


def test_the_same_seed_draws_the_same_strangers(veilsearch: Run, files: tuple[Path, Path]) -> None:
    one, again = (judged(veilsearch, files, "--seed", 1)["stranger"] for _ in range(2))
    assert one == again


def test_one_row_has_no_stranger(veilsearch: Run, files: tuple[Path, Path]) -> None:
    veilsearch("anonymize", "--set", "p=0.3", "--second")
    rows = (veilsearch.workspace / "release" / "rows.jsonl").read_text().splitlines()
    assert len(rows) == 1
    for ranking in ("cosine", "evidence"):
        modes = judged(veilsearch, files, "--ranking", ranking)
        assert modes["stranger"]["gain"]["mean"] == 0


def test_people_without_a_profile_and_queries_that_do_not_tell_are_left_out(
    veilsearch: Run, files: tuple[Path, Path]
) -> None:
    person, word = PEOPLE[0], WORDS[0][0]
    lines = [
        f"n1\tnobody\tin\tjava\t{word}\n",
        f"n2\t{person}\tin\tjava\tnothing\n",
        f"n3\t{person}\tin\tzqx\t{word}\n",
        f"n4\t{person}\toff\tjava\t\n",
    ]
    files[0].write_text(files[0].read_text() + "".join(lines))
    found = veilsearch.json("evaluate", "--relevance", files[0], "--labels", files[1])
    assert found["left_out"] == {"no profile": 1, "no hits": 1, "not telling": 2}
    assert found["queries"] == 12


@pytest.mark.parametrize(
    ("queries", "labels", "why"),
    [
        (
            "q1\tu\tin\tjava\tx\n",
            "none-such\tx\n",
            "none of 1 queries can be judged; not judged: 1",
        ),
        ("q1\tu\tin\tjava\n", "d1\tx\n", "line 1: 4 columns instead of 5; write qid<TAB>user"),
        ("q1\tu\tnear\tjava\tx\n", "d1\tx\n", "line 1: kind must be in or off"),
        (HEAD + "q1\tu\tin\t\tx\n", "d1\tx\n", "line 2: an empty column"),
        ("q1\tu\tin\ta\tx\nq1\tu\tin\tb\tx\n", "d1\tx\n", "line 2: qid must be one word"),
        ("q1\tu\tin\tjava\tx\n", "d1\tx\nd1\ty\n", "line 2: a document stands twice"),
        ("q1\tu\tin\tjava\tx\n", "d1\t\n", "no labels; write document<TAB>labels"),
        (HEAD, "d1\tx\n", "no queries; write qid<TAB>user"),
    ],
)
def test_bad_files_are_refused(
    veilsearch: Run, tmp_path: Path, queries: str, labels: str, why: str
) -> None:
    (tmp_path / "q").write_text(queries.replace("\tu\t", f"\t{PEOPLE[0]}\t"))
    (tmp_path / "l").write_text(labels)
    said = veilsearch.refused("evaluate", "--relevance", tmp_path / "q", "--labels", tmp_path / "l")
    assert why in said
    assert PEOPLE[0] not in said


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--relevance", "truth"), "has no invented people whose truth is known"),
        (("--relevance", "q.tsv"), "needs labels of documents, too; give --labels LABELS"),
        (("--relevance", "truth", "--labels", "l"), "has its own labels; leave out --labels"),
        (("--relevance", "truth", "--run-dir", "runs"), "--run-dir writes judgments of --queries"),
        (("--queries", "held-out", "--labels", "l"), "--labels and --relevance FILE go together"),
        (("--queries", "held-out", "--relevance", "truth"), "not allowed with argument"),
    ],
)
def test_arguments_that_do_not_fit(veilsearch: Run, more: tuple[str, ...], why: str) -> None:
    assert why in veilsearch.refused("evaluate", *more)

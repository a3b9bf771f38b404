from __future__ import annotations

import csv
from collections import defaultdict
from itertools import product
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, nDCG

from search_app.measures.precision import MEASURES, random_average_precision
from search_app.measures.significance import holm, interval, randomization, worst_decile
from search_app.workspace.folder import Workspace

from ..conftest import Run
from .conftest import PEOPLE, THEMES

MODES = ("none", "own", "group")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def by_mode(path: Path, measure: str) -> dict[str, np.ndarray]:
    """Return each mode's means of a measure over each person's queries, by a loop."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows_of(path):
        found[row["mode"], row["person"]].append(float(row[measure]))
    modes = dict.fromkeys(mode for mode, _ in found)
    return {
        mode: np.array([np.mean(values) for (of, _), values in found.items() if of == mode])
        for mode in modes
    }


# -- any IR tool finds our values ----------------------------------------------------------------


def test_runs_and_judgments_give_ir_measures_our_values(veilsearch: Run, tmp_path: Path) -> None:
    veilsearch("evaluate", "--queries", "held-out", "--run-dir", tmp_path / "runs", "-o",
               tmp_path / "rows.csv")  # fmt: skip
    rows = rows_of(tmp_path / "rows.csv")
    assert len(rows) == 3 * 18  # six people's last three queries in three modes
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "runs" / "qrels.txt")))
    for mode in MODES:
        run = ir_measures.read_trec_run(str(tmp_path / "runs" / f"{mode}.run"))
        theirs = {
            (str(each.measure), each.query_id): each.value
            for each in ir_measures.iter_calc([AP(rel=1), nDCG], qrels, list(run))
        }
        ours = [row for row in rows if row["mode"] == mode]
        assert len(ours) == 18
        for row in ours:
            assert float(row["AP"]) == pytest.approx(theirs["AP", row["query"]], abs=1e-9)
            assert float(row["nDCG"]) == pytest.approx(theirs["nDCG", row["query"]], abs=1e-9)


def test_any_tools_mean_is_over_queries_and_ours_over_people(
    veilsearch: Run, tmp_path: Path
) -> None:
    queries, runs, rows = (tmp_path / name for name in ("queries.tsv", "runs", "rows.csv"))
    many = [f"a{at}\t{PEOPLE[0]}\tjava {word}\n" for at, word in enumerate(THEMES[0].split())]
    queries.write_text("".join([*many, f"b\t{PEOPLE[1]}\tjava\n", f"c\t{PEOPLE[1]}\tlava\n"]))
    arguments = ["evaluate", "--queries", queries, "--run-dir", runs, "-o", rows]
    said, told = veilsearch(*arguments), []
    for mode in veilsearch.json(*arguments)["modes"]:
        qrels = ir_measures.read_trec_qrels(str(runs / "qrels.txt"))
        run = ir_measures.read_trec_run(str(runs / f"{mode['mode']}.run"))
        theirs = ir_measures.calc_aggregate([AP(rel=1)], qrels, run)[AP(rel=1)]
        assert mode["AP_over_queries"] == pytest.approx(theirs, abs=1e-9)
        people = by_mode(rows, "AP")[mode["mode"]]  # one of many queries counts like one of few
        assert mode["AP"]["mean"] == pytest.approx(people.mean(), abs=1e-11)
        told.append(f"{mode['mode']} {theirs:.3f}")
    over = "means of AP over queries, weighted equally, as in the runs: "
    assert f"{over}{', '.join(told)}" in said.splitlines()
    assert over not in veilsearch("evaluate", "--queries", queries)
    assert "figures may be too high for queries that helped" in veilsearch.talk
    one = veilsearch.json("evaluate", "--queries", queries, "--modes", "none")
    assert one["differences_of_AP"] == []


# -- what is said --------------------------------------------------------------------------------


def test_means_and_tests_are_over_people(veilsearch: Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    found = veilsearch.json("evaluate", "--queries", "held-out", "-o", rows, "--seed", 3)
    assert (found["queries"], found["people"], found["pool"]) == (18, 6, 100)
    assert found["left_out"] == {"no profile": 0, "no hits": 0, "few hits": 0}
    assert found["smaller_pools"] == 18  # 90 documents on java
    assert found["random_AP"] == pytest.approx(random_average_precision(90), abs=1e-12)
    assert [each["mode"] for each in found["modes"]] == list(MODES)
    ap = by_mode(rows, "AP")
    for mode, measure in product(found["modes"], MEASURES):
        values = by_mode(rows, measure)[mode["mode"]]
        expected = interval(values, seed=3)._asdict()
        assert mode[measure] == pytest.approx(expected, abs=1e-11)
        assert mode["worst_decile_AP"] == pytest.approx(worst_decile(ap[mode["mode"]]), abs=1e-11)
    pairs = [("own", "none"), ("group", "none"), ("group", "own")]
    p = holm([randomization(ap[mode] - ap[above], seed=3) for mode, above in pairs])
    for said, (mode, above), each in zip(found["differences_of_AP"], pairs, p, strict=True):
        assert (said["mode"], said["above"], said["p_holm"]) == (mode, above, each)
        assert said["mean"] == pytest.approx((ap[mode] - ap[above]).mean(), abs=1e-11)


def test_the_own_order_has_ap_1_and_the_table_says_so(veilsearch: Run) -> None:
    said = veilsearch("evaluate", "--queries", "held-out").splitlines()
    assert said[0].startswith("18 queries of 6 people over pools of 100 documents; in 18 the pool")
    assert said[1] == "not judged: none"
    own = next(line.split() for line in said if line.startswith("own "))
    assert own[1:] == ["1.000", "[1.000,", "1.000]", *["1.000"] * 8]
    for each in veilsearch.json("evaluate", "--queries", "held-out")["differences_of_AP"]:
        line = next(line for line in said if line.startswith(f"{each['mode']} - {each['above']}"))
        assert line.endswith(f" {each['p_holm']:.3f}")
    assert any(line.startswith("random") and "expected" in line for line in said)
    assert veilsearch.talk == ""


def test_what_cant_be_judged_is_counted_and_nobody_is_named(
    veilsearch: Run, tmp_path: Path
) -> None:
    queries, rows = tmp_path / "queries.tsv", tmp_path / "rows.csv"
    queries.write_text(
        f"q1\t{PEOPLE[0]}\tjava\nq2\tneedle-stranger\tjava\nq3\t{PEOPLE[1]}\tzzyzx\n"
        f"q4\tneedle-other\tzzyzx\n"
    )
    said = veilsearch("evaluate", "--queries", queries, "-o", rows)
    assert "not judged: 2 of people without a profile, 1 that find nothing" in said.splitlines()
    assert "needle" not in said + veilsearch.talk + rows.read_text()
    assert {row["query"] for row in rows_of(rows)} == {"q1"}
    assert "[-, -]" in said.splitlines()[4]  # one person has no interval: none is made up


def held_by(words: str) -> int:
    """Count the documents of the fixture that hold any of some words, as it draws them."""
    draw, theme = np.random.default_rng(0), " ".join(THEMES).split()
    texts = [draw.choice(theme, 9, replace=False).tolist() for _ in range(90)]
    return sum(bool({*text} & {*words.split()}) for text in texts)


def test_what_has_ap_1_in_every_order_flatters_no_mean(veilsearch: Run, tmp_path: Path) -> None:
    assert 1 < held_by("lava") <= 30 < held_by("lava ash crater") < 90
    queries, rows = tmp_path / "queries.tsv", tmp_path / "rows.csv"
    asked = [("wide", 0, "java"), ("few", 0, "lava"), ("some", 2, "lava ash crater")]
    queries.write_text("".join(f"{qid}\t{PEOPLE[at]}\t{words}\n" for qid, at, words in asked))
    arguments = ["evaluate", "--queries", queries, "-o", rows]
    said = veilsearch(*arguments).splitlines()
    few = "not judged: 1 that find 30 documents or fewer, for which every order has AP 1"
    assert (said[0].split(" over")[0], said[1]) == ("2 queries of 2 people", few)
    found = veilsearch.json(*arguments)
    assert found["left_out"] == {"no profile": 0, "no hits": 0, "few hits": 1}
    chance = [random_average_precision(size) for size in (90, held_by("lava ash crater"))]
    assert found["random_AP"] == pytest.approx(np.mean(chance), abs=1e-12)
    assert {(row["query"], row["hits"]) for row in rows_of(rows)} == {
        ("wide", "90"), ("some", f"{held_by('lava ash crater')}"),
    }  # fmt: skip


def test_queries_of_few_hits_alone_are_refused_and_counted(veilsearch: Run, tmp_path: Path) -> None:
    queries = tmp_path / "queries.tsv"
    queries.write_text(f"q1\t{PEOPLE[0]}\tlava\nq2\t{PEOPLE[0]}\tzzyzx\n")
    said = veilsearch.refused("evaluate", "--queries", queries)
    assert (
        "none of 2 queries can be judged; not judged: 1 that find nothing, 1 that find 30" in said
    )


def test_a_pool_of_the_workspaces_settings_is_refused_too(veilsearch: Run) -> None:
    (veilsearch.workspace / "veilsearch.toml").write_text("pool = 20\n")
    said = veilsearch.refused("evaluate", "--queries", "held-out")
    assert "pool=20 judges nothing" in said
    assert "give --pool 31 or more" in said
    assert veilsearch.json("evaluate", "--queries", "held-out", "--pool", 31)["smaller_pools"] == 0


def test_further_releases_are_judged_beside_the_current_one(veilsearch: Run) -> None:
    veilsearch("anonymize", "--set", "p=0.5", "-o", veilsearch.workspace / "tighter")
    found = veilsearch.json("evaluate", "--queries", "held-out")
    assert [each["mode"] for each in found["modes"]] == [*MODES, "group:tighter"]
    tighter = veilsearch.workspace / "tighter"
    named = veilsearch.json("evaluate", "--queries", "held-out", "--release", tighter)
    assert [each["mode"] for each in named["modes"]] == list(MODES)
    assert named["modes"][2]["AP"] == found["modes"][3]["AP"]
    some = veilsearch.json("evaluate", "--queries", "held-out", "--modes", "group:tighter,none")
    assert [each["mode"] for each in some["modes"]] == ["group:tighter", "none"]


def test_the_gold_order_is_by_the_same_rule(veilsearch: Run) -> None:
    (veilsearch.workspace / "veilsearch.toml").write_text('ranking = "evidence"\n')
    found = veilsearch.json("evaluate", "--queries", "held-out")
    ap = {each["mode"]: each["AP"]["mean"] for each in found["modes"]}
    assert (found["ranking"], ap["own"]) == ("evidence", 1)
    said = veilsearch("evaluate", "--queries", "held-out")
    assert said.splitlines()[0].endswith("; ranking evidence")
    other = veilsearch.json("evaluate", "--queries", "held-out", "--ranking", "cosine")
    assert {each["mode"]: each["AP"]["mean"] for each in other["modes"]} != ap


def test_without_a_release_the_other_modes_are_judged(veilsearch: Run) -> None:
    Workspace(veilsearch.workspace).make_current(release="")
    found = veilsearch.json("evaluate", "--queries", "held-out", "--modes", "none,own")
    assert [each["mode"] for each in found["modes"]] == ["none", "own"]
    assert "veilsearch anonymize" in veilsearch.refused(
        "evaluate", "--queries", "held-out", "--modes", "group"
    )


def test_the_same_seed_says_the_same_and_another_one_other_intervals(
    veilsearch: Run, tmp_path: Path
) -> None:
    figures, files = [], []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        runs, rows = tmp_path / name, tmp_path / f"{name}.csv"
        found = veilsearch.json(
            "evaluate", "--queries", "held-out", "--seed", seed, "-o", rows, "--run-dir", runs
        )
        figures.append((found["modes"], found["differences_of_AP"]))
        files.append([each.read_bytes() for each in (rows, *sorted(runs.iterdir()))])
    assert figures[0] == figures[1] != figures[2]
    assert files[0] == files[1] == files[2]


# -- what is written, and what is refused --------------------------------------------------------


def test_each_run_of_a_folder_may_say_how_it_was_made(veilsearch: Run, tmp_path: Path) -> None:
    bare, described = tmp_path / "bare", tmp_path / "described"
    for runs, more in ((bare, []), (described, ["--metadata"])):
        veilsearch("evaluate", "--queries", "held-out", "--run-dir", runs, *more)
    for mode in MODES:
        lines = (described / f"{mode}.run").read_text().splitlines(keepends=True)
        comments = [line for line in lines if line.startswith("#")]
        assert "".join(lines[len(comments) :]) == (bare / f"{mode}.run").read_text()
        assert f'"mode": "{mode}"' in "".join(comments)
    assert (described / "qrels.txt").read_bytes() == (bare / "qrels.txt").read_bytes()
    said = veilsearch.refused("evaluate", "--queries", "held-out", "--metadata")
    assert "--metadata is for --run-dir; remove it" in said


@pytest.mark.parametrize("swapped", [True, False])
def test_a_folder_of_runs_is_replaced_whole_and_no_other(
    veilsearch: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: bool
) -> None:
    """Where folders can't be swapped, they are renamed."""
    if not swapped:
        monkeypatch.setattr("anonymizer.storage.files.exchange", lambda _one, _other: False)
    runs = tmp_path / "runs"
    veilsearch("evaluate", "--queries", "held-out", "--run-dir", runs)
    veilsearch("evaluate", "--queries", "held-out", "--modes", "none", "--run-dir", runs)
    assert sorted(each.name for each in runs.iterdir()) == ["none.run", "qrels.txt"]
    (runs / "thesis.txt").write_text("dear reader")
    veilsearch.refused("evaluate", "--queries", "held-out", "--run-dir", runs)
    assert (runs / "thesis.txt").read_text() == "dear reader"
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_a_failed_evaluation_leaves_no_runs_and_keeps_the_old(
    veilsearch: Run, tmp_path: Path
) -> None:
    runs, nobody = tmp_path / "runs", tmp_path / "nobody.tsv"
    nobody.write_text("q1\tneedle-stranger\tjava\n")
    said = veilsearch.refused("evaluate", "--queries", nobody, "--run-dir", runs)
    assert "1 of people without a profile" in said
    assert "needle" not in said
    assert not runs.exists()
    veilsearch("evaluate", "--queries", "held-out", "--run-dir", runs)
    before = {each.name: each.read_bytes() for each in runs.iterdir()}
    veilsearch.refused("evaluate", "--queries", nobody, "--run-dir", runs)
    assert {each.name: each.read_bytes() for each in runs.iterdir()} == before
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["--modes", "none,group:gone,mine"], "'group:gone', 'mine' must be among none, own, g"),
        (["--modes", ""], "must be among none, own, group"),
        (["--pool", "0"], "pool=0 must be from 1 to 10000"),
        (["--pool", "30"], "so every order has AP 1; give --pool 31 or more"),
        (["--pool", "10001"], "pool=10001 must be from 1 to 10000"),
        (["--seed", "-1"], "--seed -1 must be 0 or more"),
        (["--index", "gone"], "gone"),
        (["--profiles", "gone.jsonl"], "no held-out queries in gone.held-out.tsv"),
        (["-o", "."], "-o . is a folder; name a file"),
        (["--run-dir", "/dev/null"], "--run-dir /dev/null must be a folder"),
        (["--run-dir", "/no such/place"], "there is no folder /no such"),
    ],
)
def test_bad_use_is_refused_in_one_line(veilsearch: Run, arguments: list[str], remedy: str) -> None:
    assert remedy in veilsearch.refused("evaluate", "--queries", "held-out", *arguments)


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        ("", "no topics"),
        ("q1\tjava\n", "line 1: topic q1 names nobody; write qid<TAB>user<TAB>query"),
        ("q1\tneedle-mira\tjava\nq1\tneedle-mira\tlava\n", "topic q1 is already in line 1"),
        ("q1\tneedle-mira\tjava\tlava\n", "4 columns instead of"),
    ],
)
def test_bad_queries_are_refused_by_line(
    veilsearch: Run, tmp_path: Path, content: str, remedy: str
) -> None:
    queries = tmp_path / "queries.tsv"
    queries.write_text(content)
    said = veilsearch.refused("evaluate", "--queries", queries)
    assert remedy in said
    assert "needle" not in said


def test_nothing_that_is_read_is_written_over(veilsearch: Run) -> None:
    root = veilsearch.workspace
    for name in ("profiles.held-out.tsv", "profiles.jsonl"):
        before = (root / name).read_bytes()
        said = veilsearch.refused("evaluate", "--queries", "held-out", "-o", root / name)
        assert "name another" in said
        assert (root / name).read_bytes() == before


def test_without_held_out_queries_the_remedy_is_told(veilsearch: Run) -> None:
    (veilsearch.workspace / "profiles.held-out.tsv").unlink()
    assert "--test-share 0.2" in veilsearch.refused("evaluate", "--queries", "held-out")


def test_without_profiles_there_is_no_gold_order(run: Run) -> None:
    assert "veilsearch profiles LOG" in run.refused("evaluate", "--queries", "held-out")


def test_no_file_but_rows_of_an_earlier_call_is_replaced(veilsearch: Run, tmp_path: Path) -> None:
    asked = ["evaluate", "--queries", "held-out", "--modes", "none", "-o"]
    mine = tmp_path / "mine.txt"
    mine.write_text("my thesis\n")
    assert "mine.txt exists and holds no rows of evaluate" in veilsearch.refused(*asked, mine)
    assert mine.read_text() == "my thesis\n"
    rows = tmp_path / "rows.csv"
    for _ in range(2):
        veilsearch(*asked, rows)
        assert rows.read_text().startswith("mode,pool,person,query,hits,AP,")

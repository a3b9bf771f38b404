"""`veilsearch experiment` on the toy world: what it writes, takes over, refuses and never tells."""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
from hashlib import sha256
from pathlib import Path

import ir_measures
import pytest
from ir_measures import AP, nDCG

from search_app.experiments import running
from search_app.experiments.results.folder import MANIFEST

from ..conftest import Run
from . import toy_world
from .toy_world import TIMED, Place, bytes_of, told_in

ROWS = 24 * (2 * 3 * 2 + 3 + 1)  # of each query: seeds, modes, pools; baselines; union


@pytest.fixture
def place(toy: Place) -> Place:
    return toy


def made(run: Run, place: Place, out: Path) -> Path:
    if not out.exists():
        run(*place.arguments(out, "--runs", "groups", "baselines", "union"))
    return out


def test_a_run_folder_holds_what_it_says(run: Run, place: Place, whole: Path) -> None:
    out = made(run, place, whole)
    manifest = json.loads((out / MANIFEST).read_bytes())
    assert manifest["counts"] == {"people": 12, "queries": 24, "units": 4, "rows": ROWS}
    there = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert there == {MANIFEST, *manifest["sha256"]}
    for name, said in manifest["sha256"].items():
        assert sha256((out / name).read_bytes()).hexdigest() == said, name
    rows = list(csv.DictReader((out / "rows.csv").read_text().splitlines()))
    assert len(rows) == len((out / "rows.jsonl").read_bytes().splitlines()) == ROWS
    units = [json.loads(line) for line in (out / "units.jsonl").read_bytes().splitlines()]
    assert [unit["name"] for unit in units] == ["u001", "u002", "u003", "u004"]
    assert [unit["seed"] for unit in units] == [0, 1, 0, 0]
    assert units[2]["facts"]["profiles"] == 12  # it has no release, and tells of the input
    assert sorted({int(row["person"]) for row in rows}) == list(range(1, 13))
    provenance = json.loads((out / "provenance.json").read_bytes())
    log_hash = sha256(place.log.read_bytes()).hexdigest()
    assert provenance["inputs"]["log_sha256"] == log_hash
    assert list(out.parent.iterdir()) == [out]


def test_the_same_command_and_any_number_of_workers_make_the_same_bytes(
    run: Run, place: Place, whole: Path, tmp_path: Path
) -> None:
    first = bytes_of(made(run, place, whole))
    for workers in (1, 3):
        out = tmp_path / f"by {workers} ☕"
        run(*place.arguments(out, "--runs", "groups", "baselines", "union", workers=workers))
        assert run.talk.count("\n") == 2, run.talk
        found = bytes_of(out)
        assert found.keys() == first.keys()
        assert [name for name in first if first[name] != found[name]] == []
        one, other = (json.loads((folder / MANIFEST).read_bytes()) for folder in (whole, out))
        for manifest in (one, other):
            del manifest["check"]  # it covers the hashes of files that hold times
            for name in TIMED - {MANIFEST}:
                del manifest["sha256"][name]
        assert one == other


def test_rows_and_ir_measures_on_the_written_runs_agree(
    run: Run, place: Place, whole: Path
) -> None:
    out = made(run, place, whole)
    rows = list(csv.DictReader((out / "rows.csv").read_text().splitlines()))
    units = {
        unit["name"]: unit
        for unit in map(json.loads, (out / "units.jsonl").read_bytes().splitlines())
    }
    asked = {(row["unit"], row["mode"], row["pool"]) for row in rows}
    written = {tuple(path.name.split(".")[:3]) for path in (out / "runs").glob("*.run.gz")}
    assert written == {key for key in asked if key[1] != "random"}
    kept = [out / "runs", *(out / "runs").iterdir()]
    assert not any(path.stat().st_mode & 0o077 for path in kept)  # they tell what was asked
    for unit, mode, pool in sorted(written):
        said = units[unit]
        qrels = out / f"runs/qrels.{said['weights']}.{said['vectors']}.{pool}.txt.gz"
        orders = out / f"runs/{unit}.{mode}.{pool}.run.gz"
        found = {
            (metric.query_id, str(metric.measure)): metric.value
            for metric in ir_measures.iter_calc(
                [AP(rel=1), nDCG],
                list(ir_measures.read_trec_qrels(gzip.decompress(qrels.read_bytes()).decode())),
                list(ir_measures.read_trec_run(gzip.decompress(orders.read_bytes()).decode())),
            )
        }
        mine = [r for r in rows if (r["unit"], r["mode"], r["pool"]) == (unit, mode, pool)]
        assert len(found) == 2 * len(mine) == 48
        for row in mine:
            for name in ("AP", "nDCG"):
                value = found[row["query"], name]
                assert value == pytest.approx(float(row[name]), abs=1e-9), (unit, mode, pool, name)


def test_no_query_no_person_and_no_document_is_told(run: Run, place: Place, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = run(*place.arguments(out, "--json")) + run.talk
    texts = {"said": said.encode(), **bytes_of(out)}
    texts |= {name: (out / name).read_bytes() for name in TIMED}
    assert {name: found for name, each in texts.items() if (found := told_in(each))} == {}


def test_only_what_depends_on_a_change_is_measured_again(
    run: Run, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, definition = tmp_path / "out", tmp_path / "toy.toml"

    def reused(text: str, *more: str) -> tuple[int, int]:
        definition.write_text(text)
        mine = Place(place.root, place.log, definition)
        told = run.json(*mine.arguments(out, *more))
        assert list(tmp_path.glob(".*")) == []
        return told["reused"], told["units"]

    text = toy_world.DEFINITION
    assert reused(text) == (0, 4)
    first = bytes_of(out)
    assert reused(text) == (4, 4)
    assert bytes_of(out) == first
    other = text.replace("p = 0.7 ", "p = 0.8 ")
    assert reused(other, "--replace") == (3, 4)
    assert reused(text, "--replace") == (3, 4)
    assert bytes_of(out) == first
    # the order of variants names the units anew, and takes over what they came to
    parts = text.split("[[variant]]")
    assert reused("[[variant]]".join([parts[0], parts[3], parts[2], parts[1]])) == (4, 4)
    assert reused(text) == (4, 4)
    assert bytes_of(out) == first
    assert reused(text, "--set", "users=11", "--replace") == (0, 4)
    assert reused(text, "--replace") == (0, 4)
    rows = out / "rows.csv"
    content = rows.read_bytes()
    rows.write_bytes(content.replace(b"0.5", b"0.6", 1))
    assert rows.read_bytes() != content
    assert reused(text) == (0, 4)
    assert bytes_of(out) == first
    real = running.context
    monkeypatch.setattr(running, "context", lambda *given: f"another line of code {real(*given)}")
    assert reused(text) == (0, 4)
    assert bytes_of(out).keys() == first.keys()


def test_a_run_of_the_saved_definition_is_the_same_to_the_byte(
    run: Run, place: Place, whole: Path, tmp_path: Path
) -> None:
    first, out = bytes_of(made(run, place, whole)), tmp_path / "again"
    run(*Place(place.root, place.log, whole / "experiment.toml").arguments(out))
    again = bytes_of(out)
    assert again.keys() == {name for name in first if not name.startswith("runs/")}
    assert [name for name in again if again[name] != first[name]] == []
    assert "p-linkability a=1 p=0.6" in again["summary.csv"].decode()


def test_a_run_is_replaced_only_by_one_that_holds_all_it_holds(
    run: Run, place: Place, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, definition = tmp_path / "out", tmp_path / "toy.toml"
    shutil.copytree(made(run, place, whole), out)
    shutil.rmtree(out / "runs")  # what becomes of orders is another test's
    before, mine = bytes_of(out), Place(place.root, place.log, definition)

    def refused(text: str, *more: str) -> str:
        definition.write_text(text)
        told = run.refused(*mine.arguments(out, *more))
        assert told.endswith("name another folder with -o, or give --replace\n")
        assert bytes_of(out) == before
        assert {path.name for path in tmp_path.iterdir()} <= {"out", "toy.toml", "log.tsv"}
        return told

    text = toy_world.DEFINITION
    with monkeypatch.context() as patch:
        patch.setattr(running, "prepare", None)  # all of these are known before
        told = refused(text, "--set", "users=11", "--set", "seed=3")
        assert "holds a run of other inputs (users=12, seed=0); name" in told
        for other in ("seeds = [0]", "seeds = [0, 2]"):
            told = refused(text.replace("seeds = [0, 1]", other))
            assert "such as p-linkability a=1 p=0.6 (seed 1, mode group, pool 35); name" in told
        told = refused(text.replace("pools = [35, 60]", "pools = [35]"))
        assert "p-linkability a=1 p=0.6 (seed 0, mode group, pool 60)" in told
        told = refused(text.replace('"left-out"]', '"none"]'))
        assert "(seed 0, mode left-out, pool 35)" in told
    log = place.log.read_text().splitlines(keepends=True)
    (tmp_path / "log.tsv").write_text("".join(log[:-1]))
    mine = Place(place.root, tmp_path / "log.tsv", definition)
    assert "holds a run of other data; name" in refused(text)
    mine = Place(place.root, place.log, definition)
    definition.write_text(text.replace("seeds = [0, 1]", "seeds = [0, 1, 2]"))
    assert run.json(*mine.arguments(out))["units"] == 5  # more of the same
    definition.write_text(text)
    assert run.json(*mine.arguments(out, "--replace"))["units"] == 4


def test_it_tells_how_it_was_made_but_no_place(run: Run, place: Place, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(*place.arguments(out, "--set", "users=11", "--index", "corpus", workers=2))
    told = json.loads((out / "provenance.json").read_bytes())
    command = "veilsearch experiment toy.toml --set users=11 --index corpus --log log.tsv"
    assert told["command"] == command
    assert told["index"] == {"name": "corpus", "documents": toy_world.DOCUMENTS}
    assert (told["workers"], told["units_reused"], len(told["load_average"])) == (2, 0, 3)
    took = told["unit_seconds"]
    assert list(took) == ["u001", "u002", "u003", "u004"]
    assert 0 < max(took.values()) < told["seconds"]
    assert f"Run again with: <code>{command}</code>" in (out / "report.html").read_text()
    rows = sha256((out / "rows.csv").read_bytes()).hexdigest()
    assert f"rows sha256 <code>{rows}</code>" in (out / "report.html").read_text()
    for name in ("provenance.json", "report.html", MANIFEST):
        assert str(tmp_path.parent) not in (out / name).read_text(), name
        assert str(place.root.parent) not in (out / name).read_text(), name
    run(*place.arguments(out, "--set", "users=11", "--index", "corpus"))
    again = json.loads((out / "provenance.json").read_bytes())
    assert (again["unit_seconds"], again["units_reused"]) == ({}, 4)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_variant_that_can_not_be_made_is_named_and_the_others_are_kept(
    run: Run, place: Place, tmp_path: Path, workers: int
) -> None:
    definition, out = tmp_path / "bad.toml", tmp_path / "out"
    bad = '[[variant]]\nname = "bad"\nparameters = { k = 13 }\n'
    definition.write_text(toy_world.DEFINITION + bad)
    mine = Place(place.root, place.log, definition)
    told = run.refused(*mine.arguments(out, workers=workers))
    assert told.startswith("veilsearch: p-linkability a=1 k=13 p=0.4 (seed 0): ")
    assert not out.exists()
    kept = list((tmp_path / ".out.unfinished").glob("*.unit"))
    assert len(kept) == 4 if workers == 1 else kept
    again = Place(place.root, place.log, place.definition)
    told = run.json(*again.arguments(out))
    assert told["reused"] == len(kept)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.toml", "out"]


def test_what_is_no_place_for_a_run_is_refused_before_anything_is_done(
    run: Run, place: Place, tmp_path: Path
) -> None:
    foreign, file, link = tmp_path / "foreign", tmp_path / "file", tmp_path / "link"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("mine")
    file.write_text("mine")
    link.symlink_to(foreign)
    assert "holds no run" in run.refused(*place.arguments(foreign))
    (foreign / MANIFEST).write_text('{"sha256": {"rows.csv": "00"}}')
    assert "holds thesis.tex, which is no part" in run.refused(*place.arguments(foreign))
    assert "is no folder" in run.refused(*place.arguments(file))
    assert "is no folder" in run.refused(*place.arguments(link))
    assert "can't be written" in run.refused(*place.arguments(tmp_path / ("x" * 250)))
    assert "can't be written" in run.refused(*place.arguments(file / "out"))
    assert "would replace the folder of the log" in run.refused(*place.arguments(place.log.parent))
    os.mkfifo(tmp_path / "pipe")  # can be read once only
    once = (*place.arguments(tmp_path / "out"), "--log", tmp_path / "pipe")
    assert "pipe must be an existing plain file" in run.refused(*once)
    assert "must be a folder of its own" in run.refused(*place.arguments(Path("/")))
    assert {path.name for path in tmp_path.iterdir()} == {"foreign", "file", "link", "pipe"}
    assert (foreign / "thesis.tex").read_text() == file.read_text() == "mine"


def test_wrong_use_is_one_line(run: Run, place: Place, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = place.arguments(out)
    assert "an experiment has no parameter sizes; it has size, " in run.refused(
        *arguments, "--set", "sizes=3"
    )
    assert "names size twice" in run.refused(*arguments, "--set", "size=3", "--set", "size=4")
    assert "must be name=value" in run.refused(*arguments, "--set", "size")
    assert "--workers 0 must be" in run.refused(*place.arguments(out, workers=0))
    told = run.refused(*arguments, "--runs", "groups", "grups")
    assert "no variant grups; toy has groups, baselines, union" in told
    assert "find" in run.refused(*arguments, "--set", "least_hits=10000")
    assert "size=900" in run.refused(*arguments, "--set", "size=900")
    assert "no experiment zhu;" in run.refused("experiment", "zhu")
    gone = Place(place.root, tmp_path / "gone.tsv", place.definition)
    assert "gone.tsv" in run.refused(*gone.arguments(out))
    assert "the workspace has no town; name a log with --log" in run.refused(
        "experiment", place.definition
    )
    assert not out.exists()


def test_show_prints_a_definition_to_begin_with(run: Run) -> None:
    from search_app.experiments.definition import read_definition, text_of

    text = run("experiment", "zhu-xiong", "--show")
    ours = read_definition(text_of("zhu-xiong"), "zhu-xiong")
    assert read_definition(text, "shown") == ours


def test_orders_are_not_lost_without_a_word(run: Run, place: Place, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(*place.arguments(out, "--runs", "baselines"))
    assert "holds runs/, which would be lost; give --runs" in run.refused(*place.arguments(out))
    assert (out / "runs").is_dir()
    run(*place.arguments(out, "--replace"))
    assert not (out / "runs").exists()

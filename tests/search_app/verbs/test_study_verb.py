"""The verb study in a workspace, from a new study to an export."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ..conftest import Run


@pytest.fixture
def run(three_people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    shutil.copytree(three_people, tmp_path / "workspace")
    return Run(tmp_path / "workspace", capsys)


def test_from_nothing_to_an_export(run: Run, tmp_path: Path) -> None:
    folder, codes = tmp_path / "A Study ☕", tmp_path / "codes.tsv"
    assert "study check" in run("study", "new", folder)
    assert run.json("study", "check", folder) == {"faults": []}
    made = run.json("study", "simulate", folder, "-n", 3, "--seed", 1)
    assert (made["finished"], made["people"]) == (3, 3)
    assert "Task bass finds nothing; take another query." in run.talk
    copy = made["folder"]
    assert {row["kind"] for row in made["by_kind"]} >= {"side-by-side", "all together"}
    assert "found by chance" in run("study", "simulate", folder, "-n", 2)  # they are added
    assert run.json("study", "status", copy)["finished"] == 5
    # Nobody real was touched by that.
    assert "nobody was invited" in run.refused("study", "status", folder)

    assert run("study", "invite", folder, "-n", 2, "-o", codes) == (
        f"{codes}: 2 codes, readable by you only\n"
    )
    assert codes.stat().st_mode & 0o777 == 0o600
    more = tmp_path / "more.tsv"
    run("study", "invite", copy, "-n", 1, "-o", more, "--address", "https://host/")
    _, code, link = more.read_text().split()
    assert link == f"https://host/join/{code}"
    first, second = (line.split("\t")[1] for line in codes.read_text().splitlines())
    assert "2 invited" in run("study", "status", folder)
    assert "hidden until the end" in run("study", "status", folder)
    assert "too few people" in run("study", "status", folder, "--peek")
    assert "erased" in run("study", "withdraw", folder, first)
    assert "nobody here has this code" in run.refused("study", "withdraw", folder, first)
    assert "nobody here has this code" in run.refused("study", "withdraw", copy, second)
    status = run.json("study", "status", folder)
    assert (status["invited"], status["withdrawn"], status["preferences"]) == (1, 1, None)

    out = run.json("study", "export", copy, "-o", tmp_path / "out")
    methods = (tmp_path / "out" / "methods.md").read_text()
    assert "The corpus was corpus. Rows of group were made by p-linkability (a=1," in methods
    assert "5 of these people are simulated." in methods
    assert out["people"] == 5
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "events.csv",
        "codebook.csv",
        "analysis.ipynb",
        "methods.md",
        "qrels.txt",
        "runs",
    }
    assert "closed" in run("study", "close", folder)
    assert "is closed" in run.refused("study", "invite", folder, "-n", 1, "-o", tmp_path / "last")
    assert run.json("study", "status", folder)["closed"]


def test_what_is_refused(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    run("study", "new", folder)
    inside, there = folder / "codes.tsv", tmp_path / "there"
    there.touch()
    for words, fault in {
        ("new", folder): "is there already",
        ("invite", folder): "needs -n N",
        ("invite", folder, "-n", 2): "needs -o PATH",
        ("invite", folder, "-n", 0, "-o", there): "must be from 1",
        ("invite", folder, "-n", 2, "-o", inside): "lies in the study's folder",
        ("invite", folder, "-n", 2, "-o", there): "may hold codes",
        ("export", folder): "needs -o PATH",
        ("withdraw", folder): "needs the CODE",
        ("simulate", folder, "--effect", 2): "must be from 0 to 1",
        ("status", tmp_path / "none"): "can't be read: No such file or directory; check path",
    }.items():
        assert fault in run.refused("study", *words), words
    path = folder / "study.toml"
    path.write_text(path.read_text().replace('"group"]', '"group:nix"]').replace("code =", "cod ="))
    lines = run("study", "check", folder, code=1).splitlines()
    assert len(lines) == 2
    assert "group:nix is not in the workspace, which has none, own, group" in lines[0]
    assert "cod is unknown" in lines[1]
    assert "cod is unknown" in run.refused("study", "simulate", folder)

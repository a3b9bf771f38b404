"""What doctor says of an index: every finding in one line, with its remedy."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from search_app.checkup import Check, checkup
from search_app.cli import main
from search_app.people_store import PeopleStore
from search_app.settings import Settings, load_settings
from search_app.workspace import Workspace

REBUILD = "build it again with: veilsearch index CORPUS"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    root, corpus = tmp_path / "a workspace", tmp_path / "corpus.jsonl"
    rows = [{"id": f"d{row}", "text": f"zebra {row}"} for row in range(12)]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(SystemExit) as ended:
        main(["--workspace", str(root), "index", str(corpus)])
    assert ended.value.code == 0
    return replace(load_settings(root), workspace=root)


def of_index(settings: Settings) -> Check:
    [found] = [check for check in checkup(settings) if check.name == "index"]
    return found


def test_a_good_index_is_told_in_full(settings: Settings) -> None:
    check = of_index(settings)
    assert check.good
    assert check.found == (
        "12 documents, every checksum right, Lucene's CheckIndex finds nothing, "
        f"every row the same in both halves: {Workspace(settings.workspace).find('index')}"
    )


def test_several_faults_are_one_line_with_one_remedy(settings: Settings) -> None:
    folder = Workspace(settings.workspace).find("index")
    for name in ("indptr.npy", "tf.npy"):
        path = folder / "forward" / name
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    (folder / "a; b").write_text("x")
    check = of_index(settings)
    assert check.remedy.endswith(REBUILD)
    assert "(and 2 more)" in check.found + check.remedy


def test_what_lucene_finds_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    said = f"index: Lucene's CheckIndex finds 1 of 3 segments damaged, 4 documents lost; {REBUILD}"
    monkeypatch.setattr("index.inspection.check_lucene", lambda _folder: [said])
    check = of_index(settings)
    assert (f"{check.found}; {check.remedy}", check.good) == (said, False)
    assert check.remedy == REBUILD


def damage(folder: Path) -> None:
    path = folder / "forward" / "tf.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def test_every_index_is_looked_at_by_its_name(settings: Settings, tmp_path: Path) -> None:
    """`search --index` serves any of them, not only the current one."""
    command = ["--workspace", str(settings.workspace), "index", str(tmp_path / "corpus.jsonl")]
    for name in ("b c", "corpus"):
        with pytest.raises(SystemExit):
            main([*command, "--name", name])
    workspace = Workspace(settings.workspace)
    other = workspace.index_named("b c")
    damage(other)
    current, second = (check for check in checkup(settings) if check.name == "index")
    assert (current.good, str(workspace.find("index")) in current.found) == (True, True)
    assert second.found == "forward/tf.npy has changed since it was built"
    assert second.remedy == f"{REBUILD} --name 'b c'"
    workspace.switch_index(other)
    former, second = (check for check in checkup(settings) if check.name == "index")
    assert (former.remedy, second.good) == (f"{REBUILD} --name 'b c'", True)


def test_a_file_too_many_costs_no_index(settings: Settings) -> None:
    folder = Workspace(settings.workspace).find("index")
    (folder / "lucene" / ".DS_Store").write_text("x")
    (folder / ".nfs0001").write_text("x")
    assert of_index(settings).good
    (folder / "a; b").write_text("x")
    check = of_index(settings)
    assert check.found == f"{folder}: a; b does not belong to the index"
    assert check.remedy == "delete that file"


def test_a_remedy_is_said_once(settings: Settings) -> None:
    manifest = Workspace(settings.workspace).find("index") / "manifest.json"
    manifest.unlink()
    manifest.mkdir()
    check = of_index(settings)
    assert f"{check.found}; {check.remedy}".count("build it again") == 1


def test_a_workspace_that_is_none_is_told(tmp_path: Path) -> None:
    def place(root: Path) -> Check:
        found = {check.name: check for check in checkup(Settings(workspace=root))}
        return found["workspace"]

    file = tmp_path / "f"
    file.touch()
    assert place(file) == Check("workspace", f"{file} is a file", "name a folder with --workspace")
    assert place(tmp_path / "g") == Check("workspace", f"{tmp_path / 'g'} is not there yet")


def test_an_index_that_is_gone_is_told(settings: Settings) -> None:
    Workspace(settings.workspace).make_current(index="indexes/nowhere.0001")
    check, other = (check for check in checkup(settings) if check.name == "index")
    assert other.found.endswith("corpus.0001")  # which --index still finds
    assert check.found.startswith("no index in ")
    assert check.remedy == "build one with: veilsearch index CORPUS"


def test_an_open_file_of_people_is_told_and_left_as_it_is(settings: Settings) -> None:
    file = settings.workspace / "people.sqlite"
    PeopleStore(file).close()
    file.chmod(0o644)
    (check,) = (check for check in checkup(settings) if check.name == "people")
    assert check.found == f"{file} is open to others (644)"
    assert check.remedy.startswith("chmod 600 ")
    assert file.stat().st_mode & 0o777 == 0o644
    file.chmod(0o600)
    (check,) = (check for check in checkup(settings) if check.name == "people")
    assert check.good


def test_a_run_with_a_changed_file_is_told(settings: Settings) -> None:
    def of_runs() -> Check:
        [found] = [check for check in checkup(settings) if check.name == "runs"]
        return found

    place = settings.workspace / "experiments"
    assert of_runs() == Check("runs", "none yet")
    run = place / "mine"
    (run / "figures").mkdir(parents=True)
    (run / "figures" / "one.csv").write_bytes(b"a,b\n")
    digest = hashlib.sha256(b"a,b\n").hexdigest()
    (run / "run.json").write_text(json.dumps({"sha256": {"figures/one.csv": digest}}))
    assert of_runs() == Check("runs", f"1 run, every checksum right: {place}")
    (run / "figures" / "one.csv").write_bytes(b"a,c\n")
    told = Check(
        "runs", f"not as it was written: {run}: figures/one.csv", "run the experiment again"
    )
    assert of_runs() == told
    (run / "run.json").write_text("{")
    assert "remove the folder" in of_runs().remedy
    other = place / "other"
    other.mkdir()
    (other / "run.json").write_text("")
    assert of_runs().found == f"not as it was written: {run}: run.json, {other}: run.json"

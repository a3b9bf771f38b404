"""What doctor says of an index: every finding in one line, with its remedy."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles
from anonymizer.publishing import Candidate
from search_app.accounts.store import PeopleStore
from search_app.cli import main
from search_app.server.checkup import Check, _memory, checkup
from search_app.settings import Settings, load_settings
from search_app.workspace.folder import Workspace
from search_app.workspace.ledger import publishing

from ..conftest import call, jsonl, serve_release

REBUILD = "build it again with: veilsearch index CORPUS"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    root = tmp_path / "a workspace"
    rows = ({"id": f"d{row}", "text": f"zebra {row}"} for row in range(12))
    call(root, "index", jsonl(tmp_path / "corpus.jsonl", rows))
    return replace(load_settings(root), workspace=root)


def look(settings: Settings, name: str = "index") -> Check:
    [found] = [check for check in checkup(settings) if check.name == name]
    return found


def test_a_good_index_is_told_in_full(settings: Settings) -> None:
    check = look(settings)
    folder = Workspace(settings.workspace).find("index")
    assert check.good
    assert check.found == (
        "12 documents, every checksum right, Lucene's CheckIndex finds no fault, "
        f"every document the same in Lucene and in the forward index: {folder}"
    )


def test_several_faults_are_one_line_with_one_remedy(settings: Settings) -> None:
    folder = Workspace(settings.workspace).find("index")
    for name in ("indptr.npy", "tf.npy"):
        damage(folder / "forward" / name)
    (folder / "a; b").write_text("x")
    check = look(settings)
    assert check.remedy.endswith(REBUILD)
    assert "(and 2 more)" in check.found + check.remedy


def test_what_lucene_finds_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    said = f"index: Lucene's CheckIndex finds 1 of 3 segments damaged, 4 documents lost; {REBUILD}"
    monkeypatch.setattr("index.inspection.check_lucene", lambda _folder: [said])
    check = look(settings)
    assert (f"{check.found}; {check.remedy}", check.good) == (said, False)
    assert check.remedy == REBUILD


def damage(path: Path) -> None:
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
    damage(other / "forward" / "tf.npy")
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
    assert look(settings).good
    (folder / "a; b").write_text("x")
    check = look(settings)
    assert check.found == f"{folder}: a; b does not belong to the index"
    assert check.remedy == "delete that file"


def test_a_workspace_that_is_none_is_told(tmp_path: Path) -> None:
    def place(root: Path) -> Check:
        return look(Settings(workspace=root), "workspace")

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
    check = look(settings, "people")
    assert check.found == f"{file} is open to others (644)"
    assert check.remedy.startswith("chmod 600 ")
    assert file.stat().st_mode & 0o777 == 0o644
    file.chmod(0o600)
    assert look(settings, "people").good


def test_a_key_of_the_ledger_that_is_open_or_missing_is_told(settings: Settings) -> None:
    path = settings.workspace / "ledger.jsonl"
    rows = {(b"a" * 8, "person-1")}
    with publishing(path, Candidate(rows, "ab", False, 1, 1, "none", {})) as publication:
        publication.note()
    assert look(settings, "ledger").found == "0 releases made, 1 published"
    key = settings.workspace / "ledger.key"
    key.chmod(0o640)
    check = look(settings, "ledger")
    assert (check.found, check.remedy[:10]) == (f"{key} is open to others (640)", "chmod 600 ")
    path.rename(path.with_suffix(".away"))
    key.chmod(0o600)
    check = look(settings, "ledger")
    assert check.found == f"{path}, line 1: damaged (it is missing)"
    assert check.remedy == "restore the file from a copy"
    path.with_suffix(".away").rename(path)
    key.unlink()
    check = look(settings, "ledger")
    assert check.found.startswith(f"{key} is missing")
    assert check.remedy == "restore it from a copy"


def test_a_published_file_with_a_flipped_bit_is_told(tmp_path: Path, paper: Profiles) -> None:
    settings = Settings(workspace=tmp_path / "w")
    assert look(settings, "published").found == "none here"
    release = anonymize("p-linkability", Inputs(paper), {"p": 0.5, "k": 2, "augment": "none"})
    serve_release(settings.workspace, paper, replace(release, facts=facts(paper, release)))
    file = settings.workspace / "sub" / "public"
    file.parent.mkdir()
    call(settings.workspace, "publish", "-o", file)
    good = file.read_bytes()
    assert look(settings, "published").found == "1 file, as published"
    # A bit of the first line's beginning, of numbers in it that could be others, and of a row.
    numbers = (good.index(b'"p": 0.5') + 7, good.index(b'"raw": 1.0') + 7)
    for place in (3, *numbers, good.index(b'{"row"') + 40):
        file.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert look(settings, "published").found.startswith(f"{file}: "), place
    call(settings.workspace, "publish", "-o", file)  # as the remedy says
    assert file.read_bytes() == good
    assert look(settings, "published").good


def test_a_run_with_a_changed_file_is_told(settings: Settings) -> None:
    of_runs = partial(look, settings, "runs")
    place = settings.workspace / "experiments"
    assert of_runs() == Check("runs", "none yet")
    run = place / "mine"
    (run / "figures").mkdir(parents=True)
    (run / "figures" / "one.csv").write_bytes(b"a,b\n")
    digest = hashlib.sha256(b"a,b\n").hexdigest()
    (run / "run.json").write_text(json.dumps({"format": 1, "sha256": {"figures/one.csv": digest}}))
    assert of_runs() == Check("runs", f"1 run, every checksum right: {place}")
    (run / "figures" / "one.csv").write_bytes(b"a,c\n")
    expected = Check(
        "runs",
        f"changed since the run was written: {run}: figures/one.csv",
        "run the experiment again",
    )
    assert of_runs() == expected
    (run / "run.json").write_text("{")
    assert "remove the folder" in of_runs().remedy
    other = place / "other"
    other.mkdir()
    (other / "run.json").write_text("")
    assert (
        of_runs().found == f"changed since the run was written: {run}: run.json, {other}: run.json"
    )


@pytest.mark.parametrize(
    ("table", "free"),
    [
        ("MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:   3000 kB\nCached: 5 kB\n", 3000 * 1024),
        ("MemTotal: 9 kB\nMemFree: 1 kB\n", None),
    ],
)
def test_memory_that_the_system_gives_back_is_free(
    tmp_path: Path, table: str, free: int | None
) -> None:
    (tmp_path / "meminfo").write_text(table)
    assert _memory(tmp_path / "meminfo") == free
    assert _memory(tmp_path / "none") is None

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from search_app.errors import UsageError
from search_app.settings import Settings
from search_app.study.check import faults_of, rehearsal
from search_app.study.design import Study, read_study, schema
from search_app.study.sample import write_sample
from search_app.study.status import status_of
from search_app.study.store import FILE, StudyStore

from .conftest import NOW, played

Change = Callable[..., Study]


def line_of(folder: Path, text: str) -> int:
    return (folder / "study.toml").read_text().split(text)[0].count("\n") + 1


def test_the_sample_can_be_read_and_is_not_written_twice(folder: Path, study: Study) -> None:
    assert study.conditions == ("none", "own", "group")
    assert {task.kind for task in study.tasks} == {"side-by-side", "interleaved", "rate", "choose"}
    assert study.form_items("each-task")[0].points == 7
    with pytest.raises(UsageError, match="there already"):
        write_sample(folder)


def test_all_faults_at_once_with_line_and_remedy(folder: Path, changed: Change) -> None:
    edits = {
        'practice = "bank"': 'prctice = "bank"',
        '["none", "own", "group"]': '["none", "group:nix", "own:x"]',
        "participants = 40": "participants = 2",
        'kind = "interleaved"': 'kind = "mixed"',
        "free = true": 'free = true\nquery = "mine"',
        'id = "court"': 'id = "end"',
        "points = 7": 'points = "7"',
        'text = "tasks/java.md"': 'text = "../java.md"',
        'text = "tasks/bass.md"': 'text = "tasks/nothing.md"',
    }
    with pytest.raises(UsageError) as raised:
        changed(*edits.items())
    faults = str(raised.value).splitlines()
    remedies = {
        "prctice =": "prctice is unknown; allowed are name",
        '["none"': "own:x is no condition; take",
        "participants =": "2 can't fill 6 orders",
        'kind = "mixed"': "kind must be one of",
        'query = "mine"': "and not both",
        'id = "end"': "end is taken; give the task another id",
        'points = "7"': "points must be a whole number",
        '"../java.md"': "must be a .md file in the study's folder",
        '"tasks/nothing.md"': "can't be read: No such file",
    }
    for text, remedy in remedies.items():
        at = f"study.toml, line {line_of(folder, text)}: "
        assert any(at in fault and remedy in fault for fault in faults), (at, remedy, faults)
    with pytest.raises(UsageError, match="group:nix is not in the workspace, which has none, own"):
        read_study(folder, ("none", "own"))


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"name = ", "can't be read as TOML"),
        (b"\xff\xfe", "not UTF-8"),
        (b"#" * 1_000_001, "more than 1,000,000 bytes"),
        (b"[[task]]\n[[form]]\n", "name is missing; add it"),
        (b"task = 3\nform = [1]\nname = 2026-01-01\n", "task must be a list"),
    ],
)
def test_files_that_are_no_study(folder: Path, content: bytes, fault: str) -> None:
    (folder / "study.toml").write_bytes(content)
    with pytest.raises(UsageError, match=fault):
        read_study(folder)


def test_a_design_between_people_takes_grades_only(changed: Change) -> None:
    with pytest.raises(UsageError, match='take design = "within", or kind = "rate"'):
        changed(('design = "within"', 'design = "between"'))


def test_the_schema_describes_every_key_of_the_sample(folder: Path) -> None:
    import tomllib

    def judge(value: object, described: dict[str, object], place: str) -> None:
        kinds = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}
        assert type(value) is kinds[str(described["type"])], place
        if isinstance(value, dict):
            known = described["properties"]
            assert isinstance(known, dict)
            assert {*described["required"]} <= {*value} <= {*known}, place  # type: ignore[call-overload]
            for name, inner in value.items():
                judge(inner, known[name], f"{place}.{name}")
        if isinstance(value, list):
            for inner in value:
                judge(inner, described["items"], place)  # type: ignore[arg-type]
        assert value in described.get("enum", [value]), place  # type: ignore[operator]

    judge(tomllib.loads((folder / "study.toml").read_text()), schema(), "")


def test_check_says_what_the_workspace_lacks(folder: Path, tmp_path: Path) -> None:
    (fault,) = faults_of(folder, Settings(workspace=tmp_path / "nothing"))
    assert "is not there" in fault
    (folder / "study.toml").write_text("title = 3")
    assert len(faults_of(folder, Settings(workspace=tmp_path / "nothing"))) > 3


def on_devices(changed: Change, *edits: tuple[str, str]) -> Study:
    """Change the sample so that profiles stay on devices."""
    impossible = '"publish_anonymized", "publish_results",\n           '
    return changed(("device = false", "device = true"), (impossible, ""), *edits)


def test_what_stays_on_devices_is_not_published_and_not_the_servers(
    folder: Path, changed: Change
) -> None:
    with pytest.raises(UsageError) as raised:
        changed(("device = false", "device = true"), ('profile = "interests"', 'profile = "code"'))
    assert "publish_anonymized, publish_results: profiles and results" in str(raised.value)
    assert 'take profile = "queries" or "interests"' in str(raised.value)
    [remedy] = re.findall("write (opt_ins = .*)", str(raised.value))
    was = re.search(r"opt_ins = \[.*?\]", (folder / "study.toml").read_text(), re.DOTALL)
    assert was is not None
    study = changed((was[0], remedy), ('profile = "code"', 'profile = "interests"'))
    assert study.opt_ins == ("keep_queries", "publish_queries", "publish_texts")


def test_devices_get_rows_only_if_the_public_has_them(changed: Change, workspace: Settings) -> None:
    folder = on_devices(changed).folder
    (fault,) = faults_of(folder, workspace)
    assert "device = true gives all rows to browsers; publish the release" in fault
    smoothing = replace(workspace, smoothing=True)
    assert any("smoothing = false" in fault for fault in faults_of(folder, smoothing))
    changed(('["none", "own", "group"]', '["none", "own"]'))
    assert faults_of(folder, smoothing) == []


def test_a_rehearsal_touches_nothing_real(folder: Path, study: Study) -> None:
    StudyStore(folder / FILE).close()
    before = (folder / FILE).read_bytes()
    copy = rehearsal(study, folder / "simulated")
    assert copy.tasks == study.tasks
    StudyStore(copy.folder / FILE).close()
    assert (rehearsal(study, folder / "simulated").folder / FILE).exists()
    (folder / "consent.md").write_text("something else")
    assert not (rehearsal(read_study(folder), folder / "simulated").folder / FILE).exists()
    assert (folder / FILE).read_bytes() == before
    assert not (folder / "simulated" / "simulated").exists()


def test_what_people_met_must_stay(
    study: Study, store: StudyStore, changed: Change, workspace: Settings
) -> None:
    played(study, store, 1)
    assert faults_of(study.folder, workspace) == []
    edits = ('"none", "own", "group"', '"none", "own"'), ('id = "java"', 'id = "jaava"')
    later = changed(*edits)
    faults = faults_of(study.folder, workspace)
    assert [fault.rpartition(": ")[2] for fault in faults] == [
        "people met task java already; put it back",
        "people met condition group already; put it back",
    ]
    assert status_of(later, store, NOW, peek=True)["preferences"][0]["people"] == 1

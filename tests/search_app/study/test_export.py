"""What leaves of a study, and what does not."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from anonymizer.terms.wordnet import WordNet
from search_app.accounts.codes import make_code
from search_app.errors import UsageError
from search_app.settings import Settings
from search_app.study.analysis import ANSWER, GRADE, QUERY
from search_app.study.design import KEEP_QUERIES, OPT_INS, PUBLISH, Study
from search_app.study.export.published import publish_queries
from search_app.study.export.tables import kept_in
from search_app.study.export.writing import export
from search_app.study.store import FILE, ROOM, Event, StudyStore
from search_app.study.trials import Trial, blank_trial

from .conftest import NOW, played, rows_of

CANARIES = int(os.environ.get("VEILSEARCH_CANARIES", "9"))


def kind_of(study: Study, name: str) -> str:
    return next(task.kind for task in study.tasks if task.id == name)


def everything_in(folder: Path) -> str:
    """Return all that the files in `folder` hold, Parquet's values too."""
    texts = [path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file()]
    columns = (parquet.read_table(path).to_pydict() for path in folder.rglob("*.parquet"))
    return "\n".join([*texts, *map(str, columns)])


def plant(study: Study, store: StudyStore, opt_ins: tuple[str, ...], number: int) -> None:
    """Let somebody take part who leaves a canary wherever a person can write or be seen."""
    (code,) = store.invite(1)
    person = store.of_code(str(code))
    assert person is not None
    store.consent(person.id, "v1", opt_ins, len(study.cells), NOW, 3600)
    store.set_profile(person.id, 1, "", {f"canaryprofile{number}": 1.0}, 1000 * NOW)
    query = f"canaryquery{number}" if KEEP_QUERIES in opt_ins else ""
    own, given = (f"canary{what}document{number}" for what in ("free", "given"))
    for task, document in (("own-search", own), ("crane", given)):
        kind = kind_of(study, task)
        lists = ((document,),) if kind == "rate" else ((document,), (document,))
        orders = ((document,),) * 3 if kind == "rate" else ()
        shown = study.conditions[: len(orders or lists)]
        trial = Trial(kind, shown, lists, orders=orders)
        store.keep_trial(person.id, task, trial.as_record(), query, 1000 * NOW)
    wrong = f"canaryvalue{number}"
    events = [
        Event("own-search", QUERY, value=f"canaryquery{number}"),
        Event("own-search", "click", own, 1, wrong, wrong),
        Event("crane", GRADE, given, 1, value="2"),
        Event("practice", "click", f"canarypractice{number}", 1),
        Event("end", ANSWER, "remarks", value=f"canarytext{number}"),
        Event("start", ANSWER, "age", value=wrong),
        Event("java", ANSWER, "satisfied", value=wrong),
        Event("java", ANSWER, wrong, value=wrong),
    ]
    store.record(person.id, events, 1000 * NOW)


@pytest.mark.parametrize(
    ("opt_ins", "leave"),
    [
        ((), set()),
        (("publish_texts",), {"text"}),
        (("publish_results",), {"givendocument"}),
        ((KEEP_QUERIES,), set()),
        ((KEEP_QUERIES, "publish_results"), {"givendocument", "freedocument"}),
        ((PUBLISH,), set()),  # there is no release: counts only
    ],
)
def test_nothing_leaves_without_an_opt_in(
    study: Study, store: StudyStore, tmp_path: Path, opt_ins: tuple[str, ...], leave: set[str]
) -> None:
    for number in range(CANARIES):
        plant(study, store, opt_ins, number)
    store.close_study()
    made = export(study, store, tmp_path / "out", Settings(workspace=tmp_path / "none"))
    text = everything_in(tmp_path / "out")
    kinds = ("profile", "query", "freedocument", "givendocument", "practice", "text", "value")
    there = {kind for kind in kinds if f"canary{kind}" in text}
    assert there == leave
    for kind in leave:
        assert all(f"canary{kind}{number}" in text for number in range(CANARIES))
    people = rows_of(tmp_path / "out" / "participants.csv")
    kept = str(int(KEEP_QUERIES in opt_ins) * 2)
    assert [(one["terms"], one["queries"]) for one in people] == [("1", kept)] * CANARIES
    answers = rows_of(tmp_path / "out" / "answers.csv")
    lengths = [int(one["characters"]) for one in answers if one["item"] == "remarks"]
    assert sum(lengths) == sum(len(f"canarytext{number}") for number in range(CANARIES))
    assert made["people"] == CANARIES


def test_no_text_of_a_person_is_a_formula(study: Study, store: StudyStore, tmp_path: Path) -> None:
    written = ["=1+1", "+1", "-1", "@SUM(A1)", "\uff1d1", "\t=1", "fine = 1", "'=1"]
    for text in written:
        person = store.begin(str(make_code()))
        assert person is not None
        store.consent(person.id, "v1", ["publish_texts"], 6, NOW, 3600)
        events = [Event("end", ANSWER, "remarks", value=text)]
        store.record(person.id, [*events, Event("start", ANSWER, "age", value="30 to 44")], NOW)
    export(study, store, tmp_path / "out", Settings(workspace=tmp_path / "none"))
    rows = rows_of(tmp_path / "out" / "answers.csv")
    texts = {one["value"] for one in rows if one["type"] == "text"}
    assert texts == {*(f"'{text}" for text in written[:6]), *written[6:]}
    assert {one["value"] for one in rows if one["type"] == "choice"} == {"30 to 44"}


def test_who_withdrew_is_in_no_export(study: Study, store: StudyStore, tmp_path: Path) -> None:
    for number in range(3):
        plant(study, store, tuple(OPT_INS), number)
    whose = {row[0] for row in store.events() if row[6] == "canarytext1"}
    for number in whose:
        assert store.withdraw(number)
    export(study, store, tmp_path / "out", Settings(workspace=tmp_path / "none"))
    text = everything_in(tmp_path / "out")
    assert "canarytext0" in text
    assert "canarytext1" not in text
    assert not any(str(number) in text for number in whose)


def test_tables_codebook_and_trec(study: Study, store: StudyStore, tmp_path: Path) -> None:
    played(study, store, 6)
    out = tmp_path / "out"
    made = export(study, store, out, Settings(workspace=tmp_path / "none"))
    coded: dict[str, list[str]] = {}
    for row in rows_of(out / "codebook.csv"):
        assert row["unit or coding"]
        coded.setdefault(row["table"], []).append(row["column"])
    assert coded.keys() == made["rows"].keys()
    for name, columns in coded.items():
        with (out / f"{name}.csv").open(newline="") as file:
            head, *rows = csv.reader(file)
        assert head == columns
        assert len(rows) == made["rows"][name]
        table = parquet.read_table(out / f"{name}.parquet").to_pylist()
        plain = [["" if value is None else str(value) for value in row.values()] for row in table]
        assert plain == rows
    # Each graded document, and no other one: unjudged is not 0.
    grades = [row for row in store.events() if row[2] == GRADE]
    lines = [line.split() for line in (out / "qrels.txt").read_text().splitlines()]
    assert sorted(lines) == sorted([f"crane.{one[0]}", "0", one[3], one[6]] for one in grades)
    for condition in study.conditions:
        run = [
            line.split() for line in (out / "runs" / f"{condition}.run").read_text().splitlines()
        ]
        scores = [float(line[4]) for line in run if line[0] == run[0][0]]
        assert scores == sorted({*scores}, reverse=True)
        assert {line[5] for line in run} == {condition}
        # All see all conditions in four tasks, and two of three in the other ones.
        assert len({line[0] for line in run}) == 6 * 3 + 6 * 4 * 2 // 3
    text = (out / "methods.md").read_text()
    for fact in (study.consent_version, "6 of them finished; 40 were planned", "none>own>group"):
        assert fact in text
    for folder, fault in ((out, "there already"), (study.folder / "out", "in the study's folder")):
        with pytest.raises(UsageError, match=fault):
            export(study, store, folder, Settings())


def test_of_devices_leave_choices_places_and_mean_grades(
    changed: Callable[..., Study], tmp_path: Path
) -> None:
    impossible = '"publish_anonymized", "publish_results",\n           '
    study = changed(("device = false", "device = true"), (impossible, ""))
    out, grades = tmp_path / "out", [("none", "3.00"), ("own", "1.50"), ("group", "0.00")]
    with closing(StudyStore(study.folder / FILE)) as store:
        person = store.of_code(str(store.invite(1)[0]))
        assert person is not None
        store.consent(person.id, "v1", ["publish_texts"], len(study.cells), NOW, 3600)
        for task, shown in (("java", study.conditions[:2]), ("crane", study.conditions)):
            trial = blank_trial(kind_of(study, task), shown, 40, np.random.default_rng(1))
            store.keep_trial(person.id, task, trial.as_record(), "", 1000 * NOW)
        events = [Event("crane", GRADE, f"{at}.1", at, *one) for at, one in enumerate(grades, 1)]
        events += [Event("java", "click", "2.3", 3, "own"), Event("java", "prefer", value="own")]
        store.record(person.id, events, 1000 * NOW)
        export(study, store, out, Settings(workspace=tmp_path / "none"))
    rows = rows_of(out / "events.csv")
    left = [(one["condition"], one["object_id"], one["value"]) for one in rows]
    assert left == [*((one, "", grade) for one, grade in grades), ("own", "", ""), ("", "", "own")]
    scores = [one["score"] for one in rows_of(out / "judgements.csv") if one["task"] == "crane"]
    # none over own: 1/2 + (3/3 - 1.5/3) / 2; none over group: 1/2 + (3/3 - 0) / 2; own over group
    assert scores == ["0.75", "1.0", "0.75"]
    shown_rows = rows_of(out / "shown.csv")
    assert [(one["task"], one["object_id"]) for one in shown_rows] == [("java", "")] * 20
    assert "Profiles stayed in the participants' browsers" in (out / "methods.md").read_text()
    assert not (out / "runs").exists()


def test_profiles_leave_once_as_verified_rows(
    study: Study, store: StudyStore, tmp_path: Path, workspace: Settings, wordnet: WordNet
) -> None:
    del wordnet  # is compiled
    agrees: Mapping[int, tuple[str, ...]] = {at: (PUBLISH,) if at < 6 else () for at in range(8)}
    for at, code in enumerate(store.invite(8)):
        person = store.of_code(str(code))
        assert person is not None
        store.consent(person.id, "v1", agrees[at], 6, NOW, 3600)
        profile = {"kitten": 1.0, f"own{at}": 1.0} if at < 6 else {"canaryprofile": 1.0}
        store.set_profile(person.id, 1, "", profile, 1)
    made = [export(study, store, tmp_path / f"out{at}", workspace) for at in range(1)]
    assert made[0]["profiles"] == "none of 6 profiles before the study is closed"
    store.close_study()
    made += [export(study, store, tmp_path / f"out{at}", workspace) for at in (1, 2)]
    assert "rows of 6 profiles by p-linkability, verified" in made[1]["profiles"], made
    assert "leave once" in made[2]["profiles"]
    first, *rows = (tmp_path / "out1" / "profiles.jsonl").read_text().splitlines()
    assert json.loads(first)["method"] == "p-linkability"
    assert sum(json.loads(row)["users"] for row in rows) == 6
    assert "kitten" in rows[0]
    assert not (tmp_path / "out2" / "profiles.jsonl").exists()
    assert "canaryprofile" not in everything_in(tmp_path / "out1")


def test_queries_of_five_people_leave_once(
    study: Study, store: StudyStore, tmp_path: Path, workspace: Settings, wordnet: WordNet
) -> None:
    """By hand: five typed tea by opt-in, four coffee, a fifth without one; one typed a canary."""
    del wordnet
    typed = ["=Green  tea"] * 5 + ["coffee"] * 5 + ["canaryquery"]
    for at, (code, query) in enumerate(zip(store.invite(11), typed, strict=True)):
        person = store.of_code(str(code))
        assert person is not None
        agrees = (KEEP_QUERIES,) if at == 9 else (KEEP_QUERIES, "publish_queries")
        store.consent(person.id, "v1", agrees, 6, NOW, 3600)
        trial = Trial("side-by-side", study.conditions[:2], ((), ()))
        store.keep_trial(person.id, "own-search", trial.as_record(), query, 1000 * NOW)
    made = [export(study, store, tmp_path / "out0", workspace)["queries"]]
    store.close_study()
    made += [export(study, store, tmp_path / f"out{at}", workspace)["queries"] for at in (1, 2)]
    assert made == [
        "none of 10 queries before the study is closed",
        "1 query of 5 people or more by query-k, verified",
        "none of 10 queries: they left with an earlier export, and leave once",
    ]
    assert rows_of(tmp_path / "out1" / "queries.csv") == [{"query": "'=green tea", "people": "5"}]
    for at in range(3):
        assert "coffee" not in everything_in(tmp_path / f"out{at}")
        assert "canary" not in everything_in(tmp_path / f"out{at}")


def test_a_killed_export_leaves_nothing_of_who_withdraws(
    study: Study, store: StudyStore, tmp_path: Path, workspace: Settings, wordnet: WordNet
) -> None:
    """What people typed stayed among the system's temporary files for good."""
    del wordnet
    for _ in range(5):
        plant(study, store, (KEEP_QUERIES, "publish_queries"), 1)
    people, kept = store.participants(), kept_in(study, store)
    if (child := os.fork()) == 0:
        publish_queries(kept, tmp_path, workspace, lambda _: os._exit(9))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    room = study.folder / ROOM
    assert "canaryquery1" in everything_in(room)
    assert room.stat().st_mode & 0o077 == 0
    store.withdraw(people[-1].id)
    assert not room.exists()


def test_a_study_goes_on_elsewhere(study: Study, tmp_path: Path) -> None:
    store = StudyStore(study.folder / FILE)
    (code,) = store.invite(1)
    plant(study, store, (), 1)
    store.close()
    shutil.copytree(study.folder, tmp_path / "elsewhere")
    moved = StudyStore(tmp_path / "elsewhere" / FILE)
    assert moved.of_code(str(code)) is not None
    assert len(moved.events()) == 8
    moved.close()

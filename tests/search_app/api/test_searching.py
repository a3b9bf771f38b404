"""The library with an index: searched, evaluated as the verb does, and its documentation run."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas
import pytest
import veilsearch as vs

from scripts.docs import ROOT

from ..conftest import call

DOCUMENTS = [
    {"id": "drink", "title": "Java", "text": "java is a coffee that people drink"},
    {"id": "language", "title": "Java", "text": "java is a language for a program"},
    {"id": "island", "text": "java is an island in the sea", "url": "x:island"},
]


@pytest.fixture(scope="module")
def index() -> vs.SearchIndex:
    return vs.build_index(DOCUMENTS)


def test_a_profile_and_a_row_order_what_is_found(index: vs.SearchIndex) -> None:
    likes = {"ann": "program", "bob": "program", "cem": "language"}
    people = vs.profiles({user: {term: 1.0, "code": 0.5} for user, term in likes.items()})
    row = vs.anonymize(people, "p-linkability", p=0.9, augment="none").row_for("ann")
    plain = index.search("java")
    for hits in (index.search("java", row=row), index.search("java", profile=people["ann"])):
        assert hits[0].id == "language"
        assert {(hit.id, hit.plain_rank) for hit in hits} == {(hit.id, hit.rank) for hit in plain}
    assert [hit.title for hit in plain if hit.id == "drink"] == ["Java"]
    assert "<td>drink</td>" in plain._repr_html_()
    assert index.search("java", 2) == plain[:2]
    assert index.search("nothing here") == []


def test_an_index_that_can_not_be_built_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(vs.UsageError):
        vs.build_index([{"id": "a", "text": "b"}, 3])
    assert list(tmp_path.iterdir()) == []


def test_an_index_without_a_path_goes_with_its_object() -> None:
    made = vs.build_index(DOCUMENTS)
    folder = made.folder
    assert folder.is_dir()
    del made
    gc.collect()
    assert not folder.exists()


def test_what_a_table_of_documents_lacks_is_no_text() -> None:
    table = pandas.DataFrame({"id": [1, 2], "text": ["java nan", None], "title": [None, "java"]})
    hits = vs.build_index(table).search("java")
    assert [(hit.id, hit.title) for hit in hits] == [("2", "java"), ("1", "")]
    assert [hit.id for hit in vs.build_index(table).search("nan")] == ["1"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda index: index.search("java", row="ann"), "row must be a released row"),
        (lambda index: index.search("java", profile="ann"), "profile must be terms with weights"),
        (lambda index: index.search("java", size=101), "size=101 is more than pool=100"),
        (lambda index: index.search("java", size=True), "size must be a whole number"),
        (lambda index: index.search("java", pool=10.5), "pool must be a whole number"),
        (lambda index: index.search(None), "query must be of type str"),
        (lambda index: index.search("java", profile={"a": float("nan")}), "the weight must be"),
        (lambda index: index.search("java", profile={"a": -1.0}), "the weight must be"),
        (lambda index: index.search("java", profile={3: 1.0}), "the term must be a text"),
        (lambda _: vs.build_index([{"id": "a"}]), "document 1 must be a mapping"),
        (lambda _: vs.build_index(3), "documents can't be read from a int"),
        (lambda _: vs.open_index("nowhere"), "nowhere: there is no such folder in /"),
        (
            lambda index: vs.evaluate(index, [], index),
            "people must be of type People, not SearchIndex",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    index: vs.SearchIndex, wrong: Callable[[vs.SearchIndex], object], said: str
) -> None:
    with pytest.raises((vs.UsageError, vs.SearchError), match=said):
        wrong(index)


def test_evaluate_says_what_the_verb_says(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index, people = vs.open_index(demo), vs.profiles(demo / "profiles.jsonl")
    release = vs.open_release(demo / "release", people)
    asked = [(user, query) for user in list(people)[:12] for query in ("java", "light", "bank")]
    made = vs.evaluate(index, asked, people, {"group": release}, measures=("AP", "tau"))
    topics = tmp_path / "topics.tsv"
    topics.write_text("".join(f"q{n}\t{u}\t{q}\n" for n, (u, q) in enumerate(asked, 1)))
    call(demo, "evaluate", "--queries", topics, "--json")
    said = json.loads(capsys.readouterr().out)
    of_verb = {one["mode"]: one for one in said["modes"]}
    for row in made.to_dict("records"):
        for name in ("AP", "tau"):
            ends = of_verb[row["order"]][name]
            assert [row[name], row[f"{name} low"], row[f"{name} high"]] == pytest.approx(
                [ends["mean"], ends["low"], ends["high"]]
            )
    assert vs.evaluate(index, topics, people, {"group": release}).equals(
        vs.evaluate(index, asked, people, release).replace("release", "group")
    )


class Opened(NamedTuple):
    """An index with people and a release."""

    index: vs.SearchIndex
    people: vs.People
    release: vs.OwnedRelease

    def refused(self, *args: Any, **more: Any) -> str:
        with pytest.raises(vs.UsageError) as caught:
            vs.evaluate(self.index, *args, **more)
        return str(caught.value)


def test_what_does_not_fit_is_refused(demo: Path) -> None:
    people = vs.profiles(demo / "profiles.jsonl")
    opened = Opened(vs.open_index(demo), people, vs.open_release(demo / "release", people))
    refused, asked = opened.refused, [("nobody here", "java")]
    for said, what in {
        "must be of type OwnedRelease, not int": refused(asked, people, {"x": 3}),
        "must be of type OwnedRelease or Mapping": refused(asked, people, [opened.release]),
        "can't be called 'own'": refused(asked, people, {"own": opened.release}),
        "queries must be of type Iterable": refused(None, people),
        "pool must be a whole number": refused(asked, people, pool=1.5),
        "query 1 must be a pair": refused([("a", 3)], people),
        "query 2 must be a pair": refused([*asked, "ab"], people),
        "no query could be judged": refused(asked, people, opened.release),
        "judges nothing": refused(asked, people, pool=10),
        "no measure MAP": refused(asked, people, measures=["MAP"]),
        "need the columns user, query; user is missing": refused([{"who": "a"}], people),
        "made of other people": refused(asked, vs.profiles({"a": {"b": 1.0}}), opened.release),
    }.items():
        assert said in what


def test_the_import_is_light_and_silent() -> None:
    code = "import sys, veilsearch; print(sorted({'numpy', 'jnius', 'flask'} & set(sys.modules)))"
    words = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "docs").glob("*.ipynb")))
def test_a_notebook_runs(name: str, demo: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(ROOT / "docs" / name, as_version=4)  # type: ignore[no-untyped-call]
    assert not any(cell.get("outputs") for cell in notebook.cells)
    (tmp_path / "veilsearch-data").symlink_to(demo)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()

"""The choices of `anonymize` as people make them: named, explained, kept in release.json."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from anonymizer.methods import METHODS, parameters_of
from search_app.tasks import releasing
from search_app.tasks.releasing import COMPILING

from ..conftest import Run, jsonl

QUERIES = {
    "ann": ("green tea", "tea cup", "tea pot"),
    "bob": ("tea cup", "coffee pot"),
    "cat": ("football club", "football match"),
    "dan": ("football match", "tennis match", "tennis ball"),
}


def log_of(path: Path) -> Path:
    lines = [
        f"{user}\t{query}\t2006-03-01 07:1{minute}:00\n"
        for user, queries in QUERIES.items()
        for minute, query in enumerate(queries)
    ]
    path.write_text("".join(lines))
    return path


@pytest.fixture
def run(run: Run, tmp_path: Path) -> Run:
    """Return a workspace with the profiles of four people."""
    run("profiles", log_of(tmp_path / "log.tsv"), "--size", 3)
    return run


@pytest.fixture
def indexed(run: Run, tmp_path: Path) -> Run:
    """Add an index of a few documents."""
    texts = ("tea in a cup", "coffee in a pot", "a football match", "tennis with a ball")
    documents = ({"id": f"d{i}", "title": "", "text": text} for i, text in enumerate(texts))
    run("index", jsonl(tmp_path / "corpus.jsonl", documents))
    return run


def manifest(run: Run) -> Any:
    return json.loads((run.workspace / "release" / "release.json").read_text())


@pytest.mark.parametrize("method", METHODS)
def test_help_explains_every_parameter_with_its_default(method: str) -> None:
    explained = dict(re.findall(r"^  (\w+)=(\S*)", METHODS[method].help(), re.MULTILINE))
    defaults = parameters_of(method)
    assert explained.keys() == defaults.keys()
    for name, default in defaults.items():
        shown = {None: "off", "": "USER"}.get(default, str(default))
        assert explained[name] == shown, name


def test_who_waits_for_compiling_is_told_why_on_a_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def compiles(tell: Callable[[], object]) -> Iterator[None]:
        tell()
        yield

    monkeypatch.setattr(releasing, "when_compiling", compiles)
    asked = ("anonymize", "--set", "p=off", "--set", "k=2", "--set", "augment=none")
    run(*asked)
    assert COMPILING not in run.talk
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run(*asked)
    assert COMPILING in run.talk


def test_release_json_names_every_choice(run: Run) -> None:
    run("anonymize", "--set", "k=2", "--set", "p=off", "--seed", 3)
    made = manifest(run)
    usual = parameters_of("p-linkability")
    assert made["parameters"] == {**usual, "p": None, "k": 2, "first_seed": "drawn"}
    assert made["seed"] == 3
    assert made["profiles"]["size"] == 3
    assert made["profiles"]["weights"] == "binary"


def test_choices_of_other_profiles_are_not_named(run: Run) -> None:
    profiles = run.workspace / "profiles.jsonl"
    profiles.write_text(profiles.read_text().replace("ann", "eve"))
    run("anonymize", "--set", "k=2")
    assert manifest(run)["profiles"] == {}


@pytest.mark.parametrize(
    "chosen",
    [
        ("p=0.7", "augment=cooccurrence"),
        ("p=0.7", "augment=cooccurrence", "network=index"),
        ("p=0.7", "similarity=documents", "documents=3"),
        ("p=0.7", "similarity=documents", "refine=swap", "linkage=centroid"),
        ("p=0.5", "guarantee=every-term"),
        ("p=0.7", "l=3", "t=0.9", "representative=union"),
    ],
)
def test_what_is_made_by_any_choice_verifies(indexed: Run, chosen: tuple[str, ...]) -> None:
    sets = [word for choice in chosen for word in ("--set", choice)]
    indexed("anonymize", *sets)
    indexed("verify")


def test_a_network_of_a_log(run: Run, tmp_path: Path) -> None:
    sets = ("--set", "augment=cooccurrence", "--set", "network=log", "--set", "p=0.7")
    assert "needs the log: --log FILE" in run.refused("anonymize", *sets)
    run("anonymize", *sets, "--log", tmp_path / "log.tsv")
    assert manifest(run)["parameters"]["network"] == "log"
    assert "--log is for" in run.refused("anonymize", "--log", tmp_path / "log.tsv")


def test_the_same_seed_twice_is_the_same_release(indexed: Run, tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        sets = ("--set", "p=0.7", "--set", "similarity=documents", "--set", "documents=2")
        indexed("anonymize", *sets, "-o", tmp_path / name)
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        made.append([path.read_bytes() for path in files])
    assert made[0] == made[1]


@pytest.mark.parametrize("method", ["composition", "pooled"])
def test_groups_that_keep_their_promise(indexed: Run, method: str) -> None:
    indexed("anonymize", "-m", method, "--set", "p=0.5", "--set", "steps=1000")
    made = manifest(indexed)
    assert made["method"] == method
    assert made["parameters"]["documents"] == 4
    assert made["facts"]["groups"] == 2


def test_a_key_is_drawn_afresh_and_never_printed(indexed: Run) -> None:
    keys = set()
    for _ in range(2):
        sets = ("--set", "p=0.5", "--set", "steps=1000")
        said = indexed("anonymize", "-m", "pooled", *sets, "--json")
        private = indexed.workspace / "release" / "private" / "key.json"
        assert private.stat().st_mode & 0o777 == 0o600
        keys.add(json.loads(private.read_text())["key"])
        assert not any(key in said + indexed.talk for key in keys)
        assert not any(key in json.dumps(manifest(indexed)) for key in keys)
    assert len(keys) == 2


def test_rows_of_one_person_are_warned_of(run: Run) -> None:
    run("anonymize", "--set", "p=1")
    assert "can't be published. Avoid this with --set k=2" in run.talk
    run("anonymize", "--set", "p=1", "--set", "k=2")
    assert "Warning" not in run.talk


def test_a_refused_choice_leaves_the_old_release(run: Run) -> None:
    needs = run.refused("anonymize", "--set", "similarity=documents")
    assert "veilsearch index CORPUS" in needs
    run("anonymize", "--set", "k=2")
    before = manifest(run)
    said = run.refused("anonymize", "--set", "p=1.5", "--set", "k=0")
    assert "p=1.5 must be above 0 and at most 1; k=0 must be at least 1" in said
    assert "p=x must be a number or off" in run.refused("anonymize", "--set", "p=x")
    assert manifest(run) == before

"""German and French: documents and profiles in one language, from the index to the own order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anonymizer.terms.analysis import STOP_WORDS, Analysis
from anonymizer.terms.stemming import STEMMED, Stems, stop_words
from index.lucene import jvm
from index.lucene.java import analyzer, java
from index.manifest import read_manifest
from search_app.workspace.folder import Workspace

from .conftest import Run

WORLDS = {
    "de": {
        "texts": {
            "haus": "Alte Häuser an der Straße, mit einem Garten und Apfelbäumen.",
            "buch": "Bücher über Gärten, und ein Buch über die Musik der Kirchen.",
            "lied": "Lieder und Musik: der Chor der Kirche singt.",
        },
        # query -> the documents that it finds, though none has the word as it is typed
        "found": {"Haus": {"haus"}, "Strassen": {"haus"}, "Büchern": {"buch"}, "der": set()},
        "query": "Musiken",
        "own": ("Lieder Chöre Kirche singen Gesang", "lied", "Buch Garten Bücher gärtnern", "buch"),
        "terms": ("Die Häuser eines Hauses", ["haus", "haus"]),
    },
    "fr": {
        "texts": {
            "eglise": "L'église et les chevaux de l'abbaye, d'un village.",
            "cheval": "Un cheval d'attelage ; l'histoire des écuries et des animaux.",
            "jardin": "Les jardins de l'hôpital, leurs histoires et leurs animaux.",
        },
        "found": {"églises": {"eglise"}, "abbayes": {"eglise"}, "jardin": {"jardin"}, "les": set()},
        "query": "d'animal",
        "own": (
            *("chevaux attelages écurie cheval selle", "cheval"),
            *("jardin hôpitaux hôpital fleur arbre", "jardin"),
        ),
        "terms": ("L'histoire d'un cheval, des chevaux", ["histoir", "cheval", "cheval"]),
    },
}


@pytest.fixture(params=WORLDS)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_query_in_another_form_finds_and_the_own_profile_orders(
    language: str, tmp_path: Path, run: Run
) -> None:
    world, room = WORLDS[language], tmp_path / "texts"
    room.mkdir()
    run.workspace.mkdir()
    (run.workspace / "veilsearch.toml").write_text(f'language = "{language}"\n')
    for name, text in world["texts"].items():  # type: ignore[attr-defined]
        (room / f"{name}.txt").write_text(text, encoding="utf-8")
    run("index", room)

    def found(query: str, *more: str) -> list[str]:
        hits = json.loads(run("search", query, "--json", *more))["hits"]
        return [hit["id"].removesuffix(".txt") for hit in hits]

    for query, names in world["found"].items():  # type: ignore[attr-defined]
        assert {*found(query)} == names, query
    log, (one, first, other, second) = tmp_path / "log.tsv", world["own"]
    log.write_text(f"u1\t{one}\t1\nu2\t{other}\t2\nu3\t{one}\t3\nu4\t{other}\t4\n")
    run("profiles", log)
    query = str(world["query"])
    assert sorted(found(query)) == sorted([first, second])
    assert found(query, "--user", "u1", "--mode", "own")[0] == first
    assert found(query, "--user", "u2", "--mode", "own")[0] == second
    release = ["anonymize", "-m", "p-linkability", "--set", "k=2", "--set", "p=0.9"]
    assert "augment=wordnet needs WordNet, and none was given" in run.refused(*release)
    run(*release, "--set", "augment=none")
    (room / "new.txt").write_text("neu", encoding="utf-8")
    run("index", room, "--update")
    manifest = read_manifest(Workspace(run.workspace).find("index"))
    assert manifest["analyzer"] == {"de": "GermanAnalyzer", "fr": "FrenchAnalyzer"}[language]
    (run.workspace / "veilsearch.toml").write_text("")
    assert f"was built with language={language}" in run.refused("index", room, "--add")


def test_terms_are_stems_without_stop_words(language: str) -> None:
    text, terms = WORLDS[language]["terms"]
    name = {"de": "german", "fr": "french"}[language]
    assert Analysis(Stems(name), stop_words(name)).terms(str(text)) == terms


def test_stop_words_are_lucenes(language: str) -> None:
    jvm.start("512m")
    name = {"de": "German", "fr": "French"}[language]
    own = java(f"org.apache.lucene.analysis.{language}.{name}Analyzer").getDefaultStopSet()
    words = str(own.toString()).strip("[]").split(", ")
    assert {*words} <= stop_words(name.lower())
    extra = " ".join(sorted(stop_words(name.lower()) - {*words}))
    analyzed = java("io.anserini.analysis.AnalyzerUtils").analyze(analyzer(language), f"{extra}'x")
    assert not extra or "x" in [str(term) for term in analyzed.toArray()]
    assert stop_words("wordnet") == STOP_WORDS
    assert {"german", "french"} == {*STEMMED}

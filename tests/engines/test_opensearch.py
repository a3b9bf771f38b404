"""An index in OpenSearch against the same one in Lucene: documents, order, scores to the bit."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from anonymizer.terms.wordnet import WordNet
from index.backends import LUCENE, FilledIndex, OpenSearchBackend
from index.build import build_index, update_index
from index.model import Account, Document, SearchError, TooSlow
from index.opening import open_index
from index.opensearch.client import ClusterPlace, OpenSearchCluster
from search_app.settings import SearchSettings
from search_app.workspace.folder import Workspace

from ..attacks.served import build_index as build_served
from ..attacks.served import served, texts
from ..attacks.watching import NOISE, OWN, PAGES, SEARCHES
from ..index.conftest import Counter, words
from ..search_app.conftest import Run, call, jsonl
from ..search_app.forgetting.test_leaving import TERM, WORDS
from .opensearch import Cluster
from .wire import Passing, wire

STOPS = ("the", "and", "of", "a", "to", "in")
ODD = ("U.S.", "1984", "o'clock", "straße", "日本", "C++", "don't", "3.14", "ß" * 150, "9" * 250)
SYLLABLES = ("ba", "lo", "ki", "mu", "re", "ta", "no", "shi", "gra", "pel", "dun", "vor")


@pytest.fixture
def name(opensearch: Cluster) -> Iterator[str]:
    """Return how the names of a test's own indexes begin; they are removed afterwards."""
    own = f"t{uuid4().hex[:12]}"
    yield own
    opensearch.call("DELETE", f"/{own}-*")


def place_of(nodes: Cluster, name: str, **more: Any) -> ClusterPlace:
    return ClusterPlace(**{"hosts": tuple(nodes.hosts), "index": name, "shards": 3, **more})


class Language:
    """Invented words, each less frequent than the one before, with stop words between them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311
        invented = ("".join(self.chance.choices(SYLLABLES, k=n % 3 + 2)) for n in range(3000))
        self.words = [*invented, *ODD]
        self.weights = [1 / (3 + at) for at in range(len(self.words))]

    def some(self, count: int) -> list[str]:
        return self.chance.choices(self.words, self.weights, k=count)

    def text(self, longest: int) -> str:
        parts = []
        for word in self.some(self.chance.randint(0, longest)):
            parts += self.chance.choices(STOPS, k=self.chance.choice([0, 0, 0, 1, 1, 2]))
            parts.append(word)
        return " ".join(parts)

    def documents(self, ids: range) -> list[Document]:
        return [
            Document(f"d{n}", self.text(6), self.text(60), f"http://a.example/{n}") for n in ids
        ]

    def query(self, documents: Sequence[Document]) -> str:
        """Return words, phrases out of one of the `documents`, and signs."""
        parts, source = self.some(self.chance.randint(1, 4)), self.chance.choice(documents)
        if len(standing := f"{source.title} {source.text}".split()) > 4:
            at = self.chance.randrange(len(standing) - 4)
            phrase = " ".join(standing[at : at + self.chance.randint(2, 4)])
            parts.append(f'{self.chance.choice(["", "", "+", "-"])}"{phrase}"')
        parts += [self.chance.choice("+-") + word for word in self.some(self.chance.randint(0, 1))]
        return " ".join(self.chance.sample(parts, len(parts)))


ODD_QUERIES = ("", "the", "-the", '"of the"', "+", "-balo", "nowhere", '"1984 and the 1984"')


def compare(one: FilledIndex, other: FilledIndex, queries: Sequence[str], operators: bool) -> int:
    """Check that both give the same answers to `queries`; return to how many there is one."""
    full = 0
    for at, query in enumerate(queries):
        first = one.pool(query, 1000, operators=operators)
        second = other.pool(query, 1000, operators=operators, deadline=60)
        assert first.rows.tolist() == second.rows.tolist(), query
        assert first.scores.tobytes() == second.scores.tobytes(), query
        assert first.cut == second.cut
        full += len(first) > 0
        if at % 10 == 0:  # an explanation takes as long as ten pools
            rows = [*first.rows[:3].tolist(), 0, one.size - 1]
            parts = one.explain(query, rows, operators=operators)
            assert parts == other.explain(query, rows, operators=operators), query
    return full


def test_20_000_documents_have_the_same_scores_to_the_bit(
    opensearch: Cluster, name: str, tmp_path: Path
) -> None:
    language = Language(1)
    documents = language.documents(range(20_000))
    documents += language.documents(range(7))  # these replace the first seven
    plain = [" ".join(language.some(language.chance.randint(1, 5))) for _ in range(80)]
    exact = [language.query(documents) for _ in range(120)]
    cluster = OpenSearchBackend(OpenSearchCluster(place_of(opensearch, name)))
    backends = {"lucene": LUCENE, "opensearch": cluster}
    for engine, backend in backends.items():
        build_index(
            documents,
            Counter(words),
            tmp_path / f"{engine}.0001",
            account=Account(),
            backend=backend,
        )
        update_index(
            tmp_path / f"{engine}.0001",
            language_of_update := Language(2).documents(range(19_990, 20_100)),
            Counter(words),
            tmp_path / f"{engine}.0002",
            delete=[f"d{n}" for n in range(0, 20_000, 9)],
            account=Account(),
            backend=backend,
        )
    assert len(language_of_update) == 110
    # As filled, and after deletions.
    for build, boost in (("0001", 0.0), ("0002", 2.5)):
        with ExitStack() as stack:
            one, other = (
                stack.enter_context(
                    closing(
                        open_index(
                            tmp_path / f"{engine}.{build}", backend=backend, title_boost=boost
                        )[0]
                    )
                )
                for engine, backend in backends.items()
            )
            assert one.size == other.size
            assert compare(one, other, plain, operators=False) > 75
            assert compare(one, other, exact, operators=True) > 100
            compare(one, other, ODD_QUERIES, operators=True)
            check_the_rest(one, other, plain)


def check_the_rest(one: FilledIndex, other: FilledIndex, queries: Sequence[str]) -> None:
    """Check that all else that two indexes say is the same."""
    pools = zip(
        one.pools(queries, 100, threads=2), other.pools(queries, 100, threads=4), strict=True
    )
    for first, second in pools:
        assert first.rows.tolist() == second.rows.tolist()
        assert first.scores.tobytes() == second.scores.tobytes()
    rows = np.array([5, one.size - 1, 5, 0])
    assert one.ids(rows).tolist() == other.ids(rows).tolist()
    assert one.documents(rows.tolist()) == other.documents(rows.tolist())
    asked = [*ODD, *STOPS, "nowhere", "1984 o'clock", *queries[:20]]
    assert one.document_counts(asked) == other.document_counts(asked)
    for document in ("d77", "d9", "d20099", "nobody"):
        assert one.row_of(document) == other.row_of(document)
    for index in (one, other):
        with pytest.raises(SearchError, match=f"rows must be from 0 to {one.size - 1}"):
            index.ids(np.array([one.size]))


@pytest.fixture
def small(opensearch: Cluster, name: str, tmp_path: Path) -> Path:
    """Return a build of five documents whose searchable half is in the cluster."""
    backend = OpenSearchBackend(OpenSearchCluster(place_of(opensearch, name, shards=1, replicas=0)))
    folder = tmp_path / "small.0001"
    documents = [Document(f"d{n}", "", f"zebra lion{n}") for n in range(5)]
    backend.switch(
        build_index(documents, Counter(words), folder, account=Account(), backend=backend)
    )
    return folder


def test_what_cannot_be_kept_is_refused(opensearch: Cluster, name: str, small: Path) -> None:
    backend = OpenSearchBackend(OpenSearchCluster(place_of(opensearch, name)))
    with pytest.raises(SearchError, match=r"k1=1.5 is set, but the cluster's index has k1=0.9; un"):
        open_index(small, backend=backend, k1=1.5)
    with pytest.raises(SearchError, match='this index is in OpenSearch; set backend = "opensearc'):
        open_index(small)
    index, _ = open_index(small, backend=backend, k1=0.9, b=0.4)
    with pytest.raises(TooSlow, match=r"took longer than deadline=1e-06 seconds"):
        index.pool("zebra lion", 5, deadline=1e-6)
    many = " ".join(["zebra", *(f"word{n}x" for n in range(1000))])
    assert (len(index.pool(many, 5)), index.pool(many, 5).cut) == (5, True)
    with_titles, _ = open_index(small, backend=backend, title_boost=1.0)
    with pytest.raises(SearchError, match=r"set indices.query.bool.max_clause_count: 2100 in ope"):
        with_titles.pool(many, 5)  # twice as many clauses, and OpenSearch takes 1,024
    opensearch.call("DELETE", f"/{name}-small-0001")
    with pytest.raises(SearchError, match="this index is no longer in the cluster; fill it again"):
        index.pool("zebra", 5)
    with pytest.raises(SearchError, match="this index is not in the cluster; fill it again with"):
        open_index(small, backend=backend)
    index.close()
    with pytest.raises(SearchError, match="this index was closed"):
        index.pool("zebra", 5)


# -- verbs and pages -------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return the verbs of a workspace that does not exist yet."""
    return Run(tmp_path / "workspace", capsys)


def write_settings(root: Path, hosts: Sequence[str], name: str) -> None:
    """Let the workspace `root` search in the cluster at `hosts`."""
    root.mkdir(exist_ok=True)
    table = {"backend": "opensearch", "hosts": list(hosts), "index": name, "replicas": 1}
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in table.items()]
    (root / "veilsearch.toml").write_text("[search]\n" + "".join(lines))


def pages_of(place: Path, index: Path, wordnet: WordNet, search: SearchSettings) -> dict[str, str]:
    """Return what a person who has signed in reads, page by page."""
    with served(place, index, wordnet, "p-linkability", 9, search=search) as world:
        get = world.get("person-3")
        answers = {path: get(path) for path in (*SEARCHES, *PAGES, OWN)}
    return {path: f"{status} {NOISE.sub('', text)}" for path, (status, text) in answers.items()}


def test_pages_api_and_runs_are_the_same(
    opensearch: Cluster, name: str, tmp_path: Path, wordnet: WordNet
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    build_served(here)
    write_settings(there, opensearch.hosts, name)
    call(there, "index", here / "corpus.jsonl")
    search = SearchSettings(backend="opensearch", hosts=tuple(opensearch.hosts), index=name)
    own = pages_of(tmp_path / "one", here, wordnet, SearchSettings())
    others = pages_of(tmp_path / "two", there, wordnet, search)
    assert own.keys() == others.keys()
    for path, text in own.items():
        assert text == others[path], path
    assert sum(text.startswith("200") for text in own.values()) > 20
    topics = tmp_path / "topics.tsv"
    topics.write_text("".join(f"{n}\t{word} java {word}\n" for n, word in enumerate(WORDS)))
    for root in (here, there):
        call(root, "search", "--topics", topics, "--run", root / "run", "--threads", 3)
    assert (here / "run").read_bytes() == (there / "run").read_bytes()


def test_another_host_copies_the_index(opensearch: Cluster, name: str, run: Run) -> None:
    filled = run.workspace.with_name("filled")
    write_settings(filled, opensearch.hosts, name)
    corpus = jsonl(filled / "c.jsonl", [{"id": f"d{n}", "text": f"java {n}"} for n in range(30)])
    call(filled, "index", corpus)
    run.capsys.readouterr()
    write_settings(run.workspace, opensearch.hosts, name)
    assert run.json("index", "--from-cluster")["documents"] == 30
    first, second = (Workspace(root).find("index") for root in (filled, run.workspace))
    files = [path.relative_to(first) for path in first.rglob("*") if path.is_file()]
    assert Path("forward/tf.npy") in files
    assert not (first / "lucene").exists()
    for file in files:
        assert (first / file).read_bytes() == (second / file).read_bytes()
    assert "d7" in run("search", "java 7")
    assert "--from-cluster copies a whole index" in run.refused("index", "--from-cluster", corpus)
    run("index", "--from-cluster")  # again: a new build takes the place of the old one
    assert len([*second.parent.iterdir()]) == 1
    (run.workspace / "veilsearch.toml").unlink()
    assert "this index is in OpenSearch" in run.refused("search", "java")


# -- what the cluster learns -----------------------------------------------------------------------


def leaves(value: Any) -> Iterator[object]:
    """Yield each value and each name in `value`, read from JSON."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


PROTOCOL = (
    "size query bool must should must_not filter term terms match_phrase contents title number "
    "docid value boost sort _score desc asc _source stored_fields _none_ track_total_hits timeout "
    "adjust_pure_negative request_cache allow_partial_search_results constant_score "
    "docvalue_fields match_none _name ids"
)


def test_the_cluster_gets_terms_of_queries_and_numbers_of_documents_alone(
    opensearch: Cluster, name: str, tmp_path: Path, wordnet: WordNet
) -> None:
    index = tmp_path / "index"
    write_settings(index, opensearch.hosts, name)
    corpus = [{"id": key, "text": text} for key, text in texts().items()]
    call(index, "index", jsonl(index / "corpus.jsonl", corpus))
    opensearch.log_requests(f"{name}-corpus-0001")
    secret = "walrus-and-okapi"  # noqa: S105  # in headers alone
    seen: list[Passing] = []
    with wire(opensearch.hosts, seen.append) as url:
        search = SearchSettings(
            backend="opensearch", hosts=(url,), index=name, user="veil", password=secret
        )
        with served(tmp_path / "w", index, wordnet, "p-linkability", 9, search=search) as world:
            people, rows = world.members(), world.names()
            for user in ("person-2", "person-3"):
                for path in (*SEARCHES, *PAGES, OWN):
                    world.get(user)(path)
    assert len(seen) > 20
    allowed = {*PROTOCOL.split(), "java", "health"}  # the words of these pages' searches
    for one in seen:
        assert re.fullmatch(r"/[\w.,*/?&=-]*", one.path)
        assert one.headers.keys() <= {
            *("Host", "Accept-Encoding", "Content-Length", "Content-Type", "Authorization")
        }
        for leaf in leaves([json.loads(line) for line in one.body.splitlines()]):
            if isinstance(leaf, str):
                known = leaf in allowed or re.fullmatch(r"d?[0-9]+(ms)?", leaf)
                assert known, leaf
    slow = [line for line in opensearch.slow_log().splitlines() if f"[{name}-" in line]
    assert any("java" in line for line in slow)
    for text in (*slow, *(one.path for one in seen)):
        assert not TERM.search(text)
        assert not [name for name in (*people, *rows, secret) if name in text]

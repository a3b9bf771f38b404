"""Spark as the engine, on a real cluster: results are those of one machine, to the byte."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from scipy.sparse import csr_matrix

from anonymizer.backends import spark as engine
from anonymizer.backends.everybody import with_everybody
from anonymizer.backends.log_profiles import PartChoices
from anonymizer.backends.parts import deal, deal_key, key_of_deal
from anonymizer.backends.shards import keep, write_shards
from anonymizer.backends.spark import EngineFault, SparkSession, SparkTask, connected
from anonymizer.backends.spark_logs import profiles_on
from anonymizer.backends.spark_parts import deal_on
from anonymizer.errors import BadInput
from anonymizer.measures.facts import fact_sums, facts_of
from anonymizer.methods import METHODS, anonymize_in_parts
from anonymizer.methods.baselines import BASELINES
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, silent
from anonymizer.profiles.building import ProfileChoices, build_profiles
from anonymizer.profiles.origins import Origins
from anonymizer.querylog.reading import read_log
from anonymizer.storage.profiles import fingerprint
from anonymizer.terms.analysis import WordAnalysis
from anonymizer.terms.counting import TermCounter
from search_app.cli import run

from ..anonymizer.small_world import KEY, drawn_documents, drawn_people
from .spark_cluster import LONGEST, SparkCluster, missing

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

# pyspark leaves sockets to Java, and warns of a pandas that is not used.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
WORDS = ["java", "coffee", "kitten", "tea", "zoo", "pup", "ride", "library", "music", "moon"]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    """Give a cluster; of all workers of this run only one at a time has one."""
    folder = tmp_path_factory.mktemp("spark")
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    with (shared / "spark.lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster = SparkCluster(folder)
        for name, value in cluster.environment.items():
            patch.setenv(name, value)
        try:
            yield cluster
        finally:
            cluster.stop()


class OneSession:
    """The session that most tests share, as a new one costs seconds."""

    def __init__(self, cluster: SparkCluster) -> None:
        self._cluster, self._ending = cluster, ExitStack()
        self._open: SparkSession | None = None

    def get(self) -> SparkSession:
        if not self._cluster.is_up("master"):
            self._cluster.restart()
        if self._open is None:
            session = connected(self._cluster.url, silent_shares)
            self._open = self._ending.enter_context(session)
        return self._open

    def end(self) -> None:
        self._ending.close()
        self._open = None


@pytest.fixture(scope="module")
def sessions(spark: SparkCluster) -> Iterator[OneSession]:
    made = OneSession(spark)
    yield made
    made.end()


@pytest.fixture
def session(sessions: OneSession) -> SparkSession:
    return sessions.get()


@pytest.fixture
def shared(session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let verbs use the shared session where they would start one."""
    monkeypatch.setattr(engine, "connected", lambda _master, _progress: nullcontext(session))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Give logs of three forms, whose people overlap, with repeats and bad lines."""
    rng, folder = random.Random(5), tmp_path_factory.mktemp("log")  # noqa: S311
    lines: list[tuple[str, str, int]] = []
    for _ in range(3_000):
        user, query = f"person {rng.randrange(150)}", " ".join(rng.sample(WORDS, 2))
        lines.append((user, query, 1_141_197_432 + rng.randrange(10**7)))
        lines += [lines[-1]] * (rng.random() < 0.2)
    texts = [f"{user}\t{query}\t{when}\n" for user, query, when in lines]
    (folder / "plain.tsv").write_text("".join([*texts[:2000], "bad line\n", *texts[2000:2500]]))
    (folder / "packed.tsv.gz").write_bytes(gzip.compress("".join(texts[2500:3000]).encode()))
    rows = [dict(zip(("user", "query", "time"), line, strict=True)) for line in lines[3000:]]
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return [folder / name for name in ("plain.tsv", "packed.tsv.gz", "rows.jsonl")]


def words() -> TermCounter:
    """Return an analysis that needs no WordNet; workers import it from here."""
    return TermCounter(WordAnalysis())


def how(**chosen: Any) -> PartChoices:
    return PartChoices(ProfileChoices(**chosen), None, words, True)


def made_here(paths: list[Path], chosen: PartChoices) -> list[Any]:
    events, report = read_log(paths)
    dated: list[Origins] = []
    made, held = build_profiles(events, words(), chosen.choices, on_origins=dated.append)
    return [fingerprint(made), len(held), dated[0].times.tolist(), report]


def made_on(cluster: SparkSession, paths: list[Path], chosen: PartChoices, parts: int) -> list[Any]:
    made = profiles_on(cluster, paths, chosen, parts=parts)
    assert made.origins
    times = made.origins.times.tolist()
    return [fingerprint(made.profiles), len(made.held_out), times, made.report]


@dataclass(frozen=True)
class Gated:
    """A task that waits before its work until the gate of its stage is open."""

    task: SparkTask
    folder: Path
    stage: str

    def __call__(self, *given: Any) -> Any:
        (self.folder / f"{self.stage}.came").touch()
        while not (self.folder / f"{self.stage}.open").exists():
            time.sleep(0.02)
        return self.task(*given)


def gate(patch: pytest.MonkeyPatch, folder: Path, act: Callable[[str], object]) -> list[str]:
    """Let tasks of each stage wait until `act` was called with its name; return these names.

    If it returns SHUT, they wait on.
    """
    stages: list[str] = []
    plain, show = SparkSession.task, SparkSession._show

    def task(self: SparkSession, function: Any) -> Any:
        work = function.keywords.get("function", function)
        stages.append(f"{len(stages)}-{getattr(work, 'func', work).__name__}")
        return Gated(plain(self, function), folder, stages[-1])

    def look(self: SparkSession) -> None:
        show(self)
        for came in sorted(folder.glob("*.came")):
            if not came.with_suffix(".open").exists() and act(came.stem) is not SHUT:
                came.with_suffix(".open").touch()

    patch.setattr(SparkSession, "task", task)
    patch.setattr(SparkSession, "_show", look)
    return stages


SHUT = object()
CONNECT = """
import sys
from anonymizer.backends.spark import connected
with connected(sys.argv[1], print):
    pass
"""


def silent_shares(_done: int, _of: int) -> None: ...


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of all files in `folder`, without its locks and notes of when."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().replace(bytes(folder), b"")
        for path in files
        if path.name not in (".lock", "ledger.jsonl")
    }


def test_profiles_are_those_of_one_machine(
    session: SparkSession, log: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[int, int]] = []
    monkeypatch.setattr(session, "progress", lambda done, of: shown.append((done, of)))
    for parts, chosen in (
        (24, how(weights="tfidf", size=5, users=99)),
        (16, how(weights="recency", granularity="session", test_share=0.3)),
    ):
        assert made_on(session, log, chosen, parts) == made_here(log, chosen)
    assert all(0 <= done <= of for done, of in shown)
    assert {of for _, of in shown} >= {16, 24}


def test_a_worker_killed_in_each_stage_changes_nothing(
    spark: SparkCluster,
    session: SparkSession,
    log: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shuffled: list[Path] = []

    def kill(_stage: str) -> None:
        shuffled.extend(spark.folder.rglob("shuffle_*.data"))
        assert not told_by(shuffled)
        spark.kill("w1")
        spark.start_worker("w1")

    chosen = how(weights="recency")
    stages = gate(monkeypatch, tmp_path, kill)
    assert made_on(session, log, chosen, 16) == made_here(log, chosen)
    assert [stage[2:] for stage in stages] == ["deal_lines", "owners_in_part", "_counts"]
    assert len([*tmp_path.glob("*.came")]) == 3
    assert shuffled
    assert [*spark.folder.rglob("w?/app-*/*/stderr")]
    assert told_by(spark.folder.rglob("*")) == []


def told_by(paths: Iterable[Path]) -> list[Path]:
    """Return those of `paths` that hold a query or a user, plain or packed by Spark."""
    files = [path for path in paths if path.is_file()]
    return [path for path in files if re.search(b"kitten|person", path.read_bytes())]


@pytest.mark.usefixtures("shared")
def test_the_verb_writes_the_same_files(
    spark: SparkCluster, log: list[Path], tmp_path: Path
) -> None:
    made = {}
    for name, more in (("local", []), ("spark", ["--master", spark.url, "--parts", "16"])):
        workspace = tmp_path / name
        named = ["--workspace", str(workspace), "profiles", *map(str, log), "--terms", "all"]
        named += ["--test-share", "0.2", "--rejects", str(workspace / "rejects.jsonl")]
        workspace.mkdir()
        assert run([*named, "--engine", name, *more]) == 0
        made[name] = files_of(workspace)
    assert made["spark"] == made["local"]
    assert made["local"].keys() > {"profiles.held-out.tsv", "profiles.origins.npz"}
    assert b"too few columns" in made["local"]["rejects.jsonl"]


def released(method: str, folder: Path, deal_parts: Any, **chosen: Any) -> dict[str, bytes]:
    """Return the files of the release by `method` in parts that `deal_parts` makes."""
    people, scratch = drawn_people(131, most=12), folder / f"{method}-scratch"
    scratch.mkdir(parents=True)
    key = key_of_deal(KEY) if "key" in METHODS[method].needs else deal_key([people], 3)
    dealt = with_everybody(deal_parts([people], 4, key, scratch / "parts"))
    nobody = Profiles((), people.terms, csr_matrix(people.weights[:0]))
    inputs = Inputs(nobody, 3, sample=drawn_documents(), key=KEY, everybody=dealt.everybody)
    shards = keep(anonymize_in_parts(method, dealt, inputs, chosen, fact_sums), scratch, silent)
    facts, place = facts_of(shards.measured), folder / method
    rest: dict[str, Any] = {"seed": 3, "input_hash": fingerprint(people), "profiles": {}}
    write_shards(shards, facts, dealt.like_rows, place, **rest)
    return files_of(place)


def test_releases_are_those_of_one_machine_by_every_method_that_knows_parts(
    session: SparkSession, tmp_path: Path
) -> None:
    chosen: dict[str, dict[str, Any]] = {
        "p-linkability": {"p": 0.4, "k": 2, "t": 0.9, "augment": "none", "refine": "swap"},
        "composition": {"p": 0.4, "size": 4, "steps": 12_000},
        "pooled": {"p": 0.4, "steps": 6000},
        "vocabulary-k": {"k": 2, "eps": 0.0},
        "km-anonymity": {"k": 2, "m": 2},
        "dp-rows": {"epsilon": 90.0, "rows": 2},
    }
    baselines = {method.name for method in BASELINES} - {"dp-rows"}
    in_parts = {name for name, method in METHODS.own.items() if method.in_parts}
    assert chosen.keys() == in_parts - baselines
    for method, values in chosen.items():
        here = released(method, tmp_path / "here", deal, **values)
        there = released(method, tmp_path / "there", deal_on(session), **values)
        assert here == there, method
        assert ("rows-0003.jsonl" in here) == (method != "dp-rows")


@pytest.mark.usefixtures("shared")
def test_a_worker_killed_while_groups_are_made_changes_no_byte_of_the_release(
    spark: SparkCluster,
    log: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named = ["--workspace", str(tmp_path / "w")]
    assert run([*named, "profiles", *map(str, log), "--size", "4"]) == 0
    asked = [*named, "anonymize", "--set", "p=0.8", "--parts", "4", "--seed", "5", "-o"]
    assert run([*asked, str(tmp_path / "here")]) == 0

    def kill(_stage: str) -> None:
        spark.kill("w2")
        spark.start_worker("w2")

    stages = gate(monkeypatch, tmp_path, kill)
    assert run([*asked, str(tmp_path / "there"), "--engine", "spark", "--master", spark.url]) == 0
    assert len(stages) >= 2
    assert len([*tmp_path.glob("*.came")]) == len(stages)
    assert files_of(tmp_path / "here") == files_of(tmp_path / "there")


@pytest.mark.usefixtures("shared")
def test_a_log_is_measured_to_the_last_digit_as_on_one_machine(
    spark: SparkCluster, log: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = log[0].read_text().splitlines()
    kept = [line.split("\t")[:2] for line in lines[::2] if line.count("\t") == 2]
    text = "".join(
        f"{user}\t{query}{' in rain' * (at % 5 == 0)}\n" for at, (user, query) in enumerate(kept)
    )
    (tmp_path / "released.tsv").write_text(text)
    said = {}
    for name, more in (("local", []), ("spark", ["--master", spark.url])):
        tables = [str(tmp_path / f"{table}-{name}.csv") for table in ("all", "worst")]
        named = ["measure", "--log", str(tmp_path / "released.tsv"), "--against", str(log[0])]
        named += ["-o", tables[0], "--worst", tables[1], "--json", "--engine", name, *more]
        assert run(named) == 0
        shown = capsys.readouterr()
        said[name] = [shown.out, *(Path(table).read_bytes() for table in tables), shown.err]
    assert said["spark"] == said["local"]
    assert "1 line was rejected" in said["local"][3]


@pytest.mark.usefixtures("shared")
def test_common_queries_are_released_as_on_one_machine(
    spark: SparkCluster, log: list[Path], tmp_path: Path
) -> None:
    for name, more in (("local", []), ("spark", ["--master", spark.url])):
        named = ["--workspace", str(tmp_path / "w"), "anonymize", str(log[0]), "-m", "query-k"]
        named += ["--set", "k=20", "-o", str(tmp_path / name), "--engine", name, *more]
        assert run(named) == 0
    here = files_of(tmp_path / "local")
    assert files_of(tmp_path / "spark") == here
    assert 0 < here["log.tsv"].count(b"\n") < 2_000


def test_a_refusal_of_a_task_is_said_in_its_words_and_another_error_without_its_text(
    session: SparkSession, log: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "cut.tsv.gz").write_bytes(log[1].read_bytes()[:-9])
    with pytest.raises(BadInput, match="incomplete, or not packed as its name says"):
        profiles_on(session, [tmp_path / "cut.tsv.gz"], how(), parts=3)
    with pytest.raises(EngineFault) as fault:
        [*session.stream(session.items(["the query"]).map(session.task(partial(_broken, 1))))]
    assert str(fault.value).startswith("a task failed on the cluster: KeyError (test_spark.py, li")
    assert "query" not in str(fault.value)


def _broken(_number: int, text: str) -> None:
    raise KeyError(text)


def test_ctrl_c_while_java_starts_leaves_no_java() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"spark://127.0.0.1:{silent.getsockname()[1]}"
        process = subprocess.Popen(
            [sys.executable, "-c", CONNECT, url], start_new_session=True, stderr=subprocess.DEVNULL
        )
        tasks = Path(f"/proc/{process.pid}/task")
        while process.poll() is None and not any(
            children.read_text() for children in tasks.glob("*/children")
        ):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST) != 0
    with pytest.raises(ProcessLookupError):
        # Java was its child; nobody of the group is left, once the system has swept it.
        for _ in range(int(LONGEST)):
            os.killpg(process.pid, 0)
            time.sleep(1)


@pytest.mark.usefixtures("shared")
def test_a_lost_master_is_one_line_and_nothing_is_written(
    spark: SparkCluster,
    sessions: OneSession,
    log: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {"profiles.jsonl": b"as they were"}
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "profiles.jsonl").write_bytes(before["profiles.jsonl"])

    def kill(stage: str) -> object:
        if stage[0] != "2":
            return None
        if spark.is_up("master"):
            spark.kill("master")
        return SHUT

    gate(monkeypatch, tmp_path, kill)
    named = ["--workspace", str(tmp_path / "w"), "profiles", str(log[0]), "--terms", "all"]
    with pytest.raises(EngineFault, match="is lost, and nothing was written; start it, and run"):
        run([*named, "--engine", "spark", "--master", spark.url])
    assert files_of(tmp_path / "w") == before
    sessions.end()

"""The verbs as a person calls them, on a small corpus and a small town, with real Lucene."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from search_app.cli import parser
from search_app.console import say
from search_app.server.opening import Serving
from search_app.settings import load_settings
from search_app.verbs import VERBS
from search_app.workspace.folder import Workspace

from .conftest import Run, call

DOCUMENTS = [
    ("d1", "Coffee", "Java is a coffee. Brew espresso, mocha and java from roasted beans."),
    ("d2", "Java, the language", "Java is a programming language with a compiler and objects."),
    ("d3", "Java, the island", "Java is an island of Indonesia with volcanoes."),
    ("d4", "Cats", "A kitten is a young cat."),
]
LOG = """AnonID\tQuery\tQueryTime\tItemRank\tClickURL
7\tespresso beans\t2026-03-01 08:00:00\t1\thttp://www.beans.example
7\tmocha coffee\t2026-03-01 08:05:00\t\t
8\tprogramming language\t2026-03-01 09:00:00\t\t
8\tcompiler objects\t2026-03-02 09:00:00\t\t
8\tbroken line
9\tcat\t2026-03-02 10:00:00\t\t
9\tvolcano island\t2026-03-02 10:00:00\t\t
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.tsv"
    path.write_text(LOG)
    return path


def write_corpus(folder: Path) -> Path:
    documents = (
        f"<DOC>\n<DOCNO>{number}</DOCNO>\n<TITLE>{title}</TITLE>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n"
        for number, title, text in DOCUMENTS
    )
    (path := folder / "corpus.trec").write_text("".join(documents))
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with an index, profiles and a release, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "log.tsv").write_text(LOG)
    call(folder / "w", "index", write_corpus(folder))
    call(folder / "w", "profiles", folder / "log.tsv")
    call(folder / "w", "anonymize", "-m", "p-linkability", "--set", "p=0.9")
    return folder / "w"


@pytest.fixture
def ready(run: Run, made: Path) -> Run:
    shutil.copytree(made, run.workspace)
    return run


def test_people_read_lines(ready: Run) -> None:
    assert "1234567" not in ready.refused("search", "java", "--user", "1234567")
    text = ready("search", "java", "--user", "7", "--mode", "own", "--top", "2")
    assert text.splitlines()[0].startswith("by the own profile; AP 1.000")
    assert "d1" in text.splitlines()[1]
    assert len(text.splitlines()) == 3
    assert ready("search", "zzzz").strip() == "nothing found"


def test_session_profiles_and_held_out_queries(run: Run, log: Path) -> None:
    assert run.json("profiles", log, "--granularity", "session", "--gap", "4m")["users"] == 5
    run("profiles", log, "--test-share", "0.5")
    held = (run.workspace / "profiles.held-out.tsv").read_text().splitlines()
    asked = {line.split("\t")[2] for line in held}
    assert asked == {"mocha coffee", "compiler objects", "volcano island"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["search", "  "], "the query is empty"),
        (["search", "java", "--user", "nobody"], "no profile for this user; there are 3"),
        (["search", "java", "--mode", "own"], "mode own needs a person"),
        (["search", "java", "--mode", "magic"], "invalid choice: 'magic'"),
        (["search", "java", "--pool", "many"], "invalid int value: 'many'"),
        (["search", "java", "--ranking", "best"], "argument --ranking: invalid choice"),
        (["search", "java", "--index", "other"], "no index other"),
        (["anonymize", "--set", "p=0.001"], "groups need"),
        (["anonymize", "--set", "q=1"], "p-linkability has no parameter q; it has p, k, l, t, a"),
        (["anonymize", "--set", "a=-1"], "a=-1 must be from 0 to 100"),
        (["anonymize", "--set", "p"], "--set p must be name=value"),
        (["anonymize", "--set", "p=1", "--set", "p=1"], "--set names p twice"),
        (["anonymize", "-m", "magic"], "no method magic; there are: composition"),
        (["anonymize", "--seed", "-1"], "--seed -1 must be 0 or more"),
        (["anonymize", "missing.jsonl"], "missing.jsonl"),
        (["anonymize", "-o", "no/such/release"], "veilsearch: no/such/release: can't be written"),
        (["profiles", "missing.tsv"], "missing.tsv"),
        (["index", "missing.trec"], "missing.trec"),
        (["index"], "name a CORPUS"),
        (["town", "-o", "t.tsv", "--users", "0"], "users=0 must be a whole number from 1"),
        (["town", "-o", "no/such/folder/t.tsv", "--users", "1"], "no/such/folder"),
        (["town", "-o", "."], "-o . must be a file"),
        (["town", "-o", "/"], "-o / must be a file"),
        (["search", "java", "--foo\nbar"], "unrecognized arguments: --foo; see"),
        (["search", "java", "secret"], "unrecognized arguments: quote what has several words; see"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        ([], "the following arguments are required: VERB"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(ready: Run, arguments: list[str], told: str) -> None:
    assert told in ready.refused(*arguments)


@pytest.mark.parametrize("option", ["--size=9", "--weights=x", "--gap=x", "--test-share=2"])
def test_wrong_profile_options(run: Run, log: Path, option: str) -> None:
    name = option.removeprefix("--").partition("=")[0].replace("-", "_")
    arguments = [option, "--users=9"] if name == "size" else [option]
    told = run.refused("profiles", log, *arguments)
    assert name in told.replace("-", "_")
    assert not (run.workspace / "profiles.jsonl").exists()


@pytest.mark.parametrize("gap", ["9" * 30 + "d", "9" * 5000, "²m", "-1m", "m", ""])
def test_wrong_gaps(run: Run, log: Path, gap: str) -> None:
    told = run.refused("profiles", log, "--granularity=session", f"--gap={gap}")
    assert "must be a whole number with s, m, h or d" in told


def test_rejected_lines_are_told_by_number(run: Run, log: Path, tmp_path: Path) -> None:
    assert "1 headers, 1 rejected" in run("profiles", log)
    assert f"{log}, line 6: " in run.talk
    hopeless = tmp_path / "hopeless.tsv"
    hopeless.write_text("no log\nat all\n")
    told = run.refused("profiles", hopeless)
    assert f"no line of the log is a query; {hopeless}, line 1: " in told


def test_another_towns_truth_is_not_believed(run: Run, tmp_path: Path) -> None:
    town = tmp_path / "town.tsv"
    run("town", "-o", town, "--users", 3, "--queries", 5)
    run("profiles", town)
    assert Workspace(run.workspace).truth() is not None
    run("town", "-o", town, "--users", 3, "--queries", 5, "--seed", 1)
    assert Workspace(run.workspace).truth() is None
    assert "belongs to another log" in run("doctor", code=1)


def test_names_of_a_town_never_stand_beside_other_profiles(
    run: Run, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever stops the verb behind the new profiles: the town's truth is not current."""
    town = run.workspace.parent / "town.tsv"
    run("town", "-o", town, "--users", 3, "--queries", 5)
    run("profiles", town)
    assert Workspace(run.workspace).truth() is not None
    monkeypatch.setattr("search_app.tasks.profiling.synthetic_truth", killed)
    run("profiles", log, code=130)
    assert Workspace(run.workspace).truth() is None


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_log_that_cannot_be_written_does_not_stop_serving(ready: Run) -> None:
    place = Workspace(ready.workspace)
    place.log.mkdir()
    site = Serving(load_settings(ready.workspace), say).open()
    assert site.log.summary() == []
    assert "kept in memory only" in ready.capsys.readouterr().err


def test_closed_streams_are_no_fault(ready: Run) -> None:
    command = f'"{sys.executable}" -m search_app --workspace "{ready.workspace}"'
    for words in ("verify >&-", "verify 2>&-", "search java >&- 2>&-"):  # Java opens files, too
        done = subprocess.run(
            ["bash", "-c", f"{command} {words}"], capture_output=True, check=False
        )
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


def test_too_little_memory_is_said_in_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 9 GiB")

    monkeypatch.setattr("search_app.cli.run", full)
    assert "out of memory (Unable to allocate 9 GiB); close" in run.refused("doctor")


def test_doctor_finds_a_damaged_release(ready: Run) -> None:
    checks = ready.json("doctor")
    assert all(check["good"] for check in checks), checks
    assert {"java", "wordnet", "index", "profiles", "release"} <= {c["name"] for c in checks}
    path = ready.workspace / "release" / "rows.jsonl"
    path.write_text(path.read_text().replace("0.5", "0.6", 1) + " ")
    assert "BAD  release" in ready("doctor", code=1)


def test_help_is_fast_and_loads_nothing_heavy() -> None:
    code = (
        "import sys\nsys.argv = ['veilsearch', '--help']\n"
        "from search_app.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'flask', 'nltk', 'jnius'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    print(f"--help took {time.perf_counter() - began:.2f} s")  # shown by -rP
    for verb in VERBS:
        assert verb in done.stdout


def test_every_verb_has_help() -> None:
    for verb in VERBS:
        with pytest.raises(SystemExit) as ended:
            parser().parse_args([verb, "--help"])
        assert ended.value.code == 0


def test_readers_import_no_makers() -> None:
    """What opens a workspace to search it knows methods by their records alone."""
    code = "import sys, search_app.workspace.opening, anonymizer.methods; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    builders = {"anonymizer.compiled", "anonymizer.querylog", "index.build", "index.lucene.writing"}
    assert not loaded & (builders | {"anonymizer.grouping", "anonymizer.verification"})

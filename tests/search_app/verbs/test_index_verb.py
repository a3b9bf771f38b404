"""`veilsearch index` as a person and a program use it: what it prints, takes and refuses."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from search_app.workspace.folder import Workspace

from ..conftest import Run, call, jsonl

TEXTS = {"d1": "a lion", "d2": "a tiger", "d3": "a lion and a tiger"}


class Verb(Run):
    """Calls the verb in one workspace and keeps what it says."""

    def __call__(self, *arguments: object, code: int = 0) -> str:
        return super().__call__("index", *arguments, code=code)

    def refused(self, *arguments: object) -> str:
        """Run what must be refused; nothing is made."""
        before = self.indexes()
        told = super().refused(*arguments)
        assert self.indexes() == before
        return told

    def indexes(self) -> list[str]:
        return sorted(path.name for path in (self.workspace / "indexes").glob("*"))

    def found(self, *query: object) -> set[str]:
        answer = json.loads(super().__call__("search", *query, "--json"))
        return {hit["id"] for hit in answer["hits"]}


@pytest.fixture
def index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Verb:
    return Verb(tmp_path / "w", capsys)


def texts_in(path: Path, texts: dict[str, str]) -> Path:
    return jsonl(path, ({"id": name, "text": text} for name, text in texts.items()))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return texts_in(tmp_path / "corpus.jsonl", TEXTS)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with an index of the corpus, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    call(folder / "w", "index", texts_in(folder / "corpus.jsonl", TEXTS))
    return folder / "w"


@pytest.fixture
def more(tmp_path: Path) -> Path:
    return texts_in(tmp_path / "more.jsonl", {"d2": "a panda", "d4": "a lion"})


def test_a_build_says_all_that_was_made_of_the_corpus(index: Verb, tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    texts_in(path, {**TEXTS, "": "without id"})
    with path.open("ab") as file:
        file.write(b'{"id": "d1", "text": "a caf\xe9 and a lion"}\nno JSON\n')
    made = index.json(path)
    folder = Workspace(index.workspace).find("index")
    assert (made["index"], made["documents"], made["read"]) == (str(folder), 3, 4)
    assert (made["duplicates"], made["latin1"], made["truncated"]) == (1, 1, 0)
    assert sum(made["skipped"].values()) == len(made["first_skips"]) == 2
    assert made["first_skips"][1] == f"{path}: line 6: not a JSON object"
    assert re.fullmatch("[0-9a-f]{64}", made["fingerprint"])
    assert "change" not in made
    assert index.talk == ""


def test_people_read_the_same_in_lines(index: Verb, corpus: Path) -> None:
    with corpus.open("a") as file:
        file.write('no JSON\n{"id": "d1", "text": "a lion, a lion"}\n')
    lines = index(corpus).splitlines()
    assert lines[0] == f"3 documents over 2 terms: {Workspace(index.workspace).find('index')}"
    assert lines[1:] == [
        "  skipped: not a JSON object: 1",
        "  repeated ids (the last document stays): 1",
    ]
    assert index.talk == f"  {corpus}: line 4: not a JSON object\n"


def test_adding_replaces_and_says_so(index: Verb, corpus: Path, more: Path) -> None:
    index(corpus)
    made = index.json("--add", more)
    assert made["change"] == {"added": 2, "replaced": 1, "deleted": 0, "missing": 0}
    assert (made["documents"], made["read"]) == (4, 2)
    assert index.found("lion") == {"d1", "d3", "d4"}
    assert index.found("tiger") == {"d3"}
    assert index.indexes() == ["corpus.0002"]
    lines = index("--add", more).splitlines()
    assert lines[1:] == ["  added: 2", "  of these, replacing a document with the same id: 2"]


def test_deleting_by_name_and_by_list(index: Verb, corpus: Path, tmp_path: Path) -> None:
    index(corpus)
    made = index.json("--delete", "d1", "--delete", "d1", "--delete", "nobody")
    assert made["change"] == {"added": 0, "replaced": 0, "deleted": 1, "missing": 1}
    assert index.found("lion") == {"d3"}
    listed = tmp_path / "gone.txt"
    listed.write_bytes(b"\xef\xbb\xbfd2\r\n\r\n  d9 \r\n")  # as Windows writes it
    lines = index("--delete-from", listed).splitlines()
    assert lines[0].startswith("1 documents over 2 terms: ")
    assert lines[1:] == ["  deleted: 1", "  ids to delete that are not in the index: 1"]
    assert index.found("tiger") == {"d3"}


def test_deleting_and_adding_in_one_run(index: Verb, corpus: Path, more: Path) -> None:
    """What is deleted and added is there again."""
    first = index.json(corpus)
    made = index.json("--add", more, "--delete", "d1", "--delete", "d2")
    assert made["change"] == {"added": 2, "replaced": 0, "deleted": 2, "missing": 0}
    assert index.found("lion") == {"d3", "d4"}
    assert index.found("panda") == {"d2"}
    assert made["fingerprint"] != first["fingerprint"]
    again = index.json("--add", corpus, "--delete", "d4")
    assert again["fingerprint"] == first["fingerprint"]  # the same documents


def test_a_folder_is_read_again_where_it_changed(index: Verb, tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    for name, text in (("a", "a lion"), ("b", "a tiger"), ("c", "a puma")):
        (room / f"{name}.txt").write_text(text, encoding="utf-8")
    index(room)
    assert index("--update", room).splitlines()[1:] == ["  files: 3 unchanged"]
    (other := tmp_path / "other").mkdir()  # of a folder that was never read nothing is gone
    assert index("--update", other).splitlines()[1:] == ["  files: none there"]
    assert index.indexes() == ["corpus.0001"]
    (room / "a.txt").write_text("a zebra and a lion", encoding="utf-8")
    (room / "b.txt").unlink()
    (room / "d.txt").write_text("a lion", encoding="utf-8")
    (room / "e.jpg").write_text("no text", encoding="utf-8")
    lines = index("--update", room).splitlines()
    assert lines[0].startswith("3 documents over ")
    assert lines[1:3] == [
        "  files: 2 new, 1 changed, 1 gone, 1 unchanged",
        "  skipped: unknown format: 1",
    ]
    assert (index.found("lion"), index.found("tiger")) == ({"a.txt", "d.txt"}, set())
    again = index.json("--update", room)
    assert again["files"] == {"new": 0, "changed": 0, "gone": 0, "unchanged": 4}
    assert index.found("zebra lion") == {"a.txt", "d.txt"}
    anew = Verb(tmp_path / "anew", index.capsys).json(room)
    assert anew["fingerprint"] == again["fingerprint"]


def test_names_keep_indexes_apart(index: Verb, corpus: Path, more: Path) -> None:
    index(corpus)
    index(more, "--name", "b.c ☕")
    assert index.indexes() == ["b.c ☕.0001", "corpus.0001"]
    assert index.found("lion") == {"d4"}  # the latest is the current one
    assert index.found("lion", "--index", "corpus") == {"d1", "d3"}
    index("--delete", "d4")  # from the current one
    assert index.indexes() == ["b.c ☕.0002", "corpus.0001"]
    index("--name", "corpus", "--delete", "d1")
    assert index.indexes() == ["b.c ☕.0002", "corpus.0002"]
    assert index.found("lion") == {"d3"}
    assert index.found("panda", "--index", "b.c ☕") == {"d2"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--add"], "--add needs a CORPUS (files or folders) to add"),
        (["--add", "--delete", "d1"], "--add needs a CORPUS"),
        (["CORPUS", "--delete", "d1"], "give --add, too"),
        (["CORPUS", "--delete-from", "LIST"], "give --add, too"),
        (["--delete"], "argument --delete: expected one argument"),
        (["--delete", "nobody"], "has none of the 1 ids to delete"),
        (["--delete", ""], "has none of the 1 ids to delete"),
        (["--delete", "d1", "--delete", "d2", "--delete", "d3"], "there is no document to index"),
        (["--delete-from", "missing"], "missing can't be read: No such file or directory; give"),
        (["--delete-from", "."], ". can't be read: Is a directory; give a file of ids"),
        (["--delete-from", "EMPTY"], "lists no id; give a file of ids, one a line"),
        (["--delete-from", "BYTES"], "can't be read: it is not UTF-8; give a file of ids"),
        (["--delete", "d1", "--name", "other"], "no index other in"),
        (["--add", "CORPUS", "--name", "../corpus"], "no index ../corpus in"),
        (["CORPUS", "--name", "../x"], "--name '../x' must be a plain file name"),
        (["CORPUS", "--name", ".x"], "must be a plain file name"),
        (["CORPUS", "--name", "x" * 300], "File name too long"),
        (["CORPUS", "--name", "\udcff"], "Lucene needs a path in UTF-8"),
        (["CORPUS", "missing.jsonl"], "missing.jsonl"),
        (["EMPTY"], "empty"),
        (["--add", "x", "--format", "wordnet"], "takes no CORPUS"),
        (["--update"], "--update needs the CORPUS"),
        (["--update", "--format", "irds", "x"], "--update needs the CORPUS"),
        (["--update", "CORPUS", "--add"], "--update finds itself what to add and delete"),
        (["CORPUS", "--column", "texte=Inhalt"], "--column takes one of id=NAME, title=NAME"),
        (["CORPUS", "--format", "magic"], "format=magic must be one of"),
    ],
)
def test_wrong_use_is_one_line_and_changes_nothing(
    index: Verb, made: Path, corpus: Path, tmp_path: Path, arguments: list[str], told: str
) -> None:
    shutil.copytree(made, index.workspace)
    files = {"LIST": b"d1\n", "EMPTY": b" \n\n", "BYTES": b"\xff\xfe"}
    for name, content in files.items():
        (tmp_path / name.lower()).write_bytes(content)
    known = {"CORPUS": corpus, **{name: tmp_path / name.lower() for name in files}}
    assert told in index.refused(*(known.get(each, each) for each in arguments))
    assert index.found("lion") == {"d1", "d3"}


# --- on a terminal; in pipes nothing of it is seen, as `talk` says above ---


def on_a_terminal(arguments: list[str]) -> tuple[int, str, str]:
    """Run with stderr on a terminal; return the exit code, stdout and what the terminal got."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 80))
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=follower)
    os.close(follower)
    shown = b""
    try:
        while part := os.read(leader, 65_536):
            shown += part
    except OSError:  # Linux says so when the last one who writes has gone
        pass
    finally:
        os.close(leader)
    out, _ = process.communicate()
    return process.returncode, out.decode(), shown.decode()


def test_a_terminal_sees_progress_with_rate_and_time_left(tmp_path: Path) -> None:
    texts = {f"d{n}": f"lion {n} " + "tiger " * 200 for n in range(20_000)}
    corpus = texts_in(tmp_path / "corpus.jsonl", texts)
    command = [sys.executable, "-m", "search_app", "--workspace", str(tmp_path / "w")]
    code, out, shown = on_a_terminal([*command, "index", str(corpus)])
    assert code == 0
    folder = tmp_path / "w" / "indexes" / "corpus.0001"
    assert out == f"20,000 documents over 2 terms: {folder}\n"
    bars = [bar for bar in shown.split("\r") if bar.startswith("index")]
    assert len(bars) > 2
    for bar in bars[:-1]:  # the last one wipes it away
        assert re.search(r"\d/s", bar), bar
        assert re.search(r"\[\d\d:\d\d<([\d:]+|\?)", bar), bar
    shares = [int(share) for share in re.findall(r"(\d+)%", shown)]
    assert len(re.findall(r"\d[\d,]* documents", shown)) == len(shares) > 2
    assert shares == sorted(shares)
    assert shares[0] < shares[-1] <= 100
    assert "\n" not in shown.strip()  # the bar leaves nothing behind

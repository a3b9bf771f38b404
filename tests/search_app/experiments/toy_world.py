"""Fourteen invented people who search a corpus of 130 documents; both are drawn from one seed.

Every query has a word that no other query and no document has, so that its text, and whose it is,
would be found wherever it is told.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from search_app.experiments.results.folder import MANIFEST

TOPICS = (
    "lion tiger zebra panda otter badger",
    "granite basalt marble quartz slate chalk",
    "coffee tea mocha sugar milk honey",
    "violin piano trumpet flute harp drum",
    "hammer saw chisel drill nail ladder",
    "hockey tennis golf cricket rugby polo",
)
EVERYWHERE = "river"  # nearly all documents have it, so that a query finds them
NEEDLE = "zqneedle"  # begins the word of a query
PERSON = "needle-person"  # begins a user's id
DOCUMENT = "needle-document"
PEOPLE, QUERIES, DOCUMENTS = 14, 20, 130


@dataclass(frozen=True)
class Asked:
    """A line of the log."""

    user: str
    query: str
    time: datetime


def documents() -> dict[str, str]:
    """Return texts by id; they differ in length, and some are alike."""
    chance, found = random.Random(1), {}  # noqa: S311
    words = [topic.split() for topic in TOPICS]
    for number in range(DOCUMENTS):
        mine = chance.choices(chance.choice(words), k=chance.randint(2, 7))
        others = chance.choices(chance.choice(words), k=chance.randint(0, 3))
        start = [EVERYWHERE] * (number % 8 > 0)
        found[f"{DOCUMENT}-{number}"] = " ".join(start + mine + others)
    return found


def log() -> list[Asked]:
    """Let everybody ask, in no order of people, mostly about two topics of theirs."""
    chance, found = random.Random(2), []  # noqa: S311
    words = [topic.split() for topic in TOPICS]
    time = datetime(2026, 3, 1, 8)
    likes = [chance.sample(words, 2) for _ in range(PEOPLE)]
    for number, person in enumerate([*range(PEOPLE)] * QUERIES):
        time += timedelta(minutes=chance.randint(30, 200))
        topic = chance.choice(words) if chance.random() < 0.2 else chance.choice(likes[person])
        query = f"{EVERYWHERE} {' '.join(chance.sample(topic, 2))} {NEEDLE}{_letters(number)}"
        found.append(Asked(f"{PERSON}-{person:02}", query, time))
    return found


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")


def write_corpus(path: Path) -> Path:
    records = ({"id": name, "text": text} for name, text in documents().items())
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def write_log(path: Path) -> Path:
    lines = [f"{a.user}\t{a.query}\t{a.time:%Y-%m-%d %H:%M:%S}\t\t\n" for a in log()]
    path.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(lines))
    return path


DEFINITION = """
name = "toy"
title = "A toy"
[inputs]
size = 8
users = 12
queries_per_user = 2
least_hits = 100
[defaults]
method = "p-linkability"
parameters = { p = 0.6 }
pools = [35, 60]
[[variant]]
name = "groups"
modes = ["group", "random-groups", "left-out"]
seeds = [0, 1]
[[variant]]
name = "baselines"
method = ""
parameters = {}
modes = ["none", "random", "average"]
pools = [60]
[[variant]]
name = "union"
parameters = { p = 0.7 }
vectors = "tf"
pools = [60]
"""


@dataclass(frozen=True)
class Place:
    """A workspace that has the corpus's index; log and definition lie beside it."""

    root: Path
    log: Path
    definition: Path

    def arguments(self, out: Path, *more: str, workers: int = 1) -> list[str]:
        """Return the arguments after --workspace ROOT."""
        where = ["--log", str(self.log), "-o", str(out), "--workers", str(workers)]
        return ["experiment", str(self.definition), *where, *more]


def place_in(room: Path) -> Place:
    """Write all but the index."""
    write_corpus(room / "corpus.jsonl")
    (room / "toy.toml").write_text(DEFINITION)
    return Place(room / "workspace", write_log(room / "log.tsv"), room / "toy.toml")


TIMED = {"provenance.json", "report.html", MANIFEST}  # they tell when it was, and how long it took


def bytes_of(out: Path) -> dict[str, bytes]:
    """Return all files of a run that the same command makes the same."""
    files = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name not in TIMED}


def told_in(content: bytes) -> list[str]:
    """List what must not be told: words of queries and documents, people and documents."""
    words = [NEEDLE, PERSON, DOCUMENT, EVERYWHERE]
    words += [word for topic in TOPICS for word in topic.split() if len(word) > 5]
    text = content.decode("utf-8", "replace").lower()
    return [word for word in words if word in text]

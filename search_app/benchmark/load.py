"""R13: 32 clients who search as people of groups, over 200,000 documents. [I/O]

The documents are invented from WordNet's words, drawn as words of texts are; the people are the
synthetic town's. Server and clients are processes of their own on this machine and share its
cores. Each request is a whole page, a new two-word query as another person; nothing is asked for
twice while it counts.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from anonymizer.profile_file import read_profiles
from anonymizer.wordnet import open_wordnet

from ..settings import load_settings
from ..workspace import Workspace
from .aol_shape import HEAD, zipf
from .bars import Measured
from .invented_people import town_over
from .plan import Place, Plan
from .processes import process, veilsearch
from .server import served

WORDS, TITLE = 120, 5  # of a document
VOCABULARY = 40_000
BLOCK = 10_000  # documents made at a time


class Answers(NamedTuple):
    """What the clients saw."""

    milliseconds: NDArray[np.float64]
    errors: int
    seconds: float


def measure(plan: Plan, place: Place) -> Measured:
    """Ask for a while that does not count, then for a while that does."""
    words = vocabulary()
    indexed = made_index(place.kept, words, plan.load.documents)
    town = town_over(indexed.find("index"), place, plan.people)
    users = read_profiles(town.find("profiles")).users
    with served(town) as port:
        asked = requests(words, users, plan)
        load(port, asked, plan.load.clients, plan.load.warm_up)
        answers = load(port, asked, plan.load.clients, plan.load.seconds)
    p50, p95, p99 = np.percentile(answers.milliseconds, (50, 95, 99)).tolist()
    return Measured(
        values={
            "load": answers.milliseconds.size / answers.seconds,
            "load p95": p95,
            "load errors": answers.errors,
        },
        facts={
            "milliseconds": {"p50": round(p50, 1), "p95": round(p95, 1), "p99": round(p99, 1)},
            "requests": int(answers.milliseconds.size),
            "pool": plan.pool,
            **vars(plan.load),
        },
    )


def vocabulary() -> list[str]:
    """Return so many of WordNet's single words, in an order that is always the same."""
    known = [term for term in open_wordnet(load_settings().cache).terms if term.isalpha()]
    order = np.random.default_rng(3).permutation(len(known))[:VOCABULARY]
    return [known[at] for at in order.tolist()]


def made_index(folder: Path, words: list[str], documents: int) -> Workspace:
    """Index so many invented documents, unless that was done before."""
    workspace = Workspace(folder / f"documents-{documents}")
    if not workspace.current().index:
        corpus = folder / "corpus.jsonl"
        with corpus.open("w", encoding="utf-8") as file:
            file.writelines(invented_documents(words, documents))
        process([*veilsearch(workspace.root), "index", str(corpus)])
        corpus.unlink()
    return workspace


def invented_documents(words: list[str], count: int) -> Iterator[str]:
    """Yield lines of JSON; how often words occur falls as in texts."""
    rng = np.random.default_rng(5)
    for first in range(0, count, BLOCK):
        many = min(BLOCK, count - first)
        drawn = zipf(len(words), HEAD, many * WORDS, rng).reshape(many, WORDS)
        for number, row in enumerate(drawn.tolist(), first):
            text = [words[at] for at in row]
            document = {"id": f"d{number}", "title": " ".join(text[:TITLE])}
            yield json.dumps({**document, "text": " ".join(text)}) + "\n"


def requests(words: list[str], users: tuple[str, ...], plan: Plan) -> Iterator[bytes]:
    """Yield requests of two-word queries from the words' middle, each as some person."""
    rng = np.random.default_rng(7)
    while True:
        one, other = rng.integers(20, 2000, 2).tolist()
        asked = {"q": f"{words[one]} {words[other]}", "pool": str(plan.pool)}
        if plan.load.mode != "none":
            user = users[int(rng.integers(len(users)))]
            asked |= {"user": user, "mode": plan.load.mode}
        yield f"GET /?{urlencode(asked)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def load(port: int, asked: Iterator[bytes], clients: int, seconds: float) -> Answers:
    """Ask from so many clients at a time, each as soon as it has its answer."""
    return asyncio.run(_load(port, asked, clients, seconds))


async def _load(port: int, asked: Iterator[bytes], clients: int, seconds: float) -> Answers:
    taken: list[float] = []
    errors = 0
    began = time.perf_counter()

    async def client() -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < began + seconds:
            start = time.perf_counter()
            writer.write(next(asked))
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(None, 1)[0])
            body = await reader.readexactly(length)
            taken.append(1000 * (time.perf_counter() - start))
            errors += not head.startswith(b"HTTP/1.1 200") or b"Personalization failed" in body
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(client() for _ in range(clients)))
    return Answers(np.array(taken), errors, time.perf_counter() - began)

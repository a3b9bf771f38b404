"""R3 and R13: whole pages over HTTP, by one client in turns, and by 32 at once. [I/O]

R13 searches 200,000 documents as people in groups. The documents are invented from WordNet's words,
whose frequencies fall as in texts; the people are the synthetic town's. Server and clients are
processes of their own on this machine and share its cores. Each request is a whole page, a new
two-word query by another person; none comes twice in the seconds that count.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from anonymizer.storage.profiles import read_profiles
from anonymizer.terms.wordnet import open_wordnet
from index.opening import open_forward
from search_app.settings import load_settings
from search_app.workspace.folder import Workspace

from ..bars import Measured
from ..inputs.aol import HEAD, zipf
from ..inputs.invented_people import invented_queries, town_over
from ..plan import Place, Plan
from ..processes import connected, fetch, process, served, veilsearch
from ..timing import QueryCalls, divided, milliseconds, timed_over

PARTS = {
    "page": ("personalized page", "plain page"),
    "comparison": ("comparison", "plain page"),
}
WORDS, TITLE = 120, 5  # words of a document, and of its title
VOCABULARY = 40_000
BLOCK = 10_000  # documents made at a time


class Answers(NamedTuple):
    """The times and errors that the clients saw."""

    milliseconds: NDArray[np.float64]
    errors: int
    seconds: float


def measure(plan: Plan, place: Place) -> Measured:
    """Time requests of one client to a server in another process (R3), as `plan` says."""
    index = Workspace(plan.workspace).find("index")
    town = town_over(index, place, plan.people)
    users = read_profiles(town.find("profiles")).users
    queries = invented_queries(open_forward(index).terms, plan.queries)
    with served(town) as port, connected(port) as connection:
        calls = pages(connection, users)
        taken = timed_over(queries, calls, plan.rounds, plan.page_warm_up)
    values, counts = divided(taken, PARTS)
    return Measured(values, milliseconds(taken), calls=counts)


def pages(connection: HTTPConnection, users: tuple[str, ...]) -> QueryCalls:
    """Return the calls that fetch whole pages by `connection`, each query as one of `users`."""

    def user(query: str) -> str:
        return users[sum(query.encode()) % len(users)]

    return {
        "plain page": lambda query: fetch(connection, "/", q=query),
        "personalized page": lambda query: fetch(
            connection, "/", q=query, user=user(query), mode="group"
        ),
        "comparison": lambda query: fetch(connection, "/compare", q=query, user=user(query)),
    }


def measure_load(plan: Plan, place: Place) -> Measured:
    """Request pages as `plan` says, first for a time that does not count (R13)."""
    words = vocabulary()
    indexed = made_index(place.kept, words, plan.load.documents)
    town = town_over(indexed.find("index"), place, plan.people)
    users = read_profiles(town.find("profiles")).users
    with served(town) as port:
        waiting = requests(words, users, plan)
        load(port, waiting, plan.load.clients, plan.load.warm_up)
        answers = load(port, waiting, plan.load.clients, plan.load.seconds)
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
    """Return `VOCABULARY` single words of WordNet, in an order that is always the same."""
    known = [term for term in open_wordnet(load_settings().cache).terms if term.isalpha()]
    order = np.random.default_rng(3).permutation(len(known))[:VOCABULARY]
    return [known[at] for at in order.tolist()]


def made_index(folder: Path, words: list[str], documents: int) -> Workspace:
    """Return a workspace in `folder` with an index of invented `documents`, built at first use."""
    workspace = Workspace(folder / f"documents-{documents}")
    if not workspace.current().index:
        corpus = folder / "corpus.jsonl"
        with corpus.open("w", encoding="utf-8") as file:
            file.writelines(invented_documents(words, documents))
        process([*veilsearch(workspace.root), "index", str(corpus)])
        corpus.unlink()
    return workspace


def invented_documents(words: list[str], count: int) -> Iterator[str]:
    """Yield `count` documents as JSON lines; the frequencies of `words` fall as in texts."""
    rng = np.random.default_rng(5)
    for first in range(0, count, BLOCK):
        size = min(BLOCK, count - first)
        drawn = zipf(len(words), HEAD, size * WORDS, rng).reshape(size, WORDS)
        for number, row in enumerate(drawn.tolist(), first):
            text = [words[at] for at in row]
            document = {"id": f"d{number}", "title": " ".join(text[:TITLE])}
            yield json.dumps({**document, "text": " ".join(text)}) + "\n"


def requests(words: list[str], users: tuple[str, ...], plan: Plan) -> Iterator[bytes]:
    """Yield requests of two of `words` that are neither rare nor frequent, as random `users`."""
    rng = np.random.default_rng(7)
    while True:
        one, other = rng.integers(20, 2000, 2).tolist()
        parameters = {"q": f"{words[one]} {words[other]}", "pool": str(plan.pool)}
        if plan.load.mode != "none":
            user = users[int(rng.integers(len(users)))]
            parameters |= {"user": user, "mode": plan.load.mode}
        yield f"GET /?{urlencode(parameters)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def load(port: int, waiting: Iterator[bytes], clients: int, seconds: float) -> Answers:
    """Return the answers to `waiting` requests of `clients`, each sent after the answer before."""
    return asyncio.run(_load(port, waiting, clients, seconds))


async def _load(port: int, waiting: Iterator[bytes], clients: int, seconds: float) -> Answers:
    taken: list[float] = []
    errors = 0
    began = time.perf_counter()

    async def client() -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < began + seconds:
            start = time.perf_counter()
            writer.write(next(waiting))
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(None, 1)[0])
            body = await reader.readexactly(length)
            taken.append(1000 * (time.perf_counter() - start))
            errors += not head.startswith(b"HTTP/1.1 200") or b"Personalization failed" in body
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(client() for _ in range(clients)))
    return Answers(np.array(taken), errors, time.perf_counter() - began)

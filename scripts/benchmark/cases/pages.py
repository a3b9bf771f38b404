"""R3 and R13: whole pages over HTTP, asked for by one client in turns, and by 32 at once. [I/O]

R3 counts what the processor does in the server's process, so that a busy machine matters less. R13
searches 200,000 documents as people in groups. Documents are invented from WordNet's words, whose
frequencies fall as in texts; people are the demo's. Server and clients are processes of
their own on this machine and share its cores. Each request is a whole page, a new two-word query by
another person; none comes twice in the seconds that count.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
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
from ..inputs.invented_people import invented_queries
from ..plan import Place, Plan
from ..processes import Server, connected, fetch, process, served, serving, veilsearch
from ..timing import Times, divided, milliseconds, times_of
from .starting import demo_of

BARE = "bare"
KINDS = ("plain", "personalized", "compare")
SHORT, LONG = 120, 350  # words of a document of R13; of R3, as in 54,864 texts of Wikipedia
TITLE = 5  # words
VOCABULARY = 40_000
BLOCK = 10_000  # documents made at a time


class Answers(NamedTuple):
    """The times and errors that the clients saw."""

    milliseconds: NDArray[np.float64]
    errors: int
    seconds: float


class Page(NamedTuple):
    """A kind of page: who serves it, and how it is asked for."""

    server: Server
    ask: Callable[[str], object]


def measure(plan: Plan, place: Place) -> Measured:
    """Measure what the processor does for pages of one client (R3), as `plan` says."""
    index = made_index(place.kept, plan.documents, LONG)
    people, users = people_over(index, plan, place)
    queries = invented_queries(open_forward(index).terms, plan.queries)
    with ExitStack() as open_:
        ours = open_.enter_context(served(people))
        bare = open_.enter_context(serving([sys.executable, "-m", f"{__package__}.bare_page"]))
        kinds = {**pages(ours, users, open_), BARE: _bare(bare, open_)}
        taken = computed_over(queries, kinds, plan.rounds, plan.page_warm_up)
    parts = {f"{name} / {BARE}": (name, BARE) for name in kinds if name != BARE}
    values, counts = divided(taken, parts)
    for name in kinds.keys() - {BARE}:
        values[name], counts[name] = 1000 * taken[name].median, taken[name].calls
    return Measured(values, milliseconds(taken), calls=counts)


def pages(server: Server, users: Sequence[str], open_: ExitStack) -> dict[str, Page]:
    """Return the pages of `server`, each query as one of `users`; `open_` closes the connection."""
    connection = open_.enter_context(connected(server.port))

    def user(query: str) -> str:
        return users[sum(query.encode()) % len(users)]

    def personalized(query: str) -> object:
        return fetch(connection, "/", q=query, user=user(query), mode="group")

    def compare(query: str) -> object:
        return fetch(connection, "/compare", q=query, user=user(query))

    return {
        "plain": Page(server, lambda query: fetch(connection, "/", q=query)),
        "personalized": Page(server, personalized),
        "compare": Page(server, compare),
    }


def _bare(server: Server, open_: ExitStack) -> Page:
    connection = open_.enter_context(connected(server.port))
    return Page(server, lambda query: fetch(connection, "/", q=query))


def computed_over(
    queries: Sequence[str], kinds: dict[str, Page], rounds: int, warm_up: int
) -> dict[str, Times]:
    """Return what servers compute for a page of each of `kinds`, over all `queries` in a round."""
    # A batch of one kind after the other: the servers' work after an answer is counted, too.
    taken: dict[str, list[float]] = {name: [] for name in kinds}
    for number in range(-warm_up, rounds):
        for name, page in kinds.items():
            began = page.server.computed()
            for query in queries:
                page.ask(query)
            if number >= 0:
                taken[name].append((page.server.computed() - began) / len(queries))
    return {name: times_of(seconds) for name, seconds in taken.items()}


def measure_load(plan: Plan, place: Place) -> Measured:
    """Request pages as `plan` says, first for a time that does not count (R13)."""
    index = made_index(place.kept, plan.load.documents, SHORT)
    people, users = people_over(index, plan, place)
    with served(people) as server:
        waiting = requests(vocabulary(), users, plan.pool)
        load(server.port, waiting, plan.load.clients, plan.load.warm_up)
        answers = load(server.port, waiting, plan.load.clients, plan.load.seconds)
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


def people_over(index: Path, plan: Plan, place: Place) -> tuple[Workspace, tuple[str, ...]]:
    """Return a workspace in `place` with the people of the demo of `plan` and `index`; the people.

    Pages let a visitor choose invented people only.
    """
    demo = demo_of(plan, place)
    current, people = (
        demo.current(),
        Workspace(place.temporary / f"people over {index.parent.name}"),
    )
    found = {kind: str(demo.find(kind).resolve()) for kind in ("profiles", "release")}
    truth = str((demo.root / current.truth).resolve())
    people.make_current(
        index=str(index.resolve()), truth=truth, log_sha256=current.log_sha256, **found
    )
    return people, read_profiles(demo.find("profiles")).users


def made_index(folder: Path, documents: int, words: int) -> Path:
    """Return an index in `folder` of invented `documents` with as many `words`, built once."""
    workspace = Workspace(folder / f"documents-{documents}-{words}")
    if not workspace.current().index:
        corpus = folder / "corpus.jsonl"
        with corpus.open("w", encoding="utf-8") as file:
            file.writelines(invented_documents(vocabulary(), documents, words))
        process([*veilsearch(workspace.root), "index", str(corpus)])
        corpus.unlink()
    return workspace.find("index")


def invented_documents(known: list[str], count: int, words: int) -> Iterator[str]:
    """Yield `count` documents of `words` each as JSON lines; those `known` fall as in texts."""
    rng = np.random.default_rng(5)
    for first in range(0, count, BLOCK):
        size = min(BLOCK, count - first)
        drawn = zipf(len(known), HEAD, size * words, rng).reshape(size, words)
        for number, row in enumerate(drawn.tolist(), first):
            text = [known[at] for at in row]
            document = {"id": f"d{number}", "title": " ".join(text[:TITLE])}
            yield json.dumps({**document, "text": " ".join(text)}) + "\n"


def requests(words: list[str], users: Sequence[str], pool: int) -> Iterator[bytes]:
    """Yield requests of two of `words` that are neither rare nor frequent, as random `users`."""
    rng = np.random.default_rng(7)
    while True:
        one, other = rng.integers(20, 2000, 2).tolist()
        parameters = {"q": f"{words[one]} {words[other]}", "pool": str(pool), "mode": "group"}
        parameters["user"] = users[int(rng.integers(len(users)))]
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

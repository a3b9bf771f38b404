"""R13 of the bars: 32 clients who search as people of groups, over 200,000 documents, as JSON.

The documents are invented from WordNet's words, drawn as words of texts are; the people are the
synthetic town's. Server and clients are processes of their own on this machine and share its
cores. Each request is a whole page, a new two-word query as another person; nothing is asked for
twice while it counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from aol_shape import HEAD, zipf
from bench import make_town, served, veilsearch
from numpy.typing import NDArray

from anonymizer.profile_file import read_profiles
from anonymizer.wordnet import open_wordnet
from search_app.settings import load_settings
from search_app.workspace import Workspace

WORDS, TITLE = 120, 5  # of a document
VOCABULARY = 40_000
BLOCK = 10_000  # documents made at a time
BAR = "at least 200 requests/s, p95 at most 200 ms, 0 errors"


class Load(NamedTuple):
    """What the clients saw."""

    milliseconds: NDArray[np.float64]
    errors: int
    seconds: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--pool", type=int, default=1000)
    parser.add_argument("--mode", default="group", choices=("none", "own", "group"))
    parser.add_argument("--warm-up", type=float, default=20, metavar="SECONDS")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--folder", type=Path, help="where corpus and index are kept")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="veilsearch-load.") as temporary:
        folder = given.folder or Path(temporary)
        words = vocabulary()
        indexed = made_index(folder, words, given.documents)
        town = make_town(Path(temporary), indexed.find("index"))
        users = read_profiles(town.find("profiles")).users
        with served(town) as port:
            asked = requests(words, users, given)
            load(port, asked, given.clients, given.warm_up)
            measured = load(port, asked, given.clients, given.seconds)
    print(json.dumps({**report(measured), **told(given)}, indent=1))


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
        command = [*veilsearch(workspace), "index", str(corpus)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 our own
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


def requests(
    words: list[str], users: tuple[str, ...], given: argparse.Namespace
) -> Iterator[bytes]:
    """Yield requests of two-word queries from the words' middle, each as some person."""
    rng = np.random.default_rng(7)
    while True:
        one, other = rng.integers(20, 2000, 2).tolist()
        asked = {"q": f"{words[one]} {words[other]}", "pool": str(given.pool)}
        if given.mode != "none":
            user = users[int(rng.integers(len(users)))]
            asked |= {"user": user, "mode": given.mode}
        yield f"GET /?{urlencode(asked)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def load(port: int, asked: Iterator[bytes], clients: int, seconds: float) -> Load:
    """Ask from so many clients at a time, each as soon as it has its answer."""
    return asyncio.run(_load(port, asked, clients, seconds))


async def _load(port: int, asked: Iterator[bytes], clients: int, seconds: float) -> Load:
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
    return Load(np.array(taken), errors, time.perf_counter() - began)


def report(measured: Load) -> dict[str, object]:
    """Return what the bar asks for."""
    p50, p95, p99 = np.percentile(measured.milliseconds, (50, 95, 99)).round(1).tolist()
    return {
        "R13 requests a second": round(measured.milliseconds.size / measured.seconds, 1),
        "milliseconds": {"p50": p50, "p95": p95, "p99": p99},
        "requests": int(measured.milliseconds.size),
        "errors": measured.errors,
        "bar": BAR,
    }


def told(given: argparse.Namespace) -> dict[str, object]:
    """Return what was asked for, and where."""
    names = ("documents", "clients", "pool", "mode", "seconds")
    chosen = {name: getattr(given, name) for name in names}
    packages = {name: version(name) for name in ("veilsearch", "flask", "waitress", "pyserini")}
    return {**chosen, "python": platform.python_version(), **packages, "cores": os.cpu_count()}


if __name__ == "__main__":
    main()

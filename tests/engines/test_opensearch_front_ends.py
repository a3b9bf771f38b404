"""Two servers over one cluster behind a proxy: one answer, and a new fill is seen by both."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..attacks.watching import NOISE
from .opensearch import Cluster, until
from .twins import Place, on_cluster
from .wire import wire

ROOT = Path(__file__).parents[2]
SERVING = re.compile(r"Serving (http://127\.0\.0\.1:\d+)/ ")
WORDS = ("java", "coffee", "mercury", "piano")


def documents(version: int) -> list[dict[str, str]]:
    """Return documents that name their `version`, with the words in other numbers each."""
    return [
        {
            "id": f"d{at}",
            "title": f"Title v{version}",
            "text": " ".join(word for of, word in enumerate(WORDS) for _ in range(at % (of + 2))),
        }
        for at in range(40)
    ]


def read(url: str) -> str:
    """Return what is at `url`, without how long it took."""
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310
        return NOISE.sub("", answer.read().decode())


@contextmanager
def serving(place: Place) -> Iterator[str]:
    """Give the URL of a server of `place`, in a process of its own."""
    command = [sys.executable, "-m", "search_app", "--workspace", str(place.root)]
    file = place.root.with_name(f"{place.root.name}.log")
    with file.open("wb") as log:
        process = subprocess.Popen(
            [*command, "serve", "--port", "0"], stderr=log, stdout=log, cwd=ROOT, env={**os.environ}
        )
    try:
        until(lambda: process.poll() is not None or SERVING.search(file.read_text()), "no server")
        assert process.poll() is None, file.read_text()
        found = SERVING.search(file.read_text())
        assert found
        yield found[1]
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, file.read_text()
    finally:
        process.kill()
        process.wait()


def test_both_answer_the_same_bytes_and_both_see_a_new_fill(
    opensearch: Cluster, tmp_path: Path, worker_id: str
) -> None:
    name = f"front-ends-{worker_id}"
    first = on_cluster(tmp_path / "first", opensearch, name)
    assert first.index(documents(1)) == 0
    log = tmp_path / "town.tsv"
    for words in (
        ["town", "-o", log, "--users", 6, "--queries", 20],
        ["profiles", log],
        ["anonymize"],
    ):
        assert first.call(*words, *(["--set", "p=0.9"] if words == ["anonymize"] else [])) == 0
    lines = (first.root / "profiles.jsonl").read_text().splitlines()
    people = sorted(json.loads(line)["user"] for line in lines)
    second = Place(Path(shutil.copytree(first.root, tmp_path / "second")))
    # This one has never had the forward index: the cluster gives it.
    shutil.rmtree(second.root / "indexes")
    assert second.call("index", "--from-cluster") == 0
    paths = [f"/?q={word}" for word in WORDS]
    for user in people[:2]:
        paths += [
            f"/api/v1/search?q={WORDS[0]}&user={user}&mode={mode}" for mode in ("own", "group")
        ]
        paths.append(f"/?q={WORDS[1]}&user={user}&mode=group")

    def same(proxy: str) -> list[str]:
        """Return each page, which two servers one after the other gave."""
        pages = [[read(proxy + path) for _ in range(2)] for path in paths]
        assert [one for one, _ in pages] == [other for _, other in pages]
        return [one for one, _ in pages]

    try:
        with ExitStack() as stack:
            servers = [stack.enter_context(serving(place)) for place in (first, second)]
            proxy = stack.enter_context(wire(servers))
            assert all("Title v1" in page for page in same(proxy))
            assert first.index(documents(2), "--add") == 0

            def seen() -> bool:
                return all("Title v2" in read(server + paths[0]) for server in servers)

            until(seen, "a server does not follow")
            assert not any("Title v1" in page for page in same(proxy))
    finally:
        opensearch.call("DELETE", f"/{name}*")

"""Two workspaces of one corpus: one searched by Lucene here, one by the OpenSearch nodes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from index.model import Index, Pool
from search_app.cli import run
from search_app.settings import Settings, load_settings
from search_app.workspace.folder import Workspace
from search_app.workspace.opening import open_by

from .opensearch import Cluster

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("nd", "st", "rk", "lm")]


def drawn(count: int, seed: int = 0, first: int = 0) -> list[dict[str, str]]:
    """Return `count` documents of drawn words, the frequent ones far more often than the rare."""
    rng = random.Random(seed)  # noqa: S311
    weights = [1 / at for at in range(1, len(WORDS) + 1)]
    return [
        {
            "id": f"d{first + at}",
            "title": " ".join(rng.choices(WORDS, weights, k=2)),
            "text": " ".join(rng.choices(WORDS, weights, k=rng.randrange(5, 40))),
        }
        for at in range(count)
    ]


def queries(count: int, seed: int = 0) -> list[str]:
    """Return `count` queries of one to three words."""
    rng = random.Random(seed)  # noqa: S311
    return [" ".join(rng.sample(WORDS, rng.randrange(1, 4))) for _ in range(count)]


@dataclass(frozen=True)
class Place:
    """A workspace, and its verbs."""

    root: Path

    def call(self, *words: object) -> int:
        """Return the exit code of the verb that `words` name."""
        return run(["--workspace", str(self.root), *map(str, words)])

    def index(self, documents: Iterable[dict[str, str]], *options: str) -> int:
        """Return the exit code of `index` for `documents` with `options`."""
        file = self.root.with_name("corpus.jsonl")
        file.write_text("".join(f"{json.dumps(one)}\n" for one in documents))
        return self.call("index", file, *options)

    @property
    def workspace(self) -> Workspace:
        """Return the workspace."""
        return Workspace(self.root)

    @property
    def settings(self) -> Settings:
        """Return its settings."""
        return load_settings(self.root)

    def open(self) -> Index:
        """Return its current index, opened as `search` opens it."""
        return open_by(self.workspace.find("index"), self.settings)[0]


def on_cluster(root: Path, cluster: Cluster, index: str, **more: Any) -> Place:
    """Return a new workspace in `root`, whose `index` is on `cluster`."""
    search = {"backend": "opensearch", "hosts": cluster.hosts, "index": index} | more
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in search.items())
    root.mkdir(parents=True)
    (root / "veilsearch.toml").write_text("[search]\n" + "".join(lines))
    return Place(root)


def answer(pool: Pool) -> tuple[list[int], bytes]:
    """Return the rows of `pool` and the bits of its scores."""
    return pool.rows.tolist(), pool.scores.tobytes()

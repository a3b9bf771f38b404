"""A workspace of six people for verbs that judge searches."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from ..conftest import Run, call, jsonl

PEOPLE = tuple(f"needle-{name}" for name in ("mira", "oren", "ada", "noa", "emil", "ida"))
THEMES = (
    "coffee espresso bean cup milk",
    "compiler program function variable loop",
    "volcano lava ash crater mountain",
    "kitten cat whisker paw tail",
    "violin cello concert orchestra opera",
    "bicycle wheel chain brake saddle",
)


@pytest.fixture(scope="session")
def six_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a workspace of six people, two of them of one mind, and 90 documents on java."""
    folder = tmp_path_factory.mktemp("six people")
    root, log, draw = folder / "workspace", folder / "log.tsv", np.random.default_rng(0)
    words = [theme.split() for theme in THEMES]
    texts = [" ".join(draw.choice(" ".join(THEMES).split(), 9, replace=False)) for _ in range(90)]
    documents = ({"id": f"d{at}", "text": f"java {text}"} for at, text in enumerate(texts))
    call(root, "index", jsonl(folder / "corpus.jsonl", documents))
    asked = [
        (person, f"java {word}" if late else word)
        for late in (False, True)
        for at, person in enumerate(PEOPLE)
        for word in (words[at % 5][:3] if late else [*words[at % 5], *words[(at + 2) % 6][:3]])
    ]
    lines = [
        f"{person}\t{query}\t2026-03-01 {at // 60:02}:{at % 60:02}:00\t\t\n"
        for at, (person, query) in enumerate(asked)
    ]
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(lines))
    call(root, "profiles", log, "--test-share", "0.3")
    call(root, "anonymize", "--set", "p=0.9")
    return root


@pytest.fixture
def veilsearch(six_people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(shutil.copytree(six_people, tmp_path / "workspace"), capsys)

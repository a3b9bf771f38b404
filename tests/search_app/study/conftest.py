"""The sample of a study, its store, and people who take part in it without a workspace."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from anonymizer.model import Profiles
from search_app.settings import Settings
from search_app.study.design import Study, read_study
from search_app.study.sample import write_sample
from search_app.study.simulation import Rank, play
from search_app.study.store import FILE, StudyStore
from search_app.workspace.folder import Workspace

from ..conftest import serve_release
from ..toy_index import released

NOW = 1_900_000_000
POOL = [f"d{number}" for number in range(40)]
Edit = tuple[str, str]
BETWEEN: tuple[Edit, ...] = (
    ('design = "within"', 'design = "between"'),
    *((f'kind = "{kind}"', 'kind = "rate"') for kind in ("side-by-side", "interleaved", "choose")),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of the sample."""
    write_sample(tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def changed(folder: Path) -> Callable[..., Study]:
    """Return what replaces texts in the sample's file and reads it."""

    def change(*edits: Edit) -> Study:
        path = folder / "study.toml"
        text = path.read_text()
        for old, new in edits:
            assert old in text
            text = text.replace(old, new)
        path.write_text(text)
        return read_study(folder)

    return change


@pytest.fixture
def study(folder: Path) -> Study:
    return read_study(folder)


@pytest.fixture
def store(folder: Path) -> Iterator[StudyStore]:
    with closing(StudyStore(folder / FILE)) as opened:
        yield opened


@pytest.fixture
def workspace(tmp_path: Path, paper: Profiles) -> Settings:
    """Return the settings of a workspace with a release, and an index that nobody opens."""
    rows = Profiles.from_rows({"g0001": {"java": 1.0}})
    parameters = {"p": 0.5, "augment": "none"}
    release = released(rows, dict.fromkeys(paper.users, 0), "p-linkability", parameters)
    serve_release(tmp_path / "workspace", paper, release)
    (tmp_path / "workspace" / "indexes" / "corpus.0001").mkdir(parents=True)
    Workspace(tmp_path / "workspace").make_current(index="indexes/corpus.0001")
    return Settings(workspace=tmp_path / "workspace")


def ranks(conditions: Sequence[str]) -> Callable[[np.random.Generator], tuple[str, Rank]]:
    """Return what draws a person whose rankings are random orders of one pool."""

    def draw(rng: np.random.Generator) -> tuple[str, Rank]:
        return "", lambda _query: {one: rng.permutation(POOL).tolist() for one in conditions}

    return draw


def played(study: Study, store: StudyStore, people: int, effect: float = 0.6) -> None:
    """Let `people` take part."""
    rng = np.random.default_rng(4)
    assert play(study, store, people, ranks(study.conditions), rng, NOW, effect) == people


def rows_of(path: Path) -> list[Mapping[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))

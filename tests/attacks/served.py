"""A private server of a small world: its people leave and edit by pages, its operator by verbs."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from anonymizer.model import Profiles, stacked
from anonymizer.storage.profiles import fingerprint, read_profiles, write_profiles
from anonymizer.terms.wordnet import WordNet
from search_app.accounts import codes
from search_app.server.opening import Serving
from search_app.settings import load_settings
from search_app.tasks import releasing
from search_app.tasks.adding import follow_profiles
from search_app.web import Live, create_app
from search_app.workspace.folder import Workspace
from search_app.workspace.ledger import note_made
from search_app.workspace.replacing import Replacement

from ..search_app.conftest import call, jsonl
from ..search_app.forgetting.test_leaving import METHODS, SAMPLE, TERM, WORDS, World, people
from .watching import Get

__all__ = ["METHODS", "TERM", "WORDS", "Served", "build_index", "served", "texts"]
DOCUMENTS = 60


def texts() -> dict[str, str]:
    """Return the public corpus: documents of "java" and three words each, by their ids."""
    chance = random.Random(1)  # noqa: S311
    return {f"d{at}": " ".join(["java", *chance.sample(WORDS, 3)]) for at in range(DOCUMENTS)}


def build_index(folder: Path) -> Path:
    """Build an index of the corpus in the new workspace `folder`."""
    documents = [{"id": name, "title": "", "text": text} for name, text in texts().items()]
    folder.mkdir()
    call(folder, "index", jsonl(folder / "corpus.jsonl", documents))
    return folder


class Served:
    """A world whose pages people read over HTTP."""

    def __init__(self, world: World, live: Live, follow: Callable[[], object]) -> None:
        self.world, self.live = world, live
        self.follow = follow  # serves what the workspace has now
        self._app = create_app(live)
        self._clients: dict[str, FlaskClient] = {}
        self._came = 0

    def client(self, user: str) -> FlaskClient:
        """Return a client in which `user` has signed in."""
        if user not in self._clients:
            client = self._app.test_client()
            code = self.live.now.store.new_code(user)
            assert client.post("/sign-in", data={"code": code}).status_code == 303
            self._clients[user] = client
        return self._clients[user]

    def get(self, user: str) -> Get:
        """Return what reads a path as `user`."""

        def read(path: str) -> tuple[int, str]:
            with self.client(user).get(path) as answer:
                return answer.status_code, answer.text

        return read

    def does(self, user: str, path: str, **form: object) -> str:
        """Send `form` to `path` as `user`; return where the answer leads."""
        with self.client(user).post(path, data={"confirm": "yes", **form}) as answer:
            assert answer.status_code == 303, answer.text
            return answer.headers["Location"]

    def come(self, count: int) -> None:
        """Add profiles of `count` people who have none."""
        coming, first = people(count, self.world.chance), 1000 * (1 + self._came)
        self._came += 1
        self.join({f"person-{first + at}": row for at, row in enumerate(coming.values())})

    def join(self, rows: dict[str, dict[str, float]]) -> None:
        """Add the profiles `rows`, as `profiles --add` does."""
        path, workspace = self.world.profiles, self.world.workspace
        known = read_profiles(path)
        everybody = stacked([known, Profiles.from_rows(rows)])
        with Replacement(workspace) as replacement:
            write_profiles(everybody, replacement.place(path))
            was, now = fingerprint(known), fingerprint(everybody)
            follow_profiles(workspace, was, now, replacement)
            replacement.carry_out()

    def names(self) -> tuple[str, ...]:
        """Return the names of the rows there are; none without a release."""
        return tuple(json.loads(line)["row"] for line in self.rows())

    def rows(self) -> list[bytes]:
        """Return the lines of all rows, cohort by cohort."""
        return [line for folder in self.cohorts() for line in self.world.rows(folder)]

    def members(self) -> dict[str, str]:
        """Return who stands in which row."""
        named = [self.world.members(folder).items() for folder in self.cohorts()]
        members = dict(item for items in named for item in items)
        assert len(members) == sum(map(len, named)), "somebody stands in two cohorts"
        return members

    def cohorts(self) -> list[Path]:
        """Return the folders of all cohorts."""
        first = self.world.release
        return [*([first] if first.exists() else []), *sorted(first.glob("cohorts/*"))]


@contextmanager
def served(
    place: Path,
    index: Path,
    wordnet: WordNet,
    method: str,
    count: int,
    seed: int = 1,
    **further: object,
) -> Iterator[Served]:
    """Serve `count` people in groups by `method` in the new folder `place`; nothing is published.

    `index` is a workspace with the index, `further` are settings.
    """
    place.mkdir()
    world = World(place / "w", method, wordnet, count, seed, publish=False)
    note_made(world.workspace, world.release)
    shutil.copytree(index / "indexes", world.root / "indexes")
    Workspace(world.root).make_current(index=Workspace(index).current().index)
    chosen = {"access": "private", "admin_token": "t" * 40, "rate": 0.0, "pool": DOCUMENTS}
    settings = replace(load_settings(world.root, {}), **chosen, **further)  # type: ignore[arg-type]
    serving = Serving(settings, lambda _text: None)
    live = Live(serving.open())

    def follow() -> None:
        live.switch(serving.open())
        live.close_unused()

    serving.follow = follow
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "_COST", 16)  # quickly
        patch.setattr(releasing, "_forward", lambda _settings: None)
        patch.setattr(releasing, "sample_documents", lambda *_: SAMPLE)
        yield Served(world, live, follow)
    live.now.close()
    shutil.rmtree(place)

"""Two `serve` processes over one workspace and one people store, killed while people use them."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles
from search_app.accounts.database import place_of_people
from search_app.accounts.store import PeopleStore
from search_app.evaluation.log import PrecisionLog, place_of_log
from search_app.forgetting import needles
from search_app.settings import Settings, load_settings
from search_app.web.views.answering import NOT_REMEMBERED
from search_app.workspace.folder import Workspace

from ..search_app.conftest import call, jsonl, serve_release
from .postgres import Cluster, cluster, missing

ROOT = Path(__file__).parents[2]
PEOPLE, KNOWN, AT_ONCE = 100, 30, 8  # all, those with a profile, and those who ask at a time
TOKEN = "the-operator-s-token-of-this-workspace"  # noqa: S105
_SERVING = re.compile(r"Serving http://127\.0\.0\.1:(\d+)/")
_STARTED = 600  # seconds to wait for a server that is starting


class FrontEnd:
    """A `serve` process that can be killed and started again."""

    def __init__(self, root: Path, environment: dict[str, str], name: str):
        self._command = [sys.executable, "-m", "search_app", "--workspace", str(root), "serve"]
        self._environment, self._said = environment, root.with_name(f"said by {name}")
        self.start()

    def start(self) -> None:
        said = self._said.open("wb")
        self.process = subprocess.Popen(
            [*self._command, "--port", "0"], stderr=said, cwd=ROOT, env=self._environment
        )
        said.close()
        self.port = 0

    def ready(self) -> None:
        until = time.monotonic() + _STARTED
        while not (here := _SERVING.search(self.said())):
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < until, self.said()
            time.sleep(0.05)
        self.port = int(here[1])

    def said(self) -> str:
        return self._said.read_text()

    def kill(self) -> None:
        self.port = 0
        self.process.kill()
        self.process.wait()

    def ask(self, method: str, path: str, cookie: str = "", **form: str) -> tuple[int, Any, str]:
        """Return status, body and the cookie that is set; OSError: the server was killed."""
        if not self.port:
            time.sleep(0.1)
            raise ConnectionRefusedError
        asking = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with closing(asking):
            kind = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
            sent = {"Cookie": f"veilsearch={cookie}"} if cookie else {}
            asking.request(method, path, urlencode(form) or None, {**kind, **sent})
            answer = asking.getresponse()
            text = answer.read().decode()
            given = re.search(r"veilsearch=([^;]+)", answer.headers.get("Set-Cookie", ""))
        body = json.loads(text) if answer.headers.get_content_subtype() == "json" else text
        return answer.status, body, given[1] if given else ""


class World(NamedTuple):
    """The workspace, its two front ends and everybody's code."""

    settings: Settings
    ends: tuple[FrontEnd, FrontEnd]
    codes: dict[str, str]
    database: Cluster | None

    def ask(self, first: int, method: str, path: str, *more: str, **form: str) -> Any:
        """Return the answer of the `first` front end, or of the other; who is refused retries."""
        for turn in range(600):
            try:
                status, body, cookie = self.ends[(first + turn) % 2].ask(
                    method, path, *more, **form
                )
            except (OSError, http.client.HTTPException):
                continue  # it was killed: nothing was acknowledged
            if status != 503:  # a workspace or a store that is in use
                return status, body, cookie
            time.sleep(0.05)
        raise AssertionError(f"{method} {path}: never answered")


def documents() -> Iterator[dict[str, str]]:
    for at in range(20):
        yield {"id": f"d{at}", "title": f"word{at}", "text": f"java word{at} shared{at % 5}"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace whose people share words by threes, and have one of their own each."""
    folder = tmp_path_factory.mktemp("front ends")
    root = folder / "built"
    call(root, "index", jsonl(folder / "corpus.jsonl", documents()))
    rows = {name_of(n): {f"shared{n // 3}": 1.0, own_of(n): 1.0} for n in range(KNOWN)}
    people = Profiles.from_rows(rows)
    release = anonymize("p-linkability", Inputs(people), {"p": 0.4, "augment": "none"})
    index = Workspace(root).current().index
    serve_release(root, people, release)
    assert Workspace(root).current().index == index
    return root


def name_of(number: int) -> str:
    return f"needle-{number:03}-person"


def own_of(number: int) -> str:
    return f"only{number:03}"


@pytest.fixture(params=["sqlite", "postgresql"])
def world(request: pytest.FixtureRequest, built: Path, tmp_path: Path) -> Iterator[World]:
    import shutil

    if request.param == "sqlite":
        yield from worlds(Path(shutil.copytree(built, tmp_path / "workspace")), None)
        return
    if missing():
        pytest.skip(missing())
    with cluster() as database:
        yield from worlds(Path(shutil.copytree(built, tmp_path / "workspace")), database)


def worlds(root: Path, database: Cluster | None) -> Iterator[World]:
    kind = "postgresql" if database else "sqlite"
    text = f'access = "private"\nrate = 0\ndeadline = 60\nstore = "{kind}"\nranking = "cosine"\n'
    (root / "veilsearch.toml").write_text(text)
    own = {"VEILSEARCH_ADMIN_TOKEN": TOKEN}
    own |= {"VEILSEARCH_POSTGRESQL": database.address} if database else {}
    settings = load_settings(root, {**os.environ, **own})
    with closing(PeopleStore(place_of_people(root, settings))) as store:
        codes = store.new_codes([name_of(n) for n in range(PEOPLE)])
    with pytest.MonkeyPatch.context() as patch:
        for name, value in own.items():
            patch.setenv(name, value)
        one, other = (FrontEnd(root, {**os.environ}, name) for name in "ab")
        try:
            one.ready()
            other.ready()
            yield World(settings, (one, other), codes, database)
        finally:
            one.kill()
            other.kill()


def live(world: World, number: int) -> list[str]:
    """Sign a person in at one front end, and go on at the other; return what was wrong."""
    draw, user = random.Random(number), name_of(number)  # noqa: S311
    wrong, own = [], {own_of(number), f"shared{number // 3}"} if number < KNOWN else set()
    here = draw.randrange(2)
    status, _, cookie = world.ask(here, "POST", "/sign-in", code=world.codes[user])
    if status != 303 or not cookie:
        return [f"{user}: sign-in {status}"]
    _, profile, _ = world.ask(1 - here, "GET", "/api/v1/profile", cookie)
    if {term["term"] for term in profile["terms"]} - own:
        wrong.append(f"{user} is shown terms of another")
    status, _, _ = world.ask(here, "POST", "/me/remember", cookie, remember="1")
    status, page, _ = world.ask(1 - here, "GET", f"/?q=java+word{number % 20}", cookie)
    if status != 200:
        wrong.append(f"{user}: search {status}")
    _, kept, _ = world.ask(here, "GET", "/me/download", cookie)
    # A page whose store is lost just then says that the search is not kept.
    owed = NOT_REMEMBERED not in page
    if owed and f"java word{number % 20}" not in [one["query"] for one in kept["searches"]]:
        wrong.append(f"{user}: a search that was answered is not kept")
    if number % 5 == 0:
        status, _, _ = world.ask(here, "DELETE", "/api/v1/profile", cookie)
        again = [world.ask(end, "GET", "/api/v1/profile", cookie)[0] for end in (0, 1)]
        # A first answer may have been lost with its server: then the session is gone already.
        if status not in (200, 401) or again != [401, 401]:
            wrong.append(f"{user}: forgotten by {status}, and then {again}")
        again = [world.ask(end, "POST", "/sign-in", code=world.codes[user])[0] for end in (0, 1)]
        if not {*again} <= {403, 429}:  # tries that a lost server did not answer count, too
            wrong.append(f"{user}: forgotten, and signs in by {again}")
    elif number % 5 == 1:
        world.ask(1 - here, "POST", "/sign-out", cookie)
        again = [world.ask(end, "GET", "/api/v1/profile", cookie)[0] for end in (0, 1)]
        if again != [401, 401]:
            wrong.append(f"{user}: signed out, and then {again}")
    return wrong


def test_nothing_acknowledged_is_lost_when_either_is_killed(world: World) -> None:
    forgotten = {name_of(n) for n in range(0, PEOPLE, 5)}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        lives = [pool.submit(live, world, number) for number in range(PEOPLE)]
        for end, after in ((0, PEOPLE // 4), (1, PEOPLE * 5 // 8)):
            while sum(one.done() for one in lives) < after:
                time.sleep(0.01)
            world.ends[end].kill()
            world.ends[end].start()
            world.ends[end].ready()
            if world.database:
                world.database.stop()
                world.database.start()
        assert [wrong for one in lives for wrong in one.result()] == []
    root, settings = world.settings.workspace, world.settings
    with closing(PeopleStore(place_of_people(root, settings))) as store:
        assert {user for user, _ in store.codes()} == set(world.codes) - forgotten
        assert store.leaving() == set()
        store.check()
    with closing(PrecisionLog(place_of_log(Workspace(root), settings))) as log:
        assert {row["mode"] for row in log.rows()} <= {"none", "own", "group"}
        log.check()
    assert needles.files_with(root, frozenset(forgotten)) == ()
    if world.database:
        kept = world.database.table_bytes(crashed=True)
        assert [user for user in forgotten if user.encode() in kept] == []
        assert [user for user in world.codes if user.encode() not in kept] == sorted(forgotten)

"""The life of one person, as docs/life.md has it: each cell of its table is walked in the app."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flask.testing import FlaskClient
from scipy.sparse import csr_matrix

from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles
from anonymizer.similarity.documents import Documents
from anonymizer.storage.parts import read_cohorts
from anonymizer.storage.profiles import fingerprint, read_profiles
from anonymizer.storage.records import read_object
from anonymizer.verification.judge import verify
from index.model import Document
from search_app.accounts import database
from search_app.server.following import Follower
from search_app.server.opening import Serving
from search_app.settings import Settings
from search_app.tasks import releasing
from search_app.tasks.admitting import admit
from search_app.web import Live, create_app
from search_app.workspace import opening
from search_app.workspace.folder import Workspace
from search_app.workspace.profile_choices import ProfilingChoices, write_choices

from ...conftest import Run, serve_release
from ...toy_index import Shelf, forward_of
from ..conftest import Page

LIFE = Path(__file__).resolve().parents[4] / "docs" / "life.md"
WORDS = tuple(f"word{n:02}" for n in range(40))
WORD = re.compile(r"\bword[0-9]{2}\b")
CODE = re.compile(r"[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}")
COUNTS = np.random.default_rng(1).integers(0, 3, (60, len(WORDS)))
TOKEN = "the-operator-s-token-of-this-world"  # noqa: S105
ADMITTED = "is admitted"
PATHS = ("/me", "/groups", "/groups/g0001", "/why?q=!&doc=d1&mode=group")


def table() -> dict[tuple[str, str], str]:
    """Return the table of docs/life.md: where a person stands, and what happens -> where then."""
    lines = LIFE.read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("| stands | searches,"))
    end = lines.index("", start)
    head, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[start:end]]
    return {(row[0], event): then for row in rows for event, then in zip(head, row, strict=True)}


class Person:
    """A person with a code, at a browser."""

    def __init__(self, world: World, name: str):
        self.world, self.name = world, name
        self.words = world.chance.sample(WORDS, 6)
        self.client = world.sign_in(name)

    def allow(self, *words: str) -> None:
        self.client.post("/me/grow", data={"grow": "1"})
        self.client.get("/", query_string={"q": " ".join(words)})

    def remove(self) -> None:
        answer = self.client.get("/api/v1/profile/growth").json or {}
        if gathered := answer.get("terms"):
            self.client.post("/me/grown", data={"term": [gathered[0]["term"]]})
        else:
            self.client.post("/me/terms", data={"term": [min(self.own)]})

    @property
    def own(self) -> set[str]:
        """Return the own terms, in the profile and gathered."""
        if self.name not in self.world.stored():
            return set(self.world.live.now.store.grown(self.name)) | {"none"}
        past = read_profiles(self.world.root / "profiles.jsonl").row(self.name)
        return {*past, *self.world.live.now.store.grown(self.name)}

    def search(self) -> None:
        self.client.post("/me/grow", data={"grow": "0"})
        self.client.get("/?q=word00+word01")

    def leave(self) -> None:
        self.client.post("/me/leave", data={"confirm": "yes"})

    def be_forgotten(self) -> None:
        self.client.post("/me/forget", data={"confirm": "yes"})

    def come_back(self) -> None:
        self.client = self.world.sign_in(self.name)

    @property
    def standing(self) -> str:
        answer = self.client.get("/api/v1/profile")
        return str(answer.json["standing"]["state"]) if answer.status_code == 200 else "forgotten"


EVENTS: dict[str, Callable[[Person], None]] = {
    "searches, and lets that feed nothing": Person.search,
    "searches, and lets that feed the profile": lambda person: person.allow(person.words[5]),
    "removes an interest": Person.remove,
    "leaves": Person.leave,
    "is forgotten": Person.be_forgotten,
    "comes back": Person.come_back,
}


class World:
    """A private server of a few people with a past, and its operator."""

    def __init__(self, root: Path, *, begun: bool = True):
        self.root, self.workspace, self.chance = root, Workspace(root), random.Random(1)  # noqa: S311
        if begun:
            self._begin(root)
        (root / "indexes" / "toy.0001").mkdir(parents=True)
        self.workspace.make_current(index="indexes/toy.0001")
        settings = Settings(workspace=root, access="private", admin_token=TOKEN, rate=0)
        serving = Serving(settings, lambda _line: None)
        self.live = Live(serving.open())
        follower = Follower(self.live, self.workspace, serving.open, lambda _line: None)
        self.follow = serving.follow = follower.follow_now
        self.app = create_app(self.live)
        self.operator = self._signed_in(TOKEN)
        self.rows: dict[str, bytes] = {}  # every row that was ever there
        self.row_of: dict[str, str] = {}  # everybody who ever had one

    def _begin(self, root: Path) -> None:
        """Serve a release of six people with a past."""
        founders = Profiles.from_rows(
            {f"founder{n}": dict.fromkeys(self.chance.sample(WORDS, 5), 1.0) for n in range(6)}
        )
        release = anonymize(
            "p-linkability", Inputs(founders, sample=SAMPLE), {"augment": "none", "p": 0.9, "k": 2}
        )
        serve_release(root, founders, replace(release, facts=facts(founders, release)))
        choices = ProfilingChoices(terms="letters-digits")
        write_choices(root / "profiles.jsonl", fingerprint(founders), vars(choices))

    def _signed_in(self, code: str) -> FlaskClient:
        client = self.app.test_client()
        assert client.post("/sign-in", data={"code": code}).status_code == 303
        return client

    def sign_in(self, name: str) -> FlaskClient:
        """Let the operator make a code for `name`, who signs in with it."""
        found = CODE.search(self.operator.post("/admin/codes", data={"user": name}).text)
        assert found
        return self._signed_in(found[0])

    def stored(self) -> set[str]:
        return {*read_profiles(self.root / "profiles.jsonl").users}

    def admit(self) -> None:
        with self.workspace.writing("admit"):
            admit(self.workspace, Settings(workspace=self.root))
        self.follow()

    def look(self) -> dict[str, str]:
        """Return who has which row; no row may change, and nobody may have had another one."""
        served = {}
        for cohort in read_cohorts(self.root / "release"):
            for line in cohort.parts["rows.jsonl"].splitlines():
                assert self.rows.setdefault(read_object(line)["row"], line) == line
            for line in cohort.parts["private/members.jsonl"].splitlines():
                member = read_object(line)
                served[member["user"]] = member["row"]
                assert self.row_of.setdefault(member["user"], member["row"]) == member["row"]
        return served

    def assert_stands(self, person: Person, state: str) -> None:
        """Check where `person` stands, what they see, and what is kept of them."""
        assert person.standing == state
        served, name = self.look(), person.name
        assert (name in served) == (state == "in a group")
        assert (name in self.stored()) == (state in ("in a group", "left"))
        if state == "forgotten":
            files = (path for path in self.root.rglob("*") if path.is_file())
            assert [path.name for path in files if name.encode() in path.read_bytes()] == []
            assert person.client.get("/me").headers["Location"] == "/sign-in"
            return
        page = person.client.get("/?q=!&mode=group").text
        assert ("You have no profile yet" in page) == (state == "new")
        grown = self.live.now.store.grown(name)
        assert bool(grown) == (state in ("gathering", "waiting")) or state in ("in a group", "left")
        modes = {
            mode: person.client.get(f"/api/v1/search?q=!&mode={mode}").json["mode"]
            for mode in ("none", "own")
        }
        assert modes == {"none": "none", "own": "none" if state == "new" else "own"}
        # Of interests, a page shows the own ones and those of the own group's row.
        may = person.own
        if name in served:
            may |= {*read_object(self.rows[served[name]])["terms"]}
        for path in PATHS:
            seen = {*WORD.findall(person.client.get(path).text)}
            assert seen <= may, (state, path)


SAMPLE = Documents(csr_matrix(COUNTS.astype(float)), WORDS)


@pytest.fixture(params=[True])
def world(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    monkeypatch.setattr(releasing, "_forward", lambda _settings: None)
    monkeypatch.setattr(releasing, "sample_documents", lambda *_: SAMPLE)
    stored = [Document(id=f"d{n}", title=f"t{n}", text="x", url="") for n in range(len(COUNTS))]
    toy = Shelf(stored), forward_of(COUNTS, WORDS)
    quick = database._SCHEMA._replace(synchronous="OFF")
    monkeypatch.setattr(database, "_SCHEMA", quick)
    monkeypatch.setattr(opening, "open_index", lambda *_args, **_more: toy)
    world = World(tmp_path / "w", begun=request.param)
    yield world
    world.live.now.store.close()
    world.live.now.log.close()


def test_every_cell_of_the_table_is_so(world: World, caplog: pytest.LogCaptureFixture) -> None:
    cells = table()
    states = list(dict.fromkeys(state for state, _ in cells))
    events = [*EVENTS, ADMITTED]
    assert {event for _, event in cells} == {"stands", *events}
    # Two cohorts are enough: those who must have a row before are admitted first.
    first = [Person(world, f"first-{n:02}") for n in range(28)]
    for person in first:
        person.allow(*person.words[:5])
        assert person.standing == "waiting"
    world.admit()
    people = place_in_rows(world, first, len(events))
    for state in ("new", "gathering", "waiting", "forgotten"):
        people[state] = [Person(world, f"{state}-{n}") for n in range(len(events))]
        for person in people[state]:
            if state != "new":
                person.allow(*person.words[: 1 if state == "gathering" else 5])
            if state == "forgotten":
                person.be_forgotten()
    walked = 0
    for state in states:
        for person, event in zip(people[state], EVENTS, strict=False):
            EVENTS[event](person)
            world.assert_stands(person, cells[state, event])
            walked += 1
    last = {state: people[state][-1] for state in states}
    assert {state: person.standing for state, person in last.items()} == dict(
        zip(states, states, strict=True)
    )
    waiting = sum(person.standing == "waiting" for some in people.values() for person in some)
    said = Page(world.operator.get("/admin").text).text
    assert f"Waiting {waiting} have" in said
    for state in ("new", "gathering"):
        count = sum(person.standing == state for some in people.values() for person in some)
        assert f"{state.capitalize()} {count} have" in said
    world.admit()
    for state, person in last.items():
        world.assert_stands(person, cells[state, ADMITTED])
        walked += 1
    assert walked == len(states) * len(events) == len(cells) - len(states)
    assert verify(world.root / "release", world.root / "profiles.jsonl").holds
    said = Page(world.operator.get("/admin").text).text
    left = sum(user not in world.look() for user in world.stored())
    assert f"Left {left} keep a profile, and get no row again" in said
    assert re.search(r"Waiting 0 have .* Admitted [1-9][0-9]* came after", said)
    assert "failed" not in caplog.text


@pytest.mark.parametrize("world", [False], indirect=True)
def test_people_without_any_log_begin_by_searching(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(world.root, capsys)
    words = ["lion", "tiger", "coffee", "island", "river", "train", "church", "music", "ship"]
    people = [Person(world, f"first-{n}") for n in range(9)]
    assert "nobody new has gathered 5 interests yet" in run.refused("profiles", "--searches")
    for person in people:
        assert person.standing == "new"
        person.allow(*world.chance.sample(words, 6 if person is not people[8] else 2))
        assert person.client.get("/api/v1/search?q=!&mode=own").json["mode"] == "own"
    assert [person.standing for person in people] == ["waiting"] * 8 + ["gathering"]
    assert "veilsearch profiles --searches" in world.operator.get("/admin").text
    for path in ("/me", "/groups", "/compare?q=!", "/log"):
        assert people[0].client.get(path).status_code == 200
    assert people[0].client.get("/dial?q=!").status_code == 404
    assert run("profiles", "--searches").startswith("8 people added, 8 have a profile: ")
    assert "nobody new" in run.refused("profiles", "--searches")
    world.follow()
    store = world.live.now.store
    assert store.all_grown().keys() == {"first-8"}
    people[8].allow(*words)
    assert run("profiles", "--searches").startswith("1 person added, 9 have a profile: ")
    assert store.all_grown() == {}
    run("anonymize", "-m", "pooled", "--set", "p=0.4", "--set", "steps=200")
    world.follow()
    stand = [person.standing for person in people]
    assert stand.count("in a group") + stand.count("in no group") == 9
    assert stand.count("in a group") >= 6
    late = Person(world, "late")
    late.allow(*words)
    assert late.standing == "waiting"
    assert "give people rows of it with: veilsearch admit" in run.refused("profiles", "--searches")
    assert "takes no LOG" in run.refused("profiles", "--searches", "--size", "5")
    assert "name a LOG, or take --searches" in run.refused("profiles")


def place_in_rows(world: World, first: list[Person], count: int) -> dict[str, list[Person]]:
    """Return `count` of the `first` people in groups of their own, and as many who left."""
    groups: dict[str, list[Person]] = {}
    served = world.look()
    for person in first:
        groups.setdefault(served[person.name], []).append(person)
    alone = [groups.popitem()[1][0] for _ in range(count)]
    left: list[Person] = []
    while len(left) < count:
        _, members = groups.popitem()
        members[0].leave()
        left += members
    return {"in a group": alone, "left": left[:count]}

"""A study of the toy site: a task of each kind, and a question of each kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from search_app.search.modes import Modes
from search_app.settings import Settings
from search_app.study.design import read_study
from search_app.study.rankings import Rankings
from search_app.study.store import FILE, StudyStore
from search_app.tasks.growth import Growth
from search_app.web import ServedStudy, create_study_app

from ..conftest import ADMIN_TOKEN, PEOPLE, Page

CHOICES = {"weights": "binary", "granularity": "user", "terms": "letters"}
HEAD = """
name = "toy"
title = "Which would you rather have?"
conditions = ["none", "own", "group"]
participants = 12
profile = "{profile}"
consent = "consent.md"
opt_ins = ["keep_queries", "publish_texts"]
device = {device}
code = "{code}"
practice = "{practice}"
"""
TASK = """
[[task]]
id = "{id}"
{query}
text = "task.md"
kind = "{kind}"
seconds = 60
"""
TASKS = [
    ("sides", "side-by-side"),
    ("mixed", "interleaved"),
    ("grades", "rate"),
    ("vote", "choose"),
]
FORMS = """
[[form]]
after = "start"
[[form.item]]
id = "age"
type = "number"
required = true
[[form]]
after = "each-task"
[[form.item]]
id = "satisfied"
low = "not at all"
high = "very"
points = 5
required = true
[[form]]
after = "end"
[[form.item]]
id = "remarks"
type = "text"
[[form.item]]
id = "device"
type = "choice"
choices = ["phone", "computer"]
"""


def write_study(
    folder: Path,
    profile: str = "queries",
    code: str = "thanks",
    practice: str = "java",
    *,
    device: bool = False,
) -> Path:
    """Write the study to a new folder and return it."""
    folder.mkdir(exist_ok=True)
    given = [TASK.format(id=name, query='query = "java"', kind=kind) for name, kind in TASKS]
    given.append(TASK.format(id="own", query="free = true", kind="side-by-side"))
    head = HEAD.format(profile=profile, code=code, practice=practice, device=str(device).lower())
    text = head + "".join(given) + FORMS
    (folder / "study.toml").write_text(text)
    (folder / "consent.md").write_text("# About\n\nPlease **read** <this>.\n\n- one\n- two\n")
    (folder / "task.md").write_text("Look at the lists.\n")
    return folder


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float = 1_900_000_000.0
    ticks: Iterator[int] = field(default_factory=count)

    def __call__(self) -> float:
        return self.now + 0.001 * next(self.ticks)


def place_of(folder: Path, modes: Modes, clock: Clock) -> ServedStudy:
    """Return the study in a folder, as it is served."""
    settings = Settings(admin_token=ADMIN_TOKEN)
    rankings = Rankings(modes, Growth(CHOICES, settings), PEOPLE, settings)
    return ServedStudy(
        read_study(folder), StudyStore(folder / FILE), rankings, settings, clock=clock
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def place(tmp_path: Path, modes: Modes, clock: Clock) -> Iterator[ServedStudy]:
    place = place_of(write_study(tmp_path / "study"), modes, clock)
    yield place
    place.store.close()


@pytest.fixture
def app(place: ServedStudy) -> Flask:
    return create_study_app(place)


class Phone:
    """A participant's browser, which fills in whatever the page asks."""

    def __init__(self, app: Flask, code: object = ""):
        self.client: FlaskClient = app.test_client()
        self.code = str(code)

    def get(self, path: str = "/") -> Page:
        with self.client.get(path) as answer:
            assert answer.status_code == 200, (path, answer.text)
            return Page(answer.text)

    def post(self, path: str, status: int = 303, **form: object) -> TestResponse:
        with self.client.post(path, data=form) as answer:
            assert answer.status_code == status, (path, answer.status_code, answer.text)
            return answer

    @property
    def step(self) -> str:
        """Return the step in the page that is shown now."""
        return step_in(self.get())

    def agree(self, *opt_ins: str) -> None:
        """Open the invitation and agree."""
        page = self.get(f"/join/{self.code}")
        version = value_of(page, "version")
        self.post("/consent", code=self.code, version=version, agree=[*opt_ins])

    def go_on(self, typed: str = "java") -> str:
        """Fill in the page that is shown and go on; return the path of its form."""
        page = self.get()
        step = step_in(page)
        actions = {form["action"] for form in page.all("form")}
        if "/profile" in actions:
            self.post("/profile", step=step, queries="coffee\ncoffee\ncoffee")
            return "/profile"
        if "/query" in actions:
            self.post("/query", step=step, q=typed)
            return "/query"
        if "/answer" in actions:
            names = {tag.get("name") for name, tag in page.tags if name in ("input", "button")}
            self.post("/open", step=step, open="1-2")
            form = {"choice": "1"} if "choice" in names else {}
            form |= {"grade-1": "3", "grade-2": "0"} if "grade-1" in names else {}
            # A script on the device makes these of the grades.
            form |= {"grade-1": "3.00", "grade-2": "0.00"} if "seen-1" in names else {}
            self.post("/answer", step=step, **form)
            return "/answer"
        assert "/form" in actions, page.text
        given = {"age": "33", "satisfied": "4", "remarks": "needle-remark", "device": "phone"}
        self.post("/form", step=step, **{f"answer-{name}": text for name, text in given.items()})
        return "/form"

    def to_the_end(self, typed: str = "java") -> list[str]:
        """Go on until the debriefing; return the forms on the way."""
        forms = []
        while "Thank you" not in self.get().text:
            forms.append(self.go_on(typed))
        return forms


def step_in(page: Page) -> str:
    return value_of(page, "step")


def value_of(page: Page, name: str) -> str:
    """Return the value of a hidden field."""
    return next(str(tag["value"]) for tag in page.all("input") if tag.get("name") == name)


@pytest.fixture
def phone(app: Flask, place: ServedStudy) -> Phone:
    """Return the browser of somebody who was invited."""
    return Phone(app, place.store.invite(1)[0])


@pytest.fixture
def leader(app: Flask) -> FlaskClient:
    """Return the browser of the leader, who has signed in."""
    client = app.test_client()
    assert client.post("/leader/sign-in", data={"token": ADMIN_TOKEN}).status_code == 303
    return client


def sizes(html: str) -> str:
    """Return a page without what differs from person to person."""
    return re.sub(r"[0-9A-F]{5}(-[0-9A-F]{5}){4}", "CODE", html)


def remains(folder: Path, needles: list[str]) -> list[tuple[str, str]]:
    """Return the files of a folder that hold one of the needles."""
    return [
        (path.name, needle)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for needle in needles
        if needle.encode() in path.read_bytes()
    ]

"""A study whose profiles stay on devices, in a real browser: its orders are the server's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask
from playwright.sync_api import Browser, Page, Request, expect
from werkzeug.serving import make_server

from anonymizer.model import Profiles, Release
from anonymizer.promise import AVERAGE
from search_app.search.engine import Engine
from search_app.search.evidence import RowPopulation
from search_app.search.modes import Modes
from search_app.settings import Settings
from search_app.study.analysis import mean_grades
from search_app.study.design import RATE
from search_app.study.rankings import Rankings
from search_app.study.trials import Trial, generator, make_trial
from search_app.tasks.growth import Growth
from search_app.web import ServedStudy, create_study_app

from ...evaluation.ranked_texts import forward_of, fractional_profile, shelf_of, texts
from ..browser.chromium import in_browser
from .conftest import CHOICES, Clock, Phone, place_of, write_study
from .test_study_browser import PHONE, follow

pytestmark = in_browser
DOCUMENTS = 300
PROFILE = fractional_profile(7)
# Whether something is seen before all of it is there.
WATCH = """addEventListener("DOMContentLoaded", () => {
  const task = document.querySelector("#task");
  new MutationObserver(() => {
    const empty = [...task.querySelectorAll(".title")].filter((title) => !title.textContent);
    if (!task.hidden) window.early = empty.length;
  }).observe(document, { attributes: true, childList: true, subtree: true });
});"""


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Modes:
    """Return modes with many ties in each order, over a release of thirty rows."""
    made = texts(DOCUMENTS)
    forward = forward_of(made, tmp_path_factory.mktemp("study") / "forward")
    engine = Engine(shelf_of(DOCUMENTS, made), forward)
    rows = Profiles.from_rows({f"g{at:04}": fractional_profile(at, 90) for at in range(100, 130)})
    engine.prepare("group", RowPopulation(rows, np.full(30, 4)))
    users = tuple(str(number) for number in range(120))
    release = Release(
        rows=rows,
        users=users,
        row_of_user=np.arange(120) // 4,
        method="p-linkability",
        parameters={"p": 0.5},
        promise=AVERAGE,
    )
    people = Profiles.from_rows({user: {"xqaa": 1.0} for user in users})
    return Modes(engine, people, release, populations=["group"])


@pytest.fixture(params=["cosine", "evidence"])
def place(
    tmp_path: Path, ranked: Modes, clock: Clock, request: pytest.FixtureRequest
) -> Iterator[ServedStudy]:
    place = place_of(write_study(tmp_path / "study", device=True), ranked, clock)
    place.settings = replace(place.settings, ranking=request.param)
    place.rankings = Rankings(ranked, Growth(CHOICES, Settings()), {}, place.settings)
    yield place
    place.store.close()


@pytest.fixture
def sent(page: Page) -> list[Request]:
    """Keep every request of the session."""
    requests: list[Request] = []
    page.context.on("request", lambda request: requests.append(request))  # noqa: PLW0108
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    return requests


def enter(page: Page, address: str, place: ServedStudy) -> Phone:
    """Agree in the browser; return what goes on in the same session without script."""
    phone = Phone(create_study_app(place), place.store.invite(1)[0])
    page.goto(f"{address}/join/{phone.code}")
    follow(page, page.get_by_role("button", name="I agree"))
    return phone


def give(page: Page, profile: Mapping[str, float]) -> None:
    """Put a profile where the script keeps it, and go on: its form makes no such weights."""
    whose = page.locator("form[data-whose]").get_attribute("data-whose")
    kept = json.dumps({"whose": whose, "terms": list(profile.items())})
    page.evaluate("(kept) => localStorage.setItem('veilsearch.study', kept)", kept)
    with page.expect_navigation():
        page.evaluate("document.querySelector('form.questions').submit()")


def titles(page: Page) -> list[list[str]]:
    """Return the titles in each list of the task, once they are there."""
    expect(page.locator("#task")).to_be_visible(timeout=60_000)
    lists = page.locator("#task").locator(".hits, .graded")
    return [one.locator(".title").all_inner_texts() for one in lists.all()]


def expected(place: ServedStudy, task: str) -> Trial:
    """Return what the server would show in a task if it had the profile."""
    (person,) = place.store.participants()
    record, *_ = place.store.trial(person.id, task) or ({},)
    blank = Trial.of(record)
    ranked = place.rankings.of("java", place.study.conditions, "", PROFILE)
    draws = generator(person.seed, task)
    return make_trial(blank.kind, blank.conditions, ranked, draws)


def name_of(document: str) -> str:
    return f"Text {int(document[1:])}"


def test_each_task_shows_what_the_server_would_show(
    page: Page, address: str, place: ServedStudy, sent: list[Request]
) -> None:
    page.add_init_script(WATCH)
    enter(page, address, place)
    give(page, PROFILE)
    page.locator("input[type=text]").fill("33")
    follow(page, page.locator(".go button"))
    titles(page)
    follow(page, page.locator(".decide button").first)  # practice
    for task in place.study.tasks:
        if task.free:
            page.locator("#q").fill("java")
            follow(page, page.get_by_role("button", name="Search"))
        full = expected(place, task.id)
        (grade if task.kind == RATE else look)(page, place, full)
        page.locator("[name=answer-satisfied][value='4']").check(force=True)
        follow(page, page.locator(".go button"))
    page.locator("[name=answer-remarks]").fill("fine")
    follow(page, page.locator(".go button"))
    assert page.locator("h1").inner_text() == "Thank you"
    expect(page.locator("#over")).to_be_visible()
    assert page.evaluate("localStorage.length") == 0
    # Clicks: of the place, and never of a document.
    clicks = {(row[1], row[4]) for row in place.store.events() if row[2] == "click"}
    assert clicks == {(task.id, 4) for task in place.study.tasks if task.kind != RATE}
    said = "\n".join(f"{one.url}\n{one.post_data}\n{one.headers}" for one in sent)
    assert not [term for term in PROFILE if term in said]
    assert "d0" not in "".join(one.post_data or "" for one in sent)
    known = {"step", "client_time", "open", "choice", "q", "code", "version"}
    known |= {"grade-1", "grade-2", "grade-3"}
    fields = {name for one in sent if one.post_data for name in parse_qs(one.post_data)}
    assert {name for name in fields if not name.startswith("answer-")} == known


def look(page: Page, place: ServedStudy, full: Trial) -> None:
    """Compare the lists with those of `full`, open a document, and choose."""
    del place
    lists = titles(page)
    assert lists == [[name_of(one) for one in row] for row in full.lists], full.kind
    assert page.evaluate("window.early") == 0
    page.locator(".title").nth(3).click()
    expect(page.locator("#reader")).to_be_visible()
    assert page.locator("#reader-title").inner_text() == lists[0][3]
    assert page.locator("#reader-text").inner_text().startswith("xq")
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("button", name="Back to the results").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    follow(page, page.locator(".decide button").first)


def grade(page: Page, place: ServedStudy, full: Trial) -> None:
    """Grade most documents; the means that arrive are those of the orders in `full`."""
    (shown,) = titles(page)
    assert sorted(shown) == sorted(map(name_of, full.lists[0]))
    assert shown != sorted(shown)
    grades = {one: int(one[-1]) % 4 for one in shown if not one.endswith("5")}
    for at, one in enumerate(shown, 1):
        if one in grades:
            page.locator(f"[name=seen-{at}]").nth(grades[one]).check()
    assert Axe().run(page).response["violations"] == []
    follow(page, page.locator(".decide button").first)
    given = {one: grades[name_of(one)] for one in full.lists[0] if name_of(one) in grades}
    kept = {row[5]: float(row[6]) / 3 for row in place.store.events() if row[2] == "grade"}
    assert kept == pytest.approx(mean_grades(full, given), abs=0.005 / 3 + 1e-9)


@pytest.mark.parametrize("place", ["cosine"], indirect=True)
def test_typed_searches_stay_here_and_another_browser_asks_for_them(
    page: Page, address: str, place: ServedStudy, sent: list[Request], browser: Browser
) -> None:
    phone = enter(page, address, place)
    assert Axe().run(page).response["violations"] == []
    page.locator("#queries").fill("xqaa\nxqab")
    button = page.get_by_role("button", name="Go on")
    button.click()
    expect(page.locator("#told")).to_have_text(
        "Please write at least 3 searches, one on each line."
    )
    page.locator("#queries").fill("nothing\nof\nthis")
    button.click()
    expect(page.locator("#told")).to_contain_text("Nothing in this can order results")
    page.locator("#queries").fill("the XQAA store\nxqabs, cheap\nxqacs")
    follow(page, button)
    kept = json.loads(page.evaluate("localStorage.getItem('veilsearch.study')"))
    assert kept["terms"] == [["xqaa", 1], ["xqab", 1], ["xqac", 1]]
    assert not [one for one in sent if "xqa" in f"{one.url}{one.post_data}".lower()]
    page.locator("input[type=text]").fill("33")
    follow(page, page.locator(".go button"))
    here = titles(page)
    page.reload()
    assert titles(page) == here  # the same again
    other = browser.new_context().new_page()
    other.goto(f"{address}/join/{phone.code}")
    follow(other, other.get_by_role("button", name="Go on"))
    expect(other.locator("#told")).to_contain_text("does not have your profile")
    assert other.locator("#task").is_hidden()
    follow(other, other.get_by_role("link", name="Give your profile again"))
    other.locator("#queries").fill("xqaa\nxqab\nxqac")
    follow(other, other.get_by_role("button", name="Go on"))
    assert titles(other) == here
    follow(other, other.get_by_role("link", name="Withdraw"))
    follow(other, other.get_by_role("button", name="Erase"))
    expect(other.locator("#over")).to_be_visible()
    assert other.evaluate("localStorage.length") == 0


@pytest.mark.parametrize("place", ["cosine"], indirect=True)
def test_without_script_nothing_of_a_profile_can_be_sent(
    browser: Browser, app: Flask, address: str, place: ServedStudy
) -> None:
    del app
    page = browser.new_context(java_script_enabled=False).new_page()
    enter(page, address, place)
    assert page.locator("noscript p").is_visible()
    assert page.get_by_role("button", name="Go on").is_disabled()
    follow(page, page.get_by_role("link", name="Withdraw"))
    follow(page, page.get_by_role("button", name="Erase"))
    assert place.store.participants() == []


def test_interests_make_the_profile_that_the_server_would_make(
    page: Page, tmp_path: Path, ranked: Modes, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more terms than a profile may have; of equally frequent ones the first are in it."""
    known = {"cats": {"z": 1, "9": 2, "a": 1}, "bees": {"b": 1, "z": 1}, "airplanes": {"y": 5}}

    def counts(_self: Rankings, labels: Iterable[str]) -> dict[str, dict[str, int]]:
        wanted = {*labels}
        return {label: count for label, count in known.items() if label in wanted}

    monkeypatch.setattr(Rankings, "counts_of_interests", counts)
    place = place_of(write_study(tmp_path / "picked", "interests", device=True), ranked, clock)
    growth = Growth({**CHOICES, "size": 3, "weights": "tf"}, Settings())
    place.rankings = Rankings(ranked, growth, {}, place.settings)
    server = make_server("127.0.0.1", 0, create_study_app(place), threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    enter(page, f"http://127.0.0.1:{server.port}", place)
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#told")).to_have_text("Please pick at least one.")
    for label in ("bees", "cats"):
        page.get_by_role("checkbox", name=label, exact=True).check()
    follow(page, page.get_by_role("button", name="Go on"))
    kept = json.loads(page.evaluate("localStorage.getItem('veilsearch.study')"))
    expected = place.rankings.of_interests(["bees", "cats"])
    assert kept["terms"] == [[term, weight] for term, weight in expected.items()]
    assert kept["terms"] == [["z", 2], ["9", 2], ["a", 1]]
    server.shutdown()
    thread.join()
    server.server_close()
    place.store.close()

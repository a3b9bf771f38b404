"""A study whose profiles stay on devices: what the server learns of them, and where it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_app.search.modes import Modes
from search_app.study.design import CHOOSE, RATE, TASKS
from search_app.study.trials import SHOWN, blank_trial, make_trial, shown_conditions
from search_app.web import ServedStudy, create_study_app

from .conftest import Clock, Phone, place_of, remains, write_study

CONDITIONS = ("none", "own", "group")
API = "/api/v1/study"
CANDIDATES = f"{API}/candidates"


@pytest.fixture
def place(tmp_path: Path, modes: Modes, clock: Clock) -> Iterator[ServedStudy]:
    place = place_of(write_study(tmp_path / "study", device=True), modes, clock)
    yield place
    place.store.close()


@given(
    st.sampled_from(TASKS),
    st.integers(0, 25),
    st.integers(0, 5),
    st.integers(0, 2**32 - 1),
)
def test_a_blank_trial_is_what_the_server_would_show_without_the_documents(
    kind: str, found: int, place: int, seed: int
) -> None:
    rng, pool = np.random.default_rng(seed), [f"d{at:02}" for at in range(found)]
    ranked = {one: rng.permutation(pool).tolist() for one in CONDITIONS}
    shown = shown_conditions(kind, CONDITIONS, place)
    full = make_trial(kind, shown, ranked, np.random.default_rng(seed))
    blank = blank_trial(kind, shown, found, np.random.default_rng(seed))
    assert (blank.kind, blank.conditions, blank.teams) == (full.kind, full.conditions, full.teams)
    if kind != RATE:
        assert [*map(len, blank.lists)] == [*map(len, full.lists)]
        assert [row[1:] for row in blank.places()] == [row[1:] for row in full.places()]
    numbers = [number for numbers in blank.lists for number in numbers]
    assert len({*numbers}) == len(numbers)
    # The same for whatever profile: nothing but how many were found goes in.
    assert not {*numbers} & {*pool}


def test_the_server_learns_choices_and_places_and_nothing_of_the_profile(
    phone: Phone, place: ServedStudy
) -> None:
    phone.agree("keep_queries")
    phone.post("/profile", step=phone.step, queries="needlecoffee\n" * 3, interest="needlecoffee")
    while "Thank you" not in phone.get().text:
        phone.go_on()
    (person,) = place.store.participants()
    assert (person.person, dict(person.profile)) == ("", {})
    assert remains(place.study.folder, ["needlecoffee", "doc0", "doc1"]) == []
    trials = {task: shown for _, task, shown, *_ in place.store.trials()}
    assert all(shown["blank"] for shown in trials.values())
    shown = trials["sides"]
    events = [row[1:7] for row in place.store.events()]
    left = shown["conditions"][0]
    assert ("sides", "click", "1.2", 2, left, "") in events
    assert ("sides", "prefer", "", 0, "", left) in events


@pytest.mark.parametrize(
    ("form", "kept"),
    [
        ({"grade-1": "2.50", "grade-3": "0.00"}, {1: "2.50", 3: "0.00"}),
        ({"grade-2": "3.00", "grade-4": "1.00"}, {2: "3.00"}),  # there are three conditions
        ({"grade-1": "3.01", "grade-2": "nan", "grade-3": "1e0"}, None),
    ],
)
def test_a_device_tells_a_mean_grade_of_each_condition(
    phone: Phone, place: ServedStudy, form: dict[str, str], kept: dict[int, str] | None
) -> None:
    phone.agree()
    while "How useful" not in phone.get().text:
        phone.go_on()
    phone.post("/answer", 303 if kept else 400, step=phone.step, **form)
    events = [row for row in place.store.events() if row[2] == "grade"]
    assert {row[4]: row[6] for row in events} == (kept or {})
    names = {
        shown[0]: shown[2]["conditions"] for shown in place.store.trials() if shown[1] == "grades"
    }
    assert all(row[5] == names[row[0]][row[4] - 1] for row in events)


def test_the_answer_of_a_task_is_the_same_for_all_but_for_what_is_drawn(
    place: ServedStudy,
) -> None:
    app, answers, pages = create_study_app(place), [], []
    for code in place.store.invite(12):
        phone = Phone(app, code)
        phone.agree()
        while phone.go_on() != "/answer":
            pass
        with phone.client.get("/") as page:
            pages.append(page.text.replace(phone_key(page.text), ""))
        with phone.client.post(CANDIDATES, data={"step": phone.step}) as answer:
            assert answer.status_code == 200
            answers.append(answer.get_json())
    kept = [shown["conditions"] for _, task, shown, *_ in place.store.trials() if task == "sides"]
    assert len({tuple(one) for one in kept}) > 2
    assert len({*pages}) == 1
    drawn = [[answer.pop(name) for name in ("pad", "masked", "draws")] for answer in answers]
    assert len({json.dumps(answer, sort_keys=True) for answer in answers}) == 1
    assert {(len(pad), len(masked), len(draws)) for pad, masked, draws in drawn} == {(4, 4, 30)}
    assert answers[0]["texts"][0] == "A text on coffee. It speaks of java."
    assert len(answers[0]["documents"]) == 40


def phone_key(html: str) -> str:
    """Return the name by which a browser knows whose profile it keeps."""
    return html.split('data-whose="')[1].split('"', maxsplit=1)[0]


def test_what_browsers_get_is_public_and_only_for_participants_of_such_a_study(
    phone: Phone,
) -> None:
    for path in ("/words", "/basis"):
        assert phone.client.get(f"{API}{path}").status_code == 403
    assert phone.client.post(CANDIDATES, data={"step": "3"}).status_code == 403
    phone.agree()
    assert phone.client.post(CANDIDATES, data={"step": phone.step}).status_code == 409
    basis = phone.client.get(f"{API}/basis").get_json()
    rows = [json.loads(line) for line in basis["rows"]["group"].splitlines()]
    assert rows == [
        {"row": "g0001", "users": 2, "terms": {"coffee": 0.5, "code": 0.5}},
        {"row": "g0002", "users": 1, "terms": {"code": 1.0}},
    ]
    assert basis["conditions"] == [*CONDITIONS]
    words = phone.client.get(f"{API}/words").get_json()
    assert words == {"interests": [], "vocabulary": ["coffee", "code"], "sums": False, "size": None}
    for path in ("/words", "/basis"):
        with phone.client.get(f"{API}{path}", headers={"Accept-Encoding": "gzip"}) as answer:
            assert answer.headers["Content-Encoding"] == "gzip"


def test_rows_of_people_who_joined_unpublished_reach_no_browser(
    phone: Phone, place: ServedStudy
) -> None:
    phone.agree()
    assert phone.client.get(f"{API}/basis").status_code == 200
    place.rankings.modes.withheld = lambda: True
    for path in ("/words", "/basis"):
        assert phone.client.get(f"{API}{path}").status_code == 503


def test_every_page_says_that_it_needs_script_and_sends_no_profile_without_it(
    phone: Phone,
) -> None:
    phone.agree()
    page = phone.get()
    assert "This study needs JavaScript" in page.html.split("<noscript>")[1]
    named = [tag.get("name") for kind in ("textarea", "input", "select") for tag in page.all(kind)]
    assert sorted(map(str, named)) == ["None", "client_time", "step"]
    (button,) = [tag for tag in page.all("button") if tag.get("type") == "submit"]
    assert "disabled" in button
    while "Thank you" not in page.html:
        phone.go_on()
        page = phone.get()
        assert "This study needs JavaScript" in page.html


def test_a_lost_query_is_asked_for_again(phone: Phone, place: ServedStudy) -> None:
    phone.agree()
    while phone.go_on() != "/query":
        pass
    place.typed.clear()  # the server started again
    assert 'action="/query"' in phone.get().html
    assert phone.client.post(CANDIDATES, data={"step": phone.step}).status_code == 409
    phone.go_on("java")
    answer = phone.client.post(CANDIDATES, data={"step": phone.step}).get_json()
    assert answer["query"] == "java"
    assert len(answer["documents"]) >= SHOWN


def test_on_a_slide_everybody_sees_the_lists_of_the_server(
    phone: Phone, place: ServedStudy
) -> None:
    ranked = place.rankings.of("java", CONDITIONS, "1001", {})
    trial = make_trial(CHOOSE, CONDITIONS, ranked, np.random.default_rng(1))
    place.slides["vote"] = trial
    phone.agree()
    while "Title 00" not in (page := phone.get().html):
        phone.go_on()
    assert 'id="task"' not in page
    with phone.client.post(CANDIDATES, data={"step": phone.step}) as answer:
        assert answer.status_code == 409

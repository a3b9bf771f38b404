"""The way from the invitation to the debriefing, in one tab or many."""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from index.model import Document
from search_app.search.modes import Modes
from search_app.settings import Settings
from search_app.study.check import faults_of
from search_app.study.export.tables import kept_in
from search_app.study.flow import steps_of
from search_app.study.store import FILE, Participant
from search_app.web import ServedStudy

from ..conftest import ToyIndex
from .conftest import TASKS, Clock, Phone, remains, value_of

KINDS = ["/answer", "/form"]
WAY = ["/profile", "/form", "/answer", *KINDS * 4, "/query", *KINDS, "/form"]


def only(place: ServedStudy) -> Participant:
    (person,) = place.store.participants()
    return person


def events(place: ServedStudy) -> list[tuple[str, str, str, int, str, str]]:
    return [row[1:7] for row in place.store.events()]


def test_from_the_invitation_to_the_debriefing(phone: Phone, place: ServedStudy) -> None:
    phone.agree("keep_queries")
    assert phone.to_the_end() == WAY
    person = only(place)
    assert person.finished > 0
    assert person.opt_ins == ("keep_queries",)
    assert person.consent == place.study.consent_version
    end = phone.get().text
    code = re.search(r"thanks-[0-9A-Z]{8}", end)
    assert code is not None
    assert code[0] in phone.get().text  # the same again
    # Practice leaves no event; every task one decision and one click, every question an answer.
    kept = Counter((task, action) for task, action, *_ in events(place))
    names = [name for name, _ in TASKS] + ["own"]
    assert {task for task, _ in kept} == {*names, "start", "end"}
    assert [kept[name, "click"] for name in names] == [1] * 5
    decided = {"sides": "prefer", "mixed": "answer", "vote": "vote", "own": "prefer"}
    assert {name: kept[name, what] for name, what in decided.items()} == {
        "sides": 1,
        "mixed": 2,  # the end of the task, and the question after it
        "vote": 1,
        "own": 1,
    }
    assert kept["grades", "grade"] == 2
    assert kept["own", "query"] == 1
    # What was preferred is what stood on the left.
    shown = {task: trial for _, task, trial, *_ in place.store.trials()}
    chosen = {task: value for task, action, *_, value in events(place) if action == "prefer"}
    assert chosen == {task: shown[task]["conditions"][0] for task in ("sides", "own")}
    clicks = [row for row in events(place) if row[:2] == ("sides", "click")]
    left = shown["sides"]["lists"][0]
    assert clicks == [("sides", "click", left[1], 2, shown["sides"]["conditions"][0], "")]


def test_no_cookie_before_consent_and_nothing_is_ticked(phone: Phone) -> None:
    for path in ("/", f"/join/{phone.code}", "/withdraw", "/static/style.css"):
        with phone.client.get(path) as answer:
            assert "Set-Cookie" not in answer.headers, path
    page = phone.get(f"/join/{phone.code}")
    ticks = [tag for tag in page.all("input") if tag.get("type") == "checkbox"]
    assert [tag["value"] for tag in ticks] == ["keep_queries", "publish_texts"]
    assert not any("checked" in tag for tag in ticks)
    assert "<strong>read</strong> &lt;this&gt;" in page.html
    phone.agree()
    cookie = phone.client.get_cookie("veilsearch-study")
    assert cookie is not None
    assert (cookie.http_only, cookie.same_site, cookie.expires) == (True, "Strict", None)


def test_reload_back_and_two_tabs_go_on_where_it_was(phone: Phone, place: ServedStudy) -> None:
    phone.agree()
    while phone.go_on() != "/answer":
        pass
    # the first task
    first = phone.get()
    assert phone.get().html == first.html
    step = phone.step
    phone.post("/answer", step=step, choice="1")
    before = events(place)
    assert before
    # the second tab, or the page before, sends the same form again
    for path, form in (
        ("/answer", {"choice": "2"}),
        ("/open", {"open": "1-1"}),
        ("/form", {"answer-satisfied": "1"}),
        ("/profile", {"queries": "code\ncode\ncode"}),
        ("/query", {"q": "java"}),
    ):
        phone.post(path, step=step, **form)
        assert events(place) == before
    assert "Some questions" in phone.get().text or "A question" in phone.get().text


def test_another_device_with_the_same_code_goes_on(
    app: Flask, phone: Phone, place: ServedStudy
) -> None:
    phone.agree()
    for _ in range(4):
        phone.go_on()
    before = phone.get().html
    other = Phone(app, phone.code)
    assert "Go on" in other.get(f"/join/{phone.code}").text
    assert phone.get().html == before  # a preview of the link ends nothing
    other.post("/join", code=phone.code.lower().replace("-", " "))
    assert other.get().html == before
    assert "Your code" in phone.get().text  # the first device asks again
    assert len(place.store.participants()) == 1


def test_a_restarted_server_shows_the_same_task_without_the_query(
    phone: Phone, place: ServedStudy
) -> None:
    phone.agree()
    while phone.go_on(typed="java needle-query") != "/query":
        pass
    before = phone.get()
    assert "needle-query" in before.text
    assert "needle-query" not in before.html.split("</title>")[0]
    place.typed.clear()
    after = phone.get()
    assert "needle-query" not in after.html
    titles = list(after.all("button", "title"))
    assert titles == before.all("button", "title")
    text = b"".join(path.read_bytes() for path in place.study.folder.glob(f"{FILE}*"))
    assert b"needle-query" not in text
    phone.go_on()
    assert place.typed == {}


def test_a_query_is_kept_by_its_opt_in_only(phone: Phone, place: ServedStudy) -> None:
    phone.agree("keep_queries")
    phone.to_the_end("java needle-query")
    assert [text for _, task, _, text, _ in place.store.trials() if text] == ["java needle-query"]
    assert not [row for row in place.store.events() if "needle-query" in row]


def test_a_query_goes_when_its_opt_in_is_taken_back(phone: Phone, place: ServedStudy) -> None:
    phone.agree("keep_queries")
    phone.to_the_end("java needle-query")
    object.__setattr__(place.study, "consent", "Another text.")
    phone.agree("publish_texts")
    assert remains(place.study.folder, ["needle-query"]) == []
    # One that was kept at this very moment stays here, and leaves in no table.
    number = only(place).id
    place.store.keep_trial(number, "late", {**place.store.trials()[0][2]}, "java needle-query", 1)
    assert kept_in(place.study, place.store).queries == {}


def test_a_second_query_does_not_stand_over_the_results_of_the_first(
    phone: Phone, place: ServedStudy
) -> None:
    phone.agree()
    while phone.go_on() != "/query":
        pass
    before = phone.get().html
    phone.post("/query", step=phone.step, q="java java")
    assert phone.get().html == before
    assert [*place.typed.values()] == [("own", "java")]


def test_a_late_answer_is_marked_and_kept(phone: Phone, place: ServedStudy, clock: Clock) -> None:
    phone.agree()
    while phone.go_on() != "/answer":
        pass
    phone.get()
    clock.now += 61
    phone.post("/answer", step=phone.step, choice="same")
    assert [(row[6], row[7]) for row in place.store.events() if row[2] == "prefer"] == [("same", 1)]


@pytest.mark.parametrize("client_time", ["1900000000123", "", "-1", "1e9", "x" * 99, "٣"])
def test_the_clock_of_the_device_is_noted_if_it_says_a_number(
    phone: Phone, place: ServedStudy, client_time: str
) -> None:
    phone.agree()
    phone.go_on()
    phone.post("/form", step=phone.step, client_time=client_time, **{"answer-age": "7,5"})
    ((*_, value, _late, client, _at),) = place.store.events()
    assert value == "7.5"
    assert client == (int(client_time) if client_time.startswith("19") else None)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "Please answer this question."),
        ({"answer-age": "old"}, "Please write a number"),
        ({"answer-age": "1e400"}, "Please write a number"),
        ({"answer-age": "nan"}, "Please write a number"),
    ],
)
def test_a_form_that_lacks_something_says_so_and_loses_nothing(
    phone: Phone, place: ServedStudy, given: dict[str, str], sentence: str
) -> None:
    phone.agree()
    phone.go_on()
    text = phone.post("/form", 400, step=phone.step, **given).text
    assert sentence in text
    assert all(f'value="{value}"' in text for value in given.values())
    assert events(place) == []


@pytest.mark.parametrize(
    ("path", "form", "sentence"),
    [
        ("/profile", {"queries": "coffee\n \ncode"}, "at least 3"),
        ("/profile", {"queries": "\n\n"}, "at least 3"),
        ("/answer", {"choice": "4"}, "choose one"),
        ("/answer", {"choice": "none"}, "choose one"),
        ("/answer", {"grade-1": "4"}, "at least one"),
        ("/query", {"q": "unheard"}, "Nothing was found"),
        ("/query", {"q": "\x00 "}, "Nothing was found"),
    ],
)
def test_what_is_no_answer_is_asked_again(
    phone: Phone, place: ServedStudy, path: str, form: dict[str, str], sentence: str
) -> None:
    phone.agree()
    while True:
        page = phone.get()
        kind = "grade-1" if "grade-1" in form else "choice" if "choice" in form else path
        if f'action="{path}"' in page.html and (kind in page.html) and "practice" not in page.text:
            break
        phone.go_on()
    before = len(events(place))
    step = phone.step
    assert sentence in phone.post(path, 400, step=step, **form).text
    assert (phone.step, len(events(place))) == (step, before)


def test_a_document_opens_on_a_page_of_ours(phone: Phone) -> None:
    phone.agree()
    while phone.go_on() != "/answer":
        pass
    page = phone.get()
    assert "docs.example" not in str([tag.get("href") for tag in page.all("a")])
    answer = phone.post("/open", step=phone.step, open="2-3")
    assert answer.headers["Location"] == "/document/2/3"
    assert "It speaks of java" in phone.get("/document/2/3").text
    for wrong in ("/document/9/1", "/document/1/99", "/document/0/0"):
        assert phone.client.get(wrong).status_code == 404
    for wrong in ("", "1", "1-99", "9-1", "0-0", "a-b", "1-1-1", "²-1", "-1-1"):
        phone.post("/open", step=phone.step, open=wrong)


def test_grades_outlast_a_look_at_a_document(phone: Phone, place: ServedStudy) -> None:
    phone.agree()
    while "grade-1" not in phone.get().html:
        phone.go_on()
    phone.post("/open", step=phone.step, open="1-1", **{"grade-2": "3", "grade-3": "9"})
    ticked = [tag for tag in phone.get().all("input") if "checked" in tag]
    assert [(tag["name"], tag["value"]) for tag in ticked] == [("grade-2", "3")]
    phone.post("/answer", step=phone.step, **{"grade-1": "1", "grade-2": "3"})
    assert place.ticked == {}


def test_hostile_documents_stay_texts(phone: Phone, index: ToyIndex) -> None:
    evil = "<script>alert(1)</script>"
    for row in range(0, 40, 2):  # the profile likes these
        index.stored[row] = Document(f"d{row}", evil, f"{evil} java {evil}", "javascript:alert(1)")
    phone.agree()
    while phone.go_on() != "/answer":
        pass
    page = phone.get()
    answer = phone.post("/open", step=phone.step, open="1-1")
    document = phone.get(answer.headers["Location"])
    for html in (page.html, document.html):
        assert evil not in html
        assert "javascript:" not in html
        assert "&lt;script&gt;alert" in html or "Title" in html
    assert "&lt;script&gt;alert" in page.html


# -- codes -----------------------------------------------------------------------------------------


def test_codes_that_are_wrong_or_of_another_study(app: Flask, place: ServedStudy) -> None:
    phone = Phone(app)
    for code in ("", "nonsense", "7K3QD-0W8ZM-4TFXA-9B2CE-HJ6RN", "x" * 5000, "1002"):
        assert "is not known here" in phone.post("/join", 403, code=code).text
    assert phone.client.get("/join/7K3QD-0W8ZM-4TFXA-9B2CE-HJ6RN").status_code == 403
    version = place.study.consent_version
    for code in ("", "7K3QD-0W8ZM-4TFXA-9B2CE-HJ6RN"):
        phone.post("/consent", 403, code=code, version=version)
    assert place.store.participants() == []


def test_wrong_codes_are_slowed_down_and_right_ones_are_not(
    phone: Phone, place: ServedStudy
) -> None:
    guess = f"{phone.code[:5]}-0W8ZM-4TFXA-9B2CE-HJ6RN"
    statuses = [phone.client.post("/join", data={"code": guess}).status_code for _ in range(7)]
    assert statuses == [403] * 5 + [429] * 2
    phone.agree()
    assert only(place).consent


def test_another_consent_text_is_shown_before_anything_else(
    phone: Phone, place: ServedStudy
) -> None:
    phone.post("/consent", 200, code=phone.code, version="0" * 12)  # the page, with the new text
    assert only(place).consent == ""
    phone.agree()
    object.__setattr__(place.study, "consent", "Another text.")
    assert "Another text." in phone.get().text
    assert "Another text." in phone.get(f"/join/{phone.code}").text
    phone.agree()
    assert phone.go_on() == "/profile"


def test_no_page_comes_or_goes_while_people_are_under_way(phone: Phone, place: ServedStudy) -> None:
    """Else who stands before a task would skip it, and finish without it."""
    folder, settings = place.study.folder, Settings(workspace=place.study.folder / "none")
    path, head = folder / "study.toml", '[[form]]\nafter = "each-task"'
    text, (there,) = path.read_text(), faults_of(folder, settings)
    phone.agree()
    for found in (False, False, True):  # after the consent, the profile and the first form
        path.write_text(text.replace(head, '[[form]]\nafter = "end"'))
        assert any("people are under way" in one for one in faults_of(folder, settings)) == found
        path.write_text(text.replace("points = 5", "points = 7"))
        assert faults_of(folder, settings) == [there]
        phone.go_on()


def test_a_closed_study_lets_nobody_begin_and_everybody_go_on(
    app: Flask, phone: Phone, place: ServedStudy
) -> None:
    late = Phone(app, place.store.invite(1)[0])
    phone.agree()
    place.store.close_study()
    assert late.client.get(f"/join/{late.code}").status_code == 403
    version = place.study.consent_version
    assert "closed" in late.post("/consent", 403, code=late.code, version=version).text
    assert phone.to_the_end() == WAY


def test_a_form_of_a_megabyte_is_refused_and_a_long_text_is_asked_to_be_shorter(
    phone: Phone, place: ServedStudy
) -> None:
    phone.agree()
    while "remarks" not in phone.get().text:
        phone.go_on()
    step, before = phone.step, len(events(place))
    phone.post("/form", 413, step=step, **{"answer-remarks": "x" * 1_000_000})
    text = phone.post("/form", 400, step=step, **{"answer-remarks": "x" * 10_001}).text
    assert "shorten this" in text
    assert (phone.step, len(events(place))) == (step, before)
    phone.post("/form", step=step, **{"answer-remarks": "é\r\n" * 4000})
    assert only(place).finished


def test_a_clock_that_is_set_back_loses_nothing(
    phone: Phone, place: ServedStudy, clock: Clock
) -> None:
    phone.agree()
    phone.go_on()
    clock.now -= 86_400
    assert phone.to_the_end() == WAY[1:]
    assert only(place).finished


def test_a_hundred_arrive_at_once(app: Flask, place: ServedStudy) -> None:
    codes = place.store.invite(100)

    def arrive(code: object) -> None:
        phone = Phone(app, code)
        phone.agree()
        while phone.go_on() != "/answer":
            pass

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(arrive, codes))
    counts = Counter(person.cell for person in place.store.participants())
    assert sorted(counts) == [*range(6)]
    assert max(counts.values()) - min(counts.values()) <= 1


def test_who_is_silent_frees_the_place(app: Flask, place: ServedStudy, clock: Clock) -> None:
    codes = place.store.invite(7)
    for code in codes[:6]:
        Phone(app, code).agree()
    clock.now += 3601
    Phone(app, codes[6]).agree()
    standing = place.store.standing(6, place.seconds(), 3600)
    assert (standing.active, sum(standing.cells)) == (1, 1)


def test_an_open_door_needs_no_code(app: Flask, place: ServedStudy, leader: FlaskClient) -> None:
    phone = Phone(app)
    version = place.study.consent_version
    phone.post("/consent", 403, code="", version=version)
    leader.post("/leader/door", data={"open": "1"})
    page = phone.get()
    assert "I agree" in page.html
    phone.post("/consent", 403, code="", version=version)
    form = {"code": "", "version": version, "new": value_of(page, "new")}
    assert form["new"] != value_of(Phone(app).get(), "new")
    with ThreadPoolExecutor(4) as clicks:  # of an impatient finger
        assert all(clicks.map(lambda _: Phone(app).post("/consent", **form), range(4)))
    phone.post("/consent", **form)
    assert only(place).consent == version
    assert phone.to_the_end() == WAY
    # Somebody joined a release that was published: its rows are those of real people again.
    place.rankings.modes.withheld = lambda: True
    Phone(app).post("/consent", 403, code="", version=version)
    assert "I agree" not in Phone(app).get().html
    place.rankings.modes.withheld = lambda: False
    leader.post("/leader/door", data={"open": "0"})
    Phone(app).post("/consent", 403, code="", version=version)


def test_no_door_opens_to_rows_of_real_people(
    app: Flask, place: ServedStudy, leader: FlaskClient, modes: Modes
) -> None:
    modes.withheld = lambda: True
    assert leader.post("/leader/door", data={"open": "1"}).status_code == 403
    assert "Let everybody begin" not in leader.get("/leader").get_data(as_text=True)
    Phone(app).post("/consent", 403, code="", version=place.study.consent_version)


def test_the_time_of_a_task_is_told_as_it_is(phone: Phone, place: ServedStudy) -> None:
    phone.agree()
    while phone.go_on() != "/answer":
        pass
    for seconds, shown in {60: "60 seconds", 120: "2 minutes", 150: "150 seconds"}.items():
        tasks = tuple(replace(task, seconds=seconds) for task in place.study.tasks)
        place.study = replace(place.study, tasks=tasks)
        place.steps = steps_of(place.study)
        assert f"You have {shown}. A later answer" in phone.get().text

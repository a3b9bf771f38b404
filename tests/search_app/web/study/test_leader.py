"""The leader's pages: numbers, a preference that is hidden until the end, and a vote."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from search_app.web import ServedStudy, create_study_app

from ..conftest import ADMIN_TOKEN, Page
from .conftest import Phone


def numbers(client: FlaskClient, path: str = "/leader/numbers") -> str:
    with client.get(path) as answer:
        assert answer.status_code == 200
        return Page(answer.text).text


def test_the_board_counts_and_hides_the_preference(
    app: Flask, place: ServedStudy, leader: FlaskClient
) -> None:
    people = [Phone(app, code) for code in place.store.invite(4)]
    for phone in people[:3]:
        phone.agree()
    people[0].to_the_end()
    while "For practice" not in people[1].get().text:
        people[1].go_on()
    people[2].post("/withdraw")
    text = numbers(leader)
    counted = ("Invited 3 have", "Active 1 in", "Finished 1 of 12 planned", "Withdrawn 1 nothing")
    assert [part for part in counted if part not in text] == []
    assert re.search(r"\d practice 1 ", text)  # the step's kind and name are one word
    assert "Hidden until 12 people have finished" in text
    assert "95 %" not in text
    assert "95 %" in numbers(leader, "/leader?reveal=1")
    assert leader.post("/leader/close").status_code == 400  # one press is not enough
    assert "95 %" not in numbers(leader)
    leader.post("/leader/close", data={"sure": "1"})
    assert "95 %" in numbers(leader)


def test_the_token_opens_the_board_and_wrong_ones_cost_time(app: Flask, place: ServedStudy) -> None:
    client = app.test_client()
    assert client.get("/leader").headers["Location"] == "/leader/sign-in"
    tries = [client.post("/leader/sign-in", data={"token": "wrong"}).status_code for _ in range(6)]
    assert tries == [403] * 5 + [429]
    right = {"token": ADMIN_TOKEN}
    assert client.post("/leader/sign-in", data=right).status_code == 429  # it waits, too
    place.clock.now += 61  # type: ignore[attr-defined]
    assert client.post("/leader/sign-in", data=right).status_code == 303
    assert client.get("/leader").status_code == 200
    client.post("/leader/sign-out")
    assert client.get("/leader").status_code == 303


def test_without_a_token_there_is_no_board(place: ServedStudy) -> None:
    place.settings = replace(place.settings, admin_token="")
    client = create_study_app(place).test_client()
    for path in ("/leader", "/leader/sign-in", "/leader/numbers", "/leader/slide/vote"):
        assert client.get(path).status_code == 404
    assert client.post("/leader/sign-in", data={"token": ""}).status_code == 404


def reach_the_vote(phone: Phone) -> None:
    """Go on until the page has three lists."""
    while "List C" not in phone.get().text:
        phone.go_on()


@pytest.mark.parametrize("whose", [{"persona": "1003"}, {"searches": "code\ncode"}])
def test_an_audience_votes_on_a_blind_slide(
    app: Flask, place: ServedStudy, leader: FlaskClient, whose: dict[str, str]
) -> None:
    early, *audience = [Phone(app, code) for code in place.store.invite(5)]
    for phone in (early, *audience):
        phone.agree()
    reach_the_vote(early)  # before the slide: another list, which does not count on it
    early.post("/answer", step=early.step, choice="1")
    answer = leader.post("/leader/slide/vote", data=whose)
    assert answer.headers["Location"] == "/leader/slide/vote"
    page = Page(leader.get("/leader/slide/vote").text)
    titles = re.findall(r"Title \d\d", page.html)
    for phone in audience:
        reach_the_vote(phone)
        on_phone = re.findall(r"Title \d\d", phone.get().html)
        assert [on_phone[at : at + 5] for at in (0, 10, 20)] == [
            titles[at : at + 5] for at in (0, 5, 10)
        ]
    for phone, choice in zip(audience, ("2", "2", "same", "3"), strict=True):
        phone.post("/answer", step=phone.step, choice=choice)
    assert numbers(leader, "/leader/slide/vote/bars") == "A 0 B 2 C 1 No difference 1"
    # Names are there once they are asked for, and the votes are those of the study.
    shown = place.slides["vote"].conditions
    revealed = numbers(leader, "/leader/slide/vote/bars?reveal=1")
    assert revealed == f"A {shown[0]} 0 B {shown[1]} 2 C {shown[2]} 1 No difference 1"
    blind = leader.get("/leader/slide/vote").text
    assert not [name for name in shown if re.search(rf"\b{name}\b", Page(blind).text)]
    votes = [row[6] for row in place.store.events() if row[2] == "vote"]
    assert votes[1:] == [shown[1], shown[1], "same", shown[2]]
    audience[0].post("/withdraw")
    assert numbers(leader, "/leader/slide/vote/bars") == "A 0 B 1 C 1 No difference 1"
    leader.post("/leader/slide/vote", data={"open": "0"})
    assert leader.get("/leader/slide/vote").status_code == 404


def test_slides_of_other_tasks_and_people_are_refused(leader: FlaskClient) -> None:
    answer = leader.post("/leader/slide/vote", data={"searches": " "})
    assert (answer.status_code, "All lists would be the same" in answer.text) == (400, True)
    for name in ("sides", "own", "nosuch"):
        assert leader.post(f"/leader/slide/{name}", data={}).status_code == 404
        assert leader.get(f"/leader/slide/{name}/bars").status_code == 404
    assert leader.post("/leader/slide/vote", data={"persona": "9999"}).status_code == 400

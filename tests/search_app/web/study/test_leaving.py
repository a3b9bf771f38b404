"""Withdrawal at every step: nothing of the person is left, and the place is free."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from search_app.settings import Settings
from search_app.study.export.writing import export
from search_app.study.store import FILE, StudyStore
from search_app.web import ServedStudy
from search_app.web.pages.study.place import withdrawal_of

from .conftest import Phone, remains
from .test_way import WAY

NEEDLES = ("needle-remark", "needle-query", "needlecoffee")
BY = ("cookie", "code", "link")


def prepared_of(place: ServedStudy) -> tuple[list[object], list[object]]:
    """Return the profiles that are in memory, prepared for searches, and the words typed."""
    modes, counter = place.rankings.modes, place.rankings.growth._counter
    typed = counter.terms if counter else []
    return [*modes._closest.values(), *typed], [*modes.engine._targets._known.values()]


def link_of(phone: Phone, place: ServedStudy) -> str:
    """Return what the link for later has in it."""
    person = place.store.of_code(phone.code)
    assert person is not None
    return withdrawal_of(person)


@pytest.mark.parametrize("steps", range(len(WAY) + 1))
def test_whoever_withdraws_leaves_nothing(
    app: Flask, phone: Phone, place: ServedStudy, steps: int, tmp_path: Path
) -> None:
    other = Phone(app, place.store.invite(1)[0])
    other.agree()
    other.go_on()
    before = place.store.standing(6, place.seconds(), 3600).cells
    phone.agree("keep_queries", "publish_texts")
    for _ in range(steps):
        phone.go_on("java needle-query")
    page = phone.get()
    assert [tag for tag in page.all("a") if tag.get("href") == "/withdraw"]
    person = place.store.of_code(phone.code)
    assert person is not None
    assert any(prepared_of(place))
    named = [*NEEDLES, phone.code[:5], person.seed.hex(), str(person.id)]
    way = {"cookie": {}, "code": {"code": phone.code}, "link": {"proof": link_of(phone, place)}}
    by = BY[steps % 3]
    sender = phone if by == "cookie" else Phone(app)  # later, from another device
    answer = sender.post("/withdraw", **way[by])
    assert answer.headers["Location"] == "/withdrawn"
    assert "Nothing of you" in sender.get("/withdrawn").text
    assert remains(place.study.folder, named) == []
    assert person.seed not in b"".join(p.read_bytes() for p in place.study.folder.glob("study.s*"))
    assert (place.typed, place.ticked, prepared_of(place)) == ({}, {}, ([], []))
    assert place.store.standing(6, place.seconds(), 3600).cells == before
    # The code, the link and the cookie lead nowhere, and a form that was open does nothing.
    assert phone.client.get(f"/join/{phone.code}").status_code == 403
    phone.post("/withdraw", 403, **way["link"])
    for path in ("/answer", "/form", "/profile", "/query", "/open"):
        phone.post(path, step="3", choice="1", q="java")
    assert [one.id for one in place.store.participants()] == [place.store.of_code(other.code).id]  # type: ignore[union-attr]
    if steps == len(WAY):
        place.store.close_study()
        export(place.study, place.store, tmp_path / "export", Settings())
        assert remains(tmp_path / "export", named) == []


def test_whom_the_command_withdraws_goes_from_memory_too(phone: Phone, place: ServedStudy) -> None:
    phone.agree()
    while phone.go_on("java needle-query") != "/query":
        pass
    (person,) = place.store.participants()
    with closing(StudyStore(place.study.folder / FILE)) as other:
        other.withdraw(person.id)
    assert place.typed
    assert any(prepared_of(place))
    place.close_unused()  # as the follower does all the time
    assert (place.typed, place.ticked, prepared_of(place)) == ({}, {}, ([], []))


@pytest.mark.parametrize("moment", ["rank", "keep_trial"])
def test_who_withdraws_while_a_query_runs_leaves_nothing(
    app: Flask,
    phone: Phone,
    place: ServedStudy,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
) -> None:
    phone.agree()
    while "/query" not in {form["action"] for form in phone.get().all("form")}:
        phone.go_on()
    owner: Any = place if moment == "rank" else place.store
    before, step = getattr(owner, moment), phone.step

    def leave(*given: object) -> object:
        done = before(*given)
        Phone(app).post("/withdraw", code=phone.code)
        return done

    monkeypatch.setattr(owner, moment, leave)
    phone.post("/query", step=step, q="java needle-query")
    assert place.store.participants() == place.store.trials() == []
    assert (place.typed, place.ticked, prepared_of(place)) == ({}, {}, ([], []))


@pytest.mark.parametrize("proof", ["x", "1-2", "0" * 200, "é", "12345-" + "0" * 26])
def test_a_wrong_link_withdraws_nobody(phone: Phone, place: ServedStudy, proof: str) -> None:
    phone.agree()
    assert Phone(phone.client.application, "").client.get(f"/withdraw/{proof}").status_code == 200
    phone.post("/withdraw", 403, proof=proof)
    phone.post("/withdraw", 403, code="nonsense")
    assert len(place.store.participants()) == 1


def test_somebody_who_never_began_may_withdraw(
    app: Flask, phone: Phone, place: ServedStudy
) -> None:
    Phone(app).post("/withdraw", code=phone.code)
    assert place.store.participants() == []

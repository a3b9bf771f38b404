"""Bad input, broken parts, and real people: one plain sentence, never a traceback."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, abort
from flask.testing import FlaskClient

from anonymizer.errors import BadInput
from index.model import SearchError
from search_app import __version__
from search_app.accounts.store import PeopleStore
from search_app.errors import UsageError
from search_app.evaluation.log import PrecisionLog
from search_app.web import Site, create_app

from ..conftest import Page, seen


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ("pool=0", "pool=0 must be a whole number from 1 to 10000"),
        ("pool=1.5", "pool=1.5 must be a whole number from 1 to 10000"),
        ("page=11", "page=11 must be a whole number from 1 to 10"),
        ("page=٣", "page=٣ must be a whole number from 1 to 10"),
        ("page=99999999999999999999999", "page=99999999999999999999… must be a whole number"),
        ("mode=best", "mode=best must be one of none, own, group"),
        ("ranking=best", "ranking=best must be one of cosine, evidence"),
        ("operators=yes", "operators=yes must be 0 or 1"),
        ("pool=x&mode=y", "pool=x must be a whole number from 1 to 10000; mode=y must be one of"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/compare"])
def test_bad_parameters_are_refused_all_at_once(
    client: FlaskClient, path: str, parameters: str, sentence: str
) -> None:
    assert sentence in seen(client, f"{path}?q=java&{parameters}", 400).text


@pytest.mark.parametrize("path", ["/", "/compare"])
def test_an_unknown_person_is_not_found_and_not_repeated(client: FlaskClient, path: str) -> None:
    text = seen(client, f"{path}?q=java&user=7654321", 404).text
    assert "There is no such person here." in text
    assert "7654321" not in text


def test_real_people_are_never_listed(real: FlaskClient) -> None:
    for path in ("/", "/?q=java", "/?q=java&mode=none", "/compare?q=java"):
        page = seen(real, path)
        assert page.all("select") == []
        assert "real people are never listed" in page.text
        assert "Mira" not in page.text


@pytest.mark.parametrize("path", ["/", "/compare"])
@pytest.mark.parametrize("parameters", ["user=1001", "mode=own", "mode=group", "user=9999"])
def test_nobody_can_ask_as_a_real_person(real: FlaskClient, path: str, parameters: str) -> None:
    text = seen(real, f"{path}?q=java&{parameters}", 403).text
    assert "nobody can search as one of them" in text
    assert "Title" not in text


def test_who_is_in_no_group_gets_the_order_of_the_closest_row_and_a_notice(
    client: FlaskClient, log: PrecisionLog
) -> None:
    page = seen(client, "/?q=java&user=1004&mode=group")
    assert "You are in no group. In “My group” the row of the closest group orders" in page.text
    assert [line.mode for line in log.summary()] == ["none", "own", "group"]
    compared = seen(client, "/compare?q=java&user=1004").text
    assert "the closest group finds " in compared
    assert "your group" not in (page.text + compared).lower()


@pytest.mark.parametrize("path", ["/?q=java&user=1001", "/compare?q=java&user=1001"])
def test_a_broken_profile_leaves_the_plain_order_and_a_notice(
    client: FlaskClient, forward: Any, log: PrecisionLog, caplog: Any, path: str
) -> None:
    forward.broken = True
    response = seen(client, path).html
    assert "Personalization failed for this search" in response
    assert "Title 00" in response
    assert log.summary() == []
    assert "ValueError" in caplog.text
    assert "java" not in caplog.text
    assert "1001" not in caplog.text


@pytest.mark.parametrize("kind", [SearchError, BadInput, UsageError])
def test_what_cannot_be_used_is_said_without_its_path(
    client: FlaskClient, index: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any, kind: Any
) -> None:
    def broken(_query: object, _size: object, **_asked: object) -> None:
        raise kind("/srv/secret/workspace/index is damaged; build it again")

    monkeypatch.setattr(index, "pool", broken)
    response = seen(client, "/?q=java", 503).html
    assert "veilsearch doctor" in response
    assert "try again" not in response
    for told in (response, caplog.text):
        assert "secret" not in told
    assert kind.__name__ in caplog.text


def test_a_range_beyond_the_end_is_said_as_it_is(client: FlaskClient) -> None:
    response = client.get("/static/style.css", headers={"Range": "bytes=99999999-"})
    text = Page(response.text).text
    assert response.status_code == 416
    assert "The file ends before the requested part." in text
    assert "not your fault" not in text


@pytest.mark.parametrize("path", ["/?q=java", "/?q=java&user=1001", "/compare?q=java&user=1001"])
def test_a_search_that_takes_too_long_is_stopped_and_said(
    client: FlaskClient, index: Any, log: PrecisionLog, caplog: Any, path: str
) -> None:
    index.slow = True
    response = seen(client, path, 503).html
    assert "Try fewer words or a smaller pool" in response
    assert "veilsearch doctor" not in response
    assert caplog.messages == ["a request failed: TooSlow"]
    assert log.summary() == []


def test_a_log_that_cannot_be_written_costs_no_search(site: Site) -> None:
    class Full:
        def add(self, _entries: object) -> None:
            raise OSError("no space left")

    client = create_app(replace(site, log=Full())).test_client()
    response = seen(client, "/?q=java&user=1001").html
    assert "could not be written to the log" in response


def test_an_unexpected_fault_tells_nothing(
    client: FlaskClient, index: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def broken(_rows: object) -> None:
        raise RuntimeError("sentinel: java as 1001")

    monkeypatch.setattr(index, "documents", broken)
    response = seen(client, "/?q=java&user=1001", 500).html
    assert "Something went wrong here" in response
    for told in (response, caplog.text):
        assert "sentinel" not in told
        assert "Traceback" not in told
    assert "RuntimeError at " in caplog.text


@pytest.mark.parametrize("fault", ["", "gone", "replaced", "read-only"])
def test_health_fails_where_the_file_of_people_cannot_be_used(
    site: Site, tmp_path: Path, fault: str
) -> None:
    path = tmp_path / "people.sqlite"
    store = PeopleStore(path)
    store.new_code("Mira")
    if fault == "read-only":
        store._database._connection.execute("PRAGMA query_only = ON")
    elif fault:
        path.unlink()
    if fault == "replaced":
        PeopleStore(path).close()
    client = create_app(replace(site, store=store)).test_client()
    answer = client.get("/api/v1/health")
    expected = (503, "failing") if fault else (200, "ok")
    assert (answer.status_code, answer.json["status"]) == expected


def test_health_is_told_to_machines(client: FlaskClient) -> None:
    response = client.get("/api/v1/health")
    assert response.json == {
        "status": "ok",
        "version": __version__,
        "index": "toy corpus.0001",
        "release": "toy",
    }


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/api/v1/nothing", 404, "There is no such page."),
        ("/api/", 404, "There is no such page."),
        ("/api/v1/picky", 412, "The request can’t be answered as it was asked."),
        ("/api/v1/often", 429, "Too many requests came at once; wait a moment."),
        ("/api/v1/broken", 500, "Something went wrong here, and it is not your fault."),
        ("/api/v1/unusable", 503, "The index can’t be used; the operator finds the reason"),
    ],
)
def test_machines_are_told_faults_in_json(
    app: Flask, path: str, status: int, sentence: str
) -> None:
    def broken() -> str:
        raise RuntimeError("sentinel: java as 1001")

    def unusable() -> str:
        raise SearchError("/srv/secret is damaged")

    app.add_url_rule("/api/v1/picky", "picky", lambda: abort(412))
    app.add_url_rule("/api/v1/often", "often", lambda: abort(429))
    app.add_url_rule("/api/v1/broken", "broken", broken)
    app.add_url_rule("/api/v1/unusable", "unusable", unusable)
    response = app.test_client().get(path)
    assert (response.status_code, response.content_type) == (status, "application/json")
    assert list(response.json) == ["error"]
    assert response.json["error"]["status"] == status
    assert response.json["error"]["message"].startswith(sentence)


def test_machines_are_told_which_methods_there_are(client: FlaskClient) -> None:
    response = client.post("/api/v1/health")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")
    assert response.json == {
        "error": {"status": 405, "message": "This address does not take this method."}
    }

"""The document tells what the API does: it is valid, whole, and every answer agrees with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from flask import Flask
from flask.testing import FlaskClient

from search_app.web import Site, create_app
from search_app.web.openapi import document, routes
from search_app.web.operations import operation_of
from search_app.web.parameters import LARGEST_POOL
from search_app.web.site import Shown

API = "/api/v1"


@pytest.fixture(params=["demo", "private", "plain"])
def any_site(request: Any, site: Site, private: Site) -> Site:
    plain = replace(site, people={}, examples=(), access="plain")
    return {"demo": site, "private": private, "plain": plain}[request.param]


def parameters(told: dict[str, Any], path: str) -> dict[str, Any]:
    return {each["name"]: each for each in told["paths"][f"{API}/{path}"]["get"]["parameters"]}


def test_the_document_is_openapi(any_site: Site) -> None:
    told = document(create_app(any_site), any_site)
    assert told["openapi"] == "3.1.0"
    schemathesis.openapi.from_dict(told).validate()


def test_a_wrong_document_is_noticed(site: Site) -> None:
    told = document(create_app(site), site)
    told["paths"][f"{API}/search"]["get"]["parameters"][0]["in"] = "nowhere"
    with pytest.raises(jsonschema_rs.ValidationError):
        schemathesis.openapi.from_dict(told).validate()


def test_every_address_of_the_api_is_in_it(app: Flask, site: Site) -> None:
    described = {
        (path, method.upper())
        for path, methods in document(app, site)["paths"].items()
        for method in methods
    }
    there = {
        (rule.rule.replace("<", "{").replace(">", "}"), method)
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/") and rule.endpoint != "docs.machine"
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert described == there
    for rule in app.url_map.iter_rules():
        declared = operation_of(app.view_functions[rule.endpoint]) is not None
        assert declared == (rule.rule.startswith("/api/") and rule.endpoint != "docs.machine")


def test_ranges_and_defaults_are_those_of_the_forms(app: Flask, site: Site) -> None:
    search = parameters(document(app, site), "search")
    pool = {"type": "integer", "minimum": 1, "maximum": LARGEST_POOL, "default": 100}
    assert search["pool"]["schema"] == pool
    assert search["mode"]["schema"]["enum"] == ["none", "own", "group"]
    assert search["q"]["required"]
    assert not search["page"]["required"]


def test_further_releases_are_modes(app: Flask, site: Site) -> None:
    further = replace(site, further={"group:other": Shown("other", {})})
    told = document(app, further)
    assert parameters(told, "search")["mode"]["schema"]["enum"][-1] == "group:other"
    assert parameters(told, "groups")["release"]["schema"]["enum"] == ["other"]
    assert "release" not in parameters(document(app, site), "groups")


def test_people_are_chosen_in_demo_mode_only(any_site: Site) -> None:
    told = document(create_app(any_site), any_site)
    shown = any(
        each["name"] == "user"
        for methods in told["paths"].values()
        for operation in methods.values()
        for each in operation["parameters"]
    )
    assert shown == (any_site.access == "demo")


def test_a_session_is_asked_for_in_private_mode_only(any_site: Site) -> None:
    told = document(create_app(any_site), any_site)
    private = any_site.access == "private"
    asked = {
        path: "security" in operation
        for path, methods in told["paths"].items()
        for operation in methods.values()
    }
    assert asked.pop(f"{API}/health") is asked.pop(f"{API}/candidates") is False
    assert set(asked.values()) == {private}
    assert ("securitySchemes" in told["components"]) == private


def test_every_operation_says_how_it_may_be_refused(any_site: Site) -> None:
    told = document(create_app(any_site), any_site)
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            statuses = set(operation["responses"])
            assert {"200", "400", "429", "503"} <= statuses
            assert "500" not in statuses
            assert ({"403", "413", "415"} <= statuses) or method == "get"
            closed = any_site.access == "private" and not path.endswith(("/health", "/candidates"))
            assert ("401" in statuses) == closed


ASKED = [
    "search?q=java",
    "search?q=",
    "search?q=java&user=1001",
    "search?q=java&user=1003&mode=own&mix=0.5&operators=1&page=4",
    "search?q=many+java&user=1004&mode=group",
    "search?q=java&pool=1",
    "candidates?q=java",
    "candidates?q=unheard",
    "candidates?q=java&pool=30&row=g0001&keep=7",
    "compare?q=java",
    "compare?q=java&user=1001&pool=30",
    "compare?q=rare&user=1004",
    "explain?q=java&doc=doc03&user=1001&mode=own",
    "explain?q=java&doc=doc03&user=1003&mode=group&mix=0.5",
    "explain?q=java&doc=doc03",
    "profile?user=1001",
    "profile?user=1004",
    "profile/choices?user=1001",
    "groups",
    "groups?sort=terms",
    "groups/g0001",
    "log",
    "health",
]


@pytest.mark.parametrize("asked", ASKED)
def test_answers_are_as_described(app: Flask, client: FlaskClient, site: Site, asked: str) -> None:
    client.get("/?q=java&user=1001")  # for the log
    response = client.get(f"{API}/{asked}")
    assert response.status_code == 200
    problems(app, site, asked, "200", response.json)


@pytest.mark.parametrize("asked", ["search", "profile?user=9", "groups/g9999", "log?page=0"])
def test_refusals_are_as_described(app: Flask, client: FlaskClient, site: Site, asked: str) -> None:
    response = client.get(f"{API}/{asked}")
    problems(app, site, asked, str(response.status_code), response.json)


def problems(app: Flask, site: Site, asked: str, status: str, answer: Any) -> None:
    """Raise what in an answer is not as the document says."""
    told = document(app, site)
    path = f"{API}/{asked.partition('?')[0]}"
    path = f"{API}/groups/{{row}}" if path.startswith(f"{API}/groups/") else path
    content = told["paths"][path]["get"]["responses"][status]["content"]
    schema = {**content["application/json"]["schema"], "components": told["components"]}
    jsonschema_rs.Draft202012Validator(schema).validate(answer)


def test_a_failing_index_is_told_as_described(
    app: Flask, client: FlaskClient, site: Site, index: Any
) -> None:
    index.broken = True
    response = client.get(f"{API}/health")
    problems(app, site, "health", "503", response.json)
    assert response.json["status"] == "failing"
    response = client.get(f"{API}/search?q=java")
    problems(app, site, "search", "503", response.json)


def test_operations_stand_in_the_order_of_the_rooms(app: Flask) -> None:
    paths = [route.path.removeprefix(API) for route in routes(app)]
    assert paths.index("/search") < paths.index("/compare") < paths.index("/profile")
    assert paths.index("/profile") < paths.index("/groups") < paths.index("/log")

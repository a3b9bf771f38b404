"""The document tells what the API does: it is valid, whole, and every answer agrees with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from flask import Flask
from flask.testing import FlaskClient

from search_app.web import Site, create_app
from search_app.web.api.described.openapi import document
from search_app.web.api.described.operations import operation_of
from search_app.web.parameters import LARGEST_POOL

from ...run_folders import make_run, with_runs

API = "/api/v1"


@pytest.fixture
def site(site: Site, tmp_path: Path) -> Site:
    """Have runs of experiments there, one of them damaged."""
    make_run(tmp_path / "workspace" / "experiments" / "bad", report_json=b"{}")
    return with_runs(site, tmp_path / "workspace")


@pytest.fixture(params=["demo", "private", "plain"])
def any_site(request: Any, site: Site, private: Site) -> Site:
    plain = replace(site, people={}, examples=(), access="plain")
    return {"demo": site, "private": private, "plain": plain}[request.param]


def parameters(told: dict[str, Any], path: str) -> dict[str, Any]:
    return {each["name"]: each for each in told["paths"][f"{API}/{path}"]["get"]["parameters"]}


def test_every_address_of_the_api_is_in_it(app: Flask, site: Site) -> None:
    described = {
        (path, method.upper())
        for path, methods in document(app, site)["paths"].items()
        for method in methods
    }
    there = {
        (rule.rule.replace("<", "{").replace(">", "}").replace("path:", ""), method)
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
    further = replace(site, further={"group:other": "other"})
    told = document(app, further)
    assert parameters(told, "search")["mode"]["schema"]["enum"][-1] == "group:other"
    assert parameters(told, "groups")["release"]["schema"]["enum"] == ["other"]
    assert "release" not in parameters(document(app, site), "groups")


def test_the_document_says_whom_it_serves_and_how_it_refuses(any_site: Site) -> None:
    told = document(create_app(any_site), any_site)
    assert told["openapi"] == "3.1.0"
    schemathesis.openapi.from_dict(told).validate()
    chosen, private = False, any_site.access == "private"
    for path, methods in told["paths"].items():
        closed = private and not path.endswith(("/health", "/candidates", "/reference"))
        for method, operation in methods.items():
            statuses = set(operation["responses"])
            assert {"200", "400", "429", "503"} <= statuses
            assert "500" not in statuses
            assert ({"403", "413", "415"} <= statuses) or method == "get"
            assert ("401" in statuses) == ("security" in operation) == closed
            chosen |= any(each["name"] == "user" for each in operation["parameters"])
    assert chosen == (any_site.access == "demo")
    assert ("securitySchemes" in told["components"]) == private


ASKED = [  # what the requests of test_schemathesis do not reach
    "search?q=many+java&user=1004&mode=group",
    "candidates?q=java&pool=30&row=g0001&keep=7",
    "compare?q=rare&user=1004",
    "explain?q=java&doc=doc03&user=1003&mode=group",
    "profile?user=1004",
    "log",
    "documents/doc03",
    "suggest?q=java+co",
    *(f"experiments{run}" for run in ("", "/toy", "/bad")),
]


@pytest.mark.parametrize("asked", ASKED)
def test_answers_are_as_described(app: Flask, client: FlaskClient, site: Site, asked: str) -> None:
    client.get("/?q=java&user=1001")  # for the log
    response = client.get(f"{API}/{asked}")
    assert response.status_code == 200
    problems(app, site, asked, "200", response.json)


def problems(app: Flask, site: Site, asked: str, status: str, answer: Any) -> None:
    """Raise what in an answer is not as the document says."""
    told = document(app, site)
    path = f"{API}/{asked.partition('?')[0]}"
    for room, name in (("groups", "row"), ("experiments", "experiment"), ("documents", "doc")):
        path = f"{API}/{room}/{{{name}}}" if path.startswith(f"{API}/{room}/") else path
    content = told["paths"][path]["get"]["responses"][status]["content"]
    schema = {**content["application/json"]["schema"], "components": told["components"]}
    jsonschema_rs.Draft202012Validator(schema).validate(answer)


def test_health_fails_where_nobody_can_sign_in(client: FlaskClient, site: Site) -> None:
    assert client.get(f"{API}/health").status_code == 200
    site.store.close()
    response = client.get(f"{API}/health")
    assert (response.status_code, response.json["status"]) == (503, "failing")


def test_a_failing_index_is_told_as_described(
    app: Flask, client: FlaskClient, site: Site, index: Any
) -> None:
    index.broken = True
    response = client.get(f"{API}/health")
    problems(app, site, "health", "503", response.json)
    assert response.json["status"] == "failing"
    response = client.get(f"{API}/search?q=java")
    problems(app, site, "search", "503", response.json)

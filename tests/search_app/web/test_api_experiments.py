"""Experiments for machines: the records are as the API's document says, and hold no row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from flask import Flask
from flask.testing import FlaskClient

from search_app.experiments.report import as_record
from search_app.web import Site, create_app
from search_app.web.openapi import document

from .run_folders import REPORT, make_run, with_runs

API = "/api/v1/experiments"


@pytest.fixture
def site(site: Site, tmp_path: Path) -> Site:
    return with_runs(site, tmp_path / "workspace")


@pytest.fixture
def app(site: Site) -> Flask:
    return create_app(site)


def check(app: Flask, site: Site, path: str, status: str, answer: Any) -> None:
    """Raise what in an answer is not as the document says."""
    told = document(app, site)
    content = told["paths"][path]["get"]["responses"][status]["content"]
    schema = {**content["application/json"]["schema"], "components": told["components"]}
    jsonschema_rs.Draft202012Validator(schema).validate(answer)


def test_runs_are_listed(app: Flask, site: Site, client: FlaskClient) -> None:
    answer = client.get(API).json
    check(app, site, API, "200", answer)
    assert [each["experiment"] for each in answer["experiments"]] == ["later", "toy"]
    toy = answer["experiments"][1]
    assert toy["claims"] == {"holds": 1, "fails": 1, "undecided": 1}
    assert (toy["people"], toy["queries"], toy["faults"]) == (3, 6, [])


def test_a_run_is_its_report(app: Flask, site: Site, client: FlaskClient) -> None:
    answer = client.get(f"{API}/toy").json
    check(app, site, f"{API}/{{experiment}}", "200", answer)
    record = json.loads(json.dumps(as_record(REPORT)))
    for part in ("notes", "claims", "tables"):
        assert answer[part] == record[part]
    (figure,) = answer["figures"]
    files = figure.pop("files")
    assert figure == record["figures"][0]
    assert [client.get(file).status_code for file in files] == [200] * 3


def test_a_damaged_run_says_so(app: Flask, site: Site, client: FlaskClient, tmp_path: Path) -> None:
    make_run(tmp_path / "workspace" / "experiments" / "bad", report_json=b"{}")
    answer = client.get(f"{API}/bad").json
    check(app, site, f"{API}/{{experiment}}", "200", answer)
    assert answer["claims"] == []
    assert answer["summary"]["claims"] is None
    assert answer["summary"]["faults"] == ["report.json is no report as this version writes it."]


def test_what_is_not_there_is_refused(app: Flask, site: Site, client: FlaskClient) -> None:
    answer = client.get(f"{API}/none")
    assert answer.status_code == 404
    check(app, site, f"{API}/{{experiment}}", "404", answer.json)
    assert client.get(f"{API}?user=1001").status_code == 400

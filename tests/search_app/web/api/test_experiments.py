"""Experiments for machines: the records are as the API's document says, and hold no row."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from search_app.experiments.report.report import as_record
from search_app.web import Site

from ..run_folders import REPORT, make_run, with_runs

API = "/api/v1/experiments"


@pytest.fixture
def site(site: Site, tmp_path: Path) -> Site:
    return with_runs(site, tmp_path / "workspace")


def test_runs_are_listed(client: FlaskClient) -> None:
    answer = client.get(API).json
    assert [each["experiment"] for each in answer["experiments"]] == ["later", "toy"]
    toy = answer["experiments"][1]
    assert toy["claims"] == {"holds": 1, "fails": 1, "undecided": 1}
    assert (toy["people"], toy["queries"], toy["faults"]) == (3, 6, [])


def test_a_run_is_its_report(client: FlaskClient) -> None:
    answer = client.get(f"{API}/toy").json
    record = json.loads(json.dumps(as_record(REPORT)))
    for part in ("notes", "claims", "tables"):
        assert answer[part] == record[part]
    (figure,) = answer["figures"]
    files = figure.pop("files")
    assert figure == record["figures"][0]
    assert [client.get(file).status_code for file in files] == [200] * 3


def test_a_damaged_run_says_so(client: FlaskClient, tmp_path: Path) -> None:
    make_run(tmp_path / "workspace" / "experiments" / "bad", report_json=b"{}")
    answer = client.get(f"{API}/bad").json
    assert answer["claims"] == []
    assert answer["summary"]["claims"] is None
    assert answer["summary"]["faults"] == ["report.json is no report as this version writes it."]

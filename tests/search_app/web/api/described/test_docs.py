"""The page about the API: made from its document, with answers of the site itself."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from search_app.web import Site, create_app
from search_app.web.api.described.openapi import document

from ...conftest import seen, signed_in
from ...run_folders import with_runs


@pytest.fixture
def site(site: Site, tmp_path: Path) -> Site:
    """Have runs of experiments there."""
    return with_runs(site, tmp_path / "workspace")


@pytest.fixture
def person(private: Site) -> FlaskClient:
    return signed_in(private, private.store.new_code("1001"))


def examples(text: str) -> list[str]:
    found = re.findall(r'aria-label="(?:Request|Answer)[^"]*"><code>(.*?)</code>', text, re.S)
    return [html.unescape(each) for each in found]


def test_every_operation_is_on_the_page(client: FlaskClient, app: Flask, site: Site) -> None:
    text = html.unescape(client.get("/docs").text)
    for path, methods in document(app, site)["paths"].items():
        for method, told in methods.items():
            assert f'<span class="method">{method.upper()}</span> {path}</code>' in text
            assert told["summary"] in text
    assert "a whole number" not in text  # kinds are said in the table's words
    assert "whole number, 1 to 10,000" in text


def test_the_examples_work_as_they_stand(client: FlaskClient, app: Flask) -> None:
    shown = examples(client.get("/docs").text)
    requests, answers = shown[::2], shown[1::2]
    for request, answer in zip(requests, answers, strict=True):
        address = re.findall(r"'http://localhost(/api/v1/[^']*)'", request)[0]
        keys = json.loads(answer).keys()
        if "-X" not in request:
            response = app.test_client().get(address)
            assert response.status_code == 200
            assert response.json.keys() == keys
        elif "PUT" in request:
            body = re.findall(r"-d '(.*?)'", request)[0]
            response = app.test_client().put(address, json=json.loads(body))
            assert response.json.keys() == keys


def test_nothing_personal_is_shown_in_private_mode(private: Site, person: FlaskClient) -> None:
    for client in (create_app(private).test_client(), person):
        response = seen(client, "/docs").html
        for secret in ("1001", 'coffee": ', "Title 00", "toy-site"):
            assert secret not in html.unescape(response)
        assert "--cookie veilsearch=SESSION" in html.unescape(response)
        assert '"status": "ok"' in html.unescape(response)  # health is open to all


def test_a_broken_index_does_not_break_the_page(client: FlaskClient, index: Any) -> None:
    index.broken = True
    response = seen(client, "/docs").html
    assert "The shape of the answer" in response


def test_links_inside_the_page_lead_somewhere(client: FlaskClient) -> None:
    text = client.get("/docs").text
    ids = re.findall(r'id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(ids)

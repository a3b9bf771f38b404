"""The page about the API: made from its document, with answers of the site itself."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
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
        assert "-H 'Authorization: Bearer TOKEN'" in html.unescape(response)
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


def test_every_form_to_try_an_operation_gets_its_answer(client: FlaskClient) -> None:
    forms = re.findall(
        r'<form class="try" action="(.*?)".*?</form>', client.get("/docs").text, re.S
    )
    parts = re.split(r'<form class="try" action=', client.get("/docs").text)[1:]
    assert len(forms) > 10
    for address, part in zip(forms, parts, strict=True):
        form = part.partition("</form>")[0]
        inputs = re.findall(r'<input name="(.*?)" value="(.*?)"', form)
        chosen = re.findall(r'<select name="(.*?)">.*?<option selected>(.*?)</option>', form, re.S)
        assert client.get(address, query_string=dict(inputs + chosen)).status_code == 200, form


def test_the_page_is_made_once_until_something_changes(
    app: Flask, site: Site, index: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pooled: list[str] = []
    pool = index.pool

    def counting(query: str, *sizes: Any, **how: Any) -> Any:
        pooled.append(query)
        return pool(query, *sizes, **how)

    def made(of: Flask, host: str = "localhost") -> bool:
        before = len(pooled)
        assert f"'http://{host}/api/v1" in html.unescape(
            of.test_client().get("/docs", base_url=f"http://{host}").text
        )
        return len(pooled) > before

    monkeypatch.setattr(index, "pool", counting)
    assert [made(app), made(app), made(app, "127.0.0.1:9")] == [True, False, False]
    # What somebody removes must not stand in an example any more.
    app.test_client().post("/me/searches", data={"user": "1001"})
    assert [made(app), made(app)] == [True, False]
    assert made(create_app(replace(site, release_name="another")))

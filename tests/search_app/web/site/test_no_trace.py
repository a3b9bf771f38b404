"""A query leaves no trace without consent: guarantee G5, over every route there is."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from search_app.accounts.store import PeopleStore
from search_app.web import Site, create_app

from ..conftest import ToyForward, ToyIndex, signed_in

SENTINEL = "zyxsentinelquery"
QUERY = f"java {SENTINEL}"


@pytest.fixture
def site(site: Site, tmp_path: Path) -> Iterator[Site]:
    """A site whose people lie in a file, as its log does."""
    with_file = replace(site, store=PeopleStore(tmp_path / "people.sqlite"))
    yield with_file
    with_file.store.close()


@pytest.fixture(params=["demo", "private"])
def client(request: pytest.FixtureRequest, site: Site) -> FlaskClient:
    """Mira: chosen in demo mode, signed in in private mode."""
    if request.param == "demo":
        return create_app(site).test_client()
    real = replace(site, access="private", people={}, examples=(), admin_token="t" * 30)
    return signed_in(real, site.store.new_code("1001"))


def addresses(app: Flask) -> list[str]:
    """Return an address of every route that can be read."""
    return [
        re.sub(r"<[^>]*>", "1", rule.rule)
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ())
    ]


def asked(client: FlaskClient) -> Iterator[TestResponse]:
    """Ask every route with the query, rightly and wrongly, in every mode."""
    demo = (
        client.get("/?user=1001").status_code == 200
        and client.get("/me?user=1001").status_code == 200
    )
    user = "&user=1001" if demo else ""
    for path in addresses(client.application):
        for more in ("", "&mode=own", "&mode=group", "&page=0", "&mode=wrong", "&page=99999"):
            yield client.get(f"{path}?q={quote(QUERY)}{user}{more}&doc=doc00")
    yield client.get(f"/?q={quote(QUERY)}&user=9999")
    yield client.get(f"/missing?q={quote(QUERY)}")
    yield client.post(f"/?q={quote(QUERY)}", data={"q": QUERY})
    yield client.get(f"/?q={quote(QUERY)}", headers={"Host": "evil.example"})


def traces(folder: Path) -> list[str]:
    """Return the files that hold the query."""
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file()
        if SENTINEL.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize("state", ["sound", "broken index", "slow index", "broken profiles"])
def test_a_query_is_in_no_file_log_title_or_error_page(
    client: FlaskClient,
    index: ToyIndex,
    forward: ToyForward,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    state: str,
) -> None:
    index.broken, index.slow = state == "broken index", state == "slow index"
    forward.broken = state == "broken profiles"
    told, refused = 0, 0
    with caplog.at_level(logging.DEBUG):
        for answer in asked(client):
            text = answer.get_data(as_text=True)
            told += SENTINEL in text
            refused += answer.status_code >= 400
            assert SENTINEL not in unquote(str(answer.headers))
            assert not re.search(rf"<title>[^<]*{SENTINEL}", text)
            assert answer.status_code < 400 or SENTINEL not in text
            answer.close()
    assert refused > 4
    assert told > 0 or state != "sound"
    assert SENTINEL not in caplog.text
    assert SENTINEL not in "".join(capfd.readouterr())
    assert traces(tmp_path) == []


def test_no_address_that_is_kept_for_other_pages_holds_what_somebody_typed(
    client: FlaskClient,
) -> None:
    """It would outlive a forgetting."""
    for user in ("", "&user=1001"):
        for path in addresses(client.application):
            client.get(f"{path}?q={quote(QUERY)}&find={SENTINEL}{user}").close()
    kept = ascii(client.application.extensions["veilsearch addresses"])
    assert "me.show" in kept or "search.people" in kept
    assert SENTINEL not in kept
    assert "1001" not in kept


def test_with_consent_it_is_in_one_file_until_it_is_withdrawn(site: Site, tmp_path: Path) -> None:
    client = create_app(site).test_client()
    client.post("/me/remember", data={"user": "1001", "remember": "1"})
    client.get(f"/?q={quote(QUERY)}&user=1001")
    assert {name.partition("-")[0] for name in traces(tmp_path)} == {"people.sqlite"}
    client.post("/me/remember", data={"user": "1001", "remember": "0"})
    assert traces(tmp_path) == []


@pytest.mark.parametrize("form", [{"search": "1"}, {"search": "all"}])
def test_a_search_that_is_deleted_leaves_nothing(
    site: Site, tmp_path: Path, form: dict[str, str]
) -> None:
    client = create_app(site).test_client()
    site.store.choose("1001", remember=True)
    client.get(f"/?q={quote(QUERY)}&user=1001")
    assert traces(tmp_path) != []
    client.post("/me/searches", data={"user": "1001", **form})
    assert traces(tmp_path) == []

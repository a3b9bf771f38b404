"""Static files are compressed; pages, which hold a query next to what is one person's, never."""

from __future__ import annotations

import gzip

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

GZIP = {"Accept-Encoding": "br, gzip"}


def answer(client: FlaskClient, path: str, headers: dict[str, str]) -> TestResponse:
    """Return the whole answer; its file is closed."""
    with client.get(path, headers=headers) as response:
        response.get_data()
    return response


@pytest.mark.parametrize("name", ["style.css", "script.js", "icon.svg"])
def test_a_static_file_is_the_same_compressed_and_kept_by_its_own_etag(
    client: FlaskClient, name: str
) -> None:
    whole, packed = (answer(client, f"/static/{name}", how) for how in ({}, GZIP))
    assert "Content-Encoding" not in whole.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == whole.data
    assert whole.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
    assert whole.headers["Cache-Control"] == packed.headers["Cache-Control"]
    assert whole.headers["ETag"] != packed.headers["ETag"]
    for how, kept in (({}, whole), (GZIP, packed)):
        again = client.get(
            f"/static/{name}", headers={**how, "If-None-Match": kept.headers["ETag"]}
        )
        assert (again.status_code, again.data) == (304, b"")


def test_without_gzip_or_file_nothing_is_compressed(client: FlaskClient) -> None:
    refused = answer(client, "/static/style.css", {"Accept-Encoding": "gzip;q=0"})
    assert "Content-Encoding" not in refused.headers
    for name in ("none.css", "../layout.py", "%2e%2e/layout.py"):
        assert client.get(f"/static/{name}", headers=GZIP).status_code == 404


def test_a_way_through_folders_that_are_not_there_leads_to_the_same_file(
    client: FlaskClient,
) -> None:
    there, here = (answer(client, f"/static/{way}style.css", GZIP) for way in ("", "no//../"))
    assert (here.status_code, here.data) == (200, there.data)


@pytest.mark.parametrize("path", ["/", "/?q=java&user=1001", "/compare?q=java", "/me?user=1001"])
def test_no_page_is_compressed(client: FlaskClient, path: str) -> None:
    page = answer(client, path, GZIP)
    assert (page.status_code, page.headers.get("Content-Encoding")) == (200, None)

"""What every response says, who is answered, and what is refused."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

PATHS = ["/", "/?q=java", "/compare?q=java&user=1001", "/log", "/about", "/api/v1/health"]
FAULTS = ["/missing", "/?q=java&page=0", "/?user=9999", "/static/missing.css", "/compare/"]
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@pytest.mark.parametrize("path", [*PATHS, *FAULTS, "/static/style.css", "/static/script.js"])
def test_every_response_carries_the_headers(client: FlaskClient, path: str) -> None:
    with client.get(path) as response:
        headers = response.headers
    assert headers["Content-Security-Policy"] == POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Set-Cookie" not in headers


@pytest.mark.parametrize("path", [*PATHS, *FAULTS])
def test_pages_are_never_stored(client: FlaskClient, path: str) -> None:
    assert client.get(path).headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["//about", "/about/", "/static//style.css", "//evil.example/"])
def test_nothing_is_redirected(client: FlaskClient, path: str) -> None:
    response = client.get("/", environ_overrides={"PATH_INFO": path})
    assert response.status_code in (200, 404)
    assert "Location" not in response.headers


def test_static_files_are_kept_and_asked_for_by_tag(client: FlaskClient) -> None:
    with client.get("/static/style.css") as response:
        assert response.cache_control.max_age == 600
        assert response.mimetype == "text/css"
        known = {"If-None-Match": response.headers["ETag"]}
    with client.get("/static/style.css", headers=known) as again:
        assert again.status_code == 304
        assert again.headers["Content-Security-Policy"] == POLICY


@pytest.mark.parametrize("path", ["/static/../site.py", "/static/%2e%2e/site.py"])
def test_nothing_but_static_files_is_sent(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST"]
)
def test_local_hosts_are_answered(client: FlaskClient, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "localhost:8000@evil.example", "[::1", "a b", ""],
)
@pytest.mark.parametrize("path", ["/", "/static/style.css", "/api/v1/health", "/missing"])
def test_foreign_hosts_are_refused(client: FlaskClient, host: str, path: str) -> None:
    response = client.get(path, headers={"Host": host})
    assert response.status_code in (400, 404) if path == "/missing" else 400
    assert "evil" not in response.text
    assert response.headers["Content-Security-Policy"] == POLICY


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", [*PATHS, "/static/style.css"])
def test_there_is_only_get_and_head(client: FlaskClient, method: str, path: str) -> None:
    response = client.open(path, method=method)
    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, HEAD"
    assert response.headers["Content-Security-Policy"] == POLICY


def test_head_has_no_body(client: FlaskClient) -> None:
    response = client.head("/?q=java")
    assert (response.status_code, response.data) == (200, b"")


def test_no_route_takes_anything_but_get_and_head(app: Flask) -> None:
    assert {method for rule in app.url_map.iter_rules() for method in rule.methods or ()} == {
        "GET",
        "HEAD",
    }

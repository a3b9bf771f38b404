"""What every response says, who is answered, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask, request
from flask.testing import FlaskClient
from werkzeug.routing import AnyConverter, Rule
from werkzeug.routing.converters import NumberConverter

from search_app.settings import Settings
from search_app.web import Site, create_app
from search_app.web.headers import LARGEST_BODY

PATHS = ["/", "/?q=java", "/compare?q=java&user=1001", "/log", "/about", "/api/v1/health"]
ASSETS = ["/static/style.css", "/static/script.js"]
FAULTS = ["/missing", "/?q=java&page=0", "/?user=9999", "/static/missing.css", "/compare/"]
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@pytest.mark.parametrize("path", [*PATHS, *FAULTS, *ASSETS])
def test_every_response_carries_the_headers(client: FlaskClient, path: str) -> None:
    with client.get(path, headers={"Origin": "https://other.example"}) as response:
        headers = response.headers
    assert headers["Content-Security-Policy"] == POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"].split(", ")
    assert all(each.endswith("=()") for each in headers["Permissions-Policy"].split(", "))
    assert "Strict-Transport-Security" not in headers
    assert not [name for name, _ in headers if name.startswith("Access-Control")]
    assert "Set-Cookie" not in headers
    assert (headers["Cache-Control"] == "no-store") == (path not in ASSETS)


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
    [
        *(
            "evil.example",
            "localhost.evil.example",
            "localhost:8000@evil.example",
            "[::1",
            "a b",
            "",
        ),
        *("localhost:x", "localhost:99999", "localhost:0", "localhost:8000.evil", "[::1]:-1"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/static/style.css", "/api/v1/health", "/missing"])
def test_foreign_hosts_are_refused(client: FlaskClient, host: str, path: str) -> None:
    response = client.get(path, headers={"Host": host})
    assert response.status_code in (400, 404) if path == "/missing" else 400
    assert "evil" not in response.text
    assert response.headers["Content-Security-Policy"] == POLICY


METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}


def address(rule: Rule) -> str:
    """Return an address that the route answers."""
    values: dict[str, Any] = {}
    for name, kind in rule._converters.items():
        values[name] = 1 if isinstance(kind, NumberConverter) else "g0001"
        if isinstance(kind, AnyConverter):
            values[name] = min(kind.items)
    built = rule.build(values)
    return built[1] if built else rule.rule


def taken(app: Flask) -> dict[str, set[str]]:
    """Return the methods of each address, by what its routes name."""
    found: dict[str, set[str]] = {}
    for rule in app.url_map.iter_rules():
        found.setdefault(address(rule), set()).update(rule.methods or ())
    return found


def test_each_address_takes_the_methods_its_routes_name_and_no_other(app: Flask) -> None:
    client = app.test_client()
    for path, methods in taken(app).items():
        for method in METHODS - methods:
            with client.open(path, method=method) as response:
                assert response.status_code == 405, (method, path)
                assert set(response.headers["Allow"].split(", ")) == methods
                assert response.headers["Content-Security-Policy"] == POLICY


def test_no_route_takes_options_or_trace_and_each_that_is_read_takes_head(app: Flask) -> None:
    for rule in app.url_map.iter_rules():
        methods = rule.methods or set()
        assert not methods & {"OPTIONS", "TRACE"}
        assert ("GET" in methods) == ("HEAD" in methods)


def changing(site: Site, **settings: Any) -> FlaskClient:
    """Return a client of our pages and of one more that changes something."""
    app = create_app(replace(site, settings=Settings(**settings)))
    app.post("/toy", endpoint="toy")(lambda: str(request.form.get("word", request.get_data())))
    app.get("/toy", endpoint="shown")(lambda: "shown")
    return app.test_client()


CROSS_SITE = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": ""},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "https://evil.example"},
    {"Origin": "https://localhost"},  # the same host by another scheme
    {"Origin": "http://localhost:8001"},
    {"Origin": "http://localhost.evil.example"},
    {"Origin": "http://localhost@evil.example"},
    {"Origin": "http://[::1"},
    {"Origin": "http://localhost:x"},
]
SAME_SITE = [
    {},
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
    {"Origin": "http://localhost"},
    {"Origin": "http://localhost:80"},
    {"Origin": "http://LOCALHOST"},
]


@pytest.mark.parametrize("headers", CROSS_SITE)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_other_sites_change_nothing(site: Site, method: str, headers: dict[str, str]) -> None:
    client = changing(site)
    for path in ("/toy", "/", "/missing"):
        response = client.open(path, method=method, headers=headers)
        assert response.status_code == 403
        assert "came from another site" in response.text
        assert response.headers["Content-Security-Policy"] == POLICY
    assert client.get("/toy", headers=headers).text == "shown"  # a link from there


@pytest.mark.parametrize("headers", SAME_SITE)
def test_our_own_pages_and_programs_change_things(site: Site, headers: dict[str, str]) -> None:
    answer = changing(site).post("/toy", data={"word": "java"}, headers=headers)
    assert (answer.status_code, answer.text) == (200, "java")


def test_the_own_origin_is_that_of_the_host_and_port_asked(site: Site) -> None:
    client = changing(site, hosts=("search.example.org",))
    host = {"Host": "search.example.org:8000"}
    own, other = "http://search.example.org:8000", "http://localhost:8000"
    assert client.post("/toy", headers={**host, "Origin": own}).status_code == 200
    assert client.post("/toy", headers={**host, "Origin": other}).status_code == 403


def test_with_https_the_own_origin_is_https_and_browsers_are_told_to_stay(site: Site) -> None:
    client = changing(site, https=True)
    answer = client.post("/toy", headers={"Origin": "https://localhost"})
    assert answer.status_code == 200
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert client.post("/toy", headers={"Origin": "http://localhost"}).status_code == 403


def test_trusted_hosts_are_answered(site: Site) -> None:
    client = changing(site, hosts=("search.example.org", "2001:db8::7"))
    for host in ("search.example.org", "SEARCH.example.org:443", "[2001:db8::7]:8000"):
        assert client.get("/toy", headers={"Host": host}).status_code == 200
    assert client.get("/toy", headers={"Host": "example.org"}).status_code == 400


def test_bodies_are_limited(site: Site) -> None:
    client = changing(site)
    fits = "word=" + "x" * (LARGEST_BODY - len("word="))
    form = "application/x-www-form-urlencoded"
    assert client.post("/toy", data=fits, content_type=form).text == fits[len("word=") :]
    for method in ("POST", "GET"):
        answer = client.open("/toy", method=method, data=fits + "x", content_type=form)
        assert answer.status_code == 413
        assert "larger than 64 kB" in answer.text


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "", "text/xml"])
def test_bodies_are_forms_or_json(site: Site, kind: str) -> None:
    answer = changing(site).post("/toy", data="java", content_type=kind)
    assert answer.status_code == 415
    assert "application/x-www-form-urlencoded or application/json" in answer.text


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8"])
def test_json_is_taken(site: Site, kind: str) -> None:
    assert "java" in changing(site).post("/toy", data='"java"', content_type=kind).text

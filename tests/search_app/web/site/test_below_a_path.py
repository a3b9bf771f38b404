"""A server below a path: a proxy takes the path off, and every address that pages give has it."""

from __future__ import annotations

import http.client
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import pytest
from flask import Flask

from search_app.search.modes import Modes
from search_app.server import waitress
from search_app.settings import Settings
from search_app.web import Site, create_app, create_study_app

from ..conftest import ADMIN_TOKEN
from ..run_folders import with_runs
from ..study.conftest import Clock, place_of, write_study

BELOW = "/town/search"
ADDRESS = re.compile(r'\s(?:href|src|action|formaction|data-[a-z-]+)="([^"]*)"')
ELSEWHERE = "https://docs.example/"  # addresses of two of the toy's documents
MOST = 250
# Examples of /docs to fill in, and a game for more people than the toy has.
NOT_HERE = (f"{BELOW}/api/", f"{BELOW}/attack/")
SENT_TO = {400, 401, 403, 405}


class Proxy(BaseHTTPRequestHandler):
    """Passes requests below the path on, without it, as nginx and Caddy do; nothing else."""

    protocol_version = "HTTP/1.1"
    port = 0

    def do_GET(self) -> None:
        if not self.path.startswith(f"{BELOW}/"):
            self.send_error(404, "outside")
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        told = {**dict(self.headers.items()), "X-Forwarded-For": "198.51.100.7"}
        told |= {"X-Forwarded-Proto": "https", "Connection": "close"}
        server.request(self.command, self.path.removeprefix(BELOW), body, told)
        with server.getresponse() as answer:
            page = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name not in ("Connection", "Content-Length", "Transfer-Encoding"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)
        server.close()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def behind_a_proxy(app: Flask, patch: pytest.MonkeyPatch) -> Iterator[Browser]:
    """Serve `app` by the real server behind a proxy, and give a browser that sees the proxy."""
    ended, ports = threading.Event(), Queue[int]()

    @contextmanager
    def ended_by(*_: object, **_named: object) -> Iterator[threading.Event]:
        yield ended

    patch.setattr(waitress, "_ended_by", ended_by)  # signals reach the main thread only
    ready = lambda address: ports.put(int(address.rstrip("/").rpartition(":")[2]))  # noqa: E731
    serving = threading.Thread(
        target=waitress.serve, args=(app, "127.0.0.1", 0, ready), kwargs={"proxy": "127.0.0.1"}
    )
    serving.start()
    patch.setattr(Proxy, "port", ports.get(timeout=60))
    try:
        with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
            passing = threading.Thread(target=proxy.serve_forever)
            passing.start()
            try:
                yield Browser(proxy.server_port)
            finally:
                proxy.shutdown()
                passing.join()
    finally:
        ended.set()
        serving.join()


@dataclass
class Browser:
    """Follows links as a browser does, and keeps a cookie where its path allows."""

    port: int
    cookie: str = ""
    seen: set[object] = field(default_factory=set)

    def ask(
        self, path: str, form: dict[str, str] | None = None
    ) -> tuple[int, http.client.HTTPMessage, str]:
        asking = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        told = {"Cookie": self.cookie} if self.cookie else {}
        if form is not None:
            told["Content-Type"] = "application/x-www-form-urlencoded"
            told["Origin"] = f"https://127.0.0.1:{self.port}"
        method = "GET" if form is None else "POST"
        asking.request(method, path, None if form is None else urlencode(form), told)
        with asking.getresponse() as answer:
            text = answer.read().decode("utf-8", "replace")
            for line in answer.headers.get_all("Set-Cookie", []):
                assert f"; Path={BELOW}" in f"{line};".replace("; path", "; Path"), line
                self.cookie = line.partition(";")[0]
            result = answer.status, answer.headers, text
        asking.close()
        return result

    def walk(self, *starts: str) -> set[str]:
        """Visit whatever pages lead to from `starts`; return the paths, without the part before."""
        waiting, paths = [f"{BELOW}{start}" for start in starts], set[str]()
        while waiting and len(paths) < MOST:
            here = waiting.pop()
            parts = urlsplit(here)
            # Pages that differ in values only are one page.
            face = re.sub(r"\d+", "0", parts.path), *sorted(dict(parse_qsl(parts.query)))
            if face in self.seen:
                continue
            self.seen.add(face)
            status, headers, text = self.ask(here.partition("#")[0])
            # Forms and scripts send to some addresses what a link can't.
            missing = status == 404 and here.startswith(NOT_HERE)
            assert status < 400 or status in SENT_TO or missing, (here, status)
            paths.add(parts.path.removeprefix(BELOW))
            if place := headers["Location"]:
                assert place.startswith(f"{BELOW}/"), (here, place)
                waiting.append(place)
            if "html" in headers["Content-Type"]:
                waiting += self.addresses(text, here)
        return paths

    def addresses(self, text: str, here: str) -> Iterator[str]:
        """Yield what the page `here` with `text` leads to; refuse what is not below the path."""
        for value in map(unescape, ADDRESS.findall(text)):
            if value.startswith(("/", "?")) or (value.endswith(".js") and "/" in value):
                there = urljoin(here, value)
                assert there.startswith(f"{BELOW}/"), (here, value)
                yield there
            elif "://" in value:
                own = f"http://127.0.0.1:{self.port}{BELOW}/"
                assert value.startswith((ELSEWHERE, own)), (here, value)
        assert not re.search(rf'["(]/(?!/)(?!{BELOW[1:]}/)[a-z]+[/?"]', text), here


def below(site: Site) -> Flask:
    settings = replace(site.settings, root_path=BELOW, https=True, device=True, rate=0)
    return create_app(replace(site, settings=settings))


def test_every_link_of_a_demo_is_below_the_path(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = below(with_runs(site, tmp_path / "workspace"))
    with behind_a_proxy(app, monkeypatch) as browser:
        walked = browser.walk("/", "/?q=java&user=1001", "/compare?q=java&user=1001", "/lecture")
        assert browser.ask("/")[0] == 404, "the proxy serves something else there"
        status, _, text = browser.ask(f"{BELOW}/api/v1/openapi.json")
        assert status == 200 and f'"servers":[{{"url":"{BELOW}"}}]' in text.replace(" ", "")
        status, _, text = browser.ask(f"{BELOW}/docs")
        assert f":{browser.port}{BELOW}/api/v1/search?" in unescape(text)
    expected = {"/", "/compare", "/me", "/groups", "/log", "/about", "/docs", "/lecture", "/device"}
    expected |= {"/experiments", "/static/style.css", "/static/device.js", "/log.csv"}
    assert expected <= walked
    assert len(walked) > 25


def test_people_sign_in_below_the_path(private: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    code = private.store.new_code("1001")
    with behind_a_proxy(below(private), monkeypatch) as browser:
        _, _, text = browser.ask(f"{BELOW}/api/v1/search?q=java")
        assert f"{BELOW}/sign-in" in text
        assert "/sign-in" in browser.walk("/")
        for secret, page in ((code, "/"), (ADMIN_TOKEN, "/admin")):
            browser.seen.clear()
            status, headers, _ = browser.ask(f"{BELOW}/sign-in", {"code": secret})
            assert (status, headers["Location"]) == (303, f"{BELOW}{page}")
            assert "; Secure" in headers["Set-Cookie"]
            assert page in browser.walk(page, *(["/me", "/?q=java"] if secret == code else []))
        status, headers, _ = browser.ask(f"{BELOW}/sign-out", {})
        assert (status, headers["Location"]) == (303, f"{BELOW}/sign-in")


def test_a_study_is_led_below_the_path(
    tmp_path: Path, modes: Modes, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(write_study(tmp_path / "study"), modes, Clock())
    settings = Settings(root_path=BELOW, https=True, admin_token=ADMIN_TOKEN)
    app = create_study_app(replace(place, settings=settings))
    with behind_a_proxy(app, monkeypatch) as browser:
        assert {"/", "/leader/sign-in"} <= browser.walk("/", "/leader")
        status, headers, _ = browser.ask(f"{BELOW}/leader/sign-in", {"token": ADMIN_TOKEN})
        assert (status, headers["Location"]) == (303, f"{BELOW}/leader")
        assert browser.ask(f"{BELOW}/leader/slide/vote", {"persona": "1001"})[0] == 303, (
            "else the slide is no page"
        )
        browser.seen.clear()
        assert "/leader/slide/vote" in browser.walk("/leader")
    place.store.close()

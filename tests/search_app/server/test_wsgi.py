"""`search_app.wsgi:app` in another WSGI server: Python's own, with the checks of wsgiref."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from search_app.accounts.database import FILE
from search_app.accounts.store import PeopleStore

from ..conftest import THREE_PEOPLE
from .test_live_index import ROOT, lasting_port

PROGRAM = """
import os, sys
from wsgiref.simple_server import make_server
from wsgiref.validate import validator
from search_app.wsgi import app
answered = []
def once(environ, start_response):
    if environ["PATH_INFO"] != "/forked":
        return app(environ, start_response)
    if os.fork() == 0:
        try:
            app(environ, start_response)
        except Exception as fault:
            print(fault, file=sys.stderr, flush=True)
        finally:
            os._exit(0)
    os.wait()
    return app(environ, start_response)
with make_server("127.0.0.1", int(sys.argv[1]), validator(once)) as server:
    print("ready", flush=True)
    server.serve_forever()
"""
TOKEN = "the-operator-s-token-of-this-workspace"  # noqa: S105


def begin(workspace: Path, port: int, **more: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "VEILSEARCH_WORKSPACE": str(workspace), **more}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
    )


def ask(port: int, method: str, path: str, **headers: str) -> http.client.HTTPResponse:
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    body = headers.pop("body", None)
    asking.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    return asking.getresponse()


@pytest.fixture
def workspace(three_people: Path, tmp_path: Path) -> Path:
    copy = shutil.copytree(three_people, tmp_path / "workspace")
    settings = 'access = "private"\nproxy = "127.0.0.1"\nroot_path = "/town"\nhttps = true\n'
    (copy / "veilsearch.toml").write_text(settings)
    return copy


@pytest.fixture
def port(workspace: Path) -> Iterator[int]:
    port = lasting_port()
    server = begin(workspace, port, VEILSEARCH_ADMIN_TOKEN=TOKEN)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n", server.communicate()[1]
        yield port
    finally:
        server.kill()
        said = server.communicate()[1]
    assert "AssertionError" not in said, said  # wsgiref's checks
    assert re.search("the workspace was opened before this process was forked", said)


def test_it_serves_as_the_program_does(workspace: Path, port: int) -> None:
    people = PeopleStore(workspace / FILE)
    code = people.new_code(THREE_PEOPLE[0])
    with ask(port, "GET", "/api/v1/health") as answer:
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert json.load(answer)["release"].startswith("p-linkability")
    with ask(port, "GET", "/", X_Forwarded_For="no address;;", Host="127.0.0.1") as answer:
        assert answer.headers["Location"] == "/town/sign-in"
    told = {"Content_Type": "application/x-www-form-urlencoded"}
    told |= {"X_Forwarded_For": "198.51.100.7", "X_Forwarded_Proto": "https"}
    with ask(port, "POST", "/sign-in", body=urlencode({"code": code}), **told) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, "/town/")
        cookie = answer.headers["Set-Cookie"]
    assert "Path=/town" in cookie and "Secure" in cookie
    with ask(port, "GET", "/api/v1/search?q=java", Cookie=cookie.partition(";")[0]) as answer:
        assert answer.status == 200
        assert b"programming language" in answer.read()
    # It follows its own change of the workspace at once: with three people one row was withdrawn.
    with ask(port, "DELETE", "/api/v1/profile", Cookie=cookie.partition(";")[0]) as answer:
        assert json.load(answer)["rows_withdrawn"] == 1
    with ask(port, "GET", "/api/v1/health") as answer:
        assert (answer.status, json.load(answer)["release"]) == (200, "")
    with ask(port, "GET", "/forked", Host="127.0.0.1") as answer:
        assert answer.status == 404
    people.close()


@pytest.mark.parametrize(
    ("access", "line"),
    [
        ("demo", "mode demo shows invented people only"),
        ("private", "VEILSEARCH_ADMIN_TOKEN is not set"),
    ],
)
def test_what_serve_refuses_is_refused(workspace: Path, access: str, line: str) -> None:
    server = begin(workspace, 0, VEILSEARCH_ACCESS=access, VEILSEARCH_ADMIN_TOKEN="")
    printed, errors = server.communicate(timeout=120)
    assert (printed, server.returncode) == ("", 1)
    assert line in errors.splitlines()[-1]

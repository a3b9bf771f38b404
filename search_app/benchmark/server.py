"""A server in a process of its own, and requests to it. [I/O]"""

from __future__ import annotations

import http.client
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlencode

from ..errors import UsageError
from ..workspace import Workspace
from .processes import veilsearch


@contextmanager
def served(workspace: Workspace) -> Iterator[int]:
    """Serve a workspace; return its port."""
    command = [*veilsearch(workspace.root), "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:  # noqa: S603
        try:
            told: list[str] = []
            while not (port := re.search(r"http://127\.0\.0\.1:(\d+)", "".join(told))):
                line = server.stderr.readline() if server.stderr else ""
                if not line:
                    raise UsageError(f"the server did not start: {' '.join(told)}")
                told.append(line)
            yield int(port[1])
        finally:
            server.terminate()


def connected(port: int) -> closing[http.client.HTTPConnection]:
    """Connect to a server of this machine."""
    return closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60))


def fetch(connection: http.client.HTTPConnection, path: str, **asked: str) -> bytes:
    """Read a whole page; refuse one that failed or was not personalized."""
    connection.request("GET", f"{path}?{urlencode(asked)}")
    response = connection.getresponse()
    body = response.read()
    if response.status != 200 or b"Personalization failed" in body:
        raise UsageError(f"{path} answered {response.status}, or not personalized")
    return body

"""A small client of an OpenSearch cluster: another node when one is gone, and plain errors. [I/O]

An error says what kind of answer came, never its text: that may hold a query.
"""

from __future__ import annotations

import base64
import itertools
import json
import re
import ssl
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from socket import socket
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from weakref import finalize

from ..model import SearchError

LEAST = (3, 0)  # version; BM25 of older ones has another factor and rounds otherwise
# Time bounds: at most MOST_TRIES nodes are tried, each for CONNECT seconds at most until there is
# a connection. At most two of them get the request, the second if the first failed.
CONNECT, MOST_TRIES, MOST_SENT = 0.3, 3, 2
READING = 10.0  # seconds for what a page shows of documents that were found
PATIENCE = 60.0  # seconds for any other answer where nobody set a deadline
AGAIN = 5.0  # seconds for which a node that failed is the last to be tried
MOST_BYTES = 2 << 30  # of an answer; any of ours is far smaller
LATE = "time_exceeded_exception"  # a search whose `timeout` was over in a shard
MANY = "too_many_nested_clauses"  # a query with more terms than the cluster takes
TOO_MUCH = (LATE, MANY)
JSON, LINES = "application/json", "application/x-ndjson"
_GONE = "see that the cluster runs, or name other hosts in [search] of veilsearch.toml"
_REFUSED = (
    "set VEILSEARCH_OPENSEARCH_USER and VEILSEARCH_OPENSEARCH_PASSWORD, and look at this user's "
    "rights"
)


class ClusterError(SearchError):
    """What a cluster refuses; `status` is HTTP's, `kind` OpenSearch's name of the fault."""

    def __init__(self, text: str, status: int = 0, kind: str = "") -> None:
        super().__init__(text)
        self.status, self.kind = status, kind


class _Answer(dict[str, Any]):
    """An object of an answer; who looks for what it lacks raises an error in one line."""

    def __missing__(self, key: str) -> Any:
        # What answers may be no OpenSearch at all, but a proxy, or some other program.
        raise ClusterError(f"the answer of OpenSearch lacks {key}; {_GONE}")


class NoTimeLeft(ClusterError):
    """A request that no node answered in the time it had."""


@dataclass(frozen=True)
class ClusterPlace:
    """Where a cluster is, who asks it, and how an index in it is made."""

    hosts: tuple[str, ...]  # each a URL, or a host and port
    index: str = "veilsearch"  # how the names of our indexes begin
    shards: int = 1
    replicas: int = 1
    ca: str = ""  # path of the certificate that the nodes' certificates are signed by
    certificate: str = ""  # path of the client's certificate
    key: str = ""  # path of its key
    user: str = ""
    password: str = field(default="", repr=False)


class _Incoming(RawIOBase):
    """What a node answers on `sock` until `ends`, at most MOST_BYTES, however slowly it comes."""

    def __init__(self, sock: socket, ends: float) -> None:
        # A socket's own timeout starts again with every byte, so it would bound no answer.
        self._sock, self._ends, self._left = sock, ends, MOST_BYTES
        self._bytes = sock.makefile("rb", buffering=0)

    def makefile(self, *_: object) -> BufferedReader:
        """Return this, to be read as http.client reads a socket."""
        return BufferedReader(self)

    def readable(self) -> bool:
        """Return that this can be read."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what has come into `buffer`; return how many bytes."""
        self._sock.settimeout(_left(self._ends))
        count = self._bytes.readinto(buffer)
        self._left -= count or 0
        if self._left < 0:
            raise HTTPException
        return count

    def close(self) -> None:
        """Close this; the socket stays open if its connection is kept."""
        self._bytes.close()
        super().close()


def _left(ends: float) -> float:
    """Return the seconds until `ends`; raise TimeoutError if there are none."""
    left = ends - monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Node:
    """One node: connections to it that nobody uses now, and until when it is tried last."""

    def __init__(self, host: str, tls: ssl.SSLContext | None) -> None:
        parts = urlsplit(host if "://" in host else f"http://{host}")
        self.name, self._host, self._port = host, parts.hostname or "", parts.port or 9200
        self._tls = tls if parts.scheme == "https" else None
        self._idle: list[HTTPConnection] = []
        self.shunned = 0.0

    def connection(self, ends: float) -> tuple[HTTPConnection, bool]:
        """Return a connection that is open, and whether it was used before."""
        try:
            return self._idle.pop(), True
        except IndexError:
            wait = max(min(CONNECT, ends - monotonic()), 0.001)
            place = (self._host, self._port)
            made = (
                HTTPSConnection(*place, timeout=wait, context=self._tls)
                if self._tls
                else HTTPConnection(*place, timeout=wait)
            )
            made.connect()
            return made, False

    def keep(self, connection: HTTPConnection) -> None:
        """Keep `connection` for the next request."""
        self._idle.append(connection)

    def forget(self) -> None:
        """Close all connections that nobody uses."""
        while self._idle:
            self._idle.pop().close()


def _forget_all(nodes: Iterable[_Node]) -> None:
    for node in nodes:
        node.forget()


class _Message(NamedTuple):
    """A request as it goes to any node."""

    method: str
    path: str
    body: bytes | None
    headers: Mapping[str, str]


class OpenSearchCluster:
    """A cluster that answers requests; threads can share it."""

    def __init__(self, place: ClusterPlace) -> None:
        if not place.hosts:
            raise SearchError("no host of OpenSearch; name them as hosts in [search]")
        self.place = place
        tls = _tls(place) if any(host.startswith("https:") for host in place.hosts) else None
        self._nodes = [_Node(host, tls) for host in place.hosts]
        self._turns, self._lock = itertools.count(), threading.Lock()
        finalize(self, _forget_all, self._nodes)  # who forgets to close leaves no connection
        self._headers: dict[str, str] = {}
        if place.user:
            # With the first request: a node that must refuse it first would cost another.
            pair = base64.b64encode(f"{place.user}:{place.password}".encode()).decode()
            self._headers["Authorization"] = f"Basic {pair}"

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        seconds: float = PATIENCE,
        safely: bool = True,
    ) -> Any:
        """Return the answer to a request, read from JSON; raise ClusterError for a refusal.

        `body` is written as JSON, and a list as lines of JSON. Without `safely` a request that a
        node got is not sent again: it may not be repeated.
        """
        kind = LINES if isinstance(body, list) else JSON
        headers = {**self._headers, **({} if body is None else {"Content-Type": kind})}
        message = _Message(method, path, _written(body), headers)
        status, data = self._answer(message, monotonic() + seconds, MOST_SENT if safely else 1)
        try:
            answer = json.loads(data, object_hook=_Answer)
        except (ValueError, RecursionError):
            answer = None
        # Also what leads elsewhere is refused: nobody named that host.
        if not 200 <= status < 300:
            raise _refusal(status, answer)
        if not isinstance(answer, dict):
            raise ClusterError(f"OpenSearch answers no JSON (HTTP {status}); {_GONE}", status)
        return answer

    def check_version(self) -> str:
        """Return the cluster's version; refuse one whose scores are others than Lucene's."""
        version = self.ask("GET", "/").get("version", {})
        number, kind = _name(version.get("number")), _name(version.get("distribution"))
        digits = tuple(int(part) for part in number.split(".")[:2] if part.isdecimal())
        if kind != "opensearch" or digits < LEAST:
            raise SearchError(
                f"the cluster is {kind or 'no OpenSearch'} {number}; its scores differ from "
                "Lucene's here, so veilsearch takes OpenSearch 3.0 and newer"
            )
        return number

    def close(self) -> None:
        """Close the connections that nobody uses now."""
        _forget_all(self._nodes)

    def _order(self) -> list[_Node]:
        """Return the nodes in the order in which they are tried: by turns, failed ones last."""
        # By turns, so that no node has the work of all front ends.
        with self._lock:
            first = next(self._turns) % len(self._nodes)
        nodes, now = self._nodes[first:] + self._nodes[:first], monotonic()
        return sorted(nodes, key=lambda node: node.shunned > now)[:MOST_TRIES]

    def _answer(self, message: _Message, ends: float, most: int) -> tuple[int, bytes]:
        """Return status and data of the first node that answers, or of the last refusal."""
        sent, why, refusal = 0, "", None
        for node in self._order():
            if most == 1:
                # One that was used may break after the node got the request, or before.
                node.forget()
            try:
                refusal, sent = _exchange(node, message, ends), sent + 1
                # What is too much for one node is so for another.
                if refusal[0] < 500 or any(kind.encode() in refusal[1] for kind in TOO_MUCH):
                    return refusal
            except _Unconnected as error:
                why = str(error)
            except TimeoutError as error:
                raise NoTimeLeft(f"OpenSearch did not answer in time; {_GONE}") from error
            except (OSError, HTTPException) as error:
                why, sent = type(error).__name__, sent + 1
            node.shunned = monotonic() + AGAIN
            if sent >= most:
                break
        if refusal is None:
            raise ClusterError(f"no node of OpenSearch answers ({why}); {_GONE}")
        return refusal


class _Unconnected(Exception):
    """A node to which there is no connection, so it got nothing."""


def _exchange(node: _Node, message: _Message, ends: float) -> tuple[int, bytes]:
    """Send `message` to `node`; return its status and data."""
    while True:
        try:
            connection, used = node.connection(ends)
        except (OSError, HTTPException) as error:
            raise _Unconnected(type(error).__name__) from error
        try:
            connection.sock.settimeout(_left(ends))
            connection.request(*message)
            connection.response_class = partial(_response, ends)  # type: ignore[assignment]
            answer = connection.getresponse()
            if (answer.length or 0) > MOST_BYTES:
                raise HTTPException  # before memory is taken for it
            data = answer.read()
        except BaseException as error:
            connection.close()
            # A node that came back knows none of the connections from before.
            if used and isinstance(error, ConnectionError):
                node.forget()
                continue
            raise
        if not answer.will_close:
            node.keep(connection)
        return answer.status, data


def _response(ends: float, sock: socket, **more: Any) -> HTTPResponse:
    """Return what comes on `sock` until `ends`; http.client calls this for each request."""
    return HTTPResponse(_Incoming(sock, ends), **more)  # type: ignore[arg-type]


def _written(body: object) -> bytes | None:
    if body is None:
        return None
    lines: Iterable[object] = body if isinstance(body, list) else [body]
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def _refusal(status: int, answer: Any) -> ClusterError:
    """Return the error for a refused request, by its kind and without its text."""
    fault = answer.get("error") if isinstance(answer, dict) else None
    fault = fault if isinstance(fault, dict) else {}
    roots = fault.get("root_cause")
    causes = [fault, *(roots if isinstance(roots, list) else [])]
    kinds = (_name(one.get("type")) for one in reversed(causes) if isinstance(one, dict))
    kind = next(filter(None, kinds), "")
    if status in (401, 403):
        text = f"OpenSearch refuses this user (HTTP {status}); {_REFUSED}"
    else:
        can, remedy = ("can't do", _GONE) if status >= 500 else ("refuses", "see the cluster's log")
        text = f"OpenSearch {can} this (HTTP {status}{kind and f', {kind}'}); {remedy}"
    return ClusterError(text, status, kind)


def _name(value: object) -> str:
    """Return `value` if it can be the name or number of something; else nothing."""
    return value if isinstance(value, str) and re.fullmatch(r"[\w.-]{1,60}", value) else ""


def _tls(place: ClusterPlace) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=place.ca or None)
        if place.certificate:
            # With a password, though none: else OpenSSL would wait for one to be typed.
            context.load_cert_chain(place.certificate, place.key or None, password="")
    except (OSError, ssl.SSLError) as error:
        raise SearchError(
            f"a certificate for OpenSearch can't be read ({error.strerror or type(error).__name__})"
            "; see ca and certificate in [search], and VEILSEARCH_OPENSEARCH_KEY"
        ) from error
    return context

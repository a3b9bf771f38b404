"""Counts and times of requests by route, and facts of what is served, for Prometheus.

Nothing here knows a person, a query or an address that was asked for: a route is its rule.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple, cast

from flask import Blueprint, Flask, Response, current_app, g, request

from ... import __version__
from ...settings import PRIVATE
from ..headers import from_here
from ..site import Site, this_site
from ..visitors.sign_in import operators_only
from .health import release_shown

pages = Blueprint("metrics", __name__)
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_FORMAT = "text/plain; version=0.0.4; charset=utf-8"
KEY = "veilsearch.metrics"
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
# One count for all that people do there: else the counts would say when somebody left.
_TOGETHER = ("/me", "/api/v1/profile", "/admin")
_SECONDS = "veilsearch_request_seconds"


class RequestKind(NamedTuple):
    """What requests have in common that are counted together; no route: there is no such page."""

    route: str
    method: str
    status: str


class RequestTimes:
    """How many requests took how long; safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[RequestKind, list[int]] = {}  # by bound, and above all bounds
        self._sums: dict[RequestKind, float] = {}

    def note(self, counted: RequestKind, seconds: float) -> None:
        """Count a request that took `seconds`."""
        with self._lock:
            counts = self._counts.setdefault(counted, [0] * (len(BOUNDS) + 1))
            counts[bisect_left(BOUNDS, seconds)] += 1
            self._sums[counted] = self._sums.get(counted, 0.0) + seconds

    def lines(self) -> list[str]:
        """Return the lines of a histogram, its series sorted."""
        with self._lock:
            known = [(one, [*counts], self._sums[one]) for one, counts in self._counts.items()]
        lines = []
        for one, counts, total in sorted(known):
            labels = one._asdict()
            *below, count = accumulate(counts)
            for bound, number in zip((*map(str, BOUNDS), "+Inf"), (*below, count), strict=True):
                lines.append(_line(f"{_SECONDS}_bucket", {**labels, "le": bound}, number))
            lines.append(_line(f"{_SECONDS}_sum", labels, total))
            lines.append(_line(f"{_SECONDS}_count", labels, count))
        return lines


def measure(app: Flask) -> None:
    """Make `app` note how long each request takes; to be called before it is guarded."""
    app.extensions[KEY] = RequestTimes()

    @app.before_request
    def _begin() -> None:
        g.begun = time.perf_counter()

    @app.after_request
    def _end(response: Response) -> Response:
        rule = request.url_rule
        # Methods and addresses that are not there are the client's words, so they are not kept.
        named = ("", "") if rule is None else (rule.rule, request.method)
        named = next(((of, "") for of in _TOGETHER if f"{named[0]}/".startswith(f"{of}/")), named)
        times, counted = app.extensions[KEY], RequestKind(*named, str(response.status_code))
        times.note(counted, time.perf_counter() - g.begun)
        return response


@pages.get("/metrics")
def show() -> Response:
    """Return all figures, in private mode only to this machine or with the operator's token."""
    site = this_site()
    if site.access == PRIVATE and not from_here():
        operators_only(site)
    times = cast(RequestTimes, current_app.extensions[KEY])
    lines = [*_facts(site), *_head(_SECONDS, "histogram", "Seconds of requests."), *times.lines()]
    return Response("".join(f"{line}\n" for line in lines), content_type=_FORMAT)


def _facts(site: Site) -> Iterator[str]:
    names = {"version": __version__, "index": site.build, "release": release_shown(site)}
    yield from _head("veilsearch_info", "gauge", "What is served.")
    yield _line("veilsearch_info", names, 1)
    yield from _head("veilsearch_documents", "gauge", "Documents of the index.")
    yield _line("veilsearch_documents", {}, site.modes.engine.size)
    yield from _head("veilsearch_stopped", "gauge", "1: the new workspace can't be opened.")
    yield _line("veilsearch_stopped", {}, int(site.stopped))


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    written = ",".join(f'{label}="{text.translate(_ESCAPED)}"' for label, text in labels.items())
    return f"{name}{{{written}}} {value}" if written else f"{name} {value}"

"""Parts of every page: static files, navigation, people to choose from, the form's drawer."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from flask import Blueprint, Response, request, send_from_directory
from werkzeug.security import safe_join

from ..settings import ACCESS, DEMO, PLAIN, PRIVATE
from .parameters import POOL, Parameter
from .question import Question, link
from .site import Site
from .visitors.access import visitor

_PAGES = (  # endpoint, name, access modes
    ("search.show", "Search", ACCESS),
    ("device.show", "Device", ACCESS),
    ("me.show", "Me", (DEMO, PRIVATE)),
    ("groups.show", "Groups", ACCESS),
    ("log.show", "Log", ACCESS),
    ("experiments.index", "Experiments", ACCESS),
    ("dial.show", "Dial", (DEMO,)),
    ("lecture.show", "Lecture", (DEMO, PLAIN)),
    ("attack.show", "Attack", (DEMO,)),
    ("admin.show", "People", (PRIVATE,)),
    ("about.show", "About", ACCESS),
)
_STATIC = Path(__file__).resolve().parent / "static"
_FEW = 12  # people who are all offered on each page
_SECONDS = 600  # that browsers keep a file
_UNCHANGED = 304  # HTTP's status for a file that the browser has
_NAMELESS = "device.show"  # its addresses name nobody
_FOR_ALL = ("about.show",)  # open without signing in
_OPERATORS = ("admin.show", "experiments.index")  # in private mode for the operator alone
_WITHIN = {"compare": "search", "why": "search"}  # page -> the page that leads to it


pages = Blueprint("assets", __name__)


@pages.get("/static/<path:name>")
def file(name: str) -> Response:
    """Return the static file `name`; browsers keep it, then ask by its ETag."""
    # No page is compressed: it holds a query next to what only one person may read, and by the
    # length of many such pages somebody who listens could guess that (BREACH).
    compressed = bool(request.accept_encodings["gzip"]) and "Range" not in request.headers
    response = send_from_directory(_STATIC, name, max_age=_SECONDS, conditional=not compressed)
    if compressed:
        etag = response.get_etag()[0] or ""
        response.close()
        response.direct_passthrough = False
        response.set_data(_compressed(name, etag))
        response.content_encoding = "gzip"
        response.set_etag(f"{etag}-gzip")
        response.make_conditional(request)
    response.vary.add("Accept-Encoding")
    if response.status_code == _UNCHANGED:
        response.close()  # nothing reads the file to its end
    return response


@lru_cache(maxsize=100)
def _compressed(name: str, _etag: str) -> bytes:
    """Return the static file `name`, compressed once as long as it has the same ETag."""
    # Flask finds a file by its whole path, whatever folders the name goes through.
    return gzip.compress(Path(safe_join(str(_STATIC), name) or "").read_bytes(), mtime=0)


class Link(NamedTuple):
    """A link to a page, and whether the current page is that one or belongs to it."""

    name: str
    address: str
    current: str  # aria-current: page, true or nothing


def navigation(site: Site) -> list[Link]:
    """Return links to the pages of `site` that the visitor may see, for the same person."""
    known = site.access == DEMO and request.endpoint != _NAMELESS
    chosen = request.args.get("user", "") if known else ""
    person = f"?{urlencode({'user': chosen})}" if chosen in site.people else ""
    here = request.endpoint or ""
    room = here.partition(".")[0]
    links = []
    for endpoint, name, access in _PAGES:
        if site.access in access and _admitted(site, endpoint):
            within = "true" if _WITHIN.get(room, room) == endpoint.partition(".")[0] else ""
            to = link(endpoint) + person * (endpoint != _NAMELESS)
            links.append(Link(name, to, "page" if here == endpoint else within))
    return links


def _admitted(site: Site, endpoint: str) -> bool:
    if endpoint == _NAMELESS:
        return site.on_device
    if site.access != PRIVATE or endpoint in _FOR_ALL:
        return True
    who = visitor()
    if endpoint in _OPERATORS:
        return who.admin
    return bool(who.user) or (who.admin and endpoint != "me.show")


def offered(site: Site, user: str) -> dict[str, str]:
    """Return the people of `site` to choose from on each page: some examples, and `user`."""
    if len(site.people) <= _FEW:
        return dict(site.people)
    # With all people of the demo, most bytes of a page would be their list.
    some = dict.fromkeys([*(example.user for example in site.examples), user])
    return {one: site.people[one] for one in some if one in site.people}


class Field(NamedTuple):
    """A number to fill in."""

    name: str
    label: str
    value: str
    usual: str  # the default, which addresses omit
    meaning: str
    least: str = ""
    most: str = ""
    step: str = ""


class Drawer(NamedTuple):
    """The fields, and a line that names those with another value than the default."""

    summary: str
    fields: list[Field]


def drawer(site: Site, question: Question) -> Drawer:
    """Return the drawer of the search form at `site`, filled in from `question`."""
    fields = [_number(POOL, "Pool", question.pool, "1", site)]
    changed = [
        f"{field.label.lower()} {field.value}" for field in fields if field.value != field.usual
    ]
    return Drawer(f"Settings: {', '.join(changed)}" if changed else "Settings", fields)


def _number(parameter: Parameter, label: str, value: float, step: str, site: Site) -> Field:
    numbers = (value, parameter.usual(site), *parameter.within)
    shown, default, least, most = (f"{number:.15g}" for number in numbers)
    return Field(parameter.name, label, shown, default, parameter.meaning, least, most, step)

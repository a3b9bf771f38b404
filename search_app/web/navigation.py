"""The pages one can go to from every page."""

from __future__ import annotations

from typing import Any, NamedTuple

from flask import request

from .access import visitor
from .addresses import link
from .site import DEMO, PLAIN, PRIVATE, Site

_PAGES = (  # endpoint, name, who may go there
    ("search.show", "Search", (DEMO, PRIVATE, PLAIN)),
    ("device.show", "Device", (DEMO, PRIVATE, PLAIN)),
    ("me.show", "Me", (DEMO, PRIVATE)),
    ("groups.show", "Groups", (DEMO, PRIVATE, PLAIN)),
    ("log.show", "Log", (DEMO, PRIVATE, PLAIN)),
    ("experiments.index", "Experiments", (DEMO, PRIVATE, PLAIN)),
    ("lecture.show", "Lecture", (DEMO, PLAIN)),
    ("admin.show", "People", (PRIVATE,)),
    ("about.show", "About", (DEMO, PRIVATE, PLAIN)),
)
_NAMELESS = "device.show"  # there the server knows of nobody
_OF_NOBODY = ("about.show",)  # open to who has not signed in
_OPERATORS = ("admin.show", "experiments.index")  # for them alone, where people sign in
_WITHIN = {"compare": "search", "why": "search"}  # pages one comes to from another


class Link(NamedTuple):
    """A page, and whether it is this one or this one lies in it."""

    name: str
    address: str
    current: str  # aria-current: page, true or nothing


def navigation(site: Site) -> list[Link]:
    """List the pages open to who asks; in demo mode the chosen person comes along."""
    known = site.access == DEMO and request.endpoint != _NAMELESS
    chosen = request.args.get("user", "") if known else ""
    asked: dict[str, Any] = {"user": chosen} if chosen in site.people else {}
    return [
        Link(name, link(endpoint, **_told(endpoint, asked)), _current(endpoint))
        for endpoint, name, access in _PAGES
        if site.access in access and _admitted(site, endpoint)
    ]


def _told(endpoint: str, asked: dict[str, Any]) -> dict[str, Any]:
    return {} if endpoint == _NAMELESS else asked


def _admitted(site: Site, endpoint: str) -> bool:
    if endpoint == _NAMELESS:
        return site.on_device
    if site.access != PRIVATE or endpoint in _OF_NOBODY:
        return True
    who = visitor()
    return who.admin if endpoint in _OPERATORS else bool(who.user) or _impersonal(endpoint)


def _impersonal(endpoint: str) -> bool:
    return visitor().admin and endpoint != "me.show"


def _current(endpoint: str) -> str:
    here = request.endpoint or ""
    if here == endpoint:
        return "page"
    room = here.partition(".")[0]
    return "true" if _WITHIN.get(room, room) == endpoint.partition(".")[0] else ""

"""The API’s document as JSON, and as a page with answers of the running site as examples."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode
from weakref import WeakKeyDictionary

from flask import Blueprint, Flask, Response, current_app, render_template, request
from markupsafe import Markup, escape

from ....settings import DEMO, PRIVATE
from ...headers import SAFE
from ...pages.experiments import runs_of
from ...site import Site, this_site
from .openapi import BASE, Route, document, routes
from .operations import Operation, as_json, parameters_of
from .schema import FieldRow, Json, Sort, field_row, sample, sort_of

pages = Blueprint("docs", __name__)
_SHOWN = 2  # items of a list in an example
_ROOT = "http://this-site.invalid"  # stands in kept text for the reader's own address of the site


class TryField(NamedTuple):
    """A field of the form that tries an operation; with choices, one of them is its value."""

    name: str
    value: str
    choices: list[str]


class Described(NamedTuple):
    """An operation as the page shows it."""

    anchor: str
    method: str
    path: str
    described: Mapping[str, Json]  # in the document
    parameters: list[FieldRow]
    body: Sort | None
    answer: Sort
    fields: list[TryField] | None  # of the form that tries it; None where a form can't
    address: str  # that the form leads to
    curl: str  # the request as a command
    shown: str  # its answer
    real: bool  # answered by this site just now; else only the shape of an answer


@pages.get(f"{BASE}/openapi.json")
def machine() -> Response:
    """Return the document as JSON."""
    return as_json(document(current_app, this_site()))


# The document of each site, and the number of changes and what was withheld when it was made.
_kept: WeakKeyDictionary[Site, tuple[tuple[int, bool], str]] = WeakKeyDictionary()
_changes = Counter[str]()


@pages.after_app_request
def _renew(answer: Response) -> Response:
    """Show nobody an example with what somebody has just removed."""
    _changes["all"] += request.method not in SAFE
    return answer


@pages.get("/docs")
def show() -> str:
    """Return the document as a page."""
    site = this_site()
    # Publishing a release changes what may be shown of it, without a new site. The state is read
    # first: what changes while the text is made has made it old already.
    state = _changes["all"], site.modes.withheld()
    if site not in _kept or _kept[site][0] != state:
        _kept[site] = state, _text()
    text = _kept[site][1].replace(_ROOT, str(escape(request.url_root.rstrip("/"))))
    return render_template("docs/show.html", document=Markup(text))  # noqa: S704 our own template


def _text() -> str:
    app, site = current_app, this_site()
    whole = document(app, site)
    return render_template(
        "docs/document.html",
        about=whole["info"]["description"].split("\n\n"),
        operations=[_described(app, site, route, whole) for route in routes(app)],
        records=[
            (name, record, [field_row(*field) for field in record["properties"].items()])
            for name, record in whole["components"]["schemas"].items()
        ],
        private=site.access == PRIVATE,
    )


def _described(app: Flask, site: Site, route: Route, whole: Mapping[str, Any]) -> Described:
    described = whole["paths"][route.path][route.method.lower()]
    answer = _schema(described["responses"]["200"])
    address = _address(site, route)
    real = _answered(app, site, route, address)
    shown = sample(answer, whole["components"]["schemas"]) if real is None else real
    text = json.dumps(_shortened(shown), ensure_ascii=False, indent=2)
    return Described(
        anchor=described["operationId"],
        method=route.method,
        path=route.path,
        described=described,
        parameters=[
            field_row(one["name"], one["schema"], one["description"], required=one["required"])
            for one in described["parameters"]
        ],
        body=sort_of(_schema(described["requestBody"])) if "requestBody" in described else None,
        answer=sort_of(answer),
        fields=_fields(described["parameters"], address) if route.method == "GET" else None,
        address=site.settings.root_path + address.partition("?")[0],
        curl=_curl(site, route, address),
        shown=text,
        real=real is not None,
    )


def _fields(parameters: Sequence[Mapping[str, Any]], address: str) -> list[TryField]:
    """Return a field for each of `parameters` in the query, with its value in `address`."""
    given = dict(parse_qsl(address.partition("?")[2]))
    fields = []
    for one in parameters:
        schema, name = one["schema"], one["name"]
        choices = [str(choice) for choice in schema.get("enum", ())]
        usual = schema.get("default", choices[-1] if choices else "")
        value = str(given.get(name, usual))
        # A form sends empty fields, too, and the API refuses an empty number.
        if one["in"] == "query" and (value or schema["type"] == "string"):
            fields.append(TryField(name, value, choices))
    return fields


def _schema(content: Mapping[str, Any]) -> Any:
    return content["content"]["application/json"]["schema"]


def _address(site: Site, route: Route) -> str:
    operation, chosen = route.operation, _chosen(site)
    path = route.path
    for parameter in operation.in_path:
        path = path.replace(f"{{{parameter.name}}}", quote(chosen[parameter.name]))
    values = dict(operation.example) if operation.body is None else {}
    for parameter in parameters_of(operation, site):
        needed = parameter.name in operation.required
        if parameter.name in chosen and (needed or site.access == DEMO):
            values[parameter.name] = chosen[parameter.name]
    order = [parameter.name for parameter in operation.parameters if parameter.name in values]
    query = urlencode({name: values[name] for name in order})
    return f"{path}?{query}" if query else path


def _chosen(site: Site) -> dict[str, str]:
    """Return values for the examples' parameters: in demo mode of an invented person."""
    release = site.modes.release if site.access == DEMO else None
    values = {"row": release.rows.users[0] if release else "g0001", "doc": "ID"}
    if site.examples:
        # Where this fails, the examples are not answered either.
        with suppress(Exception):
            pool = site.modes.engine.pool(site.examples[0].query, 1)
            values["doc"] = str(site.modes.engine.ids(pool.rows)[0])
    runs = runs_of(site) if site.access == DEMO else []
    values["experiment"] = runs[0].name if runs else "zhu-xiong"
    if site.examples:
        return {"q": site.examples[0].query, "user": site.examples[0].user, **values}
    return {"q": "java", "user": next(iter(site.people), ""), **values}


def _answered(app: Flask, site: Site, route: Route, address: str) -> Any:
    """Return the answer to a visitor who has not signed in; None where it must not be shown."""
    operation = route.operation
    # In private mode not even documents of the index are shown to everybody.
    closed = site.access == PRIVATE and (not operation.open or operation.parameters)
    if route.method != "GET" or closed:
        return None
    # A context of its own, so that the reader's session does not count.
    with app.app_context(), app.test_request_context(address):
        # One example that fails must not take the page with it.
        with suppress(Exception):
            return app.make_response(app.dispatch_request()).get_json()
        return None


def _shortened(value: Any) -> Any:
    """Return `value` with its lists cut after their first items, and a note of how many more."""
    if isinstance(value, dict):
        return {name: _shortened(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    more = [f"… and {len(value) - _SHOWN} more"] if len(value) > _SHOWN else []
    return [_shortened(item) for item in value[:_SHOWN]] + more


def _curl(site: Site, route: Route, address: str) -> str:
    operation: Operation = route.operation
    words = ["curl"]
    if route.method != "GET":
        words += ["-X", route.method]
    if site.access == PRIVATE and not operation.open:
        words += ["-H", "'Authorization: Bearer TOKEN'"]
    if operation.body is not None:
        body = json.dumps(dict(operation.example))
        words += ["-H", "'Content-Type: application/json'", "-d", f"'{body}'"]
    return " ".join([*words, f"'{_ROOT}{address}'"])

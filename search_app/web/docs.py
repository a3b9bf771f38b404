"""The API’s document, as JSON and as a page with answers of the running site itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import Blueprint, Flask, Response, current_app, render_template, request

from .experiments import runs_of
from .openapi import BASE, COOKIE, Route, document, routes
from .operations import Operation, as_json, parameters_of
from .reference import Known, Sort, field_rows, known_schemas, sample, sort_of
from .site import DEMO, PRIVATE, Site, this_site

pages = Blueprint("docs", __name__)
_SHOWN = 2  # items of a list in an example


class Example(NamedTuple):
    """A request as one types it, and its answer."""

    curl: str
    answer: str
    real: bool  # given by this site now; else only the shape of an answer


class Described(NamedTuple):
    """An operation as the page shows it."""

    anchor: str
    method: str
    path: str
    told: Mapping[str, Any]  # of the document
    parameters: list[Known]
    body: Sort | None
    answer: Sort
    example: Example


@pages.get(f"{BASE}/openapi.json")
def machine() -> Response:
    """Show the document to machines."""
    return as_json(document(current_app, this_site()))


@pages.get("/docs")
def show() -> str:
    """Show the document to people."""
    app, site = current_app, this_site()
    told = document(app, site)
    schemas = told["components"]["schemas"]
    described = [_described(app, site, route, told) for route in routes(app)]
    return render_template(
        "docs/show.html",
        about=told["info"]["description"].split("\n\n"),
        operations=described,
        records=[(name, schemas[name], field_rows(schemas[name])) for name in schemas],
        private=site.access == PRIVATE,
    )


def _described(app: Flask, site: Site, route: Route, document_: Mapping[str, Any]) -> Described:
    told = document_["paths"][route.path][route.method.lower()]
    answer = _schema(told["responses"]["200"])
    schemas = document_["components"]["schemas"]
    return Described(
        anchor=told["operationId"],
        method=route.method,
        path=route.path,
        told=told,
        parameters=known_schemas(told["parameters"]),
        body=sort_of(_schema(told["requestBody"])) if "requestBody" in told else None,
        answer=sort_of(answer),
        example=_example(app, site, route, sample(answer, schemas)),
    )


def _schema(content: Mapping[str, Any]) -> Any:
    return content["content"]["application/json"]["schema"]


def _example(app: Flask, site: Site, route: Route, shape: Any) -> Example:
    address = _address(site, route)
    real = _answered(app, site, route, address)
    shown = json.dumps(_shortened(shape if real is None else real), ensure_ascii=False, indent=2)
    return Example(_curl(site, route, address), shown, real is not None)


def _address(site: Site, route: Route) -> str:
    told, chosen = route.operation, _chosen(site)
    path = route.path
    for parameter in told.in_path:
        path = path.replace(f"{{{parameter.name}}}", chosen[parameter.name])
    asked = dict(told.example) if told.body is None else {}
    for parameter in parameters_of(told, site):
        if parameter.name in chosen and (parameter.name in told.required or site.access == DEMO):
            asked[parameter.name] = chosen[parameter.name]
    order = [parameter.name for parameter in told.parameters if parameter.name in asked]
    query = urlencode({name: asked[name] for name in order})
    return f"{path}?{query}" if query else path


def _chosen(site: Site) -> dict[str, str]:
    """Choose what examples ask for: in demo mode as an invented person."""
    release = site.modes.release if site.access == DEMO else None
    there = {"row": release.rows.users[0] if release else "g0001", "doc": _a_document(site)}
    runs = runs_of(site) if site.access == DEMO else []
    there["experiment"] = runs[0].name if runs else "zhu-xiong"
    if site.examples:
        return {"q": site.examples[0].query, "user": site.examples[0].user, **there}
    return {"q": "java", "user": next(iter(site.people), ""), **there}


def _a_document(site: Site) -> str:
    """Return the id of a document that the example’s query finds, where examples are answered."""
    if not site.examples:
        return "ID"
    try:
        found = site.modes.engine.pool(site.examples[0].query, 1)
        return str(site.modes.engine.ids(found.rows)[0])
    except Exception:  # then the examples are not answered either
        return "ID"


def _answered(app: Flask, site: Site, route: Route, address: str) -> Any:
    """Return what the site answers to nobody in particular; None where that is not to be shown."""
    told = route.operation
    closed = site.access == PRIVATE and (not told.open or told.parameters)  # no document either
    if route.method != "GET" or closed:
        return None
    with app.app_context(), app.test_request_context(address):  # afresh: nobody has signed in
        try:
            return app.make_response(app.dispatch_request()).get_json()
        except Exception:  # whatever an example can't show, the page shows the rest
            return None


def _shortened(value: Any) -> Any:
    """Cut lists after their first items, and say so."""
    if isinstance(value, dict):
        return {name: _shortened(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    more = [f"… and {len(value) - _SHOWN} more"] if len(value) > _SHOWN else []
    return [_shortened(each) for each in value[:_SHOWN]] + more


def _curl(site: Site, route: Route, address: str) -> str:
    told: Operation = route.operation
    words = ["curl"]
    if route.method != "GET":
        words += ["-X", route.method]
    if site.access == PRIVATE and not told.open:
        words += ["--cookie", f"{COOKIE}=SESSION"]
    if told.body is not None:
        body = json.dumps(dict(told.example))
        words += ["-H", "'Content-Type: application/json'", "-d", f"'{body}'"]
    return " ".join([*words, f"'{request.host_url.rstrip('/')}{address}'"])

"""The OpenAPI 3.1 document, made from the routes, their declarations, parameters and records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from flask import Flask

from .. import __version__
from . import records
from .operations import Operation, operation_of, parameters_of
from .parameters import USER, Parameter
from .schema import Schema, schema_of
from .site import DEMO, PRIVATE, Site

BASE = "/api/v1"
COOKIE = "veilsearch"  # names the cookie of a session
_SESSION = "session"
_METHODS = ("GET", "PUT", "POST", "DELETE")
_REFUSALS = {
    400: "The request is not as this document asks; all that is wrong is said at once.",
    401: "Nobody has signed in.",
    403: "Who asks may not do this here.",
    404: "There is no such thing, or it is not open to who asks.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    429: "Too many requests came at once; Retry-After says how many seconds to wait.",
    503: "A part of the workspace can’t be used or is in use, or the search took too long.",
}
_ABOUT = (
    "Searches in all modes, the own profile, groups and the log of average precision, as "
    "JSON.\n\n"
    "A request is refused with 400 if it has a parameter or a field that this document does not "
    "name, or one twice: so a mistyped name is found at once. Parameters left out take their "
    "default. All answers are JSON, refusals too. Nothing may be asked from another site’s pages."
)


class Route(NamedTuple):
    """An address with a method, and what it takes and answers."""

    path: str  # as OpenAPI writes it: /api/v1/groups/{row}
    method: str
    endpoint: str
    operation: Operation


def routes(app: Flask) -> Iterator[Route]:
    """List the operations of the API as they are registered."""
    for rule in app.url_map.iter_rules():
        told = operation_of(app.view_functions[rule.endpoint])
        if told is None or not rule.rule.startswith(BASE):
            continue
        path = rule.rule.replace("<", "{").replace(">", "}")
        for method in _METHODS:
            if method in (rule.methods or ()):
                yield Route(path, method, rule.endpoint, told)


def document(app: Flask, site: Site) -> dict[str, Any]:
    """Describe the API of a site."""
    schemas: dict[str, Schema] = {}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes(app):
        described = _operation(route, site, schemas)
        paths.setdefault(route.path, {})[route.method.lower()] = described
    schema_of(records.Refusal, schemas)
    components: dict[str, Any] = {"schemas": dict(sorted(schemas.items()))}
    if site.access == PRIVATE:
        components["securitySchemes"] = {
            _SESSION: {
                "type": "apiKey",
                "in": "cookie",
                "name": COOKIE,
                "description": "The cookie that signing in at /sign-in with a personal code sets.",
            }
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "veilsearch", "version": __version__, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": components,
    }


def _operation(route: Route, site: Site, schemas: dict[str, Schema]) -> dict[str, Any]:
    told = route.operation
    described: dict[str, Any] = {
        "operationId": route.endpoint.replace(".", "_"),
        "summary": told.summary,
        "parameters": [*_in_path(told, site), *_in_query(told, site)],
        "responses": _responses(route, site, schemas),
    }
    if told.meaning:
        described["description"] = told.meaning
    if told.body is not None:
        content = {"application/json": {"schema": schema_of(told.body, schemas)}}
        described["requestBody"] = {"required": True, "content": content}
    if site.access == PRIVATE and not told.open:
        described["security"] = [{_SESSION: []}]
    return described


def _in_path(told: Operation, site: Site) -> list[dict[str, Any]]:
    return [_parameter(each, site, "path", True) for each in told.in_path]


def _in_query(told: Operation, site: Site) -> list[dict[str, Any]]:
    return [
        _parameter(each, site, "query", each.name in told.required)
        for each in parameters_of(told, site)
    ]


def _parameter(parameter: Parameter, site: Site, place: str, required: bool) -> dict[str, Any]:
    schema = parameter.schema(site)
    if place == "path":
        schema["minLength"] = 1
    return {
        "name": parameter.name,
        "in": place,
        "required": required,
        "description": parameter.meaning,
        "schema": schema,
    }


def _responses(route: Route, site: Site, schemas: dict[str, Schema]) -> dict[str, Any]:
    told = route.operation
    answer = schema_of(told.answer, schemas)
    refusal = schema_of(records.Refusal, schemas)
    described = {"200": _response("What was asked for.", answer)}
    for status in statuses(route, site):
        ours = status == 503 and told.unready
        described[str(status)] = _response(_REFUSALS[status], answer if ours else refusal)
    return described


def statuses(route: Route, site: Site) -> list[int]:
    """List the statuses with which an operation may refuse."""
    told = route.operation
    possible = {400, 429, 503, *told.refusals}
    if site.access == PRIVATE and not told.open:
        possible |= {401, 403}
    if USER in told.parameters:
        possible |= {404} if site.access == DEMO else {403, 404}
    if route.method != "GET":  # another site’s pages, and bodies that are too large or no JSON
        possible |= {403, 413, 415}
    return sorted(possible)


def _response(meaning: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}

"""The OpenAPI 3.1 document, made from routes, operations, parameters and records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from flask import Flask

from .... import __version__
from ....settings import DEMO, PRIVATE
from ...parameters import USER, Parameter
from ...site import Site
from ...visitors.sign_in import COOKIE
from . import records
from .operations import Operation, operation_of, parameters_of
from .schema import Schema, schema_of

BASE = "/api/v1"
_SESSION, _TOKEN = "session", "token"
_IN_PATH = re.compile(r"<(?:\w+:)?(\w+)>")  # <doc>, or <path:doc>, which may have slashes
_METHODS = ("GET", "PUT", "POST", "DELETE")
_REFUSALS = {
    400: "The request does not follow this document; the message names all faults at once.",
    401: "The visitor has not signed in, or the token is wrong.",
    403: "The visitor may not do this here.",
    404: "There is no such thing, or the visitor may not see it.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    429: "Too many requests came at once; Retry-After gives the seconds to wait.",
    503: "A part of the workspace can’t be used or is in use, or the search took too long.",
}
_ABOUT = (
    "Searches in all modes, the own profile, groups and the log of average precision, as "
    "JSON.\n\n"
    "A parameter or field that this document does not name, or that comes twice, is refused with "
    "400, so that mistyped names are found at once. Parameters that are not given take their "
    "default. All answers are JSON, refusals too. Pages of other origins can’t read them (no CORS)."
)


class Route(NamedTuple):
    """An address and method, with its operation."""

    path: str  # as OpenAPI writes it: /api/v1/groups/{row}
    method: str
    endpoint: str
    operation: Operation


def routes(app: Flask) -> Iterator[Route]:
    """Yield the routes of the API that are registered with `app`."""
    for rule in app.url_map.iter_rules():
        operation = operation_of(app.view_functions[rule.endpoint])
        if operation is None or not rule.rule.startswith(BASE):
            continue
        path = _IN_PATH.sub(r"{\1}", rule.rule)
        for method in _METHODS:
            if method in (rule.methods or ()):
                yield Route(path, method, rule.endpoint, operation)


def document(app: Flask, site: Site) -> dict[str, Any]:
    """Return the OpenAPI document of the API that `app` serves for `site`."""
    schemas: dict[str, Schema] = {}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes(app):
        operation = route.operation
        kinds = (operation.answer, records.RefusalJson)
        answer, refusal = (schema_of(kind, schemas) for kind in kinds)
        described: dict[str, Any] = {
            "operationId": route.endpoint.replace(".", "_"),
            "summary": operation.summary,
            "parameters": [
                *(_parameter(one, site, "path", True) for one in operation.in_path),
                *(
                    _parameter(one, site, "query", one.name in operation.required)
                    for one in parameters_of(operation, site)
                ),
            ],
            "responses": {"200": _response("The answer to the request.", answer)},
        }
        for status in statuses(route, site):
            # A health check that fails answers with its own record.
            ours = status == 503 and operation.unready
            response = _response(_REFUSALS[status], answer if ours else refusal)
            described["responses"][str(status)] = response
        if operation.meaning:
            described["description"] = operation.meaning
        if operation.body is not None:
            content = {"application/json": {"schema": schema_of(operation.body, schemas)}}
            described["requestBody"] = {"required": True, "content": content}
        if site.access == PRIVATE and not operation.open:
            described["security"] = [{_SESSION: []}, {_TOKEN: []}]  # either of them
        paths.setdefault(route.path, {})[route.method.lower()] = described
    schema_of(records.RefusalJson, schemas)
    components: dict[str, Any] = {"schemas": dict(sorted(schemas.items()))}
    if site.access == PRIVATE:
        components["securitySchemes"] = {
            _SESSION: {
                "type": "apiKey",
                "in": "cookie",
                "name": COOKIE,
                "description": "The cookie that /sign-in sets in exchange for a personal code.",
            },
            _TOKEN: {
                "type": "http",
                "scheme": "bearer",
                "description": "A token that a person has made on /me for their scripts.",
            },
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "veilsearch", "version": __version__, "description": _ABOUT},
        "servers": [{"url": site.settings.root_path or "/"}],
        "paths": paths,
        "components": components,
    }


def _parameter(parameter: Parameter, site: Site, place: str, required: bool) -> dict[str, Any]:
    schema = parameter.schema(site)
    # An empty path segment is another address.
    if place == "path":
        schema["minLength"] = 1
    return {
        "name": parameter.name,
        "in": place,
        "required": required,
        "description": parameter.meaning,
        "schema": schema,
    }


def statuses(route: Route, site: Site) -> list[int]:
    """Return the statuses with which `route` may refuse at `site`."""
    operation = route.operation
    possible = {400, 429, 503, *operation.refusals}
    if site.access == PRIVATE and not operation.open:
        possible |= {401, 403}
    if USER in operation.parameters:
        possible |= {404} if site.access == DEMO else {403, 404}
    # Refused are requests from other sites' pages, and bodies that are too large or no JSON.
    if route.method != "GET":
        possible |= {403, 413, 415}
    return sorted(possible)


def _response(meaning: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}

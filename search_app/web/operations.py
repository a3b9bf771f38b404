"""What each address of the API takes and answers: one definition for checking and document."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import getdoc
from typing import Any, get_type_hints

from flask import Response, abort, current_app, request
from werkzeug.datastructures import MultiDict

from .parameters import USER, Parameter
from .schema import Schema, faults, schema_of
from .site import DEMO, Site, this_site

_NAME = re.compile(r"[A-Za-z_]{1,20}")  # what may be a name mistyped; anything else may be a query
_HOLDER = "veilsearch_operation"
View = Callable[..., Any]


@dataclass(frozen=True)
class Operation:
    """What one address takes and answers with one method."""

    summary: str
    meaning: str
    answer: Any  # the type of the record
    parameters: tuple[Parameter, ...]
    in_path: tuple[Parameter, ...]
    required: tuple[str, ...]
    body: Any  # the type of the record, or None
    refusals: tuple[int, ...]  # statuses that not every operation has
    unready: bool  # 503 is answered with the record itself
    open: bool  # to who has not signed in
    compact: bool  # the answer is long, so no blanks stand in it
    example: Mapping[str, Any]  # parameters or body


def operation(
    *parameters: Parameter,
    in_path: Sequence[Parameter] = (),
    required: Sequence[str] = (),
    body: Any = None,
    refusals: Sequence[int] = (),
    unready: bool = False,
    open_to_all: bool = False,
    compact: bool = False,
    example: Mapping[str, Any] | None = None,
) -> Callable[[View], Callable[..., Response]]:
    """Declare what a view takes; refuse what it does not take; answer its record as JSON."""

    def declare(view: View) -> Callable[..., Response]:
        summary, _, meaning = (getdoc(view) or "").partition("\n\n")
        told = Operation(
            summary=summary,
            meaning=" ".join(meaning.split()),
            answer=_answer_of(view),
            parameters=parameters,
            in_path=tuple(in_path),
            required=tuple(required),
            body=body,
            refusals=tuple(refusals),
            unready=unready,
            open=open_to_all,
            compact=compact,
            example=example or {},
        )

        @wraps(view)
        def answer(**path: str) -> Response:
            refuse_odd(request.args, told, this_site())
            return _response(view(**path, **_body(told)), told.compact)

        setattr(answer, _HOLDER, told)
        return answer

    return declare


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """Return what was declared of a view."""
    found: Operation | None = getattr(view, _HOLDER, None)
    return found


def _answer_of(view: View) -> Any:
    """Read the type of a view's record: of a tuple the first, beside it stands the status."""
    answer = get_type_hints(view)["return"]
    return getattr(answer, "__args__", (answer,))[0]


def _response(answered: Any, compact: bool) -> Response:
    if isinstance(answered, Response):
        return answered
    record, status = answered if isinstance(answered, tuple) else (answered, 200)
    return as_json(record, status, compact)


def as_json(record: Any, status: int = 200, compact: bool = False) -> Response:
    """Answer a record with its fields in the order in which they are declared."""
    between = (",", ":") if compact else None
    text = current_app.json.dumps(record, sort_keys=False, allow_nan=False, separators=between)
    return Response(f"{text}\n", status, mimetype="application/json")


def refuse_odd(arguments: MultiDict[str, str], told: Operation, site: Site) -> None:
    """Refuse parameters that are unknown, repeated, empty or missing, all at once."""
    here = parameters_of(told, site)
    known = {parameter.name: parameter for parameter in here}
    if USER in told.parameters:
        known[USER.name] = USER  # what is wrong with that is said by who looks the person up
    odd = [_unknown(name, here) for name in arguments if name not in known]
    odd += [
        f"{name} stands {len(arguments.getlist(name))} times; it must stand once"
        for name in known
        if len(arguments.getlist(name)) > 1
    ]
    odd += [
        f"{name} is empty; leave it out or give it a value"
        for name, parameter in known.items()
        if parameter.kind != "text" and arguments.get(name) == ""
    ]
    odd += [
        f"{parameter.name} is missing; it must be given"
        for parameter in here
        if parameter.name in told.required and parameter.name not in arguments
    ]
    if odd:
        abort(400, "; ".join(odd))


def parameters_of(told: Operation, site: Site) -> list[Parameter]:
    """Return what an operation takes at a site: people are chosen only where they are invented."""
    return [
        each
        for each in told.parameters
        if each is not USER or site.access == DEMO
        if each.kind != "choice" or each.choices(site)
    ]


def _unknown(name: str, here: Sequence[Parameter]) -> str:
    shown = name if _NAME.fullmatch(name) else "this"  # never what may be a query
    allowed = f"allowed are {', '.join(each.name for each in here)}" if here else "there are none"
    return f"{shown} is not a parameter here; {allowed}"


def _body(told: Operation) -> dict[str, Any]:
    return {} if told.body is None else {"body": read_body(told.body)}


def read_body(kind: Any) -> Any:
    """Read a request's JSON as a record; whatever is wrong is refused in one sentence."""
    if request.mimetype != "application/json":
        abort(415, "The body must be JSON; send Content-Type: application/json")
    named: dict[str, Schema] = {}
    schema = schema_of(kind, named)
    value = _json(request.get_data())
    if wrong := list(faults(value, schema, named)):
        abort(400, "; ".join(wrong[:5]))
    return value


def _json(data: bytes) -> Any:
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_refuse_constant
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # half a character is no text
    except (ValueError, RecursionError):
        abort(400, "The body can’t be read as JSON in UTF-8; each field may stand once.")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a field stands twice")
    return dict(pairs)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")

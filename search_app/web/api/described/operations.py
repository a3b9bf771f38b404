"""Operations of the API: one definition for checking requests and for the document."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import getdoc
from typing import Any, get_type_hints

from flask import Response, abort, current_app, request
from werkzeug.datastructures import MultiDict

from ....settings import DEMO
from ...parameters import USER, Parameter
from ...runs.files import refuse_constant
from ...site import Site, this_site
from .schema import Json, Schema, faults, schema_of

# A mistyped name is repeated in the refusal; anything else may be part of a query.
_NAME = re.compile(r"[A-Za-z_]{1,20}")
_HOLDER = "veilsearch_operation"
View = Callable[..., Any]


@dataclass(frozen=True)
class Operation:
    """What one address and method take and answer; a decorator of the view that answers."""

    parameters: tuple[Parameter, ...] = ()
    in_path: tuple[Parameter, ...] = ()
    required: tuple[str, ...] = ()
    body: object = None  # the type of the record, if one is taken
    refusals: tuple[int, ...] = ()  # statuses in addition to those of every operation
    unready: bool = False  # 503 is answered with the record itself
    open: bool = False  # to visitors who have not signed in
    compact: bool = False  # the answer is long, so it is written without blanks
    example: Mapping[str, Json] = field(default_factory=dict)  # parameters or body
    # These three are read from the view: its docstring and the type that it returns.
    summary: str = ""
    meaning: str = ""
    answer: object = None  # the type of the record

    def __call__(self, view: View) -> Callable[..., Response]:
        """Return `view` with its request checked and its record written as JSON."""
        summary, _, meaning = (getdoc(view) or "").partition("\n\n")
        answer = get_type_hints(view)["return"]
        declared = replace(
            self,
            summary=summary,
            meaning=" ".join(meaning.split()),
            # A view may return a tuple of its record and a status.
            answer=getattr(answer, "__args__", (answer,))[0],
        )

        @wraps(view)
        def answered(**path: str) -> Response:
            refuse_odd(request.args, declared, this_site())
            body = {} if declared.body is None else {"body": read_body(declared.body)}
            result = view(**path, **body)
            record, status = result if isinstance(result, tuple) else (result, 200)
            return as_json(record, status, declared.compact)

        setattr(answered, _HOLDER, declared)
        return answered


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """Return the operation that `view` was declared with; None if it has none."""
    declared: Operation | None = getattr(view, _HOLDER, None)
    return declared


def as_json(record: Any, status: int = 200, compact: bool = False) -> Response:
    """Return `record` as a JSON response, its fields in the order of their declaration."""
    # JSON has no NaN: a record with one fails here, not at the reader.
    between = (",", ":") if compact else None
    text = current_app.json.dumps(record, sort_keys=False, allow_nan=False, separators=between)
    return Response(f"{text}\n", status, mimetype="application/json")


def refuse_odd(arguments: MultiDict[str, str], operation: Operation, site: Site) -> None:
    """Refuse `arguments` that are unknown, repeated, empty or missing, all at once."""
    here = parameters_of(operation, site)
    known = {parameter.name: parameter for parameter in here}
    # Outside demo mode the code that looks up the person refuses a name, in words of its own.
    if USER in operation.parameters:
        known[USER.name] = USER
    allowed = f"allowed are {', '.join(one.name for one in here)}" if here else "there are none"
    unknown = (name for name in arguments if name not in known)
    odd = [
        f"{name if _NAME.fullmatch(name) else 'this'} is not a parameter here; {allowed}"
        for name in unknown
    ]
    odd += [
        f"{name} is given {len(arguments.getlist(name))} times; give it once"
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
        if parameter.name in operation.required and parameter.name not in arguments
    ]
    if odd:
        abort(400, "; ".join(odd))


def parameters_of(operation: Operation, site: Site) -> list[Parameter]:
    """Return the parameters of `operation` at `site`: it takes a person in demo mode only."""
    return [
        parameter
        for parameter in operation.parameters
        if parameter is not USER or site.access == DEMO
        if parameter.kind != "choice" or parameter.choices(site)
    ]


def read_body(kind: Any) -> Any:
    """Return the request's JSON as a record of type `kind`; refuse faults in one sentence."""
    if request.mimetype != "application/json":
        abort(415, "The body must be JSON; send Content-Type: application/json")
    named: dict[str, Schema] = {}
    schema = schema_of(kind, named)
    try:
        text = request.get_data().decode("utf-8")
        value = json.loads(text, object_pairs_hook=_object, parse_constant=refuse_constant)
        # JSON can escape half of a surrogate pair, which is no character.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        abort(400, "The body can’t be read as JSON in UTF-8; give each field once.")
    if wrong := list(faults(value, schema, named)):
        abort(400, "; ".join(wrong[:5]))
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a field is given twice")
    return dict(pairs)

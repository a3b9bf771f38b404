"""Types of records -> JSON Schema, and values of a request held against it."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import (
    Annotated,
    Any,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Schema = dict[str, Any]
PLACE = "#/components/schemas/"  # of a named schema in the document
_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
_WORDS = {
    "string": "text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


class Rule(NamedTuple):
    """What JSON Schema asks of a value beyond its type."""

    name: str
    value: object


def schema_of(kind: Any, named: dict[str, Schema]) -> Schema:
    """Describe a type; records are described by name, once, in what is handed in."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return {**schema_of(parts[0], named), **_notes(parts[1:])}
    if origin in (Union, types.UnionType):
        return _either(parts, named)
    if origin in (list, dict):
        kinds = {list: ("array", "items"), dict: ("object", "additionalProperties")}
        name, inside = kinds[origin]
        return {"type": name, inside: schema_of(parts[-1], named)}
    return _record(kind, named) if is_typeddict(kind) else {"type": _PLAIN[kind]}


def _notes(notes: tuple[Any, ...]) -> Schema:
    """Read what stands beside a type: text describes it, a rule narrows it."""
    return {
        note.name if isinstance(note, Rule) else "description": (
            note.value if isinstance(note, Rule) else note
        )
        for note in notes
    }


def _record(kind: Any, named: dict[str, Schema]) -> Schema:
    name = kind.__name__
    if name not in named:
        named[name] = {}  # a record that holds itself must not begin again
        fields = get_type_hints(kind, include_extras=True)
        named[name] = {
            "type": "object",
            "description": kind.__doc__,
            "properties": {field: schema_of(its, named) for field, its in fields.items()},
            "required": sorted(kind.__required_keys__),
            "additionalProperties": False,
        }
    return {"$ref": PLACE + name}


def _either(parts: tuple[Any, ...], named: dict[str, Schema]) -> Schema:
    schemas = [schema_of(part, named) for part in parts]
    if all(set(schema) == {"type"} for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}


def faults(value: Any, schema: Schema, named: Mapping[str, Schema], at: str = "") -> Iterator[str]:
    """Say what of a value is not as its schema asks, one plain clause each.

    Knows what the bodies of requests need: objects, lists, texts, switches and numbers.
    """
    if "$ref" in schema:
        yield from faults(value, named[schema["$ref"].removeprefix(PLACE)], named, at)
        return
    kind = schema["type"]
    if not _is(value, kind):
        yield f"{at or 'the body'} must be {_WORDS[kind]}"
    elif kind == "object":
        yield from _object_faults(value, schema, named, at)
    elif kind == "array":
        yield from _array_faults(value, schema, named, at)
    elif kind == "string" and not schema["minLength"] <= len(value) <= schema["maxLength"]:
        yield f"{at} must have {schema['minLength']} to {schema['maxLength']} characters"


def _is(value: object, kind: str) -> bool:
    # Python counts True among the whole numbers; nobody else does.
    return isinstance(value, _KINDS[kind]) and isinstance(value, bool) == (kind == "boolean")


def _object_faults(
    value: dict[str, Any], schema: Schema, named: Mapping[str, Schema], at: str
) -> Iterator[str]:
    known = schema["properties"]
    if set(value) - set(known):
        yield f"{at or 'the body'} may have no other fields than {', '.join(known)}"
    for name in schema["required"]:
        if name not in value:
            yield f"{at}.{name} is missing" if at else f"{name} is missing"
    for name, its in known.items():
        if name in value:
            yield from faults(value[name], its, named, f"{at}.{name}" if at else name)


def _array_faults(
    value: list[Any], schema: Schema, named: Mapping[str, Schema], at: str
) -> Iterator[str]:
    least, most = schema["minItems"], schema["maxItems"]
    if not least <= len(value) <= most:
        yield f"{at} must have {least} to {most} items"
        return
    for place, item in enumerate(value):
        yield from faults(item, schema["items"], named, f"{at}[{place}]")

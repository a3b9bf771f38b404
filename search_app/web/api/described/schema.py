"""Types of the API's values: their JSON Schema, their words, and the faults of a value."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import (
    Annotated,
    Any,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
Record = TypeVar("Record")
Schema = dict[str, Any]
SUFFIX = "Json"  # of the classes of records
PLACE = "#/components/schemas/"  # of a named schema in the document
_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class Rule(NamedTuple):
    """A rule of JSON Schema on a value, in addition to its type."""

    name: str
    value: Json


class _Kind(NamedTuple):
    """A type of JSON Schema: the values it takes, its name in a sentence, and a value to show."""

    takes: tuple[type, ...]
    name: str
    sample: Json = None


_KINDS = {
    "string": _Kind((str,), "text", "…"),
    "boolean": _Kind((bool,), "true or false", False),
    "integer": _Kind((int,), "a whole number", 0),
    "number": _Kind((int, float), "a number", 0),
    "object": _Kind((dict,), "an object", {}),
    "array": _Kind((list,), "a list"),
    "null": _Kind((type(None),), "null"),
}
_RANGES = (  # rules of the lowest and highest value, and the unit
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
)
_LENGTHS = {"string": _RANGES[1], "array": _RANGES[2]}


class Sort(NamedTuple):
    """The kind of a value in words, and the name of the record that it is or holds, if any."""

    text: str
    record: str


class FieldRow(NamedTuple):
    """A parameter or field, as a row of a table."""

    name: str
    sort: Sort
    range: str
    usual: str
    required: bool
    meaning: str


def schema_of(kind: Any, named: dict[str, Schema]) -> Schema:
    """Return the schema of the type `kind`; add each record once to `named`, by its name."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return {
            **schema_of(parts[0], named),
            **dict(note if isinstance(note, Rule) else ("description", note) for note in parts[1:]),
        }
    if origin in (Union, types.UnionType):
        schemas = [schema_of(part, named) for part in parts]
        plain = all(set(schema) == {"type"} for schema in schemas)
        return {"type": [schema["type"] for schema in schemas]} if plain else {"anyOf": schemas}
    if origin in (list, dict):
        kinds = {list: ("array", "items"), dict: ("object", "additionalProperties")}
        name, inside = kinds[origin]
        return {"type": name, inside: schema_of(parts[-1], named)}
    return _record(kind, named) if is_typeddict(kind) else {"type": _PLAIN[kind]}


def _record(kind: Any, named: dict[str, Schema]) -> Schema:
    # A record's class has a suffix, as other classes of the product have the schema's own name.
    name = kind.__name__.removesuffix(SUFFIX)
    if name not in named:
        # The name is taken at once: a record may hold itself.
        named[name] = {}
        fields = get_type_hints(kind, include_extras=True)
        named[name] = {
            "type": "object",
            "description": kind.__doc__,
            "properties": {field: schema_of(its, named) for field, its in fields.items()},
            "required": sorted(kind.__required_keys__),
            "additionalProperties": False,
        }
    return {"$ref": PLACE + name}


def record_of(kind: type[Record], source: object, **given: object) -> Record:
    """Return a record of type `kind`: its fields are `given`, or those of `source` by name."""
    read = source.__getitem__ if isinstance(source, Mapping) else partial(getattr, source)
    names = kind.__annotations__
    return cast(Record, {name: given[name] if name in given else read(name) for name in names})


def faults(value: Any, schema: Schema, named: Mapping[str, Schema], at: str = "") -> Iterator[str]:
    """Yield a plain clause for each way in which `value` breaks `schema`; `at` is its place."""
    # Only what bodies of requests need: objects, lists, texts, switches and numbers.
    if "$ref" in schema:
        yield from faults(value, named[schema["$ref"].removeprefix(PLACE)], named, at)
        return
    kind = schema["type"]
    # In Python True is an int; in JSON it is no number.
    fits = isinstance(value, _KINDS[kind].takes)
    if not fits or isinstance(value, bool) != (kind == "boolean"):
        yield f"{at or 'the body'} must be {_KINDS[kind].name}"
    elif kind == "object":
        yield from _object_faults(value, schema, named, at)
    elif kind in _LENGTHS:
        least, most, what = _LENGTHS[kind]
        if not schema[least] <= len(value) <= schema[most]:
            yield f"{at} must have {schema[least]} to {schema[most]}{what}"
        elif kind == "array":
            for place, item in enumerate(value):
                yield from faults(item, schema["items"], named, f"{at}[{place}]")


def _object_faults(
    value: Mapping[str, Any], schema: Schema, named: Mapping[str, Schema], at: str
) -> Iterator[str]:
    known = schema["properties"]
    if set(value) - set(known):
        yield f"{at or 'the body'} has an unknown field; allowed are {', '.join(known)}"
    inner = f"{at}." if at else ""
    for name in schema["required"]:
        if name not in value:
            yield f"{inner}{name} is missing"
    for name, its in known.items():
        if name in value:
            yield from faults(value[name], its, named, f"{inner}{name}")


def field_row(
    name: str, schema: Mapping[str, Any], meaning: str = "", *, required: bool = False
) -> FieldRow:
    """Return the row of a parameter or field; without `meaning`, its schema describes it."""
    usual = schema.get("default")
    return FieldRow(
        name=name,
        sort=sort_of(schema),
        range=range_of(schema),
        usual="" if usual is None else f"{usual}",
        required=required,
        meaning=meaning or schema.get("description", ""),
    )


def sort_of(schema: Mapping[str, Any]) -> Sort:
    """Return the kind of values that `schema` describes, in words."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(PLACE)
        return Sort(name, name)
    if "enum" in schema:
        # range_of lists the values themselves.
        return Sort("", "")
    if "anyOf" in schema:
        sorts = [sort_of(inner) for inner in schema["anyOf"]]
        record = next((sort.record for sort in sorts if sort.record), "")
        return Sort(" or ".join(sort.text for sort in sorts), record)
    kind = schema["type"]
    if kind == "array":
        inside = sort_of(schema["items"])
        return Sort(f"list of {inside.text}", inside.record)
    kinds = [kind] if isinstance(kind, str) else kind
    names = (_KINDS[name].name.removeprefix("a ").removeprefix("an ") for name in kinds)
    return Sort(" or ".join(names), "")


def range_of(schema: Mapping[str, Any]) -> str:
    """Return which values `schema` allows, in words that follow their kind."""
    if "enum" in schema:
        return "one of " + ", ".join(str(value) for value in schema["enum"])
    for least, most, what in _RANGES:
        if most in schema:
            return f", {schema.get(least, 0):,} to {schema[most]:,}{what}"
        if least in schema:
            return f", {schema[least]:,} or more{what}"
    return ""


def sample(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    """Return a made-up value that shows the shape of `schema`; `schemas` has its records."""
    if "$ref" in schema:
        record = schemas[schema["$ref"].removeprefix(PLACE)]
        return {name: sample(inner, schemas) for name, inner in record["properties"].items()}
    if "anyOf" in schema:
        return sample(schema["anyOf"][0], schemas)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    if kind == "array":
        return [sample(schema["items"], schemas)]
    # The only pattern in use is that of a SHA-256.
    if "pattern" in schema:
        return "0" * 64
    return schema.get("minimum", _KINDS[kind].sample)

"""JSON Schema in words: what a parameter or a field may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .schema import PLACE

_WORDS = {
    "string": "text",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
    "object": "object",
    "array": "list",
    "null": "null",
}
_SAMPLES: dict[str, Any] = {"string": "…", "boolean": False, "null": None, "object": {}}


class Sort(NamedTuple):
    """What a value is in words; the record it is or holds, if it does."""

    text: str
    record: str


class Known(NamedTuple):
    """A parameter or field as a row of a table."""

    name: str
    sort: Sort
    range: str
    usual: str
    required: bool
    meaning: str


def known_schemas(parameters: Sequence[Mapping[str, Any]]) -> list[Known]:
    """Describe parameters."""
    return [_known(each["name"], each["schema"], each["required"], each) for each in parameters]


def field_rows(record: Mapping[str, Any]) -> list[Known]:
    """Describe the fields of a record."""
    return [
        _known(name, schema, name in record["required"], schema)
        for name, schema in record["properties"].items()
    ]


def _known(name: str, schema: Mapping[str, Any], required: bool, told: Mapping[str, Any]) -> Known:
    usual = schema.get("default")
    return Known(
        name=name,
        sort=sort_of(schema),
        range=range_of(schema),
        usual="" if usual is None else f"{usual}",
        required=required,
        meaning=told.get("description", ""),
    )


def sort_of(schema: Mapping[str, Any]) -> Sort:
    """Say what a value is."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(PLACE)
        return Sort(name, name)
    if "enum" in schema:
        return Sort("", "")  # the values themselves are told
    if "anyOf" in schema:
        sorts = [sort_of(each) for each in schema["anyOf"]]
        record = next((sort.record for sort in sorts if sort.record), "")
        return Sort(" or ".join(sort.text for sort in sorts), record)
    kind = schema["type"]
    if kind == "array":
        inside = sort_of(schema["items"])
        return Sort(f"list of {inside.text}", inside.record)
    kinds = [kind] if isinstance(kind, str) else kind
    return Sort(" or ".join(_WORDS[each] for each in kinds), "")


def range_of(schema: Mapping[str, Any]) -> str:
    """Say which values of its sort are allowed."""
    if "enum" in schema:
        return "one of " + ", ".join(str(value) for value in schema["enum"])
    for least, most, what in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ):
        if most in schema:
            return f", {schema.get(least, 0):,} to {schema[most]:,}{what}"
        if least in schema:
            return f", {schema[least]:,} or more{what}"
    return ""


def sample(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    """Make up a value that shows the shape."""
    if "$ref" in schema:
        record = schemas[schema["$ref"].removeprefix(PLACE)]
        return {name: sample(each, schemas) for name, each in record["properties"].items()}
    if "anyOf" in schema:
        return sample(schema["anyOf"][0], schemas)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    if kind == "array":
        return [sample(schema["items"], schemas)]
    if "pattern" in schema:
        return "0" * 64
    return _SAMPLES.get(kind, schema.get("minimum", 0))

"""Types become JSON Schema, and the page has it in words."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest

from search_app.web.api.described.schema import (
    Rule,
    Schema,
    Sort,
    range_of,
    sample,
    schema_of,
    sort_of,
)

HIT = {"$ref": "#/components/schemas/Hit"}
SCHEMAS = {"Hit": {"properties": {"rank": {"type": "integer", "minimum": 1}}}}


class Leaf(TypedDict):
    """A leaf."""

    name: Annotated[str, Rule("minLength", 1), Rule("maxLength", 3), "Its name."]
    on: bool


class Tree(TypedDict, total=False):
    """A tree."""

    leaves: Annotated[list[Leaf], Rule("minItems", 0), Rule("maxItems", 2)]
    height: Annotated[float | None, "In metres."]
    best: Leaf | None
    weights: dict[str, float]


def test_a_record_is_described_by_name() -> None:
    named: dict[str, Schema] = {}
    assert schema_of(Tree, named) == {"$ref": "#/components/schemas/Tree"}
    assert named["Leaf"] == {
        "type": "object",
        "description": "A leaf.",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 3, "description": "Its name."},
            "on": {"type": "boolean"},
        },
        "required": ["name", "on"],
        "additionalProperties": False,
    }
    leaf = {"$ref": "#/components/schemas/Leaf"}
    assert named["Tree"]["required"] == []
    assert named["Tree"]["properties"] == {
        "leaves": {"type": "array", "items": leaf, "minItems": 0, "maxItems": 2},
        "height": {"type": ["number", "null"], "description": "In metres."},
        "best": {"anyOf": [leaf, {"type": "null"}]},
        "weights": {"type": "object", "additionalProperties": {"type": "number"}},
    }


@pytest.mark.parametrize(
    ("schema", "text", "record", "range_"),
    [
        ({"type": "string"}, "text", "", ""),
        ({"type": "integer", "minimum": 1, "maximum": 9999}, "whole number", "", ", 1 to 9,999"),
        ({"type": "number", "minimum": 0}, "number", "", ", 0 or more"),
        ({"type": ["number", "null"]}, "number or null", "", ""),
        ({"type": "string", "enum": ["none", "own"]}, "", "", "one of none, own"),
        ({"type": "string", "minLength": 1, "maxLength": 8}, "text", "", ", 1 to 8 characters"),
        (HIT, "Hit", "Hit", ""),
        ({"type": "array", "items": HIT, "maxItems": 3}, "list of Hit", "Hit", ", 0 to 3 items"),
        ({"anyOf": [HIT, {"type": "null"}]}, "Hit or null", "Hit", ""),
    ],
)
def test_a_schema_in_words(schema: dict[str, Any], text: str, record: str, range_: str) -> None:
    assert sort_of(schema) == Sort(text, record)
    assert range_of(schema) == range_


def test_a_made_up_answer_has_the_shape() -> None:
    assert sample({"type": "array", "items": HIT}, SCHEMAS) == [{"rank": 1}]
    assert sample({"anyOf": [HIT, {"type": "null"}]}, SCHEMAS) == {"rank": 1}
    assert sample({"type": ["number", "null"]}, SCHEMAS) == 0
    assert sample({"type": "string", "enum": ["ok", "failing"]}, SCHEMAS) == "ok"

"""Types become JSON Schema, and bodies are held against it."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest

from search_app.web.schema import Rule, Schema, faults, schema_of


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


class Body(TypedDict, total=False):
    """What the API takes is made of these kinds."""

    leaves: Annotated[list[Leaf], Rule("minItems", 0), Rule("maxItems", 2)]
    best: Leaf


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


def test_a_type_that_json_has_not_is_no_field() -> None:
    with pytest.raises(KeyError):
        schema_of(bytes, {})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, []),
        ({"leaves": [{"name": "abc", "on": True}]}, []),
        ([], ["the body must be an object"]),
        (True, ["the body must be an object"]),
        ({"trunk": 1}, ["the body may have no other fields than leaves, best"]),
        ({"leaves": {}}, ["leaves must be a list"]),
        ({"leaves": [1, 2, 3]}, ["leaves must have 0 to 2 items"]),
        ({"leaves": [{"name": "abcd", "on": 1}]}, ["leaves[0].name must have 1 to 3 characters"]),
        ({"leaves": [{"name": "", "on": 1}]}, ["leaves[0].on must be true or false"]),
        ({"leaves": [{"on": True}]}, ["leaves[0].name is missing"]),
        ({"best": {"name": True, "on": True}}, ["best.name must be text"]),
    ],
)
def test_what_is_not_as_asked_is_said(value: Any, expected: list[str]) -> None:
    named: dict[str, Schema] = {}
    schema = schema_of(Body, named)
    found = list(faults(value, schema, named))
    assert bool(found) == bool(expected)
    assert set(expected) <= set(found)

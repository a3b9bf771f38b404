"""JSON Schema in the words of the page."""

from __future__ import annotations

from typing import Any

import pytest

from search_app.web.reference import Sort, known_schemas, range_of, sample, sort_of

HIT = {"$ref": "#/components/schemas/Hit"}
SCHEMAS = {"Hit": {"properties": {"rank": {"type": "integer", "minimum": 1}}}}


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


def test_a_parameter_in_words() -> None:
    schema = {"type": "integer", "default": 0}
    told = {"name": "page", "required": False, "description": "Which page.", "schema": schema}
    (known,) = known_schemas([told])
    assert (known.name, known.usual, known.required, known.meaning) == (
        *("page", "0", False),
        "Which page.",
    )


def test_a_made_up_answer_has_the_shape() -> None:
    assert sample({"type": "array", "items": HIT}, SCHEMAS) == [{"rank": 1}]
    assert sample({"anyOf": [HIT, {"type": "null"}]}, SCHEMAS) == {"rank": 1}
    assert sample({"type": ["number", "null"]}, SCHEMAS) == 0
    assert sample({"type": "string", "enum": ["ok", "failing"]}, SCHEMAS) == "ok"

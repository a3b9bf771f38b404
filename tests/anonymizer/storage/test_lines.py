"""Lines written and read in blocks equal those of the plain twins, on hostile lines too."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.errors import BadInput
from anonymizer.model import Profiles
from anonymizer.storage import json_lines
from anonymizer.storage.json_lines import (
    StrictReader,
    json_texts,
    read_fields,
    read_rows,
    record_lines,
    row_lines,
)
from anonymizer.storage.records import Record, as_json

PROFILE: Record = {"user": "u1", "terms": {"kitten": 1.0}}
ROW: Record = {"row": "g0001", "users": 4, "terms": {"kitten": 1.0}}
MEMBER: Record = {"user": "u1", "row": "g0001"}
PATH = Path("some.jsonl")

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5) | st.sampled_from(
    ["kitten", "x" * 16, "x" * 17, "x" * 16 + "y", "é" * 9, "a\nb", '"', "\\", "\ufeff", "\x7f"]
)
ODD = [1.0, 0.1 + 0.2, 2 / 3, 5e-324, 1e-7, 1e-4, 9.99e-5, 1e15, 1e16, 1.7976931348623157e308]
WEIGHTS = st.sampled_from(ODD) | st.floats(0, exclude_min=True, allow_infinity=False)
ROWS = st.lists(st.dictionaries(NAMES, WEIGHTS, min_size=1, max_size=6), min_size=1, max_size=8)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few lines be several blocks."""
    monkeypatch.setattr(json_lines, "CELLS", 5)


def strictly(content: bytes, example: Record) -> tuple[dict[str, list[Any]], list[dict[str, Any]]]:
    """Read line by line: the twin."""
    reader = StrictReader(PATH, example)
    records = [*map(reader.read, BytesIO(content))]
    reader.finish()
    fields = {name: [record[name] for record in records] for name in example if name != "terms"}
    return fields, [record.get("terms", {}) for record in records]


def fast(content: bytes, example: Record) -> tuple[dict[str, list[Any]], list[dict[str, Any]]]:
    if "terms" not in example:
        fields = read_fields(BytesIO(content), PATH, example)
        return fields, [{} for _ in next(iter(fields.values()))]
    rows, users = read_rows(BytesIO(content), PATH, example)
    assert list(rows.terms) == sorted({term for at in range(len(rows)) for term in rows.at(at)})
    fields = {next(iter(example)): list(rows.users)} | (
        {"users": users} if "users" in example else {}
    )
    return fields, [rows.at(at) for at in range(len(rows))]


def same(content: bytes, example: Record) -> bool:
    """Check that both readers return the same or refuse with the same words."""
    found = []
    for read in (strictly, fast):
        try:
            found.append(read(content, example))
        except BadInput as refused:
            found.append(str(refused))  # type: ignore[arg-type]
    assert found[0] == found[1]
    return not isinstance(found[0], str)


# -- writing ---------------------------------------------------------------------------------------


@given(ROWS, st.booleans())
def test_rows_are_written_as_json_writes_them(rows: list[dict[str, float]], turned: bool) -> None:
    profiles = Profiles.from_rows({f"u{number}": row for number, row in enumerate(rows)})
    if turned:
        weights = profiles.weights[:, ::-1]
        profiles = Profiles(profiles.users, profiles.terms[::-1], weights)
    users = list(range(len(rows)))
    twin = [
        as_json({"row": name, "users": number, "terms": dict(sorted(profiles.row(name).items()))})
        for number, name in enumerate(profiles.users)
    ]
    written = row_lines(profiles, {"row": profiles.users, "users": users})
    assert b"".join(written) == b"".join(twin)


@given(st.lists(st.tuples(NAMES, NAMES)))
def test_records_are_written_as_json_writes_them(pairs: list[tuple[str, str]]) -> None:
    columns = {"user": [user for user, _ in pairs], "row": [row for _, row in pairs]}
    twin = [as_json({"user": user, "row": row}) for user, row in pairs]
    assert list(record_lines(columns)) == twin
    assert json_texts(columns["user"]) == [json.dumps(u, ensure_ascii=False) for u, _ in pairs]


def test_half_a_character_is_not_written() -> None:
    broken = Profiles.from_rows({"\ud800": {"a": 1.0}})
    with pytest.raises(UnicodeEncodeError):
        list(row_lines(broken, {"user": broken.users}))


# -- reading ---------------------------------------------------------------------------------------


@given(ROWS, st.data())
def test_what_is_well_formed_is_read_by_both(
    rows: list[dict[str, float]], data: st.DataObject
) -> None:
    lines = []
    for number, row in enumerate(rows):
        ways: dict[str, Any] = data.draw(
            st.sampled_from([{}, {"ensure_ascii": False}, {"separators": (",", ":")}])
        )
        record = {"row": f"g{number}", "users": number, "terms": row}
        end = data.draw(st.sampled_from(["\n", "\r\n", " \n"]))
        lines.append(json.dumps(record, **{"ensure_ascii": False, **ways}) + end)
    content = "".join(lines).encode()
    assert same(content, ROW)
    assert same(content.removesuffix(b"\n"), ROW)


FRAGMENTS = [
    *('{"user": "u1", "terms": {', '{"user": "u2", "terms": {', '{"user": "", "terms": {'),
    *(
        '{"row": "g1", "users": ',
        '{"row": "g2", "users": ',
        ', "terms": {',
        '"row": "',
        '", "row": "',
    ),
    *('"a": 1.0', '"b": 0.5', '"a": 1', '"é": 1.0', '"": 1.0', '"a\\u0062": 1', '"ab": 2', '"a":1'),
    *('"c": 0', '"c": -1.0', '"c": 1e999', '"c": NaN', '"c": 01', '"c": 1.', '"c": .5', '"c": +1'),
    *('"c": 1e5', '"c": 1E+2', '"c": 1e-400', '"c": true', '"c": "1"', '"c": {}', '"c": 1-1'),
    *(f'"d": {10**400}', f'"d": {"0" * 40}', f'"d": 0.{"1" * 60}', f'"d": 1{"0" * 30}'),
    *(
        '"\\ud800": 1.0',
        '"\x00": 1.0',
        '"\x1f": 1.0',
        '"\ufeff": 1.0',
        "\ufeff",
        '"' + "x" * 40 + '": 1.0',
    ),
    *("1", "0", "01", "-1", "1.0", "9" * 18, "9" * 19, "true", "u3", "g3", '"'),
    *(", ", ",", "}", "}}", "{", "}}\n", '"}\n', "\n", "\n\n", "\r\n", " ", "]", "\t"),
]
HOSTILE = st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(
    lambda parts: "".join(parts).encode()
)
LINES = st.sampled_from(
    [
        b'{"user": "u1", "terms": {"a": 1.0, "b": 0.5}}\n',
        b'{"user": "u2", "terms": {"b": 1.0}}\n',
        b'{"user":"u3","terms":{"a":3}}\n',
        b'{"row": "g1", "users": 2, "terms": {"a": 1.0}}\n',
        b'{"row": "g2", "users": 3, "terms": {"b": 1.0, "a": 2.5}}\r\n',
        b'{"user": "u1", "row": "g1"}\n',
        b'{"user": "u2", "row": "g1"}\n',
        b'{"user": "u3", "row": "\xc3\xa9"}\n',
        b'{"user": "u4", "row": "\xff"}\n',
        b'{"user": "u5", "row": ""}\n',
    ]
)


@settings(max_examples=250)
@given(st.lists(LINES | HOSTILE, max_size=6), st.sampled_from([PROFILE, ROW, MEMBER]))
def test_hostile_lines_are_read_as_the_twin_reads_them(lines: list[bytes], example: Record) -> None:
    same(b"".join(lines), example)


@given(st.data(), st.sampled_from(range(3)))
def test_a_changed_byte_is_read_as_the_twin_reads_it(data: st.DataObject, kind: int) -> None:
    good = [
        b'{"user": "u1", "terms": {"a": 1.0, "ab": 0.25}}\n'
        b'{"user": "u2", "terms": {"\xc3\xa9": 1e5}}\n',
        b'{"row": "g1", "users": 2, "terms": {"a": 1.0}}\n'
        b'{"row": "g2", "users": 10, "terms": {"b": 2}}\n',
        b'{"user": "u1", "row": "g1"}\n{"user": "u2", "row": "g1"}\n',
    ][kind]
    at = data.draw(st.integers(0, len(good) - 1))
    byte = data.draw(st.sampled_from([b"", *(bytes([i]) for i in range(256))]))
    same(good[:at] + byte + good[at + 1 :], [PROFILE, ROW, MEMBER][kind])


def test_plain_lines_need_no_strict_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StrictReader, "read", lambda *_: 1 / 0)
    rows = Profiles.from_rows({f"ü{number}": {"ä": 1.0, "b": 1e-7} for number in range(9)})
    content = b"".join(row_lines(rows, {"row": rows.users, "users": range(1, 10)}))
    found, users = read_rows(BytesIO(content), PATH, ROW)
    assert (found.users, found.row("ü8"), users) == (rows.users, rows.row("ü8"), [*range(1, 10)])


def test_a_line_as_long_as_many_blocks() -> None:
    row = {f"t{number:05}": 1.0 + number for number in range(4_000)}
    content = as_json({"user": "u1", "terms": row})
    rows, _ = read_rows(BytesIO(content), PATH, PROFILE)
    assert rows.row("u1") == row

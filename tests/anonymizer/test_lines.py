"""Lines written and read by compiled code equal those of the plain twins, on hostile lines too."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer import line_reading, line_scanning, line_writing
from anonymizer.line_reading import read_fields, read_rows
from anonymizer.line_writing import json_texts, numbered, record_lines, row_lines
from anonymizer.model import BadInput, Profiles
from anonymizer.pieces import joined, pieces
from anonymizer.records import Record, StrictReader, as_json

PROFILE: Record = {"user": "u1", "terms": {"kitten": 1.0}}
ROW: Record = {"row": "g0001", "users": 4, "terms": {"kitten": 1.0}}
MEMBER: Record = {"user": "u1", "row": "g0001"}
PATH = Path("some.jsonl")

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5) | st.sampled_from(
    ["kitten", "x" * 16, "x" * 17, "x" * 16 + "y", "é" * 9, "a\nb", '"', "\\", "\ufeff", "\x7f"]
)
WEIGHTS = st.sampled_from([1.0, 0.1, 2 / 3, 5e-324, 1e16, 1.7976931348623157e308]) | st.floats(
    0, exclude_min=True, allow_infinity=False
)
ROWS = st.lists(st.dictionaries(NAMES, WEIGHTS, min_size=1, max_size=6), min_size=1, max_size=8)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few lines be several blocks, and tables grow and be emptied."""
    monkeypatch.setattr(line_reading, "BLOCK", 40)
    monkeypatch.setattr(line_reading, "MOST_NUMBERS", 3)
    monkeypatch.setattr(line_scanning, "ROOM", 1)
    monkeypatch.setattr(line_writing, "CELLS", 5)


def strictly(content: bytes, example: Record) -> tuple[dict[str, list[Any]], list[dict[str, Any]]]:
    """Read line by line: the twin."""
    reader = StrictReader(PATH, example)
    records = [reader.read(line, number) for number, line in enumerate(BytesIO(content), 1)]
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


@settings(max_examples=300, deadline=None)
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


@given(st.lists(st.floats(), max_size=60))
def test_equal_weights_have_one_number(values: list[float]) -> None:
    distinct, number = numbered(np.array(values, dtype=np.float64))
    bits = [np.float64(value).tobytes() for value in values]
    assert [np.float64(value).tobytes() for value in distinct] == list(dict.fromkeys(bits))
    assert distinct[number].tobytes() == b"".join(bits)


def test_pieces_are_joined_in_order() -> None:
    made = joined(pieces(["ab", "", "ü"]), pieces(["1", "23"]), np.array([2, ~1, 1, 0, ~0]))
    assert made.decode() == "ü23ab1"


# -- reading ---------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
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


@settings(max_examples=600, deadline=None)
@given(st.lists(LINES | HOSTILE, max_size=6), st.sampled_from([PROFILE, ROW, MEMBER]))
def test_hostile_lines_are_read_as_the_twin_reads_them(lines: list[bytes], example: Record) -> None:
    same(b"".join(lines), example)


@settings(max_examples=300, deadline=None)
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


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"user": "u2", "terms": {"a": 1.0, "b": 1.0, "a": 1.0}}', "a name stands twice"),
        ('{"user": "u1", "terms": {"a": 1.0}}', "the user stands twice"),
        ('{"user": "u2", "terms": {"a": 0.0}}', "a weight is not above 0 and finite"),
        ('{"user": "u2", "terms": {"": 1.0}}', "a term is empty"),
        ('{"user": "u2", "terms": {}}', "there is no term"),
        ('{"user": "", "terms": {"a": 1.0}}', "the user is empty"),
    ],
)
def test_faults_are_named_with_their_line(line: str, why: str) -> None:
    content = f'{{"user": "u1", "terms": {{"a": 1.0}}}}\n{line}\n'.encode()
    with pytest.raises(BadInput, match=f"^some.jsonl, line 2: {why}; each line must look like"):
        read_rows(BytesIO(content), PATH, PROFILE)


def test_a_line_as_long_as_many_blocks() -> None:
    row = {f"t{number:05}": 1.0 + number for number in range(4_000)}
    content = as_json({"user": "u1", "terms": row})
    rows, _ = read_rows(BytesIO(content), PATH, PROFILE)
    assert rows.row("u1") == row


def test_long_strings_whose_hashes_are_the_same_are_told_apart() -> None:
    known, other = np.frombuffer(b"a" * 20 + b"b" * 20, dtype=np.uint8).reshape(2, 20)
    table = line_scanning.with_room(line_scanning.empty_table(), 8, 100)
    slot = line_scanning._slot_of(known, 0, 20, *table)
    keys = line_scanning._keys(other, 0, 20)
    home = line_scanning._home(*keys) & (len(table.slots) - 1)
    table.slots[slot] = -1
    table.slots[home] = [*keys, 0, -1]  # as if the known string had the other's hash
    slot = line_scanning._slot_of(other, 0, 20, *table)
    assert (slot != home, table.slots[slot, line_scanning.NUMBER]) == (True, 1)
    assert line_scanning.texts_of(table, 0) == ["a" * 20, "b" * 20]

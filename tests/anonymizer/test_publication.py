"""The published file: whole or refused, the bytes that were verified, and no trace of a person."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from anonymizer.model import BadInput
from anonymizer.publication import FORMAT, read_published

ROWS = (
    b'{"row": "g0001", "users": 2, "terms": {"kitten": 1.0, "pup": 0.5}}\n'
    b'{"row": "g0002", "users": 3, "terms": {"java": 1.0}}\n'
)


def about(rows: bytes, **changed: Any) -> dict[str, Any]:
    line = {
        "format": FORMAT,
        "method": "p-linkability",
        "parameters": {"p": 0.4},
        "profiles": {},
        "facts": {"users": 5},
        "sha256": hashlib.sha256(rows).hexdigest(),
    }
    return line | changed


def file_of(path: Path, first: object, rows: bytes) -> Path:
    path.write_bytes(json.dumps(first).encode() + b"\n" + rows)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as refused:
        read_published(path)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)
    return str(refused.value)


def test_a_published_file_by_hand(tmp_path: Path) -> None:
    read = read_published(file_of(tmp_path / "f", about(ROWS), ROWS))
    assert read.rows.users == ("g0001", "g0002")
    assert read.rows.row("g0001") == {"kitten": 1.0, "pup": 0.5}
    assert read.rows.row("g0002") == {"java": 1.0}
    assert read.sizes.tolist() == [2, 3]
    assert read.about == about(ROWS)


def test_every_flipped_byte_and_every_cut_of_the_rows_is_noticed(tmp_path: Path) -> None:
    path = file_of(tmp_path / "f", about(ROWS), ROWS)
    good = path.read_bytes()
    for at in range(len(good) - len(ROWS) - 1, len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        refusal(path)
        path.write_bytes(good[:at])
        refusal(path)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"format": "veilsearch published release 2"}, "not that of a published release"),
        ({"seed": 1}, "the names are not exactly format, method, parameters"),
        ({"facts": 1}, "facts must be of type dict"),
        ({"sha256": "0"}, "changed since it was published"),
    ],
)
def test_another_first_line_is_refused(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    assert why in refusal(file_of(tmp_path / "f", about(ROWS, **change), ROWS))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"users": 2', b'"users": 1', "stands for fewer than two people"),
        (b"0.5", b"-0.5", "rows, line 1: a weight is not above 0"),
        (b"0.5", b"NaN", "rows, line 1: NaN is no number"),
        (b"g0002", b"g0001", "rows, line 2: the row stands twice"),
    ],
)
def test_forged_rows_are_refused_though_their_hash_fits(
    tmp_path: Path, old: bytes, new: bytes, why: str
) -> None:
    rows = ROWS.replace(old, new)
    assert why in refusal(file_of(tmp_path / "f", about(rows), rows))


def test_what_is_no_published_file_is_told(tmp_path: Path) -> None:
    assert "can't be read (No such" in refusal(tmp_path / "missing")
    (tmp_path / "f").write_bytes(b"")
    assert "made by: veilsearch publish" in refusal(tmp_path / "f")
    (tmp_path / "f").write_bytes(b"\xff\xfe" + ROWS)
    assert "made by: veilsearch publish" in refusal(tmp_path / "f")
    assert "there is no line" in refusal(file_of(tmp_path / "f", about(b""), b""))

"""Rows as text: what is read back is what was written, to the bit."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from search_app.errors import UsageError
from search_app.experiments.design import Unit
from search_app.experiments.outcomes import Block
from search_app.experiments.results.rows import COLUMNS, csv_rows, json_rows, read_csv_rows
from search_app.measures.precision import MEASURES

PERSON = np.array([1, 1, 2])
UNITS = [
    Unit("u001", "one", "m", {}, "binary", "tfidf", 0, (("group", 50), ("none", 7))),
    Unit("u002", "two", "m", {}, "binary", "tfidf", 1, (("group", 50),)),
]


def blocks() -> list[Block]:
    rng = np.random.default_rng(3)
    found = []
    for unit in UNITS:
        for mode, pool in unit.asked:
            values = {name: np.round(rng.random(3), 12) for name in MEASURES}
            values["AP_c"] = np.array([np.nan, -0.25, 1e-12])
            found.append(Block(unit.name, mode, pool, np.array([pool, 3, 0]), values))
    return found


def written(path: Path) -> Path:
    path.write_bytes(b"".join(csv_rows(blocks(), PERSON)))
    return path


def test_rows_read_as_they_were(tmp_path: Path) -> None:
    read = read_csv_rows(written(tmp_path / "rows.csv"), UNITS)
    assert list(read) == [("u001", "group", 50), ("u001", "none", 7), ("u002", "group", 50)]
    for block in blocks():
        found = read[block.unit, block.mode, block.pool]
        assert found.hits.tolist() == block.hits.tolist()
        for name, values in block.values.items():
            assert np.array_equal(found.values[name], values, equal_nan=True), name


def test_a_line_in_both_forms(tmp_path: Path) -> None:
    table = list(csv.DictReader(written(tmp_path / "rows.csv").read_text().splitlines()))
    lines = [json.loads(line) for part in json_rows(blocks(), PERSON) for line in part.splitlines()]
    assert len(table) == len(lines) == 9
    assert list(table[0]) == list(lines[0]) == list(COLUMNS)
    for cells, line in zip(table, lines, strict=True):
        assert cells == {name: "" if v is None else str(v) for name, v in line.items()}
    assert [(line["person"], line["query"]) for line in lines[:3]] == [(1, 1), (1, 2), (2, 3)]
    assert [line["AP_c"] for line in lines[:3]] == [None, -0.25, 1e-12]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("unit,mode", "unit,way", "must have the columns"),
        ("u001,none", "u001,some", "units.jsonl lacks"),
        ("u002,group,50,2,3,0", "", "same number of rows"),
    ],
)
def test_rows_of_something_else_are_refused(tmp_path: Path, old: str, new: str, fault: str) -> None:
    path = written(tmp_path / "rows.csv")
    text = path.read_text()
    assert old in text
    path.write_text("\n".join(
        line.replace(old, new) for line in text.splitlines() if new or old not in line
    ))  # fmt: skip
    with pytest.raises(UsageError, match=fault):
        read_csv_rows(path, UNITS)


def test_of_units_that_nobody_asked_there_are_no_rows(tmp_path: Path) -> None:
    none, path = [Unit("u001", "one", "m", {}, "binary", "tfidf", 0, ())], tmp_path / "rows.csv"
    path.write_bytes(b"".join(csv_rows([], PERSON)))
    assert read_csv_rows(path, none) == {}
    with pytest.raises(UsageError, match="same number of rows"):
        read_csv_rows(path, UNITS)
    with pytest.raises(UsageError, match="same number of rows"):
        read_csv_rows(written(path), none)

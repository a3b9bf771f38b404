"""Shares kept of terms, log size, users and value, computed by hand."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.errors import BadInput
from anonymizer.marketing.table import MarketingTable, read_table
from anonymizer.measures import MEASURES
from anonymizer.measures.kept import kept_value
from anonymizer.model import Profiles, Release
from anonymizer.promise import UNKNOWN

PROFILES = Profiles.from_rows(
    {
        "u1": {"a": 1.0, "b": 2.0},
        "u2": {"a": 3.0, "c": 4.0},
        "u3": {"c": 5.0, "d": 6.0},
        "u4": {"e": 7.0},
    }
)  # the log's size is 28
TABLE = MarketingTable(
    ("a", "c", "e", "zebra"),
    bid=np.array([0.5, 2.0, 0.0, 9.0]),
    impressions=np.array([10.0, 0.0, 20.0, 9.0]),
    clicks=np.array([4.0, 1.0, 0.0, 9.0]),
    synthetic=False,
)


def release_of(rows: dict[str, dict[str, float]], row_of: dict[str, str]) -> Release:
    names = list(rows)
    left_out = {"users_left_out": len(PROFILES) - len(row_of)}
    number = np.array([names.index(row) for row in row_of.values()])
    return Release(
        Profiles.from_rows(rows), tuple(row_of), number, "test", {}, left_out, promise=UNKNOWN
    )


DELETED = release_of(  # {a}, {a, c}, {c}, and nothing of u4
    {"g0001": {"a": 1.0}, "g0002": {"a": 3.0, "c": 4.0}, "g0003": {"c": 5.0}},
    {"u1": "g0001", "u2": "g0002", "u3": "g0003"},
)


def shares(release: Release, table: MarketingTable | None = None) -> dict[str, float]:
    rows = kept_value(PROFILES, release, table)
    assert all((row.user, row.group) == ("", "") for row in rows)
    return {row.name: row.value for row in rows}


def test_a_row_a_user() -> None:
    assert shares(DELETED) == {
        "share of distinct terms kept": 2 / 5,
        "share of log size kept": (1 + 3 + 4 + 5) / 28,
        "share of users kept": 3 / 4,
    }


def test_a_cell_is_kept_if_the_users_row_has_its_term() -> None:
    """u1 shares a row with u3, which has c for both; u1 has no c, so nothing of u1's is there."""
    row = {"g0001": {"c": 0.1, "d": 0.2}, "g0002": {"a": 1.0}}
    shared = release_of(row, {"u1": "g0001", "u2": "g0002", "u3": "g0001", "u4": "g0002"})
    assert shares(shared) == {
        "share of distinct terms kept": 3 / 5,
        "share of log size kept": (3 + 5 + 6) / 28,
        "share of users kept": 2 / 4,  # whose own terms: u2 and u3
    }


def test_a_synthetic_table_is_named_in_every_share() -> None:
    found = shares(DELETED, replace(TABLE, synthetic=True))
    assert list(found)[3:] == [
        f"share of {what} (synthetic table) kept"
        for what in ("bid", "clicks", "impressions", "revenue")
    ]


def test_a_value_that_the_profiles_have_nothing_of_has_no_share() -> None:
    nothing = np.zeros(4)
    assert len(shares(DELETED, replace(TABLE, impressions=nothing))) == 6
    unknown = MarketingTable(("zebra",), np.ones(1), np.ones(1), np.ones(1), synthetic=False)
    assert shares(DELETED, unknown) == shares(DELETED)


def twin(rows: dict[str, dict[str, float]], kept: dict[str, set[str]], table: str) -> Any:
    """Read the table and sum up each value, cell by cell, all of the log and what is kept."""
    lines = {line["term"]: line for line in csv.DictReader(io.StringIO(table))}
    whole, left = Counter[str](), Counter[str]()
    for user, row in rows.items():
        for term, weight in row.items():
            line = lines.get(term, {})
            found = {name: Fraction(line.get(name) or 0) for name in ("bid", "clicks")}
            found["impressions"] = Fraction(line.get("impressions") or 0)
            found["revenue"] = found["bid"] * found["clicks"]
            for name, value in found.items():
                whole[name] += Fraction(weight) * value
                left[name] += Fraction(weight) * value * (term in kept[user])
    return {
        f"share of {name} kept": float(left[name] / whole[name]) for name in whole if whole[name]
    }


def test_values_are_those_of_a_twin_that_reads_the_table_itself(tmp_path: Path) -> None:
    rng, compared = np.random.default_rng(6), 0
    for _ in range(100):
        rows = {
            f"u{n}": {
                t: float(rng.integers(1, 9)) for t in "abcdef" if t == "f" or rng.random() < 0.6
            }
            for n in range(int(rng.integers(2, 7)))
        }
        kept = {
            user: {t for t in row if t == "f" or rng.random() < 0.5} for user, row in rows.items()
        }
        cells = [[rng.choice(["", "0", "0.25", "3", "17"]) for _ in range(3)] for _ in "abcdz"]
        cells[-1] = ["1", "1", "1"]
        lines = [",".join([t, *cell]) for t, cell in zip("abcdz", cells, strict=True)]
        table = "\n".join(["term,clicks,bid,impressions", *rng.permutation(lines).tolist()])
        (tmp_path / "t.csv").write_text(table)
        profiles = Profiles.from_rows(rows)
        left = {f"g{n:04d}": {t: row[t] for t in row if t in kept[user]}
                for n, (user, row) in enumerate(rows.items(), 1)}  # fmt: skip
        release = Release(
            Profiles.from_rows(left), tuple(rows), np.arange(len(rows)), "test", {}, promise=UNKNOWN
        )
        found = {
            row.name: row.value
            for row in kept_value(profiles, release, read_table(tmp_path / "t.csv"))[3:]
        }
        expected = twin(rows, kept, table)
        assert found == pytest.approx(expected, rel=1e-12)
        compared += len(expected)
    assert compared > 200


def test_the_table_is_no_matter_to_the_others() -> None:
    assert MEASURES["kept-value"](PROFILES, DELETED) == kept_value(PROFILES, DELETED)
    assert kept_value(PROFILES, DELETED, TABLE)[:3] == kept_value(PROFILES, DELETED)


def test_other_profiles_are_refused() -> None:
    others = Profiles.from_rows({"u1": {"a": 1.0}, "u2": {"b": 1.0}})
    with pytest.raises(BadInput, match="was not made from these profiles"):
        kept_value(others, DELETED, TABLE)

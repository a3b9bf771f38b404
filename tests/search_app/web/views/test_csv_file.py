"""CSV: what a spreadsheet could run is text."""

from __future__ import annotations

import csv

import pytest

from search_app.web.views.csv_file import lines


def read_back(*cells: str | float | None) -> list[str]:
    head, row = csv.reader(lines(["a"] * len(cells), [cells]))
    assert head == ["a"] * len(cells)
    return row


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"])
def test_a_text_that_could_be_a_formula_is_quoted(text: str) -> None:
    assert read_back(text) == [f"'{text}"]


@pytest.mark.parametrize("text", ["coffee", 'say "hi"', "a,b", "two\nlines", "1=1", "", "☕"])
def test_other_texts_come_back_as_they_are(text: str) -> None:
    assert read_back(text, "x") == [text, "x"]


def test_numbers_keep_their_minus_and_nothing_is_empty() -> None:
    assert read_back(-0.5, 3, None) == ["-0.5", "3", ""]


def test_lines_come_one_by_one() -> None:
    def rows() -> object:
        yield ("1",)
        raise AssertionError("asked for too early")

    written = lines(["a"], rows())  # type: ignore[arg-type]
    assert [next(written), next(written)] == ['"a"\r\n', '"1"\r\n']


def test_a_text_stays_in_its_cell_where_semicolons_part_cells() -> None:
    assert list(lines(["a", "b"], [(";=1+1", 0.5)]))[1] == '";=1+1",0.5\r\n'

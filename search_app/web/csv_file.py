"""Tables as CSV files to download, a line at a time; no cell is taken for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from flask import Response

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_QUOTE = "'"  # tells a spreadsheet that a text follows (OWASP, CSV injection)

Cell = str | float | int | None


def download(name: str, head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Response:
    """Answer with a file of that name."""
    response = Response(lines(head, rows), mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def lines(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Write a table line by line, as RFC 4180 has it."""
    buffer = StringIO(newline="")
    # Quoted, for spreadsheets that part cells at other signs than the comma.
    writer = csv.writer(buffer, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(head)
    yield _taken(buffer)
    for row in rows:
        writer.writerow([_harmless(cell) for cell in row])
        yield _taken(buffer)


def _harmless(cell: Cell) -> Cell:
    """Keep a spreadsheet from running a text as a formula; numbers may begin with a minus."""
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return f"{_QUOTE}{cell}"
    return cell


def _taken(buffer: StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text

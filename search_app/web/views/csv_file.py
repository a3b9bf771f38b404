"""Tables as CSV files to download, a line at a time; no cell can run as a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from flask import Response

# Some spreadsheets read the full-width signs as the usual ones.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_QUOTE = "'"  # makes a spreadsheet read a cell as text (OWASP, CSV injection)

Cell = str | float | int | None


def download(name: str, head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Response:
    """Return a response with the table as the file `name`."""
    response = Response(lines(head, rows), mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def lines(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield the lines of a CSV file (RFC 4180) with the columns `head` and these `rows`."""
    buffer = StringIO(newline="")
    # Texts are quoted, because some spreadsheets split cells at other signs than the comma.
    writer = csv.writer(buffer, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(head)
    yield _taken(buffer)
    for row in rows:
        writer.writerow([_harmless(cell) for cell in row])
        yield _taken(buffer)


def _harmless(cell: Cell) -> Cell:
    """Return `cell`; a text that a spreadsheet would run as a formula gets a quote in front."""
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return f"{_QUOTE}{cell}"
    return cell


def _taken(buffer: StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text

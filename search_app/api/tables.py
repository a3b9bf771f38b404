"""Tables: a pandas DataFrame if pandas is installed, else a list of records that prints as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

Record = dict[str, Any]


class RecordList(list[Record]):
    """A list of records with the same fields, shown as a table."""

    def __repr__(self) -> str:
        columns = [[name, *map(_shown, column)] for name, column in _columns(self).items()]
        widths = [max(map(len, column)) for column in columns]
        lines = zip(*columns, strict=True)
        return "\n".join(
            "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
            for line in lines
        )

    def _repr_html_(self) -> str:
        return html_table(self)


def table(records: Iterable[Mapping[str, Any]]) -> Any:
    """Return `records` as a DataFrame, or as `RecordList` where pandas is not installed."""
    made = RecordList(map(dict, records))
    # Its import takes half a second, so it waits for the first table.
    try:
        from pandas import DataFrame
    except ImportError:
        return made
    return DataFrame(list(made))


def records_of(given: Any) -> list[Record] | None:
    """Return the records of the table `given`; None if it is no table."""
    if hasattr(given, "to_dict") and hasattr(
        given, "columns"
    ):  # of pandas, or of another library like it
        return list(given.to_dict("records"))
    if isinstance(given, list) and given and all(isinstance(one, Mapping) for one in given):
        return [dict(one) for one in given]
    return None


def html_table(records: Iterable[Mapping[str, Any]]) -> str:
    """Return `records` as a table in HTML."""
    columns = _columns(records)
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    lines = zip(*columns.values(), strict=True)
    body = ("".join(f"<td>{escape(_shown(value))}</td>" for value in line) for line in lines)
    rows = "".join(f"<tr>{line}</tr>" for line in body)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _columns(records: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    made = list(records)
    return {name: [one.get(name) for one in made] for name in (made[0] if made else ())}


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)

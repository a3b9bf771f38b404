"""Parquet logs [I/O] -> lines of the layout `rows`; the only importer of pyarrow.

Columns: user (text or whole number), query (text), time (timestamp, whole number of seconds since
1970, or text in one of the forms of tsv) and, if there is one, clicks (whole number). A row is a
line of the account; null and what can't be said in a line make it a line that is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .model import BadInput

ROWS = 1 << 14  # read at once
_NAMES = ("user", "query", "time")
_REMEDY = "pip install pyarrow, or write the log as JSONL"


def batches_of(path: Path) -> Iterator[bytes]:
    """Yield a Parquet file's rows as lines, many at a time."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as fault:
        raise BadInput(f"{path}: reading Parquet needs pyarrow: {_REMEDY}") from fault
    try:
        with path.open("rb") as stream, parquet.ParquetFile(stream) as file:
            columns = _columns(path, file.schema_arrow)
            for batch in file.iter_batches(batch_size=ROWS, columns=columns):
                if batch.num_rows:
                    yield _lines(batch)
    except pa.ArrowException as fault:
        raise BadInput(f"{path}: damaged, or no Parquet file; fetch it again") from fault


def _columns(path: Path, schema: Any) -> list[str]:
    from pyarrow import types

    text, whole = (types.is_string, types.is_large_string), (types.is_integer,)
    allowed = {
        "user": (*text, *whole),
        "query": text,
        "time": (*text, *whole, types.is_timestamp),
        "clicks": whole,
    }
    missing = [name for name in _NAMES if name not in schema.names]
    if missing:
        raise BadInput(
            f"{path}: there is no column {', '.join(missing)}; a log needs {', '.join(_NAMES)}"
        )
    names = [name for name in allowed if name in schema.names]
    for name in names:
        kind = schema.field(name).type
        if not any(fits(kind) for fits in allowed[name]):
            raise BadInput(f"{path}: column {name} is of type {kind}; see README for what is read")
    return names


def _lines(batch: Any) -> bytes:
    """Lay the rows of a batch end to end as lines; bytes, as text may be no UTF-8."""
    import pyarrow as pa
    from pyarrow import compute

    columns = {name: batch.column(name) for name in batch.schema.names}
    clicks = columns.get("clicks", pa.array([0] * batch.num_rows))
    texts = [
        _without_controls(columns["user"]),
        compute.replace_substring_regex(_text(columns["query"]), r"[\t\n]", " "),
        _time(columns["time"]),
        _text(clicks),
    ]
    rows = compute.binary_join_element_wise(*texts, "\t")
    return b"\n".join(rows.cast(pa.binary()).to_pylist())


def _text(column: Any) -> Any:
    import pyarrow as pa

    return column.cast(pa.string()).fill_null("")


def _without_controls(column: Any) -> Any:
    """Return users as text, nothing where a control character would break the line."""
    from pyarrow import compute

    users = _text(column)
    broken = compute.match_substring_regex(users, r"[\x00-\x1f\x7f]")
    return compute.if_else(broken, "", users)


def _time(column: Any) -> Any:
    """Return times in a form of tsv, nothing where there is none."""
    import pyarrow as pa
    from pyarrow import compute, types

    if types.is_timestamp(column.type):
        return compute.strftime(_whole_seconds(column), "%Y-%m-%d %H:%M:%S").fill_null("")
    if types.is_integer(column.type):
        number = column.cast(pa.int64(), safe=False)  # what is too large comes out below 0
        right = compute.and_(compute.greater_equal(number, 0), compute.less(number, 10**11))
        return compute.if_else(right, _text(column), "").fill_null("")
    return compute.replace_substring_regex(_text(column), r"[\t\n\r]", "x")


def _whole_seconds(column: Any) -> Any:
    """Return timestamps without fractions: the second before, as in ISO 8601, also before 1970."""
    import pyarrow as pa
    from pyarrow import compute

    exact = column.cast(pa.timestamp(column.type.unit))  # UTC
    cut = exact.cast(pa.timestamp("s"), safe=False)  # towards 1970; floor_temporal overflows
    above = compute.greater(cut.cast(exact.type, safe=False), exact).cast(pa.int64())
    return compute.subtract(cut.cast(pa.int64()), above).cast(pa.timestamp("s"))

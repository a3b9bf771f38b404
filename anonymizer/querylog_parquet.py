"""Parquet logs [I/O] -> lines of the layout `rows`; the only importer of pyarrow.

Columns: user (text or whole number), query (text), time (timestamp, whole number of seconds since
1970, or text in one of the forms of tsv) and, if there is one, clicks (whole number). A row is a
line of the account; null and what can't be said in a line make it a line that is rejected.

A few bytes of Parquet may stand for gigabytes of text. So texts are read as dictionaries, cut
where no line may be as long, and laid out a few megabytes at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedIOBase
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .model import BadInput
from .querylog_lines import LONGEST_LINE

ROWS = 1 << 14  # read at once
BYTES = 1 << 24  # of text laid out at once, and one line more
_CUT = LONGEST_LINE + 8  # still too long when a BOM is taken away
_NAMES = ("user", "query", "time")
_REMEDY = "pip install pyarrow, or write the log as JSONL"


def batches_of(path: Path) -> Iterator[bytes]:
    """Yield a Parquet file's rows as lines, many at a time."""
    try:
        import pyarrow as pa
    except ImportError as fault:
        raise BadInput(f"{path}: reading Parquet needs pyarrow: {_REMEDY}") from fault
    try:
        with path.open("rb") as stream:
            for batch in _batches(path, stream):
                yield from map(_lines, _parts(batch))
    except (pa.ArrowException, UnicodeDecodeError) as fault:  # a name may be damaged
        raise BadInput(f"{path}: damaged, or no Parquet file; fetch it again") from fault


def _batches(path: Path, stream: BufferedIOBase) -> Iterator[Any]:
    """Yield some rows at a time, their texts as dictionaries."""
    from pyarrow import parquet

    plain = parquet.ParquetFile(stream)
    columns = _columns(path, plain.schema_arrow)
    texts = [name for name, is_text in columns.items() if is_text]
    file = parquet.ParquetFile(stream, metadata=plain.metadata, read_dictionary=texts)
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        fitting = BYTES * group.num_rows // max(1, group.total_byte_size)
        rows = max(1, min(ROWS, fitting))
        yield from file.iter_batches(rows, row_groups=[number], columns=list(columns))


def _columns(path: Path, schema: Any) -> dict[str, bool]:
    """Return the columns to be read, and which of them are text."""
    from pyarrow import types

    text, whole = (_is_text,), (types.is_integer,)
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
    kinds = {name: _kind(path, schema, name) for name in allowed if name in schema.names}
    for name, kind in kinds.items():
        if not any(fits(kind) for fits in allowed[name]):
            raise BadInput(f"{path}: column {name} is of type {kind}; see README for what is read")
    return {name: _is_text(kind) for name, kind in kinds.items()}


def _kind(path: Path, schema: Any, name: str) -> Any:
    if schema.names.count(name) > 1:
        raise BadInput(f"{path}: more than one column is called {name}; rename all but one")
    return schema.field(name).type


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):  # pandas' categories
        kind = kind.value_type
    return any(
        fits(kind) for fits in (types.is_string, types.is_large_string, types.is_string_view)
    )


def _parts(batch: Any) -> Iterator[Any]:
    """Cut a batch into parts whose texts have about BYTES."""
    from pyarrow import compute, types

    letters = np.zeros(batch.num_rows, dtype=np.int64)
    for number, (name, column) in enumerate(zip(batch.schema.names, batch.columns, strict=True)):
        if types.is_dictionary(column.type):
            short = _shortened(column)
            batch = batch.set_column(number, name, short)
            sizes = compute.binary_length(short.dictionary).take(short.indices)
            letters += sizes.fill_null(0).to_numpy(zero_copy_only=False)
    marks = np.flatnonzero(np.diff(np.cumsum(letters) // BYTES)) + 1
    for low, high in pairwise([0, *marks.tolist(), batch.num_rows]):
        if low < high:
            yield batch.slice(low, high - low)


def _shortened(column: Any) -> Any:
    """Return a dictionary of texts with the end of huge ones cut off."""
    import pyarrow as pa
    from pyarrow import compute

    texts = column.dictionary
    if (compute.max(compute.binary_length(texts)).as_py() or 0) <= _CUT:
        return column
    cut = compute.binary_slice(texts.view(pa.binary()), 0, _CUT).view(pa.string())
    return pa.DictionaryArray.from_arrays(column.indices, cut)


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

"""Parquet logs [I/O] -> lines of the layout `rows`; the only importer of pyarrow.

Columns: user (text or whole number), query (text), time (see below) and maybe clicks (whole
number). A time is a timestamp, a whole number of seconds since 1970, or text in one of the forms of
tsv. A row counts as a line. With a null, or something that no line can hold, it is rejected.

A few bytes of Parquet may stand for gigabytes of text. So texts are read as dictionaries, cut
where they are too long for any line, and written out a few megabytes at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

try:
    import pyarrow as pa
    from pyarrow import compute, parquet, types
except ImportError:  # the other formats work without it
    pa = None

from ..errors import BadInput
from .formats import LONGEST_LINE

ROWS = 1 << 14  # at most this many are read at once
BYTES = 1 << 24  # of text written out at once, and at most one line more
_CUT = LONGEST_LINE + 8  # a text cut here is still too long when a BOM is taken away
_NAMES = ("user", "query", "time")
_REMEDY = "pip install pyarrow, or write the log as JSONL"


def batches_of(path: Path) -> Iterator[bytes]:
    """Yield the rows of the Parquet file at `path` as lines, many at a time."""
    if pa is None:
        raise BadInput(f"{path}: reading Parquet needs pyarrow: {_REMEDY}")
    try:
        with path.open("rb") as stream:
            plain = parquet.ParquetFile(stream)
            columns = _columns(path, plain.schema_arrow)
            texts = [name for name, is_text in columns.items() if is_text]
            # Opened again: columns to be read as dictionaries must be named when a file is opened.
            file = parquet.ParquetFile(stream, metadata=plain.metadata, read_dictionary=texts)
            for number in range(file.num_row_groups):
                group = file.metadata.row_group(number)
                fitting = BYTES * group.num_rows // max(1, group.total_byte_size)
                rows = max(1, min(ROWS, fitting))
                for batch in file.iter_batches(rows, row_groups=[number], columns=list(columns)):
                    yield from map(_lines, _parts(batch))
    # A damaged file may also have column names that are not UTF-8.
    except (pa.ArrowException, UnicodeDecodeError) as fault:
        raise BadInput(f"{path}: damaged, or no Parquet file; fetch it again") from fault


def _columns(path: Path, schema: Any) -> dict[str, bool]:
    """Return the columns to be read: name -> whether it is text."""
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
    there = [name for name in allowed if name in schema.names]
    for name in there:
        if schema.names.count(name) > 1:
            raise BadInput(f"{path}: more than one column is called {name}; rename all but one")
    kinds = {name: schema.field(name).type for name in there}
    for name, kind in kinds.items():
        if not any(fits(kind) for fits in allowed[name]):
            raise BadInput(f"{path}: column {name} is of type {kind}; see docs/verbs.md, profiles")
    return {name: _is_text(kind) for name, kind in kinds.items()}


def _is_text(kind: Any) -> bool:
    if types.is_dictionary(kind):  # pandas' categories
        kind = kind.value_type
    return any(fit(kind) for fit in (types.is_string, types.is_large_string, types.is_string_view))


def _parts(batch: Any) -> Iterator[Any]:
    """Yield `batch` in parts whose texts have about BYTES."""
    letters = np.zeros(batch.num_rows, dtype=np.int64)
    for number, (name, column) in enumerate(zip(batch.schema.names, batch.columns, strict=True)):
        if types.is_dictionary(column.type):
            texts = column.dictionary
            # Huge texts are cut as bytes, not letter by letter; the cut may split a letter.
            if (compute.max(compute.binary_length(texts)).as_py() or 0) > _CUT:
                texts = compute.binary_slice(texts.view(pa.binary()), 0, _CUT).view(pa.string())
                short = pa.DictionaryArray.from_arrays(column.indices, texts)
                batch = batch.set_column(number, name, short)
            sizes = compute.binary_length(texts).take(column.indices)
            letters += sizes.fill_null(0).to_numpy(zero_copy_only=False)
    marks = np.flatnonzero(np.diff(np.cumsum(letters) // BYTES)) + 1
    for low, high in pairwise([0, *marks.tolist(), batch.num_rows]):
        if low < high:
            yield batch.slice(low, high - low)


def _lines(batch: Any) -> bytes:
    """Return the rows of `batch` as lines; as bytes, because a cut text may not be UTF-8."""
    columns = {name: batch.column(name) for name in batch.schema.names}
    clicks = columns.get("clicks", pa.array([0] * batch.num_rows))

    users = _text(columns["user"])
    broken = compute.match_substring_regex(users, r"[\x00-\x1f\x7f]")
    texts = [
        # A user with a control character would break the line; without a name the line is refused.
        compute.if_else(broken, "", users),
        compute.replace_substring_regex(_text(columns["query"]), r"[\t\n]", " "),
        _time(columns["time"]),
        _text(clicks),
    ]
    rows = compute.binary_join_element_wise(*texts, "\t")
    return b"\n".join(rows.cast(pa.binary()).to_pylist())


def _text(column: Any) -> Any:
    return column.cast(pa.string()).fill_null("")


def _time(column: Any) -> Any:
    """Return the times of `column` in a form of tsv, empty where there is none."""
    if types.is_timestamp(column.type):
        # A fraction is dropped as in ISO 8601: down to the second, also before 1970. The cast cuts
        # towards 1970, so times before it need one second less; floor_temporal would overflow.
        exact = column.cast(pa.timestamp(column.type.unit))  # UTC
        cut = exact.cast(pa.timestamp("s"), safe=False)
        above = compute.greater(cut.cast(exact.type, safe=False), exact).cast(pa.int64())
        whole = compute.subtract(cut.cast(pa.int64()), above).cast(pa.timestamp("s"))
        return compute.strftime(whole, "%Y-%m-%d %H:%M:%S").fill_null("")
    if types.is_integer(column.type):
        number = column.cast(pa.int64(), safe=False)  # a number that is too large becomes negative
        right = compute.and_(compute.greater_equal(number, 0), compute.less(number, 10**11))
        return compute.if_else(right, _text(column), "").fill_null("")
    return compute.replace_substring_regex(_text(column), r"[\t\n\r]", "x")

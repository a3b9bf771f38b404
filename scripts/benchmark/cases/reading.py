"""R10: reading a log against pyarrow.csv on the same file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from anonymizer.querylog.reading import read_log
from search_app.errors import UsageError

from ..bars import Measured
from ..inputs.aol import invented_log
from ..plan import Place, Plan
from ..timing import milliseconds, timed


def measure(plan: Plan, place: Place) -> Measured:
    """Time both on an invented log of as many people as `plan` says."""
    theirs = _pyarrow()  # fails before a log is written for nothing
    path = invented_log(place.kept, plan.made_up)
    calls: dict[str, Callable[[], int]] = {
        "read_log": lambda: read_log([path])[1].lines,
        "pyarrow.csv": lambda: theirs(path),
    }
    rows = {name: call() for name, call in calls.items()}  # a first call, which compiles
    taken = timed(calls, plan.rounds)
    rates = {name: rows[name] / taken[name].median for name in calls}
    return Measured(
        values={"reading": rates["read_log"] / rates["pyarrow.csv"]},
        facts={
            "rows a second": {name: round(rate) for name, rate in rates.items()},
            **milliseconds(taken),
        },
        calls={"reading": taken["read_log"].calls},
    )


def _pyarrow() -> Callable[[Path], int]:
    """Return pyarrow's reading of a log, which takes its lines as they are."""
    try:
        from pyarrow import csv
    except ImportError as fault:
        raise UsageError("needs pyarrow: pip install pyarrow") from fault
    options = csv.ParseOptions(
        delimiter="\t", quote_char=False, invalid_row_handler=lambda _row: "skip"
    )
    return lambda path: int(csv.read_csv(path, parse_options=options).num_rows)

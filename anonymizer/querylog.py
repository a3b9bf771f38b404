"""Query logs [I/O] -> QueryLog; every line is accounted for.

    aol      AnonID <tab> Query <tab> QueryTime [<tab> ItemRank [<tab> ClickURL]]
    tsv      user <tab> query <tab> time; jsonl and parquet: user, query, time and maybe clicks

What each format means line by line stands in querylog_lines.py.

A query is normalized: lower case, runs of white space become one blank. A click repeats its
query's line and a next-page request repeats user and query later, so consecutive lines of one
user with the same normalized query are one event, however far apart in time. Consecutive means
among this user's lines: lines of other users, empty queries and rejected lines don't part them,
nor does the end of a file. The event has the earliest time of its lines and all their clicks.

A line that is not UTF-8 is rejected, not repaired: two broken user ids could be repaired into
one. A BOM and a CR at the ends of a line are dropped. Lines end with LF and with nothing else,
and no quoting is known, so that no stray character can swallow the lines after it.

    files ─▶ batches of lines ─▶ columns ─▶ events
    querylog_files.py            querylog_scan.py, by hand querylog_lines.py
                                            querylog_folding.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .model import BadInput, BadParameter, Progress, QueryLog, silent
from .querylog_files import FORMATS, ahead, opened
from .querylog_folding import Folding
from .querylog_lines import HEADER
from .querylog_scan import BLANK, Rows, scanned

FIRST_REJECTS = 20

Reject = tuple[str, int, str]  # file, line number, reason; never the text


@dataclass(frozen=True)
class ReadReport:
    """What became of every line: lines = events + repeats + empty + rejected + headers."""

    lines: int
    events: int
    repeats: int  # clicks and next-page requests folded into their event
    empty: int  # queries that are blank or "-"
    headers: int
    rejected: int
    reasons: dict[str, int]  # why lines were rejected -> how many
    first_rejects: tuple[Reject, ...]


def read_log(
    paths: Sequence[Path],
    progress: Progress = silent,
    *,
    form: str | None = None,
    on_reject: Callable[[Reject], object] = lambda _reject: None,
) -> tuple[QueryLog, ReadReport]:
    """Read log files (plain, .gz, .bz2) as one log; progress gets the lines read so far.

    Each file's format is `form`, or what its suffix and first lines tell. Every rejected line is
    reported as it is met, so that any number of them takes no memory.
    """
    if not paths:
        raise BadInput("no query log was named; give at least one file")
    if form not in (None, *FORMATS):
        raise BadParameter(f"format {form} must be one of {', '.join(FORMATS)}")
    reading = _Reading(on_reject)
    for path in paths:
        with opened(path, form) as log:
            batches = (scanned(batch, log.layout) for batch in log.batches)
            reading.read(str(path), ahead(batches), progress)
    return reading.log(), reading.report()


class _Reading:
    """What has been read so far."""

    def __init__(self, on_reject: Callable[[Reject], object]) -> None:
        self._folding = Folding()
        self._on_reject = on_reject
        self._lines = 0
        self._empty = 0
        self._headers = 0
        self._reasons: Counter[str] = Counter()
        self._rejects: list[Reject] = []

    def read(
        self, file: str, batches: Iterator[tuple[Rows, dict[int, str]]], progress: Progress
    ) -> None:
        first = 1
        for rows, refused in batches:
            self._folding.add(rows)
            self._empty += int(np.count_nonzero(rows.state == BLANK))
            for line, reason in refused.items():
                self._refuse((file, first + line, reason))
            first += rows.state.size
            self._lines += rows.state.size
            progress(self._lines)

    def _refuse(self, reject: Reject) -> None:
        if reject[2] == HEADER:
            self._headers += 1
            return
        self._reasons[reject[2]] += 1
        if len(self._rejects) < FIRST_REJECTS:
            self._rejects.append(reject)
        self._on_reject(reject)

    def log(self) -> QueryLog:
        return self._folding.log()

    def report(self) -> ReadReport:
        return ReadReport(
            lines=self._lines,
            events=self._folding.sizes.events,
            repeats=self._folding.sizes.repeats,
            empty=self._empty,
            headers=self._headers,
            rejected=self._reasons.total(),
            reasons=dict(self._reasons),
            first_rejects=tuple(self._rejects),
        )

"""Read query logs [I/O] as one QueryLog; every line is accounted for.

formats.py says what each format means, line by line.

A query is normalized: lower case, and one blank for each run of white space. A click repeats the
line of its query, and a request for the next page repeats user and query later. So consecutive
lines of a user with the same normalized query are one event, however far apart in time.
Consecutive means among this user's lines: lines of other users, empty queries, rejected lines and
ends of files don't separate them. The event has the earliest time of its lines and all clicks.

A line that is not UTF-8 is rejected, not repaired: a repair could make two broken user ids equal.
A BOM and a CR at the ends of a line are dropped. Only LF ends a line, and there is no quoting, so
no stray character can swallow the lines after it.

    files ─▶ batches of lines ─▶ columns ─▶ events
    files.py                     scanning.py, by hand formats.py
                                            folding.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import BadInput, BadParameter
from ..model import Progress, QueryLog, silent
from .files import FORMATS, RELEASED, ahead, opened, why_none_fits
from .folding import Folding
from .formats import HEADER, LAYOUTS
from .scanning import BLANK, ScannedLines, scanned

FIRST_REJECTS = 20
_MOST = 0.9  # of a file's lines: if more are rejected, the file is not what it was taken for

Reject = tuple[str, int, str]  # file, line number, reason; never the text


@dataclass(frozen=True)
class ReadReport:
    """What became of the lines: lines = events + repeats + empty + rejected + headers."""

    lines: int
    events: int
    repeats: int  # clicks and next-page requests folded into their event
    empty: int  # queries that are blank or "-"
    headers: int
    rejected: int
    reasons: dict[str, int]  # why lines were rejected -> number of lines
    first_rejects: tuple[Reject, ...]
    doubts: tuple[str, ...] = ()  # on files of which nearly every line was rejected: why


class LinesRead:
    """What became of the lines of a file, or of a piece of one, as `add` counted them."""

    def __init__(self) -> None:
        self.lines = self.empty = 0
        self.reasons: dict[str, list[int]] = {}  # reason -> its first line, and how many
        self.rejects: list[tuple[int, str]] = []  # the first ones, or all: line and reason

    def add(self, rows: ScannedLines, refused: Mapping[int, str], most: int | None) -> None:
        """Count `rows`, of which some are `refused`; keep up to `most` rejects."""
        self.empty += int(np.count_nonzero(rows.state == BLANK))
        for line, reason in refused.items():
            number = self.lines + line + 1
            self.reasons.setdefault(reason, [number, 0])[1] += 1
            if reason != HEADER and (most is None or len(self.rejects) < most):
                self.rejects.append((number, reason))
        self.lines += rows.state.size

    def extend(self, more: LinesRead) -> None:
        """Add the lines of `more`, the next piece of the same file."""
        for reason, (first, count) in more.reasons.items():
            self.reasons.setdefault(reason, [self.lines + first, 0])[1] += count
        self.rejects += [(self.lines + line, reason) for line, reason in more.rejects]
        self.empty += more.empty
        self.lines += more.lines


def read_log(
    paths: Sequence[Path],
    progress: Progress = silent,
    *,
    form: str | None = None,
    on_reject: Callable[[Reject], object] = lambda _reject: None,
    folded: bool = True,
) -> tuple[QueryLog, ReadReport]:
    """Return the logs at `paths` as one, and a report; `on_reject` gets each rejected line.

    If not `folded`, each line is an event.
    """
    check_reading(paths, form)
    folding, files = Folding(folded=folded), list[tuple[Path, str, LinesRead]]()
    lines = 0
    for path in paths:
        with opened(path, form) as log:
            read = LinesRead()
            files.append((path, log.layout, read))
            # A thread scans the next batch while this one is folded.
            for rows, refused in ahead(scanned(batch, log.layout) for batch in log.batches):
                folding.add(rows)
                for line, reason in refused.items():
                    if reason != HEADER:
                        on_reject((str(path), read.lines + line + 1, reason))
                read.add(rows, refused, FIRST_REJECTS)
                progress(lines + read.lines)
            lines += read.lines
    return folding.log(), report_of(files, folding.sizes.events, folding.sizes.repeats)


def check_reading(paths: Sequence[Path], form: str | None) -> None:
    """Refuse to read no log, or one of an unknown format `form`."""
    if not paths:
        raise BadInput("no query log was named; give at least one file")
    if form not in (None, RELEASED, *FORMATS) and form not in LAYOUTS.added:
        known = (*FORMATS, *LAYOUTS.added)
        raise BadParameter(f"format {form} must be one of {', '.join(known)}")


def report_of(
    files: Sequence[tuple[Path, str, LinesRead]], events: int, repeats: int
) -> ReadReport:
    """Return the report on `files`, each with its layout, that have these `events` in all."""
    reasons, headers = Counter[str](), 0
    rejects, doubts = list[Reject](), list[str]()
    for path, layout, read in files:
        own = dict(read.reasons)
        named = own.pop(HEADER, [0, 0])[1]
        headers += named
        reasons.update({reason: count for reason, (_, count) in own.items()})
        rejects += [(str(path), line, reason) for line, reason in read.rejects[:FIRST_REJECTS]]
        doubts += _doubt(path, layout, read.lines - named, own)
    return ReadReport(
        lines=sum(read.lines for _, _, read in files),
        events=events,
        repeats=repeats,
        empty=sum(read.empty for _, _, read in files),
        headers=headers,
        rejected=reasons.total(),
        reasons=dict(reasons),
        first_rejects=tuple(rejects[:FIRST_REJECTS]),
        doubts=tuple(doubts),
    )


def _doubt(path: Path, layout: str, lines: int, reasons: dict[str, list[int]]) -> Iterator[str]:
    """Yield why the file at `path` can't be meant if nearly all of its `lines` were rejected."""
    if sum(count for _, count in reasons.values()) <= _MOST * lines:
        return
    reason, (first, count) = max(reasons.items(), key=lambda item: item[1][1])
    why = why_none_fits(path) or f"if its format is not {layout}, name it with --format"
    yield f"{path}, line {first}: {reason}, and so {count:,} of {lines:,} lines; {why}"

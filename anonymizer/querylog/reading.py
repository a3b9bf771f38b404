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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import BadInput, BadParameter
from ..model import Progress, QueryLog, silent
from .files import FORMATS, RELEASED, ahead, opened, why_none_fits
from .folding import Folding
from .formats import HEADER, LAYOUTS
from .scanning import BLANK, scanned

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
    if not paths:
        raise BadInput("no query log was named; give at least one file")
    if form not in (None, RELEASED, *FORMATS) and form not in LAYOUTS.added:
        known = (*FORMATS, *LAYOUTS.added)
        raise BadParameter(f"format {form} must be one of {', '.join(known)}")
    folding, reasons, rejects = Folding(folded=folded), Counter[str](), list[Reject]()
    doubts: list[str] = []
    lines = empty = headers = 0
    for path in paths:
        with opened(path, form) as log:
            before, layout = lines, log.layout
            own = dict[str, list[int]]()  # reason -> its first line in this file, and how many
            # A thread scans the next batch while this one is folded.
            for rows, refused in ahead(scanned(batch, layout) for batch in log.batches):
                folding.add(rows)
                empty += int(np.count_nonzero(rows.state == BLANK))
                for line, reason in refused.items():
                    reject = (str(path), lines - before + line + 1, reason)
                    own.setdefault(reason, [reject[1], 0])[1] += 1
                    if reason == HEADER:
                        continue
                    if len(rejects) < FIRST_REJECTS:
                        rejects.append(reject)
                    on_reject(reject)
                lines += rows.state.size
                progress(lines)
            named = own.pop(HEADER, [0, 0])[1]
            headers += named
            reasons.update({reason: count for reason, (_, count) in own.items()})
            doubts += _doubt(path, layout, lines - before - named, own)
    report = ReadReport(
        lines=lines,
        events=folding.sizes.events,
        repeats=folding.sizes.repeats,
        empty=empty,
        headers=headers,
        rejected=reasons.total(),
        reasons=dict(reasons),
        first_rejects=tuple(rejects),
        doubts=tuple(doubts),
    )
    return folding.log(), report


def _doubt(path: Path, layout: str, lines: int, reasons: dict[str, list[int]]) -> Iterator[str]:
    """Yield why the file at `path` can't be meant if nearly all of its `lines` were rejected."""
    if sum(count for _, count in reasons.values()) <= _MOST * lines:
        return
    reason, (first, count) = max(reasons.items(), key=lambda item: item[1][1])
    why = why_none_fits(path) or f"if its format is not {layout}, name it with --format"
    yield f"{path}, line {first}: {reason}, and so {count:,} of {lines:,} lines; {why}"

"""Talking to a person at a terminal [I/O]: talk and progress on stderr, results on stdout."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

EVERY = 64  # documents between two updates of a bar
BAR = "{desc} {percentage:3.0f}% |{bar}| [{elapsed}<{remaining}{postfix}]"
OPEN_BAR = "{desc} [{elapsed}{postfix}]"  # where nobody knows how much there is

# What makes a terminal do something: C0, DEL, C1, line ends of Unicode, changes of direction.
_LINE_ENDS = {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029}
_CONTROLS = {*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_SHOWN = {**dict.fromkeys(_CONTROLS, "\N{REPLACEMENT CHARACTER}"), **dict.fromkeys(_LINE_ENDS, " ")}
_ESCAPED = {code: f"\\u{code:04x}" for code in _SHOWN if code >= 0x20}  # JSON's own go no further


def printable(text: str) -> str:
    """Return a text as one line that does nothing to a terminal: documents are others' words."""
    return text.translate(_SHOWN)


def say(text: str) -> None:
    """Print one line of talk, which no pipe shall read."""
    print(printable(text), file=sys.stderr, flush=True)


def show(text: str) -> None:
    """Print one line of a result."""
    print(printable(text))


def show_json(value: Any) -> None:
    """Print a result for machines, as one JSON document."""
    print(json.dumps(value, ensure_ascii=False, indent=1).translate(_ESCAPED))


def remark(text: str) -> None:
    """Print one line of talk on a terminal, above a bar; nothing elsewhere."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        tqdm.write(printable(text), file=sys.stderr)


@contextmanager
def corpus_progress(
    label: str, done_of: Callable[[], tuple[int, int]]
) -> Iterator[Callable[[int], None]]:
    """Show documents, their rate and the time left; `done_of` says how much of how much is read."""
    if not sys.stderr.isatty():
        yield lambda _documents: None
        return
    from tqdm import tqdm

    with tqdm(desc=label, leave=False, delay=1, bar_format=OPEN_BAR) as bar:
        began = time.monotonic()

        def update(documents: int) -> None:
            if documents % EVERY:
                return
            done, size = done_of()
            if size:
                bar.total, bar.bar_format = size, BAR
            rate = documents / max(time.monotonic() - began, 1e-9)
            bar.set_postfix_str(f"{documents:,} documents, {rate:,.0f}/s", refresh=False)
            bar.update(done - bar.n)

        yield update


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal, nothing elsewhere; call the result with the number done so far."""
    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=label, unit="", unit_scale=True, leave=False, delay=1) as bar:

        def update(done: int) -> None:
            bar.update(done - bar.n)

        yield update


@contextmanager
def shares(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with the time left; call the result with how many are done, of how many."""
    if not sys.stderr.isatty():
        yield lambda _done, _of: None
        return
    from tqdm import tqdm

    with tqdm(desc=label, leave=False, bar_format=BAR, postfix="") as bar:

        def update(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        yield update

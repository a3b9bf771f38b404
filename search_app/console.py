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


def say(text: str) -> None:
    """Print talk, which no pipe shall read."""
    print(text, file=sys.stderr, flush=True)


def show(text: str) -> None:
    """Print a result."""
    print(text)


def show_json(value: Any) -> None:
    """Print a result for machines, as one JSON document."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


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

"""Talking to a person at a terminal [I/O]: talk and progress on stderr, results on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


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

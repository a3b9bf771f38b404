"""Output at a terminal [I/O]: messages and progress on stderr, results on stdout."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

EVERY = 64  # documents between two updates of a progress bar
BAR = "{desc} {percentage:3.0f}% |{bar}| [{elapsed}<{remaining}{postfix}]"
OPEN_BAR = "{desc} [{elapsed}{postfix}]"  # where the total is unknown

# Characters that control a terminal: C0, DEL, C1, Unicode's line ends and changes of direction.
# Documents and queries are other people's text and must not control it.
_LINE_ENDS = {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029}
_CONTROLS = {*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_SHOWN = {**dict.fromkeys(_CONTROLS, "\N{REPLACEMENT CHARACTER}"), **dict.fromkeys(_LINE_ENDS, " ")}
# JSON itself escapes the characters below 0x20.
_ESCAPED = {code: f"\\u{code:04x}" for code in _SHOWN if code >= 0x20}


def printable(text: str) -> str:
    """Return `text` as one line that can't control a terminal."""
    return text.translate(_SHOWN)


def say(text: str) -> None:
    """Print the message `text` as one line on stderr, so that pipes get results only."""
    print(printable(text), file=sys.stderr, flush=True)


def show(text: str) -> None:
    """Print `text` as one line of a result."""
    print(printable(text))


def show_json(value: Any) -> None:
    """Print `value` as one JSON document."""
    print(json.dumps(value, ensure_ascii=False, indent=1).translate(_ESCAPED))


def answer(made: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print a result: `made` as JSON for machines, or `lines` for people."""
    if as_json:
        show_json(made)
        return
    for line in lines:
        show(line)


def remark(text: str) -> None:
    """Print `text` above a progress bar; nothing if stderr is no terminal."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        tqdm.write(printable(text), file=sys.stderr)


@contextmanager
def _bar(**form: Any) -> Iterator[Any]:
    """Show a progress bar on a terminal or in a notebook; yield None elsewhere."""
    if not (sys.stderr.isatty() or "ipykernel.zmqshell" in sys.modules):
        yield None
        return
    from tqdm import tqdm

    with tqdm(leave=False, **form) as bar:
        yield bar


@contextmanager
def corpus_progress(
    label: str, done_of: Callable[[], tuple[int, int]]
) -> Iterator[Callable[[int], None]]:
    """Show documents, rate and time left; `done_of` says how much is read, and of how much."""
    with _bar(desc=label, delay=1, bar_format=OPEN_BAR) as bar:
        began = time.monotonic()

        def update(documents: int) -> None:
            if bar is None or documents % EVERY:
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
    """Show a bar up to `total` on a terminal; call the result with the number done so far."""
    with _bar(total=total, desc=label, unit="", unit_scale=True, delay=1) as bar:

        def update(done: int) -> None:
            if bar is not None:
                bar.update(done - bar.n)

        yield update


@contextmanager
def shares(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar named `label` with the time left; call the result with number done and total."""
    with _bar(desc=label, bar_format=BAR, postfix="") as bar:

        def update(done: int, of: int) -> None:
            if bar is not None:
                bar.total = of
                bar.update(done - bar.n)

        yield update

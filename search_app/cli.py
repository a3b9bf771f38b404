"""The command line: arguments -> settings -> one verb -> one artefact or answer."""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import NoReturn

from . import __version__
from .console import say
from .errors import UsageError
from .verbs import VERBS


class Parser(argparse.ArgumentParser):
    """A parser that reports wrong arguments in one line."""

    def error(self, message: str) -> NoReturn:
        """Print `message` in one line and exit; words without an option may be a query's."""
        what, unknown, words = message.partition("unrecognized arguments: ")
        if unknown:
            named = [w.partition("=")[0] for w in words.split() if w.startswith("-")]
            message = f"{what}{unknown}{' '.join(named) or 'quote what has several words'}"
        say(f"veilsearch: {' '.join(message.split())}; see: {self.prog} --help")
        raise SystemExit(2)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line with `arguments` and exit."""
    finish(lambda: run(sys.argv[1:] if arguments is None else arguments))


def finish(work: Callable[[], int]) -> NoReturn:
    """Run `work` and exit with its code: 0 done, 1 a finding; 2 for wrong use or bad input."""
    _ready_streams()
    try:
        code = work()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader, such as `head`, has what it wants. Without this Python would complain again
        # when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as fault:
        line = _one_line(fault)
        if line is None:
            raise
        say(f"veilsearch: {line}")
        code = 2
    # Python would look for garbage among all that is loaded, just before it ends.
    atexit.register(gc.freeze)
    # From here on Ctrl-C would only make Python print a traceback: the work is done.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    raise SystemExit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the verb that `arguments` name; return its exit code."""
    # Only of a verb that is named the arguments are needed, so no other one is loaded.
    parsed = parser(VERBS.keys() & set(arguments)).parse_args(arguments)
    # Imported late, as the verbs' own modules are: `--help` must answer within half a second.
    from .settings import load_settings

    settings = load_settings(parsed.workspace)
    return int(importlib.import_module(f".verbs.{parsed.verb}", __package__).run(parsed, settings))


def parser(with_arguments: Set[str] = VERBS.keys()) -> argparse.ArgumentParser:
    """Return the parser of all verbs; it knows the arguments of those `with_arguments`."""
    top = Parser(
        prog="veilsearch",
        description="Personalized search with a privacy layer.",
        epilog="Start with: veilsearch demo",
    )
    top.add_argument("--version", action="version", version=f"veilsearch {__version__}")
    top.add_argument(
        "--workspace",
        type=Path,
        metavar="DIR",
        help="folder of all data (default: $VEILSEARCH_WORKSPACE or ./veilsearch-data)",
    )
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)
    for name, purpose in VERBS.items():
        verb = verbs.add_parser(
            name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}."
        )
        if name in with_arguments:
            importlib.import_module(f".verbs.{name}", __package__).add_arguments(verb)
    return top


def _one_line(fault: Exception) -> str | None:
    """Return one line about `fault`; None for a bug of ours, whose traceback must be shown."""
    from anonymizer.errors import AnonymizerError
    from index.model import SearchError

    if isinstance(fault, UsageError | AnonymizerError | SearchError):
        return " ".join(str(fault).split())
    if isinstance(fault, MemoryError):
        # numpy says how much one array would have taken.
        why = f" ({fault})" if str(fault) else ""
        return f"out of memory{why}; close other programs, take fewer data, or use more memory"
    if isinstance(fault, OSError):
        why = fault.strerror or str(fault)
        return " ".join(f"{fault.filename}: {why}".split()) if fault.filename else why
    return None


def _ready_streams() -> None:
    """Make streams escape what a terminal can't show; output to a closed stream is dropped."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())
        if isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

"""The command line: arguments -> settings -> one verb -> one artefact or answer."""

from __future__ import annotations

import argparse
import atexit
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from . import __version__
from .console import say
from .errors import UsageError
from .verbs import VERBS


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        say(f"veilsearch: {' '.join(message.split())}; see: {self.prog} --help")
        raise SystemExit(2)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 a finding, 2 wrong use or bad input."""
    _ready_streams()
    try:
        code = run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as fault:
        line = _one_line(fault)
        if line is None:
            raise
        say(f"veilsearch: {line}")
        code = 2
    # What is done can't be interrupted any more: Python would print a traceback of its own.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    raise SystemExit(code)


def run(arguments: Sequence[str]) -> int:
    """Parse the arguments and run their verb."""
    parsed = parser().parse_args(arguments)
    from .settings import load_settings

    settings = load_settings(parsed.workspace)
    return int(importlib.import_module(f".verbs.{parsed.verb}", __package__).run(parsed, settings))


def parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    top = _Parser(
        prog="veilsearch",
        description="Personalized search with a privacy layer.",
        epilog="Start with: veilsearch demo",
    )
    top.add_argument("--version", action="version", version=f"veilsearch {__version__}")
    top.add_argument(
        "--workspace",
        type=Path,
        metavar="DIR",
        help="where everything lies (default: $VEILSEARCH_WORKSPACE or ./veilsearch-data)",
    )
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_Parser)
    for name, purpose in VERBS.items():
        verb = verbs.add_parser(name, help=purpose, description=f"{purpose.capitalize()}.")
        importlib.import_module(f".verbs.{name}", __package__).add_arguments(verb)
    return top


def _one_line(fault: Exception) -> str | None:
    """Return what to tell the user; None for a fault that is ours, whose traceback must show."""
    from anonymizer.model import AnonymizerError
    from index.model import SearchError

    if isinstance(fault, UsageError | AnonymizerError | SearchError):
        return " ".join(str(fault).split())
    if isinstance(fault, OSError):
        why = fault.strerror or str(fault)
        return " ".join(f"{fault.filename}: {why}".split()) if fault.filename else why
    return None


def _ready_streams() -> None:
    """Write what a terminal can't show as escapes; a closed stream swallows what is said."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())
        if isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

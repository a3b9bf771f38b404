"""The command `scripts/bench`: speed as ratios within one run, each next to its bar."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from search_app import console
from search_app.cli import Parser, finish
from search_app.errors import UsageError
from search_app.settings import Settings, load_settings

from .bars import RATIOS
from .plan import PREFIXES, SMALL, Load, Plan

MODES = ("none", "own", "group")
_LISTED = (
    "R1 a pool, R2 its re-ranking, R3 pages, R4 clustering as users double, R5 against its obvious "
    "version, R6 a log to verified releases, R7 deleting terms, R9 verifying releases, R10 reading "
    "a log, R11 --help; listed as not measured: R8, R12 (a fresh clone), R13 "
    "(see --load)"
)


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Measure what `words` ask for, and exit."""
    finish(lambda: run(parser().parse_args(words)))


def parser() -> argparse.ArgumentParser:
    """Return the parser of all options."""
    parser = Parser(
        prog="scripts/bench",
        description="Measure speed as ratios within one run, each next to its bar. The ratios are "
        "of medians of calls in turns, over the workspace's index (which is only read) and over "
        "invented people and logs. A bar that is missed while other programs keep the machine busy "
        "is reported as too busy to judge.",
    )
    parser.add_argument(
        "--workspace",
        type=Path,
        metavar="DIR",
        help="the workspace whose index is searched (as in veilsearch)",
    )
    what = parser.add_argument_group("what is measured (without any of these: R1 to R11)")
    what.add_argument("--only", metavar="R1,R4", help=f"only these: {_LISTED}")
    what.add_argument(
        "--full",
        action="store_true",
        help="R6 on a log as large as AOL's: 657,000 people, 36 million lines; R7 on one as large "
        "as AltaVista's: 367,803 people, 251,115 terms, each target of the method once",
    )
    what.add_argument(
        "--load", action="store_true", help="only R13: pages under load, a minute and a half"
    )
    what.add_argument(
        "--index",
        type=Path,
        nargs="+",
        metavar="CORPUS",
        help="only building an index of these TREC files, against Anserini's IndexCollection",
    )
    _add_sizes(parser)
    _add_load(parser)
    parser.add_argument_group("with --index").add_argument(
        "--threads", type=int, metavar="N", help="threads of Anserini (number of cores)"
    )
    kept = parser.add_argument_group("what is printed and kept")
    kept.add_argument(
        "--json", action="store_true", help="print everything as JSON, also load and versions"
    )
    kept.add_argument(
        "--folder", type=Path, metavar="DIR", help="keep here what takes long to make: logs, corpus"
    )
    return parser


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    sizes = parser.add_argument_group("how often, and how large")
    sizes.add_argument(
        "--rounds",
        type=int,
        default=5,
        metavar="N",
        help="rounds of each median (5); at most 3 for what takes seconds (R6, R9 and the larger "
        "sizes of R4) or 2 (R5); at least 9 for R11",
    )
    sizes.add_argument(
        "--pool",
        type=int,
        default=1000,
        metavar="N",
        help="documents in a pool of R1, R2 and R13 (1000)",
    )
    sizes.add_argument(
        "--queries",
        type=int,
        default=30,
        metavar="N",
        help="queries in each round of R1 to R3 (30)",
    )


def _add_load(parser: argparse.ArgumentParser) -> None:
    load = parser.add_argument_group("with --load")
    load.add_argument(
        "--documents", type=int, default=200_000, metavar="N", help="documents to search (200000)"
    )
    load.add_argument(
        "--clients",
        type=int,
        default=32,
        metavar="N",
        help="clients that ask at the same time (32)",
    )
    load.add_argument("--mode", choices=MODES, default="group", help="mode of all pages (group)")
    load.add_argument(
        "--warm-up",
        type=float,
        default=20,
        metavar="S",
        help="seconds before those that count (20)",
    )
    load.add_argument(
        "--seconds", type=float, default=30, metavar="S", help="seconds that count (30)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure what `arguments` ask for and print it; return 0, also where a bar is missed."""
    # A missed bar is no failure: the bars in seconds are of one machine.
    _check(arguments)
    # Wrong use is refused before the heavy imports.
    plan = plan_of(arguments, load_settings(arguments.workspace))
    from . import report as reports
    from . import suite

    note = console.say if sys.stderr.isatty() else lambda _line: None
    report = suite.run(plan, note)
    if arguments.json:
        console.show_json(reports.as_json(report))
    else:
        for line in reports.lines(report):
            console.show(line)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that do not fit together and numbers out of range, all at once."""
    whole = {name: getattr(arguments, name) for name in ("rounds", "queries", "documents")}
    whole |= {"clients": arguments.clients, "threads": arguments.threads or 1}
    faults = [f"--{name} {value} must be at least 1" for name, value in whole.items() if value < 1]
    if not 1 <= arguments.pool <= 10_000:
        faults.append(f"--pool {arguments.pool} must be from 1 to 10000")
    if not (0 < arguments.seconds <= 3600 and 0 <= arguments.warm_up <= 3600):
        faults.append("--seconds must be above 0, --warm-up at least 0, and both at most 3600")
    gone = [str(corpus) for corpus in arguments.index or () if not corpus.exists()]
    if gone:
        faults.append(f"--index {', '.join(gone)} does not exist")
    if sum(map(bool, (arguments.index, arguments.load, arguments.full))) > 1:
        faults.append("--index, --load and --full are runs of their own; give one of them")
    if arguments.only and (arguments.index or arguments.load):
        faults.append("--only chooses from R1 to R13; remove it with --index or --load")
    if faults:
        raise UsageError("; ".join(faults))


def ratios(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the ratios that `arguments` ask for."""
    if arguments.index:
        return ("index",)
    if arguments.load:
        return ("R13",)
    known = [ratio for ratio in RATIOS if ratio != "index"]
    if arguments.only is None:
        return tuple(known)
    named = [name.strip().upper() for name in arguments.only.split(",")]
    if unknown := [name for name in named if name not in known]:
        raise UsageError(f"--only: no ratio {', '.join(unknown)}; there are: {', '.join(known)}")
    return tuple(ratio for ratio in known if ratio in named)


def plan_of(arguments: argparse.Namespace, settings: Settings) -> Plan:
    """Return what `arguments` ask for, with the rest from `settings`."""
    return Plan(
        workspace=settings.workspace,
        heap=settings.heap,
        only=ratios(arguments),
        rounds=arguments.rounds,
        pool=arguments.pool,
        queries=arguments.queries,
        logged=PREFIXES if arguments.full else (SMALL,),
        reduced=1.0 if arguments.full else Plan.reduced,
        folder=arguments.folder,
        corpora=tuple(arguments.index or ()),
        threads=arguments.threads or os.cpu_count() or 1,
        under_load=arguments.load,
        load=Load(
            arguments.documents,
            arguments.clients,
            arguments.mode,
            arguments.warm_up,
            arguments.seconds,
        ),
    )


if __name__ == "__main__":
    main()

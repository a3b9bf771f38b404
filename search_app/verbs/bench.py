"""veilsearch bench: measure speed as ratios within one run, each beside its bar."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace import write_whole

if TYPE_CHECKING:
    from ..benchmark.plan import Plan

MODES = ("none", "own", "group")
_LISTED = (
    "R1 a pool, R2 its re-ranking, R3 pages, R4 clustering as users double, R5 against its obvious "
    "version, R6 a log to verified releases, R7 deleting terms, R9 verifying releases, R10 reading "
    "a log, R11 --help; and, told as not measured: R8 (a method to come), R12 (a fresh clone), R13 "
    "(see --load)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.description = (
        "Measure speed as ratios within one run, each beside its bar: medians of calls in turns, "
        "over the workspace's index (which is only read) and over invented people and logs. Where "
        "a bar is missed and other programs kept the machine busy, that is told instead."
    )
    what = parser.add_argument_group("what is measured (without any of these: R1 to R11)")
    what.add_argument("--only", metavar="R1,R4", help=f"these alone: {_LISTED}")
    what.add_argument(
        "--full",
        action="store_true",
        help="R6 on a log of AOL's whole size: 657,000 people, 36 million lines; R7 on one of "
        "AltaVista's: 367,803 people, 251,115 terms, each target of the method",
    )
    what.add_argument(
        "--load", action="store_true", help="R13 alone: pages under load, a minute and a half"
    )
    what.add_argument(
        "--index",
        type=Path,
        nargs="+",
        metavar="CORPUS",
        help="building an index of these TREC files alone, against Anserini's IndexCollection",
    )
    _add_sizes(parser)
    _add_load(parser)
    parser.add_argument_group("with --index").add_argument(
        "--threads", type=int, metavar="N", help="of Anserini (the machine's cores)"
    )
    told = parser.add_argument_group("what is told and kept")
    told.add_argument("--json", action="store_true", help="all, with quartiles, load and versions")
    told.add_argument(
        "--folder", type=Path, metavar="DIR", help="keep here what takes long to make: logs, corpus"
    )
    told.add_argument("--plot", type=Path, metavar="FILE.svg", help="with --full: time over users")


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    sizes = parser.add_argument_group("how often, and how large")
    sizes.add_argument(
        "--rounds",
        type=int,
        default=5,
        metavar="N",
        help="of each median (5); of what takes seconds 3 at most (R6, R9 and R4's larger sizes) "
        "or 2 (R5); of R11 9 at least",
    )
    sizes.add_argument(
        "--pool", type=int, default=1000, metavar="N", help="documents, of R1, R2 and R13 (1000)"
    )
    sizes.add_argument(
        "--queries", type=int, default=30, metavar="N", help="in each round of R1 to R3 (30)"
    )


def _add_load(parser: argparse.ArgumentParser) -> None:
    load = parser.add_argument_group("with --load")
    load.add_argument(
        "--documents", type=int, default=200_000, metavar="N", help="that are searched (200000)"
    )
    load.add_argument(
        "--clients", type=int, default=32, metavar="N", help="that ask at the same time (32)"
    )
    load.add_argument("--mode", choices=MODES, default="group", help="of all pages (group)")
    load.add_argument(
        "--warm-up", type=float, default=20, metavar="S", help="seconds that don't count (20)"
    )
    load.add_argument(
        "--seconds", type=float, default=30, metavar="S", help="seconds that count (30)"
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Measure and print; a missed bar is told and is no failure: bars are of one machine."""
    _check(arguments)
    only = ratios(arguments)  # before anything heavy is imported
    from ..benchmark import suite, telling

    note = console.say if sys.stderr.isatty() else _silent
    report = suite.run(plan_of(arguments, settings, only), note)
    if arguments.plot:
        write_whole(arguments.plot, telling.drawn(report), public=True)
    if arguments.json:
        console.show_json(telling.as_json(report))
    else:
        for line in telling.lines(report):
            console.show(line)
    return 0


def _silent(_line: str) -> None:
    pass


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what goes together with nothing, all numbers at once."""
    whole = {name: getattr(arguments, name) for name in ("rounds", "queries", "documents")}
    whole |= {"clients": arguments.clients, "threads": arguments.threads or 1}
    faults = [f"--{name} {value} must be at least 1" for name, value in whole.items() if value < 1]
    if not 1 <= arguments.pool <= 10_000:
        faults.append(f"--pool {arguments.pool} must be from 1 to 10000")
    if not (0 < arguments.seconds <= 3600 and 0 <= arguments.warm_up <= 3600):
        faults.append("--seconds must be above 0, --warm-up at least 0, and both at most 3600")
    gone = [str(corpus) for corpus in arguments.index or () if not corpus.exists()]
    if gone:
        faults.append(f"--index {', '.join(gone)} is not there")
    if arguments.plot and not arguments.full:
        faults.append("--plot draws the whole log of --full; give both")
    if sum(map(bool, (arguments.index, arguments.load, arguments.full))) > 1:
        faults.append("--index, --load and --full are runs of their own; give one of them")
    if arguments.only and (arguments.index or arguments.load):
        faults.append("--only chooses of R1 to R13; leave it out with --index and --load")
    if faults:
        raise UsageError("; ".join(faults))


def ratios(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the ratios that are asked for."""
    from ..benchmark.bars import RATIOS

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


def plan_of(arguments: argparse.Namespace, settings: Settings, only: tuple[str, ...]) -> Plan:
    """Return what the arguments ask for."""
    from ..benchmark.plan import PREFIXES, SMALL, Load, Plan

    return Plan(
        workspace=settings.workspace,
        heap=settings.heap,
        only=only,
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

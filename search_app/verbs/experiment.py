"""veilsearch experiment: a paper's figures and tables on one's own log and corpus."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..builds import name_of
from ..errors import UsageError
from ..settings import Settings
from ..workspace import EXPERIMENTS, Workspace
from .anonymize import assignments
from .town import truth_path

if TYPE_CHECKING:
    from ..experiments.design import Experiment

INPUTS = """\
inputs of an experiment, each set by --set name=value over what its file says:
  size=150             terms of a profile; who has fewer is left out (off: all terms, everybody)
  users=720            at most, the first who have that many (off: all)
  test_share=0.2       of each person's queries, the last by time: held out, to ask
  queries_per_user=5   drawn of these
  least_hits=100       documents that a drawn query must find
  terms=wordnet        or all, letters-digits
  robots=off           N: leave out who has over N queries in a session (gap: 30 minutes)
  seed=0               of that draw

A run that is there is replaced only by one of the same data that makes all its releases; give
--replace for any other. A killed run goes on where it stopped when the same command is given
again; what is measured already, here or in the run it replaces, is taken over if nothing it
depends on has changed.
Methods that value terms by what advertisers pay share one marketing table: that of --marketing, or
one drawn for the profiles' terms by the seed, which is called synthetic wherever its numbers stand.
A definition of your own is a TOML file; --show prints one to begin with.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = INPUTS
    parser.add_argument(
        "experiment", metavar="NAME|FILE.toml", help="zhu-xiong, burghardt, promise, or your own"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="default: WORKSPACE/experiments/NAME"
    )
    parser.add_argument(
        "--log", type=Path, nargs="+", metavar="LOG", help="query log (default: the town's)"
    )
    parser.add_argument("--index", metavar="NAME", help="an index of the workspace")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an input, as below"
    )
    parser.add_argument(
        "--marketing", type=Path, metavar="CSV", help="a table term,bid,impressions,clicks"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes beside each other (default: the cores)"
    )
    parser.add_argument(
        "--runs",
        nargs="+",
        default=[],
        metavar="VARIANT",
        help="write the orders of these variants too, as TREC runs and qrels",
    )
    parser.add_argument(
        "--replace", action="store_true", help="a run of other data or releases too, which is lost"
    )
    parser.add_argument("--show", action="store_true", help="print the definition and do nothing")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run the experiment into its folder."""
    from ..experiments.definition import read_definition, text_of
    from ..experiments.running import Choices, Sources, run_experiment

    text = text_of(arguments.experiment)
    if arguments.show:
        for line in text.splitlines():
            console.show(line)
        return 0
    experiment = read_definition(text, arguments.experiment, assignments(arguments.set))
    _check_runs(arguments.runs, experiment)
    workers = _workers(arguments.workers)
    workspace = Workspace(settings.workspace)
    logs = arguments.log or [_town(workspace)]
    index = workspace.index_named(arguments.index) if arguments.index else workspace.find("index")
    folder = arguments.output or workspace.root / EXPERIMENTS / experiment.name
    _check_output(folder, workspace)
    for what, file in (*(("log", log) for log in logs), ("marketing", arguments.marketing)):
        if file is not None:
            _check_input(what, file, folder)
    sources = Sources(
        logs,
        lambda: _log(logs),
        lambda: _counter(experiment, settings),
        index.resolve(),
        name_of(index),
        arguments.marketing,
        lambda: _table(arguments.marketing),
        _command(arguments),
    )
    choices = Choices(workers, arguments.runs, arguments.replace)
    try:
        with console.shares(experiment.name) as progress:
            made = run_experiment(experiment, sources, folder, settings, choices, progress)
    except KeyboardInterrupt:
        console.say("veilsearch: stopped; the same command goes on from here")
        return 130
    _print(made, arguments.json)
    return 0


def _command(arguments: argparse.Namespace) -> str:
    """Return the command as it was given, but for the places of files, which tell of a machine."""
    words = ["veilsearch", "experiment", Path(arguments.experiment).name]
    words += [word for each in arguments.set for word in ("--set", each)]
    words += ["--index", arguments.index] if arguments.index else []
    words += ["--log", *(path.name for path in arguments.log)] if arguments.log else []
    words += ["--marketing", arguments.marketing.name] if arguments.marketing else []
    words += ["--runs", *arguments.runs] if arguments.runs else []
    return shlex.join(words)


def _check_runs(names: Sequence[str], experiment: Experiment) -> None:
    there = list(dict.fromkeys(variant.name for variant in experiment.variants))
    wrong = [name for name in names if name not in there]
    if wrong:
        raise UsageError(
            f"--runs: no variant {', '.join(wrong)}; {experiment.name} has {', '.join(there)}"
        )
    if names:
        console.say("runs/ names documents, which tells what was asked: don't publish it")
    if any("random" in each.modes for name in names for each in experiment.named(name)):
        console.say("the mode random has no run: it is several orders of each pool")


def _workers(given: int | None) -> int:
    if given is None:
        return len(os.sched_getaffinity(0))
    if not 1 <= given <= 64:
        raise UsageError(f"--workers {given} must be from 1 to 64")
    return given


def _town(workspace: Workspace) -> Path:
    """Return the log of the workspace's town: the only log that a workspace knows."""
    truth = workspace.current().truth
    log = workspace.root / truth.replace(".truth.json", ".tsv")
    if not truth or truth_path(log) != workspace.root / truth or not log.is_file():
        raise UsageError("no log here; name one with --log LOG")
    return log


def _check_output(folder: Path, workspace: Workspace) -> None:
    """Refuse a place where a run can't be put, or would break what is there."""
    if not folder.name or folder.name in (".", ".."):
        raise UsageError(f"-o {folder} must be a folder of its own, like out")
    if os.path.ismount(folder):
        raise UsageError(f"-o {folder} is a mount point; name a folder inside it")
    full = folder.resolve()
    inside = [each for each in full.parents if (each / "release.json").exists()]
    if inside or full.is_relative_to(workspace.indexes.resolve()):
        raise UsageError(f"-o {folder} lies in a release or among indexes; name another folder")


def _check_input(what: str, file: Path, folder: Path) -> None:
    """Refuse an input that can't be read, or that the run's folder would take the place of."""
    if not file.is_file():
        raise UsageError(f"--{what} {file} must be a plain file that is there")
    if file.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"-o {folder} would replace the folder of the {what}; name another")


def _log(logs: Sequence[Path]) -> Any:
    from anonymizer.querylog import read_log

    with console.progress("log") as progress:
        log, report = read_log(logs, progress)
    if report.rejected:
        console.say(f"{report.rejected:,} of {report.lines:,} lines of the log are no query")
    return log


def _table(path: Path | None) -> Any:
    from anonymizer.marketing import read_table

    return read_table(path) if path else None


def _counter(experiment: Experiment, settings: Settings) -> Any:
    from .profiles import analysis

    return analysis(experiment.inputs.terms, settings)


def _print(made: dict[str, Any], as_json: bool) -> None:
    if as_json:
        console.show_json(made)
        return
    console.show(
        f"{made['units']:,} units ({made['reused']:,} measured before), {made['queries']:,} "
        f"queries of {made['people']:,} people, {made['rows']:,} rows in {made['seconds']:,.0f} s"
    )
    for claim in made["claims"]:
        console.show(f"  {claim['verdict']:<14} {claim['text']}")
    console.show(f"{Path(made['run']) / 'report.html'}")

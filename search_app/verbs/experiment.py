"""veilsearch experiment: a paper's figures and tables on your own log and corpus."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace.builds import name_of
from ..workspace.folder import EXPERIMENTS, Workspace
from .arguments import add_json, add_lists, add_set, assignments, help_with

if TYPE_CHECKING:
    from ..evaluation.relevance import Relevance
    from ..experiments.design import Experiment

# Options that name files.
_FILES = (
    "corpus",
    "log",
    "queries",
    "labels",
    "marketing",
    "sensitivity",
    "names",
    "places",
    "releases",
)
_INPUTS = """\
inputs of an experiment; --set name=value overrides its definition:
{}

An earlier run in the folder is replaced only by a run on the same data that makes all its releases;
for any other run, give --replace. If a run was killed, give the same command again: it goes on
where it stopped. Measurements of this or the replaced run are used again if nothing that they
depend on has changed.

Methods that value terms by what advertisers pay share one marketing table: that of --marketing, or
one invented for the profiles' terms from the seed, which every report calls synthetic.

A definition of your own is a TOML file; --show prints one to begin with.
"""


def _about_inputs() -> str:
    from anonymizer.methods.method import help_lines

    from ..experiments.design import ExperimentInputs

    return _INPUTS.format("\n".join(help_lines(ExperimentInputs)))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.formatter_class = help_with(_about_inputs)
    parser.add_argument(
        "experiment",
        metavar="NAME|FILE.toml",
        help="zhu-xiong, burghardt, liu-wang, promise, spi, value, frontier, or your own file",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="folder of the run (default: WORKSPACE/experiments/NAME)",
    )
    _add_sources(parser)
    parser.add_argument(
        "--workers", type=int, metavar="N", help="parallel processes (default: number of cores)"
    )
    parser.add_argument(
        "--runs",
        nargs="+",
        default=[],
        metavar="VARIANT",
        help="also write the orders of these variants as TREC runs and qrels",
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="replace the run in the folder, even one of other data or releases: it is lost",
    )
    parser.add_argument("--show", action="store_true", help="print the definition and stop")
    add_json(parser)


def _add_sources(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say what is measured."""
    parser.add_argument(
        "--log", type=Path, nargs="+", metavar="LOG", help="query log (default: the town's)"
    )
    parser.add_argument("--index", metavar="NAME", help="an index (default: the current one)")
    parser.add_argument(
        "--corpus",
        nargs="+",
        metavar="CORPUS",
        help="files or folders to index for this; an index of the same files is used again",
    )
    parser.add_argument(
        "--queries",
        metavar="FILE|truth",
        help="ask queries with relevance of their own, as evaluate --relevance does (default: held "
        "out of the log; for value and frontier: the truth of the invented town)",
    )
    parser.add_argument(
        "--labels", type=Path, metavar="FILE", help="labels of the documents, for --queries FILE"
    )
    add_set(parser, "an input")
    parser.add_argument(
        "--marketing", type=Path, metavar="CSV", help="a CSV file of term,bid,impressions,clicks"
    )
    parser.add_argument(
        "--sensitivity", type=Path, metavar="MODEL", help="spi: a model of sensitive queries"
    )
    add_lists(parser, "spi: a list of {}, as the verb sensitivity takes it")
    parser.add_argument(
        "--releases",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="also measure the releases in these folders, made by any code",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run the experiment that `arguments` name into its folder, and return the exit code."""
    from anonymizer.marketing.table import read_table

    from ..experiments.definition import read_definition, text_of
    from ..experiments.running import RunChoices, Sources, run_experiment
    from ..experiments.spi.logged import sensitive_by
    from ..tasks.profiling import log_at
    from ..tasks.town import town_log
    from ..workspace.profile_choices import analysis

    text = text_of(arguments.experiment)
    if arguments.show:
        for line in text.splitlines():
            console.show(line)
        return 0
    experiment = read_definition(text, arguments.experiment, assignments(arguments.set))
    _check_runs(arguments.runs, experiment)
    workers = arguments.workers
    if workers is None:
        # The cores this process may use, which can be fewer than the machine has.
        workers = len(os.sched_getaffinity(0))
    elif not 1 <= workers <= 64:
        raise UsageError(f"--workers {workers} must be from 1 to 64")
    choices = RunChoices(workers, arguments.runs, arguments.replace)
    workspace = Workspace(settings.workspace)
    logs = arguments.log or [town_log(workspace)]
    relevance = _relevance(arguments, experiment, settings)
    index = _index(arguments, workspace, settings)
    folder = arguments.output or workspace.root / EXPERIMENTS / experiment.name
    _check_output(folder, workspace)
    table: Path | None = arguments.marketing
    model: Path | None = arguments.sensitivity
    lists = [*([model] if model else []), *arguments.names, *arguments.places]
    _check_inputs(arguments, logs, lists, folder)
    sources = Sources(
        logs,
        lambda: log_at(logs),
        lambda: analysis(experiment.inputs.terms, settings),
        index.resolve(),
        name_of(index),
        table,
        lambda: read_table(table) if table else None,
        lists,
        lambda: sensitive_by(model, arguments.names, arguments.places, settings),
        _command(arguments),
        relevance,
        arguments.releases,
    )
    try:
        with console.shares(experiment.name) as progress:
            made = run_experiment(experiment, sources, folder, settings, choices, progress)
    except KeyboardInterrupt:
        console.say("veilsearch: stopped; to go on, give the same command again")
        return 130  # as shells report Ctrl+C
    console.answer(made, _lines(made), as_json=arguments.json)
    return 0


def _check_inputs(
    arguments: argparse.Namespace, logs: Sequence[Path], lists: Sequence[Path], folder: Path
) -> None:
    """Refuse `logs`, `lists` or releases that are not there, or that lie in the run's `folder`."""
    table = arguments.marketing
    files = [*(("log", log) for log in logs), *([("marketing", table)] if table else [])]
    files += [("sensitivity, --names or --places", path) for path in lists]
    for what, file in files:
        if not file.is_file():
            raise UsageError(f"--{what} {file} must be an existing plain file")
    for what, path in [*files, *(("releases", path) for path in arguments.releases)]:
        if path.resolve().is_relative_to(folder.resolve()):
            raise UsageError(f"-o {folder} would replace the folder of the {what}; name another")


def _relevance(
    arguments: argparse.Namespace, experiment: Experiment, settings: Settings
) -> Callable[[], Relevance] | None:
    """Return what reads the relevance of `experiment`; None if the log's own queries are asked."""
    from ..experiments.results.derived import REPORTS
    from ..tasks.town import TRUTH, relevance_for

    source, reporter = arguments.queries, REPORTS[experiment.report]
    if source is None and reporter.needs_relevance and arguments.log:
        raise UsageError(
            f"{experiment.name} judges by relevance of its own; give --queries and --labels"
        )
    if source is None and reporter.town_truth and not arguments.log:
        source = TRUTH
    if source is None and arguments.labels:
        raise UsageError("--labels and --queries FILE go together; give both")
    return partial(relevance_for, source, arguments.labels, settings) if source else None


def _index(arguments: argparse.Namespace, workspace: Workspace, settings: Settings) -> Path:
    from ..tasks.indexing import index_for

    if arguments.corpus and arguments.index:
        raise UsageError("--corpus and --index name two indexes; give one of them")
    if arguments.corpus:
        return index_for(arguments.corpus, settings)
    return workspace.index_named(arguments.index) if arguments.index else workspace.find("index")


def _command(arguments: argparse.Namespace) -> str:
    """Return the command as it was given, with file names instead of paths."""
    # It is printed in the report, and paths would reveal something about the machine.
    words = ["veilsearch", "experiment", Path(arguments.experiment).name]
    for name in ("set", "index", *_FILES, "runs"):
        given = getattr(arguments, name) or ()
        texts = [str(one) for one in ([given] if isinstance(given, str | Path) else given)]
        shown = [Path(text).name for text in texts] if name in _FILES else texts
        if name in ("set", "names", "places"):  # one each time
            words += [word for text in shown for word in (f"--{name}", text)]
        elif shown:
            words += [f"--{name}", *shown]
    return shlex.join(words)


def _check_runs(names: Sequence[str], experiment: Experiment) -> None:
    known = list(dict.fromkeys(variant.name for variant in experiment.variants))
    wrong = [name for name in names if name not in known]
    if wrong:
        raise UsageError(
            f"--runs: no variant {', '.join(wrong)}; {experiment.name} has {', '.join(known)}"
        )
    if names:
        console.say("runs/ lists documents, which reveals the queries: do not publish it")
    if any("random" in unit.modes for name in names for unit in experiment.named(name)):
        console.say("the mode random gets no run, because it is several orders of each pool")


def _check_output(folder: Path, workspace: Workspace) -> None:
    """Refuse a folder where a run can't be written, or would break what is there."""
    if not folder.name or folder.name in (".", ".."):
        raise UsageError(f"-o {folder} must be a folder of its own, like out")
    if os.path.ismount(folder):
        raise UsageError(f"-o {folder} is a mount point; name a folder inside it")
    full = folder.resolve()
    inside = [parent for parent in full.parents if (parent / "release.json").exists()]
    if inside or full.is_relative_to(workspace.indexes.resolve()):
        raise UsageError(f"-o {folder} lies in a release or among indexes; name another folder")


def _lines(made: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{made['units']:,} units ({made['reused']:,} measured before), {made['queries']:,} "
        f"queries of {made['people']:,} people, {made['rows']:,} rows in {made['seconds']:,.0f} s"
    )
    for claim in made["claims"]:
        yield f"  {claim['verdict']:<14} {claim['text']}"
    yield f"{Path(made['run']) / 'report.html'}"

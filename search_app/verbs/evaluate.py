"""veilsearch evaluate: judge each mode's rankings by the own-profile order, or by relevance."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings, changed
from ..workspace.folder import Workspace, write_whole
from .arguments import (
    add_json,
    add_metadata,
    add_opened,
    add_rule,
    add_seed,
    opened,
    refuse_overwriting,
    seed_of,
)

if TYPE_CHECKING:
    from ..evaluation.batch import SearchOptions
    from ..evaluation.judging import Judged, ModeDifference, ModeSummary
    from ..measures.significance import Interval
    from ..search.modes import Modes

HELD_OUT = "held-out"
MOST_THREADS = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.epilog = (
        "Lines for --relevance: qid<TAB>user<TAB>kind<TAB>query<TAB>labels. The kind is "
        "in or off: of the user's interests, or of somebody else's."
    )
    judged_by = parser.add_mutually_exclusive_group(required=True)
    judged_by.add_argument(
        "--queries",
        metavar="FILE|held-out",
        help="lines of qid<TAB>user<TAB>query, or the queries that profiles --test-share held out",
    )
    judged_by.add_argument(
        "--relevance",
        metavar="FILE|truth",
        help="judge by relevance of its own: queries with labels, in the form below, or the truth "
        "of the invented town",
    )
    parser.add_argument(
        "--labels",
        type=Path,
        metavar="FILE",
        help="lines of document<TAB>labels, for --relevance FILE",
    )
    parser.add_argument(
        "--modes", metavar="M,...", help="none, own, group, group:RELEASE (default: all)"
    )
    parser.add_argument(
        "--pool", type=int, metavar="N", help="documents to re-rank, more than 30 (100)"
    )
    parser.add_argument(
        "--run-dir", type=Path, metavar="DIR", help="folder for MODE.run and qrels.txt (TREC)"
    )
    add_metadata(parser)
    add_rule(parser)
    add_seed(parser, "intervals, tests and strangers")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE.csv", help="write a row for each query and mode"
    )
    add_opened(parser)
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Judge queries as `arguments` say, write the files, print means and tests; return 0."""
    settings = changed(
        settings, pool=arguments.pool, ranking=arguments.ranking, care=arguments.care
    )
    if arguments.metadata and not arguments.run_dir:
        raise UsageError("--metadata is for --run-dir; remove it")
    if arguments.relevance is not None:
        return _by_relevance(arguments, settings)
    if arguments.labels:
        raise UsageError("--labels and --relevance FILE go together; give both")
    return _by_own_order(arguments, settings)


def _by_relevance(arguments: argparse.Namespace, settings: Settings) -> int:
    """Judge queries by relevance of its own, and return 0."""
    from ..evaluation.helped import HEAD, help_in
    from ..evaluation.judging import summaries
    from ..measures.relevance import BY_KIND, GAIN, KINDS, RELEVANCE
    from ..tasks.town import TRUTH, relevance_for
    from .by_relevance import as_json, lines

    if arguments.run_dir:
        raise UsageError("--run-dir writes judgments of --queries only; leave it out")
    files = [] if arguments.relevance == TRUTH else [("relevance", Path(arguments.relevance))]
    files += [("labels", arguments.labels)] if arguments.labels else []
    _check_output(arguments, settings, HEAD, files)
    relevance = relevance_for(arguments.relevance, arguments.labels, settings)
    modes, chosen, search = _opened(arguments, settings)
    with console.progress("judge", len(relevance.queries)) as progress:
        helped = help_in(modes, relevance, chosen, search, arguments.seed, progress)
    if arguments.output:
        kinds = (KINDS[kind] for kind in helped.kind.tolist())
        shown = [name for name in RELEVANCE if name not in BY_KIND]
        write_whole(arguments.output, helped.rows(settings.pool, HEAD, kinds, shown))
    figures = summaries(helped, arguments.seed, GAIN)
    result = as_json(arguments, search, helped, figures)
    console.answer(result, lines(search, helped, figures), as_json=arguments.json)
    return 0


def _opened(
    arguments: argparse.Namespace, settings: Settings
) -> tuple[Modes, tuple[str, ...], SearchOptions]:
    """Return what answers, the modes to judge, and how their pools are found and ordered."""
    from ..evaluation.batch import SearchOptions
    from ..search.modes import FURTHER
    from ..search.request import rule_of

    # Without --modes all further releases in the workspace are judged, too.
    named = (arguments.modes or FURTHER).split(",")
    others = any(mode.strip().startswith(FURTHER) for mode in named)

    def skip(name: str) -> None:
        console.say(f"skipped: the release {name} is damaged; see: veilsearch doctor")

    modes = opened(arguments, settings, further=skip if others else None)
    chosen = _chosen_modes(arguments, modes, settings)
    threads = min(os.cpu_count() or 1, MOST_THREADS)
    search = SearchOptions(settings.pool, rule_of(settings), settings.operators, threads)
    search = search._replace(described=bool(arguments.metadata))
    return modes, chosen, search


def _by_own_order(arguments: argparse.Namespace, settings: Settings) -> int:
    """Judge queries by the own-profile order, the gold standard, and return 0."""
    from ..evaluation.judged_runs import judge_into
    from ..evaluation.judging import HEAD, differences, summaries
    from ..evaluation.topics import read_personal_topics
    from ..measures.precision import MEASURES

    source = _source(arguments, settings)
    _check_use(arguments, settings, source)
    topics = read_personal_topics(source)
    modes, chosen, search = _opened(arguments, settings)
    with console.progress("judge", len(topics)) as progress:
        judged = judge_into(modes, topics, chosen, search, arguments.run_dir, progress)
    if arguments.output:
        rows = judged.rows(settings.pool, HEAD, judged.hits.tolist(), list(MEASURES))
        write_whole(arguments.output, rows)
    if judged.cut:
        console.say(f"very long queries of which only the beginning was searched: {judged.cut:,}")
    if arguments.queries != HELD_OUT:
        console.say(
            "figures may be too high for queries that helped to build their users' profiles; "
            "--queries held-out has no such queries"
        )
    figures = summaries(judged, arguments.seed), differences(judged, arguments.seed)
    result = _as_json(arguments, settings, judged, *figures)
    lines = _lines(settings, judged, *figures, in_runs=bool(arguments.run_dir))
    console.answer(result, lines, as_json=arguments.json)
    return 0


def _source(arguments: argparse.Namespace, settings: Settings) -> Path:
    if arguments.queries != HELD_OUT:
        return Path(arguments.queries)
    from ..workspace.profile_choices import held_out_path

    path = held_out_path(_profiles(arguments, settings))
    if not path.is_file():
        raise UsageError(
            f"no held-out queries in {path}; hold some out with: "
            "veilsearch profiles LOG --test-share 0.2, and make the release again"
        )
    return path


def _profiles(arguments: argparse.Namespace, settings: Settings) -> Path:
    """Return the profiles file; without profiles there is no gold standard."""
    named: Path | None = arguments.profiles
    return named or Workspace(settings.workspace).find("profiles")


def _check_use(arguments: argparse.Namespace, settings: Settings, source: Path) -> None:
    """Refuse before the work what would otherwise be refused after it."""
    from ..evaluation.judged_runs import check_place
    from ..evaluation.judging import HEAD
    from ..measures.precision import DEPTH

    if settings.pool <= DEPTH:
        raise UsageError(
            f"pool={settings.pool} judges nothing: the first {DEPTH} of the own order are "
            f"relevant, so every order has AP 1; give --pool {DEPTH + 1} or more"
        )
    if arguments.run_dir:
        check_place(arguments.run_dir)
    _check_output(arguments, settings, HEAD, [("queries", source)])


def _check_output(
    arguments: argparse.Namespace,
    settings: Settings,
    head: str,
    read: list[tuple[str, Path]],
) -> None:
    """Refuse an output with other rows than those under `head`, or that is a file to `read`."""
    from ..evaluation.judging import is_ours

    seed_of(arguments)
    if arguments.index == "":
        raise UsageError("--index is empty; name one or leave it out")
    output = arguments.output
    if output is None:
        return
    if output.is_dir():
        raise UsageError(f"-o {output} is a folder; name a file")
    if output.is_file() and not is_ours(output, head):
        raise UsageError(f"-o {output} exists and holds no rows of evaluate; name another file")
    for name, file in (*read, ("profiles", _profiles(arguments, settings))):
        refuse_overwriting("-o", output, file, f"--{name}; name another")


def _chosen_modes(
    arguments: argparse.Namespace, modes: Modes, settings: Settings
) -> tuple[str, ...]:
    """Return the modes to judge, each once, in the order they were named."""
    from ..search.modes import FURTHER, MODES

    if arguments.modes is None:
        # A release named by --release is mode "group"; once is enough.
        release: Path | None = arguments.release
        here = release and release.resolve().parent == settings.workspace.resolve()
        again = f"{FURTHER}{release.name}" if release and here else ""
        return tuple(mode for mode in modes.modes if mode != again)
    chosen = tuple(dict.fromkeys(mode.strip() for mode in arguments.modes.split(",")))
    known = dict.fromkeys((*MODES, *modes.modes))
    unknown = [repr(mode) for mode in chosen if mode not in known]
    if unknown:
        raise UsageError(f"--modes {', '.join(unknown)} must be among {', '.join(known)}")
    modes.refuse(chosen, "somebody")
    return chosen


# -- for machines --------------------------------------------------------------------------------


def _as_json(
    arguments: argparse.Namespace,
    settings: Settings,
    judged: Judged,
    modes: list[ModeSummary],
    pairs: list[ModeDifference],
) -> dict[str, Any]:
    from ..evaluation.judging import expected_at_random
    from .by_relevance import ends

    return {
        "queries": len(judged.qids),
        "people": judged.people,
        "left_out": dict(judged.left_out),
        "unserved": judged.unserved,
        "pool": settings.pool,
        "smaller_pools": _smaller(judged, settings),
        "ranking": settings.ranking or "cosine",
        "seed": arguments.seed,
        "random_AP": expected_at_random(judged),
        "modes": [
            {
                "mode": summary.mode,
                **{name: ends(value) for name, value in summary.means.items()},
                "worst_decile_AP": summary.worst_decile,
                "AP_over_queries": _over_queries(judged, summary.mode),
            }
            for summary in modes
        ],
        "differences_of_AP": [
            {"mode": pair.mode, "above": pair.above, **ends(pair.by), "p_holm": pair.p}
            for pair in pairs
        ],
        "run_dir": str(arguments.run_dir) if arguments.run_dir else None,
        "output": str(arguments.output) if arguments.output else None,
    }


def _over_queries(judged: Judged, mode: str) -> float:
    """Return the mean AP over queries, which other tools find in a run."""
    return float(judged.values[mode]["AP"].mean())


def _smaller(judged: Judged, settings: Settings) -> int:
    return int((judged.hits < settings.pool).sum())


# -- for people ----------------------------------------------------------------------------------

_WIDTH, _AP = 12, 22  # of columns


def _lines(
    settings: Settings,
    judged: Judged,
    modes: list[ModeSummary],
    pairs: list[ModeDifference],
    *,
    in_runs: bool,
) -> Iterator[str]:
    from ..evaluation.judging import expected_at_random, why_not_judged

    yield (
        f"{len(judged.qids):,} queries of {judged.people:,} people over pools of "
        f"{settings.pool:,} documents; in {_smaller(judged, settings):,} the pool is smaller"
        + ("" if settings.ranking in ("", "cosine") else f"; ranking {settings.ranking}")
    )
    yield why_not_judged(judged.left_out)
    if judged.unserved:
        yield (
            f"judged in the plain order: {judged.unserved:,} of people without a row in a release"
        )
    yield ""
    names = [name for name in modes[0].means if name != "AP"]
    wide = max(6, *(len(summary.mode) for summary in modes)) + 2
    yield f"{'mode':<{wide}}{'AP [95 %]':<{_AP}}" + _cells([*names, "worst 10 %"])
    for summary in modes:
        values = [*(summary.means[name].mean for name in names), summary.worst_decile]
        cells = _cells([_number(value) for value in values])
        yield f"{summary.mode:<{wide}}{_shown(summary.means['AP']):<{_AP}}{cells}"
    yield f"{'random':<{wide}}{expected_at_random(judged):.3f} expected"
    yield "means over people, weighted equally; worst 10 %: the people with the lowest AP"
    if in_runs:
        means = ", ".join(f"{mode} {_over_queries(judged, mode):.3f}" for mode in judged.values)
        yield f"means of AP over queries, weighted equally, as in the runs: {means}"
    if not pairs:
        return
    yield ""
    names = [f"{pair.mode} - {pair.above}" for pair in pairs]
    wide = max(map(len, names)) + 2
    yield f"{'difference':<{wide}}{'AP [95 %]':<{_AP + 3}}{'P':>8}"
    for name, pair in zip(names, pairs, strict=True):
        # Ten thousand random trials give no finer value.
        chance = "< 0.001" if pair.p < 0.001 else _number(pair.p)
        yield f"{name:<{wide}}{_shown(pair.by, '+'):<{_AP + 3}}{chance:>8}"
    yield "paired by person; bootstrap intervals, randomization tests, P corrected by Holm"


def _cells(texts: list[str]) -> str:
    return "".join(f"{text:>{_WIDTH}}" for text in texts)


def _number(value: float, digits: int = 3, sign: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:{sign}.{digits}f}"


def _shown(value: Interval, sign: str = "") -> str:
    mean, low, high = (_number(number, 3, sign) for number in value)
    return f"{mean} [{low}, {high}]"

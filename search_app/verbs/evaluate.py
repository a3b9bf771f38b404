"""veilsearch evaluate: judge each mode's rankings by the order of the own profile."""

from __future__ import annotations

import argparse
import csv
import io
import math
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings, changed
from ..workspace import Workspace, write_whole
from .profiles import held_out_path

if TYPE_CHECKING:
    from ..judging import Answered, Difference, Judged, Summary
    from ..modes import Modes
    from ..significance import Interval
    from ..topics import Topic

HELD_OUT = "held-out"
MOST_THREADS = 4

_HEAD = "mode,pool,person,query,hits"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "--queries",
        required=True,
        metavar="FILE|held-out",
        help="lines of qid<TAB>user<TAB>query, or those that profiles --test-share held out",
    )
    parser.add_argument(
        "--modes", metavar="M,...", help="none, own, group, group:RELEASE (all that are here)"
    )
    parser.add_argument(
        "--pool", type=int, metavar="N", help="documents that are re-ranked, above 30 (100)"
    )
    parser.add_argument(
        "--run-dir", type=Path, metavar="DIR", help="write MODE.run and qrels.txt, TREC's forms"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of intervals and tests")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE.csv", help="write a row a query and mode"
    )
    parser.add_argument("--index", metavar="NAME", help="an index of the workspace by name")
    parser.add_argument("--profiles", type=Path, metavar="FILE", help="other than the current ones")
    parser.add_argument("--release", type=Path, metavar="DIR", help="other than the current one")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Judge the queries in each mode, write what was asked for, and print means and tests."""
    from ..judging import differences, summaries

    settings = changed(settings, pool=arguments.pool)
    source = _source(arguments, settings)
    _check_use(arguments, settings, source)
    topics = _topics(source)
    modes = _open(arguments, settings)
    asked = _asked(arguments, settings, modes)
    judged = _judge(arguments, settings, modes, topics, asked)
    if arguments.output:
        write_whole(arguments.output, _as_csv(judged, settings.pool))
    _tell(arguments, judged)
    found = summaries(judged, arguments.seed), differences(judged, arguments.seed)
    if arguments.json:
        console.show_json(_as_json(arguments, settings, judged, *found))
    else:
        _print(settings, judged, *found, in_runs=bool(arguments.run_dir))
    return 0


def _source(arguments: argparse.Namespace, settings: Settings) -> Path:
    """Return the file of the queries."""
    if arguments.queries != HELD_OUT:
        return Path(arguments.queries)
    path = held_out_path(_profiles(arguments, settings))
    if not path.is_file():
        raise UsageError(
            f"no held-out queries in {path}; hold some back with: "
            "veilsearch profiles LOG --test-share 0.2, and make the release again"
        )
    return path


def _profiles(arguments: argparse.Namespace, settings: Settings) -> Path:
    """Return the file of the profiles; without them there is no gold order."""
    named: Path | None = arguments.profiles
    return named or Workspace(settings.workspace).find("profiles")


def _check_use(arguments: argparse.Namespace, settings: Settings, source: Path) -> None:
    """Refuse what would be refused only after all the work."""
    from ..evaluation import DEPTH
    from ..judged_runs import check_place

    if settings.pool <= DEPTH:
        raise UsageError(
            f"pool={settings.pool} judges nothing: the first {DEPTH} of the own order are relevant,"
            f" so every order of so few has AP 1; give --pool {DEPTH + 1} or more"
        )
    if arguments.seed < 0:
        raise UsageError(f"--seed {arguments.seed} must be 0 or more")
    if arguments.index == "":
        raise UsageError("--index is empty; name one or leave it out")
    if arguments.run_dir:
        check_place(arguments.run_dir)
    output = arguments.output
    if output is None:
        return
    if output.is_dir():
        raise UsageError(f"-o {output} is a folder; name a file")
    if output.is_file() and not _is_ours(output):
        raise UsageError(f"-o {output} is there already and holds no such rows; name another file")
    for name, read in (("queries", source), ("profiles", _profiles(arguments, settings))):
        with suppress(OSError):  # what is not there, or out of reach, is told when it is opened
            if output.samefile(read):
                raise UsageError(f"-o {output} is the file of --{name}; name another")


def _is_ours(output: Path) -> bool:
    """Tell whether a file may be replaced: rows of an earlier call, or nothing at all."""
    with output.open("rb") as file:
        return file.readline(200).startswith(_HEAD.encode()) or not output.stat().st_size


def _topics(source: Path) -> list[Topic]:
    from ..topics import read_topics

    topics = read_topics(source)
    for topic in topics:
        if not topic.user:
            raise UsageError(
                f"{source}, line {topic.line}: topic {topic.qid} names nobody; "
                "write qid<TAB>user<TAB>query in all lines"
            )
    return topics


def _open(arguments: argparse.Namespace, settings: Settings) -> Modes:
    from ..modes import FURTHER
    from ..opening import open_modes

    named = (arguments.modes or FURTHER).split(",")
    others = any(mode.strip().startswith(FURTHER) for mode in named)
    return open_modes(
        Workspace(settings.workspace),
        settings,
        index=arguments.index,
        profiles=arguments.profiles,
        release=arguments.release,
        further=_say_damaged if others else None,
    )


def _say_damaged(name: str) -> None:
    console.say(f"the release {name} is damaged and left out; see: veilsearch doctor")


def _asked(arguments: argparse.Namespace, settings: Settings, modes: Modes) -> tuple[str, ...]:
    """Return the modes to judge, each once, in the order they were named."""
    from ..modes import FURTHER, MODES

    if arguments.modes is None:
        again = f"{FURTHER}{arguments.release.name}" if _is_here(arguments, settings) else ""
        return tuple(mode for mode in modes.modes if mode != again)
    asked = tuple(dict.fromkeys(mode.strip() for mode in arguments.modes.split(",")))
    known = dict.fromkeys((*MODES, *modes.modes))
    unknown = [repr(mode) for mode in asked if mode not in known]
    if unknown:
        raise UsageError(f"--modes {', '.join(unknown)} must be among {', '.join(known)}")
    modes.refuse(asked, "somebody")
    return asked


def _is_here(arguments: argparse.Namespace, settings: Settings) -> bool:
    """Tell whether the named release lies among the workspace's own."""
    release: Path | None = arguments.release
    return release is not None and release.resolve().parent == settings.workspace.resolve()


def _judge(
    arguments: argparse.Namespace,
    settings: Settings,
    modes: Modes,
    topics: list[Topic],
    asked: tuple[str, ...],
) -> Judged:
    """Judge the topics, writing the runs on the way."""
    from ..judged_runs import writing_runs
    from ..judging import Search, judge

    threads = min(os.cpu_count() or 1, MOST_THREADS)
    search = Search(settings.pool, settings.mix, settings.operators, threads)
    with ExitStack() as parts:
        runs = None
        if arguments.run_dir:
            runs = parts.enter_context(writing_runs(arguments.run_dir, asked))
        progress, done = parts.enter_context(console.progress("judge", len(topics))), 0

        def on_answer(answer: Answered) -> None:
            nonlocal done
            done += 1
            progress(done)
            if runs:
                ids = modes.engine.ids(answer.pool.rows)
                runs.add(answer.topic.qid, ids, answer.gold, answer.rankings)

        judged = judge(modes, topics, asked, search, on_answer)
        if not judged.qids:  # and no runs are written
            raise UsageError(f"none of {len(topics):,} queries can be judged; {_why(judged)}")
        return judged


def _tell(arguments: argparse.Namespace, judged: Judged) -> None:
    if judged.cut:
        console.say(f"only the beginning was searched of {judged.cut:,} very long queries")
    if arguments.queries != HELD_OUT:
        console.say(
            "a query that helped to build its asker's profile flatters the figures; "
            "--queries held-out has none of these"
        )


# -- for machines --------------------------------------------------------------------------------


def _as_csv(judged: Judged, pool: int) -> str:
    """Return a line a query and mode; people are numbers, and NaN is an empty cell."""
    from ..evaluation import MEASURES

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*_HEAD.split(","), *MEASURES))
    for mode, values in judged.values.items():
        columns = [values[name].tolist() for name in MEASURES]
        about = zip(judged.person.tolist(), judged.qids, judged.hits.tolist(), strict=True)
        for (person, qid, hits), *found in zip(about, *columns, strict=True):
            cells = ["" if math.isnan(value) else round(value, 12) for value in found]
            writer.writerow((mode, pool, person, qid, hits, *cells))
    return text.getvalue()


def _as_json(
    arguments: argparse.Namespace,
    settings: Settings,
    judged: Judged,
    modes: list[Summary],
    pairs: list[Difference],
) -> dict[str, Any]:
    from ..judging import expected_at_random

    return {
        "queries": len(judged.qids),
        "people": judged.people,
        "left_out": dict(judged.left_out),
        "unserved": judged.unserved,
        "pool": settings.pool,
        "smaller_pools": _smaller(judged, settings),
        "mix": settings.mix,
        "seed": arguments.seed,
        "random_AP": expected_at_random(judged),
        "modes": [
            {
                "mode": each.mode,
                **{name: _interval(value) for name, value in each.means.items()},
                "worst_decile_AP": each.worst_decile,
                "AP_over_queries": _over_queries(judged, each.mode),
            }
            for each in modes
        ],
        "differences_of_AP": [
            {"mode": each.mode, "above": each.above, **_interval(each.by), "p_holm": each.p}
            for each in pairs
        ],
        "run_dir": str(arguments.run_dir) if arguments.run_dir else None,
        "output": str(arguments.output) if arguments.output else None,
    }


def _interval(value: Interval) -> dict[str, float | None]:
    return {k: None if math.isnan(v) else v for k, v in value._asdict().items()}


def _over_queries(judged: Judged, mode: str) -> float:
    """Return the mean AP of all queries alike, which other tools find in a run."""
    return float(judged.values[mode]["AP"].mean())


def _smaller(judged: Judged, settings: Settings) -> int:
    return int((judged.hits < settings.pool).sum())


# -- for people ----------------------------------------------------------------------------------

_WIDTH, _AP = 12, 22  # of columns


def _why(judged: Judged) -> str:
    """Say how many queries were left out, and why."""
    from ..evaluation import DEPTH

    words = {
        "no profile": "of people without a profile",
        "no row": "of people without a released row",
        "no hits": "that find nothing",
        "few hits": f"that find {DEPTH} documents or fewer, of which every order has AP 1",
    }
    counts = [f"{count:,} {words[why]}" for why, count in judged.left_out.items() if count]
    return "left out: " + (", ".join(counts) or "none")


def _print(
    settings: Settings,
    judged: Judged,
    modes: list[Summary],
    pairs: list[Difference],
    *,
    in_runs: bool,
) -> None:
    from ..judging import expected_at_random

    console.show(
        f"{len(judged.qids):,} queries of {judged.people:,} people over pools of "
        f"{settings.pool:,} documents; in {_smaller(judged, settings):,} the pool is smaller"
        + ("" if settings.mix == 1 else f"; mix {settings.mix:g}")
    )
    console.show(_why(judged))
    if judged.unserved:
        console.show(
            f"judged in the plain order: {judged.unserved:,} of people of whom a release has left "
            "nothing"
        )
    console.show("")
    names = [name for name in modes[0].means if name != "AP"]
    wide = _width(modes)
    console.show(f"{'mode':<{wide}}{'AP [95 %]':<{_AP}}" + _cells([*names, "worst 10 %"]))
    for each in modes:
        values = [*(each.means[name].mean for name in names), each.worst_decile]
        cells = _cells([_number(value) for value in values])
        console.show(f"{each.mode:<{wide}}{_shown(each.means['AP']):<{_AP}}{cells}")
    console.show(f"{'random':<{wide}}{expected_at_random(judged):.3f} expected")
    console.show("means over people, each of whom counts alike; worst 10 %: of the people, by AP")
    if in_runs:
        alike = ", ".join(f"{mode} {_over_queries(judged, mode):.3f}" for mode in judged.values)
        console.show(f"over queries, each of which counts alike in the runs: {alike}")
    if pairs:
        _print_pairs(pairs)


def _print_pairs(pairs: list[Difference]) -> None:
    console.show("")
    names = [f"{pair.mode} - {pair.above}" for pair in pairs]
    wide = max(map(len, names)) + 2
    console.show(f"{'difference':<{wide}}{'AP [95 %]':<{_AP + 3}}{'p':>8}")
    for name, pair in zip(names, pairs, strict=True):
        console.show(f"{name:<{wide}}{_shown(pair.by, '+'):<{_AP + 3}}{_chance(pair.p):>8}")
    console.show("paired by person; bootstrap intervals, randomization tests, p corrected by Holm")


def _width(modes: list[Summary]) -> int:
    return max(6, *(len(each.mode) for each in modes)) + 2


def _cells(texts: list[str]) -> str:
    return "".join(f"{text:>{_WIDTH}}" for text in texts)


def _number(value: float, digits: int = 3, sign: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:{sign}.{digits}f}"


def _chance(p: float) -> str:
    """Write a p no finer than ten thousand random trials can tell it."""
    return "< 0.001" if p < 0.001 else _number(p)


def _shown(value: Interval, sign: str = "") -> str:
    mean, low, high = (_number(each, 3, sign) for each in value)
    return f"{mean} [{low}, {high}]"

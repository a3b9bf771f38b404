"""veilsearch measure: all measures of a release."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..disclosure.numbers import count
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import write_whole
from .arguments import (
    add_engine,
    add_json,
    add_release,
    engine_of,
    refuse_overwriting,
    release_and_profiles,
)

if TYPE_CHECKING:
    from anonymizer.backends.spark import SparkEngine
    from anonymizer.marketing.table import MarketingTable
    from anonymizer.measures import Measurement
    from anonymizer.measures.measurement import MeasureSummary
    from anonymizer.model import Profiles, Release

WORST = 1_000  # cells
_WORST_HEAD = "row,term,posterior,prior\n"
_MOST_HEAD = "user,query,original_events,released_events,JSD,SPI\n"  # the same for logs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    add_release(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE.csv", help="write every row of every measure"
    )
    parser.add_argument(
        "--users", action="store_true", help="name the users in FILE.csv, which is then personal"
    )
    parser.add_argument(
        "--marketing",
        metavar="FILE|synthetic",
        help="also measure how much of bids, clicks, impressions and revenue is kept, by this "
        "table (term,bid,impressions,clicks) or by one invented from the release's seed",
    )
    parser.add_argument(
        "--worst",
        type=Path,
        metavar="FILE.csv",
        help=f"write the {WORST:,} cells where belief changes most (row,term,posterior,prior), or "
        "with --log the queries that add most to a user's JSD; keep this file private, for example "
        "in RELEASE/private/",
    )
    parser.add_argument(
        "--log",
        type=Path,
        metavar="RELEASED",
        help="measure a released log, or that of a release folder, in place of a release; then "
        "--against names the original log",
    )
    parser.add_argument(
        "--sensitivity",
        type=Path,
        metavar="FILE.csv",
        help="how sensitive queries are, or the terms of profiles: text,probability",
    )
    parser.add_argument(
        "--spi-weights",
        choices=("paper", "released"),
        default="paper",
        help="weights of SPI: the paper's; released: what is suppressed weighs 1 (paper)",
    )
    parser.add_argument(
        "--empty",
        choices=("one", "null", "skip"),
        default="one",
        help="SPI and JSD of people with an empty release: 1; null: as if it were an empty query; "
        "skip: they are in no mean (one)",
    )
    add_engine(parser)
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Measure the release or the log in `arguments`, print the measures, and return 0."""
    engine = engine_of(arguments)
    if arguments.log:
        return _run_log(arguments, engine)
    if engine:
        raise UsageError("--engine spark measures a released log: --log RELEASED")
    return _run_release(arguments, settings)


def _run_log(arguments: argparse.Namespace, engine: SparkEngine | None) -> int:
    from anonymizer.storage.parts import LOG
    from anonymizer.storage.records import csv_text
    from anonymizer.storage.released_log import log_of

    from ..tasks.measuring import as_csv, as_dict, lines, measure_logs

    original, output = arguments.against, arguments.output
    if original is None:
        raise UsageError("--log needs the original log: --against ORIGINAL")
    idle = ("release", "marketing", "users")
    if more := [name for name in idle if getattr(arguments, name)]:
        raise UsageError(f"--log measures a log alone; leave out {', '.join(more)}")
    if output is not None:
        for path in (arguments.log, original, arguments.sensitivity):
            refuse_overwriting("-o", output, path, "what is measured; name another")
    folder = (log_of(arguments.log) or arguments.log / LOG).parent
    _check_place(output, folder)
    _check_worst(arguments.worst, output, folder, original, _MOST_HEAD)
    how = (arguments.sensitivity, arguments.spi_weights, arguments.empty)
    measured = measure_logs(arguments.log, original, *how, WORST if arguments.worst else 0, engine)
    if output is not None:
        write_whole(output, as_csv(measured.indices))
    if arguments.worst:
        write_whole(arguments.worst, _MOST_HEAD + csv_text(measured.most))
    if arguments.sensitivity is None:
        console.say("Without --sensitivity every weight is 1, and SPI is JSD.")
    console.answer(as_dict(measured), lines(measured), as_json=arguments.json)
    return 0


def _run_release(arguments: argparse.Namespace, settings: Settings) -> int:
    from anonymizer.marketing.table import known_terms
    from anonymizer.measures.belief import worst_cells
    from anonymizer.measures.measurement import summarize
    from anonymizer.measures.vocabulary import patterns_are_defined
    from anonymizer.storage.records import csv_text

    from ..tasks.measuring import measure_in_shards

    place, source = release_and_profiles(arguments, settings)
    check_output(arguments.output, place, source)
    _check_worst(arguments.worst, arguments.output, place, source)
    # What follows names users, rows or terms, or adds up the values of all terms.
    if not (arguments.output or arguments.worst or arguments.marketing):
        how = (arguments.sensitivity, arguments.spi_weights, arguments.empty)
        in_shards = measure_in_shards(place, source, *how)
        if in_shards is not None:
            _show(arguments, place, in_shards)
            return 0
    profiles, release = people_and_rows(place, source, settings)
    table = _table(arguments.marketing, profiles, place)
    rows = _rows(arguments, settings, profiles, release, table)
    if arguments.output:
        write_whole(arguments.output, _as_csv(rows, arguments.users))
    if arguments.worst:
        # For the owner alone; nothing of them is printed.
        write_whole(arguments.worst, _WORST_HEAD + csv_text(worst_cells(profiles, release, WORST)))
    summaries = summarize(rows)
    origin: dict[str, Any] = {}
    if table:  # whether it is synthetic, and how many of the terms it has
        known, terms = known_terms(table, profiles.terms), len(profiles.terms)
        origin = {"synthetic": table.synthetic, "known": known, "terms": terms}
    marketing = {"marketing": origin} if origin else {}
    _show(arguments, place, summaries, marketing, of_groups=not release.promise.single_person)
    if arguments.json:
        return 0
    if not patterns_are_defined(release):
        console.show("Recall and sDist: not defined for rows of bags")
    if origin:
        kind = "synthetic (invented)" if origin["synthetic"] else "given"
        console.show(f"marketing table: {kind}, {origin['known']:,} of {origin['terms']:,} terms")
    return 0


def _show(
    arguments: argparse.Namespace,
    place: Path,
    summaries: list[MeasureSummary],
    more: Mapping[str, Any] = {},
    *,
    of_groups: bool = True,
) -> None:
    """Show `summaries` of the release at `place`, as JSON with `more` if `arguments` say so."""
    if arguments.json:
        shown = [summary._asdict() for summary in summaries]
        console.show_json({"release": str(place), "measures": shown, **more})
    else:
        _print(summaries, of_groups=of_groups)


def _rows(
    arguments: argparse.Namespace,
    settings: Settings,
    profiles: Profiles,
    release: Release,
    table: MarketingTable | None,
) -> list[Measurement]:
    """Return all measures of `release`, made from `profiles`, by the lists that are named."""
    from anonymizer.measures import all_measures
    from anonymizer.sensitivity.files import read_probabilities
    from anonymizer.terms.wordnet import open_wordnet

    # A release whose taxonomy was given has it.
    wordnet = open_wordnet(settings.cache) if release.slots and not release.taxonomy else None
    return all_measures(
        profiles,
        release,
        wordnet=wordnet,
        table=table,
        sensitive=read_probabilities(arguments.sensitivity) if arguments.sensitivity else None,
        spi_weights=arguments.spi_weights,
        empty=arguments.empty,
    )


def people_and_rows(place: Path, source: Path, settings: Settings) -> tuple[Profiles, Release]:
    """Return the profiles at `source` that the release at `place` was made of, and this release."""
    from anonymizer.methods import promise_of
    from anonymizer.storage.profiles import fingerprint
    from anonymizer.storage.releases import read_input_hash, read_release

    from ..tasks.releasing import profiles_at

    release = read_release(place, promise_of)
    profiles = profiles_at(source, release.method, settings)
    # With other profiles every number would be wrong.
    if read_input_hash(place) != fingerprint(profiles):
        raise UsageError(
            f"{place} was made from other profiles than {source}; name its own with --against"
        )
    return _with_rows(profiles, release, place)


def _with_rows(profiles: Profiles, release: Release, place: Path) -> tuple[Profiles, Release]:
    """Return those of `profiles` that the `release` at `place` was made of, and this release.

    Where some of them can't be told, it is taken as a release of those who have a row.
    """
    from anonymizer.storage.parts import WITHDRAWN, read_cohorts
    from anonymizer.storage.releases import people_of

    withdrawn = any(WITHDRAWN in cohort.manifest for cohort in read_cohorts(place))
    if withdrawn and release.promise.single_person:
        raise UsageError(f"{place}: rows were withdrawn; measure a copy of it as it was made")
    if not withdrawn and len(profiles) == len(release.users) + release.left_out:
        return profiles, release
    there = {*release.users} if withdrawn else people_of(place)
    users = tuple(user for user in profiles.users if user in there)
    # Slots don't name people without a row. Others may be without one for having come later.
    if users == profiles.users or (
        release.slots and len(there) + release.left_out == len(profiles)
    ):
        return profiles, release
    if release.slots:
        release = replace(release, facts={**release.facts, "users_left_out": 0})
    console.say("Some people have no row: this is measured over the people who have one.")
    return profiles.some([profiles.number(user) for user in users]).in_order(), release


def _table(named: str | None, profiles: Profiles, release: Path) -> MarketingTable | None:
    """Return the marketing table `named`, if any; the invented one is of the release's seed."""
    from anonymizer.marketing.table import read_table, synthetic_table_of, used_table
    from anonymizer.storage.parts import read_manifest

    if named is None:
        return None
    if named == "synthetic":
        return synthetic_table_of(profiles, read_manifest(release)["seed"])
    return used_table(read_table(Path(named)), profiles.terms)


def check_output(output: Path | None, release: Path, profiles: Path) -> None:
    """Refuse to write an `output` into the `release` that is read, or over its `profiles`."""
    if output is not None:
        _check_place(output, release)
        refuse_overwriting("-o", output, profiles, "the profiles; name another")


def _check_place(output: Path | None, release: Path) -> None:
    if output and output.resolve().is_relative_to(release.resolve()):
        raise UsageError(f"-o {output} lies in the release; name a file outside of it")


def _check_worst(
    worst: Path | None, output: Path | None, release: Path, profiles: Path, head: str = _WORST_HEAD
) -> None:
    """Refuse a file in the published part, or one that exists and was not written by --worst."""
    if worst is None:
        return
    private = worst.resolve().parent == (release / "private").resolve()
    if worst.resolve().is_relative_to(release.resolve()) and not private:
        raise UsageError(
            f"--worst {worst} lies in the published part of the release; name a file in "
            f"{release / 'private'}, or outside of the release"
        )
    if output and worst.resolve() == output.resolve():
        raise UsageError(f"--worst and -o are both {worst}; name another file for one of them")
    if not worst.exists():
        return
    if worst.is_file() and not worst.is_symlink() and not worst.samefile(profiles):
        with worst.open("rb") as file:
            if file.read(len(head)) == head.encode():
                return
    raise UsageError(f"--worst {worst} exists and holds something else; name another")


def _as_csv(rows: list[Measurement], users: bool) -> str:
    """Return `rows` as CSV, with or without the ids of users."""
    from anonymizer.storage.records import csv_text

    # Without ids, users' rows are sorted by value, as their order would show whose they are.
    if not users:
        named = [row._replace(user="") for row in rows if row.user]
        named.sort(key=lambda row: (row.name, row.value))
        rows = [*(row for row in rows if not row.user), *named]
    return csv_text([("name", "value", "user", "group", "low", "high"), *rows])


_OF_ALL_CELLS = {
    "change of belief, largest": "largest change of belief, by the rows",
    "change of belief, mean": "  mean",
}
_WORDS = {
    "users": "members",
    "average": "mean profile over the terms (paper's p)",
    "share": "mean share of members a term",
    "worst": "share of members, the group's worst term",
    "belief": "largest change of belief, by members' shares",
    "change of belief": "largest change of belief, by the rows",
    "share of own terms kept": "share of the own terms in the row",
    "cosine of user and row": "cosine of the own profile and the row",
}
_WORDS_OF_ROWS = {
    **_OF_ALL_CELLS,
    "share of own terms kept": "share of the own terms that is left",
    "cosine of user and row": "cosine of the own profile and what is left",
    "terms of groups": "terms of the users who have a row",
    "terms of groups released": "  of these left",
    "terms of groups suppressed": "  of these deleted",
}
_NO_COUNTS = ("share ", "change ", "bLM", "replaced ", "Recall", "sDist")
_BY_TERM = "share of members, by term"
_WIDTH = 46


def _print(summaries: list[MeasureSummary], *, of_groups: bool) -> None:
    """Print a line for each measure; only JSON and CSV have the quantiles of readings."""
    # If each row is of one person, a user without a row counts as 0.
    heads = ("mean", "least", "median", "95 %", "most")
    words = _WORDS if of_groups else _WORDS_OF_ROWS
    for of in ("groups", "users") if of_groups else ("users",):
        some = [row for row in summaries if row.of == of]
        _line(count(some[0].values, of.removesuffix("s"), of), heads)
        for row in some:
            values = (row.mean, row.least, row.median, row.q95, row.most)
            _line(f"  {words.get(row.name, row.name)}", tuple(f"{value:.3f}" for value in values))
    once = {row.name: row.mean for row in summaries if row.of == "release"}
    if of_groups:
        quantiles = tuple(f"{once[f'{_BY_TERM}, {q}%']:.3f}" for q in (0, 50, 95, 100))
        _line(f"{once['terms of groups']:,.0f} terms of groups", heads)
        _line(f"  {_BY_TERM}", ("", *quantiles))
    words = _OF_ALL_CELLS if of_groups else _WORDS_OF_ROWS
    for name, value in once.items():
        if not name.endswith("%"):
            counted = value.is_integer() and not name.startswith(_NO_COUNTS)
            shown = f"{value:,.0f}" if counted else f"{value:,.3f}"
            _line(words.get(name, name), (shown,))


def _line(label: str, values: tuple[str, ...]) -> None:
    console.show(f"{label:<{_WIDTH}}" + "".join(f"{value:>10}" for value in values))

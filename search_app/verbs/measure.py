"""veilsearch measure: all measures of a release."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace import write_whole
from .verify import add_release, release_and_profiles

if TYPE_CHECKING:
    from anonymizer.marketing import MarketingTable
    from anonymizer.measures import Measurement
    from anonymizer.measures.summary import Summary
    from anonymizer.model import Profiles, Release

WORST = 1_000  # cells
_WORST_HEAD = "row,term,posterior,prior\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_release(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE.csv", help="write every row of every measure"
    )
    parser.add_argument(
        "--users", action="store_true", help="name the users in FILE.csv, which is personal then"
    )
    parser.add_argument(
        "--marketing",
        metavar="FILE|synthetic",
        help="measure what is kept of bids, clicks, impressions and revenue by this table "
        "(term,bid,impressions,clicks), or by the one invented by the release's seed",
    )
    parser.add_argument(
        "--worst",
        type=Path,
        metavar="FILE.csv",
        help=f"write the {WORST:,} cells about which belief changes most (row,term,posterior,"
        "prior): as private as the profiles, so it may lie in RELEASE/private/",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Measure the release and print each measure's summary; rows go to the file."""
    from anonymizer.measures.summary import summarize

    from ..lone_rows import lone_rows

    place, source = release_and_profiles(arguments, settings)
    _check_output(arguments.output, place, source)
    _check_worst(arguments.worst, arguments.output, place, source)
    release, profiles = _read(place, source)
    table = _table(arguments.marketing, profiles, place)
    lone = lone_rows(release) is not None
    rows = _measured(release, profiles, table)
    if arguments.output:
        write_whole(arguments.output, _as_csv(rows, arguments.users))
    if arguments.worst:
        _write_worst(arguments.worst, profiles, release)
    found = summarize(rows)
    if arguments.json:
        shown = [summary._asdict() for summary in found]
        told = {"marketing": _told(table, profiles)} if table else {}
        console.show_json({"release": str(place), "measures": shown, **told})
        return 0
    if lone:
        _print_lone(found)
    else:
        _print(found)
    if table:
        console.show(_in_words(_told(table, profiles)))
    return 0


def _table(named: str | None, profiles: Profiles, release: Path) -> MarketingTable | None:
    """Return the marketing table that is named; the invented one is that of the release's seed."""
    from anonymizer.marketing import read_table, synthetic_table_of, used_table
    from anonymizer.release import read_manifest

    if named is None:
        return None
    if named == "synthetic":
        return synthetic_table_of(profiles, read_manifest(release)["seed"])
    return used_table(read_table(Path(named)), profiles.terms)


def _told(table: MarketingTable, profiles: Profiles) -> dict[str, Any]:
    """Say whose numbers these are, and how many of the terms they are for."""
    from anonymizer.marketing import known_terms

    known = known_terms(table, profiles.terms)
    return {"synthetic": table.synthetic, "known": known, "terms": len(profiles.terms)}


def _in_words(told: dict[str, Any]) -> str:
    kind = "synthetic (invented)" if told["synthetic"] else "given"
    return f"marketing table: {kind}, knows {told['known']:,} of {told['terms']:,} terms"


def _measured(
    release: Release, profiles: Profiles, table: MarketingTable | None
) -> list[Measurement]:
    """Take all measures; that of what is kept by the table, too."""
    from anonymizer.measures import MEASURES
    from anonymizer.measures.kept_value import kept_value

    others = [measure for measure in MEASURES.values() if measure is not kept_value]
    rows = [row for measure in others for row in measure(profiles, release)]
    return rows + kept_value(profiles, release, table)


def _check_output(output: Path | None, release: Path, profiles: Path) -> None:
    """Refuse to write over what is read, whatever links lead there."""
    if output is None:
        return
    if output.resolve().is_relative_to(release.resolve()):
        raise UsageError(f"-o {output} lies in the release; name a file outside of it")
    with suppress(OSError):  # what is not there, or out of reach, is told when it is opened
        if output.samefile(profiles):
            raise UsageError(f"-o {output} is the file of the profiles; name another")


def _check_worst(worst: Path | None, output: Path | None, release: Path, profiles: Path) -> None:
    """Refuse to write it into what is published, or over what is there but an earlier one."""
    if worst is None:
        return
    private = worst.resolve().parent == (release / "private").resolve()
    if worst.resolve().is_relative_to(release.resolve()) and not private:
        raise UsageError(
            f"--worst {worst} lies in what is published; name a file in {release / 'private'}, or "
            "outside of the release"
        )
    if output and worst.resolve() == output.resolve():
        raise UsageError(f"--worst and -o are both {worst}; name another file for one of them")
    if not worst.exists():
        return
    if worst.is_file() and not worst.is_symlink() and not worst.samefile(profiles):
        with worst.open("rb") as file:
            if file.read(len(_WORST_HEAD)) == _WORST_HEAD.encode():
                return
    raise UsageError(f"--worst {worst} is there already and holds something else; name another")


def _write_worst(path: Path, profiles: Profiles, release: Release) -> None:
    """Write the worst cells for the owner alone; nothing of them is printed."""
    from anonymizer.measures.belief import worst_cells

    text = io.StringIO(newline="")
    text.write(_WORST_HEAD)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(worst_cells(profiles, release, WORST))
    write_whole(path, text.getvalue())
    path.chmod(0o600)


def _read(place: Path, source: Path) -> tuple[Release, Profiles]:
    """Read a release and its profiles; measured by others, each number would be wrong."""
    from anonymizer.profile_file import fingerprint, read_profiles
    from anonymizer.release import read_input_hash, read_release

    release, profiles = read_release(place), read_profiles(source)
    if read_input_hash(place) != fingerprint(profiles):
        raise UsageError(
            f"{place} was made from other profiles than {source}; name its own with --against"
        )
    return release, profiles


def _as_csv(rows: list[Measurement], users: bool) -> str:
    """Return a line a row; without users their lines are in order of value, as order tells too."""
    if not users:
        named = [row._replace(user="") for row in rows if row.user]
        named.sort(key=lambda row: (row.name, row.value))
        rows = [*(row for row in rows if not row.user), *named]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("name", "value", "user", "group", "low", "high"))
    writer.writerows(rows)
    return text.getvalue()


_OF_ALL_CELLS = {
    "change of belief, largest": "change of belief, largest of rows and terms",
    "change of belief, mean": "  mean",
}
_WORDS = {
    "users": "members",
    "average": "mean profile over the terms (paper's p)",
    "share": "mean share of members a term",
    "worst": "share of members, the group's worst term",
    "belief": "largest change of belief about a term",
    "change of belief": "  for who infers from what rows say",
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
_BY_TERM = "share of members, by term"
_WIDTH = 46


def _print(found: list[Summary]) -> None:
    """Print a line a measure; quantiles of readings are in JSON and CSV only."""
    heads = ("mean", "least", "median", "95 %", "most")
    rows = {(row.of, row.name): row for row in found}
    for of in ("groups", "users"):
        some = [row for (kind, _), row in rows.items() if kind == of]
        _line(f"{some[0].values:,} {of}", heads)
        for row in some:
            values = (row.mean, row.least, row.median, row.q95, row.most)
            _line(f"  {_WORDS.get(row.name, row.name)}", tuple(f"{value:.3f}" for value in values))
    once = {name: row.mean for (kind, name), row in rows.items() if kind == "release"}
    quantiles = tuple(f"{once[f'{_BY_TERM}, {q}%']:.3f}" for q in (0, 50, 95, 100))
    _line(f"{once['terms of groups']:,.0f} terms of groups", heads)
    _line(f"  {_BY_TERM}", ("", *quantiles))
    _print_once(once, _OF_ALL_CELLS)


def _print_lone(found: list[Summary]) -> None:
    """Print a line a measure of rows of one person each; users without a row count as 0."""
    users = [row for row in found if row.of == "users"]
    _line(f"{users[0].values:,} users", ("mean", "least", "median", "95 %", "most"))
    for row in users:
        values = (row.mean, row.least, row.median, row.q95, row.most)
        _line(f"  {_WORDS_OF_ROWS[row.name]}", tuple(f"{value:.3f}" for value in values))
    _print_once({row.name: row.mean for row in found if row.of == "release"}, _WORDS_OF_ROWS)


def _print_once(once: Mapping[str, float], words: Mapping[str, str]) -> None:
    """Print what is measured once a release; quantiles are in JSON and CSV only."""
    for name, value in once.items():
        if not name.endswith("%"):
            counted = value.is_integer() and not name.startswith(("share ", "change "))
            shown = f"{value:,.0f}" if counted else f"{value:,.3f}"
            _line(words.get(name, name), (shown,))


def _line(label: str, values: tuple[str, ...]) -> None:
    console.show(f"{label:<{_WIDTH}}" + "".join(f"{value:>10}" for value in values))

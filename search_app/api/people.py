"""A query log, and the people whose profiles are made of it or given [I/O]."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, nan
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from anonymizer.errors import BadInput
from anonymizer.model import Profiles, QueryLog
from anonymizer.profiles.building import build_profiles, without_robots
from anonymizer.querylog.reading import ReadReport
from anonymizer.querylog.reading import read_log as read_lines
from anonymizer.storage.profiles import SUFFIXES, fingerprint, read_profiles
from search_app import console
from search_app.errors import UsageError
from search_app.settings import load_settings
from search_app.workspace.profile_choices import ProfilingChoices, analysis, choices_of

from .checking import Place, place_of
from .tables import html_table, records_of

Asked = tuple[str, str]  # a person and a query
_COLUMNS = ("user", "term", "weight")
_SHOWN = 5  # people in a notebook
# Half of a surrogate pair is no character, so no file can hold it.
_TEXT = re.compile(r"(?s)[^\ud800-\udfff]*[^\s\ud800-\udfff][^\ud800-\udfff]*")


class _Cell(NamedTuple):
    """A weight that was given, and where it stands."""

    where: str
    user: Any
    term: Any
    weight: Any


@dataclass(frozen=True, repr=False, eq=False)
class Log:
    """A query log that was read, and what became of its lines."""

    events: QueryLog
    report: ReadReport
    files: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        return (
            f"<Log: {len(self):,} queries of {len(self.events.users):,} people; "
            f"{self.report.lines:,} lines, {self.report.rejected:,} rejected>"
        )


@dataclass(frozen=True, repr=False, eq=False)
class People:
    """People with their profiles: terms with weights."""

    matrix: Profiles
    choices: Mapping[str, Any] = field(default_factory=dict)  # how they were made from a log
    held_out: tuple[Asked, ...] = ()  # queries that helped to make no profile
    log: Log | None = None  # what the profiles were made from

    def __len__(self) -> int:
        return len(self.matrix)

    def __iter__(self) -> Any:
        return iter(self.matrix.users)

    def __contains__(self, user: object) -> bool:
        return isinstance(user, str) and user in self.matrix.row_of

    def __getitem__(self, user: str) -> dict[str, float]:
        if user not in self:
            raise UsageError(f"nobody of these {len(self):,} people has that name")
        return self.matrix.row(user)

    def __repr__(self) -> str:
        mean = self.matrix.sizes.mean()
        terms = len(self.matrix.terms)
        return f"<People: {len(self):,} over {terms:,} terms, {mean:.1f} a person>"

    def _repr_html_(self) -> str:
        some = self.matrix.users[:_SHOWN]
        strongest = (sorted(self[user].items(), key=lambda pair: -pair[1])[:8] for user in some)
        lines = [
            {"user": user, "strongest terms": ", ".join(term for term, _ in terms)}
            for user, terms in zip(some, strongest, strict=True)
        ]
        return f"<p>{len(self):,} people, the first {len(some)}:</p>{html_table(lines)}"


def read_log(*paths: Place, format: str | None = None) -> Log:  # noqa: A002
    """Return the query log in the files `paths`; `format` is found out unless it is given."""
    if not paths:
        raise UsageError("read_log needs the path of a log")
    files = tuple(map(place_of, paths))
    with console.progress("log") as progress:
        events, report = read_lines(files, progress, form=format)
    if not len(events):
        raise UsageError(f"no line of the log is a query: {report.rejected:,} were rejected")
    return Log(events, report, files)


def profiles(
    source: Place | Log | Mapping[str, Mapping[str, float]] | Any, **choices: Any
) -> People:
    """Return the people of `source`.

    That is a file of profiles, a log, a table with the columns user, term and weight, or a mapping
    from users to terms with weights. Profiles of a log are made by `choices`, which are those of
    `veilsearch profiles`: size, users, weights, granularity, gap, terms, phrases, test_share.
    """
    if isinstance(source, Log):
        return _of_log(source, choices)
    if choices:
        raise UsageError(f"{', '.join(choices)}: only profiles of a log are made by choices")
    if isinstance(source, str | PathLike):
        if Path(source).suffix not in SUFFIXES:
            raise UsageError(f"{source}: no file of profiles; of a query log: vs.read_log(path)")
        read = read_profiles(Path(source))
        return People(read, choices_of(Path(source), fingerprint(read)))
    if isinstance(source, Mapping):
        return People(_of_cells(_of_rows(source)))
    if (records := records_of(source)) is None:
        raise UsageError(
            f"profiles can't be made of a {type(source).__name__}; give a path, a log, a mapping "
            f"from users to terms with weights, or a table with the columns {', '.join(_COLUMNS)}"
        )
    return People(_of_cells(_of_records(records)))


def _of_log(log: Log, choices: Mapping[str, Any]) -> People:
    try:
        chosen = ProfilingChoices(**choices)
    except TypeError as fault:
        names = ", ".join(ProfilingChoices.__dataclass_fields__)
        raise UsageError(f"choices of profiles are {names}") from fault
    events = log.events
    if chosen.robots is not None:
        events, _ = without_robots(events, robots=chosen.robots, gap=chosen.gap)
    # No workspace is read: only where WordNet is kept comes from the environment.
    counter = analysis(chosen.terms, load_settings(), phrases=chosen.phrases)
    with console.progress("profiles") as progress:
        made, held = build_profiles(events, counter, chosen, progress=progress)
    users = enumerate(held.user.tolist())
    queries = tuple((held.users[user], held.text(row)) for row, user in users)
    return People(made, dict(vars(chosen)), queries, log)


def _of_records(records: Iterable[Mapping[str, Any]]) -> Iterator[_Cell]:
    needed = f"profiles need the columns {', '.join(_COLUMNS)}"
    for number, record in enumerate(records, 1):
        if missing := [name for name in _COLUMNS if name not in record]:
            raise UsageError(f"row {number} has no column {missing[0]}; {needed}")
        user, term, weight = (record[name] for name in _COLUMNS)
        # Tables often have ids as numbers.
        if not isinstance(user, bool) and isinstance(user, Integral):
            user = str(user)
        yield _Cell(f"row {number}", user, term, weight)


def _of_rows(rows: Mapping[Any, Any]) -> Iterator[_Cell]:
    for number, (user, terms) in enumerate(rows.items(), 1):
        if not isinstance(terms, Mapping) or not terms:
            raise UsageError(f"profile {number}: it must be terms with weights, one at least")
        for term, weight in terms.items():
            yield _Cell(f"profile {number}", user, term, weight)


def _of_cells(cells: Iterable[_Cell]) -> Profiles:
    """Return the profiles with `cells`, which are as a file of profiles has them."""
    # A message names the place of a cell, as it must show nobody's id or term.
    rows: dict[str, dict[str, float]] = {}
    for where, user, term, weight in cells:
        for name, text in (("user", user), ("term", term)):
            if not isinstance(text, str) or not _TEXT.fullmatch(text):
                raise UsageError(f"{where}: the {name} must be a text that is not empty")
        terms = rows.setdefault(user, {})
        if term in terms:
            raise BadInput(f"{where}: this person has the term twice; add the weights up")
        try:
            terms[term] = float(weight)
        except (TypeError, ValueError, OverflowError):
            terms[term] = nan
        if not 0 < terms[term] < inf:
            raise UsageError(f"{where}: the weight must be a finite number above 0")
    if not rows:
        raise UsageError("there are no people")
    return Profiles.from_rows(rows)

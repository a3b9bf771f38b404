"""The groups of a release: what they are like, a list of them, and one without its members."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from flask import Blueprint, Response, abort, render_template, request, url_for

from ..group_figures import Figures, figures
from ..lone_rows import lone_rows
from ..modes import FURTHER
from .access import person
from .csv_file import download
from .fact import Fact
from .facts import privacy_facts
from .group_charts import NAMES, charts
from .group_facts import group_facts
from .lone_facts import row_facts
from .parameters import GROUP_SORT, PAGE, RELEASE, read_parameters
from .promise import promise_of
from .site import DEMO, Site, this_site

pages = Blueprint("groups", __name__)
SHOWN = 50  # groups or terms a page
PATIENCE = 5.0  # seconds; all threads waiting for one count would stop every search
COUNTING = "The groups are being counted for the first time. Try again in a few seconds."
NO_RELEASE = "There is no release here, so there are no groups."
NO_PICTURE = "There is no such picture of this release, or nothing to measure it by may be told."
NO_GROUP = "There is no such group here."
_HEAD = ("row", "people", "released_terms", "average", "share", "worst", "belief")
_counted: WeakKeyDictionary[Site, dict[tuple[str, bool], Figures]] = WeakKeyDictionary()
_counting = threading.Lock()


class Line(NamedTuple):
    """A group in the list; what may not be told is None."""

    name: str
    people: int
    terms: int | None
    average: float | None  # the mean size of all profiles over the number of the group's terms
    share: float | None  # of members who have a term, mean over the group's terms
    worst: float | None  # the same for the term that most have
    belief: float | None  # largest change of belief about a term
    rarest: int | None = None  # where each row is of one person: rows that have its rarest term


class Listed(NamedTuple):
    """A page of the list."""

    lines: list[Line]
    page: int
    pages: int
    groups: int


class Term(NamedTuple):
    """A released term of a group, and how long its bar is beside the largest weight, of 100."""

    name: str
    weight: float
    width: int
    rows: int | None = None  # that have it, where each is of one person


class Group(NamedTuple):
    """A group without its members; told: whether its terms may be shown."""

    line: Line
    told: bool
    closed: bool  # as no row of its release is
    terms: list[Term]
    page: int
    pages: int
    facts: list[Fact]


class Asked(NamedTuple):
    """Which release, in what order, which page, and as whom in demo mode."""

    release: str
    sort: str
    page: int
    user: str

    def parameters(self, **changes: Any) -> dict[str, Any]:
        """Return the parameters of an address, those of the usual kind left out."""
        usual = Asked("", "name", 1, "")._asdict()
        values = self._replace(**changes)._asdict()
        return {name: value for name, value in values.items() if value != usual[name]}


@pages.get("/groups")
def show() -> str:
    """Show what the groups are like, and a list of them."""
    site = this_site()
    asked = _asked(site)
    found = figures_of(site, asked.release)
    if found is None:
        return render_template("groups/none.html")
    template = "groups/rows.html" if found.lone else "groups/show.html"
    return render_template(template, **_view(site, asked, found))


@pages.get(f"/groups/<any({', '.join(NAMES)}):name>.csv")
def numbers(name: str) -> Response:
    """Send a histogram's numbers."""
    site = this_site()
    counted = {chart.name: told for chart, told in charts(_figures(site, _asked(site)))}
    if name not in counted:
        abort(404, NO_PICTURE)
    return download(f"{name}.csv", counted[name].head, counted[name].rows)


@pages.get("/groups/groups.csv")
def table() -> Response:
    """Send the list of groups."""
    site = this_site()
    found = _figures(site, _asked(site))
    lines = (_line(found, group) for group in range(len(found.people)))
    if found.lone:
        rows = ((line.name, line.people, line.terms, line.rarest) for line in lines)
        return download("groups.csv", (*_HEAD[:3], "having_rarest_term"), rows)
    return download("groups.csv", _HEAD, (line[: len(_HEAD)] for line in lines))


@pages.get("/groups/<row>")
def one(row: str) -> str:
    """Show a group without its members."""
    site = this_site()
    asked = _asked(site)
    found = _figures(site, asked)
    shown = group_of(found, row, asked.page)
    links = _links("groups.one", asked, shown.page, shown.pages, row=row)
    template = "groups/row.html" if found.lone else "groups/one.html"
    return render_template(template, group=shown, asked=asked, paging=links)


@pages.get("/groups/<row>/terms.csv")
def terms(row: str) -> Response:
    """Send the released terms of a group."""
    site = this_site()
    found = _figures(site, _asked(site))
    weights = _weights(found, _number(found, row))
    return download("terms.csv", ("term", "weight"), weights.items())


def figures_of(site: Site, release: str = "") -> Figures | None:
    """Count a release's groups once for each site; None where there is no release."""
    chosen = site.modes.release_of(f"{FURTHER}{release}" if release else "group")
    if chosen is None:
        return None
    closed = site.modes.sealed()
    if (known := _counted.get(site, {}).get((release, closed))) is not None:
        return known
    if not _counting.acquire(timeout=PATIENCE):
        abort(503, COUNTING)
    try:
        kept = _counted.setdefault(site, {})
        if (release, closed) not in kept:
            singles = site.access == DEMO  # elsewhere a group of one is a real person's profile
            counted = figures(chosen, site.modes.profiles, singles=singles, closed=closed)
            kept[release, closed] = counted
        return kept[release, closed]
    finally:
        _counting.release()


def list_groups(found: Figures, sort: str, page: int) -> Listed:
    """Return a page of the list of groups."""
    groups = len(found.people)
    last = max(1, -(-groups // SHOWN))
    if page > last:
        abort(404, f"There is no such page of the list; the last one is {last}.")
    shown = found.orders[sort][(page - 1) * SHOWN : page * SHOWN]
    return Listed([_line(found, group) for group in shown.tolist()], page, last, groups)


def group_of(found: Figures, row: str, page: int = 1) -> Group:
    """Return a group by its row's name, with a page of its terms."""
    number = _number(found, row)
    line, weights = _line(found, number), _weights(found, number)
    last = max(1, -(-len(weights) // SHOWN))
    if page > last:
        abort(404, f"There is no such page of the terms; the last one is {last}.")
    most = max(weights.values(), default=1.0)
    told = found.is_told(number)
    terms = list(weights.items())[(page - 1) * SHOWN : page * SHOWN]
    having = _rows_having(found, number)
    shown = [
        Term(term, weight, round(100 * weight / most), having.get(term)) for term, weight in terms
    ]
    return Group(line, told, found.closed, shown, page, last, _facts_of(found, line, told))


def _facts_of(found: Figures, line: Line, told: bool) -> list[Fact]:
    if rows := lone_rows(found.release):
        return row_facts(rows, line.rarest, told)
    return group_facts(line, told, promise_of(found.release), hidden=found.release.hides_shares)


def _rows_having(found: Figures, number: int) -> dict[str, int]:
    """Count the rows that have each term of a row, where each is of one person."""
    if found.lone is None:
        return {}
    columns, _ = found.release.rows.slice(number)
    terms = map(found.release.rows.terms.__getitem__, columns.tolist())
    return dict(zip(terms, found.lone.having[columns].tolist(), strict=True))


def _asked(site: Site) -> Asked:
    user = person(site, request.args)
    values = read_parameters(request.args, (RELEASE, GROUP_SORT, PAGE), site)
    named = user if site.access == DEMO else ""  # no id in addresses elsewhere
    return Asked(values["release"], values["sort"], values["page"], named)


def _figures(site: Site, asked: Asked) -> Figures:
    found = figures_of(site, asked.release)
    if found is None:
        abort(404, NO_RELEASE)
    return found


def _view(site: Site, asked: Asked, found: Figures) -> dict[str, Any]:
    listed = list_groups(found, asked.sort, asked.page)
    return {
        "asked": asked,
        "listed": listed,
        "charts": [chart for chart, _numbers in charts(found)],
        "facts": privacy_facts(_facts(site, asked.release)),
        "releases": _releases(site, asked),
        "hidden": len(found.people) - found.told.size,
        "closed": found.closed,
        "rows": lone_rows(found.release),
        "sorts": [
            (name, words, url_for("groups.show", **asked.parameters(sort=name, page=1)))
            for name, words in (("name", "name"), ("people", "people"), ("terms", "terms"))
            if name != "people" or found.lone is None
        ],
        "paging": _links("groups.show", asked, listed.page, listed.pages),
    }


def _facts(site: Site, release: str) -> Mapping[str, Any]:
    return site.further[f"{FURTHER}{release}"].facts if release else site.facts


def _releases(site: Site, asked: Asked) -> list[tuple[str, str, bool]]:
    """Return name, address and whether it is this one for each release; none if there is one."""
    names = {"": site.release_name}
    names |= {mode.removeprefix(FURTHER): shown.name for mode, shown in site.further.items()}
    return [
        (
            shown,
            url_for("groups.show", **asked.parameters(release=name, page=1)),
            name == asked.release,
        )
        for name, shown in names.items()
        if site.further
    ]


def _links(endpoint: str, asked: Asked, page: int, last: int, **place: Any) -> dict[str, str]:
    """Return the addresses of the pages before and after, those that there are."""
    wanted = {"first": 1, "previous": page - 1, "next": page + 1, "last": last}
    return {
        name: url_for(endpoint, **place, **asked.parameters(page=number))
        for name, number in wanted.items()
        if 1 <= number <= last and number != page
    }


def _line(found: Figures, group: int) -> Line:
    name, people = found.release.rows.users[group], int(found.people[group])
    if not found.is_told(group):
        return Line(name, people, None, None, None, None, None)
    terms = int(found.terms[group])
    if found.lone:
        rarest = int(found.lone.rarest[group])
        return Line(name, people, terms, None, None, None, None, rarest)
    if not found.measured:
        return Line(name, people, terms, None, None, None, None)
    average, share, worst, belief = (float(values[group]) for values in found.readings.values())
    return Line(name, people, terms, average, share, worst, belief)


def _number(found: Figures, row: str) -> int:
    number = found.release.rows.row_of.get(row)
    if number is None or number >= found.release.groups:
        abort(404, NO_GROUP)
    return number


def _weights(found: Figures, number: int) -> dict[str, float]:
    """Return a group's released terms, the largest weight first; none that may not be told."""
    if not found.is_told(number):
        return {}
    weights = found.release.rows.at(number)
    return dict(sorted(weights.items(), key=lambda item: (-item[1], item[0])))

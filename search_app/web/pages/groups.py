"""The groups of a release: what they are like, a list, and a page of each without its members."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from flask import Blueprint, Response, abort, render_template, request, url_for

from ...disclosure.disclosure import Disclosure, Fact, Figures, ListLine
from ...disclosure.kinds import PICTURES
from ...disclosure.numbers import at_worst, two_decimals
from ...search.modes import FURTHER
from ...settings import DEFAULT_METHOD, DEMO
from ..charts.histograms import drawn
from ..charts.histograms import numbers as numbers_of
from ..parameters import GROUP_SORT, PAGE, RELEASE, read_parameters
from ..question import paging, part_of
from ..site import Site, this_site
from ..views.attacked import sentences
from ..views.csv_file import download
from ..visitors.access import person

pages = Blueprint("groups", __name__)
SHOWN = 50  # groups or terms a page
_WORST = ("worst", "belief")  # columns of worst cases
PATIENCE = 5.0  # seconds; if all threads waited for one count, every search would stop
COUNTING = "The groups are being counted for the first time. Try again in a few seconds."
NO_RELEASE = "There is no release here, so there are no groups."
NO_PICTURE = "This release has no such picture, or what it would measure may not be shown."
NO_GROUP = "There is no such group here."
# Weak, so that counts go when their site is replaced by a newer one.
_counted: WeakKeyDictionary[Disclosure, Figures] = WeakKeyDictionary()
_counting = threading.Lock()


class Listed(NamedTuple):
    """A page of the list."""

    lines: list[ListLine]
    page: int
    pages: int
    groups: int


class Term(NamedTuple):
    """A released term of a row."""

    name: str
    weight: float
    width: int  # of its bar; the largest weight has 100
    more: tuple[str, ...]  # its further cells


class Row(NamedTuple):
    """A row without its people."""

    line: ListLine
    why_hidden: str  # why its terms may not be shown; empty where they may
    terms: list[Term]
    page: int
    pages: int
    facts: list[Fact]


class ListingChoice(NamedTuple):
    """Which release, in what order, which page, and the person chosen in demo mode."""

    release: str
    sort: str
    page: int
    user: str

    def parameters(self, **changes: Any) -> dict[str, Any]:
        """Return the parameters of an address after `changes`, without those that are usual."""
        usual = ListingChoice("", "name", 1, "")._asdict()
        values = self._replace(**changes)._asdict()
        return {name: value for name, value in values.items() if value != usual[name]}


@pages.get("/groups")
def show() -> str:
    """Return the page on what the groups are like, with a list of them."""
    site = this_site()
    choice = _choice(site)
    shown = counted(site, choice.release)
    if shown is None:
        return render_template("groups/none.html", method=DEFAULT_METHOD)
    listed = list_rows(shown, choice.sort, choice.page)
    columns = [column for column in shown.columns if column.heading]
    hidden = len(shown.figures.people) - shown.figures.shown.size
    sorts = {
        name: url_for("groups.show", **choice.parameters(sort=name, page=1))
        for name in shown.orders
    }
    names = {"": site.release_name}
    names |= {mode.removeprefix(FURTHER): name for mode, name in site.further.items()}
    releases = [
        (
            label,
            url_for("groups.show", **choice.parameters(release=name, page=1)),
            name == choice.release,
        )
        for name, label in names.items()
        if site.further
    ]
    return render_template(
        "groups/show.html",
        choice=choice,
        words=shown.words,
        headline=shown.headline(),
        withheld=shown.withheld().format(own_page=url_for("me.show")) if hidden else "",
        unmeasured=shown.unmeasured(),
        charts=[drawn(histogram) for histogram in shown.histograms()],
        facts=[*shown.facts(), *shown.mean_facts()],
        attacked=sentences(site.certificate(mode_of(choice.release))),
        releases=releases,
        listed=listed if shown.listed else None,
        note=shown.note,
        heads=[column.heading for column in columns],
        lines=[
            (line.name, [_cell(line.measured[column.name], column.name) for column in columns])
            for line in listed.lines
        ],
        sorts=sorts.items(),
        paging=_links("groups.show", choice, listed.page, listed.pages),
    )


@pages.get(f"/groups/<any({', '.join(PICTURES)}):name>.csv")
def numbers(name: str) -> Response:
    """Return the numbers of the histogram `name` as a CSV file."""
    site = this_site()
    known = {some.name: some for some in _counted_or_404(site, _choice(site)).histograms()}
    if name not in known:
        abort(404, NO_PICTURE)
    return download(f"{name}.csv", *numbers_of(known[name]))


@pages.get("/groups/groups.csv")
def table() -> Response:
    """Return the list of groups as a CSV file."""
    site = this_site()
    shown = _counted_or_404(site, _choice(site))
    columns = [column for column in shown.columns if column.csv]
    lines = map(shown.line, range(len(shown.figures.people)))
    rows = ((line.name, *(line.measured[column.name] for column in columns)) for line in lines)
    return download("groups.csv", ("row", *(column.csv for column in columns)), rows)


@pages.get("/groups/<row>")
def one(row: str) -> str:
    """Return the page of the group with the name `row`, without its members."""
    site = this_site()
    choice = _choice(site)
    shown = _counted_or_404(site, choice)
    group = row_of(shown, row, choice.page)
    links = _links("groups.one", choice, group.page, group.pages, row=row)
    view = {"words": shown.words, "term_columns": shown.term_columns}
    return render_template("groups/one.html", row=group, choice=choice, paging=links, **view)


@pages.get("/groups/<row>/terms.csv")
def terms(row: str) -> Response:
    """Return the released terms of the group with the name `row` as a CSV file."""
    site = this_site()
    shown = _counted_or_404(site, _choice(site))
    weights = _weights(shown, _number(shown, row))
    return download("terms.csv", ("term", "weight"), weights.items())


def counted(site: Site, release: str = "") -> Disclosure | None:
    """Return the Disclosure of a `release` of `site`, once counted; None without a release."""
    shown = site.shown(mode_of(release))
    if shown.given is None or shown in _counted:
        return shown if shown.given else None
    if not _counting.acquire(timeout=PATIENCE):
        abort(503, COUNTING)
    try:
        _counted[shown] = shown.figures
        return shown
    finally:
        _counting.release()


def mode_of(release: str) -> str:
    """Return the mode that the `release` of this name serves; the one in use has no name."""
    return f"{FURTHER}{release}" if release else "group"


def list_rows(shown: Disclosure, sort: str, page: int) -> Listed:
    """Return a `page` of the list of the rows that `shown` has, in the order of `sort`."""
    order = shown.figures.orders[sort].tolist()
    listed, last = part_of(order, page, SHOWN, "the list")
    return Listed([shown.line(row) for row in listed], page, last, len(order))


def row_of(shown: Disclosure, name: str, page: int = 1) -> Row:
    """Return the row `name` of `shown`, with a `page` of its terms."""
    number = _number(shown, name)
    weights = _weights(shown, number)
    terms, last = part_of(list(weights.items()), page, SHOWN, "the terms")
    top = max(weights.values(), default=1.0)
    more = shown.term_cells(number)
    listed = [
        Term(term, weight, round(100 * weight / top), more.get(term, ())) for term, weight in terms
    ]
    why_hidden = "" if shown.figures.is_shown(number) else shown.why_hidden
    return Row(shown.line(number), why_hidden, listed, page, last, shown.row_facts(number))


def _choice(site: Site) -> ListingChoice:
    user = person(site, request.args)
    values = read_parameters(request.args, (RELEASE, GROUP_SORT, PAGE), site)
    named = user if site.access == DEMO else ""  # no id in addresses elsewhere
    return ListingChoice(values["release"], values["sort"], values["page"], named)


def _counted_or_404(site: Site, choice: ListingChoice) -> Disclosure:
    shown = counted(site, choice.release)
    if shown is None:
        abort(404, NO_RELEASE)
    return shown


def _cell(value: float | None, name: str) -> str:
    decimals = at_worst if name in _WORST else two_decimals
    return f"{value:,}" if isinstance(value, int) else decimals(value)


def _links(to: str, choice: ListingChoice, page: int, last: int, **place: Any) -> dict[str, str]:
    """Return the addresses of those pages before and after `page` that there are."""
    return paging(page, last, lambda at: url_for(to, **place, **choice.parameters(page=at)))


def _number(shown: Disclosure, row: str) -> int:
    number = shown.release.rows.row_of.get(row)
    # Rows beyond the groups' are fallback rows, which stand for no group.
    if number is None or number >= shown.release.groups:
        abort(404, NO_GROUP)
    return number


def _weights(shown: Disclosure, number: int) -> dict[str, float]:
    """Return a row's released terms, heaviest first; none where they may not be shown."""
    if not shown.figures.is_shown(number):
        return {}
    weights = shown.release.rows.at(number)
    return dict(sorted(weights.items(), key=lambda item: (-item[1], item[0])))

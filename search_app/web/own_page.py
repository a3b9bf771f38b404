"""A person's own page: their terms, what the engine was told, and what the group's row has."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from anonymizer.model import AnonymizerError

from ..errors import UsageError
from ..own_view import OwnTerm, OwnView
from .fact import Fact
from .own_facts import own_facts
from .promise import promise_of
from .site import Site
from .wording import count

if TYPE_CHECKING:
    from anonymizer.origins import Origin

    from ..ledger import Noted

A_PAGE = 25  # terms
HEAVIEST = 24  # terms of the row that are shown before it is folded
LISTED = 200  # searches
CHIPS = 60  # terms of a list shown before it is folded
WEIGHT, NAME, LAST = "weight", "name", "last"
SORTS = {NAME: "Term", WEIGHT: "Weight", LAST: "Searched for"}  # in the order of the columns
_NEVER = -1
_DAMAGE = (UsageError, AnonymizerError, OSError)
_logger = logging.getLogger(__name__)


class TermRow(NamedTuple):
    """A line of the table of own terms."""

    term: str
    weight: str
    width: float  # of the bar, from 0 to 100
    origin: str
    released: bool
    only_mine: bool


class Weighed(NamedTuple):
    """A term with its weight, as text and bar."""

    term: str
    weight: str
    width: float


@dataclass(frozen=True)
class Listing:
    """How the own terms are listed: which, in what order, from which page."""

    sort: str
    page: int
    find: str


@dataclass(frozen=True)
class Terms:
    """A page of the own terms."""

    rows: list[TermRow]
    first: int
    found: int
    all: int
    page: int
    pages: int
    any_origin: bool


class Kept(NamedTuple):
    """A search that its person wanted kept."""

    id: int
    query: str
    name: str
    time: str


class KeptSearches(NamedTuple):
    """The latest searches kept, and how many there are."""

    latest: list[Kept]
    number: int


class Part(NamedTuple):
    """Some own terms, as a list that begins with the heaviest."""

    name: str
    meaning: str
    terms: list[str]
    more: list[str]
    number: int


@dataclass(frozen=True)
class OwnPage:
    """All of a person's page but their choices."""

    terms: Terms
    row: str
    people: int
    spare: bool  # the row is no group's: this person was left over
    heaviest: list[Weighed]  # of the row
    others: list[Weighed]
    parts: list[Part]
    facts: list[Fact]


def own_page(site: Site, view: OwnView, listing: Listing) -> OwnPage:
    """Lay out what a person may see of themselves."""
    group = view.group
    row = sorted(group.row.weights.items(), key=lambda item: (-item[1], item[0])) if group else []
    weighed = [Weighed(*each) for each in _weighed(row)]
    return OwnPage(
        terms=_terms(view.terms, listing),
        row=group.row.name if group else "",
        people=group.row.users if group else 0,
        spare=group is not None and group.spare,
        heaviest=weighed[:HEAVIEST],
        others=weighed[HEAVIEST:],
        parts=_parts(view, lone=site.lone() is not None),
        facts=own_facts(view, promise_of(site.modes.release), ledger_of(site)),
    )


def own_view(site: Site, user: str) -> OwnView | None:
    """Return what the person sees of themselves; nothing where they have no profile."""
    people = site.population
    if people is None or not people.knows(user):
        return None
    origins: Mapping[str, Origin] = {}
    try:
        origins = site.origins(user)
    except _DAMAGE as fault:  # the rest can be shown, and must be removable, all the same
        _logger.warning("origins not read: %s", type(fault).__name__)
    return people.view(user, origins)


def ledger_of(site: Site) -> Sequence[Noted] | None:
    """Return the releases so far; nothing where their ledger can't be read."""
    try:
        return site.ledger()
    except _DAMAGE as fault:
        _logger.warning("ledger not read: %s", type(fault).__name__)
        return None


def _weighed(row: Sequence[tuple[str, float]]) -> list[tuple[str, str, float]]:
    top = max((weight for _, weight in row), default=1.0)
    return [(term, weight_text(weight), round(100 * weight / top, 1)) for term, weight in row]


def weight_text(weight: float) -> str:
    """Write a weight with at most three digits that count."""
    return f"{weight:.3g}" if 0.001 <= weight < 1000 else f"{weight:.2e}"


def _terms(terms: Sequence[OwnTerm], listing: Listing) -> Terms:
    wanted = listing.find.casefold()
    found = sorted(
        (each for each in terms if wanted in each.term.casefold()), key=_ORDER[listing.sort]
    )
    pages = max(1, -(-len(found) // A_PAGE))
    page = min(listing.page, pages)
    first = A_PAGE * (page - 1)
    shown = found[first : first + A_PAGE]
    top = max((each.weight for each in terms), default=1.0)
    return Terms(
        rows=[_row(each, top) for each in shown],
        first=first + 1 if shown else 0,
        found=len(found),
        all=len(terms),
        page=page,
        pages=pages,
        any_origin=any(each.origin for each in terms),
    )


def _last(each: OwnTerm) -> int:
    last = each.origin.last if each.origin else None
    return _NEVER if last is None else last


_ORDER: Mapping[str, Any] = {
    WEIGHT: lambda each: (-each.weight, each.term),
    NAME: lambda each: each.term,
    LAST: lambda each: (-_last(each), each.term),
}


def _row(each: OwnTerm, top: float) -> TermRow:
    return TermRow(
        term=each.term,
        weight=weight_text(each.weight),
        width=round(100 * each.weight / top, 1),
        origin=origin_text(each.origin),
        released=each.released is not None,
        only_mine=each.only_mine,
    )


def origin_text(origin: Origin | None) -> str:
    """Say in how many searches a term came up, and when."""
    if origin is None or not origin.times:
        return "not known"
    searches = f"in {count(origin.times, 'search', 'searches')}"
    if origin.first is None or origin.last is None:
        return f"{searches}, the log has no times"
    first, last = (datetime.fromtimestamp(at, UTC).date() for at in (origin.first, origin.last))
    if first == last:
        return f"{searches}, on {first.day} {first:%B %Y}"
    year = "" if first.year == last.year else f" {first.year}"
    month = "" if not year and first.month == last.month else f" {first:%B}"
    return f"{searches}, {first.day}{month}{year} to {last.day} {last:%B %Y}"


def _parts(view: OwnView, *, lone: bool) -> list[Part]:
    """Name the own terms the row has, those it lacks, and those nobody else has."""
    only = [_part("Terms only you have", _ONLY, view.only_mine)]
    only = [] if view.hides_counts else only
    if view.group is None:
        return only
    common = _part(
        "In the row too", "The row has them too; it does not say whose they are.", view.common
    )
    lost = _part("Not in the row", "Your interests that the group’s row has lost.", view.lost)
    if lone:
        common = _part("Left in your row", _LEFT, view.common)
        lost = _part("Deleted", _DELETED, view.lost)
    return [common, lost, *only]


_LEFT = "The row has them; it does not say that it is yours."
_DELETED = "Terms of yours that were taken out so that the promise holds."
_ONLY = "In nobody else’s profile: whoever learns one of these can tell that it is you."


def _part(name: str, meaning: str, terms: Sequence[OwnTerm]) -> Part:
    names = [each.term for each in sorted(terms, key=_ORDER[WEIGHT])]
    return Part(name, meaning, names[:CHIPS], names[CHIPS:], len(names))


def kept(site: Site, user: str) -> KeptSearches:
    """Return the searches this person wanted kept, newest first."""
    searches = site.store.searches(user)
    latest = [
        Kept(each.id, each.query, site.name_of(each.mode), _time(each.at))
        for each in searches[:LISTED]
    ]
    return KeptSearches(latest, len(searches))


def _time(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"

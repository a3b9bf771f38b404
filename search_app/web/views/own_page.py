"""A person's own page: their terms, the engine's last requests, and the group's row."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from anonymizer.errors import AnonymizerError

from ...accounts.codes import TOKEN
from ...disclosure.disclosure import Fact
from ...disclosure.numbers import count
from ...disclosure.own_view import OwnView, ProfileTerm
from ...errors import UsageError
from ...search.modes import Answer
from ...search.request import EVIDENCE, Request
from ..site import Site
from ..wording import fitting, kind, sees
from .standing import standing

if TYPE_CHECKING:
    from anonymizer.profiles.origins import TermOrigin

    from ...workspace.ledger import Noted

A_PAGE = 25  # terms
FOLDED = 250  # terms, where most are folded
HEAVIEST = 24  # terms of the row that are shown before the fold
LISTED = 200  # searches
CHIPS = 60  # terms of a list that are shown before the fold
SEARCHES, WEIGHT, NAME, LAST = "searches", "weight", "name", "last"
SORTS = {SEARCHES: "Most searched", LAST: "Latest", WEIGHT: "Weight", NAME: "A to Z"}
_FOLDS = {  # the fewest searches of terms -> the name of their fold
    10: "10 searches or more",
    5: "5 to 9 searches",
    2: "2 to 4 searches",
    1: "1 search",
    0: "It is not known from which searches",
}
_YET = "Nothing was sent in this mode yet. Search for something and come back."
_PAUSED = "While personalization is paused, no request is kept."
_PLAIN = "Nothing is sent in this mode: you get the plain order."
_NEW = "the query only: you have no profile yet"
_FOREIGN = (
    "You are in no group. If the row of the closest one serves you, its request is not shown."
)
_NEVER = -1
_DAMAGE = (UsageError, AnonymizerError, OSError)
_logger = logging.getLogger(__name__)


class TermRow(NamedTuple):
    """An own term in the list."""

    term: str
    weight: str
    width: float  # of the bar, from 0 to 100
    searches: str
    days: str
    released: bool
    only_mine: bool


class WeighedTerm(NamedTuple):
    """A term with its weight, as text and bar."""

    term: str
    weight: str
    width: float


@dataclass(frozen=True)
class Listing:
    """How the own terms are listed: which, in what order, and which page."""

    sort: str
    page: int
    find: str


@dataclass(frozen=True)
class Terms:
    """A page of the own terms."""

    folds: dict[str, list[TermRow]]  # by name; without one, they are not folded
    first: int
    last: int
    found: int  # terms that match the filter
    all: int
    page: int
    pages: int
    sorts: dict[str, str]  # that tell terms apart
    weighed: bool  # whether the weights differ


class Kept(NamedTuple):
    """A search that the person wanted to keep."""

    id: int
    query: str
    name: str
    time: str


class KeptSearches(NamedTuple):
    """The latest searches kept, and how many there are."""

    latest: list[Kept]
    number: int


class TermsPart(NamedTuple):
    """Some own terms, heaviest first."""

    name: str
    meaning: str
    terms: list[str]
    more: list[str]
    number: int


@dataclass(frozen=True)
class OwnPage:
    """A person's page, except their choices."""

    terms: Terms
    row: str
    about_row: str
    heaviest: list[WeighedTerm]  # of the row
    others: list[WeighedTerm]
    parts: list[TermsPart]
    facts: list[Fact]


def own_page(site: Site, view: OwnView, listing: Listing) -> OwnPage:
    """Return what a person may see of themselves in `view`, with terms as in `listing`."""
    group, shown, about = view.group, site.shown(), site.words.in_none
    if group:
        about = shown.own_row(group.row, smoothed=bool(site.modes.smoothed))
    row = sorted(group.row.weights.items(), key=lambda item: (-item[1], item[0])) if group else []
    top = max((weight for _, weight in row), default=1.0)
    weighed = [WeighedTerm(term, weight_text(w), round(100 * w / top, 1)) for term, w in row]
    # The own terms that the row has, those that it lacks, and those that nobody else has.
    parts = [_part(*site.words.common, view.common), _part(*site.words.lost, view.lost)]
    parts += [] if view.hides_counts else [_part(*_ONLY, view.only_mine)]
    return OwnPage(
        terms=_terms(view.terms, listing),
        row=group.row.name if group else "",
        about_row=about,
        heaviest=weighed[:HEAVIEST],
        others=weighed[HEAVIEST:],
        parts=parts if group else parts[2:],
        facts=shown.own_facts(view, ledger_of(site)),
    )


def own_view(site: Site, user: str) -> OwnView | None:
    """Return what `user` sees of themselves; None where they have no profile."""
    people = site.shown().population
    if people is None or not people.knows(user):
        return None
    origins: Mapping[str, TermOrigin] = {}
    try:
        origins = site.origins(user)
    except _DAMAGE as fault:
        # Origins are optional: a damaged file must not keep people from removing their terms.
        _logger.warning("origins not read: %s", type(fault).__name__)
    return people.view(user, origins)


def ledger_of(site: Site) -> Sequence[Noted] | None:
    """Return the releases of `site` so far; None where their ledger can't be read."""
    try:
        return site.ledger()
    except _DAMAGE as fault:
        _logger.warning("ledger not read: %s", type(fault).__name__)
        return None


def weight_text(weight: float) -> str:
    """Return `weight` with at most three significant digits."""
    return f"{weight:.3g}" if 0.001 <= weight < 1000 else f"{weight:.2e}"


def _terms(terms: Sequence[ProfileTerm], listing: Listing) -> Terms:
    wanted = listing.find.casefold()
    hits = sorted((own for own in terms if wanted in own.term.casefold()), key=_ORDER[listing.sort])
    known = any(own.origin for own in terms)
    weighed = len({own.weight for own in terms}) > 1
    useless = [*[SEARCHES, LAST] * (not known), *[WEIGHT] * (not weighed and known)]
    folded = known and listing.sort == SEARCHES and not wanted
    size = FOLDED if folded else A_PAGE
    pages = max(1, -(-len(hits) // size))
    page = min(listing.page, pages)
    first = size * (page - 1)
    shown = hits[first : first + size]
    top = max((own.weight for own in terms), default=1.0)
    folds: dict[str, list[TermRow]] = {}
    for own in shown:
        names = (name for least, name in _FOLDS.items() if _times(own) >= least)
        folds.setdefault(next(names) if folded else "", []).append(_row(own, top))
    return Terms(
        folds=folds,
        first=first + 1 if shown else 0,
        last=first + len(shown),
        found=len(hits),
        all=len(terms),
        page=page,
        pages=pages,
        sorts={name: shown for name, shown in SORTS.items() if name not in useless},
        weighed=weighed,
    )


def _row(own: ProfileTerm, top: float) -> TermRow:
    return TermRow(
        term=own.term,
        weight=weight_text(own.weight),
        width=round(100 * own.weight / top, 1),
        searches=count(_times(own), "search", "searches") if _times(own) else "",
        days=days_of(own.origin),
        released=own.released is not None,
        only_mine=own.only_mine,
    )


def _times(own: ProfileTerm) -> int:
    return own.origin.times if own.origin else 0


def _last(own: ProfileTerm) -> int:
    last = own.origin.last if own.origin else None
    return _NEVER if last is None else last


_ORDER: Mapping[str, Any] = {
    SEARCHES: lambda own: (-_times(own), -own.weight, own.term),
    WEIGHT: lambda own: (-own.weight, own.term),
    NAME: lambda own: own.term,
    LAST: lambda own: (-_last(own), own.term),
}


def _day(at: int) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def days_of(origin: TermOrigin | None) -> str:
    """Return when a term came up in searches, by its `origin`; empty if that is not known."""
    if origin is None or origin.first is None or origin.last is None:
        return ""
    first, last = (_day(at).date() for at in (origin.first, origin.last))
    if first == last:
        return f"{first.day} {first:%B %Y}"
    year = "" if first.year == last.year else f" {first.year}"
    month = "" if not year and first.month == last.month else f" {first:%B}"
    return f"{first.day}{month}{year} to {last.day} {last:%B %Y}"


_ONLY = (
    "Interests only you have",
    "Nobody else’s profile has these. Someone who knows the profiles, and learns one of these, "
    "knows that it is you.",
)


def _part(name: str, meaning: str, terms: Sequence[ProfileTerm]) -> TermsPart:
    names = [own.term for own in sorted(terms, key=_ORDER[WEIGHT])]
    return TermsPart(name, meaning, names[:CHIPS], names[CHIPS:], len(names))


def kept(site: Site, user: str) -> KeptSearches:
    """Return the searches that `user` wanted to keep, newest first."""
    searches = site.store.searches(user)
    latest = [
        Kept(one.id, one.query, site.name_of(one.mode), f"{_day(one.at):%Y-%m-%d %H:%M}")
        for one in searches[:LISTED]
    ]
    return KeptSearches(latest, len(searches))


class TokenLine(NamedTuple):
    """A token of the person's scripts."""

    public: str
    begins: str
    name: str
    made: str  # its day


def tokens(site: Site, user: str) -> list[TokenLine]:
    """Return the tokens of `user`, the oldest first."""
    return [
        TokenLine(one.public, f"{TOKEN}{one.public}", one.name, f"{_day(one.made):%Y-%m-%d}")
        for one in site.store.tokens(user)
    ]


class GatheredTerm(NamedTuple):
    """A term that came up in searches which fed the profile."""

    term: str
    searched: str  # how often


class Gathered(NamedTuple):
    """What grew from a person's searches, the most frequent first."""

    first: list[GatheredTerm]
    more: list[GatheredTerm]
    number: int
    needed: int  # terms of a person without a past who can be admitted to a group
    fault: str  # why searches can't add to profiles here; empty if they can


def gathered(site: Site, user: str) -> Gathered:
    """Return what grew from searches of `user`."""
    counts = site.grown(user)
    named = [
        GatheredTerm(term, count(times, "time", "times"))
        for term, times in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    growth = site.growth
    return Gathered(named[:CHIPS], named[CHIPS:], len(named), growth.needed, growth.fault)


class SentRequest(NamedTuple):
    """The engine's last request in a mode; no bytes: nothing was sent yet."""

    mode: str
    kind: str
    name: str
    sees: str
    nothing: str = ""  # why there are no bytes
    line: str = ""  # exactly the bytes, which are UTF-8
    pretty: str = ""
    size: str = ""
    sha256: str = ""
    fit: str = ""  # how well the interests fit that search, by the rule `evidence`


def sent(site: Site, user: str, sharing: int | None) -> list[SentRequest]:
    """Return the engine's request in each mode of the last search of `user`."""
    last = site.transcripts.of(user)
    return [sent_in(site, user, mode, last.get(mode), sharing) for mode in site.modes.modes]


def sent_in(
    site: Site, user: str, mode: str, last: Request | None, users: int | None = None
) -> SentRequest:
    """Return the engine's request `last`, made for `user` in `mode`; None: why there is none."""
    row = site.modes.row_for(user, mode) if site.modes.release_of(mode) else None
    people = row.users if row and not row.foreign else users
    shown, named = site.shown(mode), (mode, kind(mode), site.name_of(mode))
    fallback = row is not None and row.fallback
    outside = site.modes.stands_outside(user, mode) and not fallback
    if site.modes.lacks_row(user, mode) and not outside:
        return SentRequest(*named, shown.words.nothing_seen, _PLAIN)
    if mode != "none" and not site.modes.has_profile(user):
        return SentRequest(*named, _NEW, _PLAIN)
    seen = sees(kind(mode), shown.sees(people, fallback=fallback))
    if outside:
        return SentRequest(*named, seen, _FOREIGN)
    if not last:
        return SentRequest(*named, seen, _PAUSED if site.store.choices(user).paused else _YET)
    line = last.as_bytes()
    text = line.decode("utf-8", "surrogatepass")
    return SentRequest(
        *(*named, seen),
        line=text,
        pretty=json.dumps(json.loads(text), ensure_ascii=False, indent=1),
        size=count(len(line), "byte", "bytes"),
        fit=_fit(site, mode, last),
        sha256=hashlib.sha256(line).hexdigest(),
    )


def _fit(site: Site, mode: str, last: Request) -> str:
    """Return how well the interests of the request `last` fitted its search, by the evidence."""
    if last.rule.ranking != EVIDENCE or not last.interest:
        return ""
    engine = site.modes.engine
    pool = engine.pool(last.query, last.pool, operators=last.operators)
    answer = Answer(mode, engine.rank(pool, last), None, last)
    return fitting(answer, site.words_of(mode).whose)


def download(site: Site, user: str, view: OwnView | None) -> dict[str, Any]:
    """Return everything that is kept about `user`, ready to be written as JSON."""
    group = view.group if view else None
    row = group and {"row": group.row.name, "users": group.row.users, "terms": group.row.weights}
    facts = [] if view is None else site.shown().own_facts(view, ledger_of(site))
    return {
        "terms": [
            {
                "term": own.term,
                "weight": own.weight,
                "searches": own.origin.times if own.origin else None,
                "first": own.origin.first if own.origin else None,
                "last": own.origin.last if own.origin else None,
                "row_weight": own.released,
                "only_mine": None if own.people is None else own.only_mine,
            }
            for own in (view.terms if view else ())
        ],
        "gathered": site.grown(user),
        "standing": standing(site, user).sentence,
        "row": row,
        "facts": [fact._asdict() for fact in facts],
        "choices": site.store.choices(user)._asdict(),
        "searches": [
            {"query": search.query, "mode": search.mode, "at": search.at}
            for search in site.store.searches(user)
        ],
        "tokens": [{"name": one.name, "made": one.made} for one in site.store.tokens(user)],
        "last_requests": {
            mode: json.loads(request.as_bytes().decode("utf-8", "surrogatepass"))
            for mode, request in site.transcripts.of(user).items()
        },
    }

"""Prepared searches, one after the other, in type that is read from the back row."""

from __future__ import annotations

from typing import Any, NamedTuple

from flask import Blueprint, abort, render_template, request, url_for

from ..prepared import NAME, Lecture, Search
from .answering import Outcome, ask
from .columns import Look, columns, further_of, read_look, shown_modes, with_look
from .question import Question
from .site import DEMO, PRIVATE, Site, this_site

pages = Blueprint("lecture", __name__)
SHOWN = 5
SNIPPET = 100
MOST = 3  # columns, unless others are asked for
NOT_HERE = "There is no lecture here: the people who search here are real, and theirs is no show."


class Item(NamedTuple):
    """A prepared search in the list."""

    number: int
    query: str
    person: str  # as shown
    address: str


@pages.get("/lecture")
def show() -> str:
    """Show what is prepared, and the keys."""
    site = this_site()
    lecture = _lecture(site)
    items = [_item(site, number, search) for number, search in enumerate(lecture.searches, 1)]
    return render_template("lecture/show.html", items=items, lecture=lecture, file=NAME)


@pages.get("/lecture/<int:number>")
def one(number: int) -> str:
    """Show one prepared search as a comparison in large type."""
    site = this_site()
    lecture, look = _lecture(site), read_look(request.args, site)
    if not 1 <= number <= len(lecture.searches):
        abort(404, f"There is no search of that number: {len(lecture.searches)} are prepared.")
    search = lecture.searches[number - 1]
    question = _question(site, search)
    modes = shown_modes(site, question, look, MOST)
    outcome = ask(site, question, False, further_of(modes))  # a show is no search of anybody
    view = _view(site, question, outcome, modes, look)
    turns = _turns(number, len(lecture.searches), look)
    item = _item(site, number, search)
    return render_template(
        "lecture/one.html", item=item, count=len(lecture.searches), turns=turns, **view
    )


def _lecture(site: Site) -> Lecture:
    """Return the searches that can be shown; those of unknown people are left out and told."""
    if site.access == PRIVATE:
        abort(404, NOT_HERE)
    prepared = site.prepared()
    if not prepared.searches and not prepared.from_file:
        return Lecture(tuple(Search(each.query, each.user) for each in site.examples))
    known = [each for each in prepared.searches if not each.user or each.user in site.people]
    told = [_unknown(site, each) for each in prepared.searches if each not in known]
    return Lecture(tuple(known), (*prepared.faults, *told), prepared.from_file)


def _unknown(site: Site, search: Search) -> str:
    if site.people:
        return f"line {search.line} names a person who is not here; take one from the search form"
    return f"line {search.line} names a person, but nobody can be chosen here; leave them out"


def _item(site: Site, number: int, search: Search) -> Item:
    person = site.people.get(search.user, "")
    return Item(number, search.query, person, url_for("lecture.one", number=number))


def _question(site: Site, search: Search) -> Question:
    """Return the question of a prepared search, all else as is usual."""
    settings = site.settings
    return Question(
        query=search.query,
        user=search.user,
        mode=site.modes.usual_mode(search.user),
        pool=settings.pool,
        page=1,
        cut=False,
        operators=settings.operators,
        mix=settings.mix,
        named=site.access == DEMO,
    )


def _view(
    site: Site, question: Question, outcome: Outcome, modes: tuple[str, ...], look: Look
) -> dict[str, Any]:
    found = len(outcome.answers["none"].ranking)
    return {
        "columns": columns(site, question, outcome, modes, look, SHOWN, SNIPPET, why=False),
        "look": look,
        "notices": outcome.notices,
        "syntax": None,  # a prepared search is read as is usual here
        "found": found,
        "shown": min(SHOWN, found),
    }


def _turns(number: int, count: int, look: Look) -> dict[str, str]:
    """Return where the keys lead; blind stays blind from one search to the next."""

    def at(place: int, look: Look) -> str:
        there = url_for("lecture.one", number=place)
        return with_look(there, look) if 1 <= place <= count else ""

    onwards = look.seen(blind=look.blind)
    return {
        "next": at(number + 1, onwards),
        "previous": at(number - 1, onwards),
        "blind": at(number, look.seen(blind=not look.blind)),
        "reveal": at(number, look.seen(blind=True, reveal=not look.reveal)) if look.blind else "",
    }

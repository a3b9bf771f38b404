"""Slides, one after the other, in type that can be read from the back row."""

from __future__ import annotations

from typing import NamedTuple

from flask import Blueprint, abort, render_template, request, url_for

from ....settings import PRIVATE
from ....workspace.lecture import KINDS, NAME, Lecture, PreparedSearch
from ...site import Site, this_site
from ...views.columns import Look, read_look, with_look
from .slides import SLIDES

pages = Blueprint("lecture", __name__)
NOT_HERE = "There is no lecture here: people sign in, and their searches are not for an audience."


class Item(NamedTuple):
    """A slide in the list."""

    number: int
    title: str
    query: str
    person: str  # as shown
    address: str


@pages.get("/lecture")
def show() -> str:
    """Return the page with the list of slides and the keys."""
    site = this_site()
    lecture = _lecture(site)
    items = [_item(site, number, search) for number, search in _slides(lecture).items()]
    return render_template(
        "lecture/show.html", items=items, lecture=lecture, file=NAME, kinds=KINDS
    )


@pages.get("/lecture/<int:number>")
def one(number: int) -> str:
    """Return slide `number`; 0 is the dial, of the first one who searches."""
    site = this_site()
    lecture, look = _lecture(site), read_look(request.args, site)
    every = _slides(lecture)
    if number not in every:
        abort(404, f"There is no slide with that number: {len(every)} are prepared.")
    search = every[number]
    slide = SLIDES[search.shown][1](site, search, look)

    def at(place: int, look: Look) -> str:
        return with_look(url_for("lecture.one", number=place), look) if place in every else ""

    onwards = look.seen(blind=look.blind)
    turns = {
        "next": at(number + 1, onwards),
        "previous": at(number - 1, onwards),
        "blind": at(number, look.seen(blind=not look.blind)) if slide.blinds else "",
        "reveal": at(number, look.seen(blind=True, reveal=not look.reveal))
        if look.blind and slide.blinds
        else "",
    }
    item = _item(site, number, slide.search or search)
    if len(search.users) > 1:  # the columns have their names
        item = item._replace(person="")
    return render_template(
        slide.template,
        item=item,
        note=search.note,
        progress=f"{number} of {len(lecture.searches)}",
        turns=turns,
        look=look,
        **slide.context,
    )


def _slides(lecture: Lecture) -> dict[int, PreparedSearch]:
    """Return the slides by number; 0 is the dial of the first one who searches."""
    named = [search for search in lecture.searches if search.query and search.users][:1]
    opening = [PreparedSearch(search.query, search.users[0], shown="dial") for search in named]
    return dict(enumerate((*opening, *lecture.searches), 1 - len(opening)))


def _lecture(site: Site) -> Lecture:
    """Return the slides that can be shown; those of unknown people become faults."""
    if site.access == PRIVATE:
        abort(404, NOT_HERE)
    prepared = site.prepared()
    if not (site.people or prepared.from_file):
        return Lecture()  # the usual story is about people
    known = [some for some in prepared.searches if site.people.keys() >= {*some.users}]
    fault = "a person who is not here; take one from the search form"
    if not site.people:
        fault = "a person, but nobody can be chosen here; name none"
    skipped = (search for search in prepared.searches if search not in known)
    faults = [f"line {search.line} names {fault}" for search in skipped if search.line]
    return Lecture(tuple(known), (*prepared.faults, *faults), prepared.from_file)


def _item(site: Site, number: int, search: PreparedSearch) -> Item:
    people = " and ".join(site.people[user] for user in search.users)
    title = SLIDES[search.shown][0]
    return Item(number, title, search.query, people, url_for("lecture.one", number=number))

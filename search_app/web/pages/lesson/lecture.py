"""Prepared searches, one after the other, in type that can be read from the back row."""

from __future__ import annotations

from typing import NamedTuple

from flask import Blueprint, abort, render_template, request, url_for

from ....evaluation.relevance import LabelledQuery
from ....measures.relevance import relevant_precision
from ....search.request import COSINE, EVIDENCE
from ....settings import PRIVATE
from ....workspace.lecture import NAME, Lecture, PreparedSearch
from ...question import read_question
from ...site import Site, this_site
from ...views.answering import ask
from ...views.columns import Look, columns, read_look, shown_modes, with_look

pages = Blueprint("lecture", __name__)
SHOWN = 5
REASONED = 4  # results with their reasons, which take more of a projector's page
SNIPPET = 100
HURT = ("none", "group")
TRIED, LEAST = 40, 5  # searches that are tried, and their relevant documents at least
MOST = 3  # columns, unless others are chosen
NO_TRUTH = "Nobody knows here which documents are relevant: the people are not the town’s."
NOT_HERE = "There is no lecture here: people sign in, and their searches are not for an audience."


class Item(NamedTuple):
    """A prepared search in the list."""

    number: int
    query: str
    person: str  # as shown
    address: str


@pages.get("/lecture")
def show() -> str:
    """Return the page with the prepared searches and the keys."""
    site = this_site()
    lecture = _lecture(site)
    items = [_item(site, number, search) for number, search in enumerate(lecture.searches, 1)]
    return render_template(
        "lecture/show.html",
        items=items,
        lecture=lecture,
        file=NAME,
        hurts=url_for("lecture.hurts") if site.truth() else "",
    )


@pages.get("/lecture/<int:number>")
def one(number: int) -> str:
    """Return prepared search `number` as a comparison in large type."""
    site = this_site()
    lecture, look = _lecture(site), read_look(request.args, site)
    if not 1 <= number <= len(lecture.searches):
        abort(404, f"There is no search with that number: {len(lecture.searches)} are prepared.")
    search = lecture.searches[number - 1]
    question = read_question({"q": search.query, "user": search.user}, site)
    modes = shown_modes(site, question, look, MOST)
    # Not counted in the log: the lecturer shows this search, and no person has made it.
    outcome = ask(site, question, False, modes)
    documents = len(outcome.answers["none"].ranking)
    count = len(lecture.searches)

    def at(place: int, look: Look) -> str:
        there = url_for("lecture.one", number=place)
        return with_look(there, look) if 1 <= place <= count else ""

    onwards = look.seen(blind=look.blind)
    turns = {
        "next": at(number + 1, onwards),
        "previous": at(number - 1, onwards),
        "blind": at(number, look.seen(blind=not look.blind)),
        "reveal": at(number, look.seen(blind=True, reveal=not look.reveal)) if look.blind else "",
    }
    return render_template(
        "lecture/one.html",
        item=_item(site, number, search),
        count=len(lecture.searches),
        turns=turns,
        columns=columns(site, question, outcome, modes, look, SHOWN, SNIPPET, why=False),
        look=look,
        notices=outcome.notices,
        syntax=None,  # a prepared search is always read in the usual way
        found=documents,
        shown=min(SHOWN, documents),
    )


@pages.get("/lecture/hurts")
def hurts() -> str:
    """Return a search that personalization harms: in plain order, by likeness, and on evidence."""
    site = this_site()
    _lecture(site)
    harmed = _harmed(site)
    if harmed is None:
        abort(404, NO_TRUTH)
    search, before, after = harmed
    question = read_question({"q": search.topic.query, "user": search.topic.user}, site)
    made = []
    for ranking, name in ((COSINE, "by likeness"), (EVIDENCE, "on evidence")):
        by = question.but(rule=question.rule._replace(ranking=ranking))
        outcome = ask(site, by, False, HURT)
        plain, group = columns(site, by, outcome, HURT, Look(), REASONED, SNIPPET)
        made += [plain] * (ranking == COSINE)
        made.append(group._replace(name=f"{group.name}, {name}"))
    return render_template(
        "lecture/hurts.html",
        query=search.topic.query,
        person=site.people.get(search.topic.user, ""),
        about=", ".join(sorted(search.labels)).replace("-", " "),
        before=before,
        after=after,
        columns=made,
        shown=REASONED,
    )


def _harmed(site: Site) -> tuple[LabelledQuery, float, float] | None:
    """Return the search off its person's interests that likeness harms most, and both its AP."""
    truth = site.truth()
    worst: tuple[LabelledQuery, float, float] | None = None
    if truth is None:
        return worst
    searches = [one for one in truth.relevance.queries if one.kind == "off"]
    known = [one for one in searches if site.modes.row_for(one.topic.user)]
    for search in known[:TRIED]:
        query, user = search.topic.query, search.topic.user
        answers = site.modes.answers(query, HURT, user, pool=site.settings.pool)
        orders = [site.modes.engine.ids(answer.ranking.rows) for answer in answers]
        marks = [truth.relevance.relevant(search, ids) for ids in orders]
        if marks[0].sum() < LEAST:
            continue
        before, after = (float(relevant_precision(some)) for some in marks)
        if worst is None or before - after > worst[1] - worst[2]:
            worst = search, before, after
    return worst


def _lecture(site: Site) -> Lecture:
    """Return the searches that can be shown; those of unknown people become faults."""
    if site.access == PRIVATE:
        abort(404, NOT_HERE)
    prepared = site.prepared()
    if not prepared.searches and not prepared.from_file:
        return Lecture(
            tuple(PreparedSearch(example.query, example.user) for example in site.examples)
        )
    known = [some for some in prepared.searches if not some.user or some.user in site.people]
    fault = "a person who is not here; take one from the search form"
    if not site.people:
        fault = "a person, but nobody can be chosen here; name none"
    skipped = (search for search in prepared.searches if search not in known)
    faults = [f"line {search.line} names {fault}" for search in skipped]
    return Lecture(tuple(known), (*prepared.faults, *faults), prepared.from_file)


def _item(site: Site, number: int, search: PreparedSearch) -> Item:
    person = site.people.get(search.user, "")
    return Item(number, search.query, person, url_for("lecture.one", number=number))

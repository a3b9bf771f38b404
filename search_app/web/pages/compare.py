"""The page that shows the rankings of one pool side by side."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from ...disclosure.disclosure import RankingFacts
from ...measures.precision import DEPTH
from ..question import address, counts, device_address, rankings, read_question, syntax
from ..site import this_site
from ..views.answering import ask
from ..views.columns import (
    boxes,
    columns,
    read_look,
    shown_modes,
    with_look,
)
from ..views.dial import first_page
from ..views.verdict import verdict_on

pages = Blueprint("compare", __name__)
SHOWN = 10
POOLS = (50, 100, 200, 500, 1000)


@pages.get("/compare")
def show() -> str:
    """Return the page of rankings side by side."""
    site = this_site()
    question, look = read_question(request.args, site), read_look(request.args, site)
    if not question.query:
        return render_template("search/start.html", question=question, **first_page(site))
    modes = shown_modes(site, question, look)
    outcome = ask(site, question, counts(request), modes)
    group = outcome.answers.get("group")
    documents = len(outcome.answers["none"].ranking)
    made = columns(site, question, outcome, modes, look, SHOWN)
    # While names are hidden, the facts would tell that a column is the group's.
    served = group if group and not (look.hidden or group.foreign) else None
    figures = RankingFacts([])
    if served:
        figures = site.shown().facts_of_ranking(
            question.user, served.users, fallback=served.fallback
        )
    here, same = address("compare.show", question, site), look.seen(blind=look.blind)
    switches = {
        "hide": with_look(here, look.seen(blind=True)),
        "reveal": with_look(here, look.seen(blind=True, reveal=True)),
        "open": with_look(here, look.seen(blind=False)),
    }
    pools = [
        (pool, with_look(address("compare.show", question.but(pool=pool), site), same))
        for pool in sorted({*POOLS, question.pool})
    ]
    return render_template(
        "compare/show.html",
        question=question,
        look=look,
        device=device_address(question, site),
        switches=switches if len(made) > 1 else {},
        notices=outcome.notices,
        syntax=syntax(site, question, "compare.show"),
        milliseconds=outcome.milliseconds,
        found=documents,
        depth=min(DEPTH, documents),
        shown=min(SHOWN, documents),
        columns=made,
        verdict="" if look.hidden else verdict_on(site, question.user, outcome, modes),
        boxes=boxes(site, modes),
        pools=pools,
        rankings=rankings(site, question, "compare.show") if len(made) > 1 else [],
        figures=figures,
    )

"""The page that shows the rankings of one pool side by side."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Blueprint, render_template, request

from ...disclosure.disclosure import RankingFacts
from ...measures.precision import DEPTH
from ..question import Question, address, counts, device_address, rankings, read_question, syntax
from ..site import Site, this_site
from ..views.answering import ask
from ..views.columns import (
    ComparedRanking,
    boxes,
    columns,
    read_look,
    shown_modes,
    with_look,
)
from ..views.verdict import Closeness, verdict

pages = Blueprint("compare", __name__)
SHOWN = 10
POOLS = (50, 100, 200, 500, 1000)


@pages.get("/compare")
def show() -> str:
    """Return the page of rankings side by side."""
    site = this_site()
    question, look = read_question(request.args, site), read_look(request.args, site)
    if not question.query:
        return render_template("search/start.html", question=question)
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
        verdict=_verdict(site, question, made, modes, documents, group.users if group else None),
        boxes=boxes(site, modes),
        pools=pools,
        rankings=rankings(site, question, "compare.show") if len(made) > 1 else [],
        figures=figures,
    )


def _verdict(
    site: Site,
    question: Question,
    made: Sequence[ComparedRanking],
    modes: Sequence[str],
    size: int,
    users: int | None,
) -> str:
    """Return how close the groups' rankings come; empty while the columns have no names."""
    by_name = {site.name_of(mode): mode for mode in modes}
    near = [
        (
            column.kind,
            Closeness(
                *(column.precision.ap, column.agreement.overlap),
                *(mode.partition(":")[2], site.words_of(mode, question.user)),
            ),
        )
        for column in made
        if column.precision and column.agreement and (mode := by_name[column.name])
    ]
    groups = sorted((close for of, close in near if of == "group"), key=lambda c: c.release)
    plain = next((close for of, close in near if of == "none"), None)
    return verdict(plain, groups, size, users) if plain else ""

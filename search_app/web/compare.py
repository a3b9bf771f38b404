"""The rankings of one pool side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from flask import Blueprint, render_template, request

from ..evaluation import DEPTH
from .answering import Outcome, ask
from .columns import Column, Look, boxes, columns, further_of, read_look, shown_modes, with_look
from .facts import privacy_facts
from .question import Question, address, counts, device_address, read_question
from .site import Site, this_site
from .syntax import syntax
from .verdict import Closeness, verdict

pages = Blueprint("compare", __name__)
SHOWN = 10
POOLS = (50, 100, 200, 500, 1000)


class Choice(NamedTuple):
    """Another pool to compare over."""

    pool: int
    address: str
    chosen: bool


@pages.get("/compare")
def show() -> str:
    """Show the rankings side by side."""
    site = this_site()
    question, look = read_question(request.args, site), read_look(request.args, site)
    if not question.query:
        return render_template("search/start.html", question=question)
    modes = shown_modes(site, question, look)
    outcome = ask(site, question, counts(request), further_of(modes))
    return render_template("compare/show.html", **_view(site, question, outcome, modes, look))


def _view(
    site: Site, question: Question, outcome: Outcome, modes: tuple[str, ...], look: Look
) -> dict[str, Any]:
    group = outcome.answers.get("group")
    found = len(outcome.answers["none"].ranking)
    made = columns(site, question, outcome, modes, look, SHOWN)
    return {
        "question": question,
        "look": look,
        "device": device_address(question, site),
        "switches": _switches(site, question, look) if len(made) > 1 else {},
        "notices": outcome.notices,
        "syntax": syntax(site, question, "compare.show"),
        "milliseconds": outcome.milliseconds,
        "found": found,
        "depth": min(DEPTH, found),
        "shown": min(SHOWN, found),
        "columns": made,
        "verdict": _verdict(site, made, modes, found, group.users if group else None),
        "boxes": boxes(site, modes),
        "pools": _pools(site, question, look),
        "facts": privacy_facts(site.facts, group.users, spare=group.spare)
        if group and not look.hidden
        else [],
    }


def _verdict(
    site: Site, made: Sequence[Column], modes: tuple[str, ...], found: int, users: int | None
) -> str:
    """Say how close the groups shown come; nothing while which is which is hidden."""
    by_name = {site.name_of(mode): mode for mode in modes}
    near = [
        (each.kind, _closeness(site, by_name[each.name], each.precision.ap, each.agreement.overlap))
        for each in made
        if each.precision and each.agreement
    ]
    groups = sorted((close for of, close in near if of == "group"), key=lambda c: c.release)
    plain = next((close for of, close in near if of == "none"), None)
    return verdict(plain, groups, found, users) if plain else ""


def _closeness(site: Site, mode: str, ap: float, overlap: int) -> Closeness:
    return Closeness(ap, overlap, mode.partition(":")[2], site.lone(mode) is not None)


def _switches(site: Site, question: Question, look: Look) -> dict[str, str]:
    """Return where which column is which is hidden, shown in the same order, and open again."""
    here = address("compare.show", question, site)
    return {
        "hide": with_look(here, look.seen(blind=True)),
        "reveal": with_look(here, look.seen(blind=True, reveal=True)),
        "open": with_look(here, look.seen(blind=False)),
    }


def _pools(site: Site, question: Question, look: Look) -> list[Choice]:
    return [
        Choice(
            pool,
            with_look(
                address("compare.show", question.over(pool), site), look.seen(blind=look.blind)
            ),
            pool == question.pool,
        )
        for pool in sorted({*POOLS, question.pool})
    ]

"""Everything that is kept of a person, for them to take along."""

from __future__ import annotations

import json
from typing import Any

from ..own_view import OwnTerm, OwnView
from .own_facts import own_facts
from .own_page import ledger_of
from .promise import promise_of
from .site import Site


def download(site: Site, user: str, view: OwnView | None) -> dict[str, Any]:
    """Return everything kept of a person, ready to be written as JSON."""
    choices = site.store.choices(user)
    terms = [] if view is None else [_told(each) for each in view.terms]
    group = view.group if view else None
    row = group and {"row": group.row.name, "users": group.row.users, "terms": group.row.weights}
    facts = [] if view is None else own_facts(view, promise_of(site.modes.release), ledger_of(site))
    return {
        "terms": terms,
        "row": row,
        "facts": [fact._asdict() for fact in facts],
        "choices": {"paused": choices.paused, "remember": choices.remember},
        "searches": [
            {"query": each.query, "mode": each.mode, "at": each.at}
            for each in site.store.searches(user)
        ],
        "last_requests": {
            mode: json.loads(request.as_bytes().decode("utf-8", "surrogatepass"))
            for mode, request in site.transcripts.of(user).items()
        },
    }


def _told(each: OwnTerm) -> dict[str, Any]:
    origin = each.origin
    return {
        "term": each.term,
        "weight": each.weight,
        "searches": origin.times if origin else None,
        "first": origin.first if origin else None,
        "last": origin.last if origin else None,
        "row_weight": each.released,
        "only_mine": None if each.people is None else each.only_mine,
    }

"""A village whose people share interests, two releases of their profiles, and a site of both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anonymizer.model import Profiles, Release, row_names
from anonymizer.promise import AVERAGE, Promise
from search_app.search.modes import Modes
from search_app.web import Site

PEOPLE, TERMS, GROUP = 60, 320, 5
LIMIT = 0.1
Rows = dict[str, dict[str, float]]


def profiles_of(seed: int = 0) -> Rows:
    """Draw people by fives: those of one group have half of their terms from the same twenty."""
    rng = np.random.default_rng(seed)
    names = np.array([f"term{at:03d}" for at in range(TERMS)])
    common = 1 / np.arange(20, TERMS + 20)
    rows = {}
    for person in range(PEOPLE):
        if person % GROUP == 0:
            shared = rng.choice(TERMS, 20, replace=False)
        own = {*rng.choice(shared, 12, replace=False).tolist()}
        own |= {*rng.choice(TERMS, 18, replace=False, p=common / common.sum()).tolist()}
        rows[f"u{person:02d}"] = {str(names[at]): 1.0 for at in sorted(own)}
    return rows


def released(people: Rows, limit: float | None = None) -> Release:
    """Return the groups' shares; with a limit, shares that differ from all people's by no more."""
    usual = {
        term: sum(term in row for row in people.values()) / len(people)
        for row in people.values()
        for term in row
    }
    users, rows = [*people], {}
    for at, name in enumerate(row_names(PEOPLE // GROUP, set(people))):
        members = [people[user] for user in users[GROUP * at : GROUP * at + GROUP]]
        shares = {term: sum(term in row for row in members) / GROUP for term in usual}
        if limit is not None:
            for term, share in shares.items():
                shares[term] = min(max(share, usual[term] - limit), usual[term] + limit)
        rows[name] = {term: share for term, share in shares.items() if share > 0}
    promise = AVERAGE if limit is None else Promise("group", "belief")
    row_of = np.arange(PEOPLE) // GROUP
    given = {"p": 0.5 if limit is None else limit}
    return Release(
        Profiles.from_rows(rows), tuple(users), row_of, "village", given, promise=promise
    )


def at_village(site: Site, **changes: Any) -> Site:
    """Return `site` with the village's people and releases."""
    village = profiles_of()
    release, further = released(village), {"bound": released(village, LIMIT)}
    modes = Modes(site.modes.engine, Profiles.from_rows(village), release, further=further)
    people = {user: f"Name {user} · <tea>, maps" for user in village}
    further_names = {"group:bound": "bound"}
    return replace(site, modes=modes, people=people, further=further_names, **changes)

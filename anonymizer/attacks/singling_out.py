"""singling-out: someone who reads only the rows describes a person so that nobody else fits."""

from __future__ import annotations

import numpy as np

from .attacked import ROUNDING, Attacked, AttackResult, Named
from .intervals import Estimate, exact, wilson
from .reading import aligned, cells_at

_MOST = 1 / np.e  # of describing by chance, whatever is described: n · 1/n · (1 - 1/n)^(n - 1)


def singling_out(target: Attacked) -> list[AttackResult]:
    """Return how often "has this term" describes exactly one person, by the rows of `target` alone.

    The attacker knows no profile. From each row that is a group's, or a person's, the attacker
    takes the term of which the rows of all people publish least, and says: exactly one person has
    it. Without any data such a sentence is right with a chance of 37 % at best. It also counts
    how many people have a published term that nobody else has, and how few people stand behind a
    row: of k people each one is right with a chance of 1/k, which k promises.
    """
    named, raw = Named("singling-out"), target.raw
    return [
        named.result("one sentence a row, right", _sentences(target), _sentences(raw)),
        named.result("the same by chance, at best", exact(_MOST), exact(_MOST)),
        named.result("people with a published term of their own", _singled(target), _singled(raw)),
        named.result(
            "naming the person behind a row, smallest row",
            exact(_largest_chance(target)),
            exact(1.0),
            _promised(target),
        ),
    ]


def _sentences(target: Attacked) -> Estimate:
    """Return the share of rows whose rarest published term belongs to exactly one person."""
    view, groups = target.view, target.release.groups
    # As it stands there: this attacker has no totals to correct it by.
    published = aligned(target.profiles, target.release)[:groups]
    mass = view.sizes[:groups].astype(float) @ published
    owners = np.bincount(target.own.indices, minlength=mass.size)
    right, rows = 0.0, 0
    for row in range(groups):
        terms = published.indices[published.indptr[row] : published.indptr[row + 1]]
        if terms.size:  # equally rare terms are chosen at random
            rarest = terms[mass[terms] <= mass[terms].min() + ROUNDING]
            right += float(np.mean(owners[rarest] == 1))
            rows += 1
    return wilson(right, rows) if rows else exact(0.0)


def _singled(target: Attacked) -> Estimate:
    """Return the share of people who have a term that their row publishes and nobody else has."""
    view, columns = target.view, target.own.tocsc()
    terms = np.flatnonzero(np.diff(columns.indptr) == 1)
    person = columns.indices[columns.indptr[terms]]
    terms, person = terms[view.row_of[person] >= 0], person[view.row_of[person] >= 0]
    stands = cells_at(view.rows, view.row_of[person], terms) > 0
    return wilson(np.unique(person[stands]).size, view.served.size)


def _largest_chance(target: Attacked) -> float:
    return float(1 / target.view.sizes[: target.release.groups].min())


def _promised(target: Attacked) -> float | None:
    """Return 1/k, where the release of `target` promises k people behind each row."""
    k, promise = target.release.number("k"), target.release.promise
    promised = promise.behind == "group" and promise.bounds != "nothing"
    return 1 / k if k and promised else None

"""inference: someone who has learnt which row is a victim's names the victim's terms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from .attacked import (
    BEST,
    CLAIMED,
    GAINED,
    ROUNDING,
    Attacked,
    AttackResult,
    Named,
    beyond,
    claimed_beyond,
    cohorts,
    paired,
    right_guesses,
)
from .intervals import Estimate, exact, mean, ratio
from .learning import Guesses, guessed, thirds
from .reading import View, cells_at, largest_change, true_shares

_DIGITS = 12  # published values that agree in these are equal


def inference(target: Attacked) -> list[AttackResult]:
    """Return what a row of `target` tells of the terms of a victim who is served by it.

    The attacker knows the victim's row, all rows and how many people have each term. "Column" is
    an attacker who reads each term by itself and believes what the row publishes of it. "Naive
    Bayes" also knows `known` terms of the victim, and has learnt from other people's profiles which
    terms go together. "Boosting" has learnt the same and how rows and profiles hang together, from
    other people whose rows are known: rows are dealt into three parts, one to learn which terms go
    together, one to train on, and one of victims. A term is claimed if its chance is more than p
    above its share of all people. "Prior" guesses the most common terms for everybody.

    On columns rests the promise of a bound on belief, every-term or average, and all people count.
    """
    results = columns(target)
    parts = thirds(target)
    for count in (0, *dict.fromkeys(target.known)):
        named = Named("inference", count, target.choice if count else None)
        of_release, of_raw = (_learnt(one, parts, count) for one in (target, target.raw))
        results += paired(named, of_release, of_raw)
    return results


def columns(target: Attacked) -> list[AttackResult]:
    """Return what columns alone tell of members of the rows of `target`: the bounds, and claims."""
    return [*_bounds(target), *_by_column(target)]


def _by_column(target: Attacked) -> list[AttackResult]:
    """Return what columns let someone claim of everybody who has a row."""
    both = []
    for one in (target, target.raw):
        view, people = one.view, one.view.served
        # Absence may raise a chance as well, where common terms are suppressed.
        raised = np.flatnonzero(view.absent - view.prior > target.p + ROUNDING)
        cells = _beyond(view, raised, target.p)[view.row_of[people]]
        rng = target.rng("inference")
        claims = beyond(csr_matrix(cells), target.own[people], view.prior, rng)
        both.append({f"column: {name}": value for name, value in claims.items()})
    return paired(Named("inference", 0), both[0], both[1])


def rising(view: View) -> csr_matrix:
    """Return rows x terms of `view`: 1 where the row's column raises belief in the term."""
    return _beyond(view, np.flatnonzero(view.absent - view.prior > ROUNDING), 0.0)


def _beyond(view: View, raised: Ints, p: float) -> csr_matrix:
    """Return rows x terms of `view`: 1 where it is claimed; `raised` terms are where absent."""
    rows = view.rows
    claimed = claimed_beyond(rows, view.prior, p)
    if raised.size:
        lacking = np.ones((rows.shape[0], raised.size)) - (rows[:, raised].toarray() > 0)
        place = csr_matrix(
            (np.ones(raised.size), (np.arange(raised.size), raised)),
            shape=(raised.size, rows.shape[1]),
        )
        claimed = csr_matrix(claimed + csr_matrix(lacking) @ place)
    return claimed


# -- what is promised of columns -------------------------------------------------------------------


def _bounds(target: Attacked) -> list[AttackResult]:
    """Return the figures that promises speak of, each counted over everybody."""
    named, raw, p = Named("inference", 0), target.raw, target.release.number("p")
    bounds = target.release.promise.bounds
    return [
        named.result(
            measure,
            exact(of(target)),
            exact(of(raw)),
            (0.0 if of is _off else p) if bounds == kind else None,
        )
        for measure, kind, of in (
            ("column: largest published change of belief", "belief", _published_change),
            ("column: largest real change of belief", "belief", _real_change),
            ("column: published share off the real one, largest", "belief", _off),
            ("members who have a released term, largest share", "every-term", _released_share),
            ("mean profile over a row's distinct terms, largest", "average", _average),
        )
    ]


def _published_change(target: Attacked) -> float:
    views = [one.view for one in cohorts(target)]
    return max(largest_change(view.rows, view.rows, view.prior) for view in views)


def _real_change(target: Attacked) -> float:
    """Return the largest change from the prior among all people whose rows publish one value."""
    return max(_among_equals(one.view)[0] for one in cohorts(target))


def _off(target: Attacked) -> float:
    """Return how far the real share of these people may be from the published value."""
    return max(_among_equals(one.view)[1] for one in cohorts(target))


def _among_equals(view: View) -> tuple[float, float]:
    """Return how far real shares are from the prior, and from what is published, at most."""
    members = np.bincount(view.row_of[view.served], minlength=view.sizes.size).astype(float)
    published = view.rows.tocsc()
    real, column = (
        view.counts.tocsc(),
        np.repeat(np.arange(view.prior.size), np.diff(published.indptr)),
    )
    # Means of pools are floats that may differ in their last digit.
    values = np.round(published.data, _DIGITS)
    counts = cells_at(view.counts, published.indices, column)
    order = np.lexsort((values, column))
    values, columns = values[order], column[order]
    new = np.ones(values.size, dtype=bool)
    new[1:] = (values[1:] != values[:-1]) | (columns[1:] != columns[:-1])
    kind = np.cumsum(new) - 1
    having = np.bincount(kind, weights=counts[order])
    people = np.bincount(kind, weights=members[published.indices[order]])
    shares = having / people
    changes = np.abs(shares - view.prior[columns[new]])
    off = np.abs(shares - values[new])
    # People whose row does not have the term are one more group with equal values.
    others = members.sum() - np.bincount(column, members[published.indices], view.prior.size)
    rest = np.asarray(real.sum(axis=0)).ravel() - np.bincount(column, counts, view.prior.size)
    rest = (rest / np.maximum(others, 1))[others > 0]
    lacking = np.abs(rest - view.prior[others > 0])
    change = max(changes.max(initial=0.0), lacking.max(initial=0.0))
    return float(change), float(max(off.max(initial=0.0), rest.max(initial=0.0)))


def _released_share(target: Attacked) -> float:
    view = target.view
    stands = view.rows.copy()
    stands.data[:] = 1
    return float(true_shares(view).multiply(stands).max())


def _average(target: Attacked) -> float:
    views = [one.view for one in cohorts(target)]
    return max(
        float(view.counts.sum() / view.served.size / np.diff(view.counts.indptr).min())
        for view in views
    )


# -- what others' profiles teach -------------------------------------------------------------------


def _learnt(target: Attacked, parts: Sequence[Ints], count: int) -> dict[str, Estimate | None]:
    """Return what attackers who know `count` terms make of the rows of `target`."""
    guesses = guessed(target, parts, count)
    if guesses is None:
        return {}
    rng, values = target.rng("inference"), dict[str, Estimate | None]()
    for name, chance in guesses.chances.items():
        for best in BEST:
            right = right_guesses(guesses.cells, chance, best)
            values[f"{name}: precision of the {best} best guesses"] = mean(right, rng)
        if name not in ("prior", "column"):
            claims = _claims(guesses, chance, target.p, rng)
            values |= {f"{name}: {measure}": value for measure, value in claims.items()}
    return values


def _claims(
    guesses: Guesses, chance: Floats, p: float, rng: np.random.Generator
) -> dict[str, Estimate | None]:
    people, person, prior, has = guesses.cells
    claimed = (chance - prior > p + ROUNDING).astype(float)
    right, gain, claims = (
        np.bincount(person, claimed * part, people).astype(np.float64)
        for part in (has, has - prior, np.ones(has.size))
    )
    return {CLAIMED: ratio(right, guesses.own, rng), GAINED: ratio(gain, claims, rng)}

"""What an attacker learns from other people's profiles: which terms go together, by scikit-learn.

Rows are dealt into three parts, so that nobody shares a row with people of another part. The first
teaches which terms go together, the second how a chance follows from that, the third has victims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from ..arrays import Floats, Ints
from .attacked import Attacked, GuessedCells
from .reading import LEAST, View

_PARTS = 3
_PRIOR_WEIGHT = 20.0  # people who are added to the owners of a term, with terms as in the prior
_CELLS = 60_000  # that boosting trains on
_EDGE = 1e-6  # of chances: beyond it logarithms would drown all else


class Guesses(NamedTuple):
    """Terms that may be victims', and who believes what of them."""

    cells: GuessedCells
    own: Floats  # victim -> terms that the attacker does not know yet
    chances: Mapping[str, Floats]  # by attacker: cell -> chance that the victim has the term


class _Seen(NamedTuple):
    """Cells of a person and a term, with what an attacker can see of them."""

    person: Ints
    term: Ints
    chance: Floats  # by the row's column
    company: Floats  # how well the term goes with the others of the row
    evidence: Floats  # log odds that the known terms add
    has: Floats


def guessed(target: Attacked, parts: Sequence[Ints], count: int) -> Guesses | None:
    """Return guesses about victims of `target`, `count` of whose terms are known.

    The `parts` are people: to learn which terms go together, to train on, and victims. Return None
    if there are too few of them.
    """
    if min(part.size for part in parts) == 0:
        return None
    view, teachers = target.view, target.own[parts[0]]
    trained, victims = (target.drawn(part) for part in parts[1:])
    training, test = (_cells(target, part, count, teachers) for part in (trained, victims))
    if not training.person.size or not test.person.size:
        return None
    prior = view.prior[test.term]
    odds = _logit(test.chance) + test.evidence
    chances = {
        "prior": prior,
        "column": test.chance,
        "naive Bayes": 1 / (1 + np.exp(-odds)),
        "boosting": _boosted(training, test, view, target.seed),
    }
    if not count:  # without known terms it is the column
        del chances["naive Bayes"]
    size = int(test.person.max()) + 1
    own = target.profiles.sizes[victims][target.profiles.sizes[victims] >= count] - count
    cells = GuessedCells(size, test.person, prior, test.has)
    return Guesses(cells, own[:size].astype(float), chances)


def thirds(target: Attacked) -> list[Ints]:
    """Return the people of each third of the rows of `target`; of people, if rows are too few."""
    row_of, served = target.view.row_of, target.view.served
    unit = row_of[served]
    if np.unique(unit).size < _PARTS:
        unit = served
    numbers, inverse = np.unique(unit, return_inverse=True)
    part = target.rng("parts").permutation(numbers.size) % _PARTS
    return [served[part[inverse] == number] for number in range(_PARTS)]


def _cells(target: Attacked, people: Ints, count: int, teachers: csr_matrix) -> _Seen:
    """Return the terms that may be those of `people`, but for the `count` that are known."""
    people, known = target.knowing(people, count)
    view, parts = target.view, []
    totals = np.bincount(teachers.indices, minlength=teachers.shape[1]).astype(np.float64)
    columns = teachers.tocsc()
    company = _company(view, np.unique(view.row_of[people]), teachers, totals)
    for number, person in enumerate(people.tolist()):
        row = int(view.row_of[person])
        learnt = known.indices[known.indptr[number] : known.indptr[number + 1]].astype(np.int64)
        terms, chance = view.believed(row)
        new = np.isin(terms, learnt, invert=True)
        terms, chance = terms[new], chance[new]
        own = np.zeros(view.prior.size)
        own[target.own.indices[target.own.indptr[person] : target.own.indptr[person + 1]]] = 1
        evidence = _evidence(teachers, columns, totals, learnt)
        parts.append(
            (
                np.full(terms.size, number),
                terms,
                chance,
                company[row][terms],
                evidence[terms],
                own[terms],
            )
        )
    return _Seen(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _company(view: View, rows: Ints, teachers: csr_matrix, totals: Floats) -> dict[int, Floats]:
    """Return for each of `rows` how well each term goes with the row's other terms.

    It is the sum over these of how much more than usual the row publishes, times the cosine of both
    terms among `teachers`.
    """
    scale = 1 / np.sqrt(np.maximum(totals, 1))
    unit = csr_matrix(teachers.multiply(scale))
    company = {}
    for row in rows.tolist():
        low, high = view.rows.indptr[row], view.rows.indptr[row + 1]
        terms, beyond = view.rows.indices[low:high], view.rows.data[low:high]
        beyond = beyond - view.prior[terms]
        more = np.zeros(view.prior.size)
        more[terms] = beyond
        sums = unit.T @ (unit @ more)
        sums[terms] -= beyond * (totals[terms] > 0)  # a term's cosine with itself
        company[row] = sums
    return company


def _evidence(teachers: csr_matrix, columns: csc_matrix, totals: Floats, known: Ints) -> Floats:
    """Return the log odds that each of `known` terms adds to each term, summed up.

    `columns` are the same as `teachers`, by terms.
    """
    people, evidence = teachers.shape[0], np.zeros(totals.size)
    for term in known.tolist():
        having = columns.indices[columns.indptr[term] : columns.indptr[term + 1]]
        both = np.asarray(teachers[having].sum(axis=0)).ravel()
        usual = _PRIOR_WEIGHT * (having.size + 1) / (people + 2)
        among = (both + usual) / (totals + _PRIOR_WEIGHT)
        else_ = (having.size - both + usual) / (people - totals + _PRIOR_WEIGHT)
        evidence += np.log(np.clip(among, _EDGE, None)) - np.log(np.clip(else_, _EDGE, None))
    return evidence


def _boosted(training: _Seen, test: _Seen, view: View, seed: int) -> Floats:
    """Return the chance of each cell of `test` by gradient boosting, from those of `training`."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    # Cells are drawn, not people: those of one person are too alike.
    some = np.arange(training.has.size)
    if some.size > _CELLS:
        some = np.sort(np.random.default_rng(seed).choice(some, _CELLS, replace=False))
    if np.unique(training.has[some]).size < 2:
        return test.chance
    model = HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=15, early_stopping=False, random_state=seed % 2**32
    )
    # On a busy machine threads that wait for one another take many times as long as one alone.
    with threadpool_limits(1):
        model.fit(_features(training, view)[some], training.has[some])
        chance: Floats = model.predict_proba(_features(test, view))[:, 1]
    return chance


def _features(cells: _Seen, view: View) -> Floats:
    prior = np.maximum(view.prior[cells.term], LEAST)
    seen = (_logit(cells.chance), np.log(prior), cells.company, cells.evidence)
    return np.column_stack(seen)


def _logit(chances: Floats) -> Floats:
    bounded = np.clip(chances, _EDGE, 1 - _EDGE)
    return np.log(bounded) - np.log1p(-bounded)

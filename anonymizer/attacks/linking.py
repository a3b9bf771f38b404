"""linking: someone who knows a few terms of a person names this person's row."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from .attacked import Attacked, AttackResult, Named, paired
from .intervals import Estimate, wilson
from .reading import LEAST, View

TOPS = (1, 5)


def linking(target: Attacked) -> list[AttackResult]:
    """Return how often the victim's row is the attacker's first guess, or one of the first five.

    The attacker knows `known` terms of the victim, all rows of `target`, how many people each row
    serves and how many people have each term. The rows are ordered by the likelihood of the known
    terms. Rows that are equally likely are guessed in random order: of four such rows the first
    guess is right with a chance of 1/4, and so it is counted.
    """
    results, drawn = [], target.drawn()
    for count in dict.fromkeys(target.known):
        if np.any(target.profiles.sizes[drawn] >= count):
            named = Named("linking", count, target.choice)
            of_release, of_raw = (_tops(one, drawn, count) for one in (target, target.raw))
            results += paired(named, of_release, of_raw)
    return results


def _tops(target: Attacked, drawn: Ints, count: int) -> dict[str, Estimate | None]:
    victims, known = target.knowing(drawn, count)
    right = linked(target.view, victims, known)
    return {
        f"top-{top}": wilson(float(right[:, at].sum()), victims.size) for at, top in enumerate(TOPS)
    }


def linked(view: View, victims: Ints, known: csr_matrix) -> Floats:
    """Return the chance that each of `victims`' rows is among the first guesses, by `known` terms.

    A row for each victim, and a column for each of TOPS guesses, of the rows of `view`.
    """
    right = np.zeros((victims.size, len(TOPS)))
    for people, scores in view.scores(known):
        own = scores[np.arange(people.size), view.row_of[victims[people]]][:, None]
        # Sums of equal logarithms may differ in their last digits.
        margin = LEAST * np.maximum(1.0, np.abs(own))
        better = np.count_nonzero(scores > own + margin, axis=1)
        equal = np.count_nonzero(np.abs(scores - own) <= margin, axis=1)
        for at, top in enumerate(TOPS):
            right[people, at] = np.clip((top - better) / equal, 0, 1)
    return right


def row_odds(view: View, known: csr_matrix) -> Floats:
    """Return people x rows of `view`: the log odds that a row is the person's, by `known` terms.

    `known` has a row for each person. Odds end at 1e9 to 1: what is surer is equally sure.
    """
    odds = np.zeros((known.shape[0], view.sizes.size))
    for people, scores in view.scores(known):
        chance = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
        odds[people] = chance - np.log1p(-np.minimum(np.exp(chance), 1 - LEAST))
    return odds


def likeliest(odds: Floats) -> Floats:
    """Return the chance with which each of `odds` is guessed: one of the highest, by a draw."""
    best = odds >= odds.max() - LEAST * max(1.0, abs(odds.max()))
    shares: Floats = best / best.sum()
    return shares

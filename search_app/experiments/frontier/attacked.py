"""What attackers get from a release, as facts of its unit: the same attacks on every method.

Nothing here asks which method made the release, or what it promises.
"""

from __future__ import annotations

import numpy as np

from anonymizer.arrays import Ints
from anonymizer.attacks import Attacked
from anonymizer.attacks.attacked import cohorts, right_guesses
from anonymizer.attacks.intervals import Estimate, mean, wilson
from anonymizer.attacks.learning import guessed, thirds
from anonymizer.attacks.linking import linked
from anonymizer.attacks.reading import largest_change, true_shares
from anonymizer.measures.indices.releases import privacy_index
from anonymizer.model import Profiles, Release

from ..facts import Facts

KNOWN = 3  # terms of a victim that the linker knows
BEST = 100  # guesses of which the precision is taken
PRECISION, PRIOR, ROW, PERSON, CHANGE = (
    f"attack_{name}" for name in ("precision", "prior", "row", "person", "change")
)
SPI, SERVED = "spi", "share_served"
LOW, HIGH = "_low", "_high"  # the ends of the 95 % interval of a fact


def facts_of_attacks(profiles: Profiles, release: Release, victims: int) -> Facts:
    """Return what attackers of at most `victims` people get from `release` of `profiles`.

    The row of a victim gives away PRECISION: that of the best attacker, PRIOR: that of guesses
    without any row. KNOWN terms give away the ROW, and the PERSON among all who share it.
    """
    # Where profiles are very short, nobody may have enough terms.
    known = min(KNOWN, int(profiles.sizes.max()))
    target = Attacked(profiles, release, known=(known,), victims=victims)
    index = [one.value for one in privacy_index(profiles, release) if one.name == "SPI"]
    return {
        **_inferred(target),
        **_linked(target, known),
        CHANGE: max(_changed(one) for one in cohorts(target)),
        SPI: float(np.mean(index)),
        SERVED: len(release.users) / len(profiles),
    }


def _inferred(target: Attacked) -> Facts:
    """Return how right the best guesses of a victim's terms are, given all rows of `target`."""
    # Without the raw profiles as a control, which would be the same for each release: `own-rows` is
    # a method like any other.
    guesses = guessed(target, thirds(target), 0)
    if guesses is None:
        return {}
    rng = target.rng("inference")
    precisions = {
        name: mean(right_guesses(guesses.cells, chance, BEST), rng)
        for name, chance in guesses.chances.items()
    }
    return {**_fact(PRECISION, max(precisions.values())), PRIOR: precisions["prior"].value}


def _linked(target: Attacked, known: int) -> Facts:
    """Return how often `known` terms of a victim name the row, and the person in it."""
    victims, terms = target.knowing(target.drawn(), known)
    right = linked(target.view, victims, terms)[:, 0]
    among: Ints = target.view.sizes[target.view.row_of[victims]]
    row = wilson(float(right.sum()), victims.size)
    return {**_fact(ROW, row), **_fact(PERSON, mean(right / among, target.rng("linking")))}


def _changed(target: Attacked) -> float:
    """Return how far somebody who reads a column moves from the prior, and rightly, at most.

    Of a row and a term the smaller counts of what is believed and what is true, if both go the same
    way. So noise that is believed counts as little as a truth that no row shows.
    """
    view = target.view
    # A row that lacks a term says something, too.
    return largest_change(view.rows, true_shares(view), view.prior, view.absent)


def _fact(name: str, value: Estimate) -> Facts:
    return {name: value.value, name + LOW: value.low, name + HIGH: value.high}

"""Bags that some members of a cluster match, and not all of them.

A bag that a new member does not match stays in the centre, and an occurrence of the member that
matches no bag opens one, as long as enough people can still match it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Ints, Numbers
from ..similarity.term_distances import TermDistances
from .centres import NOBODY, Centre, joined, opened


def may_lack(members: int, least: int | None) -> int:
    """Return how many of the `members` of a cluster may not match a bag, if `least` must; or 0."""
    return 0 if least is None else members - least


def partly_joined(
    centre: Any, flow: Any, bags: Ints, columns: Ints, own: tuple[Numbers, Ints],
    distances: TermDistances, absent: int,
) -> Centre:  # fmt: skip
    """Return `centre` after `own`, terms and counts, joined, who matched as `flow` says.

    A bag stays unless more than `absent` members do not match it.
    """
    (terms, counts), members = own, centre.terms.shape[1]
    matched: Centre = joined(centre, flow, bags, columns, terms, distances)
    stand, left = centre.stand.copy(), counts.copy()
    stand[bags] -= flow.sum(axis=1)
    stand[(centre.terms == NOBODY).sum(axis=1) >= absent] = 0
    parts = [matched, _widened(_only(centre, stand), after=1)]
    if members <= absent:
        left[columns] -= flow.sum(axis=0)
        there = left > 0
        parts.append(_widened(opened(terms[there], left[there], distances), before=members))
    return _together(parts)


def _only(centre: Centre, stand: Ints) -> Centre:
    """Return `centre` with each bag as often as `stand` says, without bags that stand nowhere."""
    sizes, stays = np.diff(centre.at), stand > 0
    inside, at = np.repeat(stays, sizes), np.append(0, np.cumsum(sizes[stays]))
    near, sums = centre.near[inside], centre.sums[inside]
    return Centre(centre.terms[stays], stand[stays], at, near, sums, centre.within[stays])


def _widened(centre: Centre, *, before: int = 0, after: int = 0) -> Centre:
    """Return `centre` with members `before` and `after` its own, who match nothing."""
    width = ((0, 0), (before, after))
    return centre._replace(terms=np.pad(centre.terms, width, constant_values=NOBODY))


def _together(parts: Sequence[Centre]) -> Centre:
    """Return one centre with the bags of all `parts`."""
    sizes = np.concatenate([np.diff(part.at) for part in parts])
    terms, stand, _, *rest = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Centre(terms, stand, np.append(0, np.cumsum(sizes)), *rest)

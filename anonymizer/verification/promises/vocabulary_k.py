"""What a release by vocabulary-k promises: each slot has a close occurrence of every member.

A row's weight of a term is the number of slots that publish it. Each slot holds one occurrence of
each member, any two of them close, and its term is the typical one. Which people were put together
can't be recounted, and nothing is promised about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ...arrays import Marks
from ..choices import MIN_USERS, MOST, Numbers
from ..files.strict_lines import is_real, is_whole
from ..finding import Findings
from ..tally import Grounds
from ..vocabularies.matching import matched
from ..vocabularies.network import network_of
from ..vocabularies.recount import (
    NUMBERS,
    WORDS,
    judge_of,
    judge_people,
    judge_slots,
    slot_findings,
)
from ..vocabularies.slots import Slots

_LARGEST = 10**6
_WORDS = {
    **WORDS,
    "typical": ("majority", "bags", "generalize"),
    "order": ("size", "input"),
    "anneal": ("true", "false"),
}
_NUMBERS: Numbers = {
    **NUMBERS,
    "eps": (lambda eps: is_real(eps) and eps <= _LARGEST, f"from 0 to {_LARGEST}"),
    "omega": (
        lambda omega: omega is None or (is_real(omega) and 0 < omega <= _LARGEST),
        f"above 0 and at most {_LARGEST}, or null",
    ),
    "model": (lambda model: is_whole(model, 1, 2), "1 or 2"),
    "matchings": (
        lambda n: n is None or is_whole(n, 1, MOST),
        f"a whole number from 1 to {MOST}, or null",
    ),
    **MIN_USERS,
}
# How distances put people together, which no row shows.
_QUOTED = {"omega", "model", "order", "matchings", "anneal"}


def _judge(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether rows and slots of matched vocabularies hold."""
    yield from judge_people(parameters, grounds, once=True)
    slots, findings = judge_slots(grounds, whole=False)
    yield from findings
    network, eps = network_of(parameters, grounds.parts), parameters["eps"]
    own, names = [slots.terms[own] for own in slots.own.tolist()], [*slots.terms, None]
    bags = [tuple(own[low:high]) for low, high in pairwise(slots.ends.tolist())]
    apart = matched(bags, network, only_equal=not eps)
    line = f"has two occurrences that are farther apart than eps={eps:g}"
    good = f"any two occurrences of a slot are at most eps={eps:g} apart"
    far = np.array([apart[bag][0] > eps for bag in bags], dtype=np.bool_)
    yield from slot_findings("eps", {line: far}, slots, good)
    if parameters["typical"] == "majority":
        what = "its term that is closest to the others"
        typical = {bag: term for bag, (_, term) in apart.items()}
    elif parameters["typical"] == "bags":
        what = "all of its terms, each once"
        typical = {bag: "|".join(sorted({*bag})) for bag in apart}
    else:
        what = "the closest word above all of its terms"
        typical = {bag: network.closest(bag) for bag in apart}
    pairs = zip(bags, slots.term.tolist(), strict=True)
    wrong = np.array([typical[bag] != names[term] for bag, term in pairs], dtype=np.bool_)
    faults = {f"does not publish {what}": wrong}
    yield from slot_findings("typical", faults, slots, f"each slot publishes {what}")
    faults = {"names members in another order than its row's first slot": _disordered(slots)}
    yield from slot_findings("order", faults, slots, "slots of a row name members in one order")


def _disordered(slots: Slots) -> Marks:
    """Return marks for the slots whose users stand in another order than in their row's first."""
    _, first, at = np.unique(slots.row, return_index=True, return_inverse=True)
    model = first[at]
    place = np.arange(slots.user.size) - slots.ends[:-1][slots.slot]
    # Slots of a row are equally large here.
    other = slots.user[slots.ends[:-1][model][slots.slot] + place]
    marks: Marks = np.bincount(slots.slot, other != slots.user, slots.row.size) > 0
    return marks


JUDGE = judge_of("vocabulary-k", _judge, _WORDS, _NUMBERS, _QUOTED)

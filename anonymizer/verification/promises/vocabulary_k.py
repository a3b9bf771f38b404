"""What a release by vocabulary-k promises: each slot has a close occurrence of every member.

A row's weight of a term is the number of slots that publish it. Each slot holds one occurrence of
each member, any two of them close, and its term is the typical one. With `members` it holds one of
at least k members. Which people were put together can't be recounted, and nothing is promised about
it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

import numpy as np

from ..choices import MIN_USERS, MOST, Numbers, parameter_faults
from ..files.strict_lines import is_real, is_whole
from ..finding import Findings, row_findings
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
    "members": (
        lambda n: n is None or is_whole(n, 1, MOST),
        f"a whole number from 1 to {MOST}, or null",
    ),
    **MIN_USERS,
}
# How distances put people together, which no row shows.
_QUOTED = {"omega", "model", "order", "matchings", "members", "anneal"}


def _judge(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether rows and slots of matched vocabularies hold."""
    yield from judge_people(parameters, grounds, once=True)
    partial = parameters["members"] is not None
    slots, findings = judge_slots(grounds, least=parameters["k"] if partial else None)
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
    disordered = np.isin(np.arange(grounds.tally.sizes.size), _disordered(slots))
    line = "has slots that name its members in different orders"
    yield from row_findings("order", disordered, line, "slots of a row name members in one order")


def _disordered(slots: Slots) -> list[int]:
    """Return the rows for whose members there is no order in which all of their slots name them."""
    users, rows = slots.user.tolist(), slots.row.tolist()
    ends = pairwise(slots.ends.tolist())
    orders = {(row, tuple(users[low:high])) for row, (low, high) in zip(rows, ends, strict=True)}
    sorters = defaultdict[int, TopologicalSorter[int]](TopologicalSorter)
    for row, order in orders:
        for before, after in pairwise(order):
            sorters[row].add(after, before)
    disordered = []
    for row, sorter in sorters.items():
        try:
            sorter.prepare()
        except CycleError:
            disordered.append(row)
    return disordered


def _faults(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with `parameters`, alone and together."""
    faults = [*parameter_faults(parameters, _WORDS, _NUMBERS)]
    yield from faults
    if not faults and parameters["members"] in range(parameters["k"] + 1):
        yield "members must be more than k, or null"


JUDGE = judge_of("vocabulary-k", _judge, _WORDS, _NUMBERS, _QUOTED)._replace(faults=_faults)

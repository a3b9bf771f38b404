"""What rows of vocabularies promise: what they publish stands for occurrences of k people or more.

A row's weight of a term is the number of slots that publish it. By `vocabulary-k` each slot holds
one occurrence of each member, any two of them close, and its term is the typical one. By
`generalization` each occurrence is at the published node or below it. Which people were put
together can't be recounted, and nothing is promised about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ...arrays import Marks
from ...promise import Promise
from ..choices import MIN_USERS, MOST, Numbers, parameter_faults, people_of_rows
from ..facts import OCCURRENCES, general_facts
from ..files.evidence import SLOTS, TAXONOMY
from ..files.profiles import keys_of
from ..files.strict_lines import is_real, is_whole
from ..finding import PROFILES, Broken, Finding, Findings, row_findings
from ..tally import Grounds
from ..vocabularies.below import below
from ..vocabularies.matching import matching_of
from ..vocabularies.network import network_of
from ..vocabularies.slots import Slots
from .record import Judge
from .rows import find, find_any, marked

Judged = Callable[[Mapping[str, object], Grounds], Findings]
Faults = Callable[[Mapping[str, Any]], Iterator[str]]

_LARGEST = 10**6
_COMMON = {
    "taxonomy": ("wordnet", "given"),
    "senses": ("first", "closest"),
    "count": ("people", "vocabularies"),
}
_WORDS = {
    **_COMMON,
    "typical": ("majority", "bags", "generalize"),
    "order": ("size", "input"),
}
_K: Numbers = {
    "k": (lambda k: is_whole(k, 1, MOST), f"a whole number from 1 to {MOST}"),
}
_NUMBERS: Numbers = {
    **_K,
    "eps": (lambda eps: is_real(eps) and eps <= _LARGEST, f"from 0 to {_LARGEST}"),
    "omega": (
        lambda omega: omega is None or (is_real(omega) and 0 < omega <= _LARGEST),
        f"above 0 and at most {_LARGEST}, or null",
    ),
    "model": (lambda model: is_whole(model, 1, 2), "1 or 2"),
    "matchings": (lambda n: n is None or is_whole(n, 1, MOST), "a whole number, or null"),
    **MIN_USERS,
}
_GENERAL_WORDS = {**_COMMON, "senses": ("first",), "bag": ("true", "false")}
# Which people are close decides who is put together, which no row shows.
_QUOTED = {"omega", "model", "order", "matchings"}


def _judge_matched(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether rows and slots of matched vocabularies hold."""
    yield from _judge_people(parameters, grounds, once=True)
    slots, findings = _judge_slots(grounds, whole=False)
    yield from findings
    network, eps = network_of(parameters, grounds.parts), parameters["eps"]
    matching = matching_of(slots, network, only_equal=not eps)
    line = f"has two occurrences that are farther apart than eps={eps:g}"
    good = f"any two occurrences of a slot are at most eps={eps:g} apart"
    yield from _slot_findings("eps", {line: matching.farthest > eps}, slots, good)
    names, typical = slots.terms, parameters["typical"]
    if typical == "majority":
        wrong, what = matching.typical != slots.term, "its term that is closest to the others"
    else:
        bags = [tuple(sorted(names[own] for own in bag)) for bag in _bags(slots)]
        what = "all of its terms, each once"
        terms = {bag: "|".join(dict.fromkeys(bag)) for bag in {*bags}}
        if typical == "generalize":
            what = "the closest word above all of its terms"
            terms = {bag: network.closest(bag) for bag in terms}
        published = (names[term] for term in slots.term.tolist())
        pairs = zip(bags, published, strict=True)
        wrong = np.array([terms[bag] != term for bag, term in pairs], dtype=np.bool_)
    faults = {f"does not publish {what}": wrong}
    yield from _slot_findings("typical", faults, slots, f"each slot publishes {what}")
    faults = {"names members in another order than its row's first slot": _disordered(slots)}
    yield from _slot_findings("order", faults, slots, "slots of a row name members in one order")


def _judge_general(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether rows and slots of generalized terms hold."""
    whole = parameters["bag"] == "false"
    # Who agrees in all nodes stands in one row, so two sessions of a person may, too.
    yield from _judge_people(parameters, grounds, once=False)
    slots, findings = _judge_slots(grounds, whole=whole)
    yield from findings
    network = network_of(parameters, grounds.parts)
    under = below(slots, network, grounds.people, grounds.group_of, grounds.rows)
    faults = {"has an occurrence that is not below its term": under.stray}
    yield from _slot_findings("terms", faults, slots, "each occurrence is below its slot's term")
    line = "has a term that is above another one of its terms"
    nested = grounds.tally.sure(marked(under.twice, len(grounds.rows.names)))
    yield from row_findings("terms", nested, line, "no term of a row is above another one")
    line, good = "does not hold all that its members have below it", "each slot holds all below it"
    if not whole:
        line = "is published more or less often than each member has a term below it"
        good = "each term is published as often as each member has one below it"
    yield from _slot_findings("slots", {line: under.more_or_less(slots, whole=whole)}, slots, good)


def _judge_people(parameters: Mapping[str, Any], grounds: Grounds, *, once: bool) -> Findings:
    """Yield whether each row stands for k people, each of them `once`; or for k vocabularies."""
    k, people, of = parameters["k"], grounds.tally.sizes, "vocabularies"
    if parameters["count"] == "people":
        of, served = "people", grounds.group_of >= 0
        if grounds.person is not None:
            people = people_of_rows(grounds.person[served], grounds.group_of[served])
            line, twice = "stands for two sessions of one person", people != grounds.tally.sizes
            yield from row_findings("k", once & twice, line, "no row has two sessions of a person")
    line, good = f"stands for fewer than k={k} {of}", f"each row stands for k={k} {of} or more"
    yield from row_findings("k", people < k, line, good)


def _judge_slots(grounds: Grounds, *, whole: bool) -> tuple[Slots, list[Finding]]:
    """Return the slots that can be judged further, and whether they are what rows publish.

    Each must hold one occurrence of each member; one or more, if slots are `whole`.
    """
    slots, tally = _slots_of(grounds), grounds.tally
    nowhere = slots.line[slots.row < 0]
    if nowhere.size:
        raise Broken("slots", f"{SLOTS}, line {nowhere[0]}", "is of a row that there is not")
    # Of a row that has changed since, slots lack what was taken out of profiles.
    slots = slots.of(tally.sure(np.ones_like(tally.sizes, dtype=np.bool_))[slots.row])
    own, often = _own(slots, grounds)
    count = slots.row.size
    holds = np.bincount(slots.slot, own, count) == slots.sizes
    members, users = tally.sizes[slots.row], grounds.group_of.size
    there = slots.user >= 0
    different = np.unique(slots.slot[there] * users + slots.user[there]) // users
    complete = np.bincount(different, minlength=count) == members
    complete &= (slots.sizes == members) | whole
    one = "one occurrence or more" if whole else "exactly one occurrence"
    faults = {
        "stands behind a slot that must come later": slots.late,
        "has an occurrence that no member of its row has": ~holds,
        "uses an occurrence that another slot uses": np.bincount(slots.slot, often, count) > 0,
        f"has not {one} of each member": ~complete,
    }
    good = f"each of {count} slots has {one} of each member, none used twice"
    findings = [*_slot_findings("slots", faults, slots, good), *_judge_weights(slots, grounds)]
    return slots.of(holds & complete), findings


def _judge_weights(slots: Slots, grounds: Grounds) -> Iterator[Finding]:
    """Yield whether rows publish their `slots`: each term as often as there are slots of it."""
    rows, count = grounds.rows, len(grounds.rows.names)
    keys, times = np.unique(slots.row * rows.span + slots.term, return_counts=True)
    at, known = find(keys, rows.keys)
    absent = np.isin(slots.row * rows.span + slots.term, keys[~known]) | (slots.term < 0)
    faults = {"publishes a term that its row lacks": absent}
    yield from _slot_findings("terms", faults, slots, "each slot's term is in its row")
    stands = np.zeros(rows.keys.size, dtype=np.int64)
    stands[at[known]] = times[known]
    row = rows.keys // rows.span
    line, good = "has a term without a slot", "each term of a row has a slot"
    yield from row_findings(
        "terms", grounds.tally.sure(marked(row[stands == 0], count)), line, good
    )
    wrong = (rows.cells.weights != stands) & (stands > 0)
    line = "has a weight that is not the number of its slots"
    good = f"{stands.size} weights are numbers of slots"
    yield from row_findings("weights", grounds.tally.sure(marked(row[wrong], count)), line, good)


def _slots_of(grounds: Grounds) -> Slots:
    """Return the slots of `grounds`; raise Broken if profiles have no counts to be used."""
    weights = (grounds.all_people or grounds.people).cells.weights
    if np.any((weights != np.floor(weights)) | (weights > MOST)):
        raise Broken("weights", PROFILES, "are no counts, so no occurrences can be counted")
    if grounds.slots is None:
        raise Broken("slots", SLOTS, "is missing")
    return grounds.slots


def _own(slots: Slots, grounds: Grounds) -> tuple[Marks, Marks]:
    """Return marks for the occurrences that members of the row have, and have too few of."""
    people, group_of = grounds.people, grounds.group_of
    terms = len(people.terms)
    inside = (slots.user >= 0) & (slots.own >= 0) & (slots.own < terms)
    inside &= group_of[slots.user] == slots.row[slots.slot]
    keys = np.where(inside, slots.user * terms + slots.own, 0)
    at, there = find_any(keys, keys_of(people.cells, terms))
    own = inside & there
    used = np.bincount(at[own], minlength=people.cells.weights.size)
    return own, own & (used > people.cells.weights)[at]


def _disordered(slots: Slots) -> Marks:
    """Return marks for the slots whose users stand in another order than in their row's first."""
    _, first, at = np.unique(slots.row, return_index=True, return_inverse=True)
    model = first[at]
    place = np.arange(slots.user.size) - slots.ends[:-1][slots.slot]
    # Slots of a row are equally large here.
    other = slots.user[slots.ends[:-1][model][slots.slot] + place]
    marks: Marks = np.bincount(slots.slot, other != slots.user, slots.row.size) > 0
    return marks


def _bags(slots: Slots) -> Iterator[list[int]]:
    """Yield the terms of each slot."""
    own, ends = slots.own.tolist(), slots.ends.tolist()
    return (own[low:high] for low, high in pairwise(ends))


def _slot_findings(claim: str, faults: Mapping[str, Marks], slots: Slots, good: str) -> Findings:
    """Yield a finding for each of `faults` that marks some of `slots`; if none does, `good`."""
    lines = {line: slots.line[wrong] for line, wrong in faults.items() if wrong.any()}
    for line, numbers in lines.items():
        count = f"{numbers.size} of {slots.row.size} slots: " if numbers.size > 1 else ""
        yield Finding(claim, False, f"{SLOTS}, line {numbers[0]}", count + line)
    if not lines:
        yield Finding(claim, True, SLOTS, good)


def _facts(grounds: Grounds) -> dict[str, int | float]:
    """Return the facts that vocabularies state: the general ones, and how many occurrences stay."""
    slots, users = _slots_of(grounds), grounds.group_of.size
    # One occurrence of each member counts: the first by the alphabet.
    order = np.lexsort((slots.own, slots.user, slots.slot))
    pair = (slots.slot * users + slots.user)[order]
    firsts = order[np.append(True, pair[1:] != pair[:-1])[: pair.size]]
    own, term = slots.own[firsts], slots.term[slots.slot[firsts]]
    replaced = own != term
    if grounds.parameters.get("typical") == "bags":
        names = [*slots.terms, ""]
        pairs = zip(own.tolist(), term.tolist(), strict=True)
        replaced = np.array([names[one] not in names[bag].split("|") for one, bag in pairs])
    kept, every = int(firsts.size), int((grounds.all_people or grounds.people).cells.weights.sum())
    left_out = int(np.count_nonzero(grounds.group_of < 0))
    counted = (left_out, kept, int(np.count_nonzero(replaced)), every - kept)
    return {**general_facts(grounds), **dict(zip(OCCURRENCES, counted, strict=True))}


def _faults(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Return what is wrong with `parameters` of matched vocabularies."""
    return parameter_faults(parameters, _WORDS, _NUMBERS)


def _faults_of_general(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Return what is wrong with `parameters` of generalized terms."""
    return parameter_faults(parameters, _GENERAL_WORDS, _K)


def _judge_of(
    method: str, judge: Judged, faults: Faults, words: Mapping[str, tuple[str, ...]], more: Numbers
) -> Judge:
    names = {*words, *more, *OCCURRENCES, *(word for some in words.values() for word in some)}
    return Judge(
        method,
        Promise("group", "vocabulary"),
        judge,
        None,
        names,
        faults,
        _QUOTED & names,
        keeps=frozenset({SLOTS, TAXONOMY}),
        leaves_out=True,
        facts=_facts,
    )


MATCHED = _judge_of("vocabulary-k", _judge_matched, _faults, _WORDS, _NUMBERS)
GENERALIZED = _judge_of("generalization", _judge_general, _faults_of_general, _GENERAL_WORDS, _K)

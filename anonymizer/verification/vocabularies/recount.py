"""What both ways to publish vocabularies promise: rows of k people, and slots of their words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Set
from itertools import pairwise
from typing import Any

import numpy as np

from ...arrays import Ints, Marks
from ...promise import Promise
from ..choices import MOST, Numbers, Words, parameter_faults, people_of_rows
from ..facts import OCCURRENCES, OWN_SHARE, general_facts
from ..files.evidence import SLOTS, TAXONOMY, JudgedRows
from ..files.profiles import keys_of
from ..files.strict_lines import is_whole
from ..finding import PROFILES, Broken, Finding, Findings, row_findings
from ..promises.record import Judge
from ..recounts.rows import find, find_any, marked
from ..tally import Grounds
from .slots import Slots

Judged = Callable[[Mapping[str, object], Grounds], Findings]

WORDS = {
    "taxonomy": ("wordnet", "given"),
    "senses": ("first", "closest"),
    "count": ("people", "vocabularies"),
}
NUMBERS: Numbers = {
    "k": (lambda k: is_whole(k, 1, MOST), f"a whole number from 1 to {MOST}"),
}


def judge_people(parameters: Mapping[str, Any], grounds: Grounds, *, once: bool) -> Findings:
    """Yield whether each row stands for k people, each of them `once`; or for k vocabularies."""
    k, people, of = parameters["k"], grounds.tally.sizes, "vocabularies"
    if parameters["count"] == "people":
        of, served = "people", grounds.group_of >= 0
        if grounds.person is not None:
            people = people_of_rows(grounds.person[served], grounds.group_of[served])
        if grounds.person is not None and once:
            line, twice = "stands for two sessions of one person", people != grounds.tally.sizes
            yield from row_findings("k", twice, line, "no row has two sessions of a person")
    line, good = f"stands for fewer than k={k} {of}", f"each row stands for k={k} {of} or more"
    yield from row_findings("k", people < k, line, good)


def judge_slots(
    grounds: Grounds, *, whole: bool = False, least: int | None = None
) -> tuple[Slots, list[Finding]]:
    """Return the slots that can be judged further, and whether they are what rows publish.

    Each must hold one occurrence of each member; one or more, if slots are `whole`. With `least` it
    must hold one of this number of members or more, and each member must stand in a slot.
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
    there_are = np.bincount(different, minlength=count)
    complete = there_are == members if least is None else there_are >= least
    complete &= (slots.sizes == there_are) | whole
    one = "one occurrence or more" if whole else "exactly one occurrence"
    one += " of each member" if least is None else f" of each of {least} members or more"
    faults = {
        "stands behind a slot that must come later": slots.late,
        "has an occurrence that no member of its row has": ~holds,
        "uses an occurrence that another slot uses": np.bincount(slots.slot, often, count) > 0,
        f"has not {one}": ~complete,
    }
    good = f"each of {count} slots has {one}, none used twice"
    findings = [*slot_findings("slots", faults, slots, good), *_judge_weights(slots, grounds)]
    if least is not None:
        absent = grounds.group_of >= 0
        absent[slots.user[there]] = False
        alone = tally.sure(marked(grounds.group_of[absent], tally.sizes.size))
        line, good = "has a member who stands in no slot", "each member stands in a slot"
        findings += row_findings("slots", alone, line, good)
    line = "stands before a row that must come first by its terms and their weights"
    wrong = grounds.within_shards(_early(grounds.rows))
    findings += row_findings("order", wrong, line, "rows stand by their content")
    return slots.of(holds & complete), findings


def _early(rows: JudgedRows) -> Marks:
    """Return marks for the rows whose content is above that of the next one."""
    columns, weights = rows.cells.columns, rows.cells.weights
    names = [rows.terms[column] for column in columns.tolist()]
    cells, ends = [*zip(names, weights.tolist(), strict=True)], rows.cells.ends.tolist()
    content = [sorted(cells[low:high]) for low, high in pairwise(ends)]
    return np.array([*(one > after for one, after in pairwise(content)), False], dtype=np.bool_)


def _judge_weights(slots: Slots, grounds: Grounds) -> Iterator[Finding]:
    """Yield whether rows publish their `slots`: each term as often as there are slots of it."""
    rows, count = grounds.rows, len(grounds.rows.names)
    keys, times = np.unique(slots.row * rows.span + slots.term, return_counts=True)
    at, known = find(keys, rows.keys)
    absent = np.isin(slots.row * rows.span + slots.term, keys[~known]) | (slots.term < 0)
    faults = {"publishes a term that its row lacks": absent}
    yield from slot_findings("terms", faults, slots, "each slot's term is in its row")
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


def slot_findings(claim: str, faults: Mapping[str, Marks], slots: Slots, good: str) -> Findings:
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
    facts = {**general_facts(grounds), **dict(zip(OCCURRENCES, counted, strict=True))}
    if grounds.parameters.get("members") is not None:
        facts[OWN_SHARE] = _own_share(slots.user[firsts], slots, grounds)
    return facts


def _own_share(standing: Ints, slots: Slots, grounds: Grounds) -> float:
    """Return which share of their row's `slots` users stand in, on average; each is `standing`."""
    served = grounds.group_of >= 0
    times = np.bincount(standing[standing >= 0], minlength=served.size)[served]
    every = np.bincount(slots.row[slots.row >= 0], minlength=grounds.tally.sizes.size)
    shares = times / np.maximum(every[grounds.group_of[served]], 1)
    return math.fsum(shares) / max(shares.size, 1)


def judge_of(
    method: str,
    judge: Judged,
    words: Words,
    numbers: Numbers,
    quoted: Set[str] = frozenset(),
    *,
    words_above: bool = False,
) -> Judge:
    """Return how releases of `method` are judged by `judge`.

    Parameters must be one of their `words`, or one of `numbers`. Rows don't show the `quoted` ones.
    With `words_above`, rows show words that stand for others.
    """
    known = {*words, *numbers, *OCCURRENCES, OWN_SHARE}
    return Judge(
        method,
        Promise("group", "vocabulary", words_above=words_above),
        judge,
        None,
        known.union(*words.values()),
        lambda parameters: parameter_faults(parameters, words, numbers),
        quoted,
        keeps=frozenset({SLOTS, TAXONOMY}),
        leaves_out=True,
        facts=_facts,
    )

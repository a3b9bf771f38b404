"""What a release by generalization promises: each slot has what is below its term, of every member.

A row's terms are nodes, none above another. By `bag` a node is published as often as the member
with the fewest has a term at it or below; else once, for all that members have there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..finding import Findings, row_findings
from ..recounts.rows import marked
from ..tally import Grounds
from ..vocabularies.below import below
from ..vocabularies.network import network_of
from ..vocabularies.recount import (
    NUMBERS,
    WORDS,
    judge_of,
    judge_people,
    judge_slots,
    slot_findings,
)

_WORDS = {**WORDS, "senses": ("first",), "bag": ("true", "false")}


def _judge(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether rows and slots of generalized terms hold."""
    whole = parameters["bag"] == "false"
    # Who agrees in all nodes stands in one row, so two sessions of a person may, too.
    yield from judge_people(parameters, grounds, once=False)
    slots, findings = judge_slots(grounds, whole=whole)
    yield from findings
    network = network_of(parameters, grounds.parts)
    under = below(slots, network, grounds.people, grounds.group_of, grounds.rows)
    faults = {"has an occurrence that is not below its term": under.stray}
    yield from slot_findings("terms", faults, slots, "each occurrence is below its slot's term")
    line = "has a term that is above another one of its terms"
    nested = grounds.tally.sure(marked(under.twice, len(grounds.rows.names)))
    yield from row_findings("terms", nested, line, "no term of a row is above another one")
    line, good = "does not hold all that its members have below it", "each slot holds all below it"
    if not whole:
        line = "is published more or less often than each member has a term below it"
        good = "each term is published as often as each member has one below it"
    yield from slot_findings("slots", {line: under.more_or_less(slots, whole=whole)}, slots, good)


JUDGE = judge_of("generalization", _judge, _WORDS, NUMBERS, words_above=True)

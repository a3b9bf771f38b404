"""The facts of a release, each with what it means in plain words; never one number for all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..lone_rows import promised
from .fact import Fact
from .lone_facts import release_facts
from .wording import count, hundredths, two_decimals

_SAME = 1e-9


def privacy_facts(
    facts: Mapping[str, Any], sharing: int | None = None, *, spare: bool = False
) -> list[Fact]:
    """Explain the facts a release has; sharing = how many people have the row in question.

    Spare: that row is the mean of all groups, whose people these are.
    """
    if rows := promised(facts):
        return release_facts(facts, rows, served=sharing is not None)
    told = (
        *(_sharing(facts, sharing, spare), _single(facts)),
        *(_average(facts), _worst(facts), _belief(facts)),
    )
    return [fact for fact in told if fact]


def _sharing(facts: Mapping[str, Any], sharing: int | None, spare: bool) -> Fact | None:
    smallest, groups = facts.get("smallest_group"), facts.get("groups")
    rest = ""
    if smallest is not None and groups is not None:
        rest = f"The smallest of the {groups:,} groups has {smallest:,}."
    if sharing is not None and spare:
        meaning = (
            "Left over when groups were made: this row is the mean of all groups’ rows, "
            f"{sharing:,} people’s, and holds nothing of whom it serves. "
        )
        return Fact("People in the group", "none", f"{meaning}{rest}".strip())
    if sharing is not None:
        meaning = "Their searches carry the same row: the row can’t tell which of them is asking. "
        if sharing == 1:
            meaning = "This row is one person’s own profile: it hides nothing. "
        return Fact("People who share the row", f"{sharing:,}", f"{meaning}{rest}".strip())
    if not rest:
        return None
    return Fact("People in the smallest group", f"{smallest:,}", f"{rest} Each group has one row.")


def _single(facts: Mapping[str, Any]) -> Fact | None:
    rows = facts.get("single_person_rows")
    if not rows:
        return None
    are = count(rows, "row is", "rows are")
    meaning = f"{are} one person’s own profile: nothing is hidden there."
    return Fact("Rows of one person", f"{rows:,}", meaning)


def _average(facts: Mapping[str, Any]) -> Fact | None:
    value = facts.get("average_linkability")
    bound = None if facts.get("bounds_belief") else facts.get("p")
    if value is None:
        return None
    promised = "" if bound is None else f" The method promises at most p = {two_decimals(bound)}."
    share = facts.get("share_linkability")
    if share is not None and abs(share - value) < _SAME:  # all profiles are equally long
        meaning = (
            "The share of members who have a term, averaged over the terms of the worst group."
            f"{promised} An average protects no single term."
        )
        return Fact("Linked to a term, on average", two_decimals(value), meaning)
    measured = "" if share is None else f" (measured: up to {two_decimals(share)} in a group)"
    meaning = (
        "The mean size of all profiles, divided by how many different terms a group has, where "
        f"that is most.{promised} The share of members who have a term, averaged over a group’s "
        f"terms, is the same only if all profiles are equally long; else it may be more{measured}. "
        "An average protects no single term."
    )
    return Fact("Linked to a term, on average", two_decimals(value), meaning)


def _worst(facts: Mapping[str, Any]) -> Fact | None:
    value = facts.get("worst_linkability")
    if value is None:
        return None
    if value >= 1:
        meaning = (
            "In some group every member has the same term: "
            "who knows that you are in it knows this term of you."
        )
    else:
        meaning = (
            "Who knows your group and guesses that you have its most usual term "
            f"is right in at most {hundredths(value)} % of cases."
        )
    return Fact("Linked to a term, at worst", two_decimals(value), meaning)


def _belief(facts: Mapping[str, Any]) -> Fact | None:
    value = facts.get("change_of_belief")
    if value is None:
        return None
    meaning = (
        "Knowing your group changes the chance that you have some term by up to "
        f"{hundredths(value)} percentage points, beside what is known of everybody."
    )
    if facts.get("bounds_belief"):
        p = two_decimals(facts["p"])
        meaning += f" The method promises at most p = {p} for every term, present or absent."
    return Fact("Change of belief, at worst", two_decimals(value), meaning)

"""What one group tells an outsider, each figure with its meaning in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fact import Fact
from .promise import AVERAGE, BELIEF, Promise
from .wording import count, hundredths, two_decimals

if TYPE_CHECKING:
    from .groups import Line

_HIDDEN = (
    "This row is one person’s own profile. The people here are real, so neither its terms nor its "
    "figures are shown."
)


def group_facts(line: Line, told: bool, promise: Promise, *, hidden: bool) -> list[Fact]:
    """Explain a group's figures, and which is promised; hidden: they are read off its row."""
    facts = [_people(line, told)]
    if line.worst is not None and line.share is not None:
        facts += [_worst(line.worst, line.people, hidden=hidden), _share(line.share)]
    if line.average is not None:
        facts.append(_average(line.average, promise))
    if line.belief is not None:
        facts.append(_belief(line.belief, promise))
    return facts


def _people(line: Line, told: bool) -> Fact:
    meaning = "Their searches carry the same row: the row can’t tell which of them is asking."
    if line.people == 1:
        meaning = "This row is one person’s own profile: it hides nothing." if told else _HIDDEN
    return Fact("People who share the row", f"{line.people:,}", meaning)


def _worst(worst: float, people: int, *, hidden: bool) -> Fact:
    right = round(worst * people)
    if hidden:  # it may be the mean of several groups
        meaning = (
            "Who knows that somebody is in this group, and names the term of the largest share, "
            f"is right in {hundredths(worst)} % of cases."
        )
    elif right == people:
        meaning = (
            "There is a term that every member has: "
            "who knows that somebody is in this group knows this term of them."
        )
    else:
        meaning = (
            "Who knows that somebody is in this group, and names the term that most members have, "
            f"is right for {right:,} of {count(people, 'person', 'people')}."
        )
    return Fact("Linked to a term, at worst", two_decimals(worst), meaning)


def _share(share: float) -> Fact:
    meaning = (
        "Take a member and a term of the group by chance: they have it "
        f"in {hundredths(share)} % of cases."
    )
    return Fact("Linked to a term, by chance", two_decimals(share), meaning)


def _average(average: float, promise: Promise) -> Fact:
    meaning = (
        "The mean size of all profiles, divided by how many different terms the group’s members "
        f"have. {promise.says(AVERAGE, 'this')}It protects no single term."
    )
    return Fact("Linked to a term, on average", two_decimals(average), meaning)


def _belief(belief: float, promise: Promise) -> Fact:
    meaning = (
        "Knowing the group changes the chance that somebody has a certain term by up to "
        f"{hundredths(belief)} percentage points, beside what is known of everybody. "
        f"{promise.says(BELIEF, 'every term, present or absent')}"
    ).strip()
    return Fact("Change of belief, at worst", two_decimals(belief), meaning)

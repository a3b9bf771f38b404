"""What a group's ranking gains and loses on one search, in one plain sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..evaluation import DEPTH, FIRST
from .wording import count, two_decimals

_PLAIN = "the plain order"


class Closeness(NamedTuple):
    """How close a ranking comes to the order by the own profile."""

    ap: float
    overlap: int  # of the first ten
    release: str = ""  # whose row ordered it, where it is a further one
    lone: bool = False  # that row is of one person

    @property
    def holder(self) -> str:
        """Say whose order it is, in the middle of a sentence."""
        return "your reduced profile" if self.lone else "your group"


def verdict(
    plain: Closeness, groups: Sequence[Closeness], found: int, users: int | None = None
) -> str:
    """Compare the groups' rankings with the plain one; nothing where there is none of a group."""
    if not found or not groups:
        return ""
    if found <= FIRST:
        only = count(found, "document is", "documents are")
        return f"Only {only} found, so every order shows the same first page."
    first, *others = groups
    brings = (
        f"{_named(first)} brings {first.overlap} of the {FIRST} documents "
        f"that your own profile puts first{_others(others)}"
    )
    sentence = f"{brings}; {_against(first, plain)}{_by_ap(first, plain, min(DEPTH, found))}."
    alone = users == 1 and not first.release and not first.lone
    return f"{sentence} But its row is your own profile: it hides nothing." if alone else sentence


def _named(group: Closeness) -> str:
    name = group.holder.capitalize()
    return f"{name} in {group.release}" if group.release else name


def _others(others: Sequence[Closeness]) -> str:
    told = ", ".join(f"in {each.release} {each.overlap}" for each in others)
    return f" ({told})" if told else ""


def _against(group: Closeness, plain: Closeness) -> str:
    if group.overlap == plain.overlap:
        return f"{_PLAIN} brings as many"
    brings = f"{_PLAIN} brings {plain.overlap}"
    if group.overlap > plain.overlap:
        return brings
    holder = "it" if group.lone else "the group"
    return f"{brings}: here {holder} does worse than {_PLAIN}"


def _by_ap(group: Closeness, plain: Closeness, depth: int) -> str:
    """Say which is closer by AP where that is not what the first ten say."""
    values = two_decimals(group.ap), two_decimals(plain.ap)
    better, more = group.ap > plain.ap, group.overlap > plain.overlap
    if values[0] == values[1] or (better == more and group.overlap != plain.overlap):
        return ""
    order = group.holder if group.lone else "your group’s order"
    closer, (high, low) = (order, values) if better else (_PLAIN, values[::-1])
    looks = f"but AP, which looks for the first {depth} in the whole pool,"
    return f"; {looks} is higher for {closer} ({high} to {low})"

"""What a person's group gives away of them: each number with a sentence, never one for all."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..own_view import OwnGroup, OwnTerm, OwnView, Share
from .fact import Fact
from .lone_facts import own_row_facts
from .promise import AVERAGE, BELIEF, EVERY_TERM, Promise
from .wording import count, hundredths, two_decimals

if TYPE_CHECKING:
    from ..ledger import Noted

NAMED = 8  # terms named in a sentence
_AVERAGE_ONLY = "An average protects no single term."


def own_facts(view: OwnView, promise: Promise, ledger: Sequence[Noted] | None) -> list[Fact]:
    """Explain what the group and the own terms tell about a person."""
    group = view.group
    if promise.rows is not None:
        told = own_row_facts(view, promise.rows)
        return [*told, _only_mine(view, "your row"), _releases(ledger, "releases")]
    of_group = [] if group is None else _group_facts(view, group, promise)
    return [_size(group), *of_group, _only_mine(view), _releases(ledger)]


def _group_facts(view: OwnView, group: OwnGroup, promise: Promise) -> list[Fact]:
    if group.spare:
        return []
    return [
        _average(group, promise),
        _blind(group),
        *_worst(group, promise),
        _known(view.known, hidden=group.published),
        _belief(group, promise),
    ]


def chance(share: Share) -> str:
    """Say how often the best guess is right that is right for some of all members."""
    part = Fraction(share.members, share.of)
    if part == 1:
        return "every time"
    times = "1 time" if part.numerator == 1 else f"{part.numerator:,} times"
    return f"at best {times} in {part.denominator:,}" if part else "never"


def named(terms: Sequence[OwnTerm]) -> str:
    """Name some terms, and say how many more there are."""
    first = ", ".join(f"“{each.term}”" for each in terms[:NAMED])
    more = len(terms) - NAMED
    return f"{first} and {more:,} more" if more > 0 else first


def _size(group: OwnGroup | None) -> Fact:
    if group is None:
        meaning = (
            "You are in no group of this release. No row stands for you, and in the mode "
            "“My group” you get the plain order."
        )
        return Fact("People in your group", "none", meaning)
    people = group.row.users
    if group.spare:
        meaning = (
            "You were left over when groups were made: nothing of your profile is in any row. "
            "You are served by the mean of all groups’ rows."
        )
        return Fact("People in your group", "none", meaning)
    meaning = (
        "You are alone in it: its row is your own profile, and it hides nothing."
        if people == 1
        else "Their searches carry the same row: the row can’t tell which of you is asking."
    )
    return Fact("People in your group", f"{people:,}", meaning)


def _average(group: OwnGroup, promise: Promise) -> Fact:
    p = promise.says(AVERAGE, "this")
    meaning = (
        f"A profile has {group.mean_size:,.1f} terms in the mean; your group’s members have "
        f"{count(group.distinct, 'different term', 'different terms')}. The value is the one "
        f"divided by the other. {p}{_AVERAGE_ONLY}"
    )
    return Fact("Linked to a term, on average", two_decimals(group.average), meaning)


def _blind(group: OwnGroup) -> Fact:
    meaning = (
        "An outsider who knows that you are in this group and picks one of its terms blindly "
        f"names one of yours {hundredths(group.share)} times in 100: the share of members who have "
        "a term, averaged over all of the group’s terms."
    )
    return Fact("A blind guess", two_decimals(group.share), meaning)


def _worst(group: OwnGroup, promise: Promise) -> list[Fact]:
    """Tell the worst term of the row and, where it is another, of all terms."""
    if group.published:
        share = group.worst.value
        meaning = (
            "An outsider who knows that you are in this group, and names the term of the largest "
            f"share in its row, is right in {hundredths(share)} % of cases. "
            f"{_not_promised(promise)}"
        )
        return [Fact("Linked to a term of the row, at worst", two_decimals(share), meaning)]
    same = group.worst == group.worst_released
    bound = promise.says(EVERY_TERM, "this") or _not_promised(promise)
    seen = "An outsider who knows that you are in this group names one of your terms rightly "
    row = Fact(
        "Linked to a term of the row, at worst",
        _of(group.worst_released),
        f"{seen}{chance(group.worst_released)}, by naming the one that most members "
        f"have. {bound}".strip(),
    )
    if same:
        return [row]
    meaning = (
        "The same for who also knows the members’ own terms that the row leaves out: right "
        f"{chance(group.worst)}. Nothing bounds this, but the row does not show it."
    )
    return [row, Fact("Linked to any term, at worst", _of(group.worst), meaning)]


def _not_promised(promise: Promise) -> str:
    if promise.p is None:
        return ""
    bounded = "the change of belief" if promise.guarantee == BELIEF else "the average"
    return f"For this p = {two_decimals(promise.p)} is not promised: it bounds {bounded}."


def _of(share: Share) -> str:
    return f"{share.members:,} of {share.of:,}"


def _known(terms: Sequence[OwnTerm], *, hidden: bool) -> Fact:
    if hidden:
        meaning = (
            "By the row every member has so many of your terms. What else all of you have in "
            "common, it hides."
        )
        return Fact("Your terms that the row says all have", f"{len(terms):,}", meaning)
    meaning = "No term of yours is had by all members of your group."
    if terms:
        meaning = (
            f"{named(terms)}. Who knows your group, and what all its members have in common, "
            f"knows {'this' if len(terms) == 1 else 'these'} of you."
        )
    return Fact("Your terms that every member has", f"{len(terms):,}", meaning)


def _belief(group: OwnGroup, promise: Promise) -> Fact:
    meaning = (
        "Knowing your group changes the chance that you have some term by up to "
        f"{hundredths(group.belief)} percentage points, beside what is known of everybody. "
        f"{promise.says(BELIEF, 'every term, present or absent')}"
    ).strip()
    return Fact("Change of belief, at worst", two_decimals(group.belief), meaning)


def _only_mine(view: OwnView, row: str = "your group’s row") -> Fact:
    if view.hides_counts:
        meaning = (
            "How many people have a term is not told beside rows of this kind: whoever compares it "
            "with all rows could tell more than these do."
        )
        return Fact("Terms only you have", "not told", meaning)
    only = view.only_mine
    if not only:
        return Fact("Terms only you have", "0", "Every term of yours is in another profile too.")
    released = sum(each.released is not None for each in only)
    meaning = (
        "Nobody else’s profile has them. Whoever sees one in a search and knows the profiles "
        "knows that it is you."
    )
    if view.group is not None:
        stand = "None stands" if not released else count(released, "stands", "stand")
        meaning += f" {stand} in {row}" + (", because of you alone." if released else ".")
    return Fact("Terms only you have", f"{len(only):,}", meaning)


def _releases(ledger: Sequence[Noted] | None, kind: str = "groupings") -> Fact:
    if not ledger:
        meaning = "No ledger of releases is kept here."
        if ledger is None:
            meaning = "The ledger of releases can’t be read; the operator finds out why."
        return Fact("Releases so far", "not known", meaning)
    made, published = (
        len({each.sha256 for each in ledger if each.event == event})
        for event in ("made", "published")
    )
    told = f"{count(published, 'of them was', 'of them were')}" if published else "None of them was"
    meaning = (
        f"{told} published. Who sees two different {kind} of the same people can often tell "
        "who is who, so only one should ever be published."
    )
    return Fact("Releases so far", f"{made:,} made", meaning)

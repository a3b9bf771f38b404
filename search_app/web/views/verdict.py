"""What a group's ranking gains and loses on one search, in one plain sentence."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from ...disclosure.disclosure import Words
from ...disclosure.groups import WORDS
from ...disclosure.numbers import count, two_decimals
from ...measures.precision import DEPTH, FIRST
from ..site import Site
from ..wording import kind
from .answering import Outcome

_PLAIN = "plain search"


class Closeness(NamedTuple):
    """How close a ranking comes to the order by the own profile."""

    ap: float
    overlap: int  # documents of the own first ten that are in its first ten
    release: str = ""  # the further release that has its row, if it is one
    words: Words = WORDS  # on such rows


_RELEASE = attrgetter("release")


def verdict_on(site: Site, user: str, outcome: Outcome, modes: Sequence[str]) -> str:
    """Return how close the orders by rows of `outcome` in `modes` come for `user`, if any do."""
    near = {
        mode: Closeness(
            *(answer.precision.ap, answer.agreement.overlap),
            *(mode.partition(":")[2], site.words_of(mode, user)),
        )
        for mode, answer in outcome.answers.items()
        if mode in modes and answer.precision and answer.agreement
    }
    groups = sorted((close for mode, close in near.items() if kind(mode) == "group"), key=_RELEASE)
    plain, group = outcome.answers["none"], outcome.answers.get("group")
    users = group.users if group else None
    return verdict(near["none"], groups, len(plain.ranking), users) if "none" in near else ""


def verdict(
    plain: Closeness, groups: Sequence[Closeness], documents: int, users: int | None = None
) -> str:
    """Return how close `groups` come over `documents`, next to `plain`; empty without groups."""
    if not documents or not groups:
        return ""
    if documents <= FIRST:
        only = count(documents, "document is", "documents are")
        return f"Only {only} found, so every order shows the same first page."
    first, *others = groups
    name = first.words.holder + f" in {first.release}" * bool(first.release)
    further = ", ".join(f"in {other.release} {other.overlap}" for other in others)
    group = f"{name} finds {first.overlap}" + f" ({further})" * bool(further)
    worse = f": here {first.words.again} does worse than {_PLAIN}"
    sentence = (
        f"Of your personal top {FIRST}, {group}, {_PLAIN} {plain.overlap}"
        f"{worse * (first.overlap < plain.overlap)}.{_by_ap(first, plain, min(DEPTH, documents))}"
    )
    return sentence + first.words.alone * (users == 1 and not first.release)


def _by_ap(group: Closeness, plain: Closeness, depth: int) -> str:
    """Return which order is closer by AP, if the first ten do not say the same."""
    # Compared as they are shown: readers can't see a difference behind the second decimal.
    values = two_decimals(group.ap), two_decimals(plain.ap)
    better, more = group.ap > plain.ap, group.overlap > plain.overlap
    if values[0] == values[1] or (better == more and group.overlap != plain.overlap):
        return ""
    closer, (high, low) = (group.words.order, values) if better else (_PLAIN, values[::-1])
    looks = f" But AP, which looks for your top {depth} in all documents found,"
    return f"{looks} is higher for {closer} ({high} to {low})."

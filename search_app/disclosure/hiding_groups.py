"""Rows of groups that hide what their members have: everything shown is read off the rows.

No page shows how many people have a term next to such rows. People in no group are served by the
mean of all groups' rows, and that number would reveal what the rows keep secret about them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from anonymizer.arrays import Ints
from anonymizer.measures.group_counts import GroupCounts, published_counts
from anonymizer.model import ReleasedRow

from .disclosure import Fact
from .group_figures import GroupFigures, figures_of
from .groups import AT_WORST, WORDS, Groups
from .numbers import at_worst, up_to
from .own_view import MemberShare, Origins, OwnGroup, OwnView, Population


class _Readers(Population):
    """People who learn of each other what the rows say, and no more."""

    def view(self, user: str, origins: Origins) -> OwnView:
        """Return what `user` sees of themselves, without counting anybody's profile."""
        if not self._invented:
            return super().view(user, origins)
        row = self.row(user)
        terms = self.own_terms(user, origins, row)
        return OwnView(terms, self.measured(row) if row else None)

    def measured(self, row: ReleasedRow) -> OwnGroup:
        """Return what `row` says of the members of its group, without counting their profiles."""
        counts, weights = self._published, row.weights
        # A published share is a fraction of people: this finds it again in the rounded number.
        worst = Fraction(max(weights.values())).limit_denominator(counts.users)
        share = MemberShare(worst.numerator, worst.denominator)
        return OwnGroup(
            row=row,
            measured=True,
            distinct=len(weights),
            mean_size=counts.average_size,
            cells=row.users * math.fsum(weights.values()),
            worst=share,
            worst_released=share,
            known=sum(weight == 1 for weight in weights.values()),
            belief=max(abs(weights.get(term, 0.0) - of) for term, of in self._prior.items()),
        )

    @cached_property
    def _published(self) -> GroupCounts:
        return published_counts(self.served_by)

    @cached_property
    def _prior(self) -> Mapping[str, float]:
        """Return for each term the share of people in groups who have it, by all rows together."""
        shares = self._published.having / self._published.users
        return dict(zip(self.served_by.rows.terms, shares.tolist(), strict=True))


class HidingGroups(Groups):
    """What is shown of rows of groups that hide what their members have."""

    words = replace(
        WORDS,
        left=f"{WORDS.left} Means over several groups, to which yours contributed, stay in other "
        "rows.",
    )
    readers = _Readers
    share = "published share"
    unassigned = "unassigned, served by the mean of all groups"
    # The share may be the mean of several groups, so no number of members is named.
    surely = most_likely = (
        "Someone who knows that a person is in this group, and names the interest with the largest "
        "share, is right {up_to} % of the time."
    )
    promised_against = (
        "This holds against an attacker who reads one interest at a time. The attacker may know "
        "which row is yours, all rows, who is of your cohort, and how many of its people in groups "
        "have the interest. An attacker who knows which interests go together, or all profiles, "
        "can learn more. Nothing is published about people in no group. But someone who knows from "
        "elsewhere how many of all people have an interest can work out theirs."
    )

    def counted(self, shown: Ints) -> GroupFigures:
        """Return the figures of the groups, measured by what the rows of `shown` groups say."""
        return figures_of(self.release, published_counts(self.release), shown)

    def mean_of_all(self, users: int) -> Fact:
        """Return the fact that the fallback row is made of `users` people, all in groups."""
        meaning = (
            "You are in no group. You get the average of the rows of all "
            f"{users:,} people in groups; nothing of yours is in it. {self.smallest}"
        )
        return Fact("People in the group", "none", meaning.strip())

    def own_worst(self, group: OwnGroup) -> list[Fact]:
        """Return how surely a person of `group` is linked to an interest of their row."""
        share = group.worst.value
        meaning = (
            "An outsider who knows that you are in this group, and names the interest with the "
            f"largest share in its row, is right {up_to(share)} % of the time. "
            f"{self.not_promised()}"
        )
        return [Fact(AT_WORST, at_worst(share), meaning)]

    def own_known(self, view: OwnView) -> Fact:
        """Return how many terms of `view` all members have, by what the row says."""
        known = sum(term.released == 1 for term in view.terms)
        meaning = (
            "The row says that every member has this number of your interests. It hides what else "
            "all of you have in common."
        )
        return Fact("Your interests that the row says all have", f"{known:,}", meaning)

    def certainly(self, terms: str) -> str:
        """Return that `terms` have the share 1, and what the rows hide."""
        return (
            f"{terms} have the published share 1. The rows hide what else the members of a group "
            "have in common."
        )

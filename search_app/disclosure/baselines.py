"""Rows of the methods to compare with, where they are no rows of groups as others are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from markupsafe import Markup

from .disclosure import Fact, Forms, Headline, ListColumn, Section, value_line
from .groups import WORDS
from .hiding_groups import HidingGroups
from .histograms import Histogram
from .numbers import count
from .own_view import OwnView
from .single_rows import NOBODY_ELSE, Combinations, SingleRows


class WholeProfiles(SingleRows):
    """What is shown of rows that are whole profiles: nothing was deleted, and nothing is hidden."""

    words = replace(
        SingleRows.words,
        mode="My whole profile",
        seen=Forms("the query and the released row: the whole own profile, which hides nothing"),
        named=Forms("by row {row}, the whole own profile"),
        behind_row=Forms(", which is one person’s own profile: it hides nothing."),
        holder="your whole profile",
        order="your whole profile",
        slogan="Personalized by you, with nothing hidden.",
        third_way="all of it, under a number",
        seen_in_short="The query and your whole profile under a number. It hides nothing.",
        order_by="all of it",
        own=Forms(
            "This row is your whole profile. Anyone who finds out that it is yours knows it."
        ),
        known="all of your profile",
        how=Markup(
            "A profile is the words that a person has searched for. Each is released whole, as a "
            "<em>row</em> without a name, to compare other methods with."
        ),
        seen_at_length="The ranking sees the query and your whole profile. It hides nothing.",
        not_differential="about nothing.",
        released="All of this person’s interests",
    )
    named_by = ()

    @cached_property
    def promise(self) -> Combinations:
        """Return that each row may be the only one of its kind."""
        return Combinations(1, 1)

    @classmethod
    def lines(cls, made: Mapping[str, Any]) -> list[str]:
        """Return lines on the release `made`: how many rows there are, and what they hide."""
        rows = count(made["facts"]["users"], "profile", "profiles")
        return [
            f"{rows}, a row each: {made['release']}",
            value_line("promised", "nothing: each row is one person's whole profile"),
        ]

    @staticmethod
    def warning(_made: Mapping[str, Any]) -> str:
        """Return the warning that a release so made can't be published."""
        return "Warning: nothing is hidden, so the release can't be published. It is to compare."

    def behind(self, users: int) -> Fact:
        """Return the fact that `users` people, which is one, are behind a row."""
        return Fact("People behind the row", f"{users:,}", f"It is a whole profile. {NOBODY_ELSE}.")

    def row_facts(self, _row: int) -> list[Fact]:
        """Return the facts that a row shows an outsider."""
        return self.facts_with(self.behind(1))

    def _promised(self) -> Fact:
        meaning = "Each row is one person’s whole profile, to compare other methods with."
        return Fact("Promised", "nothing", meaning)

    def headline(self) -> Headline:
        """Return what the rows are, as heading and lead."""
        lead = "Each row is one person’s whole profile, to compare other methods with."
        return Headline("Rows that hide nothing", lead)

    def explained(self, mode: str) -> Section:
        """Return that the rows behind `mode` promise nothing."""
        made = f"The release behind “{mode}”" if mode else "This release"
        lead = Markup("{} anonymizes nothing. It is there to compare other methods with.")
        return Section("What whole profiles say", lead.format(made), [])


class NoisyRows(HidingGroups):
    """What is shown of rows with noise, which no one person decides."""

    words = replace(
        WORDS,
        left="At once, the row that served you disappears. Its noisy counts were of everybody, so "
        "other rows keep what they tell of all people.",
        not_differential="",
        note="A row’s own page shows what noisy counts say, never who is served by it.",
    )
    columns = (
        ListColumn("people", "people", "People"),
        ListColumn("terms", "released_terms", "Released interests"),
    )
    pictures = ("sizes",)
    named_by = ("epsilon", "rows")

    # A share with noise is no share of members, so nothing that is said of those is said here.
    def _measured(self) -> list[Fact]:
        given = self.release.parameters
        meaning = (
            "With any other person in your place, no outcome would be more than e to the epsilon "
            f"times as likely, except with a chance of {given['delta']}."
        )
        return [Fact("Differential privacy", f"epsilon {given['epsilon']}", meaning)]

    def facts_of(self, _user: str, /) -> list[Fact]:
        """Return nothing of the user: a share with noise measures nobody's group."""
        return []

    def row_facts(self, row: int) -> list[Fact]:
        """Return the facts that `row` shows: people served by it, and what is promised."""
        return self.facts_with(self.behind(int(self.figures.people[row])))

    def facts_about(self, view: OwnView) -> list[Fact]:
        """Return what noisy counts give away about the person of `view`: what is promised."""
        return (
            self._measured()
            if view.group is None
            else self.facts_with(self.behind(view.group.row.users))
        )

    def histograms(self) -> list[Histogram]:
        """Return the chart of sizes: what noisy counts say of members is no measure of them."""
        return [self._sizes()]

    def unmeasured(self) -> str:
        """Return why there is a chart of sizes only."""
        return "Counts in these rows have noise, so nothing is measured by them here."

    @classmethod
    def lines(cls, made: Mapping[str, Any]) -> list[str]:
        """Return lines on the release `made`: what it promises, and how much noise that takes."""
        facts, given = made["facts"], made["parameters"]
        rows = count(facts["groups"], "row", "rows")
        return [
            f"{count(facts['users'], 'user', 'users')} served by {rows}: {made['release']}",
            value_line(
                "promised: differential privacy of a person",
                f"epsilon={given['epsilon']:g}, delta={given['delta']:g}",
            ),
            value_line("spread of the noise, in people", f"{given['variance'] ** 0.5:.1f}"),
            value_line("terms in rows", f"{facts['terms_released']:,}"),
        ]

    def headline(self) -> Headline:
        """Return what the rows are, as heading and lead."""
        return Headline(
            "Rows of noisy counts",
            "How many people have an interest was counted with noise. Rows are made of these "
            "counts and of public texts, so no row depends much on any one person.",
        )

    def explained(self, mode: str) -> Section:
        """Return what the rows behind `mode` promise and do not promise."""
        made = f"The release behind “{mode}”" if mode else "This release"
        given = self.release.parameters
        return Section(
            "What differential privacy says",
            Markup(
                "{} would look almost the same with any other person in your place: "
                "<em>epsilon</em> = {}, <em>delta</em> = {}."
            ).format(made, given["epsilon"], given["delta"]),
            [
                (
                    "It says:",
                    Markup(
                        "no outcome is more than e<sup>epsilon</sup> times as likely for one as "
                        "for the other, except with a chance of <em>delta</em>. That holds "
                        "whatever an attacker knows of you and of all others."
                    ),
                ),
                (
                    "It does not say more.",
                    Markup(
                        "What is common among all people is learnt, and may fit you, too. Which "
                        "row serves you stays on this server. Several releases add up."
                    ),
                ),
                ("It has a price:", Markup("noise hides all but the most common interests.")),
            ],
        )

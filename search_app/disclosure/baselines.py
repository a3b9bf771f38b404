"""Rows of the methods to compare with, where they are no rows of groups as others are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from markupsafe import Markup

from .disclosure import Fact, Headline, Section, value_line
from .groups import WORDS
from .hiding_groups import HidingGroups
from .numbers import count
from .single_rows import Combinations, SingleRows


class WholeProfiles(SingleRows):
    """What is shown of rows that are whole profiles: nothing was deleted, and nothing is hidden."""

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
    named_by = ("epsilon", "rows")

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

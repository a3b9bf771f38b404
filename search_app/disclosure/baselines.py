"""Rows of the methods to compare with, where they are no rows of groups as others are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from markupsafe import Markup

from .disclosure import Fact, Headline, Section, value_line
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
        """Return the warning that such a release can't be published."""
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

"""Rows that stand for the vocabularies of a group: each weight counts occurrences of a word.

Each occurrence in such a row stands for one of every member, or of k of more members. That says
nothing about which words stay: a word that all members have is told of all of them, and no average
is promised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from markupsafe import Markup

from .disclosure import Fact, Headline, ListColumn, Section, value_line
from .groups import ON_AVERAGE, WORDS, Groups
from .numbers import count, percent
from .own_view import OwnView

_TELLS = {
    "majority": (
        "A word of the row is one that some member used, maybe a rare one of a single member; if "
        "all members used it, the row tells this word of everybody in it."
    ),
    "bags": (
        "The row lists the very words that its members used, without saying who used which; a word "
        "that stands alone was used by all of them, so the row tells it of everybody in it."
    ),
    "generalize": (
        "A word of the row is above words that the members used, so it tells of everybody in it "
        "that they used such a word; if all members used the same word, the row tells that word."
    ),
    "": (
        "A word of the row is one that each member used, or is above one, so the row tells of "
        "everybody in it that they used such a word."
    ),
}


class Vocabularies(Groups):
    """What is shown of rows whose weights count occurrences, each standing for k people or more."""

    words = replace(
        WORDS,
        third_way="the words that your group has in common, or close ones",
        seen_in_short=(
            "The query and the words that your group has in common, or words close to them{sizes}."
        ),
        how=Markup(
            "A profile is the words that a person has searched for, and how often. Profiles that "
            "are alike are put in a group. Words of the members are matched that are the same or "
            "close. What enough members have a match for is released: one list of words for each "
            "group, its <em>row</em>."
        ),
        kept=(
            "who is in which group, each group’s row, and which words of its members each word of "
            "it stands for"
        ),
        common=(
            "In the row too",
            "The row has these interests too. It does not say whose they are, and may have them in "
            "the place of words that are close.",
        ),
        lost=(
            "Not in the row",
            "Interests of yours that the group’s row does not have: a close word stands for them, "
            "or they were suppressed.",
        ),
        legend=(
            "Linked by chance: how often a random member has a random interest of the group. "
            "Linked at worst: the share of members who have the group’s most common interest; it "
            "is usually 1, as a word that everybody has is kept. Change of belief: the most that "
            "knowing the group moves a guess about an interest of somebody in it."
        ),
    )
    columns: ClassVar[tuple[ListColumn, ...]] = tuple(
        column for column in Groups.columns if column.name != "average"
    )
    named_by = ("k", "eps")

    @property
    def tells(self) -> str:
        """Return in a few sentences what a word in a row tells about the row's people."""
        tells = _TELLS[str(self.release.parameters.get("typical", ""))]
        if not self.partial:
            return tells
        share = self.stated.get("own_share")
        own = (
            "" if share is None else f": on average {percent(share)} % of a row is its reader’s own"
        )
        return f"A word need not stand for everybody in the row{own}. {tells}"

    @property
    def partial(self) -> bool:
        """Return whether k of more members have a match for a word, and not all of them."""
        return bool(self.release.parameters.get("members"))

    @property
    def matching(self) -> str:
        """Return who of a group have a match for each word of its row."""
        return (
            f"at least {self.release.parameters['k']:,} members" if self.partial else "all members"
        )

    @classmethod
    def lines(cls, made: Mapping[str, Any]) -> list[str]:
        """Return lines on the release `made`: sizes of groups, and what is kept of occurrences."""
        facts, given = made["facts"], made["parameters"]
        fewest, most = facts["smallest_group"], facts["largest_group"]
        mean = f" to {most} (mean {facts['mean_group']:.2f})" if fewest < most else ""
        kept, gone = facts["kept_occurrences"], facts["suppressed_occurrences"]
        replaced = facts["replaced_occurrences"] / max(1, kept)
        own = []
        if (share := facts.get("own_share")) is not None:
            own.append(value_line("share of a row that is its reader's own", f"{share:.3f}"))
        return [
            f"{count(facts['users'], 'user', 'users')} in "
            f"{count(facts['groups'], 'group', 'groups')} of {fewest}{mean}: {made['release']}",
            value_line(f"promised: {given['count']} behind each occurrence", f"k={given['k']}"),
            value_line("occurrences kept", f"{kept / (kept + gone):.3f}"),
            value_line("  of these, published as another word", f"{replaced:.3f}"),
            *own,
            value_line("users without a row: nothing matched", f"{facts['users_left_out']}"),
            value_line(
                "share of members, worst released term", f"{facts['released_linkability']:.3f}"
            ),
        ]

    # -- facts ---------------------------------------------------------------------------------

    def _promised(self) -> Fact:
        k, of_people = self.release.parameters["k"], "people"
        meaning = (
            "Each row stands for this number of people or more, and each time that it has a word, "
            f"for one word of {'at least this number' if self.partial else 'every one'} of them. "
            f"{self.tells}"
        )
        if self.release.parameters.get("count") == "vocabularies":
            of_people = "sessions"
            meaning += " Sessions are counted here, and several may be of one person."
        return Fact(
            f"{of_people.capitalize()} behind each word of a row", f"{k:,} or more", meaning
        )

    def _measured(self) -> list[Fact]:
        facts = [self._promised()]
        if (kept := self.stated.get("kept_occurrences")) is not None:
            every = kept + self.stated["suppressed_occurrences"]
            replaced = self.stated["replaced_occurrences"] / max(1, kept)
            meaning = (
                f"{kept:,} of {every:,} uses of a word have a match of {self.matching} of their "
                f"group, and {percent(replaced)} % of these are published as another word. All "
                "others were suppressed."
            )
            facts.append(Fact("Uses of words kept", f"{percent(kept / every)} %", meaning))
        if number := self.stated.get("users_left_out"):
            meaning = f"Nothing of theirs has a match of {self.matching}, so they have no row."
            facts.append(Fact("People without a row", f"{number:,}", meaning))
        return [*facts, *_without_average(super()._measured())]

    def row_facts(self, row: int) -> list[Fact]:
        """Return the figures of the group of `row`, and what is promised of it."""
        people, *others = _without_average(super().row_facts(row))
        return [people, self._promised(), *others]

    def facts_about(self, view: OwnView) -> list[Fact]:
        """Return what the group and the terms of `view` give away about a person."""
        people, *others = _without_average(super().facts_about(view))
        known = any(fact.name == self._promised().name for fact in others)
        return [people, *([] if known or view.group is None else [self._promised()]), *others]

    def not_promised(self) -> str:
        """Return that no promise limits the worst term."""
        return "Nothing limits this: words that all members have are the ones that are kept."

    def explained(self, mode: str) -> Section:
        """Return what the rows behind `mode` promise and do not promise, and the price."""
        promised, made = (
            self._promised(),
            f"The release behind “{mode}”" if mode else "This release",
        )
        # While the rows are withheld, strangers can read this: a number would say who left.
        left_out = 0 if self.closed else self.release.left_out
        price = f"uses of a word without a match of {self.matching} of a group are suppressed. "
        price += "Someone who has no match at all has no row"
        if left_out:
            price += f", as {count(left_out, 'person here has', 'people here have')} none"
        return Section(
            "What vocabulary k-anonymity says",
            Markup(
                "{} puts people in groups of <em>k</em> = {} or more, and publishes for each group "
                "the words for which {} have a match."
            ).format(made, f"{self.release.parameters['k']:,}", self.matching),
            [
                ("It says:", Markup("{}").format(promised.meaning.removesuffix(f" {self.tells}"))),
                (
                    "It does not say more.",
                    Markup(
                        "{} Someone who finds out which row is yours, and knows what the others in "
                        "it used, can tell your words from theirs."
                    ).format(self.tells),
                ),
                ("It has a price:", Markup("{}.").format(price)),
            ],
        )

    # -- the list of groups --------------------------------------------------------------------

    def headline(self) -> Headline:
        """Return what groups are, as heading and lead."""
        return Headline(
            "Groups and their words, and what they give away",
            f"People with close vocabularies are in one group. What {self.matching} have a match "
            f"for (their row) stands for them. {self.tells}",
        )


def _without_average(facts: list[Fact]) -> list[Fact]:
    """Return `facts` without the average, which these rows do not promise."""
    return [fact for fact in facts if fact.name != ON_AVERAGE]

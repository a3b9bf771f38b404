"""Rows of one person each, made of the queries that k people or more entered.

Pages show them as all rows of one person. What differs is what is promised: something about
queries, and nothing about sets of interests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from anonymizer.model import whole

from .disclosure import Fact, Forms, Headline, ListColumn, Section, value_line
from .numbers import count, rounded_share
from .single_rows import SingleRows

_MODE = "My common queries"
_OF_ONE = "This row has the words of those queries of one person that others entered, too"
_NOBODY_ELSE = "Anyone who finds out whose it is knows all of these queries"
_WORDS = replace(
    SingleRows.words,
    mode=_MODE,
    seen=Forms("the query and the released row: the words of the own queries that others entered"),
    named=Forms("by row {row}, the words of the own queries that others entered, too"),
    behind_row=Forms(", which has the words of one person’s own queries that others entered, too."),
    holder="your common queries",
    order="your common queries",
    again="they",
    slogan="Personalized by the queries that you share with others.",
    third_way="the words of those queries that enough others entered, too",
    seen_in_short=(
        "The query and the words of those of your queries that enough others entered, too. Anyone "
        "who finds out that this row is yours knows all of these queries."
    ),
    order_by="the queries in it that others entered, too",
    own=Forms(
        "This row has the words of your own queries that enough others entered, so it stands for "
        f"you alone. It is all that mode “{_MODE}” knows."
    ),
    left=(
        "At once, your row and its lines in the released log disappear. Everybody who can sign in "
        "can learn that somebody left. Anybody who has a published copy can see which row is gone. "
        "No other row changes by a byte."
    ),
    reached="Too few others entered any of your queries.",
    common=(
        "In your row",
        "Words of your released queries. The row does not say that it is yours.",
    ),
    lost=("Not released", "Words of queries that too few others entered."),
    known="the words of queries that enough others entered",
    how=Markup(
        "A profile is the words that a person has searched for. A query that too few people "
        "entered is not released. The words of all others are released as a <em>row</em> for each "
        "person, without a name."
    ),
    seen_at_length=(
        "The ranking sees the query and your row: the words of those of your queries that enough "
        "others entered. The code that computes it receives nothing else: no identity and no other "
        "query. If none of your queries is common, you get the plain order."
    ),
    not_differential="about how many people entered a query, as above, and nothing else.",
    released="What is released of this person’s interests",
)


class QueryRows(SingleRows):
    """What is shown of rows of queries that k people entered."""

    words = _WORDS
    columns = (
        ListColumn("people", "people"),
        ListColumn("terms", "released_terms", "Interests released"),
        ListColumn("rarest", "having_rarest_term", "Rows with its rarest interest"),
    )
    named_by = ("k",)

    @property
    def _k(self) -> int:
        return whole(self.release.parameters["k"])

    @classmethod
    def lines(cls, made: Mapping[str, Any]) -> list[str]:
        """Return lines on the release `made`: who has a row, what it promises, what is kept."""
        facts, k = made["facts"], made["parameters"]["k"]
        there = facts["users"] + facts["users_left_out"]
        return [
            f"{facts['users']} of {count(there, 'user', 'users')} have a row: {made['release']}",
            value_line("promised: k people entered each released query", f"k={k}"),
            value_line(
                "queries released, a line each in log.tsv", f"{facts['queries_released']:,}"
            ),
            value_line("users without a row", f"{facts['users_left_out']:,}"),
            value_line("distinct terms kept", rounded_share(facts["distinct_terms_kept"])),
        ]

    @staticmethod
    def warning(made: Mapping[str, Any]) -> str:
        """Return a warning if the release `made` hides nothing; else nothing."""
        more = "releases everybody’s log as it is, and can’t be published. Take --set k=2, or more"
        return "" if made["parameters"]["k"] > 1 else f"Warning: k=1 {more}"

    def behind(self, users: int) -> Fact:
        """Return the fact that `users` people, which is one, are behind a row."""
        return Fact("People behind the row", f"{users:,}", f"{_OF_ONE}. {_NOBODY_ELSE}.")

    def _promised(self) -> Fact:
        meaning = (
            f"At least {count(self._k, 'person', 'people')} entered each released query. Nothing "
            "is promised about several queries together: these may be one person’s alone."
        )
        return Fact("People who entered a released query", f"{self._k:,} or more", meaning)

    def _weights(self) -> Fact:
        meaning = "A row says how often its person entered each word in released queries."
        return Fact("Weights in the rows", "how often", meaning)

    def row_facts(self, _row: int) -> list[Fact]:
        """Return the facts that `row` shows an outsider."""
        return [self.behind(1), self._promised(), self._weights()]

    def headline(self) -> Headline:
        """Return what the rows are, as heading and lead."""
        return Headline(
            "Rows of one person, of queries that many entered",
            f"A query is released only if {self._k:,} people or more entered it. Each row is of "
            "one person, without a name, and has the words of the released queries.",
        )

    def explained(self, mode: str) -> Section:
        """Return what the rows behind `mode` promise and do not promise, and the price."""
        made = f"The release behind “{mode}”" if mode else "This release"
        return Section(
            "What query k-anonymity says",
            Markup(
                "{} has only queries that at least <em>k</em> = {} people entered. Each row is of "
                "one person, without a name."
            ).format(made, f"{self._k:,}"),
            [
                ("It says:", Markup("no released query is one that few people enter.")),
                (
                    "It does not say more.",
                    Markup(
                        "Several common queries together may be one person’s alone. A common query "
                        "can be a sensitive one. {}."
                    ).format(_NOBODY_ELSE),
                ),
                (
                    "It has a price:",
                    Markup("most different queries are entered by one person, and they go."),
                ),
            ],
        )

"""Rows of one person each: what a deletion has left of each person's own terms.

A group's row is judged by how many people share it. Such a row is judged by how many others have
its terms. A person has no row at all if all of their terms were deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from markupsafe import Markup

from anonymizer.arrays import Floats, Ints
from anonymizer.model import Release, ReleasedRow, whole

from .disclosure import (
    Disclosure,
    Fact,
    Figures,
    Forms,
    Headline,
    ListColumn,
    Section,
    Words,
    change_of_belief,
    value_line,
)
from .histograms import LEAST, Histogram, quantile, share_counts, spread
from .numbers import count, in_letters, percent, rounded_share, up_to
from .own_view import OwnGroup, OwnView, Population

_MODE = "My reduced profile"
WORDS = Words(
    mode=_MODE,
    unit="row",
    row="the released row",
    own_row="your row",
    releases="releases",
    seen=Forms("the query and the released row: what a deletion has left of the own profile"),
    named=Forms("by row {row}, what a deletion has left of the own profile"),
    behind_row=Forms(", which is what a deletion has left of one person’s own interests."),
    whose="your released",
    holder="your reduced profile",
    order="your reduced profile",
    again="it",
    alone="",
    rowless=(
        "No row stands for you{where}, so instead of “{mode}” you get the plain order. Nobody "
        "else’s row is used."
    ),
    nothing_seen="the query only: no row stands for the own profile",
    no_row=(
        "no row stands for this person: this is the plain order, and nobody else's row was used"
    ),
    slogan="Personalized by what you share with others.",
    third_way="the part of it that enough others have too",
    seen_in_short=(
        "The query and what a deletion has left of your own interests. Anyone who finds out that "
        "this row is yours knows every interest in it."
    ),
    hides_nothing="",
    order_by="what a deletion has left of it",
    own=Forms(
        "This row is what a deletion has left of your own interests, so it stands for you alone. "
        f"It is all that mode “{_MODE}” knows."
    ),
    place="row",
    forgotten="Your row. It is withdrawn, and no other row changes by a byte.",
    left=(
        "At once, your row disappears. Everybody who can sign in can learn that somebody left. "
        "Anybody who has a published copy can see which row is gone. No other row changes by a "
        "byte."
    ),
    in_none="No row stands for you.",
    reached="All of your interests were deleted, because too few others have them.",
    same_request=(
        "But your row is yours alone: someone who has found out which row is yours knows from the "
        "request that you are searching."
    ),
    common=("Left in your row", "The row has these interests. It does not say that it is yours."),
    lost=("Deleted", "Interests of yours that were removed so that the promise holds."),
    known="the part of your profile that enough others have too",
    how=Markup(
        "A profile is the words that a person has searched for. Words that too few others have are "
        "deleted. What is left of each person is released as a <em>row</em> without a name."
    ),
    seen_at_length=(
        "The ranking sees the query and your row: what a deletion has left of your own interests. "
        "The code that computes it receives nothing else: no identity and no deleted interest. If "
        "nothing is left of your interests, you get the plain order."
    ),
    kept="whose each row is, and what was deleted from each profile",
    not_differential="about how many rows share some interests, as above, and nothing else.",
    note="A row’s own page shows its interests, never whose they are.",
    legend=(
        "Rows with its rarest interest: how many rows have the interest of this row that the "
        "fewest rows have. Someone who knows only this interest of a person is left with that "
        "number of rows."
    ),
    behind="behind it",
    released="What is left of this person’s interests",
    carried_by="its person",
)
OF_ONE = "This row is what a deletion has left of one person’s own interests"
NOBODY_ELSE = "Anyone who finds out whose it is knows every interest in it"
_HIDDEN = f"{OF_ONE}. The people here may be real, so its interests are not shown."
_SHARES = (
    (
        "distinct_terms_kept",
        "Different interests kept",
        "The share of all different interests in the profiles that are in some row.",
    ),
    (
        "log_size_kept",
        "Log size kept",
        "The share of the whole log that is left: each interest of each person counts by its "
        "weight in their profile.",
    ),
)
_KEPT = {"distinct terms kept": "distinct_terms_kept", "log size kept": "log_size_kept"}
_K_1 = "k=1 deletes nothing and hides nobody, and can't be published. Take --set k=2, or more"


class Combinations(NamedTuple):
    """The promise that each set of at most m terms of a row stands in k rows or more."""

    k: int
    m: int

    @property
    def promise(self) -> str:
        """Return what is promised, as a sentence without a full stop."""
        at_least = f"at least {count(self.k, 'row', 'rows')}"
        if self.m == 1:
            return f"Each interest of a row is in {at_least}"
        alone = "and so is each alone" if self.m == 2 else "and so are fewer"
        return f"Any {in_letters(self.m)} interests of a row are together in {at_least}, {alone}"

    @property
    def known(self) -> str:
        """Return what the promise means against an attacker who knows some terms of a row."""
        few = "one interest" if self.m == 1 else f"at most {in_letters(self.m)} interests"
        if self.k == 1:
            return f"With k = 1 this hides nothing: {few} may be enough to find a row"
        others = "1 other" if self.k == 2 else f"{self.k - 1:,} others"
        return f"Someone who knows {few} of a person’s row can’t tell it from at least {others}"

    @property
    def beyond(self) -> str:
        """Return what is not promised, as a sentence without a full stop."""
        longer = in_letters(self.m + 1)
        return f"Nothing is promised about {longer} or more interests together, weights, or times"


@dataclass(frozen=True, eq=False)
class RowFigures(Figures):
    """A release's rows of one person each, in numbers."""

    having: Ints  # by released term: rows that have it
    rarest: Ints  # by row: rows that have its rarest term
    kept: Floats  # by person of the profiles: the share of their terms that is left

    @property
    def rowless(self) -> int:
        """Return how many people have no row, because nothing of them is left."""
        return int(np.count_nonzero(self.kept == 0))


class _OfOwnRow(Population):
    """People who see what their own row gives away, and nothing of the deleted terms."""

    def group(self, row: ReleasedRow, members: Ints) -> OwnGroup:
        """Return what `row`, of one person, gives away; `members`: 1 for each own term."""
        group = super().group(row, members)
        terms = [self.column[term] for term in row.weights]
        # Someone who knows the row is certain of each of its terms, so the rarest one tells most.
        belief = 1 - float(self.having[terms].min()) / len(self.profiles)
        rarest = min(self._rows_having[term] for term in row.weights)
        return replace(group, belief=belief, rarest=rarest)

    @cached_property
    def _rows_having(self) -> dict[str, int]:
        having = rows_having(self.served_by).tolist()
        return dict(zip(self.served_by.rows.terms, having, strict=True))


def rows_having(release: Release) -> Ints:
    """Return how many rows have each of the terms of `release`."""
    columns = release.rows.weights.indices
    return np.bincount(columns, minlength=len(release.rows.terms)).astype(np.int64)


class SingleRows(Disclosure):
    """What is shown of single-person rows; where people may be real, only how many there are."""

    words = WORDS
    columns = (
        ListColumn("people", "people"),
        ListColumn("terms", "released_terms", "Interests left"),
        ListColumn("rarest", "having_rarest_term", "Rows with its rarest interest"),
    )
    pictures = ("left", "lengths", "usual", "rarest")
    named_by: ClassVar[tuple[str, ...]] = ("k", "m")
    orders = ("name", "terms")
    term_columns = ("Rows that have it",)
    readers = _OfOwnRow

    @cached_property
    def figures(self) -> RowFigures:
        """Return all numbers of the rows; what is left of people needs their profiles."""
        rows, users, profiles = self.release.rows, self.release.users, self.profiles
        having = rows_having(self.release)
        people = self.release.grouping.sizes
        kept = np.zeros(0)
        if profiles is not None and profiles.row_of.keys() >= set(users):
            kept = np.zeros(len(profiles))
            kept[[profiles.row_of[user] for user in users]] = rows.sizes[self.release.row_of_user]
            kept /= profiles.sizes
        # Each row is of one person, so none is shown where people may be real.
        return RowFigures(
            people,
            rows.sizes,
            np.arange(people.size) if self.singles else np.flatnonzero(people > 1),
            having,
            np.minimum.reduceat(having[rows.weights.indices], rows.weights.indptr[:-1]),
            kept,
        )

    @cached_property
    def promise(self) -> Combinations:
        """Return what is promised of the rows."""
        given = self.release.parameters
        return Combinations(whole(given["k"]), whole(given["m"]))

    @property
    def weighed(self) -> bool:
        """Return whether rows keep the weights of own profiles; otherwise all weights are 1."""
        return bool(self.release.parameters.get("frequencies", "keep") == "keep")

    @classmethod
    def lines(cls, made: Mapping[str, Any]) -> list[str]:
        """Return lines on the release `made`: who has a row, what it promises, what is kept."""
        facts, given = made["facts"], made["parameters"]
        users, left_out = facts["users"], facts["users_left_out"]
        there = users + left_out
        chosen = ", ".join(
            f"{name}={given[name]}" for name in ("algorithm", "target", "marketing", "frequencies")
        )
        promised = f"k={given['k']} m={given['m']}"
        return [
            f"{users} of {there} {'user' if there == 1 else 'users'} "
            f"{'has' if users == 1 else 'have'} a row of their own: {made['release']}",
            value_line("promised: any m terms of a row stand in k rows", promised),
            value_line("made by", chosen),
            value_line("users without a row: no term is left", f"{left_out}"),
            *(value_line(label, rounded_share(facts[name])) for label, name in _KEPT.items()),
        ]

    @staticmethod
    def warning(made: Mapping[str, Any]) -> str:
        """Return a warning if the release `made` hides nobody; else nothing."""
        return "" if made["parameters"]["k"] > 1 else f"Warning: {_K_1}"

    # -- facts ---------------------------------------------------------------------------------

    def facts(self) -> list[Fact]:
        """Return the facts of the release."""
        shares = [
            Fact(label, rounded_share(self.stated[name]), meaning)
            for name, label, meaning in _SHARES
            if self.stated.get(name) is not None
        ]
        facts = [self._promised(), self._weights()]
        if (number := self.stated.get("users_left_out")) is not None:
            meaning = "Everybody has a row: some interest of each person is left."
            if number:
                meaning = (
                    "All of their interests were deleted. They get the plain order, and nobody "
                    "else’s row."
                )
            facts.append(Fact("People without a row", f"{number:,}", meaning))
        return facts + shares

    def behind(self, users: int) -> Fact:
        """Return the fact that `users` people, which is one, are behind a row."""
        return Fact("People behind the row", f"{users:,}", f"{OF_ONE}. {NOBODY_ELSE}.")

    def facts_with(self, behind: Fact) -> list[Fact]:
        """Return the fact `behind`, then what is promised of a row."""
        return [behind, self._promised(), self._weights()]

    def _promised(self) -> Fact:
        promise = self.promise
        name = f"Rows that have the same interest{'' if promise.m == 1 else 's'}"
        meaning = f"{promise.promise}. {promise.known}. {promise.beyond}."
        return Fact(name, f"{promise.k:,} or more", meaning)

    def _weights(self) -> Fact:
        name = "Weights in the rows"
        if not self.weighed:
            return Fact(name, "all 1", "The rows do not say how often a person used an interest.")
        meaning = (
            "Each interest has the weight that it has in its person’s own profile, for example how "
            "often they used it. Nothing is promised about weights: an unusual one may point to a "
            "row."
        )
        return Fact(name, "as in the profiles", meaning)

    def row_facts(self, row: int) -> list[Fact]:
        """Return the facts that `row` shows an outsider."""
        shown = self.figures.is_shown(row)
        meaning = f"{OF_ONE}. {NOBODY_ELSE}." if shown else _HIDDEN
        facts = [self.behind(1)._replace(meaning=meaning), self._promised()]
        if shown:
            k, m = self.promise
            rarest = int(self.figures.rarest[row])
            sets = "an interest" if m == 1 else f"up to {in_letters(m)} interests"
            meaning = (
                f"The rarest interest of this row is in {count(rarest, 'row', 'rows')}. "
                f"At least {k:,} is promised, for {sets}."
            )
            facts.append(Fact("Rows with its rarest interest", f"{rarest:,}", meaning))
        return [*facts, self._weights()]

    def facts_about(self, view: OwnView) -> list[Fact]:
        """Return what is left of the terms of `view`, and how well it hides their person."""
        if view.group is None:
            meaning = f"No row stands for you. “{_MODE}” gives you the plain order."
            return [Fact("Interests of yours that are left", "none", meaning), self._promised()]
        left, rare, belief = len(view.common), view.group.rarest or 0, view.group.belief
        kept = Fact(
            "Interests of yours that are left",
            f"{left:,} of {len(view.terms):,}",
            f"They are your row. Nobody else is behind it, and it has no name. {NOBODY_ELSE}.",
        )
        rows = f"{rare:,} rows, and yours is one of them. Someone who knows it is left with these"
        if rare == 1:
            rows = "your row alone. Someone who knows that you have it knows your row"
        meaning = f"The rarest of your released interests is in {rows}."
        if not view.group.measured:
            return [kept, self._promised(), self._weights()]
        hidden = Fact("Rows with your rarest interest", f"{rare:,}", meaning)
        meaning = (
            "Someone who finds out which row is yours knows that its interests are yours. This "
            f"raises a guess that you have one by {up_to(belief)} percentage points, "
            "compared with how common the interest is among all. Nothing limits this."
        )
        moved = change_of_belief(belief, meaning)
        return [kept, self._promised(), hidden, self._weights(), moved]

    def explained(self, mode: str) -> Section:
        """Return what the rows behind `mode` promise and do not promise, and the price."""
        # While the rows are withheld, strangers can read this: their number would say who left.
        promise, left_out = self.promise, 0 if self.closed else self.release.left_out
        made = f"The release behind “{mode}”" if mode else "This release"
        price = "rare interests say most about a person, and they are the ones that go. Here "
        price += (
            "people with such interests only have no row, and get the plain order"
            if self.closed
            else "everybody has some interest left"
        )
        if left_out:
            price = (
                f"{count(left_out, 'person has', 'people have')} no row, because all of their "
                "interests were deleted. They get the plain order"
            )
        weights = "All weights in the rows are 1"
        if self.weighed:
            weights = (
                "The rows keep the weights of people’s own profiles, and an unusual one may point "
                "to a row"
            )
        first = promise.promise[0].lower() + promise.promise[1:]
        return Section(
            "What (k,m)-anonymity says",
            Markup(
                "{} is made by deletion: interests are removed from people’s profiles until the "
                "rest keeps a promise with two numbers, <em>k</em> = {} and <em>m</em> = {}. Each "
                "row is of one person, without a name."
            ).format(made, f"{promise.k:,}", promise.m),
            [
                ("It says:", Markup("{}. {}.").format(first, promise.known)),
                (
                    "It does not say more.",
                    Markup(
                        "{}. {}. Anyone who finds out whose row it is knows every interest in it."
                    ).format(promise.beyond, weights),
                ),
                ("It has a price:", Markup("{}.").format(price)),
            ],
        )

    # -- the list of rows ----------------------------------------------------------------------

    def headline(self) -> Headline:
        """Return what the rows are, as heading and lead."""
        k, m = self.promise
        sets = "each interest of a row is"
        if m > 1:
            sets = f"any interests of a row, up to {m} at a time, are together"
        return Headline(
            "Rows of one person, and what they give away",
            "Nobody is put in a group here. Interests were deleted from all profiles until "
            f"{sets} in {k:,} rows or more. Each row is of one person, without a name.",
        )

    def withheld(self) -> Markup:
        """Return why no row is shown."""
        return Markup(
            "There are {} rows. The people here may be real, and each row is what is left of one "
            "person’s own interests. So no row is listed or drawn."
        ).format(f"{self.figures.people.size:,}")

    @property
    def listed(self) -> bool:
        """Return whether there is a list of the rows."""
        return self.figures.shown.size > 0

    def measured(self, row: int) -> dict[str, float | int | None]:
        """Return the measures of `row`."""
        return {"terms": int(self.figures.terms[row]), "rarest": int(self.figures.rarest[row])}

    @property
    def term_counts(self) -> tuple[Ints, ...]:
        """Return how many rows have each released term."""
        return (self.figures.having,)

    # -- charts --------------------------------------------------------------------------------

    def histograms(self) -> list[Histogram]:
        """Return the charts of the rows; none where the people may be real."""
        if not self.listed:
            return []
        left = [self._left()] if self.figures.kept.size else []
        return [*left, self._lengths(), self._usual(), self._rarest()]

    def _left(self) -> Histogram:
        kept, rowless = self.figures.kept, self.figures.rowless
        half = percent(float(np.quantile(kept, 0.5, method="inverted_cdf")))
        none = f" {count(rowless, 'person has', 'people have')} none left, and no row." * (
            rowless > 0
        )
        return Histogram(
            "left",
            "How much is left of a person",
            "share of their different interests that is left",
            "people",
            ("from", "to", "people"),
            share_counts(kept),
            f"Half of the {kept.size:,} people have at most {half} % of their different interests "
            f"left.{none}",
            shares=True,
        )

    def _lengths(self) -> Histogram:
        terms = self.figures.terms
        rows, counts = count(terms.size, "row", "rows"), np.bincount(terms)
        sentence = (
            "The shortest of {rows} has {low}, the longest {high}. Half of the rows have at most "
            "{half}."
        )
        return Histogram(
            "lengths",
            "How many interests a row has",
            "interests of a row",
            "rows",
            ("terms", "rows"),
            counts,
            spread(counts, sentence, rows=rows),
        )

    def _usual(self) -> Histogram:
        having, rows = self.figures.having, self.figures.people.size
        counts = np.bincount(having)
        sentence = (
            f"Every released interest is in {{low}} or more of the {rows:,} rows. Half of these "
            f"{having.size:,} interests are in at most {{half}} rows, the most common in {{high}}."
        )
        return Histogram(
            "usual",
            "How many rows have a released interest",
            "rows that have the interest",
            "released interests",
            ("rows", "released_terms"),
            counts,
            spread(counts, sentence),
        )

    def _rarest(self) -> Histogram:
        counts = np.bincount(self.figures.rarest)
        low, half = (quantile(counts, share) for share in (LEAST, 0.5))
        most = f"at most {half:,}" if half > low else f"no more than {low:,}"
        return Histogram(
            "rarest",
            "How many rows have a row’s rarest interest",
            "rows that have its rarest interest",
            "rows",
            ("having_rarest_term", "rows"),
            counts,
            f"Someone who knows the rarest interest of a person’s row is left with {low:,} rows or "
            f"more that have it. For half of the rows, it is {most}.",
        )

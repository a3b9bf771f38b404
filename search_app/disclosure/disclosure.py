"""What is shown of a release: one Disclosure for each kind of row, which all pages and verbs ask.

A disclosure gives the sentences, facts, figures, charts and columns of a release's rows. Pages and
verbs ask it, and never ask what the rows are like. A new kind of row needs a subclass in a file of
its own, and a line in kinds.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from markupsafe import Markup

from anonymizer.arrays import Ints
from anonymizer.model import Profiles, Release, ReleasedRow

from .histograms import Histogram
from .numbers import at_worst, count, two_decimals
from .own_view import SCALE, OwnView, Population, mean_index, own_index

if TYPE_CHECKING:
    from ..workspace.ledger import Noted

_ONLY_YOURS = "Interests only you have"


class Fact(NamedTuple):
    """A measured value and its meaning."""

    name: str
    value: str
    meaning: str


class RankingFacts(NamedTuple):
    """The facts of a person's own row, and in small print those of the worst of all rows."""

    own: list[Fact]
    worst: Sequence[Fact] = ()


class ListColumn(NamedTuple):
    """A measure in the list of rows."""

    name: str
    csv: str  # its name in the CSV file; empty: not in the file
    heading: str = ""  # on the page; empty: not on the page


class ListLine(NamedTuple):
    """A row in the list; a measure that may not be shown is None."""

    name: str
    people: int
    measured: Mapping[str, float | int | None]


class Headline(NamedTuple):
    """The heading of a page, and the paragraph below it."""

    title: str
    lead: str


class Section(NamedTuple):
    """A section of the page on what is promised; each point begins with words in bold."""

    heading: str
    lead: Markup
    points: Sequence[tuple[str, Markup]]
    among: Markup = Markup()  # replaces the lead where rows of other kinds are explained too


class Forms(NamedTuple):
    """A sentence on a row, by how many people it is of; {number} and {people} give the count."""

    alone: str  # of one person; also stands in for a form that is not given
    shared: str = ""  # of several people
    fallback: str = ""  # the mean of all groups, for people in no group
    unknown: str = ""  # of a number of people that is not known

    def of(self, users: int | None, *, fallback: bool = False, **more: str) -> str:
        """Return the sentence on a row of `users` people, with `more` filled in."""
        if users is None:
            return self.unknown or self.alone
        form = self.fallback if fallback else self.shared if users > 1 else self.alone
        people = count(users, "person", "people")
        return (form or self.alone).format(number=f"{users:,}", people=people, **more)


@dataclass(frozen=True)
class Words:
    """The sentences and parts of sentences on a kind of row that need no numbers."""

    mode: str  # name of the mode in which such a row orders the results
    unit: str  # what a row stands for in a list of rows
    row: str  # what such a row is called
    own_row: str  # what a person calls their own one
    releases: str  # what several releases are called
    # a ranking by such a row
    seen: Forms  # what it sees
    named: Forms  # which {row} it is by, for the command line
    behind_row: Forms  # who is behind the row, to the end of a sentence
    whose: str  # its interests, in the middle of a sentence
    holder: str  # whose order it is
    order: str
    again: str  # the holder, when named a second time
    alone: str  # what is added where the row stands for one person
    rowless: str  # why a person has no row, with {where} and {mode}
    nothing_seen: str  # what the ranking sees of a person without a row
    no_row: str  # the same for the command line
    # the first pages
    slogan: str
    third_way: str
    seen_in_short: str  # with {sizes}, where groups have sizes
    hides_nothing: str  # what is added where some rows stand for one person
    order_by: str
    # a person's own page
    own: Forms  # what the own row is
    place: str  # what a person loses who is forgotten
    forgotten: str
    left: str  # what others may see when a row is withdrawn, and when
    in_none: str  # that no row stands for this person
    reached: str  # the same, for a person of the release: its method gave them none
    same_request: str
    common: tuple[str, str]  # own terms in the row: their heading and meaning
    lost: tuple[str, str]
    # the page on what is promised
    known: str
    how: Markup
    seen_at_length: str
    kept: str
    not_differential: str
    # the pages of all rows and of one
    note: str
    legend: str
    behind: str  # who is not part of a release
    released: str
    carried_by: str

    @property
    def units(self) -> str:
        """Return what several rows stand for."""
        return f"{self.unit}s"

    def of_closest(self) -> Words:
        """Return the words for somebody in no group: the row of the closest group serves them."""
        group = "the closest group"
        whose, alone = f"{group}’s", " But its row is one person’s own profile."
        return replace(self, whose=whose, holder=group, order=f"{whose} order", alone=alone)


@dataclass(frozen=True, eq=False)
class Figures:
    """A release's rows in numbers."""

    people: Ints  # by row
    terms: Ints  # released terms by row
    shown: Ints  # rows whose figures may be shown

    def is_shown(self, row: int) -> bool:
        """Return whether the figures and terms of `row` may be shown."""
        return bool(self._showable[row])

    @cached_property
    def _showable(self) -> np.ndarray:
        showable = np.zeros(self.people.size, dtype=np.bool_)
        showable[self.shown] = True
        return showable

    @cached_property
    def orders(self) -> Mapping[str, Ints]:
        """Return the rows in each order: by name, by people and by terms, most first."""
        # A place among the others would reveal the terms of a row that is not shown.
        terms = np.where(self._showable, self.terms, 0)
        return {
            "name": np.arange(self.people.size),
            "people": np.argsort(-self.people, kind="stable"),
            "terms": np.argsort(-terms, kind="stable"),
        }


class Disclosure(ABC):
    """What is shown of a release whose rows are of one kind."""

    # `closed`: the release is withheld until it is published, so only its sizes are shown.
    # `singles`: the people are invented, so single-person rows may be shown. Without a release,
    # pages ask only for sentences and for a person's own terms.

    words: ClassVar[Words]
    columns: ClassVar[tuple[ListColumn, ...]]
    pictures: ClassVar[tuple[str, ...]]  # names of the charts that there may be
    named_by: ClassVar[tuple[str, ...]] = ("p",)  # parameters that stand in a release's name
    orders: ClassVar[tuple[str, ...]] = ("name", "people", "terms")  # of the list
    term_columns: ClassVar[tuple[str, ...]] = ()  # further headings in the table of a row's terms
    readers: ClassVar[type[Population]] = Population  # all people, by what each sees

    def __init__(
        self,
        given: Release | None,
        profiles: Profiles | None = None,
        *,
        closed: bool = False,
        singles: bool = True,
    ):
        self.given = given
        self.profiles = profiles
        self.closed = closed
        self.singles = singles

    @property
    def release(self) -> Release:
        """Return the release; raise LookupError where there is none."""
        if self.given is None:
            raise LookupError("there is no release")
        return self.given

    @property
    def stated(self) -> Mapping[str, Any]:
        """Return the facts that the release states; none where there is no release."""
        return self.given.facts if self.given else {}

    @cached_property
    @abstractmethod
    def figures(self) -> Figures:
        """Return all numbers that the pages show of the rows."""

    @cached_property
    def population(self) -> Population | None:
        """Return all people, who each see their own part; None without profiles."""
        if self.profiles is None:
            return None
        return self.readers(self.profiles, self.given, closed=self.closed, invented=self.singles)

    # -- sentences -----------------------------------------------------------------------------

    def sees(self, users: int | None, *, fallback: bool = False) -> str:
        """Return what a ranking sees by a row of `users` people; None: the number is not known."""
        return self.words.seen.of(users, fallback=fallback)

    def named_row(self, name: str, users: int, *, fallback: bool = False) -> str:
        """Return, for the command line, which row orders the results: `name`, of `users` people."""
        return self.words.named.of(users, fallback=fallback, row=name)

    def made_of(self, users: int, *, fallback: bool = False, smoothed: bool = False) -> str:
        """Return the end of a sentence on a row: the `users` people who are behind it."""
        by = ", smoothed with all released rows and with the terms that documents have together"
        return self.words.behind_row.of(users, fallback=fallback, smoothed=by * smoothed)

    def own_row(self, row: ReleasedRow, *, smoothed: bool) -> str:
        """Return what a person's own `row` is, and what mode and public know of it."""
        knows = f"It is all that mode “{self.words.mode}” knows, and"
        if smoothed:
            knows = f"Mode “{self.words.mode}” knows it smoothed with all published rows. It is"
        return self.words.own.of(row.users, fallback=row.fallback, knows=knows)

    @property
    def seen_in_short(self) -> str:
        """Return in short what a ranking by a row of this release sees."""
        low, high = (self.stated.get(f"{size}_group", 0) for size in ("smallest", "largest"))
        people = f"{low:,}–{high:,} people" if low < high else count(low, "person", "people")
        sizes = f" ({people} here)" * (low > 0)
        return self.words.seen_in_short.format(sizes=sizes) + self.alone

    @property
    def alone(self) -> str:
        """Return what is added where some rows of this release may stand for one person."""
        # Without the number of single-person rows nothing rules them out.
        return self.words.hides_nothing * (self.stated.get("single_person_rows") != 0)

    @classmethod
    @abstractmethod
    def lines(cls, made: Mapping[str, Any]) -> list[str]:
        """Return what the command line says of the release that was `made` a moment ago."""

    @staticmethod
    @abstractmethod
    def warning(made: Mapping[str, Any]) -> str:
        """Return a warning of rows that were `made` and hide nobody; empty where there are none."""

    # -- facts ---------------------------------------------------------------------------------

    @abstractmethod
    def facts(self) -> list[Fact]:
        """Return the facts of the release, each with its meaning; never one number for all."""

    def ranking_facts(self, users: int, *, fallback: bool = False) -> list[Fact]:
        """Return the facts that stand next to a ranking by a row of `users` people."""
        return self.facts_with(self.mean_of_all(users) if fallback else self.behind(users))

    def facts_of_ranking(self, user: str, users: int, *, fallback: bool = False) -> RankingFacts:
        """Return the facts next to a ranking by the row of `user`, one of `users` people."""
        if fallback or not (own := self.facts_of(user)):
            return RankingFacts(self.ranking_facts(users, fallback=fallback))
        behind, *worst = self.ranking_facts(users)
        return RankingFacts([behind, *own], worst)

    def facts_of(self, _user: str, /) -> list[Fact]:
        """Return what is measured of the user's row; nothing where only releases are measured."""
        return []

    @abstractmethod
    def behind(self, users: int) -> Fact:
        """Return the fact that `users` people are behind a row that orders results."""

    def mean_of_all(self, users: int) -> Fact:
        """Return the fact that `users` people, all in groups, are behind the fallback row."""
        return self.behind(users)

    @abstractmethod
    def facts_with(self, behind: Fact) -> list[Fact]:
        """Return the fact `behind`, then what the release promises and gives away."""

    @abstractmethod
    def row_facts(self, row: int) -> list[Fact]:
        """Return the facts that `row` shows an outsider."""

    def own_facts(self, view: OwnView, ledger: Sequence[Noted] | None) -> list[Fact]:
        """Return what the row and the own terms in `view` give away, and the releases so far."""
        only, so_far = _only_mine(view, self.words.own_row), _so_far(ledger)
        index, measured = own_index(view), []
        if index is not None:
            value, parts = index
            most = f"What matters most: {parts}." if parts else "Nothing differs."
            name, meaning = "How much your row hides (JSD)", f"{SCALE} {most}"
            measured = [Fact(name, two_decimals(value), meaning)]
        return [*self.facts_about(view), *measured, only, so_far]

    def mean_facts(self) -> list[Fact]:
        """Return the mean over all people of how much rows hide, where that may be shown."""
        # Seen before and after somebody leaves, it would show what that person's row hid. Where
        # rows do not show members' shares, it would say something of these.
        may_be = self.singles and not self.closed
        if self.given is None or self.profiles is None or not may_be:
            return []
        if self.given.promise.hides_members:
            return []
        mean = mean_index(self.profiles, self.given)
        return [Fact("How much rows hide (JSD), on average", mean, SCALE)] if mean else []

    @abstractmethod
    def facts_about(self, view: OwnView) -> list[Fact]:
        """Return what the row gives away about the person of `view`."""

    @abstractmethod
    def explained(self, mode: str) -> Section:
        """Return what is promised; `mode`: the further one that these rows serve, or empty."""

    # -- the list of rows ----------------------------------------------------------------------

    @abstractmethod
    def headline(self) -> Headline:
        """Return what the rows are, as heading and lead."""

    @abstractmethod
    def withheld(self) -> Markup:
        """Return why not all rows are shown; {own_page} stands for the address of the own page."""

    def unmeasured(self) -> str:
        """Return why there are charts of sizes only; empty where there are others."""
        return ""

    @property
    def note(self) -> str:
        """Return what the page of one row shows."""
        return self.words.note

    @property
    def why_hidden(self) -> str:
        """Return why a row's terms are not shown."""
        return "The interests of this row are one person’s own, so they are not shown here."

    @property
    def listed(self) -> bool:
        """Return whether there is a list of the rows."""
        return True

    @abstractmethod
    def histograms(self) -> list[Histogram]:
        """Return all charts that there are."""

    @abstractmethod
    def measured(self, row: int) -> dict[str, float | int | None]:
        """Return the measures of `row`, which may be shown, by the names of columns."""

    def line(self, row: int) -> ListLine:
        """Return the line of the list for `row`."""
        values = self.measured(row) if self.figures.is_shown(row) else {}
        people = int(self.figures.people[row])
        measured = {column.name: values.get(column.name) for column in self.columns}
        name = self.release.rows.users[row]
        return ListLine(name, people, {**measured, "people": people})

    @property
    def term_counts(self) -> tuple[Ints, ...]:
        """Return what is counted of each released term, for each of `term_columns`."""
        return ()

    def term_cells(self, row: int) -> dict[str, tuple[str, ...]]:
        """Return the further cells of each term of `row`, in the order of `term_columns`."""
        columns = self.release.rows.slice(row)[0].tolist()
        return {
            self.release.rows.terms[at]: tuple(f"{counts[at]:,}" for counts in self.term_counts)
            for at in columns
        }


def _only_mine(view: OwnView, row: str) -> Fact:
    if view.hides_counts:
        meaning = (
            "No page shows here how many people have an interest. Seen before and after somebody "
            "leaves, or compared with all rows, that number would reveal more than the rows do."
        )
        return Fact(_ONLY_YOURS, "not shown", meaning)
    only = view.only_mine
    if not only:
        return Fact(_ONLY_YOURS, "0", "Every interest of yours is in another profile too.")
    released = sum(term.released is not None for term in only)
    meaning = (
        "Nobody else’s profile has them. Someone who knows the profiles, and sees one of these in "
        "a search, knows that it is you."
    )
    if view.group is not None:
        number = "None is" if not released else count(released, "is", "are")
        meaning += f" {number} in {row}" + (", because of you alone." if released else ".")
    return Fact(_ONLY_YOURS, f"{len(only):,}", meaning)


def _so_far(ledger: Sequence[Noted] | None) -> Fact:
    """Return how many releases were made, and what was published of them."""
    if not ledger:
        meaning = "No ledger of releases is kept here."
        if ledger is None:
            meaning = "The ledger of releases can’t be read; please tell the operator."
        return Fact("Releases so far", "not known", meaning)
    # The same rows, made or published again, are still one release: they tell nothing new.
    made, published = (
        len({noted.sha256 for noted in ledger if noted.event == event})
        for event in ("made", "published")
    )
    # A file with a row less, or with a cohort more, is a file of the same release.
    files = count(published, "file", "different files")
    sentence = f"Rows were published, in {files}." if published else "Nothing was published."
    meaning = (
        f"{sentence} Someone who sees two different rows of a person learns what they share. So "
        "nobody should ever stand in two published rows."
    )
    return Fact("Releases so far", f"{made:,} made", meaning)


def change_of_belief(belief: float, meaning: str) -> Fact:
    """Return the fact of the largest change of `belief` about any term."""
    return Fact("Change of belief, at worst", at_worst(belief), meaning)


def value_line(label: str, value: str) -> str:
    """Return `label` and `value` as a line below their release, for the command line."""
    return f"  {label:<48} {value}"

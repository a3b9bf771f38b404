"""Rows of groups: each is the mean or union of the interests of several people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from markupsafe import Markup

from anonymizer.arrays import Ints
from anonymizer.measures.group_counts import count_groups
from anonymizer.methods import names_where, promise_of

from .disclosure import (
    Disclosure,
    Fact,
    Forms,
    Headline,
    ListColumn,
    Section,
    Words,
    change_of_belief,
    value_line,
)
from .group_figures import NOTHING, GroupFigures, figures_of, served, support
from .histograms import Histogram, quantile, share_counts, spread
from .numbers import at_worst, count, hundredths, rounded_up, two_decimals, up_to, whole_percent
from .own_view import MemberShare, OwnGroup, OwnView, ProfileTerm

WORDS = Words(
    mode="My group",
    unit="group",
    row="the group’s row",
    own_row="your group’s row",
    releases="groupings",
    seen=Forms(
        "the query and one person’s own profile (the group’s row): it hides nothing",
        "the query and the shared interests of {people} (their group’s row)",
        "the query and the average of all groups’ shared interests (their rows), of {people}",
        "the query and the group’s shared interests (its row)",
    ),
    named=Forms(
        "by row {row}, of one person",
        "by row {row}, shared by {number} people",
        "by row {row}, the mean of all groups' rows, of {number} people",
    ),
    behind_row=Forms(
        ". That row is one person’s own profile: it hides nothing.",
        ". {people} share that row{smoothed}. Nobody’s own profile is used here.",
        ". That row is the average of all groups’ rows, of {people}{smoothed}.",
    ),
    whose="your group’s",
    holder="your group",
    order="your group’s order",
    again="the group",
    alone=" But you are alone in your group: its row is your own profile and hides nothing.",
    rowless=(
        "You are in no group, and there is no row that may serve you. So instead of “{mode}” you "
        "get the plain order."
    ),
    nothing_seen=("the query only: you are in no group, and there is no row that may serve you"),
    no_row="no row stands for this person: this is the plain order",
    slogan="Personalized by your group, not by you.",
    third_way="the interests your group shares",
    seen_in_short="The query and one shared list of interests for your group{sizes}.",
    hides_nothing=" For a group of one person this is that person’s own profile: it hides nothing.",
    order_by="their group",
    own=Forms(
        "This row stands for you alone. {knows} all that this release publishes about you.",
        "This row stands for {number} people, and you are one of them. {knows} all that is ever "
        "published about you.",
        "You are in no group. This row is the average of all groups’ rows, of {number} people, and "
        "holds nothing of yours. It is all that mode “My group” knows.",
    ),
    place="place in a group",
    forgotten=(
        "Your group’s row. It is withdrawn, and from then on the row of the closest group serves "
        "the other members. No other row changes by a byte."
    ),
    left=(
        "At once, your group’s row disappears, and the row of the closest group serves its other "
        "members. They, everybody who can sign in, and anybody who has a published copy, can learn "
        "that somebody of your group left. No other row changes by a byte."
    ),
    in_none="You are in no group, so no row stands for you.",
    reached="You are in no group, so no row stands for you.",
    same_request="Your group’s request is the same, byte for byte, for all its members.",
    common=("In the row too", "The row has these interests too. It does not say whose they are."),
    lost=("Not in the row", "Interests of yours that the group’s row does not have."),
    known="which group you are in",
    how=Markup(
        "A profile is the words that a person has searched for. Profiles that are alike are put in "
        "a group. For each group one list of shared interests is released: its <em>row</em>."
    ),
    seen_at_length=(
        "The ranking sees the query and the group’s row. The code that computes it receives "
        "nothing else: no identity and no profile."
    ),
    kept="who is in which group, and each group’s row",
    not_differential="about linking people to interests, as explained above, and nothing else.",
    note="A group’s own page shows its released interests, never its members.",
    legend=(
        "Linked by chance: how often a random member has a random interest of the group. Linked at "
        "worst: the share of members who have the group’s most common interest; 1 means that every "
        "member has it. Change of belief: the most that knowing the group moves a guess about an "
        "interest of somebody in it."
    ),
    behind="in it",
    released="What is released of it",
    carried_by="its people",
)
# Two formulas for the same value can differ in its last digits.
_SAME = 1e-9
NAMED = 8  # terms named in a sentence
ON_AVERAGE = "Linked to an interest, on average"
AT_WORST = "Linked to an interest of the row, at worst"
_SHARED = (
    "Their searches carry the same shared interests (the group’s row), so the row can’t tell which "
    "of them is searching."
)
_ALONE = "This row is one person’s own profile: it hides nothing."
_HIDDEN = (
    "This row is one person’s own profile. The people here may be real, so neither its interests "
    "nor its figures are shown."
)
COMPARED = "among the people of the same cohort"
_TO_ALL = "among all people of the release"  # of what pages measure
_COHORT = (
    "A cohort is the people who got their rows at the same time. If nobody was admitted later, it "
    "is all people of the release. Someone who does not know who came when can learn more: rows of "
    "a later cohort show what newcomers have in common."
)
_EVERY = "every interest, present or absent, compared within a cohort"
_MORE_CERTAIN = "A single interest may be far more certain: an average protects none."
_NOT_PROMISED = "Not promised here, only measured"
# Groups may publish other shares than their members' own, by which belief changes more or less.
_BY_MEMBERS = "largest change of belief, by members' shares"
_BY_ROWS = "largest change of belief, by the rows"
_LINKABILITY = {
    "mean profile over a group's terms, worst group": "average_linkability",
    "mean share of members a term, worst group": "share_linkability",
    "share of members, worst term": "worst_linkability",
    "share of members, worst released term": "released_linkability",
    _BY_MEMBERS: "change_of_belief",
}


def chance(share: MemberShare) -> str:
    """Return how often a guess is right that is right for the members of `share`."""
    part = Fraction(share.members, share.of)
    if part == 1:
        return "every time"
    times = "1 time" if part.numerator == 1 else f"{part.numerator:,} times"
    return f"at best {times} in {part.denominator:,}" if part else "never"


def named(terms: Sequence[ProfileTerm]) -> str:
    """Return the first of `terms` by name, and how many more there are."""
    first = ", ".join(f"“{term.term}”" for term in terms[:NAMED])
    more = len(terms) - NAMED
    return f"{first} and {more:,} more" if more > 0 else first


class Groups(Disclosure):
    """What is shown of rows of groups."""

    words = WORDS
    columns: ClassVar[tuple[ListColumn, ...]] = (
        ListColumn("people", "people", "People"),
        ListColumn("terms", "released_terms", "Released interests"),
        ListColumn("average", "average"),
        ListColumn("share", "share", "Linked by chance"),
        ListColumn("worst", "worst", "Linked at worst"),
        ListColumn("belief", "belief", "Change of belief"),
    )
    pictures: ClassVar[tuple[str, ...]] = ("sizes", "shares", "terms", "support", "belief")
    share = "share of members"
    unassigned = ""  # how people in no group are served, if they are
    promised_against = (
        "This holds against an attacker who knows all rows, which of them is yours, and all "
        "profiles without the names, but none of your interests."
    )
    surely = (
        "All members share an interest: someone who knows that a person is in this group knows "
        "this interest of theirs."
    )
    most_likely = (
        "Someone who knows that a person is in this group, and names the interest that most "
        "members have, is right for {right} of {people}."
    )

    @cached_property
    def figures(self) -> GroupFigures:
        """Return all numbers that the pages show of the groups."""
        people = self.release.grouping.sizes[: self.release.groups]
        if self.closed:
            # Compared before and after somebody leaves, numbers of terms would tell what they had.
            return GroupFigures(people, np.zeros_like(people), NOTHING)
        shown = np.arange(people.size) if self.singles else np.flatnonzero(people > 1)
        return self.counted(shown)

    def counted(self, shown: Ints) -> GroupFigures:
        """Return the figures of all groups, with measures of those that may be `shown`."""
        release, profiles = self.release, None
        if self.singles:  # no profile of real people is counted, before and after one leaves
            profiles = served(release, self.profiles)
        if profiles is None:
            return GroupFigures(release.grouping.sizes, release.rows.sizes, shown)
        counts = count_groups(profiles, release)
        return figures_of(release, counts, shown, support(counts, profiles, release, shown))

    @cached_property
    def p(self) -> float | None:
        """Return the promised bound, if there is one."""
        p = self.given.parameters.get("p") if self.given else None
        return p if isinstance(p, float) else None

    @property
    def bounds(self) -> str:
        """Return what the promise bounds."""
        return self.given.promise.bounds if self.given else "nothing"

    def says(self, bounds: str, what: str) -> str:
        """Return that `what` is promised, if the promise `bounds` it; else nothing."""
        if self.p is None or self.bounds != bounds:
            return ""
        return f"The method promises at most p = {at_worst(self.p)} for {what}. "

    # -- sentences -----------------------------------------------------------------------------

    @classmethod
    def lines(cls, made: Mapping[str, Any]) -> list[str]:
        """Return lines on the release `made`: sizes of groups, and how members are linked."""
        facts, given = made["facts"], made["parameters"]
        # The facts have no number of people in groups: `users` counts unassigned people too.
        inside = round(facts["groups"] * facts["mean_group"])
        fewest, most = facts["smallest_group"], facts["largest_group"]
        mean = f" to {most} (mean {facts['mean_group']:.2f})" if fewest < most else ""
        groups = (
            f"{count(inside, 'user', 'users')} in {count(facts['groups'], 'group', 'groups')} of "
            f"{fewest}{mean}: {made['release']}"
        )
        bounds = promise_of(made["method"], given).bounds
        if bounds != "belief":
            measured = {label: f"{facts[name]:.3f}" for label, name in _LINKABILITY.items()}
            nothing = {"promised": "nothing: it can't be published"} if bounds == "nothing" else {}
            return [groups, *(value_line(*named) for named in {**nothing, **measured}.items())]
        outside = f"{facts['users'] - inside}"
        left = [value_line(cls.unassigned, outside)] if cls.unassigned else []
        return [
            groups,
            value_line("promised: belief about a term changes at most by", f"p={given['p']:g}"),
            value_line(_BY_ROWS, f"{facts['change_of_belief']:.3f}"),
            *left,
            value_line(f"{cls.share}, worst term", f"{facts['worst_linkability']:.3f}"),
        ]

    @staticmethod
    def warning(made: Mapping[str, Any]) -> str:
        """Return a warning of groups of one person in the release `made`; empty without any."""
        single = made["facts"]["single_person_rows"]
        if not single:
            return ""
        return (
            f"Warning: {count(single, 'group has', 'groups have')} one member. Such a row is that "
            "person's own profile, so the release can't be published. Avoid this with --set k=2, "
            "or with profiles of equal length: veilsearch profiles LOG --size N"
        )

    # -- facts of the release ------------------------------------------------------------------

    def facts(self) -> list[Fact]:
        """Return the facts of the release."""
        if not (rest := self.smallest):
            return self._measured()
        smallest, meaning = f"{self.stated['smallest_group']:,}", f"{rest} Each group has one row."
        return [Fact("People in the smallest group", smallest, meaning), *self._measured()]

    def behind(self, users: int) -> Fact:
        """Return the fact that `users` people share a row that orders results."""
        meaning = f"{_ALONE if users == 1 else _SHARED} {self.smallest}"
        return Fact("People who share the row", f"{users:,}", meaning.strip())

    def facts_of(self, user: str, /) -> list[Fact]:
        """Return what the group of `user` gives away at worst."""
        group = self.population.group_of(user) if self.population else None
        return [*self.own_worst(group), self._own_belief(group)] if group else []

    def facts_with(self, behind: Fact) -> list[Fact]:
        """Return the fact `behind`, then what the release promises and gives away."""
        return [behind, *self._measured()]

    def _measured(self) -> list[Fact]:
        stated, facts = self.stated, []
        if rows := stated.get("single_person_rows"):
            are = count(rows, "row is", "rows are")
            meaning = f"{are} one person’s own profile: nothing is hidden there."
            facts.append(Fact("Rows of one person", f"{rows:,}", meaning))
        if (value := stated.get("average_linkability")) is not None:
            facts.append(self._average(value))
        if (value := stated.get("worst_linkability")) is not None:
            meaning = (
                "Someone who knows your group and guesses that you have its most common interest "
                f"is right {up_to(value)} % of the time."
            )
            if value >= 1:
                meaning = (
                    "Certain: some group has an interest that all its members share. Someone who "
                    "knows that you are in that group knows this interest of yours."
                )
            facts.append(Fact("Linked to an interest, at worst", at_worst(value), meaning))
        if (value := stated.get("change_of_belief")) is not None:
            meaning = self.moved("your group", "you have some interest", value)
            facts.append(change_of_belief(value, meaning))
        return facts

    @property
    def smallest(self) -> str:
        """Return how large the smallest group is; empty where the release does not state it."""
        smallest, groups = self.stated.get("smallest_group"), self.stated.get("groups")
        if smallest is None or groups is None:
            return ""
        return f"The smallest of the {groups:,} groups has {count(smallest, 'person', 'people')}."

    def _average(self, value: float) -> Fact:
        promised = ""
        if self.p is not None and self.bounds in ("average", "every-term"):
            promised = f" The method promises at most p = {at_worst(self.p)}."
        share = self.stated.get("share_linkability")
        if share is not None and abs(share - value) < _SAME:  # all profiles are equally long
            meaning = (
                f"On average, {rounded_up(value)} % of the members of the worst group have any "
                f"given interest of that group.{promised} {_MORE_CERTAIN}"
            )
            return Fact(ON_AVERAGE, at_worst(value), meaning)
        measured = "" if share is None else f" (measured: up to {at_worst(share)} in a group)"
        meaning = (
            "The average size of all profiles, divided by the number of different interests in the "
            f"group that has the fewest.{promised} If all profiles were equally long, a random "
            "member would have a random interest of that group this often. Where they are not, "
            f"that may happen more often{measured}. {_MORE_CERTAIN}"
        )
        return Fact(ON_AVERAGE, at_worst(value), meaning)

    def moved(self, group: str, event: str, belief: float, among: str = COMPARED) -> str:
        """Return how far knowing `group` moves a guess that `event` holds, and what is promised.

        The guess before is how common that is `among` some people.
        """
        before = 100 - rounded_up(belief) or "under 1"
        scale = f" From {before}\u00a0% to 100\u00a0% would be such a move." * (belief > 0)
        return (
            f"Learning {group} can move a guess that {event} by {up_to(belief)} percentage points, "
            f"compared with how common the interest is {among}.{scale} "
            f"{self.says('belief', _EVERY)}"
        ).strip()

    # -- facts of one group, and of a person's own ---------------------------------------------

    def row_facts(self, row: int) -> list[Fact]:
        """Return the figures of the group of `row`, and which of them is promised."""
        line = self.line(row)
        values, people = line.measured, line.people
        meaning = _SHARED
        if people == 1:
            meaning = _ALONE if self.figures.is_shown(row) else _HIDDEN
        facts = [Fact("People who share the row", f"{people:,}", meaning)]
        worst, share, average, belief = map(values.get, ("worst", "share", "average", "belief"))
        if worst is not None and share is not None:
            right = round(worst * people)
            meaning = (self.surely if right == people else self.most_likely).format(
                right=f"{right:,}",
                people=count(people, "person", "people"),
                up_to=up_to(worst),
            )
            facts.append(Fact("Linked to an interest, at worst", at_worst(worst), meaning))
            meaning = (
                "Pick a random member and a random interest of the group: they have it "
                f"{hundredths(share)} % of the time."
            )
            facts.append(Fact("Linked to an interest, by chance", two_decimals(share), meaning))
        if average is not None:
            meaning = (
                "The average size of all profiles, divided by the number of different interests of "
                f"the members. {self.says('average', 'this')}It protects no single interest."
            )
            facts.append(Fact(ON_AVERAGE, two_decimals(average), meaning))
        if belief is not None:
            meaning = self.moved("the group", "a member has a certain interest", belief, _TO_ALL)
            facts.append(change_of_belief(belief, meaning))
        return facts

    def facts_about(self, view: OwnView) -> list[Fact]:
        """Return what the group and the terms of `view` give away about a person."""
        if (group := view.group) is None or group.row.fallback:
            meaning = "You are in no group: nothing of your profile is in any row. You get the "
            meaning += "average of all groups’ rows."
            if group is None:
                meaning = (
                    "You are in no group of this release, and no row stands for you. In mode “My "
                    "group” the row of the closest group orders your results, if there is one."
                )
            return [Fact("People in your group", "none", meaning)]
        people = group.row.users
        size = "Their searches carry the same row, so the row can’t tell which of you is searching."
        if people == 1:
            size = "You are alone in it: its row is your own profile and hides nothing."
        if not group.measured:
            return [Fact("People in your group", f"{people:,}", size), *self._measured()]
        mean, value = f"{group.mean_size:,.1f}", two_decimals(group.average)
        average = (
            f"Your group has {count(group.distinct, 'different interest', 'different interests')}; "
            f"a person here has {mean} on average: {mean} / {group.distinct:,} = {value}. "
            f"{self.says('average', 'this')}{_MORE_CERTAIN}"
        )
        blind = (
            "An outsider who knows your group, and names one of its interests at random, is right "
            f"{hundredths(group.share)} times in 100, on average over its members."
        )
        return [
            Fact("People in your group", f"{people:,}", size),
            *self.own_worst(group),
            self._own_belief(group),
            self.own_known(view),
            Fact(ON_AVERAGE, value, average),
            Fact("A blind guess", two_decimals(group.share), blind),
        ]

    def _own_belief(self, group: OwnGroup) -> Fact:
        meaning = self.moved("your group", "you have some interest", group.belief, _TO_ALL)
        return change_of_belief(group.belief, meaning)

    def own_worst(self, group: OwnGroup) -> list[Fact]:
        """Return the worst term of the row of `group` and, if another is worse, of all terms."""
        released, worst = group.worst_released, group.worst
        bound = self.says("every-term", "this") or self.not_promised()
        meaning = (
            "Someone who knows that you are in this group, and names the interest of its row that "
            f"most members have, is right {chance(released)}. {bound}"
        )
        if released.members == released.of:
            meaning = (
                "Someone who knows your group and what all its members share can name at least one "
                f"of your interests with certainty. {bound}"
            )
        row = Fact(AT_WORST, f"{released.members:,} of {released.of:,}", meaning.strip())
        if worst == released:
            return [row]
        meaning = (
            "The same for someone who also knows the members’ interests that the row does not "
            f"have: right {chance(worst)}. Nothing limits this, but the row does not show it."
        )
        any_term = f"{worst.members:,} of {worst.of:,}"
        return [row, Fact("Linked to any interest, at worst", any_term, meaning)]

    def own_known(self, view: OwnView) -> Fact:
        """Return which terms of `view` all members of the group have."""
        of = view.group.row.users if view.group else 0
        terms = [term for term in view.terms if term.members == of]
        meaning = "No interest of yours is shared by all members of your group."
        if terms:
            these = "this one" if len(terms) == 1 else f"these {len(terms):,}"
            meaning = (
                f"{named(terms)}. Anyone who knows your group and what all its members share knows "
                f"{these} about you."
            )
        return Fact("Your interests that every member has", f"{len(terms):,}", meaning)

    def not_promised(self) -> str:
        """Return that the promise does not limit the worst term; empty where it limits it."""
        if self.p is None or self.bounds not in ("average", "belief"):
            return ""
        limited = "the change of belief" if self.bounds == "belief" else "the average"
        return f"The limit p = {at_worst(self.p)} does not prevent this; it limits {limited}."

    def explained(self, mode: str) -> Section:
        """Return the three readings of the promise; without a further `mode`, what is promised."""
        stated: Mapping[str, Any] = {} if mode else self.stated
        bounds = "" if mode else self.bounds
        share = stated.get("share_linkability")
        measured = "" if share is None else f" (measured: up to {at_worst(share)} in a group)"
        method = names_where(lambda promise: promise.bounds == "average")[0]
        kept = (
            _NOT_PROMISED
            if bounds == "belief" or (self.given and bounds == "nothing")
            else f"The method {method} promises and keeps this"
        )
        kept_for_each = _NOT_PROMISED
        if bounds == "every-term":
            kept_for_each = "Promised here for the interests that a row shows"
        change = Markup("{}.").format(_NOT_PROMISED)
        if bounds == "belief":
            change = Markup(
                "<strong>Promised here, for every interest: at most {}.</strong> {} A member of "
                "your own group already knows interests of that row, and can learn more."
            ).format(at_worst(self.p), self.promised_against)
        lead = Markup(
            "{} promise has a number, <em>p</em>: how surely a person in a group may be linked to "
            "an interest of the group. It can be read in three ways. All three are measured for "
            "every release, because the first one sounds like more than it is."
        )
        average = Markup(
            "The average size of all profiles, divided by the number of different interests of a "
            "group, is at most <em>p</em>. {}. If all profiles were equally long, this would be "
            "how often a random member has a random interest of the group. Where they are not, "
            "that may happen more often than <em>p</em>{}. An average protects no single interest: "
            "at <em>p</em> = 0.4 groups are often three people, and some interest is shared by all "
            "of them."
        )
        every = Markup(
            "No interest of a group belongs to more than a share <em>p</em> of its members. {}: "
            "see “at worst”."
        )
        belief = Markup(
            "Knowing the group changes the chance that you have an interest, or lack it, by at "
            "most <em>p</em>, compared with how common the interest is {}. {} An interest that "
            "everybody has tells nothing about anybody. {}"
        )
        return Section(
            "Three readings of one promise",
            lead.format("The"),
            [
                ("On average.", average.format(kept, measured)),
                ("For every interest.", every.format(kept_for_each)),
                ("As a change of belief.", belief.format(COMPARED, _COHORT, change)),
            ],
            lead.format("Where people are put in groups, the"),
        )

    # -- the list of groups --------------------------------------------------------------------

    def headline(self) -> Headline:
        """Return what groups are, as heading and lead."""
        shown = " These pictures show how well that hides a person, and where it does not."
        return Headline(
            "Groups, and what they give away",
            "People with similar interests are in one group. The group’s shared interests (its "
            f"row) stand for all its people.{'' if self.closed else shown}",
        )

    def withheld(self) -> Markup:
        """Return why not all groups are shown, with a place for {own_page}."""
        if self.closed:
            return Markup(
                "The rows of this release are not published, so only their sizes are shown here. "
                'Members see their own group’s row on <a href="{own_page}">their own page</a>, and '
                "nobody sees another group’s. When somebody leaves, the row of their group "
                "disappears; all other rows stay as they are."
            )
        hidden = self.figures.people.size - self.figures.shown.size
        return Markup(
            "{} one person each. The people here may be real, so such a group only counts in the "
            "sizes. Its interests and figures are that person’s own, so nothing else includes them."
        ).format(count(hidden, "group is", "groups are"))

    @property
    def note(self) -> str:
        """Return what the page of one group shows."""
        return "" if self.closed else WORDS.note

    @property
    def why_hidden(self) -> str:
        """Return why a group's terms are not shown."""
        if not self.closed:
            return super().why_hidden
        return "The rows of this release are not published, so their interests are not shown here."

    def unmeasured(self) -> str:
        """Return why there are charts of sizes only; empty where there are others."""
        if self.closed or len(self.histograms()) != 1:
            return ""
        return (
            "The profiles that this release was made from are not here, or of real people, so only "
            "its sizes can be shown."
        )

    def measured(self, row: int) -> dict[str, float | int | None]:
        """Return the measures of the group of `row`."""
        readings = self.figures.readings.items()
        terms = int(self.figures.terms[row])
        return {"terms": terms, **{name: float(values[row]) for name, values in readings}}

    # -- charts --------------------------------------------------------------------------------

    def histograms(self) -> list[Histogram]:
        """Return the charts of sizes, and of what is measured."""
        drawn = [self._sizes()]
        if self.figures.measured and self.figures.shown.size:
            drawn += [self._shares(), self.all_terms()]
            if self.figures.support.size:
                drawn.append(self._support())
            drawn.append(self._beliefs())
        return drawn

    def _sizes(self) -> Histogram:
        people = self.figures.people
        of_one = int(np.count_nonzero(people == 1))
        alone = (
            f" {count(of_one, 'row is', 'rows are')} one person’s own profile." if of_one else ""
        )
        sentence = (
            "The smallest of {groups} has {low}, the largest {high} people. Half of the groups "
            "have at most {half}." + alone
        )
        counts, groups = np.bincount(people), count(people.size, "group", "groups")
        return Histogram(
            "sizes",
            "How many people share a row",
            "people in a group",
            "groups",
            ("people", "groups"),
            counts,
            spread(counts, sentence, groups=groups),
        )

    def _shares(self) -> Histogram:
        values = self.figures.among_shown("share")
        median, worst = whole_percent(float(np.median(values))), up_to(values.max())
        return Histogram(
            "shares",
            "How surely a member has an interest of the group",
            "share of members who have an interest, on average",
            "groups",
            ("from", "to", "groups"),
            share_counts(values),
            "Pick a random member and a random interest of their group: in the median group they "
            f"have it {median} of the time, in the worst {worst} %.",
            shares=True,
        )

    def all_terms(self) -> Histogram:
        """Return the chart of each term of each group."""
        total = int(self.figures.shares.sum())
        certain = whole_percent(self.figures.certain / total)
        return Histogram(
            "terms",
            "How many members share each interest",
            "share of members who have the interest",
            "interests of groups",
            ("from", "to", "terms"),
            self.figures.shares,
            self.certainly(f"{certain} of all {total:,} interests of groups"),
            shares=True,
        )

    def certainly(self, terms: str) -> str:
        """Return what it means that all members have `terms`."""
        return (
            f"{terms} are shared by all members of the group. Anyone who knows your group and what "
            "all its members share knows these about you."
        )

    def _support(self) -> Histogram:
        counts = self.figures.support
        total, single = int(counts.sum()), int(counts[1])
        half = quantile(counts, 0.5)
        most = f" Half of them belong to {half:,} or fewer." if half > 1 else ""
        return Histogram(
            "support",
            "How many people are behind each released interest",
            "members who have the interest",
            "released interests",
            ("members", "released_terms"),
            counts,
            f"{whole_percent(single / total)} of all {total:,} released interests belong to only "
            f"one person of their group.{most}",
        )

    def _beliefs(self) -> Histogram:
        values = self.figures.among_shown("belief")
        return Histogram(
            "belief",
            "How much knowing the group gives away",
            "largest change of the chance of an interest",
            "groups",
            ("from", "to", "groups"),
            share_counts(values),
            "Knowing the group moves a guess that a member has a certain interest by at most "
            f"{at_worst(float(np.median(values)))} in the median group, and by "
            f"{at_worst(values.max())} in the worst.",
            shares=True,
        )

"""What rows of one person each promise and give away: each number with a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..lone_rows import (
    LoneRows,
    in_letters,
    known_in_words,
    not_promised_in_words,
    rounded_share,
)
from ..lone_rows import promise_in_words as promise
from .fact import Fact
from .wording import count, hundredths, two_decimals

if TYPE_CHECKING:
    from ..own_view import OwnView

OF_ONE = "This row is what a deletion has left of one person’s own terms"
HIDDEN = f"{OF_ONE}. The people here are real, so its terms are not shown"
NOBODY_ELSE = "Who finds out whose it is knows every term in it"
NO_ROW = "All of your terms were deleted from the release, so no row stands for you"


def release_facts(facts: Mapping[str, Any], rows: LoneRows, served: bool) -> list[Fact]:
    """Explain the facts of a release; served: beside a ranking by one of its rows."""
    if served:
        one = Fact("People behind the row", "1", f"{OF_ONE}. {NOBODY_ELSE}.")
        return [one, promised_fact(rows), weights_fact(rows)]
    told = [promised_fact(rows), weights_fact(rows), *_kept(facts)]
    return [fact for fact in told if fact]


def _kept(facts: Mapping[str, Any]) -> list[Fact | None]:
    return [
        _left_out(facts),
        _share(facts, "distinct_terms_kept", "Different terms kept", _DISTINCT),
        _share(facts, "log_size_kept", "Log size kept", _LOG_SIZE),
    ]


_DISTINCT = "Of all different terms of the profiles, this share stands in a row."
_LOG_SIZE = (
    "The same with every term of every person counted, by its weight in their profile: "
    "so much of the whole log is left."
)


def promised_fact(rows: LoneRows) -> Fact:
    """Explain what is promised of the rows."""
    name = "Rows that have the same term" if rows.m == 1 else "Rows that have the same terms"
    meaning = f"{promise(rows)}. {known_in_words(rows)}. {not_promised_in_words(rows)}."
    return Fact(name, f"{rows.k:,} or more", meaning)


def weights_fact(rows: LoneRows) -> Fact:
    """Explain what the weights in the rows are."""
    if not rows.weighed:
        return Fact("Weights in the rows", "all 1", "How often somebody used a term is left out.")
    meaning = (
        "Each term has the weight that it has in its person’s own profile, for example how often "
        "they used it. No promise is made of weights: an unusual one may point out a row."
    )
    return Fact("Weights in the rows", "as in the profiles", meaning)


def _left_out(facts: Mapping[str, Any]) -> Fact | None:
    number = facts.get("users_left_out")
    if number is None:
        return None
    meaning = "Everybody has a row: of each person some term is left."
    if number:
        theirs = "Each of them gets" if number > 1 else "They get"
        meaning = f"All of their terms were deleted. {theirs} the plain order, nobody else’s row."
    return Fact("People without a row", f"{number:,}", meaning)


def _share(facts: Mapping[str, Any], name: str, shown: str, meaning: str) -> Fact | None:
    value = facts.get(name)
    return None if value is None else Fact(shown, rounded_share(value), meaning)


def percent(share: float) -> str:
    """Write a share in percent, so that only all is 100 and only nothing is 0."""
    shown = f"{100 * share:.1f}"
    if shown == "0.0" and share > 0:
        return "under 0.1"
    return "over 99.9" if shown == "100.0" and share < 1 else shown.removesuffix(".0")


def own_row_facts(view: OwnView, rows: LoneRows) -> list[Fact]:
    """Explain to a person what is left of their terms, and how well it hides them."""
    if view.group is None:
        meaning = f"{NO_ROW}: “My reduced profile” gives you the plain order."
        return [Fact("Terms left of yours", "none", meaning), promised_fact(rows)]
    left, rare = len(view.common), view.group.rarest or 0
    kept = Fact(
        "Terms left of yours",
        f"{left:,} of {len(view.terms):,}",
        f"They are your row; nobody else is behind it, and it has no name. {NOBODY_ELSE}.",
    )
    hidden = Fact(
        "Rows with your rarest term",
        f"{rare:,}",
        f"Of your released terms, the rarest stands in {_rows_with_yours(rare)}.",
    )
    return [kept, promised_fact(rows), hidden, weights_fact(rows), _own_belief(view.group.belief)]


def _rows_with_yours(rows: int) -> str:
    if rows == 1:
        return "your row alone. Who knows that term of you knows your row"
    return f"{rows:,} rows, yours among them. Who knows that term of you is left with these"


def _own_belief(belief: float) -> Fact:
    meaning = (
        "Who finds out which row is yours knows its terms of you: the chance that you have one "
        f"rises by up to {hundredths(belief)} percentage points, beside what is known of "
        "everybody. Nothing bounds this."
    )
    return Fact("Change of belief, at worst", two_decimals(belief), meaning)


def row_facts(rows: LoneRows, rarest: int | None, told: bool) -> list[Fact]:
    """Explain a row that stands on a page of its own; rarest: rows with its rarest term."""
    meaning = f"{OF_ONE}. {NOBODY_ELSE}." if told else f"{HIDDEN}."
    facts = [Fact("People behind the row", "1", meaning), promised_fact(rows)]
    if rarest is not None:
        many = in_letters(rows.m)
        sets = "a term" if rows.m == 1 else f"up to {many} terms"
        facts.append(
            Fact(
                "Rows with its rarest term",
                f"{rarest:,}",
                f"Of this row’s terms, the rarest stands in {count(rarest, 'row', 'rows')}. "
                f"At least {rows.k:,} is promised, for {sets}.",
            )
        )
    return [*facts, weights_fact(rows)]

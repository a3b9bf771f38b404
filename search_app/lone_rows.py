"""Releases whose every row is what a deletion has left of one person's terms: what they promise.

Of a group's row one asks how many people share it. Of such a row one asks in how many others its
terms stand; whom all terms were deleted of has no row at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from anonymizer.model import Ints, Release

_NUMBERS = ("no", "one", "two", "three", "four")
NO_ROW = (
    "no row stands for this person, as all of their terms were deleted: this is the plain order, "
    "and nobody else's row was used"
)


class LoneRows(NamedTuple):
    """What is promised of the rows: each set of at most m terms stands in k rows or more."""

    k: int
    m: int
    weighed: bool  # rows keep the weights of the people's own profiles; else all weights are 1
    left_out: int  # people without a row


def lone_rows(release: Release | None) -> LoneRows | None:
    """Return what a release promises of its rows, if each of them is of one person."""
    if release is None or not release.lone:
        return None
    return promised({**release.parameters, "users_left_out": release.left_out})


def promised(facts: Mapping[str, Any]) -> LoneRows | None:
    """Read the promise from the facts that are handed on of a release; None of one of groups."""
    if facts.get("m") is None:
        return None
    weighed = facts.get("frequencies", "keep") == "keep"
    return LoneRows(facts["k"], facts["m"], weighed, int(facts.get("users_left_out", 0)))


def promise_in_words(rows: LoneRows) -> str:
    """Say what is promised, in one sentence without its stop."""
    at_least = f"at least {rows.k:,} {'row' if rows.k == 1 else 'rows'}"
    if rows.m == 1:
        return f"Each term of a row stands in {at_least}"
    alone = "and so does each alone" if rows.m == 2 else "and so do fewer"
    return f"Any {in_letters(rows.m)} terms of a row stand together in {at_least}, {alone}"


def known_in_words(rows: LoneRows) -> str:
    """Say what that means for who knows some terms of somebody's row."""
    terms = "one term" if rows.m == 1 else f"no more than {in_letters(rows.m)} terms"
    if rows.k == 1:
        return f"With k = 1 this hides nothing: {terms} may be enough to find a row"
    others = "1 other" if rows.k == 2 else f"{rows.k - 1:,} others"
    return f"Who knows {terms} of somebody’s row can’t tell it from {others} or more"


def not_promised_in_words(rows: LoneRows) -> str:
    """Say what is not promised, in one sentence without its stop."""
    longer = "two terms" if rows.m == 1 else f"{in_letters(rows.m + 1)} terms"
    return f"Nothing is promised of {longer} or more together, of weights, or of times"


def rounded_share(share: float) -> str:
    """Write a share that a release states: rounded, it is neither surely nothing nor surely all."""
    if share in (0.0, 1.0):
        return "over 99 %" if share else "under 1 %"
    return f"{share:.0%}".replace("%", " %")


def in_letters(number: int) -> str:
    """Write a small number as a word."""
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def rows_having(release: Release) -> Ints:
    """Count the rows that have each of the released terms."""
    columns = release.rows.weights.indices
    return np.bincount(columns, minlength=len(release.rows.terms)).astype(np.int64)


def rarest(release: Release) -> Ints:
    """Return, for each row, how many rows have its rarest term."""
    rows = release.rows.weights
    found: Ints = np.minimum.reduceat(rows_having(release)[rows.indices], rows.indptr[:-1])
    return found

"""Whether rows publish the shares that they must, each within p of the share of all users.

All is compared in whole numbers: with p = a/b, of n users N having the term, a share h/s may be
published if |h n - N s| b <= a n s; what stands in no row is a share of 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .evidence import Rows
from .finding import Findings, Ints, Marks, told_rows
from .grounds import Shares
from .judging_parameters import MOST
from .judging_rows import find
from .strict_lines import is_number, is_whole
from .tally import Tally

NUMBERS = {
    "p": (lambda p: is_number(p) and 0 < p <= 1, "above 0 and at most 1"),
    "documents": (lambda n: is_whole(n, 2, 5000), "a whole number from 2 to 5000"),
    "steps": (
        lambda n: n is None or is_whole(n, 1, 10**11),
        f"a whole number from 1 to {10**11}, or null",
    ),
}
SIZES = (lambda n: n is None or is_whole(n, 2, MOST), f"a whole number from 2 to {MOST}, or null")


def judge_published(shares: Shares, rows: Rows, fault: str) -> Findings:
    """Check that rows hold all cells that they must, no other, and each with its share."""
    count = len(rows.names)
    at, known = find(rows.keys, shares.keys)
    there = np.zeros(shares.keys.size, dtype=np.bool_)
    there[at[known]] = True
    line, good = "has a term that it must not publish", "no term but those that must be published"
    yield from told_rows("terms", _rows(rows.keys[~known], rows.span, count), line, good)
    line, good = "lacks a term that it must publish", "every term that must be published is"
    yield from told_rows("terms", _rows(shares.keys[~there], rows.span, count), line, good)
    must = (shares.having / shares.among)[at[known]]
    wrong = rows.keys[known][rows.cells.weights[known] != must]
    good = f"{must.size} shares are exactly what they must be"
    yield from told_rows("weights", _rows(wrong, rows.span, count), fault, good)


def judge_belief(
    shares: Shares, tally: Tally, p: Fraction, everybody: str = "all users"
) -> Findings:
    """Check that no share, those of terms that a row lacks included, is more than p off.

    Everybody: of whom the share is that belief starts from, and who are counted in the tally.
    """
    count, span = tally.sizes.size, tally.span
    row, column = np.divmod(shares.keys, span)
    off = beyond(shares.having, shares.among, tally.having[column], tally.users, p)
    needed = _must_stand(tally, p)
    standing = np.bincount(row[needed[column]], minlength=count)
    wrong = (standing < np.count_nonzero(needed)) | _marked(row[off], count)
    line = f"has a share, or lacks a term, more than p={float(p)} off the share of {everybody}"
    good = f"each share, of absent terms too, is within p={float(p)} of that of {everybody}; "
    yield from told_rows("p", wrong, line, f"{good}the farthest is {_farthest(shares, tally):.4f}")


def beyond(having: Ints, among: Ints, users: Ints, n: int, p: Fraction) -> Marks:
    """Mark the shares that are more than p from the share of users having it."""
    a, b = p.numerator, p.denominator
    top = 2 * n * n * b
    whole: Any = np.int64 if top < 2**62 else np.object_
    share, size, of_all = (values.astype(whole) for values in (having, among, users))
    off: Marks = (abs(share * n - of_all * size) * b > a * n * size).astype(np.bool_)
    return off


def _must_stand(tally: Tally, p: Fraction) -> Marks:
    """Mark the terms that more than p of all users have: a row without one is too far off."""
    most = p * tally.users
    needed: Marks = tally.having > most.numerator // most.denominator
    return needed


def _farthest(shares: Shares, tally: Tally) -> float:
    """Return the largest distance of a share from that of all users, for people to read."""
    column = shares.keys % tally.span
    prior = tally.having / tally.users
    lacked = np.bincount(column, minlength=tally.span) < tally.sizes.size
    present = np.abs(shares.having / shares.among - prior[column])
    return max(float(present.max()), float(prior.max(where=lacked, initial=0.0)))


def _rows(keys: Ints, span: int, count: int) -> Marks:
    return _marked(keys // span, count)


def _marked(rows: Ints, count: int) -> Marks:
    marks: Marks = np.bincount(rows, minlength=count) > 0
    return marks

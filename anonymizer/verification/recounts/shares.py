"""Whether rows publish the shares that they must, each within p of the share of all users.

All comparisons are of whole numbers. With p = a/b, where N of n users have the term, a share h/s
may be published if |h n - N s| b <= a n s. A term that a row lacks is a share of 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...arrays import Ints, Marks
from ..choices import MIN_USERS, MOST
from ..files.evidence import JudgedRows
from ..files.strict_lines import is_real, is_whole
from ..finding import CountedLine, Findings, row_findings
from ..tally import ExpectedShares, Tally
from .rows import find, marked

NUMBERS = {
    "p": (lambda p: is_real(p) and 0 < p <= 1, "above 0 and at most 1"),
    "documents": (lambda n: is_whole(n, 2, 5000), "a whole number from 2 to 5000"),
    "steps": (
        lambda n: n is None or is_whole(n, 1, 10**11),
        f"a whole number from 1 to {10**11}, or null",
    ),
    **MIN_USERS,
}
QUOTED = {"documents", "steps"}  # how groups were found, which no group shows
SIZES = (lambda n: n is None or is_whole(n, 2, MOST), f"a whole number from 2 to {MOST}, or null")


def judge_published(shares: ExpectedShares, tally: Tally, rows: JudgedRows, fault: str) -> Findings:
    """Yield whether `rows` hold exactly the cells of `shares`; `fault` names a wrong share.

    Rows that `tally` marks as edited are not judged.
    """
    count = len(rows.names)
    at, known = find(rows.keys, shares.keys)
    there = np.zeros(shares.keys.size, dtype=np.bool_)
    there[at[known]] = True
    line, good = "has a term that it must not publish", "no term but those that must be published"
    other = tally.sure(marked(rows.keys[~known] // rows.span, count))
    yield from row_findings("terms", other, line, good)
    line, good = "lacks a term that it must publish", "every term that must be published is there"
    lacking = tally.sure(marked(shares.keys[~there] // rows.span, count))
    yield from row_findings("terms", lacking, line, good)
    must = (shares.having / shares.among)[at[known]]
    wrong = rows.keys[known][rows.cells.weights[known] != must]
    good = CountedLine("{} shares are exactly what they must be", must.size)
    off = tally.sure(marked(wrong // rows.span, count))
    yield from row_findings("weights", off, fault, good)


def judge_belief(
    shares: ExpectedShares, tally: Tally, p: Fraction, everybody: str = "all users"
) -> Findings:
    """Yield whether each of `shares`, also of absent terms, is within `p` of that of everybody."""
    count, span = tally.sizes.size, tally.span
    row, column = np.divmod(shares.keys, span)
    off = beyond(shares.having, shares.among, tally.having[column], tally, p)
    # A row may lack a term only if the share of all users is p or less.
    limit = p * tally.users
    needed: Marks = tally.having > limit.numerator // limit.denominator
    standing = np.bincount(row[needed[column]], minlength=count)
    wrong = (standing < np.count_nonzero(needed)) | marked(row[off], count)
    line = f"has a share, or lacks a term, more than p={float(p)} off the share of {everybody}"
    good = f"each share, of absent terms too, is within p={float(p)} of that of {everybody}"
    prior = tally.having / tally.users
    lacked = np.bincount(column, minlength=span) < count
    present = np.abs(shares.having / shares.among - prior[column])
    farthest = max(float(present.max()), float(prior.max(where=lacked, initial=0.0)))
    if tally.so_far:
        good += tally.so_far
    else:
        good = CountedLine(good + "; the farthest is {:.4f}", farthest)
    yield from row_findings("p", wrong, line, good)


def shares_in(rows: JudgedRows, users: int) -> ExpectedShares:
    """Return the shares that `rows` publish, as numbers of people out of at most `users`."""
    weights, at = np.unique(rows.cells.weights, return_inverse=True)
    shares = [Fraction(weight).limit_denominator(users) for weight in weights.tolist()]
    having = np.array([share.numerator for share in shares], dtype=np.int64)
    among = np.array([share.denominator for share in shares], dtype=np.int64)
    return ExpectedShares(rows.keys, having[at], among[at])


def beyond(having: Ints, among: Ints, users: Ints, tally: Tally, p: Fraction) -> Marks:
    """Return marks for the shares `having` / `among` more than `p` from `users` / `n`.

    n are the users of `tally`; of the unsure ones any number may have a term, too.
    """
    a, b, n = p.numerator, p.denominator, tally.users
    # Beyond 64 bits Python's own integers take over: slow, but exact.
    top = 2 * n * n * b
    whole: Any = np.int64 if top < 2**62 else np.object_
    share, size, of_all = (values.astype(whole) for values in (having, among, users))
    above, room = (share * n - of_all * size) * b, a * n * size
    over: Marks = (above > room + tally.unsure * size * b).astype(np.bool_)
    under: Marks = (-above > room).astype(np.bool_)
    return over | under

"""What a release by (k,m)-anonymity promises: each set of m or fewer terms stands in k rows.

Each row is one user's: terms of their profile, with their own weights or with 1. The order of rows
is that of their content, terms before weights, so that it tells nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .combinations import Sets, least_support, rows_of_rare, sets_of
from .evidence import MANIFEST, ROWS, Parts, Rows
from .finding import Broken, Finding, Findings, Floats, Ints, Marks, told_rows
from .grounds import Grounds
from .judging_deletions import judge_deletions
from .judging_parameters import MOST, Numbers, parameter_faults
from .judging_rows import find
from .people import People
from .strict_lines import is_whole
from .tally import Tally
from .term_spotting import spot_terms

_VALUES = ("bid", "clicks", "impressions", "revenue")  # targets by a marketing table
_WORDS = {
    "algorithm": ("insert", "greedy"),
    "target": ("logsize", "users", "fis", "random", *_VALUES),
    "ties": ("random", "first"),
    "reinsert": ("none", "groups"),
    "frequencies": ("keep", "drop"),
    "marketing": ("none", "synthetic", "given"),
}
_NUMBERS: Numbers = {
    "k": (lambda k: is_whole(k, 1, MOST), f"a whole number from 1 to {MOST}"),
    "m": (lambda m: is_whole(m, 1, 4), "a whole number from 1 to 4"),
}
_COUNTS = ("users", "groups", "terms_released", "users_left_out")
_SHARES = ("users_kept", "distinct_terms_kept", "log_size_kept")
FACTS = (*_COUNTS, *_SHARES)
_DECIMALS = 2  # of a share; more would tell of single people
WORDS = {*_WORDS, *_NUMBERS, *FACTS, *(word for words in _WORDS.values() for word in words)}

_TEXTS_BEFORE = 4  # the terms of a row: "row", its name, "users", "terms"


def judge_km_anonymity(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Check the parameters, then each row, then the promise, then what is said of deletions."""
    _check_parameters(parameters)
    yield Finding("parameters", True, MANIFEST, "all there and in range")
    tally, rows = grounds.tally, grounds.rows
    shared = tally.sizes != 1
    yield from told_rows("rows", shared, "is not one user's", "each row is one user's alone")
    if shared.any():
        return
    yield from _judge_cells(parameters, tally, rows)
    yield from _judge_support(parameters, rows)
    line = "stands before a row that comes first by its terms, or by its weights"
    good = "the order of rows is that of their content"
    yield from told_rows("order", _before_earlier(rows), line, good)
    yield from judge_deletions(grounds, in_one_pass=parameters["algorithm"] == "insert")
    yield from _tell_bounds(parameters)


def foresee_km_anonymity(
    parameters: Mapping[str, Any], tally: Tally, parts: Parts, people: People
) -> tuple[Marks, Floats]:
    """Return which of their users' cells the rows say that they release, and every cell's weight.

    The rows are looked at for their terms alone, and not strictly: what they must look like with
    these terms is held against them afterwards.
    """
    _check_parameters(parameters)
    if tally.sizes.max() > 1:
        raise Broken("rows", ROWS, "not each is one user's")
    at, known = find(_keys_said(parts[ROWS], people), tally.keys)
    if not known.all():
        raise Broken("terms", ROWS, "not each is its user's")
    may = np.zeros(tally.keys.size, dtype=np.bool_)
    may[at] = True
    return may, _weights(parameters, tally)


def km_facts(grounds: Grounds) -> dict[str, int | float]:
    """Return the facts that this method states: counts of its rows, and rough shares."""
    people, tally, rows = grounds.people, grounds.tally, grounds.rows
    at, known = find(rows.keys, tally.keys)
    _, exponent = np.frexp(people.cells.weights.max())
    all_, own = np.ldexp(people.cells.weights, -exponent), np.ldexp(tally.largest, -exponent)
    kept = np.bincount(rows.cells.columns, minlength=len(people.terms)) > 0
    served = int(tally.sizes.sum())
    counts = (served, tally.sizes.size, rows.keys.size, tally.users - served)
    shares = (
        served / tally.users,
        int(np.count_nonzero(kept)) / len(people.terms),
        math.fsum(memoryview(own[at[known]])) / math.fsum(memoryview(all_)),
    )
    rounded = (round(share, _DECIMALS) for share in shares)
    return dict(zip(FACTS, (*counts, *rounded), strict=True))


def fault_of_lone_rows(parameters: Mapping[str, Any], sessions: bool) -> str:
    """Return why these rows of one person each must not be published; nothing if they may be."""
    if sessions:
        return (
            "users are sessions, so that k rows may be of one person; make profiles with "
            "--granularity user, or if these are people, give them ids unlike anna#1 and anna#2"
        )
    if "k" not in parameters:
        return "k is missing, so nothing is promised of the rows"
    hides = is_whole(parameters["k"], 2, MOST)
    if not hides:
        return "k=1 hides nobody; anonymize with --set k=2, or more"
    return "; ".join(_faults(parameters))


def _check_parameters(parameters: Mapping[str, Any]) -> None:
    faults = _faults(parameters)
    if faults:
        raise Broken("parameters", MANIFEST, "; ".join(faults))


def _faults(parameters: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with parameters one by one; if nothing is, together."""
    faults = list(parameter_faults(parameters, _WORDS, _NUMBERS))
    if faults:
        return faults
    if (parameters["target"] in _VALUES) != (parameters["marketing"] != "none"):
        faults.append(f"marketing must be other than none for {', '.join(_VALUES)}, and only then")
    if parameters["algorithm"] == "insert":
        idle = {"ties": "random", "reinsert": "none"}
        wrong = [name for name, value in idle.items() if parameters[name] != value]
        faults += [f"{name} must be {idle[name]} beside algorithm insert" for name in wrong]
    return faults


def _keys_said(content: bytes, people: People) -> Ints:
    """Return row * terms + term for each term that a row seems to have, ascending."""
    spotted = spot_terms(content, people.terms, _TEXTS_BEFORE)
    if spotted is None:
        raise Broken("rows", ROWS, "can't be read at a glance")
    row = np.repeat(np.arange(spotted.ends.size - 1) * len(people.terms), np.diff(spotted.ends))
    return np.sort(row + spotted.columns)


def _weights(parameters: Mapping[str, Any], tally: Tally) -> Floats:
    """Return what each cell must weigh: as in its user's profile, or 1."""
    return tally.largest if parameters["frequencies"] == "keep" else np.ones(tally.keys.size)


def _judge_cells(parameters: Mapping[str, Any], tally: Tally, rows: Rows) -> Findings:
    """Check that each row's terms are its user's, and weigh what they must."""
    at, known = find(rows.keys, tally.keys)
    row = rows.keys // rows.span
    line, good = "has a term that its user has not", "only terms that the row's user has"
    yield from told_rows("terms", _rows_of(row[~known], rows), line, good)
    wrong = rows.cells.weights[known] != _weights(parameters, tally)[at[known]]
    line, good = "has a weight that is not its user's", f"{wrong.size} weights are their users' own"
    if parameters["frequencies"] == "drop":
        line, good = "has a weight that is not 1", f"{wrong.size} weights are 1"
    yield from told_rows("weights", _rows_of(row[known][wrong], rows), line, good)


def _rows_of(rows: Ints, among: Rows) -> Marks:
    return np.bincount(rows, minlength=len(among.names)) > 0


def _judge_support(parameters: Mapping[str, Any], rows: Rows) -> Findings:
    """Check that each combination of at most m terms that stands in a row stands in k."""
    k, m = parameters["k"], parameters["m"]
    sets = sets_of(rows.cells.ends, rows.cells.columns)
    least = list(_least_supports(sets, k, m))
    told = ", ".join(f"{support} for {size}" for size, support in enumerate(least, 1))
    if not least or not 0 < least[-1] < k:
        line = (
            f"any m={m} terms of a row, or fewer, stand in k={k} {'row' if k == 1 else 'rows'}; "
            f"fewest rows by terms: {told}"
        )
        yield Finding("k, m", True, ROWS, line)
        return
    size = len(least)
    rare = rows_of_rare(sets, size, k, len(rows.names))
    what = "a term" if size == 1 else f"{size} terms together"
    line = f"has {what}, which fewer than k={k} rows have; fewest rows by terms: {told}"
    yield from told_rows("k, m", rare, line, "")


def _least_supports(sets: Sets, k: int, m: int) -> Iterator[int]:
    """Yield the least support of each size up to m that occurs; the first one below k is the last.

    There are far more of the larger ones where the smaller ones are too rare already.
    """
    for size in range(1, m + 1):
        least = least_support(sets, size)
        if least:
            yield least
        if least < k:
            return


def _before_earlier(rows: Rows) -> Marks:
    """Mark the rows that the next one should stand before: rows are compared number by number."""
    ends, columns, weights = rows.cells.ends, rows.cells.columns, rows.cells.weights
    first, sizes = ends[:-1], np.diff(ends)
    wrong = np.zeros(sizes.size, dtype=np.bool_)
    same = np.arange(sizes.size - 1)  # rows that are so far like the next
    for values, end in ((columns, -1.0), (weights, -1.0)):
        going, at = same, 0
        alike = []
        while going.size:
            one = np.where(at < sizes[going], values[_within(first[going] + at, values)], end)
            other = np.where(
                at < sizes[going + 1], values[_within(first[going + 1] + at, values)], end
            )
            wrong[going[one > other]] = True
            alike.append(going[(one == other) & (one == end)])
            going = going[(one == other) & (one != end)]
            at += 1
        same = np.concatenate([np.empty(0, dtype=np.int64), *alike])
    return wrong


def _within(at: Ints, values: Ints | Floats) -> Ints:
    return np.minimum(at, values.size - 1)


def _tell_bounds(parameters: Mapping[str, Any]) -> Findings:
    """Tell what the guarantee does not speak of."""
    line = "of sets of terms alone; a row holds nothing else of its user's"
    if parameters["frequencies"] == "keep":
        line = "of sets of terms alone: the weights, which are the user's own, are outside of it"
    yield Finding("guarantee", True, MANIFEST, line)

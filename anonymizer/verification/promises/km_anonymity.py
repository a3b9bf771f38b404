"""What a release by (k,m)-anonymity promises: each set of m or fewer terms stands in k rows.

Each row is one user's: terms of their profile, with their own weights or with 1. Rows stand in the
order of their content, terms before weights, so the order reveals nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...arrays import Floats, Ints, Marks
from ...promise import Promise
from ..choices import MOST, Numbers, parameter_faults
from ..combinations import least_support, rows_of_rare, sets_of
from ..deletions import judge_deletions
from ..files.evidence import DELETIONS, MANIFEST, ROWS, JudgedRows, Parts
from ..files.profiles import JudgedProfiles
from ..files.strict_lines import TermCells, is_whole
from ..files.term_spotting import spot_terms
from ..finding import Broken, Finding, Findings, row_findings
from ..recounts.rows import find, marked
from ..tally import Grounds, Tally
from .record import Judge

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
_DECIMALS = 2  # of a share; more would reveal single people
# Rows show which weights they have, but not how their terms were chosen.
_QUOTED = {*_WORDS} - {"frequencies"}
WORDS = {*_WORDS, *_NUMBERS, *FACTS, *(word for words in _WORDS.values() for word in words)}

_TEXTS_BEFORE = 4  # that stand before the terms of a row: "row", its name, "users", "terms"


def _judge(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether rows, the promise and the record of deletions hold."""
    tally, rows = grounds.tally, grounds.rows
    shared = tally.sizes != 1
    yield from row_findings("rows", shared, "is not one user's", "each row is of one user")
    # All that follows compares a row with its one user.
    if shared.any():
        return
    at, known = find(rows.keys, tally.keys)
    row = rows.keys // rows.span
    line, good = "has a term that its user lacks", "only terms that the row's user has"
    count = len(rows.names)
    yield from row_findings("terms", tally.sure(marked(row[~known], count)), line, good)
    wrong = rows.cells.weights[known] != _weights(parameters, tally)[at[known]]
    line, good = "has a weight that is not its user's", f"{wrong.size} weights are the users' own"
    if parameters["frequencies"] == "drop":
        line, good = "has a weight that is not 1", f"{wrong.size} weights are 1"
    off = tally.sure(marked(row[known][wrong], count))
    yield from row_findings("weights", off, line, good)
    yield from _judge_support(parameters, rows, tally.withdrawn)
    line = "stands before a row that must come first by its terms, or by its weights"
    good = "rows stand in the order of their content"
    wrong = grounds.within_shards(before_earlier(rows.cells))
    if tally.edited is not None:  # a term that nobody has any more has no place in the order
        lost = marked(row[rows.keys % rows.span >= len(grounds.people.terms)], count)
        wrong &= ~(lost | np.append(lost[1:], False))
    yield from row_findings("order", wrong, line, good)
    yield from judge_deletions(grounds, in_one_pass=parameters["algorithm"] == "insert")
    # Readers must see what the guarantee does not cover.
    line = "it covers sets of terms; a row holds nothing else of its user"
    if parameters["frequencies"] == "keep":
        line = "it covers sets of terms; it does not cover the weights, which are the user's own"
    yield Finding("guarantee", True, MANIFEST, line)


def _foresee(
    parameters: Mapping[str, Any], tally: Tally, parts: Parts, people: JudgedProfiles
) -> tuple[Marks, Floats]:
    """Return marks for the cells that rows seem to release, and every cell's weight."""
    if tally.sizes.max() > 1:
        raise Broken("rows", ROWS, "some row is not one user's")
    spotted = spot_terms(parts[ROWS], people.terms, _TEXTS_BEFORE)
    if spotted is None:
        raise Broken("rows", ROWS, "can't be read at a glance")
    ends, columns = spotted
    row = np.repeat(np.arange(ends.size - 1) * len(people.terms), np.diff(ends))
    at, known = find(np.sort(row + columns), tally.keys)
    if not known.all():
        raise Broken("terms", ROWS, "some term is not its user's")
    may = np.zeros(tally.keys.size, dtype=np.bool_)
    may[at] = True
    return may, _weights(parameters, tally)


def reduced_facts(grounds: Grounds) -> dict[str, int | float]:
    """Return the facts of reduced profiles in `grounds`: counts of rows, and rough shares."""
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


def _fault_of_single_rows(parameters: Mapping[str, Any], sessions: bool) -> str:
    """Return why these single-person rows must not be published, or "" if they may be."""
    if sessions:
        return (
            "users are sessions, so k rows may be of one person; make profiles with "
            "--granularity user, or if these are people, give them ids unlike anna#1 and anna#2"
        )
    if "k" not in parameters:
        return "k is missing, so nothing is promised about the rows"
    hides = is_whole(parameters["k"], 2, MOST)
    if not hides:
        return "k=1 hides nobody; anonymize with --set k=2, or more"
    return "; ".join(_faults(parameters))


def _faults(parameters: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with single parameters; if nothing is, with several together."""
    faults = list(parameter_faults(parameters, _WORDS, _NUMBERS))
    if faults:
        return faults
    if (parameters["target"] in _VALUES) != (parameters["marketing"] != "none"):
        faults.append(f"marketing must be none, except for target {', '.join(_VALUES)}")
    if parameters["algorithm"] == "insert":
        idle = {"ties": "random", "reinsert": "none"}
        wrong = [name for name, value in idle.items() if parameters[name] != value]
        faults += [f"{name} must be {idle[name]} with algorithm insert" for name in wrong]
    return faults


def _weights(parameters: Mapping[str, Any], tally: Tally) -> Floats:
    """Return the weight that each cell must have: the one of its user's profile, or 1."""
    return tally.largest if parameters["frequencies"] == "keep" else np.ones(tally.keys.size)


def _judge_support(parameters: Mapping[str, Any], rows: JudgedRows, withdrawn: int) -> Findings:
    """Yield whether each combination of at most m terms of a row stands in k rows.

    Each of the rows that were `withdrawn` may have been one of them.
    """
    k, m = max(1, parameters["k"] - withdrawn), parameters["m"]
    sets = sets_of(rows.cells.ends, rows.cells.columns)
    least: list[int] = []
    for size in range(1, m + 1):
        support = least_support(sets, size)
        least += [support] * (support > 0)
        # One breach is enough, and there are far more of the larger combinations.
        if support < k:
            break
    supports = ", ".join(f"{support} for {size}" for size, support in enumerate(least, 1))
    if not least or not 0 < least[-1] < k:
        line = (
            f"any m={m} terms of a row, or fewer, stand in k={k} {'row' if k == 1 else 'rows'}; "
            f"fewest rows by number of terms: {supports}"
        )
        if withdrawn:
            line += f"; k={parameters['k']} less {withdrawn} withdrawn"
        yield Finding("k, m", True, ROWS, line)
        return
    size = len(least)
    rare = rows_of_rare(sets, size, k, len(rows.names))
    what = "a term" if size == 1 else f"{size} terms together"
    line = (
        f"has {what}, which fewer than k={k} rows have; fewest rows by number of terms: {supports}"
    )
    yield from row_findings("k, m", rare, line, "")


def before_earlier(cells: TermCells) -> Marks:
    """Return marks for the rows of `cells` that must stand behind the next one."""
    ends, columns, weights = cells
    first, sizes = ends[:-1], np.diff(ends)
    wrong = np.zeros(sizes.size, dtype=np.bool_)
    same = np.arange(sizes.size - 1)  # rows that equal the next one up to here
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


JUDGE = Judge(
    "km-anonymity",
    Promise("person", "combinations"),
    _judge,
    _foresee,
    WORDS,
    _faults,
    _QUOTED,
    keeps=frozenset({DELETIONS}),
    leaves_out=True,
    facts=reduced_facts,
    single_rows=_fault_of_single_rows,
    single_line="each row is one user's, and any m of its terms stand in k rows",
)

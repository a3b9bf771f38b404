"""What a release by query-k promises: k people or more entered each query of the released log.

Each row is one person's. The released log has the lines of each row: the person's own queries that
k people entered, as often as they did, and all of them. Lines stand by row and query, rows by
their lines, so no order tells anything. The row has the words of its lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Floats, Ints, Marks
from ...promise import Promise
from ..choices import MOST, Numbers, parameter_faults
from ..deletions import judge_deletions
from ..files.evidence import DELETIONS, LOG, MANIFEST, ROWS, Parts
from ..files.logs import JudgedQueries, words_of
from ..files.profiles import JudgedProfiles
from ..files.strict_lines import TermCells, is_whole
from ..finding import Broken, Finding, Findings, row_findings, settled
from ..recounts.rows import find, marked
from ..tally import Grounds, Tally
from .km_anonymity import FACTS, before_earlier, reduced_facts
from .record import Judge

_NUMBERS: Numbers = {"k": (lambda k: is_whole(k, 1, MOST), f"a whole number from 1 to {MOST}")}
_RELEASED = "queries_released"


class _Lines(NamedTuple):
    """The released log: a cell for each row and each of its queries, in the order of the lines."""

    names: list[str]  # of the rows
    texts: list[str]  # different queries, in sorted order
    row: Ints
    query: Ints
    counts: Ints

    @property
    def cells(self) -> TermCells:
        """Return the cells row by row."""
        ends = np.searchsorted(self.row, np.arange(len(self.names) + 1))
        return TermCells(ends.astype(np.int64), self.query, self.counts.astype(np.float64))


def _judge(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether the log is its people's own, of queries of k people, and rows are its words."""
    tally, rows, k = grounds.tally, grounds.rows, parameters["k"]
    shared = tally.sizes != 1
    yield from row_findings("rows", shared, "is not one person's", "each row is of one person")
    lines, queries = _read(grounds.parts[LOG]), grounds.people.queries
    if lines.names != rows.names:
        raise Broken("log", LOG, "its rows are not those of rows.jsonl, in the same order")
    # All that follows compares a row with its one person.
    if shared.any() or queries is None:
        return
    yield from _judge_people(k, lines, queries, tally)
    yield from _judge_lines(k, lines, queries, grounds)
    keys, weights = _words(lines, grounds.people, rows.span)
    same = np.array_equal(keys, rows.keys) and np.array_equal(weights, rows.cells.weights)
    wrong = np.zeros(len(rows.names), dtype=np.bool_)
    if not same:
        at, known = find(rows.keys, keys)
        fits = known & (weights[at] == rows.cells.weights)
        missing = np.setdiff1d(keys, rows.keys[fits])
        wrong = marked(np.append(rows.keys[~fits], missing) // rows.span, wrong.size)
    line, good = "has not exactly the words of its lines in log.tsv", "rows are the log's words"
    yield from row_findings("words", tally.sure(wrong), line, good)
    line = "stands before a row that must come first by its lines"
    good = "rows stand in the order of their content"
    yield from row_findings("order", before_earlier(lines.cells), line, good)
    yield from judge_deletions(grounds, in_one_pass=True)
    line = "it covers single queries; the queries of a row together may be one person's alone"
    yield Finding("guarantee", True, MANIFEST, line)


def _judge_people(k: int, lines: _Lines, queries: JudgedQueries, tally: Tally) -> Findings:
    """Yield whether k people entered each query of `lines`, by the log and by the rows."""
    # Each who has left or changed since may have been one of them.
    changed = 0 if tally.edited is None else int(np.count_nonzero(tally.edited))
    least = max(0, k - tally.withdrawn - changed)
    having = _at(lines, queries, queries.having)
    rows = np.bincount(lines.query, minlength=len(lines.texts))
    faults = {
        f"{count} of {having.size} queries are of fewer than k={k} people": count > 0
        for count in [int(np.count_nonzero(np.minimum(having, rows) < least))]
    }
    good = f"each of {having.size} queries is of {int(rows.min())} people or more, and k={k}"
    if least < k:
        good += f" less {k - least} who left or changed"
    yield from settled("k", LOG, faults, good)


def _judge_lines(k: int, lines: _Lines, queries: JudgedQueries, grounds: Grounds) -> Findings:
    """Yield whether `lines` have all that a row's person entered of common queries, and no more."""
    user_of = np.empty(len(lines.names), dtype=np.int64)
    served = np.flatnonzero(grounds.group_of >= 0)
    number = {user: at for at, user in enumerate(queries.users)}
    names = [number[grounds.people.users[at]] for at in served.tolist()]
    user_of[grounds.group_of[served]] = names
    span = len(queries.texts) + 1  # the last one: nobody's
    owner = np.repeat(np.arange(len(queries.users)), np.diff(queries.cells.ends))
    keys = owner * span + queries.cells.columns
    query = _at(lines, queries, np.arange(span), nobody=span - 1)[lines.query]
    at, known = find(user_of[lines.row] * span + query, keys)
    count = len(lines.names)
    invented = ~known | (lines.counts > queries.cells.weights[at])
    sure = grounds.tally.sure
    line = "has a query in log.tsv that its person did not enter, or not so often"
    good = f"{int(lines.counts.sum())} lines are their people's own queries"
    yield from row_findings("log", sure(marked(lines.row[invented], count)), line, good)
    kept = np.zeros(keys.size, dtype=np.int64)
    kept[at[known]] = lines.counts[known]
    ends, _ = words_of(queries.texts)
    common = (queries.having >= k) & (np.diff(ends) > 0)
    lacking = common[queries.cells.columns] & (kept < queries.cells.weights)
    row_of = np.full(len(queries.users), -1, dtype=np.int64)
    row_of[user_of] = np.arange(count)
    rows = row_of[owner[lacking]]
    line = "lacks a line in log.tsv for a query that k people entered"
    good = "no line is missing, so none was chosen"
    yield from row_findings("log", sure(marked(rows[rows >= 0], count)), line, good)
    rowless = int(np.count_nonzero(np.bincount(owner[lacking], minlength=row_of.size)[row_of < 0]))
    if rowless and grounds.tally.edited is None and not grounds.tally.withdrawn:
        line = f"{rowless} people without a row entered a query that k people did"
        yield Finding("log", False, LOG, line)


def _at(lines: _Lines, queries: JudgedQueries, values: Ints, nobody: int = 0) -> Ints:
    """Return of `values`, by number in `queries`, that of each query of `lines`."""
    number = {text: at for at, text in enumerate(queries.texts)}
    at = np.array([number.get(text, -1) for text in lines.texts], dtype=np.int64)
    return np.where(at < 0, nobody, values[at])


def _words(lines: _Lines, people: JudgedProfiles, span: int) -> tuple[Ints, Floats]:
    """Return the key, row * `span` + term, and the count of each word in `lines`, ascending."""
    ends, words = words_of(lines.texts)
    number = {term: at for at, term in enumerate(people.terms)}
    columns = np.array([number.get(word, -1) for word in words], dtype=np.int64)
    sizes = np.diff(ends)[lines.query]
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    columns = columns[np.repeat(ends[lines.query], sizes) + within]
    row, counts = np.repeat(lines.row, sizes), np.repeat(lines.counts, sizes)
    own = columns >= 0  # else an invented query, which another finding names
    keys, at = np.unique(row[own] * span + columns[own], return_inverse=True)
    weights = np.bincount(at, weights=counts[own], minlength=keys.size)
    return keys, weights.astype(np.float64, copy=False)


@lru_cache(maxsize=1)  # rows are foreseen by the lines that are judged next
def _read(content: bytes) -> _Lines:
    """Return the released log in `content`; Broken if a line is not as it must be written."""
    names: list[str] = []
    texts: dict[str, int] = {}
    row, query, counts = list[int](), list[int](), list[int]()
    last = ("", "")
    try:
        written = content.decode().split("\n")
    except UnicodeDecodeError as fault:
        raise Broken("log", LOG, "is no UTF-8") from fault
    if written.pop() != "" or not written:
        raise Broken("log", LOG, "does not end with a whole line")
    for number, line in enumerate(written, 1):
        name, tab, text = line.partition("\t")
        if name == last[0] and text == last[1]:
            counts[-1] += 1
            continue
        if not (name and tab and text) or text != " ".join(text.lower().split()):
            raise Broken("log", f"{LOG}, line {number}", "is not a row and a normalized query")
        if name != last[0]:
            names.append(name)
        elif text < last[1]:
            raise Broken("log", f"{LOG}, line {number}", "must stand before the line before")
        last = (name, text)
        row.append(len(names) - 1)
        query.append(texts.setdefault(text, len(texts)))
        counts.append(1)
    rank = np.argsort(np.argsort(np.array([*texts], dtype=object), kind="stable"), kind="stable")
    columns = rank[np.array(query, dtype=np.int64)]
    return _Lines(names, sorted(texts), np.array(row), columns, np.array(counts, dtype=np.int64))


def _foresee(
    _parameters: Mapping[str, Any], tally: Tally, parts: Parts, people: JudgedProfiles
) -> tuple[Marks, Floats]:
    """Return which cells the rows must release, by the log of the release, and their weights."""
    if tally.sizes.max() > 1 or LOG not in parts:
        raise Broken("rows", ROWS, "some row is not one person's")
    keys, counts = _words(_read(parts[LOG]), people, tally.span)
    at, known = find(keys, tally.keys)
    if not known.all():
        raise Broken("words", ROWS, "some word is not its person's")
    may, weights = np.zeros(tally.keys.size, dtype=np.bool_), np.zeros(tally.keys.size)
    may[at], weights[at] = True, counts
    return may, weights


def _facts(grounds: Grounds) -> dict[str, int | float]:
    """Return the facts that this method states: of its rows, and how many lines it releases."""
    return {_RELEASED: grounds.parts[LOG].count(b"\n"), **reduced_facts(grounds)}


def _fault_of_single_rows(parameters: Mapping[str, object], sessions: bool) -> str:
    """Return why these single-person rows must not be published, or "" if they may be."""
    if sessions:
        return "users are sessions, so k of them may be one person; give people ids unlike anna#1"
    hides = is_whole(parameters.get("k"), 2, MOST)
    return "" if hides else "k=1 releases everybody's log as it is; anonymize with --set k=2"


JUDGE = Judge(
    "query-k",
    Promise("query", "query"),
    _judge,
    _foresee,
    {*_NUMBERS, *FACTS, _RELEASED},
    lambda parameters: parameter_faults(parameters, {}, _NUMBERS),
    keeps=frozenset({DELETIONS, LOG}),
    leaves_out=True,
    facts=_facts,
    single_rows=_fault_of_single_rows,
    single_line="each row is one person's, and k people entered each of its queries",
)

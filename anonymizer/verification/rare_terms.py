"""The promise of min_users: no row holds a term that fewer people have, in whichever groups.

A term's total over all people decides, before groups are made. So everything else that a release
promises is judged on profiles without the rare terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Ints, Marks
from .choices import MOST, persons_of
from .files.evidence import MANIFEST, JudgedRows
from .files.profiles import JudgedProfiles
from .files.strict_lines import TermCells, is_whole
from .finding import Broken, Findings, row_findings
from .recounts.rows import marked
from .vocabularies.slots import Slots


def least_people(parameters: Mapping[str, Any]) -> int:
    """Return how many people must have a term that rows may hold, by `parameters`."""
    least = parameters.get("min_users", 1)
    # The judge of the parameters refuses any other value.
    return int(least) if is_whole(least, 1, MOST) else 1


def rare_terms(people: JudgedProfiles, choices: Mapping[str, Any], least: int) -> Marks:
    """Return marks for the terms that fewer than `least` people have; `choices` made `people`."""
    number: dict[str, int] = {}
    persons = persons_of(people.users, choices)
    person = np.array([number.setdefault(name, len(number)) for name in persons], dtype=np.int64)
    span = len(people.terms)
    pairs = np.unique(np.repeat(person, people.sizes) * span + people.cells.columns)
    marks: Marks = np.bincount(pairs % span, minlength=span) < least
    return marks


def rare_since(
    people: JudgedProfiles, choices: Mapping[str, Any], least: int, rows: JudgedRows
) -> Marks:
    """Return marks for the terms in no row of `rows` that fewer than `least` of `people` have now.

    Some of them may have left since the release was made, so a term in a row was not rare then.
    """
    there = rows.cells.columns[rows.cells.columns < len(people.terms)]
    return rare_terms(people, choices, least) & ~marked(there, len(people.terms))


def without(people: JudgedProfiles, rare: Marks, *, changed: bool = False) -> JudgedProfiles:
    """Return `people` with the same users and numbers of terms, but without the `rare` terms.

    If profiles have `changed` since, users who have no other term keep theirs.
    """
    columns, weights = people.cells.columns, people.cells.weights
    stays = ~rare[columns]
    lost = np.diff(np.append(0, np.cumsum(stays))[people.cells.ends]) == 0
    if lost.any() and not changed:
        raise Broken("min_users", MANIFEST, "min_users would leave users no term")
    stays |= np.repeat(lost, people.sizes)
    ends: Ints = np.append(0, np.cumsum(stays))[people.cells.ends]
    cells = TermCells(ends, columns[stays], weights[stays])
    return replace(people, cells=cells, binary=bool(np.all(cells.weights == 1)))


def judge_rare(rows: JudgedRows, slots: Slots | None, rare: Marks, least: int) -> Findings:
    """Yield whether `rows` hold none of the `rare` terms, which fewer than `least` people have.

    If there are `slots`, the terms in these decide: a term above them may be rare by chance.
    """
    columns, of = rows.keys % rows.span, rows.keys // rows.span
    if slots is not None:
        columns, of = slots.own, slots.row[slots.slot]
    known = (columns >= 0) & (columns < rare.size) & (of >= 0)
    row = of[known][rare[columns[known]]]
    line = f"has a term that fewer than min_users={least} people have"
    good = f"each released term belongs to {least} people or more"
    yield from row_findings("min_users", marked(row, rows.users.size), line, good)

"""What a release by own-rows states: each row is one person's whole profile. It hides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....arrays import Floats, Marks
from ....promise import Promise
from ...choices import parameter_faults
from ...files.evidence import Parts
from ...files.profiles import JudgedProfiles
from ...finding import Findings, row_findings
from ...recounts.rows import expected_rows, judge_rows
from ...tally import Grounds, Tally
from ..km_anonymity import FACTS, before_earlier, reduced_facts
from ..record import Judge
from .means import MEANS

_WHOLE = {**MEANS, "representative": "union"}


def _judge(_parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether each row is the whole profile of one person, in the order of content."""
    shared = grounds.tally.sizes != 1
    yield from row_findings("rows", shared, "is not one user's", "each row is of one user")
    yield from judge_rows(_WHOLE, grounds.tally, grounds.rows)
    line = "stands before a row that must come first by its terms, or by its weights"
    wrong = grounds.within_shards(before_earlier(grounds.rows.cells))
    wrong &= grounds.tally.edited is None
    yield from row_findings("order", wrong, line, "rows stand in the order of their content")


def _foresee(
    _parameters: Mapping[str, Any], tally: Tally, _parts: Parts, _people: JudgedProfiles
) -> tuple[Marks, Floats]:
    """Return marks for all cells of `tally`, and their weights."""
    return expected_rows(_WHOLE, tally)


JUDGE = Judge(
    "own-rows",
    Promise("person", "nothing"),
    _judge,
    _foresee,
    {*FACTS},
    lambda parameters: parameter_faults(parameters, {}, {}),
    facts=reduced_facts,
    single_rows=lambda _parameters, _sessions: "each row is one person's whole profile",
)

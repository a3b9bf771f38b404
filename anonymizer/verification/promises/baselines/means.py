"""Rows that are the means of their members, by methods that promise no more than that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....arrays import Floats, Marks
from ....promise import Promise
from ...choices import MIN_USERS, Numbers, parameter_faults
from ...files.evidence import Parts
from ...files.profiles import JudgedProfiles
from ...finding import Findings
from ...recounts.rows import expected_rows, judge_rows
from ...tally import Grounds, Tally
from ..record import Judge

# What `judge_rows` asks of methods that can do more than take means.
MEANS = {"guarantee": "average", "representative": "centroid", "p": None}


def judge_of_means(
    method: str,
    numbers: Numbers,
    groups: Callable[[Mapping[str, Any], Tally], Findings],
) -> Judge:
    """Return the judge of `method`: its rows are means, and `groups` judges who is together.

    Of its parameters all but min_users are `numbers`.
    """
    numbers = {**numbers, **MIN_USERS}

    def judge(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
        yield from groups(parameters, grounds.tally)
        yield from judge_rows({**parameters, **MEANS}, grounds.tally, grounds.rows)

    def foresee(
        _parameters: Mapping[str, Any], tally: Tally, _parts: Parts, _people: JudgedProfiles
    ) -> tuple[Marks, Floats]:
        return expected_rows(MEANS, tally)

    return Judge(
        method,
        Promise("group", "nothing"),
        judge,
        foresee,
        {*numbers},
        lambda parameters: parameter_faults(parameters, {}, numbers),
    )

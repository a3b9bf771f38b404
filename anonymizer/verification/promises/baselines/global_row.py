"""What a release by global-row states: one row, the mean of all people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...files.evidence import ROWS
from ...finding import Findings, settled
from ...tally import Tally
from .means import judge_of_means


def _groups(_parameters: Mapping[str, Any], tally: Tally) -> Findings:
    """Yield whether everybody is in one group."""
    yield from settled("rows", ROWS, {"there is more than one row": tally.made > 1}, "one row")


JUDGE = judge_of_means("global-row", {}, _groups)

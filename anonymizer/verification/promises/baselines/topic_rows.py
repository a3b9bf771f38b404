"""What a release by topic-rows states: no more groups than topics, and the mean of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...choices import MOST
from ...files.evidence import ROWS
from ...files.strict_lines import is_whole
from ...finding import Findings, settled
from ...tally import Tally
from .means import judge_of_means

_NUMBERS = {"rows": (lambda n: is_whole(n, 1, MOST), f"a whole number from 1 to {MOST}")}


def _groups(parameters: Mapping[str, Any], tally: Tally) -> Findings:
    """Yield whether there are no more groups than topics."""
    most = parameters["rows"]
    more = {f"there are more groups than rows={most}": tally.made > most}
    yield from settled("rows", ROWS, more, f"there are {tally.made} groups of at most {most}")


JUDGE = judge_of_means("topic-rows", _NUMBERS, _groups)

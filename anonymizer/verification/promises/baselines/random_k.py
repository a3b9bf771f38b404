"""What a release by random-k states: k members or more in each group, and their mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...choices import MOST
from ...files.strict_lines import is_whole
from ...finding import Findings
from ...recounts.groups import judge_groups
from ...tally import Tally
from .means import judge_of_means

_NUMBERS = {"k": (lambda k: is_whole(k, 2, MOST), f"a whole number from 2 to {MOST}")}


def _groups(parameters: Mapping[str, Any], tally: Tally) -> Findings:
    """Yield whether each group has k members."""
    return judge_groups({"p": None, "l": None, "t": None, **parameters}, tally)


JUDGE = judge_of_means("random-k", _NUMBERS, _groups)

"""What a release by p-linkability promises, parameter by parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...arrays import Floats, Marks
from ...promise import AVERAGE
from ..choices import MIN_USERS, MOST, Numbers, parameter_faults
from ..files.evidence import Parts
from ..files.profiles import JudgedProfiles
from ..files.strict_lines import is_real, is_whole
from ..finding import Findings
from ..recounts.groups import judge_groups
from ..recounts.rows import expected_rows, judge_rows
from ..tally import Grounds, Tally
from .record import Judge

_WORDS = {
    "guarantee": ("average", "every-term"),
    "linkage": ("seed", "centroid"),
    "similarity": ("profiles", "documents"),
    "representative": ("centroid", "union"),
    "augment": ("none", "wordnet", "cooccurrence"),
    "network": ("profiles", "index", "log"),
    "combine": ("max", "sum"),
    "sense": ("profile", "first"),
    "refine": ("none", "swap"),
    "first_seed": ("given", "drawn"),
}
NUMBERS: Numbers = {
    "p": (lambda p: p is None or (is_real(p) and 0 < p <= 1), "above 0 and at most 1, or null"),
    "k": (lambda k: k is None or is_whole(k, 1, MOST), f"a whole number from 1 to {MOST}, or null"),
    "l": (lambda d: d is None or (is_real(d) and 1 <= d <= MOST), f"from 1 to {MOST}, or null"),
    "t": (lambda t: t is None or (is_real(t) and 0 < t <= 1), "above 0 and at most 1, or null"),
    "a": (lambda a: is_whole(a, 0, 100), "a whole number from 0 to 100"),
    "neighbours": (lambda n: is_whole(n, 1, 1000), "a whole number from 1 to 1000"),
    "documents": (lambda n: is_whole(n, 2, 10**6), "a whole number from 2 to 1000000"),
    **MIN_USERS,
}
# Who was put into which group shows these to nobody who counts again.
_QUOTED = {*_WORDS, "a", "neighbours", "documents"} - {"guarantee", "representative"}
WORDS = {*_WORDS, *NUMBERS, *(word for words in _WORDS.values() for word in words)}


def _judge(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether the groups' bounds and the rows hold."""
    yield from judge_groups(parameters, grounds.tally)
    yield from judge_rows(parameters, grounds.tally, grounds.rows)


def _foresee(
    parameters: Mapping[str, Any], tally: Tally, _parts: Parts, _people: JudgedProfiles
) -> tuple[Marks, Floats]:
    """Return marks for the cells that rows must release, and every cell's weight."""
    return expected_rows(parameters, tally)


def _faults(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with single parameters, and with several together."""
    yield from parameter_faults(parameters, _WORDS, NUMBERS)
    if all(parameters.get(name) is None for name in "pklt"):
        yield "p, k, l and t are all null, so nothing is promised"
    if parameters.get("guarantee") == "every-term" and parameters.get("p") is None:
        yield "guarantee every-term needs p"


def in_shards(parameters: Mapping[str, Any]) -> bool:
    """Return whether `parameters` set no bound that takes everybody's weights."""
    return parameters.get("t") is None


JUDGE = Judge(
    "p-linkability", AVERAGE, _judge, _foresee, WORDS, _faults, _QUOTED, in_shards=in_shards
)

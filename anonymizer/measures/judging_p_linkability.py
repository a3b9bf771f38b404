"""What a release by p-linkability promises, parameter by parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .evidence import MANIFEST, Parts
from .finding import Broken, Finding, Findings, Floats, Marks
from .grounds import Grounds
from .judging_groups import judge_groups
from .judging_parameters import MOST, parameter_faults
from .judging_rows import expected_rows, judge_rows
from .people import People
from .strict_lines import is_number, is_whole
from .tally import Tally

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
_NUMBERS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "p": (lambda p: p is None or (is_number(p) and 0 < p <= 1), "above 0 and at most 1, or null"),
    "k": (lambda k: k is None or is_whole(k, 1, MOST), f"a whole number from 1 to {MOST}, or null"),
    "l": (lambda d: d is None or (is_number(d) and 1 <= d <= MOST), f"from 1 to {MOST}, or null"),
    "t": (lambda t: t is None or (is_number(t) and 0 < t <= 1), "above 0 and at most 1, or null"),
    "a": (lambda a: is_whole(a, 0, 100), "a whole number from 0 to 100"),
    "neighbours": (lambda n: is_whole(n, 1, 1000), "a whole number from 1 to 1000"),
    "documents": (lambda n: is_whole(n, 2, 10**6), "a whole number from 2 to 1000000"),
}
WORDS = {*_WORDS, *_NUMBERS, *(word for words in _WORDS.values() for word in words)}


def judge_p_linkability(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Check the parameters, then the groups' bounds, then the rows."""
    faults = list(_faults(parameters))
    if faults:
        raise Broken("parameters", MANIFEST, "; ".join(faults))
    yield Finding("parameters", True, MANIFEST, "all there and in range")
    yield from judge_groups(parameters, grounds.tally)
    yield from judge_rows(parameters, grounds.tally, grounds.rows)


def foresee_p_linkability(
    parameters: Mapping[str, Any], tally: Tally, _parts: Parts, _people: People
) -> tuple[Marks, Floats]:
    """Return which cells the rows must release, and every cell's weight."""
    if any(_faults(parameters)):
        raise Broken("parameters", MANIFEST, "not in range")
    return expected_rows(parameters, tally)


def _faults(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with parameters, one by one and together."""
    yield from parameter_faults(parameters, _WORDS, _NUMBERS)
    if all(parameters.get(name) is None for name in "pklt"):
        yield "p, k, l and t are all null, which promises nothing"
    if parameters.get("guarantee") == "every-term" and parameters.get("p") is None:
        yield "guarantee every-term needs p"

"""The bars of speed, and how measured figures are compared with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from .machine import Spent

OK, MISSED, NO_BAR, NOT_MEASURED = "ok", "MISSED", "no bar", "not measured"
TOO_BUSY = (
    "too busy to judge"  # the bar is missed, and other programs kept the machine busy meanwhile
)
VERDICTS = (OK, MISSED, TOO_BUSY, NO_BAR, NOT_MEASURED)


class Bar(NamedTuple):
    """What a figure must be: at most or at least a number, or anything."""

    ratio: str
    what: str
    most: float | None = None
    least: float | None = None
    unit: str = ""
    timed: bool = True  # a busy machine changes the figure

    def holds(self, value: float) -> bool:
        """Return whether `value` is within the bar."""
        above = self.least is None or value >= self.least
        return above and (self.most is None or value <= self.most)

    def in_words(self) -> str:
        """Return the bar in words."""
        for word, limit in (("at most", self.most), ("at least", self.least)):
            if limit is not None:
                return f"{word} {shown(limit, self.unit)}"
        return ""


BARS: dict[str, Bar] = {
    "pool": Bar("R1", "pool in numpy / Lucene's own search", most=3),
    "pyserini": Bar("R1", "Pyserini's search / pool in numpy", least=10),
    "rerank": Bar("R2", "re-rank / bare sparse product", most=6),
    "page": Bar("R3", "personalized page / plain page", most=1.3),
    "comparison": Bar("R3", "three-column comparison / plain page", most=2),
    "growth": Bar("R4", "clustering, time(2n) / time(n), the worst", most=3.3),
    "clustering": Bar("R4", "clustering 128,000 users", most=10, unit="s"),
    "obvious": Bar("R5", "clustering / one product a seed, same groups", most=0.05),
    "small raw": Bar("R6", "log -> verified release, raw, a small log", unit="s"),
    "small WordNet": Bar("R6", "log -> verified release, WordNet, a small log", unit="s"),
    "whole raw": Bar("R6", "log -> verified release, raw, 657,000 users", most=240, unit="s"),
    "whole WordNet": Bar(
        "R6", "log -> verified release, WordNet, 657,000 users", most=720, unit="s"
    ),
    "memory": Bar("R6", "the largest process, 657,000 users", most=8, unit="GB", timed=False),
    "small km": Bar("R7", "(2,2)-anonymity by insertion, a tenth of AltaVista's log", unit="s"),
    "small km triples": Bar("R7", "(2,3)-anonymity by insertion, a tenth", unit="s"),
    "small km greedy": Bar("R7", "(2,2)-anonymity, greedy as in the paper, a tenth", unit="s"),
    "km": Bar("R7", "(2,2)-anonymity by insertion, AltaVista's whole shape", most=5, unit="s"),
    "km triples": Bar("R7", "(2,3)-anonymity by insertion, the whole shape", most=20, unit="s"),
    "km greedy": Bar("R7", "(2,2)-anonymity, greedy, the whole shape", most=30, unit="s"),
    "km memory": Bar("R7", "the largest process, the whole shape", unit="GB", timed=False),
    "vocabulary": Bar("R8", "SSC, 720 users x 150 occurrences, k = 5", most=30, unit="s"),
    "verify raw": Bar("R9", "verify / anonymize, raw terms", most=0.25),
    "verify WordNet": Bar("R9", "verify / anonymize, WordNet a = 1", most=0.25),
    "verify km": Bar("R9", "verify / anonymize, (2,2)-anonymity by insertion", most=0.25),
    "verify km triples": Bar("R9", "verify / anonymize, (2,3)-anonymity by insertion", most=0.25),
    "reading": Bar("R10", "reading a log, rows/s / pyarrow.csv's", least=0.15),
    "help": Bar("R11", "veilsearch --help / python -c pass", most=8),
    "clone": Bar("R12", "fresh clone -> first personalized result", most=180, unit="s"),
    "load": Bar("R13", "pages a second for 32 clients", least=200),
    "load p95": Bar("R13", "their p95", most=200, unit="ms"),
    "load errors": Bar("R13", "their errors", most=0, timed=False),
    "index": Bar("index", "veilsearch index / IndexCollection", most=2),
    "index memory": Bar("index", "veilsearch index, peak memory", most=3, unit="GB", timed=False),
}
WHOLE = "the whole log takes minutes and gigabytes of disk; ask for it with --full"
_WHOLE = ("whole raw", "whole WordNet", "memory")
_WHOLE_KM = ("km", "km triples", "km greedy", "km memory")
UNBARRED = {"km memory": "there is no bar for R7's memory"}
UNSAID = dict.fromkeys((*_WHOLE, *_WHOLE_KM), WHOLE)
RATIOS = tuple(dict.fromkeys(bar.ratio for bar in BARS.values()))


@dataclass(frozen=True)
class Measured:
    """The result of a measurement: figures, faults and numbers of calls by bar; further facts.

    A figure with a fault misses its bar however fast it was. A ratio's number of calls is that of
    the median with fewer calls.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    calls: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """A figure next to its bar."""

    name: str
    value: float | None
    verdict: str
    reason: str = ""
    calls: int | None = None  # behind its median
    spent: Spent | None = None  # by the step that measured it

    @property
    def bar(self) -> Bar:
        """Return the bar of this figure."""
        return BARS[self.name]

    def as_json(self) -> dict[str, Any]:
        """Return the finding for machines."""
        own = {key: value for key, value in asdict(self).items() if key != "name"}
        bar = {key: value for key, value in self.bar._asdict().items() if key != "timed"}
        return {**bar, **own, "spent": self.spent._asdict() if self.spent else None}


def judged(name: str, measured: Measured, spent: Spent | None = None, busy: str = "") -> Finding:
    """Return the finding for the bar `name`; `busy` says how others kept the machine busy."""
    value, calls = measured.values.get(name), measured.calls.get(name)
    if name in measured.wrong:
        return Finding(name, value, MISSED, measured.wrong[name], calls, spent)
    if value is None:
        return missing(name, UNSAID.get(name, "this run has no figure for it"))
    bar = BARS[name]
    if bar.most is None and bar.least is None:
        small = "the bar is for the whole log" if name.startswith("small ") else ""
        reason = UNBARRED.get(name, small)
        return Finding(name, value, NO_BAR, reason, calls, spent)
    if bar.holds(value):
        return Finding(name, value, OK, "", calls, spent)
    if busy and bar.timed:
        return Finding(name, value, TOO_BUSY, f"{busy}; measure again", calls, spent)
    return Finding(name, value, MISSED, "", calls, spent)


def missing(name: str, reason: str) -> Finding:
    """Return a finding without a figure for the bar `name`, with the `reason`."""
    return Finding(name, None, NOT_MEASURED, reason)


def shown(value: float, unit: str = "") -> str:
    """Return `value` with three digits, or all of a large one, and its `unit`."""
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()

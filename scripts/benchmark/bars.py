"""The bars of speed, and how measured figures are compared with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

OK, MISSED, NOT_MEASURED = "ok", "MISSED", "not measured"
TOO_BUSY = "too busy to judge"  # missed, while other programs kept the machine busy
VERDICTS = (OK, MISSED, TOO_BUSY, NOT_MEASURED)


class Bar(NamedTuple):
    """What a figure must be: at most or at least a number."""

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


def _limits() -> dict[str, Bar]:
    """Return all bars by name, in the order of the design's page `bars.md`."""
    bars = {
        "pool": Bar("R1", "pool of 1,000 in numpy / Lucene's own search", most=3),
        "pyserini": Bar("R1", "Pyserini's search for 1,000 / the same pool", least=10),
        "rerank": Bar("R2", "re-ranking 1,000 / bare sparse product", most=6),
    }
    for page, most, times in (("plain", 2.0, 9), ("personalized", 2.6, 12), ("compare", 4.2, 19)):
        bars[page] = Bar("R3", f"processor time of a page, {page}", most=most, unit="ms")
        bars[f"{page} / bare"] = Bar("R3", f"the same / a bare Flask page, {page}", most=times)
    bars |= {
        "growth": Bar("R4", "grouping, time(2n) / time(n), the worst", most=3.3),
        "clustering": Bar("R4", "grouping 128,000 people", most=10, unit="s"),
        "obvious": Bar("R5", "grouping / one product a seed, same groups", most=0.05),
        "whole raw": Bar("R6", "AOL's shape, log to verified release, raw", most=240, unit="s"),
        "whole WordNet": Bar("R6", "the same with WordNet, a = 1", most=720, unit="s"),
        "memory": Bar("R6", "its largest process", most=8, unit="GB", timed=False),
        "km": Bar("R7", "AltaVista's shape, (2,2) by insertion", most=5, unit="s"),
        "km triples": Bar("R7", "the same, (2,3)", most=20, unit="s"),
        "km greedy": Bar("R7", "the same, (2,2) greedy as in the paper", most=30, unit="s"),
        "vocabulary": Bar(
            "R8", "`vocabulary-k`, 720 people, k = 5, eps = 4, whole command", most=5, unit="s"
        ),
    }
    for people in ("720", "20,000", "650,000"):
        what = f"`verify` of {people} people / reading and hashing its files"
        bars[f"verify {people}"] = Bar("R9", what, most=12)
    bars |= {
        "reading": Bar("R10", "reading a log, rows a second / pyarrow.csv's", least=0.15),
        "help": Bar("R11", "`veilsearch --help` / `python -c pass`", most=8),
        "clone": Bar("R12", "fresh clone to first result, no package kept", most=180, unit="s"),
        "load": Bar("R13", "requests a second, 32 clients", least=280),
        "load p95": Bar("R13", "their p95", most=150, unit="ms"),
        "load errors": Bar("R13", "their errors", most=0, timed=False),
    }
    for people, pooled, composition in (("720", 1, 8), ("20,000", 10, 40), ("100,000", 30, 90)):
        for method, most in (("pooled", pooled), ("composition", composition)):
            what = f"`{method}` of {people} people, the method alone"
            bars[f"{method} {people}"] = Bar("R14", what, most=most, unit="s")
    return bars | {
        "search": Bar("R15", "cold `search`, processor time", most=0.75, unit="s"),
        "serve": Bar("R15", "`serve` to its first answer", most=1.5, unit="s"),
        "demo": Bar("R15", "`demo` where nothing is compiled", most=30, unit="s"),
        "quick": Bar("R15", "`scripts/test --quick`", most=60, unit="s"),
        "suite": Bar("R15", "`scripts/test`, the whole suite", most=360, unit="s"),
    }


BARS = _limits()
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

    @property
    def bar(self) -> Bar:
        """Return the bar of this figure."""
        return BARS[self.name]

    def as_json(self) -> dict[str, Any]:
        """Return the finding for machines."""
        own = {key: value for key, value in asdict(self).items() if key != "name"}
        bar = {key: value for key, value in self.bar._asdict().items() if key != "timed"}
        return {**bar, **own}


def judged(name: str, measured: Measured, busy: str = "") -> Finding:
    """Return the finding for the bar `name`; `busy` says how others kept the machine busy."""
    value, calls = measured.values.get(name), measured.calls.get(name)
    if name in measured.wrong:
        return Finding(name, value, MISSED, measured.wrong[name], calls)
    if value is None:
        return missing(name, "this run has no figure for it")
    bar = BARS[name]
    if bar.holds(value):
        return Finding(name, value, OK, "", calls)
    if busy and bar.timed:
        return Finding(name, value, TOO_BUSY, f"{busy}; measure again", calls)
    return Finding(name, value, MISSED, "", calls)


def missing(name: str, reason: str) -> Finding:
    """Return a finding without a figure for the bar `name`, with the `reason`."""
    return Finding(name, None, NOT_MEASURED, reason)


def shown(value: float, unit: str = "") -> str:
    """Return `value` with three digits, or all of a large one, and its `unit`."""
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()

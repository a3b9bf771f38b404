"""What we claim beside Burghardt et al., marked as ours: insertion keeps more, greed wastes.

At m = 1 every algorithm and target keeps the same, the terms of k or more people: nothing is
claimed of it.
"""

from __future__ import annotations

from collections.abc import Callable

from .burghardt_shares import (
    GREEDY,
    INSERT,
    MEASURES,
    OWN,
    RANDOM,
    REINSERT,
    ROUNDING,
    Cell,
    Shares,
    percent,
    warning,
)
from .claims import Draft, Wording, listed, stated
from .outcomes import Outcomes
from .report import FAILS, HOLDS

_OURS = "ours, not the paper's"
Gains = list[tuple[float, str, Cell]]


def insertion_keeps_more(outcomes: Outcomes, shares: Shares) -> list[Draft]:
    """Hold insertion against the best of the paper's targets."""
    by_log = _gains(shares, ("log_size",))
    by_all = _gains(shares, tuple(OWN))
    if not by_all:
        return []
    drafts = []
    for name, found, what in (
        ("insertion-keeps-more-log", by_log, "the log"),
        ("insertion-keeps-more", by_all, "each measure that has a target"),
    ):
        text = (
            f"Insertion keeps more of {what} than the best of the paper's targets, always (m = 1 "
            "left out: there both keep the same)."
        )
        measures = {measure for _, measure, _ in found}
        words = Wording(name, text, _OURS)
        finding = f"{_told(found)}{warning(outcomes, *measures)}"
        drafts.append(stated(words, finding, _all_above(found)))
    return drafts


def _gains(shares: Shares, measures: tuple[str, ...]) -> Gains:
    """Return by how much insertion keeps more, each by the best of its targets."""
    found = []
    for cell in shares.with_choice(INSERT):
        for measure in measures:
            ours, papers = (shares.best(each, cell, measure) for each in (INSERT, GREEDY))
            if ours is not None and papers is not None:
                found.append((ours.share - papers.share, measure, cell))
    return found


def _told(found: Gains) -> str:
    above = sum(gap > ROUNDING for gap, _, _ in found)
    ends = [
        f"{percent(gap)} of {MEASURES[m]} at {cell}" for gap, m, cell in (min(found), max(found))
    ]
    return (
        f"It is so in {above} of {len(found)} cases; the gain is, in points of the original, from "
        f"{ends[0]} to {ends[1]}."
    )


def _all_above(found: Gains) -> str:
    return HOLDS if all(gap > ROUNDING for gap, _, _ in found) else FAILS


def reinsertion_repairs(outcomes: Outcomes, shares: Shares) -> list[Draft]:
    """Ask what greedy deletion wastes: what can be given back at once to k or more people."""
    again = Shares(outcomes, REINSERT)
    more, behind = Gains(), Gains()
    for cell in again.with_choice(GREEDY):
        for target in again.targets(GREEDY, cell):
            back, plain, ours = (
                found.of(algorithm, cell, target, "log_size")
                for found, algorithm in ((again, GREEDY), (shares, GREEDY), (shares, INSERT))
            )
            if back is not None and plain is not None:
                more.append((back - plain, "log_size", cell))
            if back is not None and ours is not None and target != RANDOM:
                behind.append((ours - back, "log_size", cell))
    drafts = []
    if more:
        text = (
            "Greedy deletion wastes: terms can be given back to k or more people at once, always."
        )
        words = Wording("reinsertion-repairs", text, _OURS)
        drafts.append(stated(words, _told(more), _all_above(more)))
    if behind:
        text = "Even so, insertion with the same target keeps more of the log."
        words = Wording("insertion-over-reinsertion", text, _OURS)
        drafts.append(stated(words, _told(behind), _all_above(behind)))
    return [*drafts, *_randoms_waste(shares, again)]


def _randoms_waste(shares: Shares, again: Shares) -> list[Draft]:
    """Ask whether random deletion falls behind only because nobody repairs it."""
    pairs, others = [], dict[str, None]()
    for cell in again.with_choice(GREEDY):
        plain, repaired = (some.all_of(GREEDY, cell, "log_size") for some in (shares, again))
        both = [target for target in plain if target in repaired and target != RANDOM]
        if both and RANDOM in plain and RANDOM in repaired:
            before, after = (
                max(every[target] for target in both) - every[RANDOM] for every in (plain, repaired)
            )
            pairs.append((before, after, cell))
            others |= dict.fromkeys(both)
    if not pairs:
        return []
    text = (
        "Most of what random deletion loses is waste: re-insertion more than halves its distance "
        "to the best target, of those that were repaired too."
    )
    told = [f"{percent(a)} to {percent(b)} points at {cell}" for a, b, cell in pairs]
    words = Wording("randoms-waste", text, _OURS)
    finding = f"Of log size, beside {listed(list(others))}, it goes from {', '.join(told)}."
    return [stated(words, finding, HOLDS if all(2 * b < a for a, b, _ in pairs) else FAILS)]


OURS: tuple[Callable[[Outcomes, Shares], list[Draft]], ...] = (
    insertion_keeps_more,
    reinsertion_repairs,
)

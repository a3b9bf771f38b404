"""What evaluate says by relevance of its own: as JSON for machines, as lines for people."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..evaluation.batch import SearchOptions
from ..evaluation.helped import CONTROLS, Helped
from ..evaluation.judging import ModeSummary, why_not_judged
from ..measures.relevance import AP, GAIN, HARM, HARM_MUCH, HARMED, KINDS, LOST, MUCH, NDCG
from ..measures.significance import Interval

_NAMES = {"AP": AP, "nDCG@10": NDCG, "gain": GAIN, "harmed": HARM, "harmed_much": HARM_MUCH}
_MODE, _WIDE, _CELL = 18, 26, 10  # of columns


def as_json(
    arguments: argparse.Namespace,
    search: SearchOptions,
    helped: Helped,
    modes: Sequence[ModeSummary],
) -> dict[str, Any]:
    """Return `helped`, found by `search`, and the summaries of its `modes` as objects for JSON."""
    return {
        "queries": len(helped.qids),
        "people": helped.people,
        "left_out": dict(helped.left_out),
        "unserved": helped.unserved,
        "pool": search.pool,
        "ranking": search.rule.ranking,
        "care": search.rule.care,
        "seed": arguments.seed,
        "modes": [
            {
                "mode": summary.mode,
                "control": summary.mode in CONTROLS,
                **{name: ends(summary.means[key]) for name, key in _NAMES.items()},
                "mean_loss_where_harmed": _loss(summary.means),
                "worst_decile_gain": summary.worst_decile,
                **{
                    kind: {name: ends(summary.means[f"{name} {kind}"]) for name in (GAIN, HARM)}
                    for kind in KINDS
                },
            }
            for summary in modes
        ],
        "output": str(arguments.output) if arguments.output else None,
    }


def _loss(means: Mapping[str, Interval]) -> float:
    """Return the mean fall of AP where a query is harmed; 0 if none is."""
    return means[LOST].mean / means[HARM].mean if means[HARM].mean else 0.0


def ends(value: Interval) -> dict[str, float | None]:
    """Return `value` for JSON, which has no NaN: None where too few people leave it undefined."""
    return {name: None if math.isnan(v) else v for name, v in value._asdict().items()}


def lines(search: SearchOptions, helped: Helped, modes: Sequence[ModeSummary]) -> Iterator[str]:
    """Yield `helped`, found by `search`, and the summaries of its `modes` as lines."""
    yield (
        f"{len(helped.qids):,} queries of {helped.people:,} people over pools of "
        f"{search.pool:,} documents, by relevance of their own; ranking {search.rule.name}"
    )
    yield why_not_judged(helped.left_out)
    if helped.unserved:
        yield f"in the plain order: {helped.unserved:,} of people without a row in a release"
    yield ""
    head = ("nDCG@10", "harmed", "> .05", "lost", "worst 10 %", "gain in", "gain off")
    wide = max(_MODE, *(len(summary.mode) + 2 for summary in modes))
    yield f"{'mode':<{wide}}{'AP':<8}{'gain [95 %]':<{_WIDE}}" + _cells(head)
    for summary in modes:
        means = summary.means
        shares = [f"{means[name].mean:.1%}" for name in (HARM, HARM_MUCH)]
        signed = [summary.worst_decile, *(means[f"{GAIN} {kind}"].mean for kind in KINDS)]
        cells = [f"{means[NDCG].mean:.3f}", *shares, f"{_loss(means):.3f}", *map(_signed, signed)]
        gain, low, high = map(_signed, means[GAIN])
        text = f"{gain} [{low}, {high}]"
        yield f"{summary.mode:<{wide}}{means[AP].mean:<8.3f}{text:<{_WIDE}}{_cells(cells)}"
    yield (
        f"means over people; harmed: AP falls by more than {HARMED:g} below the plain order, "
        f"or {MUCH:g}; lost: the mean fall of these"
    )
    yield "worst 10 %: the mean gain of the people who gain least; in and off their interests"
    if controls := [summary.mode for summary in modes if summary.mode in CONTROLS]:
        yield f"controls, which know nothing of a person: {', '.join(controls)}"


def _cells(texts: Sequence[str]) -> str:
    return "".join(f"{text:>{_CELL + 1}}" for text in texts)


def _signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.3f}"

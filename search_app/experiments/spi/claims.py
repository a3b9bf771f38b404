"""The claims of Carpineto & Romano, each with why it does not hold, where it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.measures.indices.divergence import WEIGHTS, Compared
from anonymizer.measures.indices.exposure import CHANNELS, exposures

from ..outcomes import Outcomes
from ..report.claims import UntestedClaim, drafts_of, settle
from ..report.report import Claim
from .indices import SAMPLES
from .series import WEIGHT_NAMES, by_k, by_strategy, log_facts

PAPER = "Carpineto & Romano, section {}"
STRONG, WEAK_CORRELATION = 0.85, 0.5  # of correlations: the paper's bound, and ours for "weakly"
STABLE = 0.01  # of SPI
ACCURACY, NEAR = 0.78, 0.05
COMMON = (10, 50, 100)  # k


class Assessment(NamedTuple):
    """What was measured for a claim, and whether it holds; None: undecided."""

    finding: str
    right: bool | None


Judge = Callable[[Outcomes], Assessment | None]


def claims(outcomes: Outcomes) -> tuple[Claim, ...]:
    """Return all claims on what `outcomes` measured."""
    return settle(drafts_of((_row(*row) for row in _TABLE), outcomes))


def _row(
    name: str, text: str, section: str, judge: Judge, why_not: str = ""
) -> UntestedClaim[Outcomes]:
    def selector(outcomes: Outcomes) -> Mapping[str, object] | None:
        judged = judge(outcomes)
        if judged is None:
            return None
        why = f" {why_not}" if why_not and judged.right is False else ""
        return {"finding": f"{judged.finding}{why}", "right": judged.right}

    return UntestedClaim(name, text, PAPER.format(section), "{finding}", selector)


def _falls(outcomes: Outcomes) -> Assessment | None:
    if not (facts := log_facts(outcomes)):
        return None
    one, null, skip = (f"{facts[f'steps_jsd_falls_{how}']:.0f}" for how in ("one", "null", "skip"))
    return Assessment(
        f"JSD falls at {one} of {facts['steps']:.0f} steps of k if an empty release counts 1, at "
        f"{null} if it is compared with an empty document, and at {skip} if it is skipped.",
        facts["steps_jsd_falls_one"] == 0,
    )


def _columns(outcomes: Outcomes) -> dict[str, np.ndarray]:
    points = by_k(outcomes)
    columns = {"k": np.array([float(k) for k, _ in points])}
    for name, fact in (("impressions", "impressions"), ("JSD", "jsd"), ("SPI", "spi_paper")):
        columns[name] = np.array([facts[f"log_{fact}"] for _, facts in points])
    return columns


def _correlations(pairs: list[tuple[str, str]], outcomes: Outcomes) -> dict[str, float] | None:
    columns = _columns(outcomes)
    if any(np.ptp(column) == 0 for column in columns.values() if column.size) or (
        columns["k"].size < 3
    ):
        return None
    return {
        f"{one} and {other}": float(np.corrcoef(columns[one], columns[other])[0, 1])
        for one, other in pairs
    }


def _listed(values: Mapping[str, float]) -> str:
    return "; ".join(f"{name} {value:.3f}" for name, value in values.items())


def _correlated(
    pairs: list[tuple[str, str]], right: Callable[[float], bool], outcomes: Outcomes
) -> Assessment | None:
    values = _correlations(pairs, outcomes)
    if values is None:
        return None
    points = by_k(outcomes)
    grid = f"Pearson's r over {len(points)} values of k from {points[0][0]:,} to {points[-1][0]:,}"
    return Assessment(f"{grid}: {_listed(values)}.", all(map(right, values.values())))


def _oscillates(outcomes: Outcomes) -> Assessment | None:
    if not (facts := log_facts(outcomes)):
        return None
    falls = facts["steps_spi_falls"]
    return Assessment(
        f"SPI of the log falls at {falls:.0f} of {facts['steps']:.0f} steps of k.", falls > 0
    )


def _people_fall(outcomes: Outcomes) -> Assessment | None:
    if not (facts := log_facts(outcomes)):
        return None
    fell = facts["steps_people_fall"]
    return Assessment(
        f"SPI falls at some step for {fell:,.0f} of {facts['people']:,.0f} people.", fell > 0
    )


def _below(outcomes: Outcomes) -> Assessment | None:
    points = [facts for k, facts in by_k(outcomes) if k > 1 and facts["log_impressions"] > 0]
    if not points or not (facts := log_facts(outcomes)):
        return None
    gaps = [one["log_jsd"] - one["log_spi_paper"] for one in points]
    never = "never above" if facts["steps_spi_at_most_jsd"] else "above"
    return Assessment(
        f"JSD is {min(gaps):.3f} to {max(gaps):.3f} above SPI, as long as anything is released. "
        f"SPI of a person is {never} the person's JSD.",
        min(gaps) > 0,
    )


def _exposure(outcomes: Outcomes) -> Assessment | None:
    points = [facts for _, facts in by_k(outcomes) if facts["log_impressions"] > 0]
    if len(points) < 2:
        return None
    texts = []
    for channel in CHANNELS:
        name = f"log_pel_{channel}"
        every, some = ([one[key] for one in points] for key in (name, f"{name}_of_released"))
        texts.append(
            f"{channel} {every[0]:.1f} to {every[-1]:.1f} ({some[0]:.1f} to {some[-1]:.1f} over "
            "people with a release)"
        )
    return Assessment(
        f"From k = 1 to the last k with a release: {'; '.join(texts)}. The channel decides.", None
    )


def _rises(_outcomes: Outcomes) -> Assessment:
    # One person asked a three times, b and c once, and a is removed.
    before, after = csr_matrix([[3.0, 1, 1]]), csr_matrix([[0.0, 1, 1]])
    whole, part = (exposures(Compared(before, some)) for some in (before, after))
    values = {name: (float(whole[name][0]), float(part[name][0])) for name in whole}
    texts = (f"{name} {one:.1f} to {other:.1f}" for name, (one, other) in values.items())
    one, other = values["plugin"]
    return Assessment(
        f"Of a,a,a,b,c the release b,c leaves: {'; '.join(texts)}. It rises by the channel plugin, "
        "which puts p(x|y) = [x = y] into the paper's equation 4.",
        other > one,
    )


def _labelled(outcomes: Outcomes) -> Assessment | None:
    facts, points = log_facts(outcomes), by_k(outcomes)
    if not facts or not points or points[0][0] != 1:
        return None
    share = points[0][1]["log_sensitive_share"]
    if facts["model_weak"]:
        return Assessment(f"{share:.1%}, by a model of weak labels.", None)
    return Assessment(f"{share:.1%}.", 0.4 <= share <= 0.6)


def _accurate(outcomes: Outcomes) -> Assessment | None:
    if not (facts := log_facts(outcomes)):
        return None
    accuracy = facts["model_accuracy"]
    if facts["model_weak"]:
        auc = facts.get("model_half_lexicon_auc", np.nan)
        return Assessment(
            f"{accuracy:.1%} on weak labels, which the model can learn by heart. The honest test "
            f"(half of the word list against the other half) has an AUC of {auc:.3f}.",
            None,
        )
    return Assessment(f"{accuracy:.1%}.", abs(accuracy - ACCURACY) <= NEAR)


def _listed_share(outcomes: Outcomes) -> Assessment | None:
    points = by_k(outcomes)
    if not points or points[0][0] != 1:
        return None
    share = points[0][1]["log_listed_share"]
    return Assessment(
        f"{share:.1%}. The paper's lists are not public, so ours are others.",
        True if abs(share - 0.5) <= NEAR else None,
    )


def _winner(name: str, which: str, wins: bool, outcomes: Outcomes) -> Assessment | None:
    reached, fact = by_strategy(outcomes), f"log_spi_{which}"
    if name not in reached or len(reached) < 2:
        return None
    texts, right = [], True
    for share in reached[name]:
        others = {other: at[share][fact] for other, at in reached.items() if share in at}
        own = others.pop(name)
        right &= all((own > value) == wins and own != value for value in others.values())
        texts.append(f"at {share:.0%} {own:.3f} (others: {_listed(others)})")
    return Assessment(f"SPI of {name}, {WEIGHT_NAMES[which]}: {', '.join(texts)}.", right)


def _no_guarantee(outcomes: Outcomes) -> Assessment | None:
    points = {k: facts for k, facts in by_k(outcomes) if k in COMMON}
    if len(points) < len(COMMON):
        return None
    texts = (
        f"k = {k}: {facts['log_sensitive_share']:.1%} of the released queries, which are "
        f"{facts['log_sensitive_kept']:.1%} of all sensitive ones"
        for k, facts in points.items()
    )
    return Assessment(
        f"More likely sensitive than not are at {'; '.join(texts)}.",
        points[COMMON[-1]]["log_sensitive_kept"] > 0,
    )


def _independent(outcomes: Outcomes) -> Assessment | None:
    every = [facts for some in by_strategy(outcomes).values() for facts in some.values()]
    if not every:
        return None
    spreads = {
        channel: float(np.ptp([one[f"log_pel_{channel}_of_released"] for one in every]))
        for channel in CHANNELS
    }
    small = [spread <= 100 * NEAR for spread in spreads.values()]
    return Assessment(
        "The largest difference in PEL (percent, over people with a release) "
        f"between strategies and shares is: {_listed(spreads)}. The channel decides.",
        all(small) if all(small) == any(small) else None,
    )


def _stable(outcomes: Outcomes) -> Assessment | None:
    if not (facts := log_facts(outcomes)) or facts["people"] <= SAMPLES[-1]:
        return None
    sizes = [*SAMPLES, int(facts["people"])]
    values = {f"{size:,} people": facts[f"sample_{size}"] for size in sizes}
    *_, last, all_of_them = values.values()
    return Assessment(
        f"SPI at the same k = 10 is {_listed(values)}.", abs(all_of_them - last) <= STABLE
    )


def _theorem(outcomes: Outcomes) -> Assessment | None:
    facts, points = log_facts(outcomes), by_k(outcomes)
    if not facts or not points or points[0][0] != 1:
        return None
    nothing = max(points[0][1]["log_jsd"], points[0][1]["log_spi_paper"])
    between = all(0 <= one["log_spi_paper"] <= 1 for _, one in points)
    return Assessment(
        f"Weights of 1: SPI differs from JSD by at most {facts['steps_ones_differ']:.1g}. SPI is "
        f"{'' if between else 'not '}in 0 to 1 at all k. If all is released, it is {nothing:.1g}.",
        bool(between and nothing == 0 and facts["steps_ones_differ"] == 0),
    )


_AMONG = [("impressions", "k"), ("impressions", "JSD"), ("k", "JSD")]
_TO_SPI = [("SPI", "JSD"), ("SPI", "impressions"), ("SPI", "k")]
_TABLE: list[tuple[str, str, str, Judge] | tuple[str, str, str, Judge, str]] = [
    ("D1", "JSD grows monotonically with k.", "3.2", _falls),
    (
        "D2",
        f"Impressions, k and JSD correlate, with |r| above {STRONG} for each pair.",
        "3.2",
        partial(_correlated, _AMONG, lambda r: abs(r) > STRONG),
        "Nearly all that k removes is removed at small k, so k is no straight measure of either.",
    ),
    (
        "D3",
        "SPI is weakly correlated with them.",
        "3.2",
        partial(_correlated, _TO_SPI, lambda r: abs(r) < WEAK_CORRELATION),
        "SPI is a weighted JSD, and at the scale of a log the weights average out.",
    ),
    (
        "D4",
        "SPI of the log oscillates as k grows.",
        "3.2",
        _oscillates,
        "What makes SPI fall for some people is more than made up by others.",
    ),
    ("D4-people", "SPI may fall when more is removed.", "3.2", _people_fall),
    ("D5", "SPI is below JSD.", "3.2", _below),
    ("D6", "PEL is nearly stable: slightly falling, sometimes rising.", "3.2", _exposure),
    (
        "D7",
        "PEL rises when a query is removed that is more frequent than the rest.",
        "3.2",
        _rises,
    ),
    ("D8", "About half of the queries are labelled sensitive.", "3.1", _labelled),
    ("D9", "The classifier has an accuracy of 78 % over 10 folds.", "3.1", _accurate),
    ("D10", "PPP queries are about 50 % of the log.", "3.3", _listed_share),
    *(
        (
            f"D11-{which}",
            f"Releasing no PPP queries is a clear winner ({WEIGHT_NAMES[which]}).",
            "3.3",
            partial(_winner, "no PPP", which, True),
            "By k, each person keeps few queries that are far from the original frequencies, and "
            "SPI counts any such distance as privacy.",
        )
        for which in WEIGHTS
    ),
    *(
        (
            f"D12-{which}",
            f"Releasing only PPP queries is the bottom line ({WEIGHT_NAMES[which]}).",
            "3.3",
            partial(_winner, "only PPP", which, False),
            "The printed formula weighs suppressed queries, too, so suppressing sensitive ones "
            "earns little."
            if which == "paper"
            else "",
        )
        for which in WEIGHTS
    ),
    (
        "D13",
        "k-anonymity is no guarantee: sensitive queries are released even at a high k.",
        "3.3",
        _no_guarantee,
    ),
    (
        "D14",
        "PEL depends neither on the size of the release nor on the strategy.",
        "3.3",
        _independent,
    ),
    (
        "D15",
        "Results are stable in the number of people.",
        "3",
        _stable,
        "At the same k more people share more queries, so k means less with more people.",
    ),
    (
        "D16",
        "SPI is JSD at weights of 1, lies in 0 to 1, and is 0 if all is released.",
        "2",
        _theorem,
    ),
]

"""The claims of Carpineto & Romano, each with why it does not hold, where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.measures.indices.divergence import WEIGHTS, Compared
from anonymizer.measures.indices.exposure import CHANNELS, exposures

from ..outcomes import Outcomes
from ..report.claims import UntestedClaim, drafts_of, settle
from ..report.report import Claim
from .indices import SAMPLES
from .series import STRATEGY_NAMES, WEIGHT_NAMES, Facts, by_k, by_strategy, log_facts

STRONG, WEAK = 0.85, 0.5  # of correlations: the paper's bound, and ours for "weakly"
STABLE = 0.01  # of SPI
ACCURACY, HALF, NEAR = 0.78, 0.5, 0.05
COMMON = (10, 50, 100)  # k
Values = Mapping[str, Any]


def claims(outcomes: Outcomes) -> tuple[Claim, ...]:
    """Return all claims on what `outcomes` measured."""
    return settle(drafts_of((*_by_k_table(), *_by_strategy_table()), outcomes))


def _row(
    wording: tuple[str, str, str],
    finding: str,
    selector: Callable[[Outcomes], Values | None],
    predicate: Callable[..., bool | None],
    why_not: str = "",
) -> UntestedClaim[Outcomes]:
    """Return a row of the table of claims; `why_not` follows the finding where it fails."""
    name, text, section = wording

    def picked(outcomes: Outcomes) -> Values | None:
        if not (values := selector(outcomes)):
            return None
        fails = predicate(**values) is False
        return {**values, "why": f" {why_not}" if fails and why_not else ""}

    source = f"Carpineto & Romano, section {section}"
    return UntestedClaim(name, text, source, finding + "{why}", picked, predicate)


def _undecided(**_: Any) -> None:
    """Return None: what was measured does not decide."""


def _listed(values: Mapping[str, float]) -> str:
    return "; ".join(f"{name} {value:.3f}" for name, value in values.items())


def _of_whole_log(outcomes: Outcomes) -> Values | None:
    """Return the facts of the log and of its release with k = 1, which keeps all."""
    points = by_k(outcomes)
    facts = log_facts(outcomes)
    if not facts or not points or points[0][0] != 1:
        return None
    between = all(0 <= one["log_spi_paper"] <= 1 for _, one in points)
    honest, weak = "", ""
    if facts["model_weak"]:
        auc = facts.get("model_half_lexicon_auc", np.nan)
        weak = " The labels are weak, so this decides nothing."
        honest = f" Half of the word list against the other half, the AUC is {auc:.3f}."
    return {**facts, **points[0][1], "between": between, "weak": weak, "honest": honest}


def _correlations(pairs: list[tuple[str, str]], outcomes: Outcomes) -> Values | None:
    points = by_k(outcomes)
    columns = {"k": [float(k) for k, _ in points]}
    for name, fact in (("impressions", "impressions"), ("JSD", "jsd"), ("SPI", "spi_paper")):
        columns[name] = [facts[f"log_{fact}"] for _, facts in points]
    if len(points) < 3 or any(len(set(column)) == 1 for column in columns.values()):
        return None
    r = {f"{a} and {b}": float(np.corrcoef(columns[a], columns[b])[0, 1]) for a, b in pairs}
    sizes = [abs(value) for value in r.values()]
    ends = {"points": len(points), "first": points[0][0], "last": points[-1][0]}
    return {**ends, "least": min(sizes), "most": max(sizes), "listed": _listed(r)}


def _gaps(outcomes: Outcomes) -> Values | None:
    points = [facts for k, facts in by_k(outcomes) if k > 1 and facts["log_impressions"] > 0]
    gaps = [one["log_jsd"] - one["log_spi_paper"] for one in points]
    return {"least": min(gaps), "most": max(gaps)} if gaps else None


def _exposure(outcomes: Outcomes) -> Values | None:
    points = [facts for _, facts in by_k(outcomes) if facts["log_impressions"] > 0]
    if len(points) < 2:
        return None
    ends = points[0], points[-1]
    texts = []
    for name in CHANNELS:
        first, last = (one[f"log_pel_{name}"] for one in ends)
        low, high = (one[f"log_pel_{name}_of_released"] for one in ends)
        some = f"{low:.1f} to {high:.1f} over people with a release"
        texts.append(f"{name} {first:.1f} to {last:.1f} ({some})")
    return {"listed": "; ".join(texts)}


def _rises(_outcomes: Outcomes) -> Values:
    # One person asked a three times, b and c once, and a is removed.
    before, after = csr_matrix([[3.0, 1, 1]]), csr_matrix([[0.0, 1, 1]])
    whole, part = (exposures(Compared(before, some)) for some in (before, after))
    texts = (f"{name} {whole[name][0]:.1f} to {part[name][0]:.1f}" for name in whole)
    rise = float(part["plugin"][0] - whole["plugin"][0])
    return {"listed": "; ".join(texts), "rise": rise}


def _common(outcomes: Outcomes) -> Values | None:
    points = {k: facts for k, facts in by_k(outcomes) if k in COMMON}
    if len(points) < len(COMMON):
        return None
    texts = (
        f"k = {k}: {facts['log_sensitive_share']:.1%} of the released queries, which are "
        f"{facts['log_sensitive_kept']:.1%} of all sensitive ones"
        for k, facts in points.items()
    )
    return {"listed": "; ".join(texts), "kept": points[COMMON[-1]]["log_sensitive_kept"]}


def _samples(outcomes: Outcomes) -> Values | None:
    facts = log_facts(outcomes)
    if not facts or facts["people"] <= SAMPLES[-1]:
        return None
    sizes = [*SAMPLES, int(facts["people"])]
    values = {f"{size:,} people": facts[f"sample_{size}"] for size in sizes}
    *_, last, every = values.values()
    return {"listed": _listed(values), "step": abs(every - last)}


def _ranked(name: str, which: str, outcomes: Outcomes) -> Values | None:
    """Return how SPI of the strategy `name` compares with that of the others at each share."""
    reached, fact = by_strategy(outcomes), f"log_spi_{which}"
    if name not in reached or len(reached) < 2:
        return None
    texts, gaps = [], list[float]()
    for share in reached[name]:
        others = {other: at[share][fact] for other, at in reached.items() if share in at}
        own = others.pop(name)
        gaps += [own - value for value in others.values()]
        texts.append(f"at {share:.0%} {own:.3f} (others: {_listed(others)})")
    beaten = _beaten(reached, name, fact)
    return {"listed": ", ".join(texts), "least": min(gaps), "most": max(gaps), "beaten": beaten}


def _beaten(reached: Mapping[str, Mapping[float, Facts]], name: str, fact: str) -> str:
    """Return what differs where k-anonymity has more of `fact` than `name`, at the least share."""
    for share, one in reached.get(STRATEGY_NAMES["by-nearest-k"], {}).items():
        other = reached[name].get(share)
        if other and one[fact] > other[fact]:
            people, jsd, impressions = (
                (one[it], other[it])
                for it in ("log_people_without_release", "log_jsd", "log_impressions")
            )
            return (
                " k-anonymity at {:.0%} leaves {:,.0f} people without a release, who count 1, "
                "against {:,.0f}. Its JSD is {:.3f} against {:.3f}, at impressions of {:.3f} "
                "against {:.3f}: what it keeps is further from the original shares."
            ).format(share, *people, *jsd, *impressions)
    return ""


def _spreads(outcomes: Outcomes) -> Values | None:
    every = [facts for some in by_strategy(outcomes).values() for facts in some.values()]
    if not every:
        return None
    spreads = {
        name: float(np.ptp([one[f"log_pel_{name}_of_released"] for one in every]))
        for name in CHANNELS
    }
    small = [spread <= 100 * NEAR for spread in spreads.values()]
    return {"listed": _listed(spreads), "right": small[0] if len(set(small)) == 1 else None}


_AMONG = [("impressions", "k"), ("impressions", "JSD"), ("k", "JSD")]
_TO_SPI = [("SPI", "JSD"), ("SPI", "impressions"), ("SPI", "k")]
_PEARSON = "Pearson's r over {points} values of k from {first:,} to {last:,}: {listed}."


def _by_k_table() -> Iterator[UntestedClaim[Outcomes]]:
    """Yield the claims on the log, on the classifier and on figure 1."""
    yield _row(
        ("D1", "JSD grows monotonically with k.", "3.2"),
        "JSD falls at {steps_jsd_falls_one:.0f} of {steps:.0f} steps of k if an empty release "
        "counts 1, at {steps_jsd_falls_null:.0f} if it is compared with an empty document, and at "
        "{steps_jsd_falls_skip:.0f} if it is skipped.",
        log_facts,
        lambda steps_jsd_falls_one, **_: steps_jsd_falls_one == 0,
    )
    text = f"Impressions, k and JSD correlate, with |r| above {STRONG} for each pair."
    yield _row(
        ("D2", text, "3.2"),
        _PEARSON,
        partial(_correlations, _AMONG),
        lambda least, **_: least > STRONG,
        "Nearly all that k removes is removed at small k, so both hardly follow a large k.",
    )
    yield _row(
        ("D3", "SPI is weakly correlated with them.", "3.2"),
        _PEARSON,
        partial(_correlations, _TO_SPI),
        lambda most, **_: most < WEAK,
        "SPI is a weighted JSD, and over a log's many queries the weights average out.",
    )
    yield _row(
        ("D4", "SPI of the log oscillates as k grows.", "3.2"),
        "SPI of the log falls at {steps_spi_falls:.0f} of {steps:.0f} steps of k.",
        log_facts,
        lambda steps_spi_falls, **_: steps_spi_falls > 0,
        "It falls for single people, and in the mean others make up for that.",
    )
    yield _row(
        ("D4-people", "SPI may fall when more is removed.", "3.2"),
        "SPI falls at some step of k for {steps_people_fall:,.0f} of {people:,.0f} people.",
        log_facts,
        lambda steps_people_fall, **_: steps_people_fall > 0,
    )
    yield _row(
        ("D5", "SPI is below JSD.", "3.2"),
        "JSD is {least:.3f} to {most:.3f} above SPI, at each k above 1 that releases anything.",
        _gaps,
        lambda least, **_: least > 0,
    )
    yield _row(
        ("D6", "PEL is nearly stable: slightly falling, sometimes rising.", "3.2"),
        "From k = 1 to the last k with a release: {listed}. The channel decides.",
        _exposure,
        _undecided,
    )
    yield _row(
        ("D7", "PEL rises when a query that is more frequent than the rest is removed.", "3.2"),
        "Of a,a,a,b,c the release b,c leaves: {listed}. It rises by the channel plugin, which puts "
        "p(x|y) = [x = y] into the paper's equation 4.",
        _rises,
        lambda rise, **_: rise > 0,
    )
    yield _row(
        ("D8", "About half of the queries are labelled sensitive.", "3.1"),
        "{log_sensitive_share:.1%}.{weak}",
        _of_whole_log,
        lambda log_sensitive_share, model_weak, **_: (
            None if model_weak else abs(log_sensitive_share - HALF) <= 2 * NEAR
        ),
    )
    yield _row(
        ("D9", f"The classifier has an accuracy of {ACCURACY:.0%} over 10 folds.", "3.1"),
        "{model_accuracy:.1%}.{weak}{honest}",
        _of_whole_log,
        lambda model_accuracy, model_weak, **_: (
            None if model_weak else abs(model_accuracy - ACCURACY) <= NEAR
        ),
    )
    yield _row(
        ("D15", "Results are stable in the number of people.", "3"),
        "SPI at the same k = 10 is {listed}.",
        _samples,
        lambda step, **_: step <= STABLE,
        "More people share more queries, so the same k releases more of them.",
    )
    yield _row(
        ("D16", "SPI is JSD at weights of 1, is in 0 to 1, and is 0 if all is released.", "2"),
        "With weights of 1 SPI differs from JSD by at most {steps_ones_differ:.1g}. If all is "
        "released, SPI is {log_spi_paper:.1g}, and it is in 0 to 1 at all k: {between}.",
        _of_whole_log,
        lambda steps_ones_differ, log_spi_paper, between, **_: bool(
            between and steps_ones_differ == log_spi_paper == 0
        ),
    )


def _by_strategy_table() -> Iterator[UntestedClaim[Outcomes]]:
    """Yield the claims on figure 2."""
    yield _row(
        ("D10", "PPP queries are about 50 % of the log.", "3.3"),
        "{log_listed_share:.1%}. The paper's lists are not public, so ours are others.",
        _of_whole_log,
        lambda log_listed_share, **_: abs(log_listed_share - HALF) <= NEAR or None,
    )
    for which in WEIGHTS:
        by = WEIGHT_NAMES[which]
        yield _row(
            (f"D11-{which}", f"Releasing no PPP queries is a clear winner ({by}).", "3.3"),
            "SPI of no PPP: {listed}.{beaten}",
            partial(_ranked, "no PPP", which),
            lambda least, **_: least > 0,
            "The printed formula also weighs what is suppressed." * (which == "paper"),
        )
        yield _row(
            (f"D12-{which}", f"Releasing only PPP queries is the bottom line ({by}).", "3.3"),
            "SPI of only PPP: {listed}.",
            partial(_ranked, "only PPP", which),
            lambda most, **_: most < 0,
            "The printed formula weighs suppressed queries, too, so suppressing sensitive ones "
            "earns little." * (which == "paper"),
        )
    text = "k-anonymity is no guarantee: sensitive queries are released even at a high k."
    yield _row(
        ("D13", text, "3.3"),
        "More likely sensitive than not are at {listed}.",
        _common,
        lambda kept, **_: kept > 0,
        "In this log no sensitive query is that common.",
    )
    yield _row(
        ("D14", "PEL depends neither on the size of the release nor on the strategy.", "3.3"),
        "The largest difference between strategies and shares, in percent, over people with a "
        "release, is: {listed}. The channel decides.",
        _spreads,
        lambda right, **_: right,
    )

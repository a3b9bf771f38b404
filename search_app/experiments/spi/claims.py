"""The claims of Carpineto & Romano, each with the figures that decide it."""

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
from .indices import SAMPLE_K, SAMPLES
from .series import WEIGHT_NAMES, by_k, by_strategy, log_facts

STRONG, WEAK = 0.85, 0.5  # of correlations: the paper's bound, and ours for "weakly"
STABLE = 0.01  # of SPI
ACCURACY, HALF, NEAR = 0.78, 0.5, 0.05
COMMON = (10, 50, 100)  # k
_WITHOUT = "log_people_without_release"
Values = Mapping[str, Any]


def claims(outcomes: Outcomes) -> tuple[Claim, ...]:
    """Return all claims on what `outcomes` measured."""
    return settle(drafts_of((*_by_k_table(), *_of_log_table(), *_by_strategy_table()), outcomes))


def _row(
    wording: tuple[str, str, str],
    finding: str,
    selector: Callable[[Outcomes], Values | None],
    predicate: Callable[..., bool | None],
) -> UntestedClaim[Outcomes]:
    """Return a row of the table of claims: name, text and section of the paper, and the test."""
    name, text, section = wording
    source = f"Carpineto & Romano, section {section}"
    return UntestedClaim(name, text, source, finding, lambda one: selector(one) or None, predicate)


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
    every = [one["log_spi_paper"] for _, one in points]
    honest, weak = "", ""
    if facts["model_weak"]:
        auc = facts.get("model_half_lexicon_auc", np.nan)
        weak = " The labels are weak, so this decides nothing."
        honest = f" Half of the word list against the other half, the AUC is {auc:.3f}."
    ends = {"least": min(every), "most": max(every)}
    return {**facts, **points[0][1], **ends, "weak": weak, "honest": honest}


def _correlations(pairs: list[tuple[str, str]], outcomes: Outcomes) -> Values | None:
    points = by_k(outcomes)
    columns = {"k": [float(k) for k, _ in points]}
    for name, fact in (("impressions", "impressions"), ("JSD", "jsd"), ("SPI", "spi_paper")):
        columns[name] = [facts[f"log_{fact}"] for _, facts in points]
    if len(points) < 3 or any(len(set(column)) == 1 for column in columns.values()):
        return None
    r = {f"{a} and {b}": float(np.corrcoef(columns[a], columns[b])[0, 1]) for a, b in pairs}
    sizes = [abs(value) for value in r.values()]
    ratios = [spi / jsd for spi, jsd in zip(columns["SPI"], columns["JSD"], strict=True) if jsd]
    return {
        "points": len(points),
        "last": points[-1][0],
        "least": min(sizes),
        "most": max(sizes),
        "listed": _listed(r),
        "early": points[1][0],
        "gone": 1 - columns["impressions"][1],
        "ratio": f"{min(ratios):.2f} to {max(ratios):.2f}",
    }


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
    texts = (
        f"{facts[f'sample_{size}']:.3f} with {size:,} people, at impressions of "
        f"{facts[f'sample_{size}_impressions']:.3f}"
        for size in sizes
    )
    step = abs(facts[f"sample_{sizes[-1]}"] - facts[f"sample_{sizes[-2]}"])
    return {"listed": "; ".join(texts), "step": step}


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
    return {"listed": ", ".join(texts), "least": min(gaps), "most": max(gaps)}


def _winner(which: str, outcomes: Outcomes) -> Values | None:
    """Return how no PPP compares, and what k-anonymity differs in where it has a higher SPI."""
    ranked, fact = _ranked("no PPP", which, outcomes), f"log_spi_{which}"
    reached, beaten = by_strategy(outcomes), ""
    for share, one in reached.get("k-anonymity", {}).items() if ranked else ():
        other = reached["no PPP"].get(share)
        if other and one[fact] > other[fact]:
            beaten = (
                f" At {share:.0%} k-anonymity leaves {one[_WITHOUT]:,.0f} people without a release,"
                f" who count 1, against {other[_WITHOUT]:,.0f}. Its JSD is {one['log_jsd']:.3f} "
                f"against {other['log_jsd']:.3f}."
            )
    return ranked and {**ranked, "beaten": beaten}


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
_PEARSON = "Pearson's r over {points} values of k up to {last:,}: {listed}."


def _by_k_table() -> Iterator[UntestedClaim[Outcomes]]:
    """Yield the claims on figure 1."""
    yield _row(
        ("D1", "JSD grows monotonically with k.", "3.2"),
        "JSD falls at {steps_jsd_falls_one:.0f} of {steps:.0f} steps of k if an empty release "
        "counts 1, as next to an empty document, and at {steps_jsd_falls_skip:.0f} if it is "
        "skipped.",
        log_facts,
        lambda steps_jsd_falls_one, **_: steps_jsd_falls_one == 0,
    )
    text = f"Impressions, k and JSD correlate, with |r| above {STRONG} for each pair."
    yield _row(
        ("D2", text, "3.2"),
        _PEARSON + " At k = {early} already, {gone:.1%} of the impressions are gone.",
        partial(_correlations, _AMONG),
        lambda least, **_: least > STRONG,
    )
    yield _row(
        ("D3", "SPI is weakly correlated with them.", "3.2"),
        _PEARSON + " SPI is {ratio} times JSD.",
        partial(_correlations, _TO_SPI),
        lambda most, **_: most < WEAK,
    )
    yield _row(
        ("D4", "SPI of the log oscillates as k grows.", "3.2"),
        "SPI of the log falls at {steps_spi_falls:.0f} of {steps:.0f} steps of k. At some of them "
        "it falls for {steps_people_fall:,.0f} of {people:,.0f} people.",
        log_facts,
        lambda steps_spi_falls, **_: steps_spi_falls > 0,
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
        "From k = 1 to the last k with a release: {listed}.",
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


def _of_log_table() -> Iterator[UntestedClaim[Outcomes]]:
    """Yield the claims on the whole log and on the classifier."""
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
        f"SPI at k = {SAMPLE_K} is {{listed}}.",
        _samples,
        lambda step, **_: step <= STABLE,
    )
    yield _row(
        ("D16", "SPI is JSD at weights of 1, is in 0 to 1, and is 0 if all is released.", "2"),
        "With weights of 1 SPI differs from JSD by at most {steps_ones_differ:.1g}. If all is "
        "released, SPI is {log_spi_paper:.1g}. Over all k it is {least:.3f} to {most:.3f}.",
        _of_whole_log,
        lambda steps_ones_differ, log_spi_paper, least, most, **_: (
            steps_ones_differ == log_spi_paper == 0 <= least <= most <= 1
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
            partial(_winner, which),
            lambda least, **_: least > 0,
        )
        yield _row(
            (f"D12-{which}", f"Releasing only PPP queries is the bottom line ({by}).", "3.3"),
            "SPI of only PPP: {listed}.",
            partial(_ranked, "only PPP", which),
            lambda most, **_: most < 0,
        )
    text = "k-anonymity is no guarantee: sensitive queries are released even at a high k."
    yield _row(
        ("D13", text, "3.3"),
        "More likely sensitive than not are at {listed}.",
        _common,
        lambda kept, **_: kept > 0,
    )
    yield _row(
        ("D14", "PEL depends neither on the size of the release nor on the strategy.", "3.3"),
        "The largest difference between strategies and shares, in percent, over people with a "
        "release, is: {listed}.",
        _spreads,
        lambda right, **_: right,
    )

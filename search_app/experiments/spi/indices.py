"""Facts of what is released of a log: impressions, SPI by both weights, JSD and PEL; and by k."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, diags

from anonymizer.arrays import Floats, Marks
from anonymizer.measures.indices.divergence import WEIGHTS, Compared, divergence, mean
from anonymizer.measures.indices.exposure import CHANNELS, exposures
from anonymizer.measures.indices.releases import privacy_index
from anonymizer.model import Profiles, Release
from anonymizer.sensitivity.classifier import SensitivityModel

from ..facts import Facts
from .logged import LoggedPeople
from .strategies import PeopleOfQuery, common

SAMPLES = (500, 1000)  # people, for which the index is compared with that of all
SAMPLE_K = 10
_ROUNDING = 1e-12
_EMPTY = ("one", "skip")  # what an empty release counts; JSD to an empty document is one, too
ALIKE = 0.5  # a query is called sensitive above this probability


class _Step(NamedTuple):
    """The indices of each person at one k."""

    jsd: dict[str, Floats]  # by what an empty release counts
    spi: Floats


def facts_of_log(people: LoggedPeople, released: Marks) -> Facts:
    """Return the facts of a log of `people` of which the queries `released` stay."""
    compared = Compared(people.events, _only(people.events, released))
    indices = divergence(compared, 1 - people.sensitive)
    columns = {"jsd": indices.jsd}
    columns |= {f"spi_{which}": values for which, values in indices.spi.items()}
    exposed = exposures(compared, people.words)
    columns |= {f"pel_{channel}": exposed[channel] for channel in CHANNELS}
    # Who has no release has PEL 0. Without these people PEL says something else.
    some = compared.released > 0
    columns |= {f"pel_{one}_of_released": np.where(some, exposed[one], np.nan) for one in CHANNELS}
    every, kept = people.impressions, people.impressions * released
    sensitive = people.sensitive > ALIKE
    facts: Facts = {
        "log_people": people.events.shape[0],
        "log_events": float(every.sum()),
        "log_impressions": float(kept.sum() / every.sum()),
        "log_people_without_release": int(np.count_nonzero(~some)),
        # Of the released impressions, and of the sensitive ones.
        "log_sensitive_share": float(kept[sensitive].sum() / max(kept.sum(), 1)),
        "log_sensitive_kept": float(kept[sensitive].sum() / max(every[sensitive].sum(), 1)),
        "log_listed_share": float(kept[people.listed].sum() / max(kept.sum(), 1)),
    }
    for name, values in columns.items():
        for short, by in (("", None), ("_by_queries", compared.sizes)):
            if (value := mean(values, by)) is not None:
                facts[f"log_{name}{short}"] = value
    return facts


def _only(events: csr_matrix, kept: Marks) -> csr_matrix:
    some = csr_matrix(events @ diags(kept.astype(np.float64)))
    some.eliminate_zeros()
    return some


def facts_of_steps(people: LoggedPeople) -> Facts:
    """Return how often the indices of `people` fall as k rises through all k that matter."""
    facts: Facts = {f"steps_jsd_falls_{empty}": 0 for empty in _EMPTY}
    facts |= {"steps": 0, "steps_spi_falls": 0, "model_accuracy": people.model.accuracy}
    facts |= {"model_weak": int(people.model.weak), "people": people.events.shape[0]}
    if not np.isnan(people.model.half_lexicon_auc):
        facts["model_half_lexicon_auc"] = people.model.half_lexicon_auc
    fell = np.zeros(people.events.shape[0], dtype=bool)
    before: _Step | None = None
    for step in _steps(people):
        if before is not None:
            facts["steps"] += 1
            facts["steps_spi_falls"] += int(step.spi.mean() < before.spi.mean() - _ROUNDING)
            fell |= step.spi < before.spi - _ROUNDING
            for empty in _EMPTY:
                means = (np.nanmean(one.jsd[empty]) for one in (step, before))
                facts[f"steps_jsd_falls_{empty}"] += int(next(means) < next(means) - _ROUNDING)
        before = step
    half = Compared(people.events, _only(people.events, ~people.listed))
    ones = divergence(half, np.ones(people.sensitive.size))
    facts["steps_ones_differ"] = float(np.abs(ones.spi[WEIGHTS[0]] - ones.jsd).max())
    facts["steps_people_fall"] = int(fell.sum())
    rng = np.random.default_rng(0)
    order = rng.permutation(people.events.shape[0])
    for size in (*(size for size in SAMPLES if size < order.size), order.size):
        spi, impressions = _sample(people, np.sort(order[:size]))
        facts |= {f"sample_{size}": spi, f"sample_{size}_impressions": impressions}
    return facts


def _steps(people: LoggedPeople) -> Iterator[_Step]:
    """Yield the indices at each k at which a query of `people` leaves, from 1 on."""
    weights = 1 - people.sensitive
    # Once nothing is left, nothing can change; under `skip` nobody would be left to be averaged.
    for k in np.unique([1, *people.people_of.tolist()]).tolist():
        kept = common(people, PeopleOfQuery(k), np.random.default_rng(0))
        compared = Compared(people.events, _only(people.events, kept))
        jsd = {empty: divergence(compared, weights, empty).jsd for empty in _EMPTY}
        yield _Step(jsd, divergence(compared, weights).spi[WEIGHTS[0]])


def _sample(people: LoggedPeople, some: np.ndarray) -> tuple[float, float]:
    """Return SPI of `some` of `people` by the paper's weights, and the impressions.

    k is counted among them only.
    """
    events = people.events[some]
    having = np.bincount(events.indices, minlength=events.shape[1])
    compared = Compared(events, _only(events, having >= SAMPLE_K))
    spi = divergence(compared, 1 - people.sensitive).spi[WEIGHTS[0]]
    return float(spi.mean()), float(compared.released.sum() / compared.sizes.sum())


def facts_of_terms(profiles: Profiles, release: Release, model: SensitivityModel) -> Facts:
    """Return the indices of `release`, term by term, where `model` says how sensitive terms are."""
    terms = sorted({*profiles.terms, *release.rows.terms})
    probabilities = dict(zip(terms, model.probabilities(terms).tolist(), strict=True))
    facts: Facts = {}
    for which in WEIGHTS:
        values: dict[str, list[float]] = {}
        for measured in privacy_index(profiles, release, probabilities, which):
            values.setdefault(measured.name, []).append(measured.value)
        for name, of in values.items():
            short = f"spi_{which}" if name == "SPI" else name.lower().replace(", ", "_")
            facts[f"terms_{short}"] = float(np.mean(of))
    return facts

"""Strategies and indices of a small drawn log against naive twins, and the report of its units."""

from __future__ import annotations

import re
from collections import Counter
from math import log2
from typing import Any

import numpy as np
import pytest

from anonymizer.arrays import Marks
from anonymizer.errors import BadParameter
from anonymizer.methods.query_k import common_queries
from anonymizer.model import QueryLog
from anonymizer.sensitivity.classifier import CalibratedBayes, SensitivityModel
from anonymizer.sensitivity.lexicon import Lexicon
from search_app.errors import UsageError
from search_app.experiments.definition import read_definition, text_of
from search_app.experiments.design import Experiment, Unit, units_of
from search_app.experiments.outcomes import Outcomes
from search_app.experiments.report.report import HOLDS, UNDECIDED, as_record, from_record
from search_app.experiments.report.summaries import sum_up
from search_app.experiments.spi.figures import report
from search_app.experiments.spi.indices import facts_of_log, facts_of_steps
from search_app.experiments.spi.logged import LoggedPeople, Sensitive, logged_people
from search_app.experiments.spi.strategies import STRATEGIES

LEAST = 5
LEXICON = Lexicon({f"ill{at}": "health" for at in range(40)})


def drawn_log() -> QueryLog:
    """Draw 60 people who ask up to 29 of 200 queries, some far more often than others.

    Two more ask mostly what nobody else does. Once they share nothing but sensitive queries, their
    SPI falls: what is left weighs little.
    """
    rng = np.random.default_rng(3)
    chances = 1 / np.arange(1, 201)
    texts = [f"{'ill' if at % 5 == 0 else 'w'}{at // 5} more{at % 7}" for at in range(200)]
    events = [
        (f"u{user}", texts[query], at, 0)
        for user in range(60)
        for at, query in enumerate(rng.choice(200, rng.integers(1, 30), p=chances / chances.sum()))
    ]
    for user in ("v", "w"):
        own = [f"w{user}{at} more1" for at in range(8)]
        events += [(user, query, at, 0) for at, query in enumerate(["w77", texts[0], *own])]
    return QueryLog.from_events(events)


LOG = drawn_log()
WORDS = tuple(sorted(LEXICON.kind_of))
_BAYES = CalibratedBayes(np.full(len(WORDS), 8.0), -4.0, 1.0, 0.0, *np.array([[0.0, 1.0]] * 2))
MODEL = SensitivityModel(WORDS, (_BAYES,), "weak labels by a list", True, 0.9, 0.7)


@pytest.fixture(scope="module")
def people() -> LoggedPeople:
    return logged_people(LOG, LEAST, lambda: Sensitive(LEXICON, MODEL))


def chosen(people: LoggedPeople, name: str, **parameters: Any) -> Marks:
    return STRATEGIES[name].released(people, parameters, seed=0)


def counts(people: LoggedPeople) -> list[Counter[int]]:
    rows = people.events.toarray()
    return [Counter({at: int(n) for at, n in enumerate(row) if n}) for row in rows]


def test_people_with_few_queries_are_not_in_it(people: LoggedPeople) -> None:
    sizes = [size for size in Counter(LOG.user.tolist()).values() if size >= LEAST]
    assert sorted(people.events.sum(axis=1).A1.tolist()) == sorted(sizes)
    assert people.sensitive[people.listed].min() > 0.9
    assert people.sensitive[~people.listed].max() < 0.1
    assert people.listed.sum() == sum(
        LOG.queries.text(at).startswith("ill") for at in set(LOG.query.tolist())
    )
    with pytest.raises(UsageError, match="least_queries=99 leaves nobody"):
        logged_people(LOG, 99, lambda: Sensitive(LEXICON))


def test_by_k_keeps_the_queries_that_query_k_releases() -> None:
    everybody = logged_people(LOG, 1, lambda: Sensitive(LEXICON))  # which trains a model
    assert everybody.model.weak
    for k in (1, 2, 5, 60):
        events, _ = common_queries(LOG, k)
        kept = chosen(everybody, "by-k", k=k)
        assert kept.sum() == events.shape[1]
        assert everybody.impressions[kept].sum() == events.sum()


def test_shares_are_nested_and_never_exceeded(people: LoggedPeople) -> None:
    total = people.impressions.sum()
    for name, inside in (("only-ppp", people.listed), ("no-ppp", ~people.listed), ("random", None)):
        before = np.zeros_like(people.listed)
        for share in (0.1, 0.3, 0.5, 1.0):
            now = chosen(people, name, share=share)
            assert not np.any(before & ~now)
            assert people.impressions[now].sum() <= share * total
            if inside is not None:
                assert not np.any(now & ~inside)
            before = now
        assert np.array_equal(before, inside if inside is not None else np.ones_like(before))


def test_the_nearest_k_is_the_nearest(people: LoggedPeople) -> None:
    for share in (0.1, 0.4, 0.9):
        wanted = share * people.impressions.sum()
        kept = people.impressions[chosen(people, "by-nearest-k", share=share)].sum()
        others = [
            people.impressions[chosen(people, "by-k", k=k)].sum() for k in range(2, len(LOG.users))
        ]
        assert abs(kept - wanted) == min(abs(other - wanted) for other in others)


def naive_indices(
    before: Counter[int], kept: Marks, sensitive: list[float]
) -> tuple[float, float, float]:
    """Return JSD, and SPI by the paper's and by the released weights, from the formulas."""
    after = Counter({query: n for query, n in before.items() if kept[query]})
    if not after:
        return 1.0, 1.0, 1.0
    jsd = paper = released = 0.0
    for query, n in before.items():
        p, q = n / before.total(), after[query] / after.total()
        m = (p + q) / 2
        part = (p * log2(p / m) + (q * log2(q / m) if q else 0)) / 2
        jsd += part
        paper += part * (1 - sensitive[query])
        released += part * (1 - sensitive[query] if q else 1)
    return jsd, paper, released


def test_facts_are_means_of_the_formulas(people: LoggedPeople) -> None:
    kept = chosen(people, "no-ppp", share=0.5)
    facts, sensitive = facts_of_log(people, kept), people.sensitive.tolist()
    values = np.array([naive_indices(row, kept, sensitive) for row in counts(people)])
    sizes = [row.total() for row in counts(people)]
    for at, name in enumerate(("jsd", "spi_paper", "spi_released")):
        assert facts[f"log_{name}"] == pytest.approx(values[:, at].mean(), abs=1e-12)
        by_queries = np.average(values[:, at], weights=sizes)
        assert facts[f"log_{name}_by_queries"] == pytest.approx(by_queries, abs=1e-12)
    assert facts["log_impressions"] == people.impressions[kept].sum() / sum(sizes)
    assert facts["log_listed_share"] == 0
    sensitive_kept = [at for at in np.flatnonzero(kept).tolist() if sensitive[at] > 0.5]
    released = people.impressions[sensitive_kept].sum() / people.impressions[kept].sum()
    assert facts["log_sensitive_share"] == pytest.approx(released)
    assert facts["log_pel_exact_of_released"] == pytest.approx(100)


def test_steps_count_the_people_for_whom_spi_falls(people: LoggedPeople) -> None:
    facts, sensitive = facts_of_steps(people), people.sensitive.tolist()
    ks = sorted({1, *people.people_of.tolist()})
    by_k = [
        [naive_indices(row, people.people_of >= k, sensitive) for row in counts(people)] for k in ks
    ]
    spi = np.array([[paper for _, paper, _ in one] for one in by_k])
    jsd = np.array([[value for value, _, _ in one] for one in by_k]).mean(axis=1)
    assert facts["steps"] == len(ks) - 1
    assert facts["steps_people_fall"] == np.any(np.diff(spi, axis=0) < -1e-9, axis=0).sum() > 0
    assert facts["steps_jsd_falls_one"] == (np.diff(jsd) < -1e-9).sum()
    assert facts["steps_ones_differ"] == 0
    kept = people.impressions[people.people_of >= 10].sum() / people.impressions.sum()
    assert facts[f"sample_{people.events.shape[0]}_impressions"] == pytest.approx(kept)
    assert facts[f"sample_{people.events.shape[0]}"] == pytest.approx(
        np.mean(
            [naive_indices(row, people.people_of >= 10, sensitive)[1] for row in counts(people)]
        )
    )


def small(experiment: Experiment) -> Experiment:
    """Return `experiment` without what is searched."""
    variants = tuple(one for one in experiment.variants if not one.modes)
    return Experiment("spi", "Title", experiment.inputs, variants, "spi")


def test_the_report_judges_each_claim_that_was_measured(people: LoggedPeople) -> None:
    experiment = small(read_definition(text_of("spi"), "spi"))
    assert len(experiment.named("figure-1")) == 30
    units = units_of(experiment.variants)

    def facts_of(unit: Unit) -> dict[str, float]:
        if not unit.method:
            return facts_of_steps(people)
        return facts_of_log(people, chosen(people, unit.method, **unit.parameters))

    facts = {unit.name: facts_of(unit) for unit in units}
    none = np.zeros(0, dtype=np.int64)
    made = report(sum_up(Outcomes(experiment, units, facts, none, {})), {})
    assert from_record(as_record(made)) == made
    verdicts = {claim.name: claim.verdict for claim in made.claims}
    names = {f"D{number}" for number in range(1, 17) if number not in (11, 12, 15)}
    both = {f"D{number}-{which}" for number in (11, 12) for which in ("paper", "released")}
    assert set(verdicts) == {*names, *both, "D4-people"}  # 62 people are too few for D15
    for name in ("D1", "D4-people", "D5", "D7", "D16"):
        assert verdicts[name] == HOLDS, name
    assert all(re.search(r"\d", claim.finding) for claim in made.claims)  # figures, no opinions
    for name in ("D6", "D8", "D9"):
        assert verdicts[name] == UNDECIDED, name
    assert {figure.name for figure in made.figures} == {
        *("figure-1", "figure-1-pel", "figure-2-paper", "figure-2-released"),
    }
    assert len(next(table for table in made.tables if table.name == "figure-1").rows) == 30


@pytest.mark.parametrize(
    ("definition", "fault"),
    [
        ('method = "by-k"\nparameters = { k = 2 }', "set modes = []"),
        ('method = "no-ppp"\nparameters = { k = 2 }\nmodes = []', "no-ppp has no parameter k"),
    ],
)
def test_faults_of_strategies_are_named(definition: str, fault: str) -> None:
    with pytest.raises(UsageError, match=re.escape(fault)):
        read_definition(f'name = "x"\n[[variant]]\nname = "v"\n{definition}\n', "x.toml")


def test_a_value_out_of_range_stops_the_unit(people: LoggedPeople) -> None:
    for name, parameters, fault in (
        ("by-k", {"k": 0}, "k=0 must be 1 or more"),
        ("no-ppp", {"share": 2.0}, "share=2.0 must be from 0 to 1"),
    ):
        with pytest.raises(BadParameter, match=fault):
            STRATEGIES[name].released(people, parameters, 0)

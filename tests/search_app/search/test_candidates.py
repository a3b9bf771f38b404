"""Candidates: what is handed out is enough for the server's own order, and says nothing of whom."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from anonymizer.model import Profiles, ReleasedRow
from index.forward.reading import DocumentVectors, Forward
from search_app.search.candidates import candidates
from search_app.search.engine import Engine
from search_app.search.evidence import RowPopulation
from search_app.search.modes import Modes
from search_app.search.request import RankingRule, Request

from ..evaluation.ranked_texts import forward_of, fractional_profile, shelf_of, texts

DOCUMENTS = 400


@pytest.fixture(scope="module")
def forward(tmp_path_factory: pytest.TempPathFactory) -> Forward:
    return forward_of(texts(DOCUMENTS), tmp_path_factory.mktemp("ranked") / "forward")


def engine_of(forward: Forward, vectors: str = "tfidf") -> Engine:
    return Engine(shelf_of(DOCUMENTS), forward, vectors)


def twin(vectors: DocumentVectors, profile: Mapping[str, float]) -> list[float]:
    """Compute the cosines in plain Python from what is handed out, as the script does."""
    heaviest = max(profile.values())
    squares = sorted((weight / heaviest) * (weight / heaviest) for weight in profile.values())
    length = math.sqrt(sum(squares[1:], squares[0]))
    found, first = [], 0
    for end, norm in zip(vectors.ends.tolist(), vectors.norms.tolist(), strict=True):
        sums = [0.0] * 4
        for at in range(end - first):
            place = vectors.places[first + at]
            factor = profile.get(vectors.terms[place], 0.0) / heaviest * vectors.weights[place]
            alone = at >= (end - first) // 4 * 4
            sums[0 if alone else at % 4] += float(vectors.counts[first + at] * factor)
        lengths = norm * length
        total = (sums[0] + sums[1]) + (sums[2] + sums[3])
        found.append(round(total / lengths * 1e12) / 1e12 if lengths else 0.0)
        first = end
    return found


@pytest.mark.parametrize("vectors", ["tfidf", "tf"])
@pytest.mark.parametrize("seed", range(5))
def test_the_order_elsewhere_is_the_servers_to_the_last_bit(
    forward: Forward, vectors: str, seed: int
) -> None:
    engine, profile = engine_of(forward, vectors), fractional_profile(seed)
    found = candidates(engine, Request("q", DOCUMENTS))
    values = np.array(twin(found.vectors, profile))
    order = np.argsort(-values, kind="stable")
    own = engine.by_profile(engine.pool("q", DOCUMENTS), profile)
    assert values[order].tobytes() == own.scores.tobytes()
    assert found.ranking.rows[order].tolist() == own.rows.tolist()
    assert len(set(values.tolist())) < DOCUMENTS  # there are ties


def test_a_row_keeps_what_it_puts_first_in_the_plain_order(forward: Forward) -> None:
    engine = engine_of(forward)
    row = ReleasedRow("g0001", 3, fractional_profile(9))
    found = candidates(engine, Request("q", 300, row=row), keep=40)
    first = engine.by_row(engine.pool("q", 300), row).plain_ranks[:40].tolist()
    assert found.ranking.plain_ranks.tolist() == sorted(first) != list(range(1, 41))
    assert found.ranking.scores.tolist() == [DOCUMENTS - rank + 1 for rank in sorted(first)]
    assert (len(found.vectors.norms), found.found) == (40, 300)


def test_without_a_row_all_are_handed_out(forward: Forward) -> None:
    found = candidates(engine_of(forward), Request("q", 300), keep=40)
    assert found.ranking.plain_ranks.tolist() == list(range(1, 301))


ROWS = {f"g{seed:04}": fractional_profile(seed, 90) for seed in range(20, 50)}
EVIDENCE = RankingRule("evidence")


@pytest.mark.parametrize("among", ["group", ""])
def test_by_evidence_one_search_batches_and_two_stages_agree(forward: Forward, among: str) -> None:
    engine = engine_of(forward)
    engine.prepare("group", RowPopulation(Profiles.from_rows(ROWS), np.full(30, 4)))
    people = {f"u{seed}": fractional_profile(seed, 90) for seed in range(60, 72)}
    modes = Modes(engine, Profiles.from_rows(people), None, populations={among} - {""})
    moved = 0
    for user, profile in people.items():
        one = modes.answer("q", "own", user, pool=300, rule=EVIDENCE).ranking
        batch = modes.ranking(engine.pool("q", 300), "own", user, EVIDENCE)
        assert one.scores.tobytes() == batch.scores.tobytes()
        assert one.rows.tolist() == batch.rows.tolist()
        # A row picks, by the same rule; a device orders what it gets as a pool of its own.
        row = ReleasedRow("g0021", 4, ROWS["g0021"])
        request = Request("q", 300, rule=EVIDENCE, among=among, row=row)
        found = candidates(engine, request, keep=40)
        first = engine.by_row(engine.pool("q", 300), row, EVIDENCE, among)
        assert sorted(first.rows[:40].tolist()) == found.ranking.rows.tolist()
        made = engine.evidence(among).scored(found.ranking.rows, found.ranking.scores, profile)
        assert found.evidence is not None
        t, near = made.t.tolist(), list(found.evidence.in_lists())
        for at, (log, places, alike) in enumerate(near):
            held = sum(a * t[place] for a, place in zip(alike, places, strict=True)) / sum(alike)
            score = log + made.strength * (t[at] + held) / 2
            assert made.scores[at] == pytest.approx(score, abs=1e-11)
        moved += made.gate > 0
    assert moved


def test_nothing_found_is_no_fault(forward: Forward) -> None:
    engine = Engine(shelf_of(0), forward)
    row = ReleasedRow("g0001", 3, {"w1": 1.0})
    engine.prepare("group", RowPopulation(Profiles.from_rows(ROWS), np.full(30, 4)))
    plain = Request("q", 10, rule=EVIDENCE, among="group")
    for request in (Request("q", 10), Request("q", 10, row=row), plain, replace(plain, row=row)):
        assert candidates(engine, request).vectors.ends.tolist() == []

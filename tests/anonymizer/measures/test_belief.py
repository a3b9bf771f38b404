"""The change of belief over all cells of whole releases, absent terms included."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizer.measures.belief import belief, infer, worst_cells
from anonymizer.measures.linkability import QUANTILES, linkability
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release

from ..small_world import drawn_people, members_of, priors, release, true_share

MADE = (
    ("pooled", {}),
    ("pooled", {"p": 0.2}),
    ("composition", {"p": 0.5}),
    ("p-linkability", {}),
    ("p-linkability", {"representative": "union"}),
    ("p-linkability", {"guarantee": "every-term", "p": 0.5}),
    ("p-linkability", {"guarantee": "every-term", "p": 0.5, "representative": "union"}),
    ("km-anonymity", {"k": 3}),
)


def made_by(method: str, chosen: dict[str, object], profiles: Profiles) -> Release:
    if method in ("pooled", "composition"):
        return release(method, profiles, **chosen)
    more = {"augment": "none"} if method == "p-linkability" else {}
    return anonymize(method, Inputs(profiles), {**more, **chosen})


@pytest.fixture(scope="module", params=MADE, ids=lambda of: f"{of[0]} {[*of[1].values()]}")
def world(request: pytest.FixtureRequest) -> tuple[Profiles, Release]:
    profiles = drawn_people(60, most=5)
    return profiles, made_by(*request.param, profiles)


def every_cell(profiles: Profiles, made: Release) -> np.ndarray:
    """Return rows x terms: what is inferred, cell by cell."""
    columns, found = infer(profiles, made)
    cells = np.array([found.lacking[:, kind] for kind in columns.class_of.tolist()])
    for row, term, value in zip(columns.row, columns.term, found.standing, strict=True):
        cells[row, term] = value
    return cells


def test_rows_and_spread_equal_those_of_all_cells(
    world: tuple[Profiles, Release],
) -> None:
    profiles, made = world
    prior = np.array([float(priors(profiles)[term]) for term in profiles.terms])
    changes = np.abs(every_cell(profiles, made) - prior)
    found = belief(profiles, made)
    rows = {row.group: row.value for row in found if row.group}
    assert [*rows] == list(made.rows.users)
    assert [*rows.values()] == pytest.approx(changes.max(axis=1).tolist())
    once = {row.name: row.value for row in found if not row.group}
    assert once["change of belief, largest"] == changes.max()
    assert once["change of belief, mean"] == pytest.approx(changes.mean())
    for quantile in QUANTILES:
        exact = np.quantile(changes, quantile, method="inverted_cdf")
        assert once[f"change of belief, {quantile:.0%}"] == pytest.approx(float(exact))
    assert len(once) == 2 + len(QUANTILES)


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.0, 7.0)])
def test_centroids_are_read_as_the_share_of_members(weights: tuple[float, float]) -> None:
    """Then it is the reading `belief` of linkability, whatever the weights are."""
    rows = {f"u{n}": {"t": weights[n % 2], f"x{n // 3}": 1.0, f"y{n}": 2.0} for n in range(12)}
    profiles = Profiles.from_rows(rows)
    made = made_by("p-linkability", {"p": 0.7}, profiles)
    readings = {r.group: r.value for r in linkability(profiles, made) if r.name == "belief"}
    found = {row.group: row.value for row in belief(profiles, made) if row.group}
    assert found == pytest.approx(readings)


def test_the_worst_cells_are_the_first_of_all(
    world: tuple[Profiles, Release],
) -> None:
    profiles, made = world
    cells = every_cell(profiles, made)
    prior = np.array([float(priors(profiles)[term]) for term in profiles.terms])
    changes = np.sort(np.abs(cells - prior), axis=None)[::-1]
    for count in (1, 7, 10_000):
        found = worst_cells(profiles, made, count)
        assert len(found) == len({(c.row, c.term) for c in found}) == min(count, changes.size)
        assert [abs(c.posterior - c.prior) for c in found] == pytest.approx(
            changes[:count].tolist()
        )
        for cell in found[:50]:
            row, term = made.rows.row_of[cell.row], profiles.terms.index(cell.term)
            assert cell.posterior == cells[row, term]
            assert cell.prior == prior[term]


def biases(profiles: Profiles, keys: int) -> list[float]:
    """Return, for each term, how far the first row's share is from what is inferred of it.

    It is their mean difference over releases by many keys, in standard errors.
    """
    differences = []
    for number in range(keys):
        key = number.to_bytes(32, "big")
        made = release("pooled", profiles, key=key, seed=number, steps=300)
        said = every_cell(profiles, made)[0]
        published = made.rows.at(0)
        assert said.tolist() == [published.get(term, 0.0) for term in profiles.terms]
        members = members_of(made)[0]
        truth = [float(true_share(profiles, members, term)) for term in profiles.terms]
        differences.append(np.array(truth) - said)
    found = np.array(differences)
    errors = found.std(axis=0) / np.sqrt(keys)
    pooled = errors > 0
    assert pooled.sum() > 5
    return (found.mean(axis=0)[pooled] / errors[pooled]).tolist()


def test_who_reads_a_column_believes_what_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over many keys, the first row's members have a term as often as their row says."""
    profiles = drawn_people(24, seed=4)
    assert max(map(abs, biases(profiles, 200))) < 4
    # were ties in the order of rows, the first row would join more pools than others
    monkeypatch.setattr(
        "anonymizer.methods.pooled.secret_numbers", lambda *of: np.arange(of[2], dtype=np.uint64)
    )
    assert max(map(abs, biases(profiles, 200))) > 8

"""How much a row hides, on a person's own page and on average."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anonymizer.measures import MEASURES
from anonymizer.measures.indices.releases import privacy_index
from anonymizer.model import Profiles, Release
from anonymizer.promise import Promise
from search_app.disclosure.groups import Groups
from search_app.disclosure.hiding_groups import HidingGroups
from search_app.disclosure.query_rows import QueryRows
from search_app.disclosure.single_rows import SingleRows

from ..single_rows import single_rows

PEOPLE = Profiles.from_rows(
    {
        "1": {"a": 2.0, "b": 1.0, "c": 1.0},
        "2": {"a": 2.0, "b": 1.0},
        "3": {"z": 1.0},
    }
)
HIDING = Promise("group", "belief", hides_members=True)


def grouped(promise: Promise) -> Release:
    rows = Profiles.from_rows({"g0001": {"a": 2.0, "b": 1.0, "c": 0.5}, "g0002": {"z": 1.0}})
    return Release(rows, PEOPLE.users, np.array([0, 0, 1]), "m", {}, promise=promise)


def own_fact(shown: Groups | SingleRows, user: str) -> tuple[str, str]:
    assert shown.population
    facts = shown.own_facts(shown.population.view(user, {}), ())
    (fact,) = [fact for fact in facts if "(JSD)" in fact.name]
    return fact.value, fact.meaning


def test_people_see_their_own_index_and_what_matters_most() -> None:
    value, meaning = own_fact(SingleRows(single_rows(PEOPLE, k=2), PEOPLE), "1")
    assert value == "0.14"  # the hand example
    assert "What matters most: “c” (suppressed), “a” (more than your own), “b” (more" in meaning
    value, meaning = own_fact(Groups(grouped(Promise("group", "average")), PEOPLE), "2")
    assert "“c” (added)" in meaning
    value, meaning = own_fact(Groups(grouped(Promise("group", "average")), PEOPLE), "3")
    assert (value, meaning.endswith("Nothing differs.")) == ("0.00", True)


def test_the_mean_is_shown_of_invented_people_whose_shares_are_not_hidden() -> None:
    release = single_rows(PEOPLE, k=2)
    (fact,) = SingleRows(release, PEOPLE).mean_facts()
    assert fact.value == "0.38"  # 3 has no row, and 1: (.1379 + 0 + 1) / 3
    for shown in (
        SingleRows(release, PEOPLE, singles=False),
        SingleRows(release, PEOPLE, closed=True),
        SingleRows(release),
        HidingGroups(grouped(HIDING), PEOPLE),
    ):
        assert shown.mean_facts() == []
    waiting = Profiles.from_rows({**{u: PEOPLE.row(u) for u in PEOPLE.users}, "4": {"a": 1.0}})
    usual = grouped(Promise("group", "average"))
    assert Groups(usual, waiting).mean_facts() == Groups(usual, PEOPLE).mean_facts()


def test_every_release_has_the_indices_by_term() -> None:
    release = single_rows(PEOPLE, k=2)
    rows = MEASURES["privacy-index"](PEOPLE, release)
    found = {(row.name, row.user): row.value for row in rows}
    assert found["JSD", "1"] == pytest.approx(0.137925, abs=5e-7)
    assert found["SPI", "1"] == found["JSD", "1"]
    assert (found["JSD", "3"], found["impressions", "3"]) == (1.0, 0.0)
    assert found["impressions", "1"] == 0.75
    assert ("PEL, exact", "3") not in found  # of one term only, there is no entropy
    sensitive = {"a": 0.8, "b": 0.1, "c": 0.5, "z": 0.0}
    rows = privacy_index(PEOPLE, release, sensitive, empty="skip")
    found = {(row.name, row.user): row.value for row in rows}
    assert found["SPI", "1"] == pytest.approx(0.068101, abs=5e-7)
    assert ("SPI", "3") not in found


def test_rows_of_common_queries_say_what_is_promised() -> None:
    made = single_rows(PEOPLE, k=2)
    release = replace(made, parameters={"k": 2}, promise=Promise("query", "query"))
    shown = QueryRows(release, PEOPLE)
    text = " ".join(
        [*map(str, (shown.headline(), shown.explained("")))]
        + [fact.meaning for fact in (*shown.facts(), *shown.row_facts(0))]
    )
    assert "A query is released only if 2 people or more entered it" in text
    assert "Several common queries together may be one person’s alone" in text
    assert "How often" not in text
    assert "frequencies" not in text

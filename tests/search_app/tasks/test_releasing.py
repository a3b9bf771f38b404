"""Methods are handed what they need: the marketing table that is named, or the caller's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.errors import BadInput, BadParameter
from anonymizer.marketing.table import MarketingTable, read_table, write_table
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from search_app.tasks.releasing import release_of

# tea and milk stand together with two people, tea and saw with two: one of the pairs may stay
PROFILES = Profiles.from_rows(
    {
        "ann": {"milk": 1.0, "tea": 1.0},
        "bob": {"milk": 1.0, "tea": 1.0},
        "cid": {"saw": 1.0},
        "dan": {"saw": 1.0, "golf": 1.0},
    }
)


def released(wordnet: Any, marketing: str, table: MarketingTable | None = None) -> Release:
    chosen = {"k": 2, "m": 2, "target": "bid", "marketing": marketing}
    inputs = Inputs(PROFILES, wordnet=wordnet, table=table)
    return release_of("km-anonymity", inputs, chosen, forward=_nobodys)


def _nobodys() -> Any:
    raise AssertionError


def table_of(*, drawn: bool) -> MarketingTable:
    ones = np.ones(4)
    terms = ("golf", "milk", "saw", "tea")
    return MarketingTable(terms, ones, ones, ones, synthetic=drawn, drawn=drawn)


def test_a_table_is_drawn_read_or_missed(wordnet: Any, tmp_path: Path) -> None:
    assert released(wordnet, "synthetic").parameters["marketing"] == "synthetic"
    file = tmp_path / "bids.csv"
    file.write_text("term,bid,impressions,clicks\ntea,1,1,1\n")
    found = released(wordnet, str(file))
    assert found.parameters["marketing"] == "given"
    assert "bids.csv" not in str(found.parameters)
    with pytest.raises(BadParameter):
        released(wordnet, "none")
    with pytest.raises(BadInput, match=r"gone\.csv"):
        released(wordnet, str(tmp_path / "gone.csv"))


def test_a_table_of_a_file_is_given_even_if_it_was_invented(wordnet: Any, tmp_path: Path) -> None:
    """Else whoever makes the release anew would draw another table by the release's seed."""
    file = tmp_path / "bids.csv"
    write_table(table_of(drawn=True), file)
    assert read_table(file).synthetic
    assert released(wordnet, str(file)).parameters["marketing"] == "given"


@pytest.mark.parametrize("marketing", ["none", "synthetic", "gone.csv"])
@pytest.mark.parametrize("drawn", [True, False])
def test_a_table_that_is_handed_in_takes_the_place_of_a_named_one(
    wordnet: Any, marketing: str, drawn: bool
) -> None:
    found = released(wordnet, marketing, table_of(drawn=drawn))
    assert found.parameters["marketing"] == ("synthetic" if drawn else "given")
    assert set(found.rows.terms) == {"milk", "saw", "tea"}  # golf is one person's

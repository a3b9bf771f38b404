"""Which columns a comparison shows, in which order, and what stands at their heads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from anonymizer.model import Profiles, Release
from anonymizer.promise import AVERAGE
from search_app.search.modes import Modes
from search_app.web import Site, create_app

from ..conftest import seen

MIRA = "/compare?q=java&user=1001"


@pytest.fixture
def wide(site: Site) -> FlaskClient:
    """A site with three further releases; in each of them Mira's row is on code alone."""
    release = Release(
        rows=Profiles.from_rows({"g0001": {"code": 1.0}}),
        users=("1001", "1002", "1003"),
        row_of_user=np.zeros(3, dtype=np.int64),
        method="p-linkability",
        parameters={"p": 0.2},
        promise=AVERAGE,
    )
    names = ("coarse", "fine", "rough")
    old = site.modes
    modes = Modes(old.engine, old.profiles, old.release, further=dict.fromkeys(names, release))
    further = {f"group:{name}": f"p-linkability p=0.2 {name[:4]}" for name in names}
    return create_app(replace(site, modes=modes, further=further)).test_client()


def heads(page: Any) -> list[str]:
    """Return the names of the columns that a page shows."""
    text = page.text
    names = (
        "Plain",
        "My own profile",
        "My group",
        *(f"My group, {n}" for n in ["coarse", "fine", "rough"]),
    )
    return [name for name in names if f"{name} This ranking sees" in text]


def test_of_many_columns_four_are_shown_and_each_says_what_it_is(wide: FlaskClient) -> None:
    page = seen(wide, MIRA)
    assert heads(page) == ["Plain", "My own profile", "My group", "My group, coarse"]
    assert "ordered in 4 ways" in page.text
    coarse = "My group, coarse This ranking sees the query and the shared interests of 3 people"
    assert coarse in page.text
    assert "p-linkability p=0.2 coar" in page.text


def test_others_are_shown_by_choice_in_their_own_order(wide: FlaskClient) -> None:
    page = seen(wide, f"{MIRA}&show=group:rough&show=own")
    assert heads(page) == ["Plain", "My own profile", "My group, rough"]
    everything = "&show=".join(["", "own", "group", "group:coarse", "group:fine", "group:rough"])
    assert len(heads(seen(wide, MIRA + everything))) == 6


def test_the_mode_one_comes_from_is_among_the_columns(wide: FlaskClient) -> None:
    page = seen(wide, f"{MIRA}&mode=group:rough")
    assert heads(page) == ["Plain", "My own profile", "My group", "My group, rough"]


def test_the_columns_are_chosen_in_boxes_of_the_search_form(wide: FlaskClient) -> None:
    boxes = seen(wide, f"{MIRA}&show=group:rough").all("input")
    found = {box["value"]: "checked" in box for box in boxes if box.get("name") == "show"}
    assert found == {
        "own": False,
        "group": False,
        "group:coarse": False,
        "group:fine": False,
        "group:rough": True,
    }
    assert all(box["form"] == "ask" for box in boxes if box.get("name") == "show")


def test_an_unknown_column_is_refused_with_those_there_are(wide: FlaskClient) -> None:
    answer = seen(wide, f"{MIRA}&show=secret", 400).html
    assert "show=secret must be one of none, own, group, group:coarse" in answer


def test_blind_columns_of_further_releases_are_not_named(wide: FlaskClient) -> None:
    page = seen(wide, f"{MIRA}&blind=1")
    assert heads(page) == []
    assert "A 1 Title" in page.text
    assert [lane["class"] for lane in page.all("section", "lane")] == ["lane"] * 4


def test_whole_orders_are_compared_with_that_of_the_own_profile(client: FlaskClient) -> None:
    """Plain order 0, 1, 2, ...; Mira's own: the 20 even rows, then the 20 odd ones.

    Of 780 pairs those of an odd row before a larger even one differ: 19 + 18 + ... + 1 = 190.
    Among the plain first ten five are even; Mira's first ten are the rows 0, 2, ..., 18.
    """
    text = seen(client, MIRA).text
    tau = 1 - 2 * 190 / 780
    met = [(d + 1) // 2 + max(0, min(d // 2, d - 20)) for d in range(1, 41)]  # even, then odd rows
    rbo = 0.9**40 + 0.1 / 0.9 * sum(m / d * 0.9**d for d, m in enumerate(met, 1))
    assert f"Kendall’s τ {tau:.2f} 1.00 {tau:.2f} RBO {rbo:.2f} 1.00 {rbo:.2f}" in text
    assert "overlap@10 5 10 5" in text
    assert text.count("5 of your personal top 10") == 2


def test_each_document_leads_to_why_it_stands_there(client: FlaskClient) -> None:
    links = [link["href"] for link in seen(client, MIRA).all("a", "why")]
    assert len(links) == 30
    first = "/why?q=java&user=1001&mode="
    assert links[0] == f"{first}none&doc=doc00"
    assert links[11] == f"{first}own&doc=doc02"
    assert client.get(links[11]).status_code == 200

"""Which columns a comparison shows, in which order, and what stands at their heads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from anonymizer.model import Profiles, Release
from search_app.modes import Modes
from search_app.web import Site, create_app
from search_app.web.columns import Look, with_look
from search_app.web.site import Shown

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
    )
    names = ("coarse", "fine", "rough")
    old = site.modes
    modes = Modes(old.engine, old.profiles, old.release, further=dict.fromkeys(names, release))
    further = {f"group:{name}": Shown(f"p-linkability p=0.2 {name[:4]}", {}) for name in names}
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


def test_of_many_columns_four_are_shown(wide: FlaskClient, read: Any) -> None:
    page = read(wide.get(MIRA).text)
    assert heads(page) == ["Plain", "My own profile", "My group", "My group, coarse"]
    assert "ordered in 4 ways" in page.text


def test_others_are_shown_by_choice_in_their_own_order(wide: FlaskClient, read: Any) -> None:
    page = read(wide.get(f"{MIRA}&show=group:rough&show=own").text)
    assert heads(page) == ["Plain", "My own profile", "My group, rough"]
    everything = "&show=".join(["", "own", "group", "group:coarse", "group:fine", "group:rough"])
    assert len(heads(read(wide.get(MIRA + everything).text))) == 6


def test_the_mode_one_comes_from_is_among_the_columns(wide: FlaskClient, read: Any) -> None:
    page = read(wide.get(f"{MIRA}&mode=group:rough").text)
    assert heads(page) == ["Plain", "My own profile", "My group", "My group, rough"]


def test_a_further_column_says_which_release_and_how_many_share_its_row(
    wide: FlaskClient, read: Any
) -> None:
    text = read(wide.get(MIRA).text).text
    assert "My group, coarse This ranking sees the query and a row shared by 3 people." in text
    assert "p-linkability p=0.2 coar" in text


def test_the_columns_are_chosen_in_boxes_of_the_search_form(wide: FlaskClient, read: Any) -> None:
    boxes = read(wide.get(f"{MIRA}&show=group:rough").text).all("input")
    found = {box["value"]: "checked" in box for box in boxes if box.get("name") == "show"}
    assert found == {
        "own": False,
        "group": False,
        "group:coarse": False,
        "group:fine": False,
        "group:rough": True,
    }
    assert all(box["form"] == "ask" for box in boxes if box.get("name") == "show")


def test_without_further_releases_there_is_nothing_to_choose(
    client: FlaskClient, read: Any
) -> None:
    assert "Choose the columns" not in read(client.get(MIRA).text).text


def test_an_unknown_column_is_refused_with_those_there_are(wide: FlaskClient) -> None:
    answer = wide.get(f"{MIRA}&show=secret")
    assert answer.status_code == 400
    assert "show=secret must be one of none, own, group, group:coarse" in answer.text


def test_the_choice_goes_along_to_another_pool(wide: FlaskClient, read: Any) -> None:
    links = [a["href"] for a in read(wide.get(f"{MIRA}&show=group:rough").text).all("a")]
    assert "/compare?q=java&user=1001&mode=group&pool=50&show=group%3Arough" in links


def test_blind_columns_of_further_releases_are_not_named(wide: FlaskClient, read: Any) -> None:
    page = read(wide.get(f"{MIRA}&blind=1").text)
    assert heads(page) == []
    assert "A 1 Title" in page.text
    assert [lane["class"] for lane in page.all("section", "lane")] == ["lane"] * 4


def test_whole_orders_are_compared_with_that_of_the_own_profile(
    client: FlaskClient, read: Any
) -> None:
    """Plain order 0, 1, 2, ...; Mira's own: the 20 even rows, then the 20 odd ones.

    Of 780 pairs those of an odd row before a larger even one differ: 19 + 18 + ... + 1 = 190.
    Among the plain first ten five are even; Mira's first ten are the rows 0, 2, ..., 18.
    """
    text = read(client.get(MIRA).text).text
    tau = 1 - 2 * 190 / 780
    met = [(d + 1) // 2 + max(0, min(d // 2, d - 20)) for d in range(1, 41)]  # even, then odd rows
    rbo = 0.9**40 + 0.1 / 0.9 * sum(m / d * 0.9**d for d, m in enumerate(met, 1))
    assert f"Kendall’s τ {tau:.2f} RBO {rbo:.2f} overlap@10 5 of 10" in text
    assert "τ 1.00 RBO 1.00 overlap@10 10 of 10" in text


def test_without_a_person_no_order_is_judged(client: FlaskClient, read: Any) -> None:
    assert "RBO" not in read(client.get("/compare?q=java").text).text


def test_one_document_has_no_pairs(client: FlaskClient, read: Any) -> None:
    text = read(client.get(f"{MIRA}&pool=1").text).text
    assert "τ – RBO 1.00 overlap@1 1 of 1" in text


def test_a_look_is_an_address() -> None:
    look = Look(("own", "group:x"), blind=True, reveal=True)
    asked = "show=own&show=group%3Ax&blind=1&reveal=1"
    assert with_look("/compare?q=java", look) == f"/compare?q=java&{asked}"
    assert (
        with_look("/lecture/1", look.seen(blind=True))
        == "/lecture/1?show=own&show=group%3Ax&blind=1"
    )
    assert with_look("/lecture/1", Look()) == "/lecture/1"


def test_each_document_leads_to_why_it_stands_there(client: FlaskClient, read: Any) -> None:
    links = [link["href"] for link in read(client.get(MIRA).text).all("a", "why")]
    assert len(links) == 30
    first = "/why?q=java&user=1001&mode="
    assert links[0] == f"{first}none&doc=doc00"
    assert links[11] == f"{first}own&doc=doc02"
    assert client.get(links[11]).status_code == 200


def test_a_blind_page_gives_no_reasons(client: FlaskClient, read: Any) -> None:
    assert read(client.get(f"{MIRA}&blind=1").text).all("a", "why") == []
    assert read(client.get(f"{MIRA}&blind=1&reveal=1").text).all("a", "why")

"""People of the demo on their own device: the order is the server's own, with real Lucene."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Page

from search_app.engine import Ranking
from search_app.request import Request
from search_app.serving import Serving
from search_app.settings import load_settings
from search_app.web import Site, create_app

from .chromium import in_browser

pytestmark = in_browser
PEOPLE = 6
QUERIES = ("java", "water animal", "light")
RANK = """async ([asked, profile]) => {
  const { ordered } = await import("/static/ranking.js");
  const answer = await (await fetch(`/api/v1/candidates?${new URLSearchParams(asked)}`)).json();
  return ordered(answer, new Map(profile)).found.map((each) => [each.id, each.value]);
}"""


@pytest.fixture(scope="module")
def site(demo: Path) -> Iterator[Site]:
    settings = replace(load_settings(demo), workspace=demo)
    site = Serving(settings, lambda _said: None, lasting=False).open()
    yield site
    site.close()


@pytest.fixture
def app(site: Site) -> Flask:
    return create_app(site)


def people(site: Site) -> list[str]:
    """Return some people of the demo, from all over the list."""
    return list(site.people)[:: len(site.people) // PEOPLE][:PEOPLE]


def told(site: Site, ranking: Ranking) -> list[list[Any]]:
    ids = site.modes.engine.ids(ranking.rows).tolist()
    return [list(each) for each in zip(ids, ranking.scores.tolist(), strict=True)]


@pytest.mark.parametrize("pool", [100, 1000])
def test_the_order_is_the_servers_own(page: Page, address: str, site: Site, pool: int) -> None:
    page.goto(f"{address}/device")
    modes = site.modes
    assert modes.profiles is not None
    tied = 0
    for user in people(site):
        profile = modes.profiles.row(user)
        for query in QUERIES:
            answer = modes.answer(query, "own", user, pool=pool)
            asked = {"q": query, "pool": str(pool)}
            found = page.evaluate(RANK, [asked, list(profile.items())])
            assert found == told(site, answer.ranking)
            tied += len(found) - len({value for _, value in found})
    assert tied > 0


def test_two_stages_are_the_rows_first_in_the_own_order(
    page: Page, address: str, site: Site
) -> None:
    page.goto(f"{address}/device")
    modes = site.modes
    assert modes.profiles is not None
    for user in people(site):
        profile, row = modes.profiles.row(user), modes.row_for(user)
        assert row is not None
        pool = modes.engine.pool("water", 1000)
        kept = set(modes.engine.rank(pool, Request("water", 1000, row=row)).rows[:200].tolist())
        own = modes.engine.by_profile(pool, profile)
        chosen = [at for at, each in enumerate(own.rows.tolist()) if each in kept]
        expected = Ranking(own.rows[chosen], own.scores[chosen], own.plain_ranks[chosen])
        asked = {"q": "water", "pool": "1000", "row": row.name, "keep": "200"}
        assert page.evaluate(RANK, [asked, list(profile.items())]) == told(site, expected)


def test_the_downloads_of_the_demo_are_taken_whole(
    page: Page, address: str, site: Site, tmp_path: Path
) -> None:
    user = people(site)[1]
    client = create_app(site).test_client()
    (tmp_path / "me.json").write_bytes(client.get(f"/me/download?user={user}").data)
    page.goto(f"{address}/device?q=java")
    page.locator("#file").set_input_files(tmp_path / "me.json")
    page.locator("#told", has_text="ordered by your own profile").wait_for()
    shown = page.locator(".hit").evaluate_all("hits => hits.map((hit) => hit.dataset.key)")
    asked = f"/api/v1/search?q=java&user={user}&mode=own"
    assert shown == [hit["id"] for hit in json.loads(client.get(asked).data)["results"]]

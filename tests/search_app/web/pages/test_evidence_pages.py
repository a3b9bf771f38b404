"""The rule `evidence` on pages: the switch, how well a search fits, the log, a lecture's slide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flask.testing import FlaskClient

from anonymizer.model import Profiles
from search_app.evaluation.relevance import LabelledQuery, Relevance
from search_app.evaluation.topics import Topic
from search_app.search.evidence import RowPopulation
from search_app.web import Site, create_app
from search_app.web.site import Truth

from ..conftest import DOCUMENTS, TERMS, seen

LABELS = {f"doc{row:02}": frozenset({TERMS[row % 2]}) for row in range(DOCUMENTS)}
OFF = LabelledQuery(Topic("q1", "java", 0, "1003"), "off", frozenset({"coffee"}))
TRUTH = Truth(Relevance([OFF], LABELS), {"1003": frozenset({"code"})})


@pytest.fixture
def fitted(site: Site) -> FlaskClient:
    """Return visitors of a town where 1003, of the group of code, stands above the other group."""
    modes = site.modes
    rows = Profiles.from_rows({"g0001": {"coffee": 0.2, "code": 0.1}, "g0002": {"code": 1.0}})
    modes.engine.prepare("group", RowPopulation(rows, np.array([2, 1])))
    modes.populations = frozenset({"group"})
    return create_app(replace(site, truth=lambda: TRUTH)).test_client()


def test_results_say_how_well_the_search_fits_and_offer_both_rankings(fitted: FlaskClient) -> None:
    asked = "/?q=java&user=1003&ranking=evidence"
    page = seen(fitted, asked)
    assert "interests fit this search better than those of 100 % of the groups." in page.text
    assert "/?q=java&user=1003&mode=group" in [link["href"] for link in page.all("a")]
    assert "ordered by how alike they are to the interests (cosine), as in the papers." in page.text
    plain = seen(fitted, "/?q=java&user=1001&ranking=evidence&mode=group").text
    assert "Plain order, because your group’s interests say nothing about this search." in plain
    assert "say nothing" not in seen(fitted, "/?q=java&user=1001&mode=group").text


def test_why_me_and_json_say_the_same(fitted: FlaskClient) -> None:
    fitted.get("/?q=java&user=1003&ranking=evidence")
    assert "better than those of 100 % of the groups" in seen(fitted, "/me?user=1003").text
    why = seen(fitted, "/why?q=java&user=1003&ranking=evidence&doc=doc03").text
    assert "BM25 of the query, as its logarithm" in why
    assert "the documents most like it" in why
    asked = "q=java&user=1001&mode=group&ranking=evidence"
    found = fitted.get(f"/api/v1/search?{asked}").get_json()
    assert (found["ranking"], found["evidence"]) == ("evidence", {"standing": 0.0, "plain": True})
    assert fitted.get(f"/api/v1/search?{asked[:-9]}=cosine").get_json()["evidence"] is None


def test_a_comparison_has_ap_by_truth_and_hides_all_when_blind(fitted: FlaskClient) -> None:
    asked = "/compare?q=java&user=1003&ranking=evidence"
    assert seen(fitted, asked).text.count("AP by truth") == 2  # its line, and what it is
    blind = seen(fitted, f"{asked}&blind=1").text
    assert "AP by truth" not in blind
    assert "of the groups" not in blind


def test_ap_by_truth_is_that_of_the_order_of_its_column(fitted: FlaskClient) -> None:
    asked = "q=java&user=1003&ranking=evidence"
    text = seen(fitted, f"/compare?{asked}").text.split("AP by truth")[1]
    for mode, shown in zip(("none", "own", "group"), text.split(), strict=False):
        address = f"/api/v1/search?{asked}&mode={mode}&size={DOCUMENTS}"
        ids = [result["id"] for result in fitted.get(address).get_json()["results"]]
        ranks = [rank for rank, name in enumerate(ids, 1) if "code" in LABELS[name]]
        ap = sum(at / rank for at, rank in enumerate(ranks, 1)) / len(ranks)
        assert shown == f"{ap:.2f}", mode


def test_the_log_names_the_rule_and_what_was_left_plain(fitted: FlaskClient) -> None:
    for user in ("1001", "1003"):
        fitted.get(f"/?q=java&user={user}&ranking=evidence")
    text = seen(fitted, "/log").text
    assert "by evidence toy" in text
    assert "Left plain" in text
    assert "My group 2" in text
    assert fitted.get("/log.csv").text.splitlines()[0].endswith('"ap_c","plain"')


def test_the_lecture_shows_a_search_that_likeness_harms(fitted: FlaskClient) -> None:
    text = seen(fitted, "/lecture/6").text
    marks = np.arange(DOCUMENTS) % 2 == 0
    assert "This search is about coffee, which is no interest of this person" in text
    ranks = np.flatnonzero(marks) + 1
    plain = float(np.mean(np.arange(1, ranks.size + 1) / ranks))
    last = float(np.mean(np.arange(1, 21) / np.arange(21, 41)))
    assert f"AP falls from {plain:.2f} to {last:.2f}." in text
    # All documents on code pass those on coffee; the last of the first ten rises most.
    why = "Why? In the group’s row, “code” pulls up 10 documents outside this topic"
    assert f"{why}, such as “Title 19” from 20 to 10." in text
    assert "My group, by likeness" in text
    assert "My group, on evidence" in text


def test_no_slide_speaks_of_the_harm_of_somebody_who_has_paused(fitted: FlaskClient) -> None:
    fitted.get("/lecture/6")
    fitted.post("/me/pause", data={"paused": "1", "user": "1003"})
    text = seen(fitted, "/lecture/6").text
    assert "AP falls" not in text
    assert "Nobody knows here of a search that personalization harms." in text


def test_no_slide_says_that_a_figure_falls_which_rises(site: Site) -> None:
    helped = OFF._replace(labels=frozenset({"code"}))
    truth = Truth(Relevance([helped], LABELS), {"1003": frozenset()})
    client = create_app(replace(site, truth=lambda: truth)).test_client()
    assert "AP falls" not in seen(client, "/lecture/6").text

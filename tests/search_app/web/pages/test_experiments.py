"""The pages of experiments: the list, a run's report and files, and two runs side by side."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from search_app.web import Site, create_app
from search_app.web.pages import experiments
from search_app.web.runs.reading import Run, Shelf

from ..conftest import seen
from ..run_folders import REPORT, SVG, at, make_run, png, summary, with_runs


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "workspace" / "experiments"


@pytest.fixture
def client(site: Site, tmp_path: Path) -> FlaskClient:
    return create_app(with_runs(site, tmp_path / "workspace")).test_client()


@pytest.fixture
def empty(site: Site, tmp_path: Path) -> FlaskClient:
    return create_app(at(site, tmp_path / "empty")).test_client()


class TestList:
    def test_without_runs_it_says_how_to_make_one(self, empty: FlaskClient) -> None:
        for path in ("/experiments", "/experiments/compare"):
            assert "veilsearch experiment zhu-xiong" in seen(empty, path).text

    def test_it_lists_runs_the_latest_first(self, client: FlaskClient) -> None:
        """Half past one in Berlin is half past midnight in UTC."""
        text = seen(client, "/experiments").text
        later = "later A toy experiment 3 6 2026-11-19 00:30 0 hold, 1 does not, 1 undecided"
        assert later in text
        assert "toy A toy experiment 3 6 2026-11-18 23:00 1 holds, 1 does not, 1 undecided" in text
        assert text.index(later) < text.index("toy A toy experiment 3 6 2026-11-18")

    def test_a_run_is_seen_as_soon_as_it_is_there(self, empty: FlaskClient, tmp_path: Path) -> None:
        assert "new" not in seen(empty, "/experiments").text.split()
        make_run(tmp_path / "empty" / "experiments" / "new")
        assert "new" in seen(empty, "/experiments").text.split()


class TestReport:
    def test_it_shows_claims_figures_tables_and_provenance(self, client: FlaskClient) -> None:
        page = seen(client, "/experiments/toy")
        for shown in (
            "toy, finished 2026-11-18 23:00 UTC, 3 people, 6 queries, 1 units",
            "does not hold Groups beat their own",
            "Groups beat plain: 0.612 (0.590 to 0.634).",
            "The group’s mean is 0.612.",
            "versions veilsearch 0.6.0",
            "test_share 0.2",
            "experiments/toy/rows.csv",
        ):
            assert shown in page.text
        (picture,) = page.all("img")
        assert picture["src"] == "/experiments/toy/figures/figure-2.svg"
        assert picture["alt"]

    def test_every_file_it_links_to_is_there(self, client: FlaskClient) -> None:
        links = [each["href"] for each in seen(client, "/experiments/toy").all("a")]
        files = [link for link in links if "/figures/" in link or "/files/" in link]
        assert len(files) == 3 + 4
        assert [client.get(file).status_code for file in files] == [200] * 7

    def test_no_page_sends_rows(self, client: FlaskClient) -> None:
        for name in ("rows.csv", "rows.jsonl", "run.json", "../toy/rows.csv"):
            assert client.get(f"/experiments/toy/files/{name}").status_code == 404
            assert client.get(f"/experiments/toy/figures/{name}").status_code == 404

    def test_a_picture_may_run_and_load_nothing(self, client: FlaskClient) -> None:
        answer = client.get("/experiments/toy/figures/figure-2.svg")
        assert answer.data == SVG
        assert answer.mimetype == "image/svg+xml"
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "sandbox" in policy
        assert "script-src" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"

    def test_other_files_keep_the_policy_of_all_pages(self, client: FlaskClient) -> None:
        usual = client.get("/experiments").headers["Content-Security-Policy"]
        for file, kind in (("figure-2.png", "image/png"), ("figure-2.csv", "text/csv")):
            answer = client.get(f"/experiments/toy/figures/{file}")
            assert (answer.mimetype, answer.headers["Content-Security-Policy"]) == (kind, usual)
        assert client.get("/experiments/toy/figures/figure-2.png").data == png()

    def test_downloads_are_named_for_the_run(self, client: FlaskClient) -> None:
        answer = client.get("/experiments/toy/files/summary.csv")
        assert answer.headers["Content-Disposition"] == 'attachment; filename="toy-summary.csv"'
        assert answer.data == summary()


class TestCompared:
    ADDRESS = "/experiments/compare?one=toy&other=later"

    def test_settings_that_differ_are_listed_and_no_others(self, client: FlaskClient) -> None:
        text = seen(client, self.ADDRESS).text
        settings = text.partition("What was different")[2].partition("Claims")[0]
        assert "Input: users 3 2" in settings
        assert "test_share" not in settings
        assert "seconds" not in settings

    def test_claims_stand_side_by_side(self, client: FlaskClient) -> None:
        text = seen(client, self.ADDRESS).text
        assert "Groups beat plain changed holds Groups beat plain: 0.612" in text
        assert "Groups beat their own same does not hold" in text
        assert "Larger a is better in one run only undecided" in text

    def test_means_stand_side_by_side_with_their_difference(self, client: FlaskClient) -> None:
        """0.5 - 0.612 = -0.112"""
        text = seen(client, self.ADDRESS).text
        both = "group 100 AP 0.612 0.590 to 0.634 0.500 0.450 to 0.550 −0.112"
        assert f"p-linkability p=0.4 figure-2 {both}" in text
        assert "group 1,000 AP 0.300 0.250 to 0.350 – –" in text
        assert "AP_c 0.420" not in text  # another measure

    @pytest.mark.parametrize(
        ("asked", "found"), [("measure=all", 3), ("measure=AP_c", 1), ("measure=all&pool=1000", 1)]
    )
    def test_means_are_chosen_by_measure_and_pool(
        self, client: FlaskClient, asked: str, found: int
    ) -> None:
        page = seen(client, f"{self.ADDRESS}&{asked}")
        assert f"{found} mean" in page.text
        chosen = [each for each in page.all("option") if "selected" in each]
        assert len(chosen) >= 3  # two runs and the measure

    def test_a_measure_nobody_has_is_none(self, client: FlaskClient) -> None:
        assert "There is no mean of this" in client.get(f"{self.ADDRESS}&measure=<b>&pool=7").text

    def test_means_come_a_page_at_a_time(self, site: Site, runs: Path) -> None:
        """250 means are pages of 100, 100 and 50."""
        many = [("t", f"r{at}", "group", 100, "AP", 0.5, 0.4, 0.6, 0.1, 3) for at in range(250)]
        make_run(runs / "many", summary_csv=summary(many))
        client = create_app(at(site, runs.parent)).test_client()
        address = "/experiments/compare?one=many&other=many"
        last = seen(client, f"{address}&page=3")
        assert "Page 3 of 3" in last.text
        assert "r249" in last.text
        assert client.get(f"{address}&page=4").status_code == 404

    @pytest.mark.parametrize(
        ("asked", "status"),
        [("one=toy", 200), ("one=toy&other=none", 404), ("one=toy&other=later&pool=many", 400)],
    )
    def test_one_run_is_no_pair(self, client: FlaskClient, asked: str, status: int) -> None:
        assert client.get(f"/experiments/compare?{asked}").status_code == status


@pytest.mark.parametrize("one", [True, False])
def test_a_run_is_read_again_only_when_a_file_of_it_changes(runs: Path, one: bool) -> None:
    make_run(runs / "toy")
    shelf = Shelf()

    def read() -> Run | None:
        return shelf.one(runs, "toy") if one else shelf.latest(runs)[0]

    first = read()
    assert first is not None
    assert read() is first
    make_run(runs / "toy", replace(REPORT, title="Another"))
    again = read()
    assert again is not None
    assert again.title == "Another"


def test_the_latest_runs_are_listed_and_the_others_counted(
    site: Site, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at_second, name in enumerate(["first", "second", "third"]):
        os.utime(make_run(runs / name) / "run.json", (at_second + 1, at_second + 1))
    latest = Shelf().latest(runs, 2)
    assert sorted(run.name for run in latest) == ["second", "third"]
    monkeypatch.setattr(experiments, "runs_of", lambda _site: latest)
    text = seen(create_app(at(site, runs.parent)).test_client(), "/experiments").text
    assert "These are the latest 2; 1 older one is at /experiments/NAME" in text

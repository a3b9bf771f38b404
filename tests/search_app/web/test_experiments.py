"""The pages of experiments: the list, a run's report and files, and two runs side by side."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from search_app.web import Site, create_app, experiments
from search_app.web.experiment_runs import Shelf

from .conftest import ADMIN_TOKEN
from .run_folders import MEANS, REPORT, SVG, at, make_run, png, summary, with_runs


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
    def test_without_runs_it_says_how_to_make_one(self, empty: FlaskClient, read: Any) -> None:
        for path in ("/experiments", "/experiments/compare"):
            assert "veilsearch experiment zhu-xiong" in read(empty.get(path).text).text

    def test_it_lists_runs_the_latest_first(self, client: FlaskClient, read: Any) -> None:
        """Half past one in Berlin is half past midnight in UTC."""
        text = read(client.get("/experiments").text).text
        later = "later A toy experiment 3 6 2026-11-19 00:30 0 hold, 1 does not, 1 undecided"
        assert later in text
        assert "toy A toy experiment 3 6 2026-11-18 23:00 1 holds, 1 does not, 1 undecided" in text
        assert text.index(later) < text.index("toy A toy experiment 3 6 2026-11-18")

    def test_it_is_among_the_pages_of_every_page(self, client: FlaskClient, read: Any) -> None:
        current = [
            link["href"]
            for link in read(client.get("/experiments/toy").text).all("a")
            if link.get("aria-current") == "true"
        ]
        assert current == ["/experiments"]

    def test_a_run_is_seen_as_soon_as_it_is_there(
        self, empty: FlaskClient, tmp_path: Path, read: Any
    ) -> None:
        assert "new" not in read(empty.get("/experiments").text).text.split()
        make_run(tmp_path / "empty" / "experiments" / "new")
        assert "new" in read(empty.get("/experiments").text).text.split()


class TestReport:
    def test_it_shows_claims_figures_tables_and_provenance(
        self, client: FlaskClient, read: Any
    ) -> None:
        page = read(client.get("/experiments/toy").text)
        for shown in (
            "toy, finished 2026-11-18 23:00 UTC, 3 people, 6 held-out queries, 1 units",
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

    def test_every_file_it_links_to_is_there(self, client: FlaskClient, read: Any) -> None:
        links = [each["href"] for each in read(client.get("/experiments/toy").text).all("a")]
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

    def test_settings_that_differ_are_listed_and_no_others(
        self, client: FlaskClient, read: Any
    ) -> None:
        text = read(client.get(self.ADDRESS).text).text
        settings = text.partition("What was different")[2].partition("Claims")[0]
        assert "Input: users 3 2" in settings
        assert "test_share" not in settings
        assert "seconds" not in settings

    def test_claims_stand_side_by_side(self, client: FlaskClient, read: Any) -> None:
        text = read(client.get(self.ADDRESS).text).text
        assert "Groups beat plain changed holds Groups beat plain: 0.612" in text
        assert "Groups beat their own same does not hold" in text
        assert "Larger a is better in one run only undecided" in text

    def test_means_stand_side_by_side_with_their_difference(
        self, client: FlaskClient, read: Any
    ) -> None:
        """0.5 - 0.612 = -0.112"""
        text = read(client.get(self.ADDRESS).text).text
        both = "group 100 AP 0.612 0.590 to 0.634 0.500 0.450 to 0.550 −0.112"
        assert f"p-linkability p=0.4 figure-2 {both}" in text
        assert "group 1,000 AP 0.300 0.250 to 0.350 – –" in text
        assert "AP_c 0.420" not in text  # another measure

    @pytest.mark.parametrize(
        ("asked", "found"), [("measure=all", 3), ("measure=AP_c", 1), ("measure=all&pool=1000", 1)]
    )
    def test_means_are_chosen_by_measure_and_pool(
        self, client: FlaskClient, read: Any, asked: str, found: int
    ) -> None:
        page = read(client.get(f"{self.ADDRESS}&{asked}").text)
        assert f"{found} mean" in page.text
        chosen = [each for each in page.all("option") if "selected" in each]
        assert len(chosen) >= 3  # two runs and the measure

    def test_a_measure_nobody_has_is_none(self, client: FlaskClient) -> None:
        assert "No mean is of this" in client.get(f"{self.ADDRESS}&measure=<b>&pool=7").text

    def test_means_come_a_page_at_a_time(self, site: Site, runs: Path, read: Any) -> None:
        """250 means are pages of 100, 100 and 50."""
        many = [("t", f"r{at}", "group", 100, "AP", 0.5, 0.4, 0.6, 0.1, 3) for at in range(250)]
        make_run(runs / "many", summary_csv=summary(many))
        client = create_app(at(site, runs.parent)).test_client()
        address = "/experiments/compare?one=many&other=many"
        last = read(client.get(f"{address}&page=3").text)
        assert "Page 3 of 3" in last.text
        assert "r249" in last.text
        assert client.get(f"{address}&page=4").status_code == 404

    @pytest.mark.parametrize(
        ("asked", "status"),
        [("one=toy", 200), ("one=toy&other=toy", 200), ("one=toy&other=none", 404)],
    )
    def test_one_run_is_no_pair(self, client: FlaskClient, asked: str, status: int) -> None:
        assert client.get(f"/experiments/compare?{asked}").status_code == status

    def test_odd_numbers_are_refused(self, client: FlaskClient) -> None:
        assert client.get(f"{self.ADDRESS}&pool=many").status_code == 400

    def test_a_run_beside_itself_differs_in_nothing(self, client: FlaskClient, read: Any) -> None:
        text = read(client.get("/experiments/compare?one=toy&other=toy").text).text
        assert "Nothing that the runs tell" in text
        assert "0.000 p-linkability" in text


class TestWhoMaySee:
    def test_where_people_sign_in_only_the_operator(self, private: Site, tmp_path: Path) -> None:
        site = with_runs(private, tmp_path / "workspace")
        app = create_app(site)
        person, operator = app.test_client(), app.test_client()
        person.post("/sign-in", data={"code": site.store.new_code("1001")})
        operator.post("/sign-in", data={"code": ADMIN_TOKEN})
        picture = "/experiments/toy/figures/figure-2.svg"
        assert [each.get(picture).status_code for each in (person, operator)] == [403, 200]
        assert "/experiments" not in person.get("/").text
        assert '<a href="/experiments">' in operator.get("/about").text

    def test_where_nobody_is_known_everybody(self, site: Site, tmp_path: Path) -> None:
        plain = replace(site, people={}, examples=(), access="plain")
        client = create_app(with_runs(plain, tmp_path / "workspace")).test_client()
        assert client.get("/experiments/toy").status_code == 200


def test_a_run_is_read_again_only_when_a_file_of_it_changes(runs: Path) -> None:
    make_run(runs / "toy")
    shelf = Shelf()
    first = shelf.one(runs, "toy")
    assert first is not None
    assert shelf.one(runs, "toy") is first
    make_run(runs / "toy", replace(REPORT, title="Another"))
    again = shelf.one(runs, "toy")
    assert again is not None
    assert again.title == "Another"


def test_the_latest_runs_are_listed_and_the_others_counted(
    site: Site, runs: Path, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at_second, name in enumerate(["first", "second", "third"]):
        os.utime(make_run(runs / name) / "run.json", (at_second + 1, at_second + 1))
    latest = Shelf().latest(runs, 2)
    assert sorted(run.name for run in latest) == ["second", "third"]
    monkeypatch.setattr(experiments, "runs_of", lambda _site: latest)
    text = read(create_app(at(site, runs.parent)).test_client().get("/experiments").text).text
    assert "These are the latest 2; 1 older one is at /experiments/NAME" in text


def test_a_run_written_anew_is_listed_anew(runs: Path) -> None:
    make_run(runs / "toy")
    shelf = Shelf()
    (first,) = shelf.latest(runs)
    assert shelf.latest(runs)[0] is first
    make_run(runs / "toy", replace(REPORT, title="Another"))
    assert [run.title for run in shelf.latest(runs)] == ["Another"]


def test_means_are_those_of_the_summary(runs: Path) -> None:
    run = Shelf().one(make_run(runs / "toy").parent, "toy")
    assert run is not None
    assert [tuple(mean) for mean in run.means] == [each[:8] for each in MEANS]

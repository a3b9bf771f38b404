"""Run folders that are damaged, foreign or hostile: told in a sentence, never a fault of ours."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from search_app.experiments.report.report import Claim, FigureLine, FigurePoint, Table, as_record
from search_app.web import Site, create_app
from search_app.web.runs import files as experiment_files
from search_app.web.runs.means import read_means
from search_app.web.runs.reading import Shelf, read_run

from ..conftest import Page, seen
from ..run_folders import REPORT, at, make_run, with_runs

PICTURE = "figures/figure-2.svg"
PAGES = (
    "/experiments",
    "/experiments/bad",
    "/experiments/compare?one=toy&other=bad&measure=all",
    "/experiments/bad/figures/figure-2.svg",
    "/experiments/bad/files/summary.csv",
    "/api/v1/experiments",
    "/api/v1/experiments/bad",
)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "workspace" / "experiments"


@pytest.fixture
def client(site: Site, tmp_path: Path) -> FlaskClient:
    return create_app(with_runs(site, tmp_path / "workspace")).test_client()


def nested(depth: int) -> bytes:
    return b'{"claims":' + b"[" * depth + b"]" * depth + b"}"


def with_claim(**fields: Any) -> bytes:
    record = as_record(REPORT)
    return json.dumps({**record, "claims": [{**record["claims"][0], **fields}]}).encode()


def with_figure(**fields: Any) -> bytes:
    record = as_record(REPORT)
    return json.dumps({**record, "figures": [{**record["figures"][0], **fields}]}).encode()


REPORTS = {  # that are none
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "half a character": with_claim(text="\ud800"),
    "no object": b"[]",
    "no fields": b"{}",
    "deep": nested(100_000),
    "deep enough": nested(900),
    "not a number": b'{"claims": NaN}',
    "a verdict of its own": with_claim(verdict="<b>holds</b>"),
    "a text for p": with_claim(p="<script>"),
    "a field too many": with_claim(surprise=1),
    "an object for a text": with_claim(text={"a": 1}),
    "p beyond all numbers": with_claim(p=10**400),
    "a margin of text": with_claim(margin={"value": "<b>"}),
    "a plane of two ends": with_figure(kind="plane", ends=["a", "b"]),
    "a figure in another folder": with_figure(name="../../secret"),
    "a figure without a name": with_figure(name=""),
    "a list for a name": with_figure(name=["figure-2"]),
    "a point of text": with_figure(lines=[{"name": "a", "points": [{"x": 1, "value": "b"}]}]),
    "a point of yes": with_figure(lines=[{"name": "a", "points": [{"x": 1, "value": True}]}]),
    "two figures of a name": json.dumps(
        {**as_record(REPORT), "figures": as_record(REPORT)["figures"] * 2}
    ).encode(),
    "a row too short": json.dumps(
        as_record(replace(REPORT, tables=(Table("t", "t", "", ("a", "b"), (("1",),)),)))
    ).encode(),
}


@pytest.mark.parametrize("content", REPORTS.values(), ids=REPORTS)
def test_a_report_that_is_none_is_not_shown(
    client: FlaskClient, runs: Path, content: bytes
) -> None:
    make_run(runs / "bad", report_json=content)
    assert [client.get(page).status_code for page in PAGES] == [200, 200, 200, 404, 200, 200, 200]
    text = seen(client, "/experiments/bad").text
    assert "Damaged, so not shown: report.json" in text
    assert "Groups beat" not in text


MANIFESTS: dict[str, bytes] = {
    "no JSON": b"<",
    "no object": b"7",
    "another format": b'{"format": 2, "sha256": {}}',
    "no hashes": b'{"format": 1}',
    "hashes of another kind": b'{"format": 1, "sha256": ["report.json"]}',
    "deep": b'{"format": 1, "sha256": {}, "inputs":' + b'{"a":' * 900 + b"1" + b"}" * 901,
}


@pytest.mark.parametrize("content", MANIFESTS.values(), ids=MANIFESTS)
def test_a_manifest_that_is_none_shows_nothing(
    client: FlaskClient, runs: Path, content: bytes
) -> None:
    make_run(runs / "bad")
    (runs / "bad" / "run.json").write_bytes(content)
    assert [client.get(page).status_code for page in PAGES] == [200, 200, 200, 404, 404, 200, 200]
    assert "Damaged, so not shown: " in client.get("/experiments/bad").text


def test_odd_values_of_a_manifest_are_left_out(client: FlaskClient, runs: Path) -> None:
    counts = {"people": "<b>", "queries": -1, "units": True, "rows": 1e300}
    odd: dict[str, Any] = {
        "title": {"a": 1},
        "counts": counts,
        "inputs": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}, "long": "x" * 10**6, "n": 10**4000},
    }
    make_run(runs / "bad", manifest=odd)
    page = client.get("/experiments/bad")
    assert page.status_code == 200
    assert len(page.text) < 50_000
    assert "people" not in Page(page.text).text.partition("What was done")[0]


@pytest.mark.parametrize(
    "name", ["run.json", "report.json", "provenance.json", "summary.csv", PICTURE]
)
def test_a_missing_file_is_told(client: FlaskClient, runs: Path, name: str) -> None:
    (make_run(runs / "bad") / name).unlink()
    assert {client.get(page).status_code for page in PAGES} <= {200, 404}
    text = seen(client, "/experiments/bad").text
    assert f"{name} is missing" in text or f"{name}: missing" in text


@pytest.mark.parametrize("name", ["report.json", "provenance.json", "summary.csv", PICTURE])
def test_a_file_that_does_not_fit_its_hash_is_told_and_not_shown(
    client: FlaskClient, runs: Path, name: str
) -> None:
    path = make_run(runs / "bad") / name
    assert "Damaged" not in client.get("/experiments/bad").text
    path.write_bytes(path.read_bytes() + b" ")
    page = seen(client, "/experiments/bad")
    assert "not what the run wrote" in page.text
    assert name in page.text
    shown = {"report.json": "figures/figure-2", "summary.csv": "files/summary.csv"}
    assert shown.get(name, PICTURE) not in str(page.tags) or name == "provenance.json"


def test_a_picture_that_changed_a_moment_ago_is_not_sent(runs: Path) -> None:
    """Same size, same times: only its hash tells."""
    path = make_run(runs / "bad") / PICTURE
    run = Shelf().one(runs, "bad")
    assert run is not None
    path.write_bytes(path.read_bytes().replace(b"300", b"301"))
    folder = experiment_files.RunFolder(runs / "bad", run.hashes)
    with pytest.raises(experiment_files.UnfitError, match="its hash differs"):
        folder.read(PICTURE)


def linked_file(run: Path, outside: Path) -> None:
    (run / PICTURE).unlink()
    (run / PICTURE).symlink_to(outside / PICTURE)


def linked_figures(run: Path, outside: Path) -> None:
    (run / "figures").rename(run / "moved")
    (run / "figures").symlink_to(outside / "figures")


def pipe(run: Path, _outside: Path) -> None:
    (run / PICTURE).unlink()
    os.mkfifo(run / PICTURE)


def folder(run: Path, _outside: Path) -> None:
    (run / PICTURE).unlink()
    (run / PICTURE).mkdir()


@pytest.mark.parametrize("trick", [linked_file, linked_figures, pipe, folder])
def test_nothing_is_read_through_a_link_or_from_what_is_no_file(
    client: FlaskClient, runs: Path, tmp_path: Path, trick: Callable[[Path, Path], None]
) -> None:
    """The same bytes lie outside, so that only the way to them is wrong."""
    outside, run = make_run(tmp_path / "outside"), make_run(runs / "bad")
    assert client.get(f"/experiments/bad/{PICTURE}").status_code == 200
    trick(run, outside)
    assert client.get(f"/experiments/bad/{PICTURE}").status_code == 404
    assert "Damaged" in client.get("/experiments/bad").text


def test_a_link_to_a_run_is_not_followed(client: FlaskClient, runs: Path, tmp_path: Path) -> None:
    (runs / "bad").symlink_to(make_run(tmp_path / "outside"))
    assert client.get("/experiments/bad").status_code == 404
    assert "One folder is not listed" in client.get("/experiments").text


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a b", "ünï", "x" * 101, "compare"])
def test_a_folder_of_an_odd_name_is_counted_only(
    client: FlaskClient, runs: Path, name: str
) -> None:
    make_run(runs / name)
    answer = client.get("/experiments")
    assert "One folder is not listed" in answer.text
    assert "<script>alert" not in answer.text
    assert client.get(f"/experiments/{quote(name)}/files/summary.csv").status_code == 404


def test_what_is_hidden_or_a_file_is_not_listed(client: FlaskClient, runs: Path) -> None:
    make_run(runs / ".new-1234")
    (runs / "notes.txt").write_text("mine", encoding="utf-8")
    text = client.get("/experiments").text
    assert "new-1234" not in text
    assert "notes" not in text
    assert "not listed" not in text


@pytest.mark.parametrize(
    "path",
    [
        "/experiments/..",
        "/experiments/%2e%2e",
        "/experiments/%2e%2e%2f%2e%2e",
        "/experiments/toy/figures/%2e%2e%2frun.json",
        "/experiments/toy/figures/..%2f..%2fprecision.sqlite",
        "/experiments/toy/figures/figure-2.svg%00",
        "/experiments/toy/figures/figure-2.html",
        "/experiments/toy/figures/figure-3.svg",
        "/experiments/toy/figures/",
        "/experiments/toy%00",
        "/experiments/toy%0a",
        "/experiments/.hidden",
        "/experiments/compare?one=..&other=toy",
        "/experiments/compare?one=toy&other=%2Fetc",
    ],
)
def test_no_address_leads_out_of_the_folder(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_files_too_large_are_not_read(
    client: FlaskClient, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment_files, "LARGEST", 1 << 20)
    make_run(runs / "bad", summary_csv=b"x" * ((1 << 20) + 1))
    text = client.get("/experiments/bad").text
    assert "summary.csv is larger than 1 MB, the most that is shown" in text
    assert client.get("/experiments/bad/files/summary.csv").status_code == 404


def test_texts_of_a_run_are_texts(client: FlaskClient, runs: Path) -> None:
    attack = "<script>window.ran=1</script>"
    report = replace(
        REPORT,
        title=attack,
        notes=(attack,),
        claims=(Claim(attack, attack, attack, attack, "holds"),),
        figures=(
            replace(
                REPORT.figures[0],
                title=attack,
                about=attack,
                across=attack,
                up='"><img src=x onerror=1>',
                lines=(FigureLine(attack, (FigurePoint(attack, 1.0),)),),
            ),
        ),
        tables=(Table('"><b id=x>', attack, attack, (attack,), ((attack,),)),),
    )
    make_run(runs / "bad", report, manifest={"inputs": {attack: attack}})
    for page in ("/experiments", "/experiments/bad", PAGES[2]):
        answer = seen(client, page).html
        assert "<script>window" not in answer
        assert "<img src=x" not in answer
        assert "<b id=x>" not in answer


@pytest.mark.parametrize(
    ("when", "shown"),
    [
        ("2026-11-18T23:00:00Z", "2026-11-18 23:00"),
        ("2026-11-18T23:00:00+02:00", "2026-11-18 21:00"),
        *((when, "2027-01-15 08:00") for when in ("yesterday", "0001-01-01T00:00:00+23:00")),
        *((when, "2027-01-15 08:00") for when in (7, None, {"a": []})),
    ],
)
def test_times_are_told_in_utc_or_are_those_of_the_file(
    runs: Path, when: object, shown: str
) -> None:
    path = make_run(runs / "toy", provenance_json=json.dumps({"finished": when}).encode())
    os.utime(path / "run.json", (1_800_000_000, 1_800_000_000))
    assert read_run(path).finished == shown


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"", 0),
        (b"\xff", 0),
        (b"table,release,mode,pool\na,b,c,1\n", 0),
        (b"table,release,mode,pool,measure,mean\nt,r,group,100,AP,0.5\n", 1),
        (b"table,release,mode,pool,measure,mean\nt,r,group,many,AP,0.5\nt\n", 0),
        (b"table,release,mode,pool,measure,mean\n" + b"t,r,group,100,AP,0.5\n" * 2, 1),
        (b"table,release,mode,pool,measure,mean\nt,r,group,100,AP," + b"9" * 200_000, 0),
    ],
)
def test_rows_of_a_summary_that_can_not_be_read_are_left_out(content: bytes, rows: int) -> None:
    before = csv.field_size_limit(131_072)  # its own: libraries that tests import raise it
    try:
        assert len(read_means(content)) == rows
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("value", ["", "nan", "inf", "1e300", "much"])
def test_a_mean_that_is_no_number_is_none(value: str) -> None:
    content = f"table,release,mode,pool,measure,mean\nt,r,group,100,AP,{value}\n".encode()
    assert [mean.value for mean in read_means(content)] == [None]


def test_a_workspace_whose_experiments_are_a_file_has_none(site: Site, tmp_path: Path) -> None:
    (tmp_path / "experiments").write_text("mine", encoding="utf-8")
    client = create_app(at(site, tmp_path)).test_client()
    assert "veilsearch experiment zhu-xiong" in client.get("/experiments").text
    assert client.get("/experiments/toy").status_code == 404

"""The page of the log."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from search_app.evaluation import Precision
from search_app.precision_log import Entry, PrecisionLog
from search_app.web import Site, create_app


def entry(mode: str, ap: float, pool: int = 100, corpus: str = "") -> Entry:
    precision = Precision(ap=ap, ap_at_10=ap, ap_at_20=ap, ap_c=None, pool=40)
    return Entry(1_800_000_000, mode, pool, 1.0, corpus, "toy", precision)


def test_an_empty_log_says_so(client: FlaskClient) -> None:
    assert "Nothing has been logged yet" in client.get("/log").text


def test_means_stand_with_their_interval(client: FlaskClient, log: PrecisionLog, read: Any) -> None:
    """Mean 0.5, standard error 0.01; Student’s t of one degree of freedom: tan(0.475π) = 12.7."""
    log.add([entry("group", 0.49), entry("group", 0.51)])
    page = read(client.get("/log").text)
    assert "My group 2 0.50 0.37 to 0.63 0.50 –" in page.text
    (drawn,) = page.all("rect", "interval")
    assert (drawn["x"], drawn["width"]) == ("75", "50")  # 0.373 and 0.627 of 200


def test_intervals_end_at_0_and_1_and_need_two_searches(
    client: FlaskClient, log: PrecisionLog, read: Any
) -> None:
    log.add([entry("own", 1.0), entry("none", 0.0), entry("none", 1.0)])
    text = read(client.get("/log").text).text
    assert "My own profile 1 1.00 – 1.00 –" in text
    assert "Plain 2 0.50 0.00 to 1.00 0.50 –" in text


def test_pools_are_never_mixed(client: FlaskClient, log: PrecisionLog, read: Any) -> None:
    log.add([entry("group", 0.9, pool=50), entry("group", 0.1, pool=1000)])
    text = read(client.get("/log").text).text
    assert text.index("Pool of 50 toy") < text.index("Pool of 1,000 toy")


def test_corpora_are_never_mixed_and_are_shown_beside_the_release(
    client: FlaskClient, log: PrecisionLog, read: Any
) -> None:
    log.add([entry("group", 0.9, corpus="wiki"), entry("group", 0.1, corpus="news")])
    text = read(client.get("/log").text).text
    assert text.index("Pool of 100 news, toy") < text.index("Pool of 100 wiki, toy")
    assert "0.90 – wiki, toy" in text.partition("Latest searches")[2]


def test_a_damaged_log_is_one_sentence_of_the_workspace(
    site: Site, tmp_path: Path, read: Any, caplog: Any
) -> None:
    path = tmp_path / "damaged.sqlite"
    log = PrecisionLog(path)
    log.add([entry("own", 1.0)] * 200)
    log.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    response = create_app(replace(site, log=PrecisionLog(path))).test_client().get("/log")
    text = read(response.text).text
    assert response.status_code == 503
    assert "A part of this workspace can’t be used" in text
    assert "veilsearch doctor" in text
    assert "try again" not in text
    for told in (text, caplog.text):
        assert str(tmp_path) not in told
    assert "UsageError" in caplog.text


def test_the_latest_searches_are_listed_newest_first(
    client: FlaskClient, log: PrecisionLog, read: Any
) -> None:
    log.add([entry("none", 0.25), entry("group", 0.75)])
    latest = read(client.get("/log").text).text.partition("Latest searches")[2]
    assert "2027-01-15 08:00:00" in latest
    assert latest.index("0.75") < latest.index("0.25")


def searched(log: PrecisionLog, count: int = 1) -> None:
    for _ in range(count):
        log.add([entry("none", 0.2), entry("own", 1.0), entry("group", 0.6)])


def test_pictures_tell_the_means_and_the_differences_in_pairs(
    client: FlaskClient, log: PrecisionLog, read: Any
) -> None:
    searched(log, 20)
    page = read(client.get("/log").text)
    assert len(page.all("polyline", "line")) == 2 * 3  # each with its sample in the legend
    assert len(page.all("circle", "dot")) == 2 * 3 + 2  # two points of ten, and two differences
    assert "+0.40 My group − Plain" in page.text
    assert "+0.40 My own profile − My group" in page.text
    assert "Of 20 searches, 20 have an AP that is higher by more than 0.05, 0 one" in page.text


def test_a_thousand_searches_are_drawn_in_thirty_points(
    client: FlaskClient, log: PrecisionLog, read: Any
) -> None:
    searched(log, 1000)
    page = read(client.get("/log").text)
    assert len(page.all("circle", "dot")) == 3 * 30 + 2
    assert "about 33 of 1,000 searches" in page.text


def test_the_log_is_filtered_by_links(client: FlaskClient, log: PrecisionLog, read: Any) -> None:
    log.add([entry("group", 0.9, pool=50)])
    log.add([entry("group", 0.1, pool=1000)])
    page = read(client.get("/log?pool=50").text)
    assert "Pool of 50 toy" in page.text
    assert "Pool of 1,000 toy" not in page.text
    assert "0.10" not in page.text.partition("Latest searches")[2]
    assert "/log?pool=1000" in [link["href"] for link in page.all("a")]
    assert "No search in the log is of this kind" in read(client.get("/log?pool=7").text).text
    for wrong in ("pool=0", "pool=x", "mix=2"):
        assert client.get(f"/log?{wrong}").status_code == 400


def test_a_further_release_has_its_own_lines(
    client: FlaskClient, log: PrecisionLog, read: Any
) -> None:
    log.add([entry("none", 0.2), entry("group", 0.4), entry("group:km", 0.3)])
    text = read(client.get("/log").text).text
    assert "My group, km 1 0.30" in text
    assert "+0.10 km − Plain" in text


def test_every_row_can_be_downloaded(client: FlaskClient, log: PrecisionLog) -> None:
    searched(log, 2)
    log.add([entry("none", 0.5, corpus="=cmd()")])
    response = client.get("/log.csv")
    head, *rows = csv.reader(response.text.splitlines())
    assert response.headers["Content-Disposition"] == 'attachment; filename="log.csv"'
    assert head[:3] == ["search", "time", "mode"]
    assert [row[0] for row in rows] == ["1", "1", "1", "2", "2", "2", "3"]
    assert rows[0][1:4] == ["2027-01-15 08:00:00", "none", "100"]
    assert rows[-1][6] == "'=cmd()"


def test_where_people_are_real_times_are_told_to_the_day(
    real: FlaskClient, log: PrecisionLog, read: Any
) -> None:
    searched(log, 20)
    assert list(csv.reader(real.get("/log.csv").text.splitlines()))[1][1] == "2027-01-15"
    text = read(real.get("/log").text).text
    assert "2027-01-15" in text
    assert "08:00" not in text

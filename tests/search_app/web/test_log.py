"""The page of the log."""

from __future__ import annotations

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
    """0.49 and 0.51: mean 0.5, standard error 0.01; Student's t of 1 degree is tan(0.475π) = 12.7."""
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

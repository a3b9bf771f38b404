"""The page of the log."""

from __future__ import annotations

import csv
from typing import Any

from flask.testing import FlaskClient

from search_app.evaluation.log import Entry, PrecisionLog
from search_app.measures.precision import PoolPrecision
from search_app.web import Site

from ..conftest import ADMIN_TOKEN, seen, signed_in


def entry(mode: str, ap: float, pool: int = 100, corpus: str = "") -> Entry:
    precision = PoolPrecision(ap=ap, ap_at_10=ap, ap_at_20=ap, ap_c=None, pool=40)
    return Entry(1_800_000_000, mode, pool, "cosine", corpus, "toy", precision)


def test_an_empty_log_says_so(client: FlaskClient) -> None:
    assert "Nothing has been logged yet" in client.get("/log").text


def test_means_stand_with_their_interval(client: FlaskClient, log: PrecisionLog) -> None:
    """Mean 0.5, standard error 0.01; Student’s t of one degree of freedom: tan(0.475π) = 12.7."""
    log.add([entry("group", 0.49), entry("group", 0.51)])
    page = seen(client, "/log")
    assert "My group 2 0.50 0.37 to 0.63 0.50 –" in page.text
    (drawn,) = page.all("rect", "interval")
    assert (drawn["x"], drawn["width"]) == ("75", "50")  # 0.373 and 0.627 of 200


def test_intervals_end_at_0_and_1_and_need_two_searches(
    client: FlaskClient, log: PrecisionLog
) -> None:
    log.add([entry("own", 1.0), entry("none", 0.0), entry("none", 1.0)])
    text = seen(client, "/log").text
    assert "My own profile 1 1.00 – 1.00 –" in text
    assert "Plain 2 0.50 0.00 to 1.00 0.50 –" in text


def test_pools_and_corpora_are_never_mixed(client: FlaskClient, log: PrecisionLog) -> None:
    log.add([entry("group", 0.5, pool=50), entry("group", 0.1, pool=1000)])
    log.add([entry("group", 0.9, corpus="wiki"), entry("group", 0.1, corpus="news")])
    text = seen(client, "/log").text
    assert text.index("Pool of 50, by cosine toy") < text.index("Pool of 1,000, by cosine toy")
    news, wiki = (f"Pool of 100, by cosine {corpus}, toy" for corpus in ("news", "wiki"))
    assert text.index(news) < text.index(wiki)
    assert "0.90 – wiki, toy" in text.partition("Latest searches")[2]


def searched(log: PrecisionLog, count: int = 1) -> None:
    for _ in range(count):
        log.add([entry("none", 0.2), entry("own", 1.0), entry("group", 0.6)])


def test_pictures_tell_the_means_and_the_differences_in_pairs(
    client: FlaskClient, log: PrecisionLog
) -> None:
    searched(log, 20)
    page = seen(client, "/log")
    assert len(page.all("polyline", "line")) == 2 * 3  # each with its sample in the legend
    assert len(page.all("circle", "dot")) == 2 * 3 + 2  # two points of ten, and two differences
    assert "+0.40 My group − Plain" in page.text
    assert "+0.40 My own profile − My group" in page.text
    assert "Of 20 searches, the AP is higher by more than 0.05 in 20, lower in 0, and" in page.text


def test_the_log_is_filtered_by_links(client: FlaskClient, log: PrecisionLog) -> None:
    log.add([entry("group", 0.9, pool=50)])
    log.add([entry("group", 0.13, pool=1000)])
    page = seen(client, "/log?pool=50")
    assert "Pool of 50, by cosine toy" in page.text
    assert "Pool of 1,000, by cosine toy" not in page.text
    assert "0.13" not in page.text.partition("Latest searches")[2]
    assert "/log?pool=1000" in [link["href"] for link in page.all("a")]
    assert "The log has no search of this kind" in seen(client, "/log?pool=7").text
    for wrong in ("pool=0", "pool=x"):
        assert client.get(f"/log?{wrong}").status_code == 400


def test_a_further_release_has_its_own_lines(client: FlaskClient, log: PrecisionLog) -> None:
    log.add([entry("none", 0.2), entry("group", 0.4), entry("group:km", 0.3)])
    text = seen(client, "/log").text
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


def test_where_people_are_real_times_are_told_to_the_day(private: Site, log: PrecisionLog) -> None:
    searched(log, 20)
    operator = signed_in(private, ADMIN_TOKEN)
    assert list(csv.reader(operator.get("/log.csv").text.splitlines()))[1][1] == "2027-01-15"
    text = seen(operator, "/log").text
    assert "2027-01-15" in text
    assert "08:00" not in text


def test_only_the_operator_sees_single_searches_of_real_people(
    private: Site, log: PrecisionLog
) -> None:
    """The means of 19 searches are of too few; those of 20 have two decimals."""
    served = {"group": "p-linkability p=0.4 0123abcd", "own": "p-linkability p=0.4 89abcdef"}
    for n in range(20):
        ap = 0.1234567890123456 + n / 100
        log.add([entry("group", ap)._replace(release=served["group"])])
        if n:
            log.add([entry("own", ap)._replace(release=served["own"])])
    operator = signed_in(private, ADMIN_TOKEN)
    for client in (signed_in(private, private.store.new_code("1001")), operator):
        single = client is operator
        answer: Any = client.get("/api/v1/log").json
        assert client.get("/log.csv").status_code == (200 if single else 403)
        assert len(answer["recent"]) == 39 * single
        means = {mean["mode"]: mean for mean in answer["means"]}
        assert set(means) == ({"group", "own"} if single else {"group"})
        ap, release = means["group"]["ap"], means["group"]["release"]
        if not single:
            assert (ap, release) == (0.22, "p-linkability p=0.4")
            assert client.get(f"/api/v1/log?release={served['group']}").json["means"] == []
        page = seen(client, "/log")
        assert ("Latest searches" in page.text) is single
        assert ("In pictures" in page.text) is single
        assert ("0123abcd" in page.text) is ("log.csv" in str(page.all("a"))) is single
        assert ("Single lines are for the operator." in page.text) is not single


def test_an_interval_over_few_real_people_is_for_the_operator(
    private: Site, log: PrecisionLog
) -> None:
    """Twenty searches are of nineteen people; the next one is of a twentieth."""
    client, operator = (
        signed_in(private, code) for code in (private.store.new_code("1001"), ADMIN_TOKEN)
    )

    def half(of: FlaskClient) -> Any:
        answer: Any = of.get("/api/v1/log").json
        return answer["means"][0]["half_width"]

    for n in range(20):
        log.add([entry("group", n / 40)], f"{max(n, 1)}", n)
    assert (half(client), half(operator) is None) == (None, False)
    assert "My group 20 0.24 –" in seen(client, "/log").text
    log.add([entry("group", 0.5)], "another", 1)
    assert half(client) == round(half(operator), 2) > 0

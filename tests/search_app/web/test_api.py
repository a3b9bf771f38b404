"""The API: the pages' answers as records, each as its schema says."""

from __future__ import annotations

from flask.testing import FlaskClient

API = "/api/v1"


def test_a_page_of_a_ranking_is_told(client: FlaskClient) -> None:
    answer = client.get(f"{API}/search?q=java&user=1003&mode=group&page=2").json
    assert (answer["mode"], answer["page"], answer["pages"], answer["found"]) == ("group", 2, 4, 40)
    assert answer["row"] == {"name": "g0002", "users": 1}
    assert answer["notices"] == []
    # Ada's row wants code: the odd rows first, 1, 3, ... 39; rank 11 is row 21.
    first = answer["results"][0]
    assert (first["rank"], first["plain_rank"], first["id"]) == (11, 22, "doc21")
    assert first["score"] == 1.0
    assert [result["rank"] for result in answer["results"]] == list(range(11, 21))

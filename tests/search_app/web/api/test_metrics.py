"""Figures for Prometheus, read by its own client's parser; none of them tells a person or query."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from search_app.web import Site, create_app
from search_app.web.api.metrics import BOUNDS, RequestKind, RequestTimes

from ..conftest import ADMIN_TOKEN, PEOPLE, signed_in

ELSEWHERE = {"REMOTE_ADDR": "192.0.2.7"}
SECONDS = "veilsearch_request_seconds"


def read(client: FlaskClient, **request: Any) -> dict[str, dict[tuple[str, ...], float]]:
    """Return the values by sample and labels, as Prometheus reads them."""
    answer = client.get("/metrics", **request)
    assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
    return parsed(answer.text)


def parsed(text: str) -> dict[str, dict[tuple[str, ...], float]]:
    values: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(text):
        assert family.type in ("gauge", "histogram")
        assert family.documentation
        for sample in family.samples:
            series = values.setdefault(sample.name, {})
            assert tuple(sample.labels.values()) not in series
            series[tuple(sample.labels.values())] = sample.value
    return values


def test_requests_are_counted_by_route_method_and_status(client: FlaskClient) -> None:
    paths = ["/?q=java", "/?q=coffee", "/?q=java&page=0", "/groups/g0001", "/groups/g9", "/nothing"]
    for path in paths:
        client.get(path)
    client.open("/about", method="MADE-UP")
    client.get("/about", headers={"Host": "evil.example"})
    client.put("/api/v1/profile/choices?user=1001", json={})
    client.post("/api/v1/profile/leave-group?user=1001", json={})
    client.get("/me/forgotten")
    counts = read(client)[f"{SECONDS}_count"]
    assert counts == {
        ("/", "GET", "200"): 2,
        ("/", "GET", "400"): 1,
        ("/groups/<row>", "GET", "200"): 1,
        ("/groups/<row>", "GET", "404"): 1,
        ("", "", "404"): 1,
        ("", "", "405"): 1,
        ("/about", "GET", "400"): 1,
        ("/api/v1/profile", "", "400"): 1,  # nobody learns how many leave
        ("/api/v1/profile", "", "503"): 1,
        ("/me", "", "200"): 1,
    }
    assert read(client)[f"{SECONDS}_count"]["/metrics", "GET", "200"] == 1


def test_a_fault_of_the_index_is_counted_with_its_status(client: FlaskClient, index: Any) -> None:
    index.broken = True
    client.get("/?q=java")
    assert read(client)[f"{SECONDS}_count"]["/", "GET", "503"] == 1


def test_the_times_are_a_histogram() -> None:
    times, one = RequestTimes(), RequestKind('/a"\\\n<b>', "GET", "200")
    for seconds in (0.001, 0.005, 0.006, 0.3, 60.0):
        times.note(one, seconds)
    values = parsed(
        "\n".join((f"# HELP {SECONDS} x", f"# TYPE {SECONDS} histogram", *times.lines()))
    )
    series = {labels[-1]: value for labels, value in values[f"{SECONDS}_bucket"].items()}
    twin = {str(bound): sum(s <= bound for s in (0.001, 0.005, 0.006, 0.3, 60)) for bound in BOUNDS}
    assert series == {**twin, "+Inf": 5}
    assert values[f"{SECONDS}_count"] == {tuple(one): 5}
    assert values[f"{SECONDS}_sum"][tuple(one)] == pytest.approx(60.312)


def test_threads_lose_no_request() -> None:
    times, one = RequestTimes(), RequestKind("/", "GET", "200")
    work = [threading.Thread(target=lambda: [times.note(one, 1) for _ in range(500)]) for _ in "ab"]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert list(times.lines())[-1].endswith(" 1000")


def test_what_is_served_is_told(client: FlaskClient, site: Site) -> None:
    values = read(client)
    health = client.get("/api/v1/health").json
    names = (health["version"], health["index"], health["release"])
    assert values["veilsearch_info"] == {names: 1}
    assert values["veilsearch_documents"] == {(): 40}
    assert values["veilsearch_stopped"] == {(): 0}
    stopped = create_app(site.stop()).test_client()
    assert read(stopped)["veilsearch_stopped"] == {(): 1}


def test_no_person_and_no_query_is_told(private: Site) -> None:
    client = signed_in(private, private.store.new_code("1001"))
    for path in (
        "/?q=needle",
        "/me",
        "/groups/1001",
        "/documents/needle",
        "/needle",
        "/me?find=1001",
    ):
        client.get(path)
    client.open("/needle", method="NEEDLE")
    text = client.get("/metrics").text.lower()
    # Without the figures: an id may stand in one of them by chance.
    names = "\n".join(line.rpartition(" ")[0] for line in text.splitlines())
    assert "/documents/<path:doc>" in names
    assert not [word for word in ("needle", *PEOPLE) if word in names]


@pytest.fixture
def deployed(private: Site) -> Flask:
    named = replace(private.settings, hosts=("search.example.org",))
    return create_app(replace(private, settings=named))


def statuses(app: Flask, token: str = "", **request: Any) -> int:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers |= request.pop("headers", {})
    return app.test_client().get("/metrics", headers=headers, **request).status_code


def test_in_private_mode_it_is_for_this_machine_or_the_operator(
    deployed: Flask, private: Site
) -> None:
    private.store.new_code("1001")
    token = private.store.new_token("1001", "x") or ""
    proxied = {"Host": "search.example.org"}
    assert statuses(deployed) == 200
    assert statuses(deployed, environ_overrides={"REMOTE_ADDR": "::1"}) == 200
    assert statuses(deployed, environ_overrides=ELSEWHERE) == 401
    assert statuses(deployed, headers=proxied) == 401  # a proxy of this machine
    assert statuses(deployed, ADMIN_TOKEN, environ_overrides=ELSEWHERE) == 200
    assert statuses(deployed, ADMIN_TOKEN, headers=proxied) == 200
    for wrong in (token, ADMIN_TOKEN[:-1], "x"):
        assert statuses(deployed, wrong, environ_overrides=ELSEWHERE) == 401
    person = deployed.test_client()
    person.post("/sign-in", data={"code": private.store.new_code("1001")})
    assert person.get("/metrics", environ_overrides=ELSEWHERE).status_code == 401
    operator = deployed.test_client()
    operator.post("/sign-in", data={"code": ADMIN_TOKEN})
    assert operator.get("/metrics", environ_overrides=ELSEWHERE).status_code == 200
    without = create_app(replace(private, admin_token=""))
    assert statuses(without, environ_overrides=ELSEWHERE) == 401


def test_guesses_of_the_operator_s_token_are_limited(deployed: Flask) -> None:
    asked = [statuses(deployed, f"{at}", environ_overrides=ELSEWHERE) for at in range(6)]
    assert asked == [401] * 5 + [429]
    assert statuses(deployed, ADMIN_TOKEN, environ_overrides=ELSEWHERE) == 429
    assert statuses(deployed, ADMIN_TOKEN, environ_overrides={"REMOTE_ADDR": "192.0.2.8"}) == 200


@pytest.mark.parametrize("access", ["demo", "plain"])
def test_elsewhere_it_is_open(site: Site, access: str) -> None:
    client = create_app(replace(site, access=access)).test_client()
    assert read(client, environ_overrides=ELSEWHERE)["veilsearch_documents"] == {(): 40}

"""How often a client may ask; time is a number here, and nobody sleeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from flask import Flask, g, request
from flask.testing import FlaskClient

from search_app.settings import Settings
from search_app.web import Site, create_app
from search_app.web.visitors.access import Visitor
from search_app.web.visitors.limits import OPEN, Buckets, network


@pytest.mark.parametrize(
    ("rate", "asked", "waits"),
    [
        (2.0, [100.0] * 8, [0] * 8),  # four seconds' worth at once
        (2.0, [*[100.0] * 9, 100.25, 100.5, 100.5], [*[0] * 8, 0.5, 0.25, 0, 0.5]),
        (1.0, [0.0, *[1e9] * 5], [0, 0, 0, 0, 0, 1]),  # a bucket holds no more
        (0.25, [100.0, 50.0, 54.0], [0, 4, 0]),  # a clock set back fills and drains nothing
    ],
)
def test_four_seconds_worth_may_come_at_once_and_then_the_rate(
    rate: float, asked: list[float], waits: list[float]
) -> None:
    limits = Buckets(rate)
    assert [limits.take("a", now) for now in asked] == waits


def test_the_clients_kept_are_bounded_and_the_oldest_go() -> None:
    limits = Buckets(0.25, clients=2)
    assert [limits.take(client, 0.0) for client in "abac"] == [0, 0, 4, 0]
    assert list(limits._buckets) == ["a", "c"]


@pytest.mark.parametrize(
    ("address", "known"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        (None, ""),
        ("unknown", ""),
    ],
)
def test_addresses_are_told_apart_by_household(address: str | None, known: str) -> None:
    assert network(address) == known


class Clock:
    """Stands until it is set."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def strict(site: Site, clock: Clock) -> Callable[[str], Flask]:
    """Make the application of a mode, with one request each two seconds, two at once."""

    def make(access: str) -> Flask:
        chosen = replace(site, access=access, settings=Settings(rate=0.5), clock=clock)
        return create_app(chosen)

    return make


def statuses(client: FlaskClient, times: int, path: str = "/about", **how: object) -> list[int]:
    found = []
    for _ in range(times):
        with client.get(path, **how) as answer:  # type: ignore[arg-type]
            found.append(answer.status_code)
    return found


def test_who_asks_too_often_is_told_when_to_come_back(
    strict: Callable[[str], Flask], clock: Clock
) -> None:
    client = strict("private").test_client()
    assert statuses(client, 2) == [200, 200]
    refused = client.get("/about")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "2")
    assert "wait 2 s and try again" in refused.text
    assert refused.headers["Cache-Control"] == "no-store"
    machine = client.get("/api/v1/health")
    assert (machine.status_code, machine.is_json) == (429, True)
    assert statuses(client, 3, "/static/style.css") == [200] * 3  # they cost nothing
    other = {"REMOTE_ADDR": "192.0.2.9"}
    assert statuses(client, 1, environ_overrides=other) == [200]
    clock.now += 2
    assert statuses(client, 2) == [200, 429]


@pytest.mark.parametrize(
    ("access", "others", "last"),
    [("demo", False, 200), ("demo", True, 200), ("plain", False, 200), ("plain", True, 429)],
)
def test_ones_own_machine_is_not_limited(
    strict: Callable[[str], Flask], access: str, others: bool, last: int
) -> None:
    app = strict(access)
    app.config[OPEN] = others
    assert statuses(app.test_client(), 3) == [200, 200, last]


def test_no_rate_is_no_limit(site: Site) -> None:
    free = replace(site, access="private", settings=Settings(rate=0))
    assert statuses(create_app(free).test_client(), 100) == [200] * 100


@pytest.fixture
def household(strict: Callable[[str], Flask]) -> FlaskClient:
    """Several people behind one address, signed in with a cookie that is their name."""
    app = strict("private")

    def know() -> None:
        name = request.headers.get("Cookie", "")
        g.visitor = Visitor("" if name in ("admin", "bad") else name, name == "admin")

    app.before_request_funcs[None].insert(-1, know)
    return app.test_client(use_cookies=False)


def test_people_behind_one_address_do_not_stand_in_each_others_way(
    household: FlaskClient, clock: Clock
) -> None:
    for name in ("1001", "1002", "admin"):
        clock.now += 4
        assert statuses(household, 3, headers={"Cookie": name}) == [200, 200, 429]
        assert statuses(household, 3) == [200, 200, 429]


def test_a_cookie_of_nobody_is_the_address(household: FlaskClient) -> None:
    assert statuses(household, 3, headers={"Cookie": "bad"}) == [200, 200, 429]
    assert statuses(household, 1) == [429]


def test_a_person_is_one_client_wherever_they_are(household: FlaskClient) -> None:
    found = [
        household.get(
            "/about", headers={"Cookie": "1001"}, environ_overrides={"REMOTE_ADDR": f"192.0.2.{at}"}
        ).status_code
        for at in range(3)
    ]
    assert found == [200, 200, 429]

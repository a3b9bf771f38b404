"""Which site a request is served from, and when a former one is closed."""

from __future__ import annotations

import gc
import threading
import weakref
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from search_app.errors import UsageError
from search_app.web import Live, Site, create_app
from search_app.web.site import STOPPED


class Closed(list[str]):
    """Notes which sites were closed."""

    def site(self, site: Site, name: str, **changes: Any) -> Site:
        return replace(site, build=name, close=lambda: self.append(name), **changes)


@pytest.fixture
def closed() -> Closed:
    return Closed()


def test_a_former_site_is_closed_once_when_nobody_uses_it(site: Site, closed: Closed) -> None:
    first, second = closed.site(site, "first"), closed.site(site, "second")
    live = Live(first)
    borrowed = [live.borrow(), live.borrow()]
    live.switch(second)
    assert borrowed == [first, first]
    assert live.borrow() is second
    assert live.close_unused() == 0
    live.give_back(first)
    assert (live.close_unused(), closed) == (0, [])
    live.give_back(first)
    assert (live.close_unused(), closed) == (1, ["first"])
    live.give_back(second)
    assert (live.close_unused(), closed) == (0, ["first"])


def test_a_site_that_was_passed_over_is_closed_too(site: Site, closed: Closed) -> None:
    live = Live(closed.site(site, "first"))
    live.switch(closed.site(site, "second"))
    live.switch(closed.site(site, "third"))
    assert live.close_unused() == 2
    assert sorted(closed) == ["first", "second"]


def test_a_site_stops_while_it_is_used_and_its_files_close_once(site: Site, closed: Closed) -> None:
    live = Live(closed.site(site, "first"))
    client, borrowed = create_app(live).test_client(), live.borrow()
    assert client.get("/?q=java&user=1001").status_code == 200
    live.fail()
    live.fail()
    for path in ("/?q=java&user=1001", "/me?user=1001", "/groups"):
        answer = client.get(path)
        assert (answer.status_code, STOPPED in answer.text) == (503, True), path
    live.give_back(borrowed)
    assert (live.close_unused(), closed) == (1, [])
    live.switch(closed.site(site, "second"))
    assert (live.close_unused(), closed) == (1, ["first"])


def test_nothing_is_noted_of_a_site_that_was_replaced_as_soon_as_it_was_borrowed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = Live(site)
    client, borrow = create_app(live).test_client(), live.borrow
    client.get("/?q=java&user=1001")
    assert site.transcripts.of("1001").keys() == {"none", "own", "group"}

    def borrow_just_before_an_update() -> Site:
        borrowed = borrow()
        live.switch(replace(site))
        return borrowed

    monkeypatch.setattr(live, "borrow", borrow_just_before_an_update)
    client.get("/?q=java&user=1001")
    assert site.transcripts.of("1001") == {}


def test_a_request_keeps_its_site_to_its_end(
    site: Site, closed: Closed, index: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = threading.Event(), threading.Event()
    pool = index.pool

    def slow(*arguments: Any, **options: Any) -> Any:
        asked.set()
        assert go_on.wait(10)
        return pool(*arguments, **options)

    monkeypatch.setattr(index, "pool", slow)
    live = Live(closed.site(site, "first"))
    client, pages = create_app(live).test_client(), list[str]()
    thread = threading.Thread(target=lambda: pages.append(client.get("/?q=java&user=1001").text))
    thread.start()
    assert asked.wait(10)
    live.switch(closed.site(site, "second", people={"7": "Zoe · tea"}))
    assert live.close_unused() == 0
    go_on.set()
    thread.join()
    assert "Mira" in pages[0]
    assert "Zoe" not in pages[0]
    assert (live.close_unused(), closed) == (1, ["first"])
    page = create_app(live).test_client().get("/?q=java").text
    assert "Mira" not in page
    assert "Zoe" in page


def test_whatever_fails_after_an_update_the_new_site_is_served(
    site: Site, closed: Closed, caplog: pytest.LogCaptureFixture
) -> None:
    followed: list[Site] = []

    def fail(_site: Site) -> None:
        raise UsageError("people.sqlite names Mira")

    live = Live(closed.site(site, "first"))
    live.switched += [fail, followed.append]
    live.switch(second := closed.site(site, "second"))
    assert followed == [second]
    assert live.now is second
    assert "after an update: UsageError" in caplog.text
    assert "Mira" not in caplog.text


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize(
    "path", ["/", "/?q=java", "/?q=java&page=0", "/missing", "/static/style.css", "/log", "/about"]
)
def test_every_answer_gives_its_site_back(
    site: Site, closed: Closed, index: Any, path: str, broken: bool
) -> None:
    index.broken = broken  # a search is a fault then
    live = Live(closed.site(site, "first"))
    client = create_app(live).test_client()
    client.get(path).close()
    client.get(path, headers={"Host": "evil.example"}).close()
    live.switch(closed.site(site, "second"))
    assert live.close_unused() == 1


def test_nothing_holds_on_to_a_former_site(site: Site) -> None:
    live = Live(replace(site, build="first"))
    client: FlaskClient = create_app(live).test_client()
    client.get("/?q=java&user=1001")
    former = weakref.ref(live.now)
    live.switch(replace(site, build="second"))
    live.close_unused()
    gc.collect()
    assert former() is None

"""Following a workspace: what is opened when, what is said, and what stays as it was."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from index.model import SearchError
from search_app.accounts.store import PeopleStore
from search_app.accounts.transcripts import Transcripts
from search_app.errors import UsageError
from search_app.search.modes import Modes
from search_app.search.request import Request
from search_app.server import following
from search_app.server.following import Follower
from search_app.settings import Settings
from search_app.web import Live, Site
from search_app.workspace.folder import Workspace
from search_app.workspace.opening import TRIES, as_of_one_moment


class Opener:
    """Opens sites that are names, and fails when told to."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.opened = 0
        self.fault: Exception | None = None
        self.closed: list[str] = []
        self.noted = Transcripts()  # one for all sites, as where they are served

    def __call__(self) -> Site:
        self.opened += 1
        if self.fault:
            raise self.fault
        name = f"corpus.{self.opened:04}"
        return replace(
            Site(
                modes=Modes(cast(Any, {}), None, None),  # only `clear` is called of the engine
                log=cast(Any, None),
                settings=Settings(),
                people={},
                clock=lambda: 0.0,
                release_name="",
            ),
            build=name,
            state=self.workspace.stamp(),
            transcripts=self.noted,
            close=lambda: self.closed.append(name),
        )


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path)
    workspace.make_current(index="first")
    return workspace


class World:
    """A workspace, the site that is live, and what follows it and says so."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace, self.opener, self.said = workspace, Opener(workspace), list[str]()
        self.live = Live(self.opener())
        self.follower = Follower(self.live, workspace, self.opener, self.said.append)


@pytest.fixture
def world(workspace: Workspace) -> World:
    return World(workspace)


def test_an_update_is_opened_once_and_the_former_site_closed(world: World) -> None:
    world.workspace.make_current(index="second")
    for _ in range(3):
        world.follower.look()
    assert (world.opener.opened, world.live.now.build, world.opener.closed) == (
        2,
        "corpus.0002",
        ["corpus.0001"],
    )
    assert world.said == ["The workspace was updated; served from now on: corpus.0002"]


def test_what_cannot_be_opened_is_tried_again_ever_later_and_said_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, tries = 1000.0, []
    monkeypatch.setattr(following.time, "monotonic", lambda: now)
    world.opener.fault = SearchError("/srv/secret holds a fault of user 1001")
    world.workspace.make_current(index="second")
    for _ in range(400):
        before = world.opener.opened
        world.follower.look()
        if world.opener.opened > before:
            tries.append(now - 1000)
        now += 0.5
    # Pauses of 0.5, 1, 2, 4 ... 32 seconds, then of 60.
    assert tries == [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 63.5, 123.5, 183.5]
    assert world.live.now.build == "corpus.0001"
    [line] = world.said
    assert "can't be opened (SearchError). Every search is in plain order until" in line
    assert "secret" not in line
    assert "1001" not in line
    world.opener.fault = None
    now += 60
    world.follower.look()
    assert world.live.now.build != "corpus.0001"
    assert len(world.said) == 2
    world.follower.look()
    assert world.opener.closed == ["corpus.0001"]  # once, though two sites had its files


def test_the_next_update_is_tried_at_once(world: World) -> None:
    world.opener.fault = ValueError("whatever")
    world.workspace.make_current(index="second")
    world.follower.look()
    world.opener.fault = None
    world.workspace.make_current(index="third")
    world.follower.look()
    assert world.live.now.build == "corpus.0003"


def test_it_goes_on_following_whatever_fails(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed terminal, a site that can't be closed, a fault of our own."""
    monkeypatch.setattr(following, "EVERY", 0.01)
    told: list[str] = []

    def say(text: str) -> None:
        told.append(text)
        raise BrokenPipeError

    def stuck() -> Site:
        def refuse() -> None:
            raise ValueError("of user 1001")

        return replace(world.opener(), close=refuse)

    world.follower = Follower(world.live, world.workspace, stuck, say)
    world.follower.start()
    for number in (2, 3, 4):  # corpus.0002 and 0003 can't be closed
        world.workspace.make_current(index=f"v{number}")
        end = time.monotonic() + 300
        while world.live.now.build != f"corpus.{number:04}":
            assert time.monotonic() < end, f"{number} is never served"
            time.sleep(0.01)
    world.follower.stop()
    assert not world.follower._thread.is_alive()
    assert world.opener.closed == ["corpus.0001"]
    assert [line for line in told if "ValueError" in line] == [
        "Following the workspace failed (ValueError); it is tried again"
    ]


def test_a_site_that_can_not_be_closed_keeps_no_other_open(world: World) -> None:
    def refuse() -> None:
        raise ValueError("stuck")

    for site in (replace(world.opener(), close=refuse), world.opener(), world.opener()):
        world.live.switch(site)
    with pytest.raises(ValueError, match="stuck"):
        world.live.close_unused()
    assert sorted(world.opener.closed) == ["corpus.0001", "corpus.0003"]
    assert world.live.close_unused() == 0


def test_a_server_that_could_not_know_what_it_missed_serves_again_once_it_knows(
    world: World, tmp_path: Path
) -> None:
    """Somebody was forgotten elsewhere, and PostgreSQL is lost just then."""
    here, elsewhere = (PeopleStore(tmp_path / "people.sqlite") for _ in range(2))
    known = False

    def refuse() -> None:
        if not known:
            raise UsageError("PostgreSQL can't be used")

    world.live.switch(replace(world.live.now, store=here, refuse_copy=refuse))
    elsewhere.forget("u1")
    world.follower.look()
    assert world.live.now.stopped
    world.opener.fault = UsageError("PostgreSQL can't be used")
    for _ in range(2):
        world.follower.look()
    assert world.live.now.stopped
    assert len(world.said) == 1
    known, world.opener.fault = True, None
    world.follower.follow_now()
    assert not world.live.now.stopped


# -- one moment ----------------------------------------------------------------------------------


def test_what_was_replaced_while_it_was_read_is_read_again(workspace: Workspace) -> None:
    changes, discarded = iter(["second", "third"]), list[str]()

    def read() -> str:
        found = workspace.current().index
        if change := next(changes, None):
            workspace.make_current(index=change)
        return found

    assert as_of_one_moment(workspace, read, discarded.append) == "third"
    assert discarded == ["first", "second"]


@pytest.mark.parametrize("fault", [SearchError, UsageError, OSError])
def test_what_was_removed_while_it_was_read_is_read_again(
    workspace: Workspace, fault: type[Exception]
) -> None:
    def read() -> str:
        if workspace.current().index == "first":
            workspace.make_current(index="second")
            raise fault("first is gone")
        return workspace.current().index

    assert as_of_one_moment(workspace, read) == "second"


def test_a_fault_of_what_is_current_is_a_fault(workspace: Workspace) -> None:
    tries = 0

    def read() -> None:
        nonlocal tries
        tries += 1
        raise SearchError("damaged")

    with pytest.raises(SearchError, match="damaged"):
        as_of_one_moment(workspace, read)
    assert tries == 1


def test_a_workspace_that_never_rests_is_given_up(workspace: Workspace) -> None:
    discarded = []

    def read() -> int:
        workspace.make_current(index=f"v{len(discarded)}")
        return len(discarded)

    with pytest.raises(UsageError, match=f"was updated {TRIES} times while it was read; try again"):
        as_of_one_moment(workspace, read, discarded.append)
    assert discarded == list(range(TRIES))


def test_told_to_follow_at_once_it_tries_again_and_says_what_is_served_until_then(
    world: World,
) -> None:
    world.opener.fault = SearchError("of user 1001")
    world.workspace.make_current(index="second")
    for tries in (2, 3):
        with pytest.raises(UsageError, match="searches in plain order only") as raised:
            world.follower.follow_now()
        assert world.opener.opened == tries
        assert "1001" not in str(raised.value)
    world.opener.fault = None
    world.follower.follow_now()
    assert world.live.now.build == "corpus.0004"


def test_two_threads_open_one_update_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The follower's own look and one that is asked for, at the same moment."""
    opened = Opener.__call__

    def slow(self: Opener) -> Site:
        time.sleep(0.2)
        return opened(self)

    monkeypatch.setattr(Opener, "__call__", slow)
    world.workspace.make_current(index="second")
    threads = [
        threading.Thread(target=look) for look in (world.follower.look, world.follower.follow_now)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert world.opener.opened == 2


@pytest.mark.parametrize("fault", [None, ValueError("it can't be opened")])
def test_what_was_noted_before_an_update_is_not_kept(world: World, fault: Exception | None) -> None:
    noted = world.live.now.transcripts
    noted.note("1001", "none", Request("java", 10), noted.generation)
    under_way = noted.generation
    world.opener.fault = fault
    world.workspace.make_current(index="second")
    world.follower.look()
    assert noted.of("1001") == {}
    noted.note("1001", "none", Request("java", 10), under_way)
    assert noted.of("1001") == {}

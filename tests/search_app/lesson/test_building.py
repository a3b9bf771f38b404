"""The dial's releases are made by a process of their own, after the first page, and whole."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from search_app.lesson.building import Building
from search_app.settings import load_settings
from search_app.workspace.folder import Workspace

PLAN = {
    "new": ("pooled", {"p": "0.5"}),
    "endless": ("composition", {"p": "0.5", "steps": "100000000000"}),
}


def test_nothing_is_made_before_the_first_page_and_nothing_is_left_of_a_killed_build(
    workspace: Path,
) -> None:
    messages: list[str] = []
    served, dial = threading.Event(), workspace / "dial"
    under_way = Building(load_settings(workspace), PLAN, messages.append)
    before = {path.name for path in dial.iterdir()}
    with under_way.after(served):
        assert len(under_way.waiting()) == 2
        served.set()
        end = time.monotonic() + 120
        while len(under_way.waiting()) == 2 and time.monotonic() < end:
            time.sleep(0.1)
    assert {path.name for path in dial.iterdir()} - before == {"new"}
    assert under_way.waiting() == ()
    assert messages == []  # an end on purpose is no fault
    with Workspace(workspace).writing("forget"):
        pass  # it holds the workspace no longer


def test_a_server_that_shows_no_page_makes_nothing(workspace: Path) -> None:
    with Building(load_settings(workspace), PLAN, print).after(threading.Event()):
        pass
    assert not (workspace / "dial" / "new").exists()

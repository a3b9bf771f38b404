"""Which releases are stops: those of the current profiles, and of nobody who was forgotten."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from anonymizer.model import Profiles
from anonymizer.storage.changes import people_named
from anonymizer.storage.parts import read_cohorts
from search_app.forgetting.person import forget
from search_app.lesson import building
from search_app.lesson.building import Building, make_missing
from search_app.server.opening import Serving
from search_app.settings import load_settings
from search_app.web import Live, Site
from search_app.workspace.folder import Workspace

from .conftest import STOPS, USERS

PLAN = {"new": ("pooled", {"p": "0.5"}), "more": ("p-linkability", {"p": "0.4"})}
GONE = USERS[0]


@pytest.fixture
def site(workspace: Path) -> Site:
    return open_site(workspace)


def open_site(root: Path) -> Site:
    return Serving(load_settings(root), print).open()


def dial_of(site: Site) -> set[str]:
    return {name.removeprefix("dial/") for name in site.dial.now().further}


def named(folder: Path) -> set[str]:
    return set(people_named(read_cohorts(folder)))


def test_releases_come_and_go_while_a_site_is_open(site: Site, workspace: Path) -> None:
    assert dial_of(site) == {*STOPS}
    before = site.dial.now()
    assert site.dial.now() is before
    shutil.move(workspace / "dial" / "paper", workspace.parent / "paper")
    assert dial_of(site) == {*STOPS} - {"paper"}
    shutil.move(workspace.parent / "paper", workspace / "dial" / "again")
    assert dial_of(site) == {*STOPS, "again"} - {"paper"}
    (workspace / "dial" / "again" / "rows.jsonl").write_text("damaged\n")
    (workspace / "dial" / "again").rename(workspace / "dial" / "damaged")
    assert dial_of(site) == {*STOPS} - {"paper"}
    assert site.modes.further == {}  # a page that compares does not list them


def test_a_release_of_the_dial_that_is_in_use_is_one_stop(workspace: Path) -> None:
    Workspace(workspace).make_current(release="dial/paper")
    assert dial_of(open_site(workspace)) == {*STOPS, "release"} - {"paper"}


def test_the_first_page_has_the_machine_to_itself(site: Site) -> None:
    live = Live(site)
    live.settle()
    assert site.dial.known == ()
    live.give_back(live.borrow())
    live.settle()
    assert len(site.dial.known) == 2 + len(STOPS)


def test_a_release_of_other_profiles_is_no_stop(site: Site, workspace: Path) -> None:
    path = workspace / "dial" / "paper" / "release.json"
    made = json.loads(path.read_text())
    path.write_text(json.dumps({**made, "input_hash": "0" * 64}))
    assert dial_of(site) == {*STOPS} - {"paper"}


def test_after_a_forgetting_no_stop_knows_the_person(site: Site, workspace: Path) -> None:
    dial_of(site)
    forget(Workspace(workspace), load_settings(workspace), {GONE})
    # The former site has other profiles than what is there now.
    assert dial_of(site) == set()
    now = open_site(workspace)
    assert dial_of(now) == {*STOPS}
    for name in STOPS:
        assert GONE not in named(workspace / "dial" / name)
        assert GONE not in now.dial.now().further[f"dial/{name}"].users
    assert all(GONE not in one.attacker.profiles.users for one in now.dial.readings(now.dial.now()))
    texts = (path.read_bytes() for path in (workspace / "dial").rglob("*") if path.is_file())
    assert all(GONE.encode() not in text for text in texts)


def test_what_is_missing_is_made_once(workspace: Path, site: Site) -> None:
    settings = load_settings(workspace)
    under_way = Building(settings, PLAN, print)
    assert under_way.waiting() == ("new", "more")
    make_missing(settings, PLAN)
    assert under_way.waiting() == ()
    assert dial_of(site) == {*STOPS, *PLAN}
    stamps = {name: (workspace / "dial" / name).stat().st_ino for name in PLAN}
    make_missing(settings, PLAN)
    assert {name: (workspace / "dial" / name).stat().st_ino for name in PLAN} == stamps


def test_who_is_forgotten_meanwhile_is_in_no_release(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, made_by, made = load_settings(workspace), building.released, 0

    def released(*arguments: object, **how: object) -> object:
        nonlocal made
        made += 1
        if made == 1:
            forget(Workspace(workspace), settings, {GONE})
        return made_by(*arguments, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(building, "released", released)
    monkeypatch.setattr(building, "_PAUSE", 0)
    make_missing(settings, {"new": PLAN["new"]})
    assert made == 2
    assert GONE not in named(workspace / "dial" / "new")


def test_a_workspace_in_use_is_waited_for(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, waited, runs = load_settings(workspace), 0, counted(monkeypatch)

    def sleep(_seconds: float) -> None:
        nonlocal waited
        waited += 1
        if waited == 2:
            holder.__exit__(None, None, None)

    monkeypatch.setattr(building.time, "sleep", sleep)
    holder = Workspace(workspace).writing("profiles")
    holder.__enter__()
    make_missing(settings, {"new": PLAN["new"]})
    assert (waited, runs) == (2, ["pooled"])  # the method need not run again
    assert (workspace / "dial" / "new").exists()


def test_one_that_cannot_be_made_keeps_no_other_from_being_made(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of another kind in its place, and a method that refuses its options."""
    runs = counted(monkeypatch)
    monkeypatch.setattr(building, "_PAUSE", 0)
    (workspace / "dial" / "new").mkdir()
    (workspace / "dial" / "new" / "mine.txt").write_text("mine")
    plan = {**PLAN, "wrong": ("pooled", {"p": "7"}), "last": ("pooled", {"p": "0.4"})}
    make_missing(load_settings(workspace), plan)
    assert Building(load_settings(workspace), plan, print).waiting() == ("new", "wrong")
    assert runs == ["pooled", "p-linkability", "pooled", "pooled"]  # no method runs twice


def test_two_demos_make_a_release_once(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, plan, made_by = load_settings(workspace), {"new": PLAN["new"]}, building.released
    ledger = workspace / "ledger.jsonl"
    before = ledger.read_text().count("\n")

    def released(*arguments: object, **how: object) -> object:
        monkeypatch.setattr(building, "released", made_by)
        make_missing(settings, plan)  # the other one is faster
        return made_by(*arguments, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(building, "released", released)
    make_missing(settings, plan)
    assert ledger.read_text().count("\n") == before + 1


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each run of a method adds its name."""
    made_by, runs = building.released, list[str]()

    def released(profiles: Profiles, method: str, *rest: Any, **how: Any) -> object:
        runs.append(method)
        return made_by(profiles, method, *rest, **how)

    monkeypatch.setattr(building, "released", released)
    return runs

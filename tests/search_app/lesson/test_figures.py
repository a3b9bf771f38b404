"""Each stop's figures are those that other pages and the attack give for its release alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from anonymizer.attacks import ATTACKS, Attacked
from anonymizer.attacks.learning import thirds
from anonymizer.methods import promise_of
from anonymizer.storage.profiles import read_profiles
from anonymizer.storage.releases import read_release
from search_app.server.opening import Serving
from search_app.settings import load_settings
from search_app.web import create_app
from search_app.workspace.folder import Workspace

from .conftest import STOPS, USERS

PLACES = {"group": "release", **{f"group:dial/{name}": f"dial/{name}" for name in STOPS}}
ASKED = "q=java&user={}"


@contextmanager
def opened(root: Path) -> Iterator[FlaskClient]:
    site = Serving(load_settings(root), print).open()
    yield create_app(site).test_client()
    site.close()


def json_of(client: FlaskClient, path: str) -> Any:
    with client.get(f"/api/v1/{path}") as answer:
        assert answer.status_code == 200, answer.text
        return answer.json


@pytest.fixture(scope="module")
def dial(dialled: Path) -> Iterator[FlaskClient]:
    with opened(dialled) as client:
        yield client


def stops(client: FlaskClient, user: str) -> dict[str, Any]:
    return {stop["mode"]: stop for stop in json_of(client, f"dial?{ASKED.format(user)}")["stops"]}


def test_every_release_is_a_stop_between_own_profile_and_nobody(dial: FlaskClient) -> None:
    found = [*stops(dial, USERS[0]).values()]
    assert [found[0]["mode"], found[-1]["mode"]] == ["own", "none"]
    assert {stop["mode"] for stop in found[1:-1]} == {*PLACES}
    means = [stop["mean"] for stop in found]
    assert means == sorted(means, reverse=True)
    assert (found[0]["right"], found[0]["people"]) == (12, 1)
    assert (found[-1]["guesses"], found[-1]["people"]) == ([], len(USERS))


@pytest.mark.parametrize("mode", PLACES)
def test_a_stop_is_what_a_site_of_its_release_alone_shows(
    mode: str, dial: FlaskClient, dialled: Path, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(dialled, tmp_path / "alone"))
    Workspace(root).make_current(release=PLACES[mode])
    with opened(root) as alone:
        for user in USERS[::5]:
            stop = stops(dial, user)
            compared = json_of(alone, f"compare?{ASKED.format(user)}")["columns"]
            for column, name in zip(compared, ("none", "own", mode), strict=True):
                assert stop[name]["ap"] == column["precision"]["ap"]
                shown = [result["id"] for result in stop[name]["results"]]
                assert shown == [result["id"] for result in column["results"]][: len(shown)]
            row = json_of(alone, f"groups/{compared[2]['row']['name']}")
            assert stop[mode]["people"] == row["summary"]["people"]


@pytest.mark.parametrize("mode", PLACES)
def test_guesses_are_right_as_often_as_the_attack_says(
    mode: str, dial: FlaskClient, dialled: Path
) -> None:
    profiles = read_profiles(dialled / "profiles.jsonl")
    release = read_release(dialled / PLACES[mode], promise_of)
    target = Attacked(profiles, release, known=(1,))
    figure = next(
        one
        for one in ATTACKS["inference"](target)
        if (one.known, one.measure) == (0, "column: precision of the 24 best guesses")
    )
    victims = [profiles.users[at] for at in target.drawn(thirds(target)[2]).tolist()]
    shown = [stops(dial, user) for user in victims]
    right = [stop[mode]["right"] / 24 for stop in shown]
    assert sum(right) / len(right) == pytest.approx(figure.value)
    for user, stop in zip(victims, shown, strict=True):
        own = profiles.row(user).keys()
        assert len(stop[mode]["guesses"]) == 24
        assert [guess["term"] in own for guess in stop[mode]["guesses"]] == [
            guess["right"] for guess in stop[mode]["guesses"]
        ]


def test_looking_writes_nothing(dial: FlaskClient) -> None:
    before = json_of(dial, "log")
    stops(dial, USERS[1])
    dial.get(f"/dial?{ASKED.format(USERS[1])}")
    assert json_of(dial, "log") == before
    assert "java" not in dial.get(f"/me?user={USERS[1]}").text

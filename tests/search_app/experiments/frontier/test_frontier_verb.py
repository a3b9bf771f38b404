"""`experiment frontier` on the toy world: attacked releases of several methods, and others'."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from search_app import cli
from search_app.experiments import kept_units
from search_app.experiments.pipeline import Measured

from ...conftest import Run
from ..toy_world import Place, bytes_of, told_in

BASELINES = """
[[variant]]
name = "baselines"
method = ""
modes = ["none"]
"""
DEFINITION = """
name = "toy-frontier"
report = "frontier"
[inputs]
size = 8
users = 12
queries_per_user = 2
least_hits = 60
victims = 12
[defaults]
modes = ["group", "group-evidence"]
pools = [60]
[[variant]]
name = "baselines"
method = ""
modes = ["none", "random", "average", "own"]
[[variant]]
name = "p-linkability"
method = "p-linkability"
parameters = { p = [0.6, 0.7] }
[[variant]]
name = "composition"
method = "composition"
parameters = { p = [0.4, 0.5] }
[[variant]]
name = "km-anonymity"
method = "km-anonymity"
parameters = { k = 2, m = 1 }
[[variant]]
name = "generalization"
method = "generalization"
parameters = { k = 3 }
"""


@pytest.fixture(scope="module")
def place(toy: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    definition = tmp_path_factory.mktemp("frontier") / "frontier.toml"
    definition.write_text(DEFINITION)
    return Place(toy.root, toy.log, definition)


def made(run: Run, place: Place, out: Path) -> Path:
    if not out.exists():
        run(*place.arguments(out))
    return out


def test_every_release_faces_the_same_attacks(run: Run, place: Place, whole: Path) -> None:
    out = made(run, place, whole)
    report = json.loads((out / "report.json").read_bytes())
    assert [figure["name"] for figure in report["figures"]] == [
        f"frontier-{axis}-60" for axis in ("precision", "person", "change")
    ]
    volumes, table = report["tables"]
    names = [row[0] for row in table["rows"]]
    assert names == [
        *("p-linkability p = 0.6", "p-linkability p = 0.7"),
        *("composition p = 0.4", "composition p = 0.5"),
        *("km-anonymity k = 2, m = 1", "generalization k = 3"),
    ]
    for row in table["rows"]:
        assert all(cell != "\u2013" for at, cell in enumerate(row[:-1]) if at != 14), row
    assert [row[0] for row in volumes["rows"]] == [
        *("p-linkability", "composition", "km-anonymity", "generalization")
    ]
    facts = {one["label"]: one["facts"] for one in units(out)}
    # Without an axis of the method's own: who has a row alone is named as often as the row.
    alone = facts["km-anonymity k=2 m=1"]
    assert alone["attack_person"] == pytest.approx(alone["attack_row"])
    assert alone["attack_row"] > 0.5
    for p in (0.4, 0.5):
        held = facts[f"composition p={p}"]
        assert held["attack_change"] <= p
        assert held["attack_person"] < held["attack_row"]
    (claim,) = report["claims"]
    assert (claim["name"], claim["verdict"]) == ("belief-is-bound", "holds")


def units(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "units.jsonl").read_bytes().splitlines()]


def test_a_killed_run_goes_on_and_makes_the_same_bytes(
    run: Run, place: Place, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bytes_of(made(run, place, whole))
    keep, kept = kept_units.keep, list[str]()

    def die(folder: Path, key: str, one: Measured) -> None:
        keep(folder, key, one)
        kept.append(key)
        if len(kept) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(kept_units, "keep", die)
    out = tmp_path / "out"
    run(*place.arguments(out), code=130)
    monkeypatch.undo()
    assert run.json(*place.arguments(out))["reused"] == 3
    assert bytes_of(out) == first


def own_code(people: dict[str, list[str]], folder: Path, size: int) -> Path:
    """Make rows of groups as they come, as somebody would who has never seen our code."""
    users = sorted(people)
    (folder / "private").mkdir(parents=True)
    with (
        (folder / "rows.jsonl").open("w") as rows,
        (folder / "private/members.jsonl").open("w") as members,
    ):
        for at in range(0, len(users), size):
            group = users[at : at + size]
            having = Counter(term for user in group for term in people[user])
            terms = {term: count / len(group) for term, count in having.items()}
            rows.write(json.dumps({"row": f"r{at}", "users": len(group), "terms": terms}) + "\n")
            members.writelines(json.dumps({"user": u, "row": f"r{at}"}) + "\n" for u in group)
    return folder


@pytest.fixture(scope="module")
def profiles(toy: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the profiles that the experiment makes, as anybody can make them."""
    path = tmp_path_factory.mktemp("published") / "profiles.jsonl"
    given = ["--size", "8", "--users", "12", "--test-share", "0.2", "-o", str(path)]
    assert cli.run(["--workspace", str(toy.root), "profiles", str(toy.log), *given]) == 0
    return path


@pytest.fixture(scope="module")
def mine(profiles: Path) -> Path:
    lines = map(json.loads, profiles.read_text().splitlines())
    people = {line["user"]: [*line["terms"]] for line in lines}
    return own_code(people, profiles.with_name("mine"), 4)


def test_rows_of_others_are_attacked(run: Run, mine: Path, profiles: Path) -> None:
    # They promise nothing, whatever they name as a parameter.
    (mine / "parameters.json").write_text('{"k": 5}')
    asked = ("attack", mine, "--against", profiles, "--known", "3")
    found = run.json(*asked)
    (mine / "parameters.json").unlink()
    assert found["promise"] == "mine/: nothing (k=5)"
    assert {one["attack"] for one in found["attacks"]} >= {"linking", "inference", "fitting"}
    assert found["beaten"] == []


def test_rows_of_others_are_points_of_the_plane(
    run: Run, place: Place, whole: Path, mine: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(made(run, place, whole), out)
    (mine / "parameters.json").write_text('{"p": 0.3, "name": "ours"}')
    found = run.json(*place.arguments(out, "--releases", mine))
    (mine / "parameters.json").unlink()
    assert (found["reused"], found["units"]) == (7, 8)  # only theirs was measured
    report = json.loads((out / "report.json").read_bytes())
    point = report["figures"][1]["lines"][-1]
    assert (point["name"], len(point["points"])) == ("mine/", 1)
    assert "mine/ name = ours, p = 0.3: AP 0." in point["points"][0]["about"]
    assert [row[0] for row in report["tables"][0]["rows"]][-1] == "mine/"
    command = json.loads((out / "provenance.json").read_bytes())["command"]
    assert command.endswith(" --releases mine")
    assert {name: told for name, some in bytes_of(out).items() if (told := told_in(some))} == {}
    assert "holds results that this run doesn't make" in run.refused(*place.arguments(out))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("private/members.jsonl", '"row": "r0"', '"row": "r9"'), "there is no such row"),
        (("private/members.jsonl", '"needle-person-', '"other-'), "12 of 12 people have no prof"),
        (("rows.jsonl", '"users": 4', '"users": 3'), "line 1: users must be the number of lines"),
        (("rows.jsonl", '"users": 4', '"members": 4'), "each line must look like"),
        (("parameters.json", "", '{"p": 2}'), "p must be a number above 0 and below 1"),
        (("parameters.json", "", '{"p": [1]}'), "each value must be a text or a number"),
        (("parameters.json", "", "{"), "parameters.json: "),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    run: Run, mine: Path, profiles: Path, tmp_path: Path, change: tuple[str, str, str], why: str
) -> None:
    spoilt, (file, old, new) = tmp_path / "mine", change
    shutil.copytree(mine, spoilt)
    text = (spoilt / file).read_text() if old else ""
    (spoilt / file).write_text(text.replace(old, new) if old else new)
    assert why in run.refused("attack", spoilt, "--against", profiles)


def test_people_without_a_profile_are_refused(run: Run, place: Place, tmp_path: Path) -> None:
    others = own_code({"other-1": ["lion"], "other-2": ["tea"]}, tmp_path / "theirs", 2)
    refused = run.refused(*place.arguments(tmp_path / "out", "--releases", others))
    assert "theirs/: 2 of 2 people have no profile here" in refused
    strange = own_code({"needle-person-01": ["zebu"]}, tmp_path / "strange", 2)
    refused = run.refused(*place.arguments(tmp_path / "out", "--releases", strange))
    assert "strange/: 1 of its terms stand in no profile" in refused


def test_a_release_of_ours_must_be_of_these_profiles(
    run: Run, place: Place, profiles: Path, tmp_path: Path
) -> None:
    asked = ("anonymize", "-m", "composition", "--set", "p=0.5")
    run(*asked, profiles, "-o", tmp_path / "ours")
    definition = tmp_path / "one.toml"
    definition.write_text(DEFINITION.partition("[[variant]]")[0] + BASELINES)
    few = Place(place.root, place.log, definition)
    made = run.json(*few.arguments(tmp_path / "out", "--releases", tmp_path / "ours"))
    assert made["units"] == 2
    other = profiles.with_name("other.jsonl")
    other.write_text(profiles.read_text().replace('"lion"', '"zebu"'))
    run(*asked, other, "-o", tmp_path / "theirs")
    refused = run.refused(*few.arguments(tmp_path / "none", "--releases", tmp_path / "theirs"))
    assert "theirs/: made of other profiles than those of this experiment" in refused


def test_two_folders_of_one_name_are_refused(run: Run, place: Place, mine: Path) -> None:
    twice = place.arguments(mine.with_name("out"), "--releases", mine, mine)
    assert "two folders are called mine/" in run.refused(*twice)
    inside = place.arguments(mine.parent, "--releases", mine)
    assert "would replace the folder of the releases" in run.refused(*inside)

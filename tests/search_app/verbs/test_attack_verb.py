"""attack shows what attackers get, as text, JSON and CSV, and exits 1 where a promise is beaten."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from anonymizer.attacks import ATTACKS
from search_app.cli import parser

from ...anonymizer.small_release import SmallRelease
from ...anonymizer.small_shares import composition
from ..conftest import Run

PEOPLE = {
    f"u{at:02d}": dict.fromkeys(("a" if at < 6 else "c", "b", f"t{at % 3}"), 1.0)
    for at in range(12)
}
USERS = [*PEOPLE]
KEYS = {"attack", "known", "choice", "measure", "value", "low", "high", "raw"}


def written(made: SmallRelease, folder: Path) -> tuple[Path, str, Path]:
    profiles = made.write_profiles(folder.with_suffix(".jsonl"))
    return made.write(folder), "--against", profiles


@pytest.fixture
def sound(tmp_path: Path) -> tuple[Path, str, Path]:
    return written(composition(PEOPLE, [USERS[::2], USERS[1::2]], p=0.2), tmp_path / "sound")


@pytest.fixture
def weak(tmp_path: Path) -> tuple[Path, str, Path]:
    """Return the release of groups in one of which everybody has a, at a p that forbids it."""
    return written(composition(PEOPLE, [USERS[:6], USERS[6:]], p=0.2), tmp_path / "weak")


def test_the_figures_and_the_exit(run: Run, sound: Any, weak: Any) -> None:
    made = run.json("attack", *sound)
    assert all(one.keys() == KEYS for one in made["attacks"])
    assert [*dict.fromkeys(one["attack"] for one in made["attacks"])] == [
        name for name in ATTACKS if name not in ("two-releases", "beyond-m")
    ]
    # Everybody has three terms, so five can't be known.
    known = [one["known"] for one in made["attacks"] if one["attack"] == "linking"]
    assert sorted({*known}) == [1, 2, 3]
    assert made["beaten"] == []
    assert made["promise"] == "composition: belief (p=0.2)"
    made = run.json("attack", *weak, "--attack", "inference", "fitting", code=1)
    assert {(one["attack"], one["promised"]) for one in made["beaten"]} == {
        ("inference", 0.2),
        ("fitting", 0.2),
    }
    between = [at for line in run("attack", *sound).splitlines() if (at := line.find(" - ")) > 0]
    assert len({*between}) == 1  # below one another
    text = run("attack", *weak, "--attack", "fitting", code=1)
    assert "BEATEN  fitting: largest change of belief is 0.5, promised 0.2\n" in text


def test_the_same_seed_gives_the_same_bytes(run: Run, sound: Any, tmp_path: Path) -> None:
    files = [tmp_path / f"{at}.csv" for at in range(3)]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        run("attack", *sound, "--known", "2", "--victims", "5", "--seed", seed, "-o", file)
    first, again, other = (file.read_bytes() for file in files)
    assert first == again != other
    with files[0].open() as lines:
        assert set(csv.DictReader(lines).fieldnames or ()) == KEYS
    assert not any(user.encode() in first for user in USERS)


def test_two_releases(run: Run, sound: Any, weak: Any) -> None:
    made = run.json("attack", *sound, "--attack", "two-releases", "--second", weak[0])
    assert {one["attack"] for one in made["attacks"]} == {"two-releases"}


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (["--victims", "0"], "--victims 0 must be 1 or more"),
        (["--known", "4"], "known=4 is more than the 3 terms"),
        (["--known", "0"], "--known 0 must be whole numbers from 1"),
        (["--known", "1,x"], "--known 1,x must be whole numbers from 1"),
        (["--attack", "guessing"], "no attack guessing; there are: linking, inference"),
        (["--attack", "two-releases"], "two-releases needs another release"),
        (["--attack", "beyond-m"], "beyond-m attacks"),
        (["--seed", "-1"], "--seed -1 must be 0 or more"),
    ],
)
def test_wrong_use(run: Run, sound: Any, more: list[str], line: str) -> None:
    assert line in run.refused("attack", *sound, *more)


def test_releases_of_other_people(run: Run, sound: Any, tmp_path: Path) -> None:
    others = {f"v{user}": row for user, row in PEOPLE.items()}
    people = [*others]
    foreign = written(composition(others, [people[::2], people[1::2]], p=0.2), tmp_path / "other")
    assert "from other profiles" in run.refused("attack", sound[0], *foreign[1:])
    assert "second release is of other" in run.refused("attack", *sound, "--second", foreign[0])
    alone = {"u1": {"a": 1.0}}
    one = written(composition(alone, [["u1"]], p=0.2), tmp_path / "one")
    assert "one person alone" in run.refused("attack", *one)


def test_the_help_names_all_attacks() -> None:
    (verbs,) = (action for action in parser()._actions if action.dest == "verb")
    choices: Any = verbs.choices
    (text,) = (one.help for one in choices["attack"]._actions if one.dest == "attack")
    assert all(name in text for name in ATTACKS)

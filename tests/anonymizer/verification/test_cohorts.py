"""Releases with later cohorts: each is judged by itself, and no tampering between them holds."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from decimal import localcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import BadInput
from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles
from anonymizer.publishing import publish, published_rows, read_published, write_successor
from anonymizer.rows.closest import closest_row
from anonymizer.storage.changes import with_edited, without_rows
from anonymizer.storage.parts import read_cohorts
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import add_cohort, read_hash, write_release
from anonymizer.verification.facts import COUNTS
from anonymizer.verification.judge import verify

from ..small_release import PARAMETERS, Rows, SmallRelease, made, sha256, together
from ..small_world import drawn_documents, drawn_people
from . import test_oracle as oracle
from .faults import ANYWHERE, Fault, breaches, compared, judged

# Two groups of four, and later one more: two terms each, all four letters of a group in a row.
FIRST: Rows = {f"anna{n}": {f"a{n // 4}{n % 4}": 1.0, "tea": 1.0} for n in range(8)}
LATER: Rows = {f"bela{n}": {f"b{n // 4}{n % 4}": 1.0, "tea": 1.0} for n in range(8)}
LAST: Rows = {f"cleo{n}": {f"c{n}": 1.0, "tea": 1.0} for n in range(4)}
NOTE = {"withdrawn": 0, "left": 0, "stood": [], "edited": []}


def cohort(people: Rows, **parameters: Any) -> SmallRelease:
    users = [*people]
    groups = [users[at : at + 4] for at in range(0, len(users), 4)]
    return deepcopy(made(people, groups, {**PARAMETERS, "p": 0.4, "k": 4, **parameters}))


def three() -> SmallRelease:
    return together(cohort(FIRST), cohort(LATER), cohort(LAST))


def test_cohorts_that_hold(tmp_path: Path) -> None:
    release = three()
    release.newcomers = {"dora": {"tea": 1.0}, "dave": {"jam": 1.0}}
    verdict = judged(release, tmp_path)
    assert verdict.breaches == []
    assert verdict.checked == {
        "users": 20,
        "rows": 5,
        "terms": 22,
        "cells": 25,
        "waiting": 2,
        "cohorts": 3,
    }
    where = {finding.where.split(",")[0] for finding in verdict.findings}
    assert {"rows.jsonl", "cohorts/0002/rows.jsonl", "cohorts/0003/rows.jsonl"} <= where
    (waiting,) = (finding.line for finding in verdict.findings if finding.claim == "waiting")
    assert waiting.startswith("2 users wait for a cohort")


def test_who_came_later_waits_and_changes_nothing_of_what_is_recounted(tmp_path: Path) -> None:
    """A newcomer counts for no prior and no mean length: those are of the people of the making."""
    release = replace(cohort(FIRST), newcomers={"dora": dict.fromkeys("abcdefghijk", 1.0)})
    assert "1 users of the profiles have no row" in str(breaches(release, tmp_path))
    release.changes = NOTE
    verdict = judged(release, tmp_path)
    assert verdict.holds, verdict.breaches
    assert (verdict.checked["waiting"], verdict.checked["rows_not_recounted"]) == (1, 0)
    assert "all 16 facts are as counted again" in [finding.line for finding in verdict.findings]
    release.facts["average_linkability"] += 1e-9
    assert "average_linkability is not" in str(breaches(release, tmp_path))


def test_a_badly_written_fact_and_good_ones_are_not_found_together(tmp_path: Path) -> None:
    """Nobody can recount it once a profile has changed, but it could carry a message."""
    release = cohort(FIRST)
    release.changes = {**NOTE, "edited": ["g0001"]}
    release.profiles = FIRST | {"anna0": {"a00": 1.0}}
    assert judged(release, tmp_path).holds
    release.facts["average_linkability"] = 0.12345678901234567
    facts = [one for one in judged(release, tmp_path).findings if one.claim == "facts"]
    assert [one.holds for one in facts] == [False]


# -- forgeries -------------------------------------------------------------------------------------

Forge = Callable[[SmallRelease], object]


def second(release: SmallRelease) -> SmallRelease:
    return release.cohorts[0]


def of_second(change: Forge) -> Forge:
    return lambda release: change(release.cohorts[0])


def someone_twice(release: SmallRelease) -> None:
    """Make the second cohort with somebody of the first in it, who fits in every way."""
    people = {**LATER, "anna0": {"b00": 1.0, "tea": 1.0}}
    again = made(people, [[*people][:4], [*people][4:]], release.parameters)
    release.cohorts = [*together(release, again, *release.cohorts[1:]).cohorts]
    again.profiles = LATER
    release.profiles = {**FIRST, "anna0": people["anna0"]}


def someone_again(release: SmallRelease) -> None:
    """Let somebody whose row was withdrawn stand in the next cohort."""
    release.rows.pop()
    del release.members[4:]
    release.changes = {**NOTE, "withdrawn": 1, "stood": ["bela0", *[*FIRST][5:]]}
    release.withdrawn = {"rows": 1}


def swap(name: str) -> Forge:
    def change(release: SmallRelease) -> None:
        one, other = release.rows[0], second(release).rows[0]
        one[name], other[name] = other[name], one[name]

    return change


def swap_whole_rows(release: SmallRelease) -> None:
    """Let two rows of two cohorts change places, with the people in them."""
    one, other = release, second(release)
    one.rows[0], other.rows[0] = other.rows[0], one.rows[0]
    one.members[:4], other.members[:4] = other.members[:4], one.members[:4]


def rename(release: SmallRelease, name: str, old: str = "g0003") -> None:
    for part in (*release.rows, *release.members):
        part["row"] = name if part["row"] == old else part["row"]


def number_again(release: SmallRelease) -> None:
    """Number the rows of a later cohort from 1, as if it stood alone."""
    for at, row in enumerate(release.rows, 1):
        rename(release, f"g{at:04d}", row["row"])
    release.first_row = 1


def move_member(release: SmallRelease) -> None:
    member = release.members.pop()
    second(release).members.append({**member, "row": "g0003"})
    release.rows[1]["users"], second(release).rows[0]["users"] = 3, 5


def drop_row(release: SmallRelease, at: int = 0) -> None:
    """Drop a row and its people, and state the facts of those who remain."""
    name = release.rows.pop(at)["row"]
    release.members = [one for one in release.members if one["row"] != name]
    users = [one["user"] for one in release.members]
    groups = [[one["user"] for one in release.members if one["row"] == row["row"]]
              for row in release.rows]  # fmt: skip
    rows = {user: release.profiles[user] for user in users}
    release.facts = made(rows, groups, release.parameters).facts


def empty(release: SmallRelease, **changes: Any) -> None:
    """Withdraw all rows of a cohort, as the product does."""
    count = len(release.rows)
    stood = sorted(member["user"] for member in release.members)
    release.rows, release.members = [], []
    release.changes = {**NOTE, "withdrawn": count, "stood": stood, **changes}
    release.withdrawn = {"rows": count}
    counts = [*release.facts][:6]
    release.facts |= dict.fromkeys(counts, 0) | {"mean_group": 0.0}


def emptied(change: Forge) -> Forge:
    def forge(release: SmallRelease) -> None:
        empty(second(release))
        change(second(release))

    return forge


def note_gone(release: SmallRelease) -> None:
    release.changes = release.withdrawn = None


def put(name: str, **values: Any) -> Forge:
    return lambda release: getattr(release, name).update(values)


COHORT = "cohorts/0002/"
FORGERIES: list[tuple[str, Forge, str, str]] = [
    ("a person in two cohorts", someone_twice, "cohorts",
     f"{COHORT}private/members.jsonl: 1 of its people stands in an earlier cohort"),
    ("a person who stood", someone_again, "cohorts", "1 of its people stands in an earlier cohort"),
    ("terms swapped", swap("terms"), "terms", f"{COHORT}rows.jsonl, line 1: has a term that no"),
    ("names swapped", swap("row"), "identity", "rows.jsonl, line 1: is not named by its number"),
    ("rows swapped", swap_whole_rows, "identity", f"{COHORT}rows.jsonl, line 1: is not named by"),
    ("row renamed", of_second(lambda r: rename(r, "g0009")), "identity", "is not named by its n"),
    ("a name twice", of_second(lambda r: rename(r, "g0001")), "identity", "is not named by its"),
    ("more letters", of_second(lambda r: rename(r, "gg0003")), "identity", "not named by its num"),
    ("numbered from 1", of_second(number_again), "release.json",
     f"{COHORT}release.json: first_row must be 3, as there were 2 rows before"),
    ("first_row off", of_second(lambda r: setattr(r, "first_row", 4)), "release.json", "must be 3"),
    ("first_row true", of_second(lambda r: setattr(r, "first_row", True)), "release.json", "wrong"),
    ("first_row lost", of_second(lambda r: setattr(r, "first_row", None)), "release.json", "names"),
    ("first_row first", lambda r: setattr(r, "first_row", 1), "release.json", "names are not exac"),
    ("weight changed", lambda r: second(r).rows[1]["terms"].update(tea=0.5), "weights",
     f"{COHORT}rows.jsonl, line 2: has a weight"),
    ("member moved", move_member, "terms", "rows.jsonl, line 2: has a term that no member has"),
    ("member lost", of_second(lambda r: r.members.pop()), "partition", "users is not the number"),
    ("other parameter", of_second(put("parameters", p=0.5)), "cohorts",
     f"{COHORT}release.json: it states another method, or other parameters"),
    ("equal parameter", of_second(put("parameters", a=True)), "cohorts", "another method"),
    ("other choices", of_second(put("choices", size=200)), "cohorts", "another method, or other"),
    ("other method", of_second(lambda r: setattr(r, "method", "pooled")), "cohorts", "another"),
    ("no method", of_second(lambda r: setattr(r, "method", "magic")), "method", "can't be judged"),
    ("a user in it", of_second(put("choices", u=["anna3"])), "identity", COHORT),
    ("other profiles", of_second(lambda r: setattr(r, "input_hash", "0")), "input", COHORT),
    ("fact changed", of_second(put("facts", groups=3)), "facts", f"{COHORT}release.json: groups"),
    ("row dropped", drop_row, "release.json", f"{COHORT}release.json: first_row must"),
    ("row dropped later", lambda r: drop_row(second(r)), "identity", f"{COHORT}rows.jsonl, line 1"),
    ("all dropped", emptied(note_gone), "withdrawn", f"{COHORT}rows.jsonl: there is no row, and"),
    ("a member of none", emptied(lambda r: r.members.append({"user": "dora", "row": "g0003"})),
     "partition", f"{COHORT}private/members.jsonl: somebody has a row, but there is none"),
    ("facts of none", emptied(put("facts", users=4)), "facts", "users is not 0"),
    ("number of none", emptied(put("changes", withdrawn=3)), "changes", "is not what"),
    ("number of none, stated", emptied(
        lambda r: (r.changes.update(withdrawn=3), r.withdrawn.update(rows=3))),
     "release.json", "cohorts/0003/release.json: first_row must be 6"),
    ("no row at all", lambda r: [*map(empty, (r, *r.cohorts))], "cohorts", "no cohort has"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("_name", "forge", "claim", "why"), FORGERIES, ids=[f[0] for f in FORGERIES]
)
def test_forged_cohorts_are_refused(
    tmp_path: Path, _name: str, forge: Forge, claim: str, why: str
) -> None:
    release = three()
    forge(release)
    assert any(claim == of and why in line for of, line in breaches(release, tmp_path)), breaches(
        release, tmp_path
    )


def hide(name: str) -> Callable[[Path], object]:
    return lambda folder: shutil.copytree(folder / "cohorts/0002", folder / "cohorts" / name)


FOLDERS: dict[str, Callable[[Path], object]] = {
    "a hidden cohort": hide(".0004"),
    "a cohort left out": hide("0005"),
    "a cohort in other digits": hide("4"),
    "a file": lambda folder: (folder / "cohorts/notes").write_text("anna"),
    "the first one gone": lambda folder: shutil.rmtree(folder / "cohorts/0002"),
    "a link": lambda folder: (folder / "cohorts/0004").symlink_to("0002"),
    "none": lambda folder: [shutil.rmtree(path) for path in (folder / "cohorts").iterdir()],
    "a link to all": lambda folder: (
        (folder / "cohorts").rename(folder / "c"), (folder / "cohorts").symlink_to("c")),
    "no folder": lambda folder: (
        shutil.rmtree(folder / "cohorts"), (folder / "cohorts").write_text("")),
}  # fmt: skip
PARTS: dict[str, Callable[[Path], object]] = {
    "cohorts in a cohort": lambda folder: (folder / "cohorts").mkdir(),
    "a stray file": lambda folder: (folder / "notes").write_text("anna"),
    "a file that others may read": lambda folder: (folder / "private/members.jsonl").chmod(0o644),
    "a flipped byte": lambda folder: (folder / "rows.jsonl").write_text("{"),
    "a missing part": lambda folder: (folder / "private/members.jsonl").unlink(),
    "a stray key": lambda folder: (folder / "private/key.json").write_text("{}"),
}


def test_stray_and_missing_folders_and_parts_are_refused(tmp_path: Path) -> None:
    release = three()
    profiles = release.write_profiles(tmp_path / "p.jsonl")
    for at, (name, spoil) in enumerate(FOLDERS.items()):
        folder = release.write(tmp_path / f"r{at}")
        spoil(folder)
        (breach, *_) = verify(folder, profiles).breaches
        assert (breach.claim, breach.where) == ("cohorts", "cohorts"), name
    for at, (name, spoil) in enumerate(PARTS.items()):
        folder = release.write(tmp_path / f"s{at}")
        spoil(folder / "cohorts/0002")
        found = verify(folder, profiles).breaches
        assert found, name
        assert any(breach.where.startswith(COHORT) for breach in found), name


def test_an_empty_cohort_keeps_its_numbers_and_its_people(tmp_path: Path) -> None:
    for which in range(3):
        release = three()
        empty([release, *release.cohorts][which])
        assert breaches(release, tmp_path) == []
        assert judged(release, tmp_path).checked["waiting"] == 0


# -- the same, said word for word ------------------------------------------------------------------

CASES = int(os.environ.get("VEILSEARCH_CASES") or 60)


def small(rng: random.Random) -> SmallRelease:
    """Make two or three cohorts by the same parameters, each of which may hold or not."""
    cohorts = [oracle.small(rng) for _ in range(rng.choice((2, 2, 3)))]
    # Bounds that all cohorts often keep.
    given = {**cohorts[0].parameters, "p": rng.choice((0.8, 1.0)), "k": rng.choice((None, 1, 2))}
    given |= {"l": None, "t": rng.choice((None, 1.0))}
    again = []
    for letter, one in zip("abc", cohorts, strict=False):
        people = {f"{user}{letter}": row for user, row in one.profiles.items()}
        groups = [[f"{user}{letter}" for user in group] for group in oracle.groups_of(one)]
        again.append(made(people, groups, given))
    release = together(*again)
    if rng.random() < 0.5:
        release.newcomers = {"dora": {"a": 1.0, "z": 0.5}}
    return release


def holds(release: SmallRelease) -> bool:
    """Return whether each cohort holds alone, nobody is in two, and all have one promise."""
    alone = apart(release)
    people = [user for one in alone for user in one.profiles]
    return (
        len({*people}) == len(people)
        and all(one.parameters == release.parameters for one in alone)
        and all(map(oracle.holds, alone))
    )


def apart(release: SmallRelease) -> list[SmallRelease]:
    """Return each cohort as a release of its own people by itself, numbered from 1."""
    alone, begin, everybody = [], 0, release.everybody
    for one in deepcopy([release, *release.cohorts]):
        back = {f"g{begin + at:04d}": f"g{at:04d}" for at in range(1, len(one.rows) + 1)}
        for part in (*one.rows, *one.members):
            part["row"] = back.get(part["row"], f"no {part['row']}")
        begin += len(one.rows)
        users = {member["user"] for member in one.members}
        one.profiles = {user: row for user, row in everybody.items() if user in users}
        alone.append(one)
    return alone


def in_one(fault: Fault, release: SmallRelease, rng: random.Random) -> None:
    fault(rng.choice([release, *release.cohorts]), rng)


def two(release: SmallRelease, rng: random.Random) -> list[SmallRelease]:
    return rng.sample([release, *release.cohorts], 2)


def swap_places(release: SmallRelease, rng: random.Random) -> None:
    """Let two rows of two cohorts change places, with all that is theirs but the names."""
    one, other = two(release, rng)
    mine, theirs = rng.choice(one.rows), rng.choice(other.rows)
    ours, others = ([m for m in of.members if m["row"] == row["row"]]
                    for of, row in ((one, mine), (other, theirs)))  # fmt: skip
    for part in ("terms", "users"):
        mine[part], theirs[part] = theirs[part], mine[part]
    one.members = [member for member in one.members if member not in ours] + [
        {**member, "row": mine["row"]} for member in others
    ]
    other.members = [member for member in other.members if member not in others] + [
        {**member, "row": theirs["row"]} for member in ours
    ]


def copy_member(release: SmallRelease, rng: random.Random) -> None:
    one, other = two(release, rng)
    row = rng.choice(other.rows)
    other.members.append({**rng.choice(one.members), "row": row["row"]})
    row["users"] += 1


def swap_members(release: SmallRelease, rng: random.Random) -> None:
    one, other = (rng.choice(each.members) for each in two(release, rng))
    one["user"], other["user"] = other["user"], one["user"]


def copy_row(release: SmallRelease, rng: random.Random) -> None:
    one, other = (rng.choice(each.rows) for each in two(release, rng))
    other["terms"] = one["terms"]


def another_parameter(release: SmallRelease, rng: random.Random) -> None:
    release.cohorts[-1].parameters["p"] = rng.choice((0.8, 1.0))


SPOILT: list[Fault] = [
    *(partial(in_one, fault) for fault in ANYWHERE),
    *(swap_places, copy_member, swap_members, copy_row, another_parameter),
]


def test_the_judge_and_an_oracle_agree_over_cohorts(tmp_path: Path) -> None:
    with localcontext(prec=30):
        found = compared(tmp_path, 17, CASES, small, SPOILT, holds)
    kept = sum(count for (_, _, held), count in found.items() if held)
    assert CASES / 8 < kept < CASES * 9 / 10, found


# -- every method, since older states, and published -----------------------------------------------

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "p-linkability": ("p-linkability", {"p": 0.5, "k": 3, "augment": "none"}),
    "every-term": (
        "p-linkability",
        {"p": 0.7, "k": 2, "guarantee": "every-term", "augment": "none"},
    ),
    "min_users": ("p-linkability", {"p": 0.7, "k": 2, "min_users": 2, "augment": "none"}),
    "composition": ("composition", {"p": 0.6, "steps": 200}),
    "pooled": ("pooled", {"p": 0.4, "steps": 200}),
    "km-anonymity": ("km-anonymity", {"k": 2, "m": 1}),
    "dp-rows": ("dp-rows", {"rows": 3, "epsilon": 20.0}),
}


class Grown:
    """A release by a method, written to 1; cohorts of newcomers are added to 2 and 3."""

    def __init__(self, place: Path, name: str):
        self.place, (self.method, self.given) = place, METHODS[name]
        everybody = drawn_people(46, seed=7)
        self.rows = {user: everybody.row(user) for user in everybody.users}
        users = [*self.rows]
        self.cohorts = [users[:20], users[20:34], users[34:44]]  # the last two wait
        self.write(1, users[:20])
        first = self.release(0)
        write_release(first, place / "1/r", seed=0, input_hash=self.hash, profiles={"size": 8})

    def write(self, state: int, users: list[str]) -> None:
        """Write the profiles of `users` for a state."""
        self.profiles = Profiles.from_rows({user: self.rows[user] for user in users})
        self.hash = fingerprint(self.profiles)
        (self.place / str(state)).mkdir()
        write_profiles(self.profiles, self.place / f"{state}/p.jsonl")

    def release(self, number: int) -> Any:
        people = Profiles.from_rows({user: self.rows[user] for user in self.cohorts[number]})
        inputs = Inputs(people, seed=number, sample=drawn_documents(), key=bytes([number]) * 32)
        made_ = anonymize(self.method, inputs, self.given)
        return replace(made_, facts=facts(people, made_))

    def admit(self, state: int) -> None:
        """Let all who come now have profiles, then the next cohort rows: the given state."""
        users = [user for cohort in self.cohorts[:state] for user in cohort]
        waiting = [user for user in self.rows if user not in users]
        self.write(state, [*users, *waiting])
        came = self.place / f"{state}/came"
        with_edited(read_cohorts(self.place / f"{state - 1}/r"), came, (), (), self.hash)
        checked = self.verdict(state, "came").checked
        assert checked["waiting"] == len(waiting) + len(self.cohorts[state - 1])
        assert checked["rows_not_recounted"] == 0  # nothing happened to those who have rows
        folder = self.place / f"{state}/r"
        add_cohort(
            read_cohorts(came), folder, self.release(state - 1), seed=state, input_hash=self.hash
        )

    def leave(self, users: list[str]) -> None:
        """Let `users` leave their groups: the state 4."""
        shutil.copytree(self.place / "3", self.place / "4", ignore=lambda *_: {"r", "came"})
        before, after = self.place / "3/r", self.place / "4/r"
        without_rows(read_cohorts(before), after, users, known=True, input_hash=self.hash)

    def publish(self, state: int) -> Path:
        """Publish a state; return the file."""
        here, file = self.place / f"{state}", self.place / f"{state}.jsonl"
        found = publish(here / "r", here / "p.jsonl", file)
        assert found.holds, found.breaches
        return file

    def verdict(self, state: int, name: str = "r", since: Path | None = None) -> Any:
        found = verify(self.place / f"{state}/{name}", self.place / f"{state}/p.jsonl", since)
        assert found.holds, found.breaches
        return found


@pytest.fixture(scope="module", params=METHODS)
def grown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Grown:
    grown = Grown(tmp_path_factory.mktemp("grown"), request.param)
    grown.admit(2)
    grown.admit(3)
    # Somebody of each of the first two cohorts, and the whole last one.
    grown.leave([grown.cohorts[0][0], grown.cohorts[1][0], *grown.cohorts[2]])
    return grown


def test_cohorts_of_every_method_hold_whoever_leaves(grown: Grown) -> None:
    for state, cohorts in ((1, None), (2, 2), (3, 3), (4, 3)):
        verdict = grown.verdict(state)
        assert verdict.checked.get("cohorts") == cohorts
        assert verdict.checked.get("waiting") == {1: None, 2: 12, 3: 2, 4: 2}[state]
    assert not (grown.place / "4/r/cohorts/0003/rows.jsonl").read_bytes()
    facts_checked = [one.line for one in grown.verdict(3).findings if one.claim == "facts"]
    assert len(facts_checked) == 3
    if grown.method != "km-anonymity":  # who has no row may have changed unnoticed
        assert not any("were checked then" in line for line in facts_checked)


def test_who_is_unassigned_is_forgotten_and_all_rows_stay(tmp_path: Path) -> None:
    grown = Grown(tmp_path, "pooled")
    first, before = grown.publish(1), tmp_path / "1/r"
    lines = (before / "private/members.jsonl").read_bytes().splitlines()
    members = [*map(json.loads, lines)]
    unassigned = [one["user"] for one in members if one["row"] == "g0007"]
    assert len(unassigned) == 2
    for state, gone in enumerate(unassigned, 2):
        grown.write(state, [user for user in grown.profiles.users if user != gone])
        folder = tmp_path / f"{state}/r"
        done = without_rows(
            read_cohorts(before), folder, {gone}, known=False, input_hash=grown.hash
        )
        assert done.withdrawn == (state == 3)  # with the last of them
        verdict = grown.verdict(state, since=first)
        assert (verdict.checked["users"], verdict.checked["rows"]) == (
            21 - state,
            9 - max(2, state),
        )
        lines = first.read_bytes().splitlines()
        assert grown.publish(state).read_bytes().splitlines()[1:] == lines[1 : 10 - max(2, state)]
        before = folder
    note = tmp_path / "2/r/private/changes.json"
    note.write_text(note.read_text().replace('"left": 1', '"left": 0'))
    assert "users is not the number of members" in str(
        verify(tmp_path / "2/r", tmp_path / "2/p.jsonl").breaches
    )


def test_every_state_is_an_older_one_with_new_cohorts_and_without_some_rows(grown: Grown) -> None:
    published = {state: grown.publish(state) for state in (1, 2, 3)}
    for state in (2, 3, 4):
        for older in range(1, state + 1):
            for since in {grown.place / f"{older}/r", published.get(older, published[3])}:
                verdict = grown.verdict(state, since=since)
                found = [one for one in verdict.findings if one.claim == "since"]
                assert len(found) == min(state, 3)
                new = [one.where for one in found if "a new cohort" in one.line]
                assert len(new) == min(state, 3) - min(older, 3)
        for newer in range(state + 1, 5):
            since, here = grown.place / f"{newer}/r", grown.place / f"{state}"
            found = verify(here / "r", here / "p.jsonl", since).breaches
            assert {one.claim for one in found} == {"since"}


def test_a_published_file_has_all_rows_and_what_each_cohort_states(grown: Grown) -> None:
    for state in (1, 2, 3):
        folder, file = grown.place / f"{state}/r", grown.publish(state)
        first, _, rows = file.read_bytes().partition(b"\n")
        about = json.loads(first)
        places = ["", *(f"cohorts/{n:04d}/" for n in range(2, state + 1))]
        parts = [(folder / place / "rows.jsonl").read_bytes() for place in places]
        stated = [json.loads((folder / place / "release.json").read_text()) for place in places]
        assert rows == b"".join(parts)
        for one in stated:  # the others can't be counted in the rows
            one["facts"] = {name: one["facts"][name] for name in COUNTS if name in one["facts"]}
        assert about["facts"] == stated[0]["facts"]
        assert about.get("cohorts", []) == [
            {"rows": part.count(b"\n"), "first_row": one["first_row"], "facts": one["facts"]}
            for part, one in zip(parts[1:], stated[1:], strict=True)
        ]
        read = read_published(file)
        assert read.rows.users == tuple(json.loads(row)["row"] for row in rows.splitlines())
        last, means = -1, []  # the last row of a cohort that has more rows than groups
        for part, one in zip(parts, stated, strict=True):
            last += (count := part.count(b"\n"))
            means += [last] * (one["facts"].get("groups", count) < count)
        assert list(read.fallback) == means
        assert bool(means) == (grown.method == "pooled")
        assert about["sha256"] == sha256(rows) == read_hash(folder)
        assert not any(user in file.read_text() for user in grown.rows)
        for row in read.rows.users:  # a newcomer who is like a row of any cohort gets that one
            like = read.rows.row(row)
            assert read.rows.row(read.rows.users[closest_row(like, read.rows).row or 0]) == like


def test_a_successor_is_the_published_file_without_rows_that_were_withdrawn(grown: Grown) -> None:
    for state in (1, 2, 3):
        file, output = grown.publish(state), grown.place / f"{state} successor"
        published = published_rows(file)
        assert published is not None
        assert write_successor(grown.place / "4/r", published, output)
        before, after = (path.read_bytes().splitlines(keepends=True) for path in (file, output))
        about = json.loads(after[0])
        stated = [
            one.get("withdrawn", {"rows": 0})["rows"] for one in (about, *about.get("cohorts", ()))
        ]
        assert (len(stated), len(after) + sum(stated)) == (state, len(before))
        assert [line for line in before[1:] if line in after] == after[1:]
    if grown.method == "km-anonymity":  # who knows who left would know the row
        with pytest.raises(AssertionError, match="rows were withdrawn"):
            grown.publish(4)
    else:
        assert output.read_bytes() == grown.publish(4).read_bytes()


SESSIONS: Rows = {"anna0#2" if user == "bela0" else user: row for user, row in LATER.items()}


@pytest.mark.parametrize("granularity", ["session", "user"])
def test_sessions_of_one_person_stand_in_one_cohort(tmp_path: Path, granularity: str) -> None:
    release = together(cohort(FIRST), cohort(SESSIONS))
    for one in (release, *release.cohorts):
        one.choices = {"granularity": granularity}
    found = [line for claim, line in breaches(release, tmp_path) if claim == "cohorts"]
    assert len(found) == (granularity == "session")


def older() -> SmallRelease:
    return together(cohort(FIRST), cohort(LAST), cohort(LATER))


def remade(release: SmallRelease, *people: Rows) -> None:
    """Make all cohorts again, of other people."""
    made_ = together(*map(cohort, people))
    for name in ("profiles", "rows", "members", "facts", "cohorts"):
        setattr(release, name, getattr(made_, name))


def mixed(one: Rows, other: Rows) -> list[Rows]:
    """Return two populations whose first four people have changed places."""
    ours, theirs = list(one.items()), list(other.items())
    return [dict(theirs[:4] + ours[4:]), dict(ours[:4] + theirs[4:])]


def returns(release: SmallRelease) -> None:
    """Withdraw the second row, forget its people, and let one of them join by the same name."""
    rest, gone = dict([*FIRST.items()][:4]), dict([*FIRST.items()][7:])
    remade(release, rest, LAST, LATER, gone | {f"dina{n}": {f"d{n}": 1.0} for n in range(3)})
    release.changes = {**NOTE, "withdrawn": 1, "left": 4}
    release.withdrawn = {"rows": 1}
    for one in release.cohorts:
        for part in (*one.rows, *one.members):
            part["row"] = f"g{int(part['row'][1:]) + 1:04d}"
        one.first_row += 1


THIRD = "cohorts/0003/"
SINCE: list[tuple[str, Forge, str]] = [
    ("a row dropped", lambda r: drop_row(r.cohorts[1], 1), f"{THIRD}release.json: 1 rows are gone"),
    ("a cohort dropped", lambda r: r.cohorts.pop(), "there were 3 cohorts, and there are 2"),
    ("rows swapped", lambda r: remade(r, *(m := mixed(FIRST, LATER))[:1], LAST, m[1]),
     f"{THIRD}rows.jsonl, line 1: is no row of older"),
    ("another cohort", lambda r: remade(r, FIRST, LAST, LATER | {"bela0": {"b": 1.0, "tea": 1.0}}),
     f"{THIRD}rows.jsonl, line 1: is no row of older"),
    ("a new row", lambda r: remade(r, FIRST, LAST | {f"d{n}": {f"d{n}": 1.0} for n in range(4)},
     LATER), f"{COHORT}rows.jsonl, line 2: is no row of older"),
    ("in between", lambda r: remade(r, FIRST, {f"d{n}": {f"d{n}": 1.0} for n in range(4)}, LAST,
     LATER), f"{COHORT}rows.jsonl, line 1: is no row of older"),
    ("somebody comes back", returns,
     "cohorts/0004/private/members.jsonl: somebody of it had a row before"),
]  # fmt: skip


@pytest.mark.parametrize(("_name", "change", "why"), SINCE, ids=[case[0] for case in SINCE])
def test_what_holds_by_itself_and_is_no_later_state_is_refused(
    tmp_path: Path, _name: str, change: Forge, why: str
) -> None:
    before, release = older().write(tmp_path / "older"), older()
    change(release)
    release.newcomers = {user: row for user, row in older().everybody.items()
                         if user not in release.everybody}  # fmt: skip
    folder, profiles = release.write(tmp_path / "r"), release.write_profiles(tmp_path / "p.jsonl")
    verdict = verify(folder, profiles)
    assert verdict.holds, verdict.breaches
    found = verify(folder, profiles, before).breaches
    assert any(one.claim == "since" and why in f"{one.where}: {one.line}" for one in found), found


def test_what_is_no_older_state_is_told(tmp_path: Path) -> None:
    release = older()
    folder, profiles = release.write(tmp_path / "r"), release.write_profiles(tmp_path / "p.jsonl")
    file = tmp_path / "file"
    assert publish(folder, profiles, file).holds
    good = file.read_bytes()
    for old, new in (
        (b'"rows": 1}', b'"rows": -1}'),
        (b'"rows": 1}', b'"rows": 99}'),
        (b'"rows": 1}', b'"rows": "1"}'),
        (b'"cohorts": [', b'"cohorts": [1, '),
        (b'"cohorts": [', b'"cohorts": {}, "c": ['),
    ):
        assert old in good
        file.write_bytes(good.replace(old, new, 1))
        with pytest.raises(BadInput, match="is neither a release folder nor a published file"):
            verify(folder, profiles, file)
        with pytest.raises(BadInput, match=str(file)):
            read_published(file)
    with pytest.raises(BadInput, match="is neither a release folder nor a published file"):
        verify(folder, profiles, tmp_path)


def test_what_is_published_is_judged_cohort_by_cohort(tmp_path: Path) -> None:
    """A row of one person is found in any cohort; who comes with a term as id keeps nobody."""
    alone = made({"solo": {"jam": 1.0}}, [["solo"]], {**PARAMETERS, "p": 1.0, "k": 1})
    release = together(cohort(FIRST, p=1.0, k=1), cohort(LATER, p=1.0, k=1), deepcopy(alone))
    for change, where in (
        (lambda: None, "cohorts/0003/rows.jsonl, line 1"),
        (release.cohorts.pop, ""),
        (lambda: release.newcomers.update({"b12": {"jam": 1.0}}), ""),
    ):
        change()
        release.changes = NOTE
        folder = release.write(tmp_path / "r")
        profiles = release.write_profiles(tmp_path / "p.jsonl")
        assert verify(folder, profiles).holds
        found = publish(folder, profiles, tmp_path / "file").breaches
        assert [one.where for one in found] == [where] * bool(where)

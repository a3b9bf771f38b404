"""Anonymizers broken on purpose, forged files and strange input: each refused by its name."""

from __future__ import annotations

import json
import math
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anonymizer.errors import AnonymizerError, BadInput, BadParameter
from anonymizer.methods import promise_of
from anonymizer.model import Grouping, Profiles, Release
from anonymizer.rows.representative import represent
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import write_release
from anonymizer.verification.files.evidence import MEMBERS, ROWS, read_files, read_rows
from anonymizer.verification.files.foresight import Foreseen, foresee
from anonymizer.verification.files.profiles import read_people
from anonymizer.verification.judge import JUDGES, verify
from anonymizer.verification.promises.p_linkability import JUDGE
from anonymizer.verification.recounts.groups import divergence, entropy

from ..small_release import PARAMETERS, Rows, SmallRelease, made, sha256
from .faults import breaches, judged

# Eight profiles of two terms each, in two groups of four: |U|avg / |G| = 2 / 5.
EIGHT: Rows = {
    "anna": {"a": 1.0, "b": 1.0},
    "berta": {"b": 1.0, "c": 1.0},
    "carla": {"c": 1.0, "d": 1.0},
    "dora": {"d": 1.0, "e": 1.0},
    "emma": {"f": 1.0, "g": 1.0},
    "frida": {"g": 1.0, "h": 1.0},
    "gerda": {"h": 1.0, "i": 1.0},
    "hanna": {"i": 1.0, "j": 1.0},
}
GROUPS = (("anna", "berta", "carla", "dora"), ("emma", "frida", "gerda", "hanna"))


def eight(groups: Any = GROUPS, **parameters: Any) -> SmallRelease:
    return made(EIGHT, groups, {**PARAMETERS, "p": 0.4, "k": 4, **parameters})


def test_a_release_that_holds(tmp_path: Path) -> None:
    verdict = judged(eight(), tmp_path)
    assert verdict.breaches == []
    assert verdict.holds
    assert verdict.checked == {"users": 8, "rows": 2, "terms": 10, "cells": 10}
    assert {finding.claim for finding in verdict.findings} == {
        "files",
        "private part",
        "release.json",
        "input",
        "choices",
        "identity",
        "partition",
        "facts",
        "parameters",
        "p",
        "k",
        "terms",
        "guarantee",
        "weights",
    }


Fault = Callable[[], SmallRelease]


def terms_of(release: SmallRelease, row: int = 0) -> dict[str, float]:
    terms: dict[str, float] = release.rows[row]["terms"]
    return terms


def spoilt(change: Callable[[SmallRelease], object], **parameters: Any) -> Fault:
    def make() -> SmallRelease:
        release = eight(**parameters)
        change(release)
        return release

    return make


PAIRS = tuple((one, other) for group in GROUPS for one, other in (group[:2], group[2:]))


def over_p_kept(groups: Any = GROUPS) -> SmallRelease:
    """Release the row of the plain average though every term is promised."""
    release = eight(groups)
    release.parameters["guarantee"] = "every-term"
    return release


def shares_at_p_dropped() -> SmallRelease:
    """Leave out what exactly p of the members have, which may stay."""
    release = eight(guarantee="every-term", p=0.5, k=None)
    for row in release.rows:
        row["terms"] = {term: weight for term, weight in row["terms"].items() if weight < 0.5}
    return release


def union_as_centroid() -> SmallRelease:
    release = eight(representative="union")
    release.parameters["representative"] = "centroid"
    return release


def member_in_two_rows(release: SmallRelease) -> None:
    release.members.append({"user": "anna", "row": "g0002"})


def member_lost(release: SmallRelease) -> None:
    del release.members[3]
    release.rows[0]["users"] = 3


def member_moved(release: SmallRelease) -> None:
    release.members[3]["row"] = "g0002"
    release.rows[0]["users"], release.rows[1]["users"] = 3, 5


def rename(release: SmallRelease, name: str) -> None:
    for part in (*release.rows, *release.members):
        part["row"] = name if part["row"] == "g0001" else part["row"]


def put(name: str, value: Any) -> Callable[[SmallRelease], None]:
    return lambda release: release.parameters.update({name: value})


FAULTS: list[tuple[str, Fault, str, str]] = [
    ("need off by one", lambda: eight(p=0.3999), "p", "fewer than the 6 distinct terms"),
    (">= for >", shares_at_p_dropped, "terms", "lacks a term that it must release"),
    ("k one short", lambda: eight(k=5), "k", "2 of 2 rows: has fewer than k=5 members"),
    ("l too high", lambda: eight(l=4.8), "l", "has an entropy below log l=4.8"),
    ("t too low", lambda: eight(t=0.55), "t", "is farther than t=0.55 from all users"),
    ("too few for every term", lambda: over_p_kept(PAIRS), "p", "fewer than the 3 members"),
    ("member lost", spoilt(member_lost), "partition", "1 users of the profiles have no row"),
    ("member twice", spoilt(member_in_two_rows), "partition", "line 9: the user occurs twice"),
    ("member moved", spoilt(member_moved), "weights", "not the centroid's"),
    ("count wrong", spoilt(lambda r: r.rows[1].update(users=5)), "partition", "line 2: users is"),
    ("term invented", spoilt(lambda r: terms_of(r).update(z=0.25)), "terms", "no member has"),
    ("term dropped", spoilt(lambda r: terms_of(r).pop("c")), "terms", "lacks a term"),
    ("weight scaled", spoilt(lambda r: terms_of(r).update(c=0.5 + 2**-53)), "weights", "line 1"),
    ("union as centroid", union_as_centroid, "weights", "2 of 2 rows: has a weight that is not"),
    ("share over p kept", over_p_kept, "guarantee", "more than p=0.4 of its members have"),
    ("fact changed", spoilt(lambda r: r.facts.update(groups=3)), "facts", "groups is not 2"),
    ("fact missing", spoilt(lambda r: r.facts.pop("users")), "facts", "users is missing"),
    ("fact unknown", spoilt(lambda r: r.facts.update(safe=1)), "facts", "1 facts are not known"),
    ("row named for a user", spoilt(lambda r: rename(r, "anna")), "identity", "named like a user"),
    ("row named at will", spoilt(lambda r: rename(r, "vip01")), "identity", "by its number"),
    ("seed of a user", spoilt(put("first_seed", "anna")), "identity", "it holds a user's id"),
    ("choice of a user", spoilt(lambda r: r.choices.update(u=["anna"])), "identity", "user's id"),
    ("a query", spoilt(lambda r: r.choices.update(q="cheap flights")), "identity", "not the for"),
    ("users among numbers", spoilt(lambda r: r.choices.update(size=[[4417, 1]])), "choices",
     "release.json: size of the profiles must be a whole number from 1 to 2147483647, or null"),
    ("a choice of no name", spoilt(lambda r: r.choices.update(ids=4417)), "choices",
     "of the profiles it may state gap, granularity, phrases, robots, size,"),
    ("users a truth", spoilt(lambda r: r.choices.update(users=True)), "choices", "users of the"),
    ("robots 0", spoilt(lambda r: r.choices.update(robots=0)), "choices", "robots of the"),
    ("gap below 0", spoilt(lambda r: r.choices.update(gap=-1)), "choices", "number of seconds"),
    ("gap beyond floats", spoilt(lambda r: r.choices.update(gap=10**400)), "choices", "gap of"),
    ("all for a test", spoilt(lambda r: r.choices.update(test_share=1)), "choices", "below 1"),
    ("phrases 1", spoilt(lambda r: r.choices.update(phrases=1)), "choices", "true or false"),
    ("weights of terms", spoilt(lambda r: r.choices.update(weights="all")), "choices",
     "weights of the profiles must be one of binary, tf, tfidf, recency"),
    ("terms nested", spoilt(lambda r: r.choices.update(terms={"all": 1})), "choices", "terms of"),
    ("a time", spoilt(lambda r: r.choices.update(log="2006-03-01")), "identity", "holds a time"),
    ("NaN", spoilt(lambda r: terms_of(r).update(c=float("nan"))), "rows", "line 1: NaN or"),
    ("weight below 0", spoilt(lambda r: terms_of(r).update(c=-0.5)), "rows", "line 1: a weight"),
    ("weight true", spoilt(lambda r: terms_of(r).update(c=True)), "rows", "a weight is no number"),
    ("weight beyond floats", spoilt(lambda r: terms_of(r).update(c=10**400)), "rows", "not finite"),
    ("row without terms", spoilt(lambda r: terms_of(r).clear()), "rows", "there is no term"),
    ("row of nobody", spoilt(lambda r: r.rows.append(
        {"row": "g0003", "users": 0, "terms": {"a": 1.0}})), "partition", "nobody has this row"),
    ("p above 1", spoilt(put("p", 1.5)), "parameters", "p must be above 0 and at most 1"),
    ("a below 0", spoilt(put("a", -1)), "parameters", "a must be a whole number from 0"),
    ("a an id", spoilt(put("a", 4417)), "parameters", "a must be a whole number from 0 to 100"),
    ("neighbours 1001", spoilt(put("neighbours", 1001)), "parameters", "from 1 to 1000"),
    ("documents an id", spoilt(put("documents", 4417749)), "parameters", "from 2 to 1000000"),
    ("k beyond all", spoilt(put("k", 2**31)), "parameters", "from 1 to 2147483647, or null"),
    ("l beyond all", spoilt(put("l", 1e308)), "parameters", "l must be from 1 to 2147483647"),
    ("size beyond all", spoilt(lambda r: r.choices.update(size=2**31)), "choices", "2147483647"),
    ("parameter lost", spoilt(lambda r: r.parameters.pop("k")), "parameters", "k is missing"),
    ("parameter unknown", spoilt(put("b", 1)), "parameters", "there are more than"),
    ("nothing promised", lambda: eight(p=None, k=None), "parameters", "so nothing is promised"),
    ("every term of nothing", spoilt(put("p", None), guarantee="every-term"), "parameters",
     "every-term needs p"),
    ("other profiles", spoilt(lambda r: setattr(r, "input_hash", "0")), "input", "other profiles"),
    ("seed below 0", spoilt(lambda r: setattr(r, "seed", -1)), "release.json", "seed is below 0"),
    ("seed a text", spoilt(lambda r: setattr(r, "seed", "1")), "release.json", "wrong type"),
]  # fmt: skip


@pytest.mark.parametrize(("_name", "make", "claim", "told"), FAULTS, ids=[f[0] for f in FAULTS])
def test_broken_anonymizers_are_refused(
    tmp_path: Path, _name: str, make: Fault, claim: str, told: str
) -> None:
    found = breaches(make(), tmp_path)
    assert any(claim == of and told in line for of, line in found), found


def test_a_bound_that_is_met_exactly_holds(tmp_path: Path) -> None:
    """Five distinct terms are needed and there are five; 0.1 + 0.2 is no trap for 0.3."""
    assert breaches(eight(p=0.4), tmp_path) == []  # 2 / 0.4 = 5
    profiles: Rows = {f"u{n}": {f"t{n}-{i}": 1.0 for i in range(3)} for n in range(10)}
    release = made(profiles, [list(profiles)], {**PARAMETERS, "p": 0.1})  # 3 / 0.1 = 30
    assert breaches(release, tmp_path) == []
    equal: Rows = {f"u{n}": {f"t{n}": 1.0} for n in range(4)}
    release = made(equal, [list(equal)], {**PARAMETERS, "p": None, "l": 4.0, "t": 1e-9})
    assert breaches(release, tmp_path) == []  # entropy log 4; no distance


@pytest.mark.parametrize("weight", [1e-300, 1.0, 1e300])
def test_weights_of_any_size_are_judged(tmp_path: Path, weight: float) -> None:
    profiles: Rows = {"u1": {"a": weight, "b": 1.0}, "u2": {"a": weight, "c": weight}}
    given = {**PARAMETERS, "p": 1.0, "l": 1.0, "t": 1.0}
    release = made(profiles, [["u1", "u2"]], given)
    assert breaches(release, tmp_path) == []
    too_large: Rows = {"u1": {"a": 1e308, "b": 1.0}, "u2": {"a": 1e308}}
    release = made(too_large, [["u1", "u2"]], {**given, "representative": "union"})
    assert "too large to be added up" in str(breaches(release, tmp_path))


FAR = st.lists(st.sampled_from([5e-324, 1e-300, 0.1, 1.0, 3.0, 1e300]), min_size=1, max_size=6)


@given(FAR, FAR)
def test_divergence_and_entropy_of_any_weights_are_those_of_exact_fractions(
    mine: list[float], others: list[float]
) -> None:
    """The group has the first terms; everybody has its weights and the others'."""
    width = max(len(mine), len(others))
    everybody = [
        sum((Fraction(w[at]) for w in (mine, others) if at < len(w)), Fraction())
        for at in range(width)
    ]
    m = [Fraction(weight) / sum(map(Fraction, mine)) for weight in mine]
    a = [weight / sum(everybody) for weight in everybody]
    expected = sum(a[len(m) :], Fraction()).__float__() / 2
    for x, y in zip(m, a, strict=False):
        expected += sum(float(z) * log2_of(2 * z / (x + y)) for z in (x, y)) / 2
    unit = 2**1074
    numbers = [int(weight * unit) for weight in everybody]
    assert divergence(mine, numbers, np.arange(len(mine))) == pytest.approx(expected, abs=1e-14)
    in_nats = -sum(float(x) * log2_of(x) for x in m) * math.log(2)
    assert entropy(mine) == pytest.approx(in_nats, abs=1e-14)


def log2_of(ratio: Fraction) -> float:
    """Return a logarithm of whole numbers where the ratio is below all floats."""
    if float(ratio):
        return math.log2(float(ratio))
    return math.log2(ratio.numerator) - math.log2(ratio.denominator)


def test_a_mean_over_many_is_judged_by_its_exact_sum(tmp_path: Path) -> None:
    profiles: Rows = {f"u{n:04d}": {"a": 0.1, "b": 1.0} for n in range(6000)}
    release = made(profiles, [list(profiles)], {**PARAMETERS, "p": 1.0})
    assert breaches(release, tmp_path) == []  # a plain sum of 6000, right or not by rounding
    terms_of(release)["a"] *= 1 + 2e-12
    assert "not the centroid's" in str(breaches(release, tmp_path))


MADE: list[dict[str, Any]] = [  # by this verb, at its defaults and at others
    {"size": None, "users": None, "weights": "binary", "granularity": "user", "gap": 1800,
     "test_share": 0.0, "terms": "wordnet", "phrases": False, "robots": None},
    {"size": 2, "users": 8, "weights": "recency", "granularity": "session", "gap": 0.5,
     "test_share": 0.2, "terms": "letters-digits", "phrases": True, "robots": 100},
    {"gap": None},
]  # fmt: skip


@pytest.mark.parametrize("choices", MADE)
def test_choices_that_can_be_made_hold(tmp_path: Path, choices: dict[str, Any]) -> None:
    assert breaches(replace(eight(), choices=choices), tmp_path) == []


# -- sessions --------------------------------------------------------------------------------------

SESSIONS: Rows = {f"{who}#{n}": {f"{who}{n}": 1.0} for who in ("anna", "be#ta") for n in (1, 2)}


def told_of_sessions(rows: Rows, place: Path, **choices: Any) -> list[str]:
    users = list(rows)
    release = made(rows, [users[:2], users[2:]], {**PARAMETERS, "p": 0.5, "k": 2})
    verdict = judged(replace(release, choices=choices), place)
    assert verdict.holds
    found = [finding.line for finding in verdict.findings if finding.claim == "sessions"]
    assert ("people" in verdict.checked) == bool(found)
    return found


@pytest.mark.parametrize("choices", [{"granularity": "session"}, {"granularity": "user"}, {}])
def test_it_is_told_that_users_are_sessions(tmp_path: Path, choices: dict[str, Any]) -> None:
    """Whatever the choices say: whose names are all sessions' are sessions."""
    (line,) = told_of_sessions(SESSIONS, tmp_path, **choices)
    assert line == (
        "users are 4 sessions of 2 people: the promise is about sessions, not people; "
        "2 rows stand for one person"
    )
    crossed = {user: SESSIONS[user] for user in ("anna#1", "be#ta#1", "anna#2", "be#ta#2")}
    (line,) = told_of_sessions(crossed, tmp_path, **choices)
    assert line.endswith("the promise is about sessions, not people")


@pytest.mark.parametrize(
    "users",
    [
        ("anna#1", "anna#2", "carla#1", "dora"),  # not all are sessions
        ("anna#1", "berta#1", "carla#1", "dora#2"),  # nobody has two
        ("anna#1", "anna#x", "carla#1", "carla#02"),  # numbers as the product writes none
        ("#1", "#2", "#3", "#4"),  # of nobody
    ],
)
def test_users_are_people_where_neither_choices_nor_names_say_sessions(
    tmp_path: Path, users: tuple[str, ...]
) -> None:
    rows = {user: {f"t{number}": 1.0} for number, user in enumerate(users)}
    assert told_of_sessions(rows, tmp_path) == []
    (line,) = told_of_sessions(rows, tmp_path, granularity="session")
    assert line.startswith("users are 4 sessions of")


# -- forged files ----------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Path:
    eight().write(tmp_path / "r")
    eight().write_profiles(tmp_path / "p.jsonl")
    return tmp_path


def verdict_at(place: Path) -> str:
    verdict = verify(place / "r", place / "p.jsonl")
    return "; ".join(f"{f.claim}: {f.where}: {f.line}" for f in verdict.breaches)


@pytest.mark.parametrize(
    "name", ["release.json", "rows.jsonl", "private/members.jsonl", "private/checksums.sha256"]
)
def test_every_flipped_byte_and_cut_and_missing_part_is_a_breach(place: Path, name: str) -> None:
    path = place / "r" / name
    good = path.read_bytes()
    for at in range(0, len(good), 7):
        for content in (good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :], good[:at]):
            path.write_bytes(content)
            assert "files: " in verdict_at(place)
    path.unlink()
    assert f"files: {name}: can't be read (No such file" in verdict_at(place)
    path.write_bytes(good)
    path.chmod(0o600)
    assert verdict_at(place) == ""


def substitute(path: Path, old: str, new: str) -> None:
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode(), 1))


def forge(place: Path, name: str, old: str, new: str) -> None:
    """Change a part and all hashes with it, as one would who knows the format."""
    folder = place / "r"
    before = sha256((folder / "rows.jsonl").read_bytes())
    substitute(folder / name, old, new)
    substitute(folder / "release.json", before, sha256((folder / "rows.jsonl").read_bytes()))
    named = ("rows.jsonl", "private/members.jsonl", "release.json")
    sums = "".join(f"{sha256((folder / part).read_bytes())}  {part}\n" for part in named)
    (folder / "private/checksums.sha256").write_text(sums)


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("rows.jsonl", '"c": 0.5', '"c": 0.5, "c": 0.5', "rows.jsonl, line 1: a name occurs twice"),
        ("rows.jsonl", '"c": 0.5', '"c" : 7, "c": 0.5', "rows.jsonl, line 1: a name occurs twice"),
        ("rows.jsonl", '"c": 0.5', '"c": [], "c": 0.5', "rows.jsonl, line 1: a name occurs twice"),
        ("rows.jsonl", '"c": 0.5', '"\\u0063": 7, "c": 0.5', "line 1: a name occurs twice"),
        ("rows.jsonl", '"users": 4', '"users": 4, "users": 4', "line 1: a name occurs twice"),
        ("rows.jsonl", '"users": 4', '"users": 4.0', "users must be of type int"),
        ("rows.jsonl", '"users": 4', '"users": true', "users must be of type int"),
        ("rows.jsonl", '"users": 4', f'"users": {"9" * 30}', "users is not the number of members"),
        ("rows.jsonl", '"users": 4', '"users": 4, "anna": 1', "the names are not exactly row"),
        ("rows.jsonl", '"c": 0.5', '"\\ud800": 0.5', "rows.jsonl, line 1"),
        ("rows.jsonl", "g0002", "g0001", "line 2: the row occurs twice"),
        ("rows.jsonl", "{", "[" * 100000, "rows.jsonl, line 1"),
        ("private/members.jsonl", "hanna", "anna", "line 8: the user occurs twice"),
        ("private/members.jsonl", "hanna", "nobody", "line 8: its user has no profile"),
        ("private/members.jsonl", "g0002", "g0009", "line 5: there is no such row"),
        ("release.json", '"format": 3', '"format": 2', "format must be 3; make the release again"),
        ("release.json", '"seed": 0', '"seed": 0, "seed": 0', "a name occurs twice"),
        ("release.json", '"seed": 0', '"seed": 0, "at": 0', "the names are not exactly format"),
        ("release.json", '"seed": 0', '"seed": NaN', "NaN or Infinity is no number"),
        ("release.json", "p-linkability", "magic", "its method can't be judged"),
    ],
)
def test_forgeries_are_refused(place: Path, name: str, old: str, new: str, told: str) -> None:
    forge(place, name, old, new)
    if new == "magic":
        (place / "r" / "rows.jsonl").write_text("")  # else the method alone would be told
    assert told in verdict_at(place)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"c": 0.5', '"c": 0.50000000000000000000004417749'),
        ('"c": 0.5', '"c": 5e-1'),
        ('"c": 0.5', '"c":  0.5'),
        ('"c": 0.5', '"\\u0063": 0.5'),
        ('"b": 0.5, "c": 0.5', '"c": 0.5, "b": 0.5'),
        ('{"row": "g0001", "users": 4', '{"users": 4, "row": "g0001"'),
        ('{"row"', ' {"row"'),
        ('{"row"', '\ufeff{"row"'),
        ("}}\n", "}}\r\n"),
        ("}}\n", "}} \n"),
    ],
)
def test_a_row_has_one_form(place: Path, old: str, new: str) -> None:
    """What may be written in several ways may tell who is in the row."""
    forge(place, "rows.jsonl", old, new)
    assert verdict_at(place) == (
        "identity: rows.jsonl, line 1: is not written as rows are (terms not in sorted order, or "
        "other blanks, digits, escapes)"
    )


def test_whole_weights_and_the_last_line_have_one_form(place: Path) -> None:
    eight(representative="union").write(place / "r")
    assert verdict_at(place) == ""
    forge(place, "rows.jsonl", '"j": 1.0}}\n', '"j": 1.0}}')
    assert "line 2: is not written as rows are" in verdict_at(place)
    forge(place, "rows.jsonl", '"c": 1.0', '"c": 1')
    assert "line 1: 2 of 2 rows: is not written as rows are" in verdict_at(place)


@pytest.mark.parametrize(
    ("users", "letters"),
    [((), "g"), (("g0001",), "gg"), (("g0002", "gg0001"), "ggg"), (("g1", "gg0001"), "g")],
)
def test_rows_have_no_more_g_than_users_names_make_needful(
    tmp_path: Path, users: tuple[str, ...], letters: str
) -> None:
    """Else their number could tell 4,417 things."""
    names = [*users, *EIGHT][:8]
    profiles = dict(zip(names, EIGHT.values(), strict=True))
    for prefix in ("g", "gg", "ggg", "gggg"):
        release = made(profiles, [names[:4], names[4:]], {**PARAMETERS, "p": 0.4})
        for part in (*release.rows, *release.members):
            part["row"] = prefix + part["row"][1:]
        assert judged(release, tmp_path).holds == (prefix == letters)


def test_rows_changed_with_their_checksum_are_told_by_the_manifest(place: Path) -> None:
    forge(place, "release.json", '"rows.jsonl": "', '"rows.jsonl": "0')
    assert "release.json: its hash of rows.jsonl is wrong" in verdict_at(place)


def test_what_others_may_read_or_lies_about_is_a_breach(place: Path) -> None:
    (place / "r" / "private" / "members.jsonl").chmod(0o640)
    assert "private part: private: others may read it" in verdict_at(place)
    (place / "r" / "private" / "members.jsonl").chmod(0o600)
    (place / "r" / "private").chmod(0o755)
    assert "others may read it" in verdict_at(place)
    (place / "r" / "private").chmod(0o700)
    (place / "r" / "notes.txt").write_text("anna is in g0001")
    assert "there is more in the folder than" in verdict_at(place)


@pytest.mark.parametrize("target", ["nowhere", "../rows.jsonl", "..", None])
def test_a_link_or_pipe_in_the_private_part_is_a_breach(place: Path, target: str | None) -> None:
    path = place / "r" / "private" / "notes"
    path.symlink_to(target) if target else os.mkfifo(path, 0o600)
    assert verdict_at(place) == (
        "private part: private: it, or something in it, is a link or no regular file; put the "
        "files themselves there"
    )
    path.unlink()
    (place / "r" / "private").rename(place / "elsewhere")
    (place / "r" / "private").symlink_to(place / "elsewhere")
    assert "private part: private: it, or something in it, is a link" in verdict_at(place)


@pytest.fixture
def patience() -> Iterator[None]:
    """End a test that waits."""

    def end(*_: object) -> None:
        raise AssertionError("waited")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "name", ["release.json", "rows.jsonl", "private/members.jsonl", "private/checksums.sha256"]
)
def test_a_pipe_in_place_of_a_part_is_a_breach(place: Path, name: str) -> None:
    (place / "r" / name).unlink()
    os.mkfifo(place / "r" / name, 0o600)
    assert verdict_at(place) == f"files: {name}: can't be read (it is no regular file)"


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", ["p.jsonl", "p.npz"])
def test_profiles_that_are_a_pipe_are_bad_input(place: Path, name: str) -> None:
    (place / name).unlink(missing_ok=True)
    os.mkfifo(place / name)
    with pytest.raises(BadInput, match=rf"{name}: can't be read \(it is no regular file\)"):
        verify(place / "r", place / name)


def test_an_unknown_method_and_no_release_at_all_are_told(place: Path) -> None:
    replace(eight(), method="magic").write(place / "r")
    with pytest.raises(BadParameter, match=f"these can: {', '.join(JUDGES)}"):
        verdict_at(place)
    for path in (place, place / "missing"):
        with pytest.raises(BadInput, match="is no release"):
            verify(path, place / "p.jsonl")


# -- rows that are foreseen ------------------------------------------------------------------------


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)


@settings(max_examples=80)
@given(
    st.lists(st.dictionaries(TEXTS, st.sampled_from([1.0, 0.1, 3e-7]), min_size=1), min_size=2),
    st.sampled_from(["centroid", "union"]),
    st.integers(0, 10_000),
)
@example([{"0": 1.0}, {"0": 1.0}, {"0": 0.1}, {"0": 0.1}, {"0": 1.0}], "centroid", 0)
def test_rows_written_by_the_product_are_foreseen_and_one_byte_more_is_not(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, float]],
    representative: str,
    at: int,
) -> None:
    profiles = Profiles.from_rows({f"u{number}": row for number, row in enumerate(rows)})
    half = len(rows) // 2
    group_of = np.array([0] * half + [1] * (len(rows) - half))
    given_ = {**PARAMETERS, "p": 1, "representative": representative}
    made_rows = represent(profiles, Grouping(group_of), representative)
    release = Release(
        made_rows,
        profiles.users,
        group_of,
        "p-linkability",
        given_,
        promise=promise_of("p-linkability", given_),
    )
    folder = tmp_path_factory.mktemp("r")
    write_release(release, folder / "r", seed=0, input_hash="")
    write_profiles(profiles, folder / "p.npz")
    parts, people = read_files(folder / "r", [ROWS, MEMBERS]), read_people(folder / "p.npz")

    def foreseen(content: bytes) -> Foreseen | None:
        return foresee({**parts, "rows.jsonl": content}, people, given_, JUDGE.expected)

    good = parts["rows.jsonl"]
    found = foreseen(good)
    assert found is not None
    read = read_rows(parts, people)
    assert found.rows.names == read.names
    for one, other in zip(found.rows[1:4], read[1:4], strict=True):
        assert str(one) == str(other)
    at %= len(good)
    changed = good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
    other = foreseen(changed)
    assert other is None or (other.rows.names, other.rows.users.tolist()) != (
        found.rows.names,
        found.rows.users.tolist(),
    )  # a changed number of users is judged behind
    assert foreseen(good[:at]) is None
    assert foreseen(good + b"\n") is None


# -- profiles --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "line 1: there is no line"),
        (b'{"user": "u", "terms": {}}\n', "line 1: there is no term"),
        (b'{"user": "u", "terms": {"": 1}}\n', "line 1: a term is empty"),
        (b'{"user": "u", "terms": {"a": 1, "a": 1}}\n', "line 1: a name occurs twice"),
        (b'{"user": "u", "terms": {"a": 1}}\n' * 2, "line 2: the user occurs twice"),
        (b'{"user": "", "terms": {"a": 1}}\n', "line 1: the user is empty"),
        (b'{"user": "u", "terms": {"a": -1}}\n', "line 1: a weight is not above 0"),
        (b'{"user": "u", "terms": {"a": 1e999}}\n', "line 1: a weight is not above 0"),
        (b'{"user": "u", "terms": {"a": "1"}}\n', "line 1: a weight is no number"),
        (b'{"user": 1, "terms": {"a": 1}}\n', "line 1: user must be of type str"),
        (b"\xff\n", "line 1: 'utf-8' codec"),
    ],
)
def test_broken_profiles_are_bad_input(place: Path, content: bytes, told: str) -> None:
    path = place / "bad.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadInput) as refused:
        verify(place / "r", path)
    assert str(path) in str(refused.value)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["p.txt", "missing.jsonl", "missing.npz"])
def test_profiles_that_cannot_be_read_are_bad_input(place: Path, name: str) -> None:
    with pytest.raises(AnonymizerError, match=name):
        verify(place / "r", place / name)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
WEIGHTS = st.floats(0, exclude_min=True, allow_infinity=False)
PROFILES = st.dictionaries(
    NAMES, st.dictionaries(NAMES, WEIGHTS, min_size=1, max_size=4), min_size=1, max_size=5
)


@settings(max_examples=60)
@given(PROFILES)
def test_the_judge_reads_and_hashes_as_the_product_does(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows
) -> None:
    """They share no code, so that the recipe of the hash is told twice and must agree."""
    profiles = Profiles.from_rows(rows)
    folder = tmp_path_factory.mktemp("p")
    for form in ("jsonl", "npz"):
        path = folder / f"p.{form}"
        write_profiles(profiles, path)
        people = read_people(path)
        assert (people.users, people.terms) == (list(rows), list(profiles.terms))
        assert people.cells.weights.tolist() == profiles.weights.data.tolist()
        assert people.fingerprint() == fingerprint(profiles)


def test_a_forged_npz_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    write_profiles(Profiles.from_rows(EIGHT), path)
    with np.load(path) as stored:
        arrays = dict(stored)
    changes: list[tuple[str, Any]] = [
        (name, value) for name in ("ends", "columns", "weights") for value in (-1, 99)
    ]
    for name, value in [*changes, ("weights", np.nan), ("weights", 2.0), ("users", 0)]:
        forged = arrays[name].copy()
        forged[-1] = value
        np.savez(path, **{**arrays, name: forged})
        with pytest.raises(BadInput, match="damaged, or no file of profiles"):
            read_people(path)
    for name in arrays:
        np.savez(path, **{other: array for other, array in arrays.items() if other != name})
        with pytest.raises(BadInput, match="damaged, or no file of profiles"):
            read_people(path)


def test_shuffled_terms_of_profiles_are_the_same_profiles(place: Path) -> None:
    path = place / "p.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        record["terms"] = dict(reversed(record["terms"].items()))
    path.write_text("".join(json.dumps(record) + os.linesep for record in records))
    assert verdict_at(place) == ""

"""Releases of reduced profiles, whole and broken on purpose: each fault is told by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anonymizer.verification.judge import verify

from ...small_reduced import PROFILES, reduced, small
from ...small_release import Rows, SmallRelease
from ..faults import breaches, judged


def test_a_release_that_holds(tmp_path: Path) -> None:
    verdict = judged(small(m=3), tmp_path)
    assert verdict.breaches == []
    assert verdict.holds
    assert verdict.checked == {
        "users": 4, "rows": 4, "terms": 8, "cells": 10, "users_left_out": 1,
    }  # fmt: skip
    told = {finding.claim: finding.line for finding in verdict.findings}
    assert told["k, m"].endswith("fewest rows by number of terms: 2 for 1, 2 for 2, 2 for 3")
    assert told["deletions"] == "3 terms of users were deleted, in 3 passes"
    assert "it does not cover the weights, which are the user's own" in told["guarantee"]
    told = {f.claim: f.line for f in judged(small(frequencies="drop"), tmp_path).findings}
    assert told["guarantee"].endswith("a row holds nothing else of its user")


def test_one_row_is_told_as_one(tmp_path: Path) -> None:
    told = {finding.claim: finding.line for finding in judged(small(k=1), tmp_path).findings}
    assert "stand in k=1 row; fewest" in told["k, m"]


@pytest.mark.parametrize("name", ["average_linkability", "change_of_belief", "terms_suppressed"])
def test_what_describes_single_people_is_not_stated(tmp_path: Path, name: str) -> None:
    """A group is one person, so that these tell the size of somebody's whole history."""
    release = small()
    release.facts[name] = {"average_linkability": 13 / 5 / 3, "change_of_belief": 0.8}.get(name, 2)
    (breach,) = breaches(release, tmp_path)
    assert breach == ("facts", "release.json: 1 facts are not known to the judge")


def test_where_nothing_is_deleted_there_is_no_record(tmp_path: Path) -> None:
    whole = {user: list(row) for user, row in PROFILES.items()}
    release = reduced(PROFILES, whole, {"k": 1})
    assert release.deletions is None
    verdict = judged(release, tmp_path)
    assert verdict.holds
    assert "is absent, as nothing was deleted" in str(verdict)
    assert not (tmp_path / "r" / "private" / "deletions.jsonl").exists()
    release.deletions = []
    assert "line 1: there is no line" in str(breaches(release, tmp_path))


# -- the promise -----------------------------------------------------------------------------------

# Three terms, each two of which three rows have; all three together only one row has.
TRIANGLE: Rows = {
    "u1": {"a": 1.0, "b": 1.0, "c": 1.0},
    **{f"u{n}": dict.fromkeys(some, 1.0) for n, some in enumerate(("ab", "bc", "ac") * 2, 2)},
}
# Four terms, each three of which two rows have; all four together only one row has.
FOUR = ("abcd", "abc", "abd", "acd", "bcd")
PYRAMID: Rows = {f"u{n}": dict.fromkeys(some, 1.0) for n, some in enumerate(FOUR)}


def whole(profiles: Rows, **parameters: Any) -> SmallRelease:
    return reduced(profiles, {user: list(row) for user, row in profiles.items()}, parameters)


@pytest.mark.parametrize(
    ("release", "told"),
    [
        (lambda: small(k=3), "4 of 4 rows: has a term, which fewer than k=3 rows have; fewest rows "
         "by number of terms: 2 for 1"),
        (lambda: whole(TRIANGLE, k=3, m=3), "line 3: has 3 terms together, which fewer than k=3 "
         "rows have; fewest rows by number of terms: 5 for 1, 3 for 2, 1 for 3"),
        (lambda: whole(TRIANGLE, k=4, m=2), "7 of 7 rows: has 2 terms together, which fewer than "
         "k=4 rows have; fewest rows by number of terms: 5 for 1, 3 for 2"),
        (lambda: whole(PYRAMID, k=2, m=4), "line 2: has 4 terms together, which fewer than k=2 "
         "rows have; fewest rows by number of terms: 4 for 1, 3 for 2, 2 for 3, 1 for 4"),
    ],
)  # fmt: skip
def test_one_row_short(tmp_path: Path, release: Callable[[], SmallRelease], told: str) -> None:
    ((claim, line),) = breaches(release(), tmp_path)
    assert claim == "k, m"
    assert line.startswith("rows.jsonl, line ")
    assert told in line


# -- broken on purpose -----------------------------------------------------------------------------

Change = Callable[[SmallRelease], object]


def row_of(release: SmallRelease, user: str) -> dict[str, Any]:
    (name,) = [member["row"] for member in release.members if member["user"] == user]
    (row,) = [row for row in release.rows if row["row"] == name]
    return row


def deleted(release: SmallRelease, user: str) -> dict[str, Any]:
    (record,) = [record for record in release.deletions or () if record["user"] == user]
    terms: dict[str, Any] = record["terms"]
    return terms


def invent(term: str) -> Change:
    def change(release: SmallRelease) -> None:
        row = row_of(release, "anna")
        row["terms"] = dict(sorted({**row["terms"], term: 1.0}.items()))

    return change


def keep_what_is_deleted(release: SmallRelease) -> None:
    row_of(release, "anna")["terms"]["own1"] = 4.0


def share_a_row(release: SmallRelease) -> None:
    """Berta is in anna's row too, and hers is gone."""
    gone, row = row_of(release, "berta"), row_of(release, "anna")
    release.rows.remove(gone)
    row["users"] = 2
    for member in release.members:
        member["row"] = row["row"] if member["user"] in ("anna", "berta") else member["row"]
    for number, other in enumerate(release.rows, 1):
        for member in release.members:
            member["row"] = f"g{number:04d}" if member["row"] == other["row"] else member["row"]
        other["row"] = f"g{number:04d}"


def turn_rows(release: SmallRelease) -> None:
    """The rows change places, and their names stay where they were."""
    names = [row["row"] for row in release.rows]
    new = dict(zip(reversed(names), names, strict=True))
    release.rows = [{**row, "row": new[row["row"]]} for row in reversed(release.rows)]
    for member in release.members:
        member["row"] = new[member["row"]]


def turn_first_two(release: SmallRelease) -> None:
    """Carla's row and dora's have the same terms; hers with the smaller weights comes first."""
    first, second = row_of(release, "dora"), row_of(release, "carla")
    first["terms"], second["terms"] = second["terms"], first["terms"]
    for member in release.members:
        if member["user"] in ("carla", "dora"):
            member["row"] = (first if member["user"] == "carla" else second)["row"]


def put(**values: Any) -> Change:
    return lambda release: release.parameters.update(values)


def without(name: str) -> Change:
    return lambda release: release.parameters.pop(name)


def fact(name: str, value: Any) -> Change:
    return lambda release: release.facts.update({name: value})


def tell(user: str, **terms: Any) -> Change:
    return lambda release: deleted(release, user).update(terms)


def forget(user: str) -> Change:
    def change(release: SmallRelease) -> None:
        release.deletions = [r for r in release.deletions or () if r["user"] != user]

    return change


FAULTS: list[tuple[str, Change, str, str]] = [
    ("another's term", invent("cherry"), "terms", "line 1: has a term that its user lacks"),
    ("deleted and kept", keep_what_is_deleted, "deletions", "line 1: has a term that the row has"),
    ("weight bent", lambda r: row_of(r, "anna")["terms"].update(banana=2.0 + 2**-51), "weights",
     "line 1: has a weight that is not its user's"),
    ("weight dropped", put(frequencies="drop"), "weights", "has a weight that is not 1"),
    ("two in a row", share_a_row, "rows", "line 1: is not one user's"),
    ("two told of", lambda r: r.rows[2].update(users=2), "partition", "line 3: users is not the"),
    ("a user in two rows", lambda r: r.members.append({"user": "anna", "row": "g0003"}),
     "partition", "line 5: the user occurs twice"),
    ("a row of nobody", lambda r: r.members.pop(), "partition", "nobody has this row"),
    ("a stranger", lambda r: r.members[0].update(user="zoe"), "partition", "line 1: its user has"),
    ("an empty row", lambda r: r.rows[1]["terms"].clear(), "rows", "line 2: there is no term"),
    ("rows turned", turn_rows, "order", "3 of 4 rows: stands before a row that must come first"),
    ("rows of equal terms turned", turn_first_two, "order", "line 3: stands before a row that"),
    ("left out, off by one", fact("users_left_out", 0), "facts", "users_left_out is not 1"),
    ("users kept", fact("users_kept", 1.0), "facts", "users_kept is not 0.8"),
    ("terms kept", fact("distinct_terms_kept", 1.0), "facts", "distinct_terms_kept is not 0.62"),
    ("log size", fact("log_size_kept", 0.5), "facts", "log_size_kept is not 0.59"),
    ("a message in a fact", fact("users_kept", 0.8 + 2**-52), "facts", "users_kept is not 0.8"),
    ("fact missing", lambda r: r.facts.pop("log_size_kept"), "facts", "log_size_kept is missing"),
    ("all users counted", fact("users", 5), "facts", "users is not 4"),
    ("no record", lambda r: setattr(r, "deletions", None), "deletions",
     "private/deletions.jsonl: is missing, though 3 terms of users were deleted"),
    ("deletion missing", forget("lena"), "deletions",
     "private/deletions.jsonl: 1 terms of users are neither in it nor in a row"),
    ("deletion of another's", tell("anna", cherry=1.0), "deletions",
     "private/deletions.jsonl, line 1: has a term that its user lacks"),
    ("deletion of what is kept", tell("anna", apple=1.0), "deletions",
     "private/deletions.jsonl, line 1: has a term that the row has"),
    ("deletion of a stranger's", lambda r: r.deletions.append({"user": "zoe", "terms": {"a": 1}}),
     "deletions", "private/deletions.jsonl, line 4: its user has no profile"),
    ("deletion told twice", lambda r: r.deletions.append(dict(r.deletions[0])), "deletions",
     "line 4: the user occurs twice"),
    ("half a pass", tell("anna", own1=1.5), "deletions", "a pass is not a whole number from 1"),
    ("pass 0", tell("anna", own1=0), "deletions", "line 1: a weight is not above 0"),
    ("pass in words", tell("anna", own1="1"), "deletions", "line 1: a weight is no number"),
    ("k 0", put(k=0), "parameters", "k must be a whole number from 1 to 2147483647"),
    ("m 5", put(m=5), "parameters", "m must be a whole number from 1 to 4"),
    ("algorithm", put(algorithm="magic"), "parameters", "algorithm must be one of insert, greedy"),
    ("target", put(target="fame"), "parameters", "target must be one of logsize, users, fis"),
    ("ties", put(ties="last"), "parameters", "ties must be one of random, first"),
    ("reinsert", put(reinsert=True), "parameters", "reinsert must be one of none, groups"),
    ("frequencies", put(frequencies="some"), "parameters", "frequencies must be one of keep"),
    ("a path", put(marketing="/home/anna/bids.csv"), "parameters",
     "marketing must be one of none, synthetic, given"),
    ("a path told", put(marketing="/home/anna/bids.csv"), "identity", "words that are not the"),
    ("a value of no table", put(target="bid"), "parameters", "marketing must be none, except"),
    ("insert with ties", put(algorithm="insert", ties="first"), "parameters",
     "ties must be random with algorithm insert"),
    ("insert with reinsertion", put(algorithm="insert", reinsert="groups"), "parameters",
     "reinsert must be none with algorithm insert"),
    ("insert in passes", put(algorithm="insert"), "deletions", "insert makes only one pass"),
    ("parameter lost", without("ties"), "parameters", "ties is missing"),
    ("parameter unknown", put(p=0.4), "parameters", "there are more than algorithm"),
]  # fmt: skip


@pytest.mark.parametrize(("_name", "change", "claim", "told"), FAULTS, ids=[f[0] for f in FAULTS])
def test_broken_releases_are_refused(
    tmp_path: Path, _name: str, change: Change, claim: str, told: str
) -> None:
    release = small()
    change(release)
    found = breaches(release, tmp_path)
    assert any(claim == of and told in line for of, line in found), found


def test_the_record_of_deletions_is_read_where_it_is_written_otherwise(tmp_path: Path) -> None:
    """It is private, so its form tells nobody anything; what it says counts."""
    release = small()
    release.deletions = [
        {"user": record["user"], "terms": {term: int(at) for term, at in record["terms"].items()}}
        for record in reversed(release.deletions or ())
    ]
    assert breaches(release, tmp_path) == []


@pytest.mark.parametrize("frequencies", ["keep", "drop"])
def test_what_the_product_writes_is_not_read_strictly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frequencies: str
) -> None:
    """That would take longer than all else."""

    def refuse(*_: object) -> None:
        raise AssertionError("read")

    monkeypatch.setattr("anonymizer.verification.files.evidence.read_rows", refuse)
    monkeypatch.setattr("anonymizer.verification.deletions._read", refuse)
    assert judged(small(frequencies=frequencies), tmp_path).holds
    release = small(frequencies=frequencies)
    release.rows[0]["terms"]["own1"] = 1.0
    with pytest.raises(AssertionError, match="read"):
        judged(release, tmp_path)
    release = small(frequencies=frequencies)
    deleted(release, "anna").clear()
    with pytest.raises(AssertionError, match="read"):
        judged(release, tmp_path)


def test_every_flipped_byte_and_cut_of_the_record_is_a_breach(tmp_path: Path) -> None:
    folder, profiles = small().write(tmp_path / "r"), small().write_profiles(tmp_path / "p.jsonl")
    path = folder / "private" / "deletions.jsonl"
    good = path.read_bytes()
    for at in range(0, len(good), 5):
        for content in (good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :], good[:at]):
            path.write_bytes(content)
            assert "changed since its checksum" in str(verify(folder, profiles).breaches)
    path.unlink()
    assert "it holds more than the checksums" in str(verify(folder, profiles).breaches)


def test_other_methods_delete_nothing_and_leave_nobody_out(tmp_path: Path) -> None:
    release = small()
    release.method = "p-linkability"
    found = breaches(release, tmp_path)
    assert (
        "files",
        "private/deletions.jsonl: its method deletes nothing; remove the file",
    ) in found
    assert ("partition", "private/members.jsonl: 1 users of the profiles have no row") in found

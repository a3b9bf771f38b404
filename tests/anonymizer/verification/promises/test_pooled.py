"""Releases by pooled, whole and broken on purpose: each fault is told by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.rows.secret_order import secret_numbers as product_numbers
from anonymizer.rows.secret_order import secret_order
from anonymizer.verification.judge import verify
from anonymizer.verification.recounts.pools import secret_numbers

from ...small_release import Rows, SmallRelease
from ...small_shares import KEY, drawn_groups, numbers_of, order_of, pooled, priors
from ..faults import breaches, judged

OTHER = KEY[::-1]
NAMES: Rows = {f"u{n}": {} for n in range(14)}
GROUPS, LEFT = drawn_groups(NAMES, 3)
# All of one group have a cup, and nobody else; all but another group have tea.
PEOPLE: Rows = {
    user: {
        **({"cup": 1.0} if user in GROUPS[0] else {}),
        **({} if user in GROUPS[1] else {"tea": 2.0}),
        f"own{n:02d}": 1.0,
    }
    for n, user in enumerate(NAMES)
}


def made(key: bytes = KEY, profiles: Rows = PEOPLE, **parameters: Any) -> SmallRelease:
    """Make a release of four groups of three, and of two users left over."""
    groups, left = drawn_groups(profiles, 3, key)
    return pooled(profiles, groups, left, key, **parameters)


def test_a_release_that_holds(tmp_path: Path) -> None:
    verdict = judged(made(), tmp_path)
    assert verdict.breaches == []
    assert verdict.holds
    assert verdict.checked["rows"] == 5
    lines = [f"{finding.claim}: {finding.line}" for finding in verdict.findings]
    assert "groups: each of 4 groups has 3 members; 2 users are unassigned" in lines
    assert "unassigned: the key drew the unassigned users" in lines
    assert "numbers: groups have the numbers that the key drew" in lines
    assert any(line.startswith("p: each share, of absent terms too, is within") for line in lines)
    assert KEY.hex() not in str(verdict)


def test_the_vector_that_the_documentation_states() -> None:
    """SHAKE-256 of the key 00 01 .. 1f and the name, eight bytes an item, the least first."""
    groups = (18196744385391566406, 9215127205093378510, 12916560353276332279)
    ties = (7035573845584675592, 520046053104225255, 37503385224193059)
    for what, stated in (("groups", groups), ("ties of tea", ties)):
        assert numbers_of(KEY, what, 3) == stated
        assert tuple(secret_numbers(KEY, what, 3).tolist()) == stated
        assert tuple(product_numbers(KEY, what, 3).tolist()) == stated
    assert order_of(KEY, "groups", 3) == secret_order(KEY, "groups", 3).tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (None, "is missing, so nobody can check how equal shares were ordered"),
        *((key, "must hold a key of 32 bytes in hexadecimal digits, and nothing else") for key in (
            {"key": "00" * 31}, {"key": "0G" * 32}, {"key": 1}, {"key": "00" * 32, "u1": 1}, {}, 7
        )),
    ],
)  # fmt: skip
def test_what_is_no_key(tmp_path: Path, key: Any, told: str) -> None:
    release = made()
    release.key = key
    assert breaches(release, tmp_path) == [("key", f"private/key.json: {told}")]


def test_a_key_that_others_may_read_or_that_was_changed_afterwards(tmp_path: Path) -> None:
    folder, profiles = made().write(tmp_path / "r"), made().write_profiles(tmp_path / "p.jsonl")
    path = folder / "private" / "key.json"
    path.chmod(0o644)
    assert [finding.claim for finding in verify(folder, profiles).breaches] == ["private part"]
    path.write_text(f'{{"key": "{OTHER.hex()}"}}\n')
    breaches = verify(folder, profiles).breaches
    assert {each.where for each in breaches if each.claim == "files"} == {"private/key.json"}


def test_another_key_than_the_one_that_drew(tmp_path: Path) -> None:
    """Ties that stand in a known order, or in any but the key's, give other pools."""
    release = made()
    release.key = {"key": OTHER.hex()}
    found = dict(breaches(release, tmp_path))
    assert found["unassigned"].endswith("does not serve the unassigned users that the key drew")
    assert found["numbers"].endswith("has another number than the key drew")


def test_ties_in_a_known_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of equal shares, by number, always joins: no key tells so."""
    with monkeypatch.context() as known:
        known.setattr(f"{pooled.__module__}.numbers_of", in_plain_order)
        release = pooled(PEOPLE, GROUPS, LEFT)
    found = {claim for claim, _ in breaches(release, tmp_path)}
    assert found & {"terms", "weights"}
    assert not {"unassigned", "numbers"} & found


def in_plain_order(key: bytes, what: str, count: int) -> tuple[int, ...]:
    return tuple(range(count)) if what.startswith("ties") else numbers_of(key, what, count)


def test_groups_numbered_otherwise(tmp_path: Path) -> None:
    groups, left = drawn_groups(PEOPLE, 3)
    release = pooled(PEOPLE, [groups[1], groups[0], *groups[2:]], left)
    found = dict(breaches(release, tmp_path))
    assert found["numbers"].startswith("rows.jsonl, line 1: 2 of 5 rows: has another number")
    assert found.keys() == {"numbers"}


@pytest.mark.parametrize(
    ("larger", "given", "told"),
    [
        (0, {}, ", line 1: has 4 members, but groups must have 3 at p=0.4"),
        (2, {}, ": there must be 4 groups of 3 users and a last row of the 2 unassigned"),
        (None, {"p": 0.3}, ", line 1: has 3 members, but groups must have 4 at p=0.3"),
        (None, {"p": 0.3, "meet_paper": "true"},
         ", line 1: has 3 members, but groups must have 4 at p=0.3, or more"),
    ],
)  # fmt: skip
def test_unequal_sizes_and_groups_too_small_for_p(
    tmp_path: Path, larger: int | None, given: dict[str, Any], told: str
) -> None:
    groups, left = drawn_groups(PEOPLE, 3)
    if larger is not None:
        groups[larger].append(groups[1].pop())
    found = breaches(pooled(PEOPLE, groups, left, **given), tmp_path)
    assert found == [("groups", f"rows.jsonl{told}")]


def test_a_left_over_user_in_a_group(tmp_path: Path) -> None:
    groups, left = drawn_groups(PEOPLE, 3)
    left[0], groups[1][0] = groups[1][0], left[0]
    found = dict(breaches(pooled(PEOPLE, groups, left), tmp_path))
    assert found["unassigned"] == (
        "rows.jsonl, line 5: does not serve the unassigned users that the key drew"
    )
    groups, left = drawn_groups(PEOPLE, 3)
    groups[1].append(left.pop())
    assert [claim for claim, _ in breaches(pooled(PEOPLE, groups, left), tmp_path)] == ["groups"]


def test_a_wrong_average(tmp_path: Path) -> None:
    release = made()
    release.rows[4]["terms"]["tea"] = 8 / 12
    assert dict(breaches(release, tmp_path))["weights"].startswith(
        "rows.jsonl, line 5: has a share"
    )
    release = made()  # of all users, whose shares less the groups' would be the others' own
    release.rows[4]["terms"] = {term: float(share) for term, share in priors(PEOPLE).items()}
    assert {"weights", "terms"} <= {claim for claim, _ in breaches(release, tmp_path)}


def pooled_cell(release: SmallRelease) -> tuple[dict[str, float], str]:
    """Return a row of a group and a term of which it publishes a pool's mean."""
    members = {m["user"]: m["row"] for m in release.members}
    for row in release.rows[:4]:
        own = [release.profiles[user] for user, name in members.items() if name == row["row"]]
        for term, share in row["terms"].items():
            if share != sum(term in each for each in own) / 3:
                return row["terms"], term
    raise AssertionError("there is no pool")


@pytest.mark.parametrize("off", [2**-53, -(2**-53), 1 / 6, -1 / 9])
def test_a_pool_s_value_off_by_little_or_by_one_member(tmp_path: Path, off: float) -> None:
    release = made()
    row, term = pooled_cell(release)
    row[term] += off
    line = dict(breaches(release, tmp_path))["weights"]
    assert line.endswith("has a share that is neither its members' nor the mean of its pool")


def test_a_cell_over_p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were there no pools, and were the judge's own the same, shares are still held against p."""
    rows = f"{pooled.__module__}.pooled_column"
    monkeypatch.setattr(rows, lambda share, *_: share)
    release = made()
    assert "weights" in dict(breaches(release, tmp_path))
    monkeypatch.setattr("anonymizer.verification.recounts.pools._far", no_one_is_far)
    found = dict(breaches(release, tmp_path))
    assert found.keys() == {"p"}
    assert "2 of 5 rows: has a share, or lacks a term, more than p=0.4 off" in found["p"]


def no_one_is_far(_column: Any, _counts: Any, tally: Any, _plan: Any) -> Any:
    import numpy as np

    return np.zeros((2, tally.span), dtype=np.int64)


def test_the_paper_s_bound(tmp_path: Path) -> None:
    # 2 terms each, so 5 are needed at p = 0.4; three members have tea or cup and own terms: 4 or 5
    found = dict(breaches(made(meet_paper="true"), tmp_path))
    assert "has fewer than the 5 distinct terms that p=0.4 needs" in found["paper"]
    groups, left = drawn_groups(PEOPLE, 4)
    assert breaches(pooled(PEOPLE, groups, left, meet_paper="true"), tmp_path) == []


def test_nobody_is_left_over_where_users_divide(tmp_path: Path) -> None:
    profiles = {user: row for user, row in PEOPLE.items() if user not in ("u5", "u9")}
    verdict = judged(made(profiles=profiles), tmp_path)
    assert verdict.holds
    assert "nobody is unassigned" in str(verdict)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"p": 0}, "p must be above 0 and at most 1"),
        ({"p": "u1"}, "p must be above 0 and at most 1"),
        ({"meet_paper": "yes"}, "meet_paper must be one of true, false"),
        ({"meet_paper": True}, "meet_paper must be one of true, false"),
        ({"documents": 5001}, "documents must be a whole number from 2 to 5000"),
        ({"steps": 1.0}, f"steps must be a whole number from 1 to {10**11}, or null"),
        ({"size": 3}, "there are more than documents, meet_paper, min_users, p, steps"),
    ],
)
def test_parameters_out_of_range(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    release = made()
    release.parameters |= given
    assert dict(breaches(release, tmp_path))["parameters"] == f"release.json: {told}"


def test_facts_that_tell_of_the_members_are_refused(tmp_path: Path) -> None:
    """That a group has no tea stands in no row, and the largest distance would tell it."""
    release = made()
    assert release.facts["change_of_belief"] <= 0.4
    release.facts["change_of_belief"] = 11 / 14
    assert dict(breaches(release, tmp_path))["facts"].startswith("release.json: change_of_belief")

"""Releases by pooled, whole and broken on purpose: each fault is told by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.measures.finding import Verdict
from anonymizer.measures.recounting_pools import secret_numbers
from anonymizer.measures.verification import verify
from anonymizer.secret_order import secret_numbers as product_numbers
from anonymizer.secret_order import secret_order

from .small_release import Rows, SmallRelease
from .small_shares import KEY, drawn_groups, numbers_of, order_of, pooled, priors

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


def judged(release: SmallRelease, place: Path) -> Verdict:
    return verify(release.write(place / "r"), release.write_profiles(place / "p.jsonl"))


def breaches(release: SmallRelease, place: Path) -> list[tuple[str, str]]:
    """Return what each breach is of and its text, which names nobody, no term and no key."""
    found = judged(release, place).breaches
    secret = {*release.profiles, *(term for row in release.profiles.values() for term in row)}
    for finding in found:
        text = f"{finding.where} {finding.line}"
        assert not any(name in text.split() for name in secret)
        assert KEY.hex() not in text
    return [(finding.claim, f"{finding.where}: {finding.line}") for finding in found]


def test_a_release_that_holds(tmp_path: Path) -> None:
    verdict = judged(made(), tmp_path)
    assert verdict.breaches == []
    assert verdict.holds
    assert verdict.checked["rows"] == 5
    lines = [f"{finding.claim}: {finding.line}" for finding in verdict.findings]
    assert "groups: each of 4 groups has 3 members; 2 users are left over" in lines
    assert "left over: those left over are whom the key drew" in lines
    assert "numbers: groups have the numbers the key drew" in lines
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


def test_a_release_without_its_key(tmp_path: Path) -> None:
    release = made()
    release.key = None
    assert breaches(release, tmp_path) == [
        ("key", "private/key.json: is missing, so that nobody can tell how equal shares were "
         "ordered")
    ]  # fmt: skip


@pytest.mark.parametrize(
    "key", [{"key": "00" * 31}, {"key": "0G" * 32}, {"key": 1}, {"key": "00" * 32, "u1": 1}, {}, 7]
)
def test_what_is_no_key(tmp_path: Path, key: Any) -> None:
    release = made()
    release.key = key
    ((claim, line),) = breaches(release, tmp_path)
    assert (claim, line) == (
        "key",
        "private/key.json: is no key of 32 bytes, and nothing else, in hexadecimal digits",
    )


def test_a_key_that_others_may_read(tmp_path: Path) -> None:
    folder = made().write(tmp_path / "r")
    (folder / "private" / "key.json").chmod(0o644)
    verdict = verify(folder, made().write_profiles(tmp_path / "p.jsonl"))
    assert [finding.claim for finding in verdict.breaches] == ["private part"]


def test_a_key_that_was_changed_afterwards(tmp_path: Path) -> None:
    folder = made().write(tmp_path / "r")
    (folder / "private" / "key.json").write_text(f'{{"key": "{OTHER.hex()}"}}\n')
    verdict = verify(folder, made().write_profiles(tmp_path / "p.jsonl"))
    where = {finding.where for finding in verdict.breaches if finding.claim == "files"}
    assert where == {"private/key.json"}


def test_another_key_than_the_one_that_drew(tmp_path: Path) -> None:
    """Ties that stand in a known order, or in any but the key's, give other pools."""
    release = made()
    release.key = {"key": OTHER.hex()}
    found = dict(breaches(release, tmp_path))
    assert found["left over"].endswith("is not of the users whom the key leaves over")
    assert found["numbers"].endswith("has not the number that the key gives it")


def test_ties_in_a_known_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of equal shares, by number, always joins: no key tells so."""
    with monkeypatch.context() as known:
        known.setattr(f"{pooled.__module__}.numbers_of", in_plain_order)
        release = pooled(PEOPLE, GROUPS, LEFT)
    found = {claim for claim, _ in breaches(release, tmp_path)}
    assert found & {"terms", "weights"}
    assert not {"left over", "numbers"} & found


def in_plain_order(key: bytes, what: str, count: int) -> tuple[int, ...]:
    return tuple(range(count)) if what.startswith("ties") else numbers_of(key, what, count)


def test_groups_numbered_otherwise(tmp_path: Path) -> None:
    groups, left = drawn_groups(PEOPLE, 3)
    release = pooled(PEOPLE, [groups[1], groups[0], *groups[2:]], left)
    found = dict(breaches(release, tmp_path))
    assert found["numbers"].startswith("rows.jsonl, line 1: 2 of 5 rows: has not the number")
    assert found.keys() == {"numbers"}


def test_unequal_sizes(tmp_path: Path) -> None:
    groups, left = drawn_groups(PEOPLE, 3)
    groups[0].append(groups[1].pop())
    found = breaches(pooled(PEOPLE, groups, left), tmp_path)
    assert found == [("groups", "rows.jsonl, line 1: has 4 members, but groups must have 3 at "
                      "p=0.4")]  # fmt: skip
    groups, left = drawn_groups(PEOPLE, 3)
    groups[2].append(groups[1].pop())
    ((claim, line),) = breaches(pooled(PEOPLE, groups, left), tmp_path)
    assert (claim, line) == ("groups", "rows.jsonl: there are not 4 groups of 3 users and a last "
                             "row of the 2 left over")  # fmt: skip


def test_groups_too_small_for_p(tmp_path: Path) -> None:
    ((claim, line),) = breaches(made(p=0.3), tmp_path)
    assert (claim, line) == (
        "groups", "rows.jsonl, line 1: has 3 members, but groups must have 4 at p=0.3",
    )  # fmt: skip
    ((_, line),) = breaches(made(p=0.3, meet_paper="true"), tmp_path)
    assert line.endswith("must have 4 at p=0.3, or more")


def test_a_left_over_user_in_a_group(tmp_path: Path) -> None:
    groups, left = drawn_groups(PEOPLE, 3)
    left[0], groups[1][0] = groups[1][0], left[0]
    found = dict(breaches(pooled(PEOPLE, groups, left), tmp_path))
    assert found["left over"] == (
        "rows.jsonl, line 5: is not of the users whom the key leaves over"
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
    assert line.endswith("has a share that is neither its members' nor the mean of their pool")


def test_a_share_that_was_not_pooled(tmp_path: Path) -> None:
    """All of three have a cup, of all 14 only they; or nobody has tea, of all 14 only they."""
    release = made()
    members = {m["user"]: m["row"] for m in release.members}
    row, term = pooled_cell(release)
    name = next(each["row"] for each in release.rows if each["terms"] is row)
    own = [release.profiles[user] for user, of in members.items() if of == name]
    row[term] = sum(term in each for each in own) / 3 or 1e-300
    assert "weights" in dict(breaches(release, tmp_path))


def test_a_cell_over_p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were there no pools, and were the judge's own the same, shares are still held against p."""
    rows = f"{pooled.__module__}.pooled_column"
    monkeypatch.setattr(rows, lambda share, *_: share)
    release = made()
    assert "weights" in dict(breaches(release, tmp_path))
    monkeypatch.setattr("anonymizer.measures.recounting_pools._far", no_one_is_far)
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
    assert "nobody is left over" in str(verdict)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"p": 0}, "p must be above 0 and at most 1"),
        ({"p": "u1"}, "p must be above 0 and at most 1"),
        ({"meet_paper": "yes"}, "meet_paper must be one of true, false"),
        ({"meet_paper": True}, "meet_paper must be one of true, false"),
        ({"documents": 5001}, "documents must be a whole number from 2 to 5000"),
        ({"steps": 1.0}, f"steps must be a whole number from 1 to {10**11}, or null"),
        ({"size": 3}, "there are others than documents, meet_paper, p, steps"),
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

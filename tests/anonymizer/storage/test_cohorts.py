"""Releases of several cohorts: old bytes stay, numbers never come back, and all is read as one."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.methods import promise_of
from anonymizer.methods.pooled import METHOD as POOLED
from anonymizer.model import Profiles, Release
from anonymizer.promise import AVERAGE
from anonymizer.storage import changes
from anonymizer.storage.parts import read_cohorts
from anonymizer.storage.releases import (
    add_cohort,
    people_of,
    read_hash,
    read_input_hash,
    read_release,
    write_release,
)
from anonymizer.storage.uniting import facts_of_all

from .test_releases import contents, refusal

Groups = Sequence[Sequence[str]]


def release(groups: Groups, *, fallback: Sequence[str] = (), method: str = "") -> Release:
    """Return a release of `groups`; each row has a term of its own, and one that all have."""
    rows = [*groups, *([fallback] if fallback else [])]
    named = {
        f"g{at:04}": {"all": 1 / at, f"of {members[0]}": 0.5} for at, members in enumerate(rows, 1)
    }
    users = sorted(user for members in rows for user in members)
    row_of = [next(at for at, members in enumerate(rows) if user in members) for user in users]
    hides = bool(fallback) or method == "pooled"
    return Release(
        Profiles.from_rows(named),
        tuple(users),
        np.array(row_of),
        method or ("pooled" if hides else "p-linkability"),
        {"p": 0.4},
        {"users": len(users), "groups": len(groups), "worst_linkability": 1 / len(groups)},
        promise=POOLED.promise if hides else AVERAGE,
    )


def written(folder: Path, *cohorts: Release) -> Path:
    """Write `cohorts` one after the other, the last state to a folder in `folder`."""
    place = folder / "1"
    write_release(cohorts[0], place, seed=1, input_hash="0a1b", profiles={"size": 3})
    for number, cohort in enumerate(cohorts[1:], 2):
        before, place = place, folder / str(number)
        add_cohort(read_cohorts(before), place, cohort, seed=number, input_hash=f"0a{number}b")
    return place


def without_rows(folder: Path, *rest: Any, **named: Any) -> changes.Withdrawal:
    return changes.without_rows(read_cohorts(folder), *rest, **named)


def with_edited(folder: Path, *rest: Any) -> int:
    return changes.with_edited(read_cohorts(folder), *rest)


TWO = (release([["a", "b"], ["c", "d"]]), release([["e", "f", "g"]]))
MEAN = (
    release([["a", "b"], ["c", "d"]], fallback=["z"]),
    release([["e", "f", "g"]], fallback=["x", "y"]),
)


def test_a_second_cohort_by_hand(tmp_path: Path) -> None:
    folder = written(tmp_path, *TWO)
    old, new = contents(tmp_path / "1"), contents(folder)
    assert {name for name in old if old[name] != new[name]} == {
        "release.json",
        "private/checksums.sha256",
    }
    about, added = (json.loads(new[f"{place}release.json"]) for place in ("", "cohorts/0002/"))
    before = json.loads(old["release.json"])
    assert about == before | {"input_hash": "0a2b"}
    assert added == before | {
        "seed": 2,
        "input_hash": "0a2b",
        "first_row": 3,
        "facts": {"users": 3, "groups": 1, "worst_linkability": 1.0},
        "sha256": {"rows.jsonl": hashlib.sha256(new["cohorts/0002/rows.jsonl"]).hexdigest()},
    }
    assert new["cohorts/0002/rows.jsonl"] == (
        b'{"row": "g0003", "users": 3, "terms": {"all": 1.0, "of e": 0.5}}\n'
    )
    rows = new["rows.jsonl"] + new["cohorts/0002/rows.jsonl"]
    assert read_hash(folder) == hashlib.sha256(rows).hexdigest()
    assert read_hash(tmp_path / "1") == hashlib.sha256(new["rows.jsonl"]).hexdigest()
    assert (read_input_hash(folder), people_of(folder)) == ("0a2b", frozenset("abcdefg"))
    read = read_release(folder, promise_of)
    assert read.rows.users == ("g0001", "g0002", "g0003")
    assert read.facts == {"users": 7, "groups": 3, "worst_linkability": 1.0}
    assert read.row_for("f").weights == {"all": 1.0, "of e": 0.5}


def test_a_fallback_row_stands_for_its_own_cohort(tmp_path: Path) -> None:
    read = read_release(written(tmp_path, *MEAN), promise_of)
    assert read.rows.users == ("g0001", "g0002", "g0004", "g0003", "g0005")
    assert (read.groups, read.group_rows.users) == (3, ("g0001", "g0002", "g0004"))
    expected = {"a": ("g0001", 2, False), "z": ("g0003", 4, True), "x": ("g0005", 3, True)}
    for user, row in expected.items():
        served = read.row_for(user)
        assert (served.name, served.users, served.fallback) == row


SHAPES = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=3), min_size=1, max_size=4)


@settings(max_examples=15, deadline=None)
@given(SHAPES, st.booleans())
def test_everybody_keeps_the_row_of_their_own_cohort(
    tmp_path_factory: pytest.TempPathFactory, shapes: list[list[int]], hides: bool
) -> None:
    cohorts, folder = [], tmp_path_factory.mktemp("cohorts")
    for number, drawn in enumerate(shapes):
        # Groups that hide their members are equally large; the fallback row is of fewer people.
        sizes = [max(drawn) + 1] * len(drawn) if hides else drawn
        groups = [[f"{number} {at} {n}" for n in range(size)] for at, size in enumerate(sizes)]
        fallback = [f"{number} none"] if hides else []
        cohorts.append(release(groups, fallback=fallback))
    read = read_release(written(folder, *cohorts), promise_of)
    assert read.groups == sum(map(len, shapes))
    shift = 0
    for cohort in cohorts:
        for user in cohort.users:
            own, served = cohort.row_for(user), read.row_for(user)
            assert served == replace(own, name=f"g{int(own.name[1:]) + shift:04}")
        shift += len(cohort.rows)


def test_rows_of_any_cohort_are_withdrawn_and_numbers_never_come_back(tmp_path: Path) -> None:
    folder, less, none, more = written(tmp_path, *MEAN), *(tmp_path / name for name in "lnm")
    leave = partial(without_rows, known=True, input_hash="0a9b")
    assert leave(folder, less, {"a", "y"})[:2] == (1, 2)
    assert read_release(less, promise_of).rows.users == ("g0002", "g0004", "g0003", "g0005")
    assert people_of(less) == people_of(folder)
    # With its last group, a cohort loses its fallback row, too.
    assert leave(less, none, {"e"})[:2] == (2, 1)
    kept = contents(less)["rows.jsonl"]
    assert (none / "rows.jsonl").read_bytes() == kept
    assert (none / "cohorts/0002/rows.jsonl").read_bytes() == b""
    assert people_of(none) == people_of(folder)
    assert json.loads((none / "cohorts/0002/release.json").read_text())["facts"]["groups"] == 0
    third = release([["k", "l"]], method="pooled")
    add_cohort(read_cohorts(none), more, third, seed=3, input_hash="0a9b")
    assert read_release(more, promise_of).rows.users == ("g0002", "g0006", "g0003")
    assert leave(more, tmp_path / "last", {"d", "k"})[:2] == (3, 0)
    assert not (tmp_path / "last").exists()


def test_a_fallback_row_holds_nothing_of_those_it_serves_and_stays(tmp_path: Path) -> None:
    folder, one, none = written(tmp_path, *MEAN), tmp_path / "one", tmp_path / "none"
    forget = partial(without_rows, known=False, input_hash="0a9b")
    assert forget(folder, one, {"y"})[:2] == (0, 3)
    before, after = contents(folder), contents(one)
    assert {name for name in before if before[name] != after[name]} == {
        "release.json",
        "private/checksums.sha256",
        "cohorts/0002/release.json",
        "cohorts/0002/private/checksums.sha256",
        "cohorts/0002/private/members.jsonl",
    }
    note = json.loads((one / "cohorts/0002/private/changes.json").read_text())
    assert note == {"withdrawn": 0, "left": 1, "stood": [], "edited": []}
    read = read_release(one, promise_of)
    assert (read.groups, read.row_for("x")) == (3, read_release(folder, promise_of).row_for("x"))
    assert people_of(one) == people_of(folder) - {"y"}
    assert with_edited(one, tmp_path / "e", {"x"}, {"all"}, "0a9c") == 0
    # Nobody is served by it any more.
    assert forget(one, none, {"x"})[:2] == (1, 3)
    assert read_release(none, promise_of).rows.users == ("g0001", "g0002", "g0004", "g0003")


def test_the_first_cohort_may_be_empty(tmp_path: Path) -> None:
    folder = written(tmp_path, *TWO)
    done = without_rows(folder, tmp_path / "l", {"a", "d"}, known=False, input_hash="0a9b")
    assert done[:2] == (2, 1)
    read = read_release(tmp_path / "l", promise_of)
    assert (read.rows.users, read.users) == (("g0003",), ("e", "f", "g"))
    assert people_of(tmp_path / "l") == frozenset("bcefg")


def test_a_later_cohort_notes_only_what_concerns_it(tmp_path: Path) -> None:
    folder, edited = written(tmp_path, *TWO), tmp_path / "e"
    with_edited(folder, edited, {"a"}, {"all"}, "0a9b")
    assert read_input_hash(edited) == "0a9b"
    assert (edited / "private/changes.json").exists()
    assert not (edited / "cohorts/0002/private/changes.json").exists()
    with_edited(edited, tmp_path / "f", {"e"}, {"all"}, "0a9c")
    note = json.loads((tmp_path / "f/cohorts/0002/private/changes.json").read_text())
    assert note["edited"] == ["g0003"]


def test_rows_are_named_like_nobody(tmp_path: Path) -> None:
    folder = written(tmp_path, TWO[0], release([["e", "g0003"]]), release([["h", "i"]]))
    assert read_release(folder, promise_of).rows.users == ("g0001", "g0002", "gg0003", "g0004")


@pytest.mark.parametrize("links", [True, False])
def test_a_part_that_stays_is_written_again_only_where_it_cannot_be_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    folder = written(tmp_path, *TWO)
    if not links:

        def link(*_paths: Path) -> None:
            raise OSError(errno.EXDEV, "another disk")

        monkeypatch.setattr(os, "link", link)
    with_edited(folder, tmp_path / "edited", {"a"}, {"of a"}, "0a9b")
    without_rows(folder, tmp_path / "less", {"a"}, known=True, input_hash="0a1b")
    old, edited, less = map(contents, (folder, tmp_path / "edited", tmp_path / "less"))
    for name in ("rows.jsonl", "private/members.jsonl", "cohorts/0002/rows.jsonl"):
        assert edited[name] == old[name]
        assert (folder / name).samefile(tmp_path / "edited" / name) == links
    assert (folder / "rows.jsonl").samefile(tmp_path / "less" / "rows.jsonl") is False
    assert less["rows.jsonl"] != old["rows.jsonl"] == contents(folder)["rows.jsonl"]
    assert len(read_cohorts(tmp_path / "edited")) == len(read_cohorts(tmp_path / "less")) == 2


def test_who_stands_in_a_release_and_other_methods_are_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, *TWO)
    add = partial(add_cohort, read_cohorts(folder), tmp_path / "new", seed=1, input_hash="0a1b")
    with_left = without_rows(folder, tmp_path / "l", {"a"}, known=True, input_hash="0a1b")
    assert with_left.withdrawn == 1
    assert "2 of the new people stand in it already" in refusal(
        lambda: add(release([["b", "g", "new"]]))
    )
    assert "1 of the new people stand in it already" in refusal(
        partial(
            add_cohort,
            read_cohorts(tmp_path / "l"),
            tmp_path / "new",
            release([["a"]]),
            seed=1,
            input_hash="0",
        )
    )
    for other in (
        replace(release([["h", "i"]]), parameters={"p": 0.5}),
        release([["h", "i"]], method="composition"),
    ):
        assert "another method or other parameters" in refusal(partial(add, other))
    assert not (tmp_path / "new").exists()


def test_a_damaged_or_missing_cohort_is_noticed(tmp_path: Path) -> None:
    folder = written(tmp_path, *TWO, release([["h", "i"]]))
    for name, good in contents(folder).items():
        spoilt = bytes([good[len(good) // 2] ^ 1])
        (folder / name).write_bytes(good.replace(good[len(good) // 2 :][:1], spoilt, 1))
        assert str(folder) in refusal(lambda: read_release(folder, promise_of))
        (folder / name).write_bytes(good)
    read_release(folder, promise_of)
    (folder / "cohorts/0002").rename(tmp_path / "away")
    assert "0003/release.json: does not fit the cohort before" in refusal(
        lambda: read_release(folder, promise_of)
    )


def test_facts_of_all_cohorts_follow_from_each() -> None:
    """Means over groups count groups; what does not follow is left out."""
    one = {"groups": 2, "mean_group": 2.0, "smallest_group": 1, "worst_linkability": 0.5}
    other = {"groups": 1, "mean_group": 4.0, "smallest_group": 4, "worst_linkability": 0.75}
    assert facts_of_all([one | {"log_size_kept": 0.5}, other | {"log_size_kept": 0.25}]) == {
        "groups": 3,
        "mean_group": 2.66666666667,  # 12 digits, as a release states facts
        "smallest_group": 1,
        "worst_linkability": 0.75,
    }
    shares = [{"users": 3, "own_share": 1.0}, {"users": 1, "own_share": 0.5}]
    assert facts_of_all(shares) == {"users": 4, "own_share": 0.875}

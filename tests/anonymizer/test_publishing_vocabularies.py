"""Rows of vocabularies are published with the facts that can be recounted, and read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.publishing import read_published
from anonymizer.verification.facts import COUNTS

from .small_release import together
from .small_vocabulary import EXAMPLE, MATCHED, TAXONOMY, facts_of, vocabulary
from .test_publishing_reduced import published
from .verification.test_vocabularies import example, general, later, sessions, some_match


@pytest.mark.parametrize("made", [example, general, some_match])
def test_what_is_published_is_read_again_and_holds_nothing_private(
    made: Any, tmp_path: Path
) -> None:
    release = made()
    assert published(release, tmp_path).breaches == []
    read = read_published(tmp_path / "out")
    assert [read.rows.row(name) for name in read.rows.users] == [r["terms"] for r in release.rows]
    assert read.about["facts"] == {name: release.facts[name] for name in COUNTS}
    assert {*read.about["quoted"]["parameters"]} == (
        {"anneal", "matchings", "members", "model", "omega", "order"} & release.parameters.keys()
    )
    content = (tmp_path / "out").read_text()
    assert not any(user in content for user in EXAMPLE)
    assert not any(private in content for private in ('occurrences": [', "Alcohol", "slots"))


def test_rows_of_fewer_people_than_two_are_never_published(tmp_path: Path) -> None:
    close = sessions("vocabularies", "ann#1", "ann#2", "ann#3", "bob#1", "bob#2")
    (breach,) = published(close, tmp_path).breaches
    assert breach.line.startswith("2 rows stand for one person each, so each is a profile")


def test_a_bag_with_somebodys_id_is_never_published(tmp_path: Path) -> None:
    profiles = {"wine": {"Wine": 1.0}, "u2": {"Vino": 1.0}}
    slots = [("g0001", "Vino|Wine", [["wine", "Wine"], ["u2", "Vino"]])]
    release = vocabulary(profiles, slots, {**MATCHED, "typical": "bags"}, TAXONOMY)
    (breach,) = published(release, tmp_path).breaches
    assert "has a term that is a user's id" in breach.line


def test_cohorts_with_users_left_out_are_published(tmp_path: Path) -> None:
    release = example()
    release.profiles["t6"] = {"Piano": 2.0}
    release.facts = facts_of(release)
    both = together(release, later())
    for line in both.cohorts[0].slots:
        line["row"] = "g0003"
    assert published(both, tmp_path).breaches == []
    assert read_published(tmp_path / "out").sizes.tolist() == [3, 2, 2]

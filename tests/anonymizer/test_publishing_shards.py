"""A release in shards is published as the same rows in one file are: the very same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer import publishing
from anonymizer.errors import BadInput
from anonymizer.model import Profiles
from anonymizer.publishing import Candidate, publish
from anonymizer.publishing_shards import PublishedShards
from anonymizer.storage.profiles import write_profiles
from anonymizer.storage.releases import read_hash
from anonymizer.verification.finding import Verdict
from search_app.workspace.overlap import hash_of, hashed

from .cut_release import cut, flip
from .small_release import PARAMETERS, Rows, made

TERMS = "abcdefgh"
PEOPLE: Rows = {
    f"u{user:02d}": {TERMS[(user + at * at) % 8]: 1.0 for at in range(4)} for user in range(24)
}


class Published:
    """What was published of people in groups of three: in one file, and in three shards."""

    def __init__(self, place: Path, people: Rows, **parameters: object):
        users = sorted(people)
        groups = [users[at : at + 3] for at in range(0, len(users), 3)]
        release = made(people, groups, {**PARAMETERS, "p": 0.9, **parameters})
        self.whole = release.write(place / "whole")
        self.shards = cut(self.whole, place / "shards", (3, 1, len(groups) - 4))
        self.profiles = place / "p.npz"
        write_profiles(Profiles.from_rows(people), self.profiles)

    def publish(self, folder: Path) -> tuple[Verdict, Path, list[Candidate]]:
        output, candidates = folder.with_suffix(".release"), list[Candidate]()
        verdict = publish(folder, self.profiles, output, lambda one: candidates.append(one) or ())
        return verdict, output, candidates


def test_the_published_file_is_the_same(tmp_path: Path) -> None:
    release = Published(tmp_path, PEOPLE)
    (one, whole, [candidate]), (other, shards, [in_shards]) = (
        release.publish(folder) for folder in (release.whole, release.shards)
    )
    assert one.holds
    assert other.holds
    assert whole.read_bytes() == shards.read_bytes()
    assert b'"certificate"' in shards.read_bytes().partition(b"\n")[0]
    assert sorted(candidate.stood) == sorted(in_shards.stood) == sorted(in_shards.stood)
    assert candidate._replace(stood=()) == in_shards._replace(stood=())
    assert read_hash(release.shards) == candidate.sha256
    key = bytes(32)
    pairs = sorted(row + hash_of(person, key) for row, person in candidate.stood)
    assert hashed(in_shards.stood, key).tobytes() == b"".join(pairs)


def test_more_people_than_attacks_can_hold_get_no_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "ATTACKED", 23)
    release = Published(tmp_path, PEOPLE)
    verdict, output, _ = release.publish(release.shards)
    assert verdict.holds
    assert b"certificate" not in output.read_bytes()


@pytest.mark.parametrize("others", [False, True])
def test_a_term_that_is_called_like_its_only_owner_is_not_published(
    tmp_path: Path, others: bool
) -> None:
    people = {user: {**row} for user, row in PEOPLE.items()}
    people["u20"]["U20"] = 1.0
    if others:
        people["u03"]["U20"] = 1.0  # in another shard
    release = Published(tmp_path, people)
    for folder in (release.whole, release.shards):
        verdict, output, _ = release.publish(folder)
        assert output.exists() == verdict.holds == others
        assert {breach.claim for breach in verdict.breaches} <= {"identity"}


def test_numbers_and_single_people_are_refused(tmp_path: Path) -> None:
    people = {**{f"{100 + at}": row for at, row in enumerate(PEOPLE.values())}, "1000": {"a": 1.0}}
    release = Published(tmp_path, people, k=100, neighbours=111)
    verdict, _, _ = release.publish(release.shards)
    assert not verdict.holds
    alike = [release.publish(folder)[0].breaches for folder in (release.whole, release.shards)]
    texts = [{(one.claim, one.line) for one in breaches} for breaches in alike]
    assert {claim for claim, _ in texts[0]} >= {"groups", "identity", "k"}
    assert {line for line in texts[0] if line[0] in ("groups", "identity")} == {
        line for line in texts[1] if line[0] in ("groups", "identity")
    }


def test_shards_that_change_while_they_are_published_are_refused(tmp_path: Path) -> None:
    release = Published(tmp_path, PEOPLE)

    def changed(name: str) -> str:
        with pytest.raises(BadInput) as refused:
            publish(
                release.shards,
                release.profiles,
                tmp_path / "out",
                lambda one: [flip(release.shards, name), *one.stood][:0],  # type: ignore[misc]
            )
        return str(refused.value)

    assert changed("private/members-0001.jsonl").endswith(
        "changed while it was read; publish again"
    )
    assert not (tmp_path / "out").exists()
    shards = PublishedShards(release.shards)
    shards._sums = {"rows-0000.jsonl": "0a"}
    with pytest.raises(BadInput, match="publish again"):
        [*shards.rows()]

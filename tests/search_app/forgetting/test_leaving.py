"""Rows never change, whoever leaves or edits. Random changes are in tests/attacks."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles
from anonymizer.similarity.documents import Documents
from anonymizer.storage.profiles import read_profiles
from anonymizer.storage.records import as_json
from anonymizer.terms.wordnet import WordNet
from anonymizer.verification.judge import verify
from search_app.forgetting.person import ForgetReport, forget, leave_group
from search_app.settings import Settings
from search_app.workspace.folder import Workspace
from search_app.workspace.ledger import read_ledger

from ..conftest import call, serve_release
from ..single_rows import single_rows

SEED = int(os.environ.get("VEILSEARCH_SEED") or 20_261_119)
WORDS = (  # no page has one but in a profile, row or document
    *("gazelle", "kumquat", "lemur", "marzipan", "okapi", "pelican", "saffron"),
    *("trombone", "turnip", "walnut", "walrus", "xylophone", "yak", "zeppelin"),
)
TERM = re.compile(rf"\b(?:{'|'.join(WORDS)}|rare[0-9]+)\b")
SAMPLE = Documents(
    csr_matrix(np.random.default_rng(1).integers(0, 3, (6, len(WORDS))).astype(float)), WORDS
)
METHODS = (
    *("p-linkability", "every-term", "min_users", "composition", "pooled", "km-anonymity"),
    "vocabulary-k",
)
COUNTS = {
    *("users", "groups", "single_person_rows"),
    *("smallest_group", "mean_group", "largest_group"),
}
Lines = list[bytes]


def people(count: int, chance: random.Random) -> dict[str, dict[str, float]]:
    return {
        f"person-{n}": {
            **dict.fromkeys(sorted(chance.sample(WORDS, 4)), 1.0),
            f"rare{n // 2}": 1.0,
        }
        for n in range(count)
    }


class World:
    """A workspace with a release by some method, published in a file, as it was at first."""

    def __init__(
        self,
        root: Path,
        method: str,
        wordnet: WordNet,
        count: int,
        seed: int = SEED,
        *,
        publish: bool = True,
    ):
        self.chance = random.Random(f"{seed} {method}")  # noqa: S311
        self.root, self.method = root, method
        profiles = Profiles.from_rows(people(count, self.chance))
        serve_release(root, profiles, self._release(profiles, method, wordnet))
        if publish:
            call(root, "publish", "-o", root / "public.jsonl")
        self.profiles, self.release = root / "profiles.jsonl", root / "release"
        self.first = Path(shutil.copytree(self.release, root.parent / f"{root.name} first"))
        self.published = root.parent / f"{root.name} p"
        if publish:
            shutil.copy(root / "public.jsonl", self.published)

    def _release(self, profiles: Profiles, method: str, wordnet: WordNet) -> Any:
        if method == "km-anonymity":
            return single_rows(profiles, k=2)
        given: dict[str, Any] = {"augment": "none", "k": 3}
        if method == "every-term":
            given |= {"p": 0.7, "guarantee": "every-term"}
        if method == "min_users":
            given |= {"min_users": 3}
        if method in ("composition", "pooled"):
            given = {"p": 0.4, "steps": 200}
        if method == "vocabulary-k":
            given = {"k": 3, "eps": 6.0}
        own = ("composition", "pooled", "vocabulary-k")
        name = method if method in own else "p-linkability"
        inputs = Inputs(profiles, wordnet=wordnet)
        if name != "p-linkability":
            inputs = replace(inputs, sample=SAMPLE, key=b"k" * 32)
        release = anonymize(name, inputs, given)
        return replace(release, facts=facts(profiles, release))

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.root)

    def rows(self, folder: Path | None = None) -> Lines:
        return ((folder or self.release) / "rows.jsonl").read_bytes().splitlines(keepends=True)

    def members(self, folder: Path | None = None) -> dict[str, str]:
        lines = ((folder or self.release) / "private/members.jsonl").read_text().splitlines()
        return {record["user"]: record["row"] for record in map(json.loads, lines)}

    def users(self) -> list[str]:
        return list(read_profiles(self.profiles).users) if self.profiles.exists() else []

    def forget(self, user: str, terms: set[str] | None = None) -> ForgetReport:
        return forget(self.workspace, Settings(workspace=self.root), {user}, terms)

    def leave(self, user: str) -> ForgetReport:
        return leave_group(self.workspace, {user})


@pytest.fixture(params=METHODS)
def world(request: pytest.FixtureRequest, tmp_path: Path, wordnet: WordNet) -> World:
    return World(tmp_path / "w", request.param, wordnet, 20)


def names(rows: Lines) -> list[str]:
    return [json.loads(line)["row"] for line in rows]


def assert_verified(world: World, *earlier: Path) -> None:
    for since in (world.first, world.published, *earlier):
        verdict = verify(world.release, world.profiles, since)
        assert verdict.holds, (since, verdict.breaches)


def test_who_leaves_is_nowhere_and_the_others_lose_nothing(world: World) -> None:
    user, *others = world.members()
    mine = world.members()[user]
    profiles = read_profiles(world.profiles)
    done = world.forget(user)
    assert done.rows_withdrawn == 1
    assert done.left == ()
    assert mine not in names(world.rows())
    kept = read_profiles(world.profiles)
    assert {other: kept.row(other) for other in kept.users} == {
        other: profiles.row(other) for other in profiles.users if other != user
    }
    stays = {other for other in others if world.members(world.first)[other] != mine}
    assert {*world.members()} == stays
    (copy,) = done.published
    assert (copy.path, copy.successor) == ("public.jsonl", world.method != "km-anonymity")
    assert copy.at == next(
        line.at for line in read_ledger(world.workspace) if line.event == "published"
    )
    line = read_ledger(world.workspace)[-1]
    assert (line.event, line.users) == ("withdrawn", len(stays))
    assert_verified(world)


def test_an_edit_changes_the_own_profile_only(world: World) -> None:
    user = next(iter(world.members()))
    own = read_profiles(world.profiles).row(user)
    rows, file = world.rows(), (world.root / "public.jsonl").read_bytes()
    done = world.forget(user, {min(own)})
    assert (world.rows(), world.members()) == (rows, world.members(world.first))
    assert (world.root / "public.jsonl").read_bytes() == file
    assert (done.rows_withdrawn, done.published) == (0, ())
    # What is published from then on does not say either that somebody's profile changed.
    call(world.root, "publish", "-o", world.root / "again.jsonl")
    assert (world.root / "again.jsonl").read_bytes() == file
    assert min(own) not in read_profiles(world.profiles).row(user)
    verdict = verify(world.release, world.profiles, world.first)
    assert verdict.holds, verdict.breaches
    (line,) = (finding.line for finding in verdict.findings if finding.claim == "recounted")
    count = len(rows) if world.method == "pooled" else 1
    rows_are = "row" if count == 1 else "rows"
    assert line.startswith(
        f"{count} {rows_are} can't be recounted, because a profile changed since."
    )


def test_who_leaves_the_group_keeps_the_profile_and_stands_in_no_row_again(world: World) -> None:
    user = next(iter(world.members()))
    mine, profiles = world.members()[user], world.profiles.read_bytes()
    co_members = {other for other, row in world.members().items() if row == mine}
    assert world.leave(user).rows_withdrawn == 1
    assert world.profiles.read_bytes() == profiles
    assert co_members.isdisjoint(world.members())
    note = json.loads((world.release / "private/changes.json").read_text())
    assert {*note["stood"]} == co_members
    assert user not in (world.release / "release.json").read_text()
    assert_verified(world)
    world.forget(user)
    assert user not in (world.release / "private/changes.json").read_text()
    assert_verified(world)


@pytest.mark.parametrize("spoil", ["weight", "note", "order", "member", "fact", "back"])
def test_a_tampered_row_is_caught_whatever_the_note_says(world: World, spoil: str) -> None:
    """The note and all hashes may be rewritten with it: the older state still shows it."""
    users = list(world.members())
    world.forget(users[0])
    rows, first = world.rows(), world.rows(world.first)
    members = (world.release / "private/members.jsonl").read_text().splitlines(keepends=True)
    note = json.loads((world.release / "private/changes.json").read_text())
    manifest = json.loads((world.release / "release.json").read_text())
    if spoil in ("weight", "note"):
        record = json.loads(rows[0])
        record["terms"][min(record["terms"])] *= 0.75
        rows[0] = f"{json.dumps(record)}\n".encode()
        note["edited"] = names(rows) if spoil == "note" else []
    if spoil == "order":
        rows = rows[::-1]
    if spoil == "member":
        one, other = (json.loads(line)["user"] for line in (members[0], members[-1]))
        members = [
            line.replace(f'"{one}"', "?")
            .replace(f'"{other}"', f'"{one}"')
            .replace("?", f'"{other}"')
            for line in members
        ]
        if world.members()[one] == world.members()[other]:
            pytest.skip("they stand in one row")
    if spoil == "fact":
        name = next(name for name in manifest["facts"] if name not in COUNTS)
        manifest["facts"][name] += 1e-9
    if spoil == "back":
        note["withdrawn"] = 0
        manifest.pop("withdrawn")
    write(world.release, rows, members, note, manifest)
    verdict = verify(world.release, world.profiles, world.first)
    assert not verdict.holds
    if spoil in ("weight", "note", "order", "fact"):
        assert any(finding.claim == "since" for finding in verdict.breaches)
    assert len(first) > len(rows)


def write(folder: Path, rows: Lines, members: list[str], note: Any, manifest: Any) -> None:
    """Write all parts with right hashes, as somebody with the owner's rights could."""
    (folder / "rows.jsonl").write_bytes(b"".join(rows))
    manifest["sha256"] = {"rows.jsonl": sha256(b"".join(rows)).hexdigest()}
    (folder / "private/members.jsonl").write_text("".join(members))
    (folder / "private/changes.json").write_bytes(as_json(note))
    (folder / "release.json").write_bytes(as_json(manifest, indent=1))
    parts = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    (folder / "private/checksums.sha256").write_text(
        "".join(
            f"{sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n"
            for path in parts
            if path.name != "checksums.sha256"
        )
    )


def test_what_was_published_may_be_published_again_without_the_row(
    tmp_path: Path, wordnet: WordNet
) -> None:
    for method in METHODS:
        world = World(tmp_path / method, method, wordnet, 20)
        world.forget(next(iter(world.members())))
        out = ("publish", "-o", tmp_path / f"{method}.jsonl")
        if method == "km-anonymity":
            with pytest.raises(AssertionError):
                call(world.root, *out)
            continue
        call(world.root, *out)
        assert (tmp_path / f"{method}.jsonl").read_bytes() == (
            world.root / "public.jsonl"
        ).read_bytes()

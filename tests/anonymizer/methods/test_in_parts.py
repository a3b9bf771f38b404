"""Methods in parts: together the shards keep the promise among all users, by a naive twin."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.backends.everybody import with_everybody
from anonymizer.backends.parts import LocalParts, deal, deal_key, key_of_deal
from anonymizer.backends.shards import keep, write_shards
from anonymizer.errors import BadParameter, Unsatisfiable
from anonymizer.measures.facts import fact_sums, facts_of
from anonymizer.methods import METHODS, anonymize, anonymize_in_parts, refuse_parts
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, silent, stacked
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.verification.judge import verify

from ..small_shares import left_over
from ..small_world import KEY, drawn_documents, drawn_people, priors, true_share

P = Fraction(2, 5)
CHOSEN: dict[str, dict[str, Any]] = {
    "p-linkability": {"p": 0.4, "k": 2, "l": 1.5, "t": 0.9, "augment": "none", "refine": "swap"},
    "composition": {"p": 0.4, "size": 4, "steps": 12_000},
    "pooled": {"p": 0.4, "steps": 6000},
    "vocabulary-k": {"k": 2, "eps": 0.0},
    "km-anonymity": {"k": 2, "m": 2},
    "dp-rows": {"epsilon": 90.0, "rows": 2},
    "random-k": {"k": 3},
    "own-rows": {},
}
PARTS = 4


class Written:
    """What the files of a release say, read by nothing of ours."""

    def __init__(self, folder: Path) -> None:
        def lines(pattern: str) -> list[list[dict[str, Any]]]:
            paths = sorted(folder.glob(pattern))
            return [[*map(json.loads, path.read_text().splitlines())] for path in paths]

        self.folder, self.shards, members = folder, lines("rows*"), lines("private/members*")
        self.about = json.loads((folder / "release.json").read_text())
        self.rows = {row["row"]: row for shard in self.shards for row in shard}
        self.row_of = {one["user"]: one["row"] for shard in members for one in shard}
        self.served = sum(len(shard) for shard in members)
        self.groups: dict[str, list[str]] = {row: [] for row in self.rows}
        for user, row in self.row_of.items():
            self.groups[row].append(user)

    @property
    def content(self) -> dict[str, bytes]:
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return {path.name: path.read_bytes() for path in paths}


class Shipped(LocalParts):
    """Parts whose work goes to other machines and back, as far as their methods can tell."""

    def each(self, work: Callable[[Profiles, Any], Any], given: Any) -> Iterator[Any]:
        shipped = pickle.loads(pickle.dumps((work, [*given])))  # noqa: S301
        return (pickle.loads(pickle.dumps(one)) for one in super().each(*shipped))  # noqa: S301


class Together:
    """Parts in memory, dealt as a test wants them."""

    def __init__(self, parts: list[Profiles]) -> None:
        self.parts, self.terms = parts, parts[0].terms
        self.part_of = np.repeat(np.arange(len(parts)), [len(part) for part in parts])

    def each(self, work: Callable[[Profiles, Any], Any], given: Any) -> Iterator[Any]:
        return map(work, self.parts, given)


Write = Callable[..., Written]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return what writes a release in parts, and reads it again."""

    def written(
        method: str, profiles: Profiles, count: int = PARTS, name: str = "made", **more: Any
    ) -> Written:
        chosen, block = {**CHOSEN[method], **more}, {"made": 50}.get(name, 7)
        numbers = np.arange(len(profiles))
        blocks = [profiles.some(numbers[at : at + block]) for at in range(0, numbers.size, block)]
        needs_key = "key" in METHODS[method].needs
        key = key_of_deal(KEY) if needs_key else deal_key(blocks, 3)
        scratch = tmp_path / f"scratch-{name}"
        scratch.mkdir()
        local = deal(blocks, count, key, scratch / "parts")
        parts = Shipped(local.folder, local.terms, local.part_of)
        dealt = with_everybody(parts, chosen.get("min_users", 1))
        nobody = Profiles((), parts.terms, csr_matrix((0, len(parts.terms))))
        inputs = Inputs(nobody, 3, sample=drawn_documents(), key=KEY, everybody=dealt.everybody)
        made = anonymize_in_parts(method, dealt, inputs, chosen, fact_sums)
        shards = keep(made, scratch, silent)
        write_shards(
            shards,
            facts_of(shards.measured),
            dealt.like_rows,
            tmp_path / name,
            seed=3,
            input_hash=fingerprint(profiles),
            profiles={},
        )
        for suffix in (".jsonl", ".npz"):
            write_profiles(profiles, tmp_path / f"profiles{suffix}")
        return Written(tmp_path / name)

    return written


PEOPLE = drawn_people(131, most=12)


@pytest.mark.parametrize("method", CHOSEN)
def test_everybody_has_one_row_and_the_judge_finds_all_true(
    method: str, write: Write, tmp_path: Path
) -> None:
    made = write(method, PEOPLE)
    assert made.served == len(made.row_of)
    lacking = {*PEOPLE.users} - {*made.row_of}
    assert not lacking or len(lacking) == made.about["facts"]["users_left_out"]
    assert [*made.rows] == [f"g{number:04d}" for number in range(1, len(made.rows) + 1)]
    # Few rows that serve everybody are one piece; others are a shard for each part.
    assert len(made.shards) == (1 if method == "dp-rows" else PARTS)
    assert method == "dp-rows" or (made.folder / "rows-0003.jsonl").is_file()
    # Of arrays, and of methods that can be judged so, the judge reads a shard at a time.
    for suffix in (".jsonl", ".npz"):
        assert verify(made.folder, tmp_path / f"profiles{suffix}").breaches == []


@pytest.mark.parametrize("method", CHOSEN)
def test_the_same_profiles_and_seed_make_the_same_bytes(method: str, write: Write) -> None:
    assert write(method, PEOPLE).content == write(method, PEOPLE, name="again").content


@pytest.mark.parametrize("suffix", [".jsonl", ".npz"])
@pytest.mark.parametrize("method", ["p-linkability", "composition", "pooled", "km-anonymity"])
def test_a_tampered_shard_is_refused(
    method: str, suffix: str, write: Write, tmp_path: Path
) -> None:
    made, profiles = write(method, PEOPLE), tmp_path / f"profiles{suffix}"
    for name, old, new in (
        ("rows-0002.jsonl", b'"t0', b'"t1'),
        ("private/members-0001.jsonl", b'"u1', b'"u9'),
    ):
        shard, true = made.folder / name, (made.folder / name).read_bytes()
        shard.write_bytes(true.replace(old, new, 1))
        assert not verify(made.folder, profiles).holds, name
        shard.write_bytes(true)
    assert verify(made.folder, profiles).holds


@pytest.mark.parametrize("seed", range(3))
def test_groups_have_the_terms_that_the_mean_of_all_profiles_asks_for(
    seed: int, write: Write
) -> None:
    people = drawn_people(90, seed, most=12)
    rows = {user: people.row(user) for user in people.users}
    need = ceil(Fraction(sum(map(len, rows.values())), len(rows)) / P)
    for row, group in write("p-linkability", people).groups.items():
        assert len(set().union(*(rows[user] for user in group))) >= need, row


def test_cells_of_composition_are_checked_against_the_shares_of_all(write: Write) -> None:
    made, prior = write("composition", PEOPLE, size=None), priors(PEOPLE)
    sizes = {len(group) for group in made.groups.values()}
    assert len(sizes) == 1 or max(sizes) - min(sizes) == 1
    for row, group in made.groups.items():
        for term in PEOPLE.terms:
            share = true_share(PEOPLE, group, term)
            assert abs(share - prior[term]) <= P
            assert made.rows[row]["terms"].get(term, 0) == float(share)


def test_pools_of_pooled_are_over_the_groups_of_all_parts(write: Write) -> None:
    """Unassigned are n mod m of all, and each published share is within p of that of all groups."""
    made = write("pooled", PEOPLE)
    *groups, fallback = made.groups.values()
    assert sorted(fallback) == sorted(left_over(KEY, PEOPLE.users, 3))
    assert {len(group) for group in groups} == {3}
    inside = PEOPLE.some([PEOPLE.number(user) for group in groups for user in group])
    prior, rows = priors(inside), [row["terms"] for row in made.rows.values()]
    for term in inside.terms:
        published = [Fraction(row.get(term, 0)).limit_denominator(10**6) for row in rows]
        assert all(abs(share - prior[term]) <= P for share in published)
        assert sum(published[:-1]) / len(groups) == prior[term] == published[-1]


def unlike_parts() -> list[Profiles]:
    """Return two parts: people with a term more than others have, and with fewer terms."""
    rng = np.random.default_rng(2)
    parts = []
    for part, size in enumerate((2, 11)):
        rows = {
            f"u{part}-{user}": dict.fromkeys(
                [*(f"w{one:02d}" for one in rng.choice(40, size, replace=False)), "own"[part:]], 1.0
            )
            for user in range(24)
        }
        parts.append(Profiles.from_rows(rows))
    together = stacked(parts)
    return [together.some(range(24)), together.some(range(24, 48))]


@pytest.mark.parametrize(
    ("method", "claim"), [("p-linkability", "p"), ("composition", "p"), ("random-k", "")]
)
@pytest.mark.parametrize("suffix", [".jsonl", ".npz"])
def test_a_promise_kept_in_each_part_alone_is_not_enough(
    method: str, claim: str, suffix: str, tmp_path: Path
) -> None:
    """Each part is grouped as if it were everybody, and all hashes and facts are right."""
    parts = unlike_parts()
    people = stacked(parts)
    chosen = {**CHOSEN[method], "t": None} if method == "p-linkability" else CHOSEN[method]
    alone = Inputs(parts[0], 3, sample=drawn_documents(), key=KEY)
    sums = with_everybody(Together(parts)).everybody
    made = [anonymize(method, replace(alone, profiles=part), chosen) for part in parts]
    pairs = zip(parts, made, strict=True)
    measured = ((one, fact_sums(sums, part, one)) for part, one in pairs)
    (tmp_path / "scratch").mkdir()
    shards = keep(measured, tmp_path / "scratch", silent)
    stated, about = facts_of(shards.measured), (frozenset[str](), tmp_path / "made")
    write_shards(shards, stated, *about, seed=3, input_hash=fingerprint(people), profiles={})
    write_profiles(people, tmp_path / f"people{suffix}")
    breaches = verify(tmp_path / "made", tmp_path / f"people{suffix}").breaches
    assert {breach.claim for breach in breaches} == {claim} - {""}


def test_km_anonymity_holds_in_each_part_and_so_for_all(write: Write) -> None:
    rows = [{*row["terms"]} for row in write("km-anonymity", PEOPLE).rows.values()]
    for some in {pair for row in rows for pair in combinations(sorted(row), 2)}:
        assert sum({*some} <= row for row in rows) >= 2


def test_a_row_stands_for_k_people(write: Write) -> None:
    made = write("vocabulary-k", PEOPLE, min_users=2)
    assert min(map(len, made.groups.values())) >= 2


def test_a_term_is_rare_by_its_total_over_all_parts(write: Write) -> None:
    having = {term: share * len(PEOPLE) for term, share in priors(PEOPLE).items()}
    least = int(sorted(having.values())[4])
    made = write("p-linkability", PEOPLE, min_users=least)
    standing = {term for row in made.rows.values() for term in row["terms"]}
    assert standing == {term for term, count in having.items() if count >= least}


def test_dp_rows_of_parts_are_the_rows_of_all(write: Write) -> None:
    """The noise is that of the key, and each row serves equally many."""
    made, whole = write("dp-rows", PEOPLE), write("dp-rows", PEOPLE, 1, "whole")
    assert [row["terms"] for row in made.rows.values()] == [
        row["terms"] for row in whole.rows.values()
    ]
    assert [*map(len, made.groups.values())] == [65, 66]
    assert [*made.row_of] == [*PEOPLE.users]


@pytest.mark.parametrize(
    ("method", "more", "said"),
    [
        ("query-k", {}, "query-k needs all users at once; in parts there are: composition, p-l"),
        ("p-linkability", {"first_seed": "u1"}, "first_seed is of one group, and each part has a"),
        ("p-linkability", {"augment": "cooccurrence"}, "network=profiles needs all users at once"),
        ("pooled", {"meet_paper": "true"}, "meet_paper=true tries sizes on all users at once"),
        ("km-anonymity", {"marketing": "synthetic"}, "marketing=synthetic is made from all users"),
    ],
)
def test_what_can_not_be_had_in_parts_is_refused(
    method: str, more: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadParameter, match=said):
        refuse_parts(method, more)


def test_a_part_that_is_too_small_asks_for_fewer_parts(write: Write) -> None:
    with pytest.raises(Unsatisfiable, match=r"in one of 20 parts, so take fewer parts$"):
        write("composition", PEOPLE, 20)

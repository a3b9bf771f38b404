"""Nobody stands in two published rows: random histories against a naive twin of sets of pairs."""

from __future__ import annotations

import random
from hashlib import sha256
from pathlib import Path

import pytest

from anonymizer.publishing import Candidate
from search_app.errors import UsageError
from search_app.workspace.ledger import key_path, publishing
from search_app.workspace.overlap import compared, hashed

Stood = set[tuple[str, str]]  # row and person


def candidate(stood: Stood, *, once: bool = False, method: str = "p-linkability") -> Candidate:
    """Return a candidate with these rows, whose names stand for their lines."""
    pairs = {(sha256(row.encode()).digest()[:8], person) for row, person in stood}
    content = sha256(repr(sorted(stood)).encode()).hexdigest()
    return Candidate(pairs, content, once, len(stood), len(stood), method, {})


def rows_of(person: str, stood: Stood) -> set[str]:
    return {row for row, other in stood if other == person}


def people_in(row: str, stood: Stood) -> set[str]:
    return {person for other, person in stood if other == row}


def naive_overlap(part: Stood, before: Stood, now: Stood) -> tuple[int, int]:
    """Return who of `part` stands in a row that is new for them, and who of these alone in both.

    `part` is what a release added to the pairs of earlier ones; `before` is all that was published.
    """
    people, alone = set(), set()
    for person in {person for _, person in part}:
        for row in rows_of(person, now) - rows_of(person, before):
            people.add(person)
            for former in rows_of(person, part):
                if people_in(former, part) & people_in(row, now) == {person}:
                    alone.add(person)
    return len(people), len(alone)


def random_rows(chance: random.Random, names: list[str], at: int) -> Stood:
    """Return rows of some of `names`; with chance of one in three, two rows for a person."""
    stood = {(f"row {at}.{chance.randrange(4)}", person) for person in names}
    return stood | {
        (f"row {at}.{chance.randrange(4)}", person) for person in names if chance.random() < 0.3
    }


def next_rows(chance: random.Random, last: Stood, at: int) -> tuple[Stood, bool]:
    """Return the next candidate after `last`, and whether it must pass for how it was made."""
    rows = sorted({row for row, _ in last})
    match chance.choice(("same", "fewer", "extension", "disjoint", "other", "one more")):
        case "fewer":
            kept = chance.sample(rows, chance.randint(min(1, len(rows)), len(rows)))
            return {(row, person) for row, person in last if row in kept}, True
        case "extension":
            return last | random_rows(chance, [f"new {at}.{n}" for n in range(3)], at), True
        case "disjoint":
            return random_rows(chance, [f"other {at}.{n}" for n in range(5)], at), True
        case "other":
            return random_rows(chance, [f"p{chance.randrange(12)}" for _ in range(7)], at), False
        case "one more":
            people = sorted({person for _, person in last})
            return random_rows(chance, [*people, f"late {at}"], at), not people
    return last, True


@pytest.mark.parametrize("seed", range(30))
def test_the_rule_is_that_of_its_naive_twin(seed: int, tmp_path: Path) -> None:
    chance, path = random.Random(seed), tmp_path / "ledger.jsonl"  # noqa: S311
    published = list[Stood]()
    last = random_rows(chance, [f"p{n}" for n in range(8)], 0)
    for at in range(1, 7):
        before: Stood = set().union(*published)
        second = any(
            rows_of(person, before) and row not in rows_of(person, before) for row, person in last
        )
        parts = [one.difference(*published[:n]) for n, one in enumerate(published)]
        expected = [naive_overlap(part, before, last) for part in parts]
        with publishing(path, candidate(last)) as publication:
            assert bool(publication.fault) == second
            found = [tuple(overlap) for _, overlap in publication.overlaps]
            assert found == [overlap for overlap in expected if overlap[0]]
            publication.note()
        published.append(last)
        last, passes = next_rows(chance, last, at)
        if passes:
            with publishing(path, candidate(last)) as publication:
                assert not publication.fault


def test_the_cost_in_figures_that_can_be_checked_by_hand() -> None:
    """Ann and Ben share both rows, Cem is alone in both, Dora stays, Emil is new."""
    first = {("a", "Ann"), ("a", "Ben"), ("a", "Cem"), ("b", "Dora")}
    then = {("c", "Ann"), ("c", "Ben"), ("d", "Cem"), ("d", "Emil"), ("b", "Dora")}
    pairs = [hashed(candidate(stood).stood, b"k" * 32) for stood in (first, then)]
    new, (overlap,) = compared(pairs[:1], pairs[1])
    assert (overlap.people, overlap.alone) == (3, 1)
    assert new.sum() == 4
    assert compared([], pairs[0])[0].all()


def test_a_ledger_says_nothing_without_its_key_and_little_for_each_person(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    stood = {(f"row {n // 3}", f"person-{n}") for n in range(300)}
    for _ in range(2):  # what is known is not written again
        with publishing(path, candidate(stood)) as publication:
            publication.note()
    first, again = path.read_text().splitlines()
    assert "person-" not in first
    assert sha256(b"person-1").hexdigest()[:16] not in first
    assert len(first) - len(again) == 300 * 2 * 8 * 4 // 3
    key = key_path(path)
    assert key.name == "ledger.key"
    assert key.stat().st_mode & 0o777 == 0o600
    other = tmp_path / "other" / "ledger.jsonl"
    other.parent.mkdir()
    with publishing(other, candidate(stood)) as publication:
        assert publication.line.stood not in first


def test_every_flipped_bit_of_the_key_and_another_key_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "shared.jsonl"
    key = key_path(path)
    assert key.name == "shared.jsonl.key"
    some = candidate({("a", "Ann"), ("a", "Ben")})
    with publishing(path, some):
        good = key.read_bytes()  # made before there is a line: a kill in between costs nothing
    with publishing(path, some) as publication:
        publication.note()
    assert key.read_bytes().startswith(good)
    good = key.read_bytes()
    spoilt = [
        good[:at] + bytes([good[at] ^ 1 << bit]) + good[at + 1 :]
        for at in range(len(good))
        for bit in range(8)
    ]
    for content in (*spoilt, b"", good * 2, b"0" * 64 + b"\n"):
        key.write_bytes(content)
        with (
            pytest.raises(
                UsageError, match=r"shared.jsonl.key is damaged, or the key of|line .: damaged"
            ),
            publishing(path, some),
        ):
            pass
    key.unlink()
    with (
        pytest.raises(UsageError, match=r"shared.jsonl.key is missing, .*restore it from a copy"),
        publishing(path, some),
    ):
        pass
    assert not key.exists()

"""Planted violations of every promise are refused, and sound releases are not.

VEILSEARCH_VIOLATIONS makes it longer: how many releases, of 10 to 10,000 people, are made,
published and weakened. VEILSEARCH_SEED repeats a run.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from anonymizer.certificate import certified
from anonymizer.publishing import publish
from anonymizer.verification.judge import verify

from ..anonymizer.small_shares import pooled_rows
from ..anonymizer.small_world import KEY
from .planted import PARAMETERS, WEAKENED, Planted, sound, weakenings

SEED = int(os.environ.get("VEILSEARCH_SEED") or 20_261_120)
COUNT = int(os.environ.get("VEILSEARCH_VIOLATIONS") or 32)
SIZES = (10, 12, 17, 25, 40, 60, 110, 160)
LARGE = (300, 1_000, 3_000, 10_000)
ONE_IN = 20  # releases is large, in long runs
TABLE = Path(__file__).parents[2] / "docs" / "attacks.md"


def violations(place: Path, count: int) -> Counter[tuple[str, str]]:
    """Make `count` releases, and weaken each; return what was refused of which method."""
    done = Counter[tuple[str, str]]()
    methods = [*PARAMETERS]
    for number in range(count):
        chance = random.Random(f"{SEED} {number}")  # noqa: S311
        method = methods[number % len(methods)]
        large = count >= 10 * ONE_IN and number // len(methods) % ONE_IN == 0
        people = chance.choice(LARGE if large else SIZES)
        case = f"seed {SEED}, number {number}: {method}, {people} people"
        here = place / f"{number}"
        here.mkdir()
        one = sound(method, people, chance, here)
        one.write(here / "r")
        verdict = publish(here / "r", one.against, here / "f")
        assert verdict.holds, f"{case}: {verdict.breaches}"
        what, weak = weakened(one, chance)
        weak.write(here / "r")
        assert not verify(here / "r", weak.against).holds, f"{case}: {what}"
        before = (here / "f").read_bytes()
        assert not publish(here / "r", weak.against, here / "f").holds, f"{case}: {what}"
        assert (here / "f").read_bytes() == before
        done[method, what] += 1
        done["sound", method] += 1
    return done


def weakened(one: Planted, chance: random.Random) -> tuple[str, Planted]:
    """Return a random weakened copy of `one`, and what was weakened."""
    ways = [*weakenings(one.made.method)]
    for what, weaken in chance.sample(ways, len(ways)):
        if (weak := weaken(one, chance)) is not None:
            return what, weak
    raise AssertionError(f"nothing can be weakened in a release of {one.made.method}")


def test_planted_violations_are_refused_and_sound_releases_are_not(tmp_path: Path) -> None:
    done = violations(tmp_path, COUNT)
    assert sum(done.values()) == 2 * COUNT
    assert {method for kind, method in done if kind == "sound"} == {*PARAMETERS}
    if COUNT >= 1000:  # then every kind of violation has come up
        for method, ways in WEAKENED.items():
            assert all(done[method, what] for what in ways)


@pytest.mark.parametrize("method", PARAMETERS)
def test_who_catches_a_weakened_copy_stands_in_the_note(tmp_path: Path, method: str) -> None:
    one = sound(method, 60, random.Random(f"{method} 60"), tmp_path)  # noqa: S311
    one.write(tmp_path / "r")
    assert verify(tmp_path / "r", one.against).holds
    text = TABLE.read_text(encoding="utf-8")
    for what, weaken in WEAKENED[method].items():
        weak = weaken(one, random.Random(1))  # noqa: S311
        assert weak is not None, what
        weak.write(tmp_path / "r")
        catchers = ["verify"] * (not verify(tmp_path / "r", weak.against).holds)
        if method not in ("query-k", "dp-rows"):  # no attack is about these
            _, beaten = certified(weak.made, weak.profiles, "", people=60, compare=True)
            catchers += sorted({line.partition(":")[0] for line in beaten})
        names = ", ".join(f"`{name}`" for name in catchers)
        assert f"| `{method}` | {what} | {names} |" in text
    rows = [line for line in text.splitlines() if line.startswith(f"| `{method}` |")]
    assert len(rows) == len(WEAKENED[method])


def test_what_breaks_ties_is_all_that_known_ties_change(tmp_path: Path) -> None:
    """With the secret key the naive rows are the released ones."""
    one = sound("pooled", 60, random.Random("pooled 60"), tmp_path)  # noqa: S311
    groups, p = one.members[: one.made.groups], Fraction(str(one.made.parameters["p"]))
    people = {user: one.own(user) for group in groups for user in group}
    for own, naive in zip(one.rows, pooled_rows(people, groups, p, KEY), strict=False):
        shares = {term: float(share) for term, share in naive.items() if share}
        assert own == pytest.approx(shares)

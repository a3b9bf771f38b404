"""What may be spoilt in any small release, by chance, and what the judge says of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from anonymizer.verification.finding import Verdict
from anonymizer.verification.judge import verify

from ..small_release import SmallRelease

Fault = Callable[[SmallRelease, random.Random], None]


def judged(release: SmallRelease, place: Path) -> Verdict:
    return verify(release.write(place / "r"), release.write_profiles(place / "p.jsonl"))


def breaches(
    release: SmallRelease, place: Path, secret: Collection[str] = ()
) -> list[tuple[str, str]]:
    """Return what each breach is of and its text, which names nobody, no term and no `secret`."""
    found = judged(release, place).breaches
    people = release.everybody
    unsaid = {*people, *(t for row in people.values() for t in row if t[1:])}
    for finding in found:
        text = f"{finding.where} {finding.line}"
        assert not unsaid & {*text.split()}
        assert not any(each in text for each in secret)
        assert "\n" not in text
    return [(finding.claim, f"{finding.where}: {finding.line}") for finding in found]


def drop_term(release: SmallRelease, rng: random.Random) -> None:
    terms = rng.choice(release.rows)["terms"]
    if terms:
        del terms[rng.choice(list(terms))]


def invent_term(release: SmallRelease, rng: random.Random) -> None:
    row = rng.choice(release.rows)
    invented = {rng.choice("abcdefghz"): rng.choice((0.25, 0.5, 1.0))}
    row["terms"] = dict(sorted({**row["terms"], **invented}.items()))


def swap_terms(release: SmallRelease, rng: random.Random) -> None:
    one, other = rng.choice(release.rows), rng.choice(release.rows)
    one["terms"], other["terms"] = other["terms"], one["terms"]


def swap_rows(release: SmallRelease, rng: random.Random) -> None:
    """Let two rows change places with all that is theirs."""
    one, other = rng.choice(release.rows), rng.choice(release.rows)
    for part in ("terms", "users"):
        one[part], other[part] = other[part], one[part]
    new = {one["row"]: other["row"], other["row"]: one["row"]}
    for member in release.members:
        member["row"] = new.get(member["row"], member["row"])


def move_member(release: SmallRelease, rng: random.Random) -> None:
    rng.choice(release.members)["row"] = rng.choice(release.rows)["row"]


def drop_member(release: SmallRelease, rng: random.Random) -> None:
    release.members.remove(rng.choice(release.members))


def repeat_member(release: SmallRelease, rng: random.Random) -> None:
    release.members.append(dict(rng.choice(release.members)))


def recount(release: SmallRelease, rng: random.Random) -> None:
    rng.choice(release.rows)["users"] += rng.choice((-1, 1))


def change_fact(release: SmallRelease, rng: random.Random) -> None:
    name = rng.choice(list(release.facts))
    release.facts[name] *= rng.choice((2, 1 + 1e-11, 1 + 1e-14))


ANYWHERE: list[Fault] = [
    drop_term,
    invent_term,
    swap_terms,
    swap_rows,
    move_member,
    drop_member,
    repeat_member,
    recount,
    change_fact,
]


def compared(
    place: Path,
    seed: int,
    cases: int,
    small: Callable[[random.Random], SmallRelease],
    spoil: Collection[Fault],
    holds: Callable[[SmallRelease], bool],
    hide: Callable[[pytest.MonkeyPatch, random.Random], object] = lambda *_: None,
) -> Counter[tuple[str, bool, bool]]:
    """Compare the judge with `holds`, which says the promise word for word, on small releases.

    Half of them are spoilt; of a third the rows are read instead of foreseen, and `hide` may put
    other ways of the judge out of reach. Return how many of each method were spoilt, and held.
    """
    rng = random.Random(seed)  # noqa: S311
    found: Counter[tuple[str, bool, bool]] = Counter()
    for number in range(cases):
        release = small(rng)
        with pytest.MonkeyPatch.context() as patch:
            if rng.random() < 0.3:
                patch.setattr("anonymizer.verification.judge.foresee", lambda *_: None)
            hide(patch, rng)
            if broken := rng.random() < 0.5:
                rng.choice([*spoil])(release, rng)
            verdict = judged(release, place)
        assert verdict.holds == holds(release), f"case {number}: {release} {verdict}"
        found[release.method, broken, verdict.holds] += 1
    return found

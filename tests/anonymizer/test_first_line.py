"""The first line of a published file: recounted or quoted, and no place for a message."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import BadInput
from anonymizer.publishing import publish, read_published
from anonymizer.verification.facts import COUNTS
from anonymizer.verification.judge import JUDGES

from . import small_reduced, small_shares
from .small_release import PARAMETERS, Rows, SmallRelease, by_name, made

ID = "314159"  # one of the people
PEOPLE: Rows = {
    user: {f"t{number // 2}": 1.0, f"s{number % 2}": 1.0, "tea": 1.0}
    for number, user in enumerate((ID, "anna", "berta", "carla", "dora", "emma"))
}
USERS = [*PEOPLE]
CHOICES = {"granularity": "user", "size": 3, "test_share": 0.25, "users": 6, "weights": "binary"}


def p_linkability() -> SmallRelease:
    return made(PEOPLE, (USERS[:3], USERS[3:]), {**PARAMETERS, "p": 0.75, "k": 2, "l": 1.5})


def composition() -> SmallRelease:
    return small_shares.composition(PEOPLE, (USERS[:3], USERS[3:]), p=0.5, size=3, steps=7000)


def pooled() -> SmallRelease:
    groups, left = small_shares.drawn_groups(PEOPLE, 2)
    return small_shares.pooled(PEOPLE, groups, left, p=0.5, steps=7000)


def km_anonymity() -> SmallRelease:
    kept = {user: ["tea"] for user in PEOPLE}
    return small_reduced.reduced(PEOPLE, kept, {"frequencies": "drop", "k": 2})


MAKERS: dict[str, Callable[[], SmallRelease]] = {
    "p-linkability": p_linkability,
    "composition": composition,
    "pooled": pooled,
    "km-anonymity": km_anonymity,
}


def release_of(method: str) -> SmallRelease:
    release = MAKERS[method]()
    release.choices = dict(CHOICES)
    return release


def refusals(release: SmallRelease, place: Path) -> set[str]:
    """Return what the breaches are about for which `release` is not published."""
    folder, profiles = release.write(place / "r"), release.write_profiles(place / "p.jsonl")
    (place / "out").unlink(missing_ok=True)
    verdict = publish(folder, profiles, place / "out")
    assert (place / "out").exists() == verdict.holds
    return {breach.claim for breach in verdict.breaches}


@pytest.mark.parametrize("method", MAKERS)
def test_what_is_published_is_read_and_each_parameter_stands_once(
    tmp_path: Path, method: str
) -> None:
    release = release_of(method)
    assert refusals(release, tmp_path) == set()
    about = read_published(tmp_path / "out").about
    quoted = about["quoted"]["parameters"]
    assert not quoted.keys() & about["parameters"].keys()
    assert {**quoted, **about["parameters"]} == release.parameters
    assert quoted.keys() == JUDGES[method].quoted
    assert about["quoted"]["profiles"] == CHOICES
    assert about["facts"] == {name: release.facts[name] for name in COUNTS if name in release.facts}


PARTS = ("facts", "parameters", "choices")

# -- forged releases -------------------------------------------------------------------------------

Forgery = tuple[str, SmallRelease]


def nudged(value: float) -> Iterator[float]:
    """Yield numbers next to `value`: by a unit in the last digit, by 1e-12, by its type."""
    if isinstance(value, int):
        yield from (value + 1, value - 1, float(value), value + 1e-12)
        return
    unit = 10.0 ** -len(repr(value).partition(".")[2])
    yield from (value + unit, value + 1e-12, value - 1e-12, value * (1 + 2**-52) or 5e-324, -value)
    if value.is_integer():
        yield int(value)
    yield float(f"{value:.6g}{ID}") if "e" not in repr(value) else value + 1e-9


def orders(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield `values` in orders other than that of their names."""
    names = sorted(values)
    for some in (names[::-1], [*names[1:], names[0]], [names[1], names[0], *names[2:]]):
        if some != names:
            yield {name: values[name] for name in some}


def forged(method: str) -> Iterator[Forgery]:
    """Yield what each forgery of a release of `method` is, and the forged release."""
    good = release_of(method)
    for part, name, value in changes(good):
        release = deepcopy(good)
        getattr(release, part)[name] = value
        yield f"{part} {name}={value!r}", release
    for part in PARTS:
        for values in orders(getattr(good, part)):
            release = deepcopy(good)
            for each in PARTS:
                setattr(release, each, by_name(getattr(release, each)))
            setattr(release, part, values)
            release.shuffled = True
            yield f"{part} in the order {[*values]}", release


def changes(good: SmallRelease) -> Iterator[tuple[str, str, object]]:
    """Yield parts of `good`, names in them, and values that these must not have."""
    yield from ((part, "note", 1) for part in PARTS)
    for name, fact in good.facts.items():
        yield from (("facts", name, x) for x in nudged(fact) if repr(x) != repr(fact))
    for name, given in good.parameters.items():
        values = [ID, int(ID), 3141592, float(f"0.{ID}2"), 10**12, True, -0.0, [1], {}]
        if isinstance(given, float):
            values += [given + 1e-12, float(f"0.{ID}")]
        yield from (("parameters", name, value) for value in values)
    for name in ("size", "users", "robots", "test_share", "gap", "weights", "terms", "phrases"):
        yield from (("choices", name, value) for value in (ID, int(ID), 3141592, [1]))
    yield from (("choices", "size", untrue) for untrue in (2, 4))
    yield "choices", "test_share", 0.2500001


@pytest.mark.parametrize("method", MAKERS)
def test_no_forged_release_is_published(tmp_path: Path, method: str) -> None:
    forgeries = [*forged(method)]
    assert len(forgeries) > 150
    # A number that is somebody's id is no harm inside: `publish` alone refuses it.
    for what, release in forgeries:
        claims = refusals(release, tmp_path)
        assert claims, what
        if "=" not in what:
            assert "release.json" in claims, what
        elif what.startswith("facts"):
            assert "facts" in claims, what


# -- forged files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", MAKERS)
def test_a_published_file_has_one_form(tmp_path: Path, method: str) -> None:
    refusals(release_of(method), tmp_path)
    first, _, rows = (tmp_path / "out").read_bytes().partition(b"\n")
    about = json.loads(first)
    quoted = about["quoted"]
    lines = [
        first.replace(b", ", b",", 1),
        first.replace(b"{", b"{ ", 1),
        first.replace(b"0.25", b"0.250"),
        first.replace(b"granularity", b"\\u0067ranularity"),
        *(
            json.dumps({**about, part: values}).encode()
            for part in ("facts", "parameters")
            for values in orders(about[part])
        ),
        *(
            json.dumps({**about, "quoted": {**quoted, part: values}}).encode()
            for part in ("parameters", "profiles")
            for values in orders(quoted[part])
        ),
        *(
            json.dumps({**about, "facts": {**about["facts"], name: value}}).encode()
            for name, fact in about["facts"].items()
            for value in nudged(fact)
            if repr(value) != repr(fact)
        ),
        json.dumps({**about, "facts": {**about["facts"], "mean_worst_linkability": 0.5}}).encode(),
        json.dumps({**about, "quoted": {**quoted, "note": {}}}).encode(),
        json.dumps({**about, "method": "magic"}).encode(),
        json.dumps({**about, "withdrawn": {"rows": 3141592}}).encode(),
        json.dumps({**about, "withdrawn": {"first": "0" * 64, "rows": 1}}).encode(),
    ]
    assert [line for line in lines if line != first and is_read(tmp_path / "out", line, rows)] == []


def is_read(path: Path, line: bytes, rows: bytes) -> bool:
    path.write_bytes(line + b"\n" + rows)
    try:
        read_published(path)
    except BadInput:
        return False
    return True

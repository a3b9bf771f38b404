"""Releases by methods that nobody here knows: judged by what they declare, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import BadParameter
from anonymizer.publishing import publish, read_published
from anonymizer.verification.finding import Verdict
from anonymizer.verification.judge import verify

from ...small_release import SmallRelease, made

PROFILES = {
    f"person {number}": {f"term{n}": 1.0 for n in range(number % 3, number % 3 + 6)}
    for number in range(8)
}
NAMES = [*PROFILES]
GROUPS = [NAMES[0:4], NAMES[4:8]]
LOOSE = {"guarantee": "average", "representative": "centroid", "p": None}


def release(parameters: dict[str, Any], groups: Any = None, **rows: Any) -> SmallRelease:
    small = made(PROFILES, groups or GROUPS, {**LOOSE, **rows})
    small.method, small.parameters = "toy-k", parameters
    return small


def judged(small: SmallRelease, folder: Path) -> Verdict:
    return verify(small.write(folder / "r"), small.write_profiles(folder / "p.jsonl"))


def breaches(verdict: Verdict) -> str:
    return " | ".join(str(one) for one in verdict.findings if not one.holds)


@pytest.mark.parametrize(
    ("parameters", "rows"),
    [
        ({"promise": "average", "k": 4}, {}),
        (
            {
                "promise": "average",
                "p": 0.9,
                "zeal": 0.25,
                "fast": "true",
                "limit": None,
                "tilt": -1.5,
            },
            {},
        ),
        ({"promise": "average", "k": 2, "representative": "union"}, {"representative": "union"}),
        ({"promise": "every-term", "p": 0.75}, {"guarantee": "every-term", "p": 0.75}),
        ({"promise": "nothing"}, {}),
    ],
)
def test_what_is_declared_and_kept_holds(
    parameters: dict[str, Any], rows: dict[str, Any], tmp_path: Path
) -> None:
    assert breaches(judged(release(parameters, **rows), tmp_path)) == ""


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"promise": "average", "k": 5}, "has fewer than k=5 members"),
        ({"promise": "average", "p": 0.1}, "distinct terms that p=0.1 needs"),
        ({"promise": "average", "k": 4, "representative": "union"}, "is not the union's"),
        ({"promise": "every-term", "p": 0.75}, "has a term that more than p=0.75 of its members"),
        ({"promise": "average"}, "p, k, l and t are not set"),
        ({"promise": "every-term", "k": 4}, "declares every-term, but p is not set"),
        ({"promise": "average", "k": "4"}, "k must be a whole number"),
        ({"promise": "average", "k": 4, "note": "a text"}, "a parameter of its own is no lower"),
        ({"promise": "average", "k": 4, "Note": 1}, "a parameter of its own is no lower"),
        ({"promise": "average", "k": 4, "seed": 1234567}, "a parameter of its own is no lower"),
        ({"promise": "average", "k": 4, "guarantee": "average"}, "a parameter of its own is no"),
    ],
)
def test_what_is_declared_and_not_kept_is_a_breach(
    parameters: dict[str, Any], line: str, tmp_path: Path
) -> None:
    found = breaches(judged(release(parameters), tmp_path))
    assert found
    assert line in found


@pytest.mark.parametrize(
    ("method", "promise"),
    [("toy-k", "belief"), ("toy-k", "differential"), ("toy-k", ["average"]), ("Toy", "average")],
)
def test_a_promise_that_nobody_can_count_again_is_not_judged_and_not_published(
    method: str, promise: Any, tmp_path: Path
) -> None:
    small = release({"k": 4, "promise": promise})
    small.method = method
    folder, profiles = small.write(tmp_path / "r"), small.write_profiles(tmp_path / "p.jsonl")
    with pytest.raises(BadParameter, match="its method can't be judged"):
        publish(folder, profiles, tmp_path / "public")
    assert not (tmp_path / "public").exists()


def test_a_promise_of_nothing_is_not_published_and_others_are(tmp_path: Path) -> None:
    for promise, holds in (("nothing", False), ("average", True)):
        small = release({"k": 4, "promise": promise, "zeal": 2.5})
        folder, profiles = (
            small.write(tmp_path / promise),
            small.write_profiles(tmp_path / "p.jsonl"),
        )
        assert publish(folder, profiles, tmp_path / "public").holds is holds
        assert (tmp_path / "public").exists() is holds
    about = read_published(tmp_path / "public").about
    assert (about["method"], about["parameters"]) == ("toy-k", {"k": 4, "promise": "average"})
    assert about["quoted"]["parameters"] == {"zeal": 2.5}


@pytest.mark.parametrize("user", ["toy-k", "zeal"])
def test_words_of_a_method_that_are_a_users_id_are_found(user: str, tmp_path: Path) -> None:
    profiles = {user if name == NAMES[0] else name: row for name, row in PROFILES.items()}
    groups = [[user, *GROUPS[0][1:]], GROUPS[1]]
    small = made(profiles, groups, LOOSE)
    small.method, small.parameters = "toy-k", {"k": 4, "promise": "average", "zeal": 1}
    assert "it holds a user's id" in breaches(judged(small, tmp_path))

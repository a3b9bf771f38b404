"""The certificate: rounded against the release, refused where forged, and the same for ever."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.attacks import ATTACKS, Attacked, applicable
from anonymizer.certificate import (
    FEWEST,
    LARGEST,
    MOST_TOGETHER,
    VICTIMS,
    certificate_faults,
    certified,
)
from anonymizer.errors import BadInput
from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Release
from anonymizer.publishing import publish, read_published
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import write_release
from anonymizer.verification.judge import Case, examine, verify

from ..attacks.planted import TAXONOMY
from . import small_release
from .attacks.test_weakened import unequal
from .small_world import drawn_people
from .small_world import release as made_by
from .test_publishing import GROUPS, SIX

Line = dict[str, Any]
SHA = "0a1b"


def certificate_of(made: Release, people: int, **how: Any) -> tuple[Line, list[str]]:
    return certified(made, drawn_people(people), SHA, **{"compare": True, "people": people, **how})


@pytest.fixture(scope="module")
def composition() -> Release:
    return made_by("composition", drawn_people(120), p=0.5)


@pytest.fixture(scope="module")
def sound(composition: Release) -> Line:
    certificate, beaten = certificate_of(composition, 120)
    assert beaten == []
    return certificate


def test_every_figure_is_that_of_the_attack_rounded_up(composition: Release, sound: Line) -> None:
    target = Attacked(drawn_people(120), composition, known=(1, 3, 5), victims=VICTIMS)
    figures = {}
    for choice in ("random", "rarest"):
        one = replace(target, choice=choice)
        for name in applicable(one):
            for result in ATTACKS[name](one):
                figures[result.attack, result.known, result.choice, result.measure] = result
    assert {line["attack"] for line in sound["attacks"]} == {*applicable(target)}
    for line in sound["attacks"]:
        result = figures[line["attack"], line["known"], line["choice"], line["measure"]]
        # Bounds of the promise may be stated as the promise itself.
        for name in ("value", "high"):
            assert getattr(result, name) - 1e-9 <= line[name] < getattr(result, name) + 0.1
        assert line["low"] <= result.low or line["promised"] is not None
        assert line["promised"] == result.most
        for figure in (line["value"], line["low"], line["high"], line["raw"]):
            assert figure in {*(np.arange(11) / 10), line["promised"]}


def test_a_promise_is_attacked_and_what_beats_it_is_said(composition: Release) -> None:
    _, beaten = certificate_of(unequal(composition), 120)
    assert beaten
    assert all("is promised" in line for line in beaten)
    # Of changed profiles the figures of the making are not known.
    certificate, beaten = certificate_of(unequal(composition), 120, compare=False)
    assert beaten == []
    bounds = [line for line in certificate["attacks"] if line["promised"] is not None]
    assert bounds
    assert all(line["value"] <= line["promised"] for line in bounds)


def test_few_people_show_only_the_promise_and_many_are_not_fitted(
    composition: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = FEWEST - 5
    certificate, _ = certificate_of(made_by("composition", drawn_people(few), p=0.5), few)
    assert certificate["attacks"]
    assert all(line["promised"] is not None for line in certificate["attacks"])
    assert LARGEST > 720
    monkeypatch.setattr("anonymizer.certificate.LARGEST", 119)
    certificate, _ = certificate_of(composition, 120)
    assert "fitting" not in {line["attack"] for line in certificate["attacks"]}


def test_words_that_stand_for_others_have_no_figures_that_are_too_low() -> None:
    people = drawn_people(120)
    made = anonymize("generalization", Inputs(people, taxonomy=TAXONOMY), {"k": 2})
    lines = certificate_of(made, 120)[0]["attacks"]
    assert {line["attack"] for line in lines} == {"singling-out"}
    assert all(line["promised"] is not None for line in lines)


@pytest.mark.parametrize("m", [1, 2, 4])
def test_combinations_are_counted_up_to_three_terms(m: int) -> None:
    made = anonymize("km-anonymity", Inputs(drawn_people(120)), {"k": 2, "m": m})
    certificate, _ = certificate_of(made, 120)
    attacks = [line["attack"] for line in certificate["attacks"]]
    assert ("beyond-m" in attacks) == (m <= MOST_TOGETHER)
    assert [*certificate_faults(certificate, SHA, {"k": 2})] == []


FORGERIES: dict[str, Callable[[Line], object]] = {
    "other rows": lambda c: c.update(sha256="1a1b"),
    "another seed": lambda c: c.update(seed=7),
    "victims": lambda c: c.update(victims=501),
    "no victims": lambda c: c.update(victims=0),
    "a truth": lambda c: c.update(victims=True),
    "a note": lambda c: c.update(note="anna"),
    "a promise left out": lambda c: c["not_promised"].pop(),
    "an order": lambda c: c["attacks"].reverse(),
    "a line twice": lambda c: c["attacks"].append(c["attacks"][-1]),
    "no line": lambda c: c["attacks"].append("anna"),
    "an attack": lambda c: c["attacks"][0].update(attack="anna"),
    "a measure": lambda c: c["attacks"][0].update(measure="anna"),
    "a choice": lambda c: c["attacks"][0].update(choice="anna"),
    "known terms": lambda c: c["attacks"][0].update(known=314159),
    "a digit": lambda c: c["attacks"][0].update(value=0.314159),
    "a number": lambda c: c["attacks"][0].update(raw=1),
    "an interval": lambda c: c["attacks"][0].update(low=1.0, value=0.0),
    "a bound": lambda c: next(x for x in c["attacks"] if x["promised"]).update(promised=0.314159),
    "a text": lambda c: c["attacks"][0].update(attack=["anna"]),
}


@pytest.mark.parametrize("forged", FORGERIES)
def test_a_certificate_has_no_room_for_a_message(sound: Line, forged: str) -> None:
    assert faults(sound) == []
    changed = deepcopy(sound)
    FORGERIES[forged](changed)
    assert faults(changed)


def faults(certificate: Line) -> list[str]:
    try:
        return [*certificate_faults(certificate, SHA, {"p": 0.5})]
    except ValueError as fault:
        return [str(fault)]


# -- published -------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path, composition: Release) -> Path:
    write_profiles(drawn_people(120), tmp_path / "p.jsonl")
    write(composition, tmp_path)
    return tmp_path


def write(release: Release, place: Path) -> None:
    people = drawn_people(120)
    stated = replace(release, facts=facts(people, release))
    write_release(stated, place / "r", seed=0, input_hash=fingerprint(people))


def certificate_in(place: Path, **how: Any) -> Line:
    assert publish(place / "r", place / "p.jsonl", place / "f", **how).holds
    certificate: Line = read_published(place / "f").about["quoted"]["certificate"]
    return certificate


def test_it_is_published_with_the_hash_of_the_rows_and_an_earlier_one_stays(place: Path) -> None:
    certificate = certificate_in(place)
    assert certificate == certificate_in(place)
    assert certificate["sha256"] == read_published(place / "f").about["sha256"]
    before = {**certificate, "attacks": certificate["attacks"][1:]}
    assert certificate_in(place, earlier=lambda sha: {SHA: {}}.get(sha, before)) == before


def test_verify_notices_the_certificate_of_other_rows(place: Path) -> None:
    certificate = certificate_in(place)
    release, profiles, file = place / "r", place / "p.jsonl", place / "f"
    assert verify(release, profiles, file).holds
    content = file.read_text()
    first, _, rows = content.partition("\n")
    about = json.loads(first)
    about["quoted"]["certificate"] = {**certificate, "sha256": "0" * 64}
    file.write_text(f"{json.dumps(about)}\n{rows}")
    (breach,) = verify(release, profiles, file).breaches
    assert breach.line == "the certificate in f is of other rows than these"
    with pytest.raises(BadInput, match="its certificate is of other rows"):
        read_published(file)


def test_a_release_that_an_attack_beats_is_not_published(
    place: Path, composition: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge is made to overlook that rows promise less than is stated."""

    def overlooking(release: Path, profiles: Path) -> Case:
        case = examine(release, profiles)
        for cohort in case.cohorts:
            cohort.findings = [one._replace(holds=True) for one in cohort.findings]
        return case

    weak = replace(composition, parameters={**composition.parameters, "p": 0.05})
    write(weak, place)
    assert not publish(place / "r", place / "p.jsonl", place / "f").holds
    monkeypatch.setattr("anonymizer.verification.judge.examine", overlooking)
    breaches = publish(place / "r", place / "p.jsonl", place / "f").breaches
    assert {breach.claim for breach in breaches} == {"attack"}
    assert "0.05 is promised" in breaches[0].line
    assert not (place / "f").exists()


def test_after_an_edit_the_file_keeps_its_form(tmp_path: Path) -> None:
    """A certificate that went would say that somebody has changed their profile."""
    before = publication(small_release.made(SIX, GROUPS, small_release.PARAMETERS), tmp_path)
    release = small_release.made(SIX, GROUPS, small_release.PARAMETERS)
    release.profiles = {**SIX, "anna-0": {"t1": 0.5}}
    release.changes = {"withdrawn": 0, "left": 0, "stood": [], "edited": ["g0001"]}
    assert publication(release, tmp_path) == before


def publication(release: Any, place: Path) -> bytes:
    folder, profiles = release.write(place / "r"), release.write_profiles(place / "p.jsonl")
    assert publish(folder, profiles, place / "f").holds
    return (place / "f").read_bytes()

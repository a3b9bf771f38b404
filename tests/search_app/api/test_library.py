"""The library `veilsearch` without an index: logs, people, releases."""

from __future__ import annotations

import inspect
import json
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import veilsearch as vs

from anonymizer.model import Profiles
from scripts.docs import ROOT

WORDS = [f"word{number:03d}" for number in range(60)]
FEW = {"ann": {"tea": 1.0, "rum": 1.0}, "bob": {"tea": 1.0, "ale": 1.0}, "cem": {"gin": 1.0}}


def town(people: int = 40) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(3)
    return {
        f"person {number}": dict.fromkeys(rng.choice(WORDS, 15, replace=False).tolist(), 1.0)
        for number in range(people)
    }


@pytest.fixture(scope="module")
def people() -> vs.People:
    return vs.profiles(town())


@pytest.fixture(scope="module")
def release(people: vs.People) -> vs.OwnedRelease:
    return vs.anonymize(people, "pooled", p=0.2)


def table_of(given: dict[str, dict[str, float]]) -> pandas.DataFrame:
    cells = [(user, term, weight) for user in given for term, weight in given[user].items()]
    return pandas.DataFrame(cells, columns=["user", "term", "weight"])


def test_people_of_a_mapping_a_table_and_a_file_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "few.jsonl"
    path.write_text("".join(f"{json.dumps({'user': u, 'terms': t})}\n" for u, t in FEW.items()))
    ways: list[Any] = [FEW, table_of(FEW), table_of(FEW).to_dict("records"), path, str(path)]
    assert [{user: made[user] for user in made} for made in map(vs.profiles, ways)] == [FEW] * 5


def test_a_log_becomes_profiles_with_queries_held_out(tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    days = [f"2006-03-{day:02d} 10:00:00" for day in range(1, 11)]
    lines = [f"{who}\tred kettle {n}\t{day}\t\t\n" for who in (1, 2) for n, day in enumerate(days)]
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(lines))
    read = vs.read_log(log)
    assert (len(read), repr(read)) == (
        20,
        "<Log: 20 queries of 2 people; 21 lines, 0 rejected>",
    )
    made = vs.profiles(read, terms="words", test_share=0.2)
    assert set(made["1"]) == {"red", "kettle"}
    assert {user for user, _ in made.held_out} == {"1", "2"}
    assert all(query.startswith("red kettle") for _, query in made.held_out)


def test_a_release_is_verified_measured_and_attacked(release: vs.OwnedRelease) -> None:
    verdict = release.verify()
    assert verdict.holds
    assert len(verdict.findings) > 10
    measured = release.measure().set_index("name")
    assert measured.loc["change of belief, largest", "most"] <= 0.2
    attacked = release.attack("inference", known=[1], seed=1).set_index("measure")
    assert attacked.loc["column: largest real change of belief", "value"] <= 0.2
    assert not attacked["beats"].any()
    assert release.parameters["p"] == 0.2
    assert release.facts["groups"] == 8
    assert release.row_for("person 0").users >= 5


def test_a_release_is_written_and_opened_again(
    release: vs.OwnedRelease, people: vs.People, tmp_path: Path
) -> None:
    again = vs.open_release(release.save(tmp_path / "release"), people)
    assert (again.method, again.parameters, again.facts) == (
        release.method,
        release.parameters,
        release.facts,
    )
    assert all(again.row_for(one) == release.row_for(one) for one in people)
    with pytest.raises(vs.UsageError, match="made from other profiles"):
        vs.open_release(tmp_path / "release", vs.profiles(town(41)))


def test_a_second_release_of_the_same_people_is_not_published(
    people: vs.People, release: vs.OwnedRelease, tmp_path: Path
) -> None:
    ledger, output = tmp_path / "ledger.jsonl", tmp_path / "pooled.release"
    assert release.publish(output, ledger=ledger).holds
    published = output.read_bytes()
    other = vs.anonymize(people, "p-linkability", p=0.4, augment="none")
    verdict = other.publish(tmp_path / "other.release", ledger=ledger)
    assert [finding.claim for finding in verdict.breaches] == ["one release"]
    assert output.read_bytes() == published
    assert not (tmp_path / "other.release").exists()


def test_own_rows_are_measured_attacked_and_not_verified(people: vs.People) -> None:
    halves = {user: f"half {number % 2}" for number, user in enumerate(people)}
    rows = {half: people[user] for user, half in reversed(halves.items())}
    made = vs.given_rows(people, rows, halves, "halves")
    assert (made.method, made.row_for("person 0").users) == ("halves/", 20)
    assert repr(made).endswith("rows, halves>")
    assert made.row_for("person 1").weights == rows["half 1"]
    assert len(made.measure()) > 10
    assert not made.attack("linking", known=[1])["beats"].any()
    with pytest.raises(vs.AnonymizerError, match="its method can't be judged"):
        made.verify()
    with pytest.raises(vs.UsageError, match="1 in one only"):
        vs.given_rows(people, {**rows, "half 9": {"a": 1.0}}, halves)
    with pytest.raises(vs.UsageError, match="1 people who have no profile"):
        vs.given_rows(people, rows, {**halves, "nobody": "half 1"})


def test_a_method_that_takes_a_log_gets_one(tmp_path: Path, people: vs.People) -> None:
    log = tmp_path / "log.tsv"
    log.write_text("".join(f"{who}\tred kettle\t2006-03-01 10:00:00\t\t\n" for who in range(5)))
    made = vs.anonymize(vs.read_log(log), "query-k", k=3)
    assert made.verify().holds
    with pytest.raises(vs.UsageError, match=r"query-k takes a log: vs\.read_log"):
        vs.anonymize(people, "query-k", k=3)
    with pytest.raises(vs.UsageError, match=r"pooled takes people: vs\.profiles"):
        vs.anonymize(vs.read_log(log), "pooled")


def released(**parameters: Any) -> Callable[..., vs.OwnedRelease]:
    return lambda **more: vs.anonymize(
        vs.profiles(FEW),
        **{"method": "p-linkability", "p": 0.9, "augment": "none", **parameters, **more},
    )


def attacked(**given: Any) -> Callable[[], object]:
    return lambda: released()().attack("linking", **given)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (vs.read_log, "needs the path of a log"),
        (lambda: vs.read_log("nowhere.tsv"), "nowhere.tsv"),
        (lambda: vs.profiles(7), "can't be made of a int"),
        (lambda: vs.profiles([]), "can't be made of a list"),
        (lambda: vs.profiles([{"user": "a"}]), "row 1 has no column term"),
        (lambda: vs.profiles([{"user": "a", "term": " ", "weight": 1}]), "row 1: the term"),
        (lambda: vs.profiles([{"user": "a", "term": "t", "weight": 1}] * 2), "row 2: .* twice"),
        (lambda: vs.profiles([{"user": "a", "term": "t", "weight": "x"}]), "row 1: the weight"),
        *(
            (lambda weight=weight: vs.profiles({"a": {"t": weight}}), "profile 1: the weight must")
            for weight in (-1.0, 0, float("nan"), float("inf"), 10**400, None, "x", [1.0])
        ),
        (lambda: vs.profiles({"a": {}}), "profile 1: it must be terms with weights"),
        (lambda: vs.profiles({"a": ["t"]}), "profile 1: it must be terms with weights"),
        *(
            (
                lambda user=user: vs.profiles({user: {"t": 1.0}}),
                "profile 1: the user must be a text",
            )
            for user in ("", " ", None, 7, "\ud800")
        ),
        (lambda: vs.profiles({"a": {None: 1.0}}), "profile 1: the term must be a text"),
        *(
            (lambda user=user: vs.profiles([{"user": user, "term": "t", "weight": 1}]), "row 1: t")
            for user in (None, float("nan"), 1.0, True)
        ),
        (lambda: vs.profiles({}), "there are no people"),
        (lambda: vs.profiles("town.tsv"), r"of a query log: vs\.read_log"),
        (lambda: vs.read_log(None), "a path must be"),
        (lambda: vs.profiles(FEW)["dan"], "nobody of these"),
        (lambda: vs.profiles(FEW)[["ann"]], "nobody of these"),
        (lambda: vs.anonymize(FEW, "pooled"), r"pooled takes people: vs\.profiles"),
        (lambda: vs.anonymize(vs.profiles(FEW), ["pooled"]), "method must be of type str"),
        (lambda: vs.anonymize(vs.profiles(FEW), "pooled", index=3), "index must be of type Search"),
        *(
            (lambda seed=seed: released()(seed=seed), "seed must be a whole number from 0 on")
            for seed in (None, -1, 1.5, "1", True, float("nan"))
        ),
        (lambda: vs.open_release("nowhere", FEW), "people must be of type People"),
        (lambda: vs.given_rows(vs.profiles(FEW), {}, ["ann"]), "row_of must be of type Mapping"),
        (lambda: vs.given_rows(vs.profiles(FEW), {"r": {"t": "x"}}, {"ann": "r"}), "the weight"),
        (lambda: vs.profiles(FEW, size=2), "only profiles of a log are made by choices"),
        (released(method="magic"), "no method magic; there are: "),
        (released(q=1), "has no parameter q"),
        (released(p=2), "p=2"),
        (released(p="high"), "p=high"),
        (released(augment="cooccurrence", network="index"), r"index=vs\.open_index"),
        (lambda: released()().attack("theft"), "no attack theft; there are: "),
        (attacked(known=3), "known must be of type Iterable"),
        (attacked(known=["x"]), "known must be a whole number from 1 on"),
        (attacked(victims=1.5), "victims must be a whole number from 1 on"),
        (attacked(seed=-1), "seed must be a whole number from 0 on"),
        (attacked(second=3), "second must be of type OwnedRelease"),
        (lambda: released()().row_for(["ann"]), "user must be of type str"),  # type: ignore[arg-type]
        (lambda: released()().save(None), "a path must be"),  # type: ignore[arg-type]
        (lambda: released()().publish("x", ledger=None), "a path must be"),  # type: ignore[arg-type]
        (lambda: vs.nothing, "module veilsearch has no nothing"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(wrong: Callable[[], object], said: str) -> None:
    with pytest.raises((vs.UsageError, vs.AnonymizerError, AttributeError), match=said) as caught:
        wrong()
    assert "\n" not in str(caught.value)


def test_ids_may_be_numbers_in_a_table_and_people_can_be_keys() -> None:
    made = vs.profiles(pandas.DataFrame({"user": [7, 8], "term": ["a", "b"], "weight": [1, 2]}))
    assert list(made) == ["7", "8"]
    assert made != vs.profiles({"7": {"a": 1.0}})
    assert made in {made}


def test_a_seed_may_be_huge(people: vs.People) -> None:
    release = vs.anonymize(people, "pooled", p=0.2, seed=10**40)
    assert release.verify().holds
    assert len(release.attack("inference", known=[1], seed=10**40))


def test_what_the_library_refuses_shows_nobody_and_leaves_no_file(
    people: vs.People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = {user: people[user] for user in people}
    made = vs.given_rows(people, own, {user: user for user in people})
    for wrong in (
        made.verify,
        lambda: made.publish(tmp_path / "x", ledger=tmp_path / "y"),
        lambda: vs.given_rows(people, own, {"person 0": "person 0"}),
        lambda: made.row_for("person 99"),
        lambda: vs.profiles({**own, "person 99": {"word001": -1.0}}),
    ):
        with pytest.raises((vs.UsageError, vs.AnonymizerError)) as caught:
            wrong()
        assert not re.search(r"person \d|word\d", str(caught.value)), caught.value
        assert list(tmp_path.iterdir()) == []
    named = vs.given_rows(people, own, {user: user for user in people}, name="<img src=x>")
    assert "<img" not in named._repr_html_()


def test_a_notebook_shows_text_and_escapes_it() -> None:
    made = vs.profiles({"<b>ann</b>": {"<script>": 1.0, "tea": 1.0}, "bob": {"tea": 1.0}})
    shown = made._repr_html_()
    assert "&lt;b&gt;ann" in shown
    assert "<script>" not in shown
    assert repr(made) == "<People: 2 over 2 terms, 1.5 a person>"
    release = vs.anonymize(made, "p-linkability", p=0.9, augment="none")
    assert repr(release) == "<OwnedRelease: 2 users in 1 rows, p-linkability p=0.9>"
    assert "smallest_group" in release._repr_html_()


def test_without_pandas_tables_are_records(
    monkeypatch: pytest.MonkeyPatch, release: vs.OwnedRelease
) -> None:
    with_pandas = release.measure()
    monkeypatch.setitem(sys.modules, "pandas", None)
    records = release.measure()
    assert isinstance(records, vs.RecordList)
    assert list(records) == with_pandas.to_dict("records")
    assert repr(records).splitlines()[0].split() == [*records[0]]
    assert records._repr_html_().count("<tr>") == len(records) + 1


def test_methods_are_listed_with_their_parameters() -> None:
    assert vs.methods()["pooled"]["p"] == 0.4


def test_two_libraries_share_no_class_by_chance() -> None:
    """Everything public comes from `veilsearch` itself; the profiles in it are the anonymizer's."""
    assert isinstance(vs.profiles(FEW).matrix, Profiles)
    assert vs.People.__module__ == "veilsearch.people"


# -- the names that others build on ----------------------------------------------------------------

PUBLIC = Path(__file__).with_name("public.txt")


def as_text(name: str) -> str:
    thing = getattr(vs, name)
    if not callable(thing) or name.endswith("Error"):
        return name
    if not inspect.isclass(thing):
        return f"{name}{inspect.signature(thing)}"
    own = {key for key in (*vars(thing), *inspect.get_annotations(thing)) if key[0] != "_"}
    return f"{name}: {', '.join(sorted(own)) or thing.__mro__[1].__name__}"


def test_public_names_change_with_a_line_in_the_changelog() -> None:
    """A line of public.txt ends in the version that changed it; CHANGELOG has the name there."""
    lines = [line.rpartition("  ") for line in PUBLIC.read_text().splitlines()]
    assert [text for text, _, _ in lines] == [as_text(name) for name in vs.__all__]
    changelog = (ROOT / "CHANGELOG.md").read_text()
    for text, _, version in lines:
        section = changelog.split(f"## {version}", 1)[1].split("\n## ", 1)[0]
        name = re.match(r"\w+", text)
        assert name
        assert f"`{name[0]}`" in section, f"CHANGELOG {version} says nothing of {name[0]}"

"""Definitions: every fault in one line, what is written reads as it was, and variants to units."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.methods import parameters_of
from search_app.errors import UsageError
from search_app.experiments.definition import as_text, names, read_definition, text_of
from search_app.experiments.design import (
    VECTORS,
    WEIGHTS,
    Experiment,
    ExperimentInputs,
    Variant,
    units_of,
)
from search_app.experiments.modes import MODES

SMALL = """
name = "mine"
[[variant]]
name = "by-p"
method = "p-linkability"
parameters = { p = [0.1, 0.4], representative = "union" }
weights = ["binary", "tf"]
seeds = [0, 7]
"""


def refused(text: str, given: dict[str, str] | None = None) -> str:
    with pytest.raises(UsageError) as found:
        read_definition(text, "mine.toml", given)
    told = str(found.value)
    assert told.startswith("mine.toml"), told
    assert "\n" not in told
    return told


def test_a_list_is_one_variant_a_value() -> None:
    experiment = read_definition(SMALL, "mine.toml", {"users": "30", "size": "off"})
    assert experiment.title == experiment.name == "mine"
    assert experiment.inputs == replace(ExperimentInputs(), users=30, size=None)
    found = [(each.parameters["p"], each.weights) for each in experiment.variants]
    assert found == [(0.1, "binary"), (0.1, "tf"), (0.4, "binary"), (0.4, "tf")]
    first = experiment.variants[0]
    assert first.label == "p-linkability a=1 p=0.1 representative=union"
    assert experiment.variants[1].label == f"{first.label} weights=tf"
    assert first.complete == {**parameters_of("p-linkability"), **first.parameters}
    assert len(units_of(experiment.variants)) == 8  # two p, two weights, two seeds


def test_defaults_are_overridden_by_a_variant_name_by_name() -> None:
    head = 'name = "x"\n[defaults]\nmethod = "p-linkability"\npools = [50]\n'
    text = f'{head}[[variant]]\nname = "a"\n[[variant]]\nname = "b"\nmethod = ""\nmodes = ["none"]'
    one, other = read_definition(text, "x.toml").variants
    assert (one.method, one.pools, one.modes) == ("p-linkability", (50,), ("group",))
    assert (other.method, other.pools, other.modes) == ("", (50,), ("none",))


def test_every_fault_is_told_at_once() -> None:
    told = refused(
        """
name = "my experiment"
titel = "?"
report = "thesis"
[inputs]
size = 0
queries = 4
test_share = 1.0
[[variant]]
name = "a/b"
method = "k-means"
modes = ["group", "best", ["x"]]
pools = [100, 100]
seeds = [-1]
pool = [7]
[[variant]]
name = "c"
weights = "idf"
vectors = []
parameters = { p = 1 }
[[variant]]
name = "d"
method = "p-linkability"
parameters = { p = ["much", 0.4, "more"], first_seed = "u1", network = "log", a = 1.5, q = 1 }
modes = "group"
""",
        {"least_hits": "many"},
    )
    for fault in (
        "unknown titel; allowed are name, title, report, inputs, defaults, variant",
        'name must be letters, digits and hyphens, like name = "mine"',
        "no report thesis; there are: general, burghardt, frontier, liu-wang, promise, spi, value",
        "size=0 must be from 1 to 100000, or off",
        "an experiment has no parameter queries; it has size, users, test_share, terms, robots",
        "test_share=1 must be above 0 and below 1",
        "least_hits=many must be a whole number",
        "variant a/b: unknown pool; allowed are name, method",
        "variant a/b: name must be letters",
        "variant a/b: no method k-means; there are: composition, p-linkability, km-anonymity",
        "variant a/b: no modes best, ['x']; there are none, random, own",
        "variant a/b: pools must be different whole numbers from 31 to 10000: in a pool of 30",
        "variant a/b: seeds must be different whole numbers from 0",
        "variant c: a mode that searches by a release needs a method",
        "variant c: parameters need a method",
        "variant c: no weights idf; there are binary, tf, tfidf, recency",
        "variant c: vectors is empty",
        "variant d: modes: wrong type",
        "variant d: first_seed names a person",
        "variant d: network=log would learn from the held-out queries",
        "p=much must be a number or off",
        "p=more must be a number or off",
        "a=1.5 must be a whole number",
        "p-linkability has no parameter q",
    ):
        assert fault in told, fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("name = ", "can't be read as TOML"),
        ("", "at least one [[variant]] is needed"),
        ('name = "x"\nvariant = [1]', "each variant must be a table"),
        ('name = "x"\nvariant = 1\ninputs = []', "inputs must be a table; variant must be a list"),
        (SMALL.replace("0.1, 0.4", ""), "variant by-p: a parameter's list is empty"),
        (SMALL.replace("0.1, 0.4", "0.1," * 1001), "give more than 1,000 variants"),
        (SMALL.replace("0, 7", "true"), "seeds must be different whole numbers"),
        (SMALL + "[inputs]\nsize = true", "size=true must be a whole number or off"),
        (
            SMALL + "[inputs]\nrobots = 0",
            "robots=0 must be from 1 to 1000000, or off",
        ),
        ("x = " + "[" * 5000, "can't be read as TOML"),
        (SMALL.replace("p = [0.1, 0.4]", "first_seed = 0"), "first_seed names a person"),
        (SMALL.replace('"binary", "tf"', '"tf", "tf"'), "weights names a value twice"),
        (SMALL + 'modes = ["none", "none"]', "modes names a value twice"),
        (SMALL + 'vectors = ["tf", "tf"]', "vectors names a value twice"),
        (
            SMALL.replace("[0, 7]", str([*range(1251)])),
            "5,004 releases by all seeds; at most 5,000",
        ),
    ],
)
def test_what_is_no_experiment_is_refused(text: str, fault: str) -> None:
    assert fault in refused(text)


@pytest.mark.parametrize(
    "given",
    [
        {"size": "-1"}, {"size": "1.5"}, {"users": "1"}, {"test_share": "nan"}, {"seed": "-1"},
        {"test_share": "0"}, {"terms": "nouns"}, {"queries_per_user": "off"},
        {"seed": "4294967296"}, {"sizes": "3"}, {"least_hits": ""},
    ],
)  # fmt: skip
def test_what_is_set_wrongly_is_refused_by_name(given: dict[str, str]) -> None:
    (name,) = given
    told = refused(SMALL, given)
    assert f"{name}={given[name]} must be" in told or f"has no parameter {name}; it has" in told


@pytest.mark.parametrize("size", [30, 31])
def test_where_everything_is_relevant_nothing_is_measured(size: int) -> None:
    pools = SMALL + f"pools = [{size}, 100]\n"
    if size > 30:
        experiment = read_definition(pools, "mine.toml", {"least_hits": str(size)})
        assert (experiment.inputs.least_hits, experiment.variants[0].pools) == (31, (31, 100))
        return
    assert "every order has AP 1" in refused(pools)
    assert "least_hits=30 must be from 31" in refused(SMALL, {"least_hits": str(size)})


WRITTEN = [
    ("p = 0.4", "a=1 p=0.4"),
    ("p = 0.4, a = 1, refine = 'none'", "a=1 p=0.4"),
    ("", "a=1 p=0.4"),
    ("p = 'off', k = 4", "a=1 k=4 p=off"),
    ("a = 3, augment = 'none'", "augment=none p=0.4"),
    ("a = [1, 2], augment = 'none', sense = 'first'", "augment=none p=0.4"),
    ("documents = 2000", "a=1 p=0.4"),
    ("documents = 2000, similarity = 'documents'", "documents=2000 p=0.4 similarity=documents"),
    ("representative = 'union', p = 0.1", "a=1 p=0.1 representative=union"),
]


@pytest.mark.parametrize(("given", "label"), WRITTEN)
def test_a_release_has_one_label_however_it_is_written(given: str, label: str) -> None:
    text = SMALL.replace('p = [0.1, 0.4], representative = "union"', given)
    experiment = read_definition(text.replace('["binary", "tf"]', '"binary"'), "mine.toml")
    (variant,) = experiment.variants
    assert variant.label == f"p-linkability {label}"
    (again,) = read_definition(as_text(experiment), "again.toml").variants
    assert again == variant
    assert all(unit.serves(again) for unit in units_of([variant]))


def test_ours_are_found_by_name_and_others_by_their_file(tmp_path: Path) -> None:
    assert "zhu-xiong" in names()
    file = tmp_path / "mine.toml"
    file.write_text(SMALL)
    assert text_of(str(file)) == SMALL
    with pytest.raises(UsageError, match=r"no experiment mine; there are: .*zhu-xiong.*; or name"):
        text_of("mine")
    file.write_bytes(b"name = '\xff'")
    with pytest.raises(UsageError, match="is not UTF-8"):
        text_of(str(file))


def assert_reads_as_it_was(experiment: Experiment) -> None:
    """What is written in full is the same, to the labels."""
    text = as_text(experiment)
    again = read_definition(text, "again.toml")
    assert as_text(again) == text
    assert again == experiment
    assert units_of(again.variants) == units_of(experiment.variants)


@pytest.mark.parametrize("name", names())
def test_our_own_read_as_they_were(name: str) -> None:
    assert_reads_as_it_was(read_definition(text_of(name), name))


PLAIN = st.from_regex(r"[a-zA-Z0-9-]{1,60}", fullmatch=True)
SEEDS = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=3, unique=True).map(tuple)
POOLS = st.lists(st.integers(31, 10_000), min_size=1, max_size=3, unique=True).map(tuple)
GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "p": st.none() | st.floats(0.01, 1),
        "k": st.none() | st.integers(1, 9),
        "t": st.floats(1e-9, 1e-5),
        "a": st.integers(0, 4),
        "refine": st.sampled_from(["none", "swap", 'odd "\\\n']),
    },
)


@st.composite
def variants(draw: st.DrawFn) -> Variant:
    given, usual = draw(GIVEN), parameters_of("p-linkability")
    complete = {**usual, **given}
    letters = ("p", "k", "l", "t", "a")  # none of the others has one
    telling = {name: complete[name] for name in letters if complete[name] is not None}
    telling |= {name: value for name, value in given.items() if value != usual[name]}
    return Variant(
        name=draw(PLAIN),
        method="p-linkability",
        parameters=telling,
        weights=draw(st.sampled_from(WEIGHTS)),
        vectors=draw(st.sampled_from(VECTORS)),
        modes=tuple(draw(st.lists(st.sampled_from(list(MODES)), min_size=1, unique=True))),
        pools=draw(POOLS),
        seeds=draw(SEEDS),
        complete=complete,
    )


@given(
    name=PLAIN,
    title=st.text(st.characters(exclude_categories=["Cs"])),
    share=st.floats(0.001, 0.999),
    size=st.none() | st.integers(1, 100_000),
    made=st.lists(variants(), min_size=1, max_size=3),
    report=st.sampled_from(["general", "zhu-xiong"]),
)
def test_any_experiment_reads_as_it_was(
    name: str, title: str, share: float, size: int | None, made: list[Variant], report: str
) -> None:
    inputs = replace(ExperimentInputs(), test_share=share, size=size)
    assert_reads_as_it_was(Experiment(name, title, inputs, tuple(made), report))


def test_a_release_may_be_made_that_nobody_asks() -> None:
    experiment = read_definition(f"{SMALL}modes = []\n", "mine.toml", {"robots": "100"})
    assert {each.modes for each in experiment.variants} == {()}
    assert experiment.inputs.robots == 100
    assert all(unit.asked == () for unit in units_of(experiment.variants))
    assert_reads_as_it_was(experiment)
    text = 'name = "mine"\n[[variant]]\nname = "input"\nmodes = []\n'  # no release either
    assert_reads_as_it_was(read_definition(text, "mine.toml"))


def test_no_variant_names_a_table_of_its_own() -> None:
    for table in ('"none"', '"synthetic"', '"mine.csv"', '["none", "synthetic"]'):
        text = SMALL.replace('"p-linkability"', '"km-anonymity"')
        given = text.replace('p = [0.1, 0.4], representative = "union"', f"marketing = {table}")
        assert "marketing is not for variants: all share one table" in refused(given)
    text = SMALL.replace('"p-linkability"', '"km-anonymity"')
    plain = text.replace('p = [0.1, 0.4], representative = "union"', 'target = ["bid", "clicks"]')
    for variant in read_definition(plain, "mine.toml").variants:
        assert "marketing" not in variant.complete


def variant(name: str, p: float = 0.4, **rest: Any) -> Variant:
    return Variant(name, "p-linkability", {"p": p}, complete={"p": p, "a": 1}, **rest)


def test_variants_that_need_the_same_release_share_a_unit() -> None:
    one = variant("one", modes=("group", "left-out"), pools=(50, 100), seeds=(0, 1))
    other = Variant("other", "p-linkability", complete={"a": 1, "p": 0.4}, pools=(100, 1000))
    first, second = units_of([one, other])
    assert (first.name, first.seed, second.name, second.seed) == ("u001", 0, "u002", 1)
    assert first.asked == (
        ("group", 50), ("group", 100), ("group", 1000), ("left-out", 50), ("left-out", 100),
    )  # fmt: skip
    assert second.asked == (*first.asked[:2], *first.asked[3:])
    assert first.serves(one)
    assert first.serves(other)
    assert not second.serves(other)


def test_another_parameter_weight_vector_or_method_is_another_unit() -> None:
    units = units_of(
        [
            variant("a"),
            variant("a", p=0.1),
            variant("a", weights="tf"),
            variant("a", vectors="tf"),
            Variant("a", modes=("none",)),
            variant("again"),
        ]
    )
    assert [unit.name for unit in units] == ["u001", "u002", "u003", "u004", "u005"]
    assert [unit.label for unit in units] == [
        "p-linkability p=0.4",
        "p-linkability p=0.1",
        "p-linkability p=0.4 weights=tf",
        "p-linkability p=0.4 vectors=tf",
        "no release",
    ]


def test_a_whole_number_and_its_float_are_not_mixed_up_with_text() -> None:
    given: list[Any] = [1, "1", None]
    units = units_of([Variant("a", "m", complete={"x": value}) for value in given])
    assert [unit.parameters["x"] for unit in units] == given

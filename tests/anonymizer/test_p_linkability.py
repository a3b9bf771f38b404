"""Algorithm 1: the paper's table 5, the promise judged by brute force, and a naive twin."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.constraints import terms_needed
from anonymizer.methods import METHODS, anonymize, parameters_of, read_parameters
from anonymizer.model import BadInput, BadParameter, Profiles, Release, Unsatisfiable
from anonymizer.wordnet import WordNet


def run(profiles: Profiles, wordnet: WordNet, seed: int = 0, **parameters: object) -> Release:
    return anonymize("p-linkability", profiles, parameters, wordnet=wordnet, seed=seed)


def groups_of(release: Release) -> list[set[str]]:
    users = np.array(release.users)
    return [set(users[release.row_of_user == row]) for row in range(len(release.rows))]


@pytest.mark.parametrize("p", [0.625, 0.7, 0.8, 0.833])
def test_table_5(paper: Profiles, wordnet: WordNet, p: float) -> None:
    release = run(paper, wordnet, p=p, first_seed="UP1", representative="union")
    assert groups_of(release) == [{"UP1", "UP2"}, {"UP3", "UP4"}]
    assert release.rows.row("g0001") == {"kitten": 1, "riding": 0.8, "pup": 0.6, "equitation": 1}


def test_augmentation_decides_who_is_close(paper: Profiles, wordnet: WordNet) -> None:
    order = ["UP1", "UP3", "UP2", "UP4"]  # raw profiles are all equally far: the next row joins
    profiles = Profiles.from_rows({user: paper.row(user) for user in order})
    plain = run(profiles, wordnet, p=0.7, first_seed="UP1", augment="none")
    assert groups_of(plain) == [{"UP1", "UP3"}, {"UP2", "UP4"}]
    augmented = run(profiles, wordnet, p=0.7, first_seed="UP1")
    assert groups_of(augmented) == [{"UP1", "UP2"}, {"UP3", "UP4"}]


def test_each_step_up_can_decide_who_is_close(wordnet: WordNet) -> None:
    # A hypernym step apart: a cat is a feline, and so is a lynx's kind only two steps up.
    rows = {"cat": ["cat"], "wolf": ["wolf"], "lion": ["lion"]}
    profiles = Profiles.from_rows({u: dict.fromkeys(t, 1.0) for u, t in rows.items()})
    closest = {}
    for a in (0, 3):
        release = run(profiles, wordnet, p=0.5, first_seed="cat", a=a)
        closest[a] = next(group for group in groups_of(release) if "cat" in group)
    assert closest[0] >= {"cat", "wolf"}  # nothing shared: the lowest row joins
    assert closest[3] >= {"cat", "lion"}  # both are felines


def test_the_seed_draws_the_first_user(wordnet: WordNet) -> None:
    profiles = Profiles.from_rows({f"u{i}": {f"term{i}": 1.0} for i in range(6)})
    drawn = {
        tuple(run(profiles, wordnet, seed=seed, p=0.5, augment="none").row_of_user.tolist())
        for seed in range(12)
    }
    assert len(drawn) > 1


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200, 1e300])
def test_groups_do_not_depend_on_the_scale_of_weights(
    paper: Profiles, wordnet: WordNet, scale: float
) -> None:
    rows = {user: {t: w * scale for t, w in paper.row(user).items()} for user in paper.users}
    release = run(Profiles.from_rows(rows), wordnet, p=0.7, first_seed="UP1")
    assert groups_of(release) == [{"UP1", "UP2"}, {"UP3", "UP4"}]


def test_rows_are_never_namesakes_of_users(wordnet: WordNet) -> None:
    profiles = Profiles.from_rows({"g0001": {"cat": 1.0}, "g0002": {"dog": 1.0}})
    assert run(profiles, wordnet, p=0.5).rows.users == ("gg0001",)


def test_steps_beyond_the_root_change_nothing(paper: Profiles, wordnet: WordNet) -> None:
    far, further = (run(paper, wordnet, p=0.7, a=a) for a in (50, 100))
    assert far.row_of_user.tolist() == further.row_of_user.tolist()


@pytest.mark.parametrize("first_seed", ["UP1", "UP2"])
def test_at_one_half_all_four_are_one_group(
    paper: Profiles, wordnet: WordNet, first_seed: str
) -> None:
    release = run(paper, wordnet, p=0.5, first_seed=first_seed)
    assert groups_of(release) == [{"UP1", "UP2", "UP3", "UP4"}]


def test_a_centroid_is_the_mean_over_all_members(paper: Profiles, wordnet: WordNet) -> None:
    release = run(paper, wordnet, p=0.7, first_seed="UP1")
    assert release.rows.row("g0002")["java"] == (0.6 + 1.0) / 2
    assert release.rows.row("g0002")["mocha"] == 0.7 / 2


@pytest.mark.parametrize(
    ("p", "need"), [(0.1, 25), (0.2, 13), (0.5, 5), (0.625, 4), (0.833, 4), (0.834, 3), (1.0, 3)]
)
def test_terms_needed_is_exact(paper: Profiles, p: float, need: int) -> None:
    assert terms_needed(paper, p) == need  # |U|avg = (2 + 2 + 3 + 3) / 4 = 2.5


@pytest.mark.parametrize("p", [0.0, -0.1, 1.5, math.nan, math.inf])
def test_p_outside_its_range_is_refused(paper: Profiles, wordnet: WordNet, p: float) -> None:
    with pytest.raises(BadParameter, match=f"p={p} must be above 0 and at most 1"):
        run(paper, wordnet, p=p)


def test_too_few_terms_in_all_is_refused(paper: Profiles, wordnet: WordNet) -> None:
    with pytest.raises(Unsatisfiable, match=r"groups need 13 distinct terms .* have 9; take"):
        run(paper, wordnet, p=0.2)


def test_one_user_alone(wordnet: WordNet) -> None:
    alone = Profiles.from_rows({"u": {"cat": 1.0, "dog": 1.0}})
    assert groups_of(run(alone, wordnet, p=1.0)) == [{"u"}]
    with pytest.raises(Unsatisfiable):
        run(alone, wordnet, p=0.5)


def test_an_unknown_first_seed_is_refused(paper: Profiles, wordnet: WordNet) -> None:
    with pytest.raises(BadInput, match="no profile for this user"):
        run(paper, wordnet, p=0.7, first_seed="nobody")


def test_published_parameters_name_no_user(paper: Profiles, wordnet: WordNet) -> None:
    assert run(paper, wordnet, p=0.7, first_seed="UP1").parameters["first_seed"] == "given"
    assert run(paper, wordnet, p=0.7).parameters["first_seed"] == "drawn"


def test_the_same_seed_gives_the_same_release(paper: Profiles, wordnet: WordNet) -> None:
    one, two = (run(paper, wordnet, seed=5, p=0.7) for _ in range(2))
    assert one.row_of_user.tolist() == two.row_of_user.tolist()
    assert one.rows.weights.data.tolist() == two.rows.weights.data.tolist()


def test_unknown_names_list_the_valid_ones() -> None:
    with pytest.raises(BadParameter, match=r"no method magic; there are: .*, p-linkability"):
        parameters_of("magic")
    with pytest.raises(
        BadParameter, match="no parameter q; p=x must be a number or off; it has p, k, l, t, a"
    ):
        read_parameters("p-linkability", {"q": "1", "p": "x"})


def test_parameters_take_their_defaults_type() -> None:
    read = read_parameters("p-linkability", {"p": "0.3", "a": "2", "sense": "first"})
    assert read == {"p": 0.3, "a": 2, "sense": "first"}


@pytest.mark.parametrize("text", ["0.5", "1", ".5", "1.", "5e-1", "5E-01", "-0.5", "off"])
def test_numbers_in_their_usual_forms(text: str) -> None:
    wanted = None if text == "off" else float(text)
    assert read_parameters("p-linkability", {"p": text}) == {"p": wanted}


@pytest.mark.parametrize("text", ["０.5", "+0.5", "0_1.5", " 0.5", "0.5\n", "nan", "inf", ".", ""])
def test_numbers_in_other_forms_are_refused(text: str) -> None:
    with pytest.raises(BadParameter, match="must be a number or off"):
        read_parameters("p-linkability", {"p": text})
    with pytest.raises(BadParameter, match="must be a whole number"):
        read_parameters("p-linkability", {"a": text})


@pytest.mark.parametrize("name", ["guarantee", "linkage", "augment", "sense", "representative"])
def test_unknown_choices_are_refused(paper: Profiles, wordnet: WordNet, name: str) -> None:
    with pytest.raises(BadParameter, match=f"{name}=wrong must be one of"):
        run(paper, wordnet, p=0.7, **{name: "wrong"})


WORDS = st.sampled_from("abcdefghij")
ROWS = st.lists(st.dictionaries(WORDS, st.sampled_from([0.5, 1.0]), min_size=1), min_size=1)
SHARES = st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0])


@settings(max_examples=300, deadline=None)
@given(rows=ROWS, p=SHARES, seed=st.integers(0, 3))
def test_every_release_keeps_the_promise(
    wordnet: WordNet, rows: list[dict[str, float]], p: float, seed: int
) -> None:
    """Judge by sets and fractions: each group has |U|avg / |G| <= p, each user one group."""
    named = {f"u{number}": row for number, row in enumerate(rows)}
    average = Fraction(sum(len(row) for row in rows), len(rows))
    try:
        release = run(Profiles.from_rows(named), wordnet, seed=seed, p=p, augment="none")
    except Unsatisfiable:
        distinct = len(set().union(*rows))
        assert average / distinct > Fraction(str(p))
        return
    groups = groups_of(release)
    assert sorted(user for group in groups for user in group) == sorted(named)
    for number, group in enumerate(groups):
        terms = set().union(*(named[user] for user in group))
        assert average / len(terms) <= Fraction(str(p))
        released = release.rows.at(number)
        for term in terms:
            mean = math.fsum(named[user].get(term, 0.0) for user in group) / len(group)
            assert released.pop(term) == pytest.approx(mean, rel=1e-12)
        assert released == {}


def test_every_method_has_named_parameters() -> None:
    for method in METHODS:
        assert parameters_of(method)

"""Algorithm 1: the paper's table 5, and what each choice decides.

Then what may be chosen besides p: other bounds, guarantees, linkage, what similarity is made of.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer import compiled
from anonymizer.errors import BadInput, BadParameter, Unsatisfiable
from anonymizer.grouping import greedy as clustering
from anonymizer.methods import (
    anonymize,
    idle_parameters,
    p_linkability,
    parameters_of,
    read_parameters,
)
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.similarity.cooccurrence import Network
from anonymizer.similarity.documents import Documents
from anonymizer.storage.releases import write_release
from anonymizer.terms.wordnet import WordNet

from ..small_world import groups_of


def run(profiles: Profiles, wordnet: WordNet, **chosen: object) -> Release:
    given = ("links", "sample", "seed")
    handed_in = {name: chosen.pop(name) for name in given if name in chosen}
    return anonymize("p-linkability", Inputs(profiles, wordnet=wordnet, **handed_in), chosen)


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


def test_steps_beyond_the_root_change_nothing(paper: Profiles, wordnet: WordNet) -> None:
    far, further = (run(paper, wordnet, p=0.7, a=a) for a in (50, 100))
    assert far.row_of_user.tolist() == further.row_of_user.tolist()


def test_published_parameters_name_no_user(paper: Profiles, wordnet: WordNet) -> None:
    assert run(paper, wordnet, p=0.7, first_seed="UP1").parameters["first_seed"] == "given"
    assert run(paper, wordnet, p=0.7).parameters["first_seed"] == "drawn"


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


# -- what may be chosen besides p ------------------------------------------------------------------


def people(**rows: str) -> Profiles:
    """Make users of words, each of weight 1."""
    return Profiles.from_rows({u: dict.fromkeys(row.split(), 1.0) for u, row in rows.items()})


def test_k_alone(paper: Profiles, wordnet: WordNet) -> None:
    release = run(paper, wordnet, p=None, k=2, first_seed="UP1")
    assert groups_of(release) == [{"UP1", "UP2"}, {"UP3", "UP4"}]
    assert release.parameters["p"] is None
    assert release.parameters["k"] == 2


def test_k_beside_p(paper: Profiles, wordnet: WordNet) -> None:
    # p = 1 asks for three terms, which UP3 and UP4 each have alone.
    assert len(groups_of(run(paper, wordnet, p=1.0, first_seed="UP1"))) == 3
    both = groups_of(run(paper, wordnet, p=1.0, k=2, first_seed="UP1"))
    assert both == [{"UP1", "UP2"}, {"UP3", "UP4"}]


def test_every_term_among_equal_users_can_not_be_had(wordnet: WordNet) -> None:
    # |U|avg = 20 / 8, so two users of four terms are a group; all of them are shared by all.
    lonely = {f"l{number}": "i" for number in range(4)}
    profiles = people(u="a b c d", v="a b c d", w="e f g h", x="e f g h", **lonely)
    with pytest.raises(Unsatisfiable, match=r"1 groups have no term that at most 0.7 of the mem"):
        run(profiles, wordnet, p=0.7, guarantee="every-term", augment="none", first_seed="u")


def test_linkage_decides_who_joins(wordnet: WordNet) -> None:
    # x shares a with the seed s, y nothing; but m and n share c and d with y, so that y is closer
    # to the mean: units of s, m, n sum up to a 0.707 + 0.5 + 0.5 and c = d = 1.
    profiles = people(
        s="a b", m="a b c d", n="a b c d", x="a z", y="c d", o="q r", p="q r", q="q r"
    )
    assert math.sqrt(0.5) + 0.5 + 0.5 < 1 + 1
    chosen = {"k": 4, "augment": "none", "first_seed": "s"}
    options = {"p": None, **chosen}
    assert groups_of(run(profiles, wordnet, **options))[0] == {"s", "m", "n", "x"}
    centroid = run(profiles, wordnet, **options, linkage="centroid")
    assert groups_of(centroid)[0] == {"s", "m", "n", "y"}


def test_a_network_decides_who_is_close(wordnet: WordNet) -> None:
    profiles = people(u="tea", v="mug", w="cup")
    links = Network(("cup", "tea"), csr_matrix(np.array([[0.0, 1.0], [1.0, 0.0]])))
    chosen = {"p": None, "k": 2, "augment": "cooccurrence", "network": "log", "first_seed": "u"}
    release = run(profiles, wordnet, **chosen, links=links)
    assert release.row_of_user[0] == release.row_of_user[2]
    assert release.parameters["network"] == "log"


def test_a_network_is_learnt_from_the_profiles(wordnet: WordNet) -> None:
    # tea and cup meet in four of 12 profiles, so the lover of cups takes the one of tea as sixth.
    together = {f"u{number}": "tea cup" for number in range(4)}
    others = {f"v{number}": "mug" for number in range(5)}
    profiles = people(y="cup", x="mug", w="tea", **together, **others)
    chosen = {"p": None, "k": 6, "first_seed": "y"}
    plain = groups_of(run(profiles, wordnet, **chosen, augment="none"))[0]
    linked = groups_of(run(profiles, wordnet, **chosen, augment="cooccurrence"))[0]
    assert plain == {"y", "x", *together}
    assert linked == {"y", "w", *together}


def test_documents_decide_who_is_close(wordnet: WordNet) -> None:
    """Two users without a common term are alike if they would find the same documents."""
    profiles = people(u="tea", v="sun", w="cup")
    vectors = csr_matrix(np.array([[0.8, 0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]))
    sample = Documents(vectors, ("tea", "cup", "sun"))
    chosen = {"p": None, "k": 2, "similarity": "documents", "first_seed": "u"}
    release = run(profiles, wordnet, **chosen, sample=sample)
    assert groups_of(release) == [{"u", "v", "w"}]
    four = people(u="tea", v="sun", w="cup", x="sun")
    assert {"u", "w"} in groups_of(run(four, wordnet, **chosen, sample=sample))
    assert (release.parameters["augment"], release.parameters["documents"]) == ("none", 3)
    with pytest.raises(BadParameter, match="needs a sample"):
        run(profiles, wordnet, **chosen)


def test_refining_keeps_the_bounds_and_brings_likes_together(wordnet: WordNet) -> None:
    rng = np.random.default_rng(0)
    rows = {}
    for number in range(60):
        of_mine = rng.choice(20, 5, replace=False) + 20 * (number % 4)
        rows[f"u{number}"] = {f"t{term:03d}": 1.0 for term in of_mine}
    profiles = Profiles.from_rows(rows)
    lengths = {}
    for refine in ("none", "swap"):
        release = run(profiles, wordnet, p=0.4, augment="none", refine=refine, first_seed="u0")
        for group in groups_of(release):
            assert len(set().union(*(rows[user] for user in group))) >= 5 / 0.4
        members = release.grouping.indicator @ profiles.weights
        lengths[refine] = float(np.sqrt(members.multiply(members).sum(axis=1)).sum())
    assert lengths["swap"] > lengths["none"]


@pytest.mark.parametrize(
    ("chosen", "fault"),
    [
        ({"a": -1}, "a=-1 must be from 0 to 100"),
        *(({"p": p}, f"p={p} must be above 0 and at most 1") for p in (0.0, -0.1, 1.5, math.inf)),
        ({"neighbours": 0}, "neighbours=0 must be from 1 to 1000"),
        ({"documents": 1}, "documents=1 must be from 2 to 1000000"),
        (
            {"refine": "x", "network": "y"},
            "network=y must be one of profiles, index, log; refine=x must be one of none, swap",
        ),
    ],
)
def test_faults_are_named_at_once(
    paper: Profiles, wordnet: WordNet, chosen: dict[str, object], fault: str
) -> None:
    with pytest.raises(BadParameter) as raised:
        run(paper, wordnet, **{"p": 0.7, **chosen})
    assert set(str(raised.value).split("; ")) == set(fault.split("; "))


CHOICES_OF = ("guarantee", "linkage", "augment", "sense", "representative")


@pytest.mark.parametrize(
    ("chosen", "fault"),
    [
        ({"p": math.nan}, "p=nan must be above 0 and at most 1"),
        ({"p": None}, "all off"),
        ({"p": None, "k": 2, "guarantee": "every-term"}, "guarantee=every-term needs a p"),
        ({"augment": "cooccurrence", "network": "index"}, "network=index needs that network, and"),
        *(({name: "wrong"}, f"{name}=wrong must be one of") for name in CHOICES_OF),
    ],
)
def test_what_can_not_be_is_refused(
    paper: Profiles, wordnet: WordNet, chosen: dict[str, object], fault: str
) -> None:
    with pytest.raises(BadParameter, match=fault):
        run(paper, wordnet, **{"p": 0.7, **chosen})
    with pytest.raises(BadInput, match="no profile for this user"):
        run(paper, wordnet, p=0.7, first_seed="nobody")
    with pytest.raises(Unsatisfiable, match=r"groups need 13 distinct terms .* have 9; take"):
        run(paper, wordnet, p=0.2)


def test_a_centroid_of_binary_profiles_is_the_share_to_the_last_bit(wordnet: WordNet) -> None:
    profiles = people(**{f"u{i}": f"a t{i}" for i in range(49)})
    release = run(profiles, wordnet, p=None, k=49, augment="none", first_seed="u0")
    shares = sorted(set(release.rows.at(0).values()))
    assert shares == [1 / 49, 1.0]  # 1 / 49 * 49 is 0.9999999999999999


VOCABULARY = """
cat dog lion wolf tea cup mug java coffee ball game match pot bean club car road bus train ship
river lake
"""


def crowd(users: int) -> Profiles:
    """Make people of a few words each."""
    rng = np.random.default_rng(4)
    return people(**{f"u{i}": " ".join(rng.choice(VOCABULARY.split(), 6)) for i in range(users)})


@pytest.mark.parametrize("chosen", [{}, {"refine": "swap"}, {"augment": "cooccurrence"}])
def test_the_number_of_cores_changes_no_byte_of_a_release(
    wordnet: WordNet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chosen: dict[str, str]
) -> None:
    profiles, written = crowd(300), []
    for cores in (1, 2, 5):
        for module in (compiled, clustering):
            monkeypatch.setattr(module, "cores", lambda cores=cores: cores)
        release = run(profiles, wordnet, p=0.4, seed=3, **chosen)
        write_release(release, tmp_path / str(cores), seed=3, input_hash="")
        files = sorted(path for path in (tmp_path / str(cores)).rglob("*") if path.is_file())
        written.append([path.read_bytes() for path in files])
    assert written[0] == written[1] == written[2]


@pytest.mark.parametrize("bounds", [{"t": 0.9}, {"l": 1.0}, {"p": 1.0, "t": 0.9}])
def test_weights_far_apart_are_grouped(wordnet: WordNet, bounds: dict[str, float]) -> None:
    profiles = Profiles.from_rows({"u": {"a": 1e-320}, "v": {"b": 1e300}, "w": {"c": 1.0}})
    chosen = {"p": None, "augment": "none", "first_seed": "u", **bounds}
    assert sum(map(len, groups_of(run(profiles, wordnet, **chosen)))) == 3


def test_weights_that_can_not_be_added_up_are_refused(wordnet: WordNet) -> None:
    profiles = Profiles.from_rows({"u": {"a": 1.5e308}, "v": {"a": 1.5e308}})
    with pytest.raises(BadInput, match="too large to be added up"):
        run(profiles, wordnet, p=1.0, representative="union", augment="none")


def test_more_scores_than_fit_are_refused(
    wordnet: WordNet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(p_linkability, "MOST_SCORES", 3)
    sample = Documents(csr_matrix(np.eye(2)), ("tea", "cup"))
    with pytest.raises(BadParameter, match="documents=2 are too many for 2 users; at most 1 fit"):
        run(people(u="tea", v="cup"), wordnet, p=1.0, similarity="documents", sample=sample)


@pytest.mark.parametrize(
    ("given", "idle"),
    [
        ({"a": 2}, []),
        ({"a": 2, "augment": "none"}, ["a"]),
        ({"sense": "first", "combine": "sum", "augment": "cooccurrence"}, ["sense"]),
        ({"neighbours": 3, "network": "log"}, ["neighbours", "network"]),
        ({"documents": 5}, ["documents"]),
        ({"augment": "wordnet", "documents": 5, "similarity": "documents"}, ["augment"]),
    ],
)
def test_parameters_without_effect_are_known(given: dict[str, object], idle: list[str]) -> None:
    assert idle_parameters("p-linkability", given) == idle

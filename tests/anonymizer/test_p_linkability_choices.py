"""What may be chosen besides p: other bounds, guarantees, linkage, what similarity is made of."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from anonymizer import clustering, compiled
from anonymizer.cooccurrence import Network
from anonymizer.methods import anonymize, idle_parameters, p_linkability
from anonymizer.model import BadInput, BadParameter, Profiles, Release, Unsatisfiable
from anonymizer.release import write_release
from anonymizer.similarity import Documents
from anonymizer.wordnet import WordNet


def run(profiles: Profiles, wordnet: WordNet, **chosen: object) -> Release:
    given = ("links", "sample", "seed")
    handed_in = {name: chosen.pop(name) for name in given if name in chosen}
    return anonymize("p-linkability", profiles, chosen, wordnet=wordnet, **handed_in)


def groups_of(release: Release) -> list[set[str]]:
    users = np.array(release.users)
    return [set(users[release.row_of_user == row]) for row in range(len(release.rows))]


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


def test_all_bounds_off_is_refused(paper: Profiles, wordnet: WordNet) -> None:
    with pytest.raises(BadParameter, match="all off"):
        run(paper, wordnet, p=None)


def test_diversity_asks_for_even_weights(wordnet: WordNet) -> None:
    profiles = Profiles.from_rows(
        {"u": {"a": 9.0, "b": 1.0}, "v": {"c": 10.0}, "w": {"a": 9.0, "c": 9.0}, "x": {"b": 1.0}}
    )
    chosen = {"p": None, "augment": "none", "first_seed": "u"}
    # a 9, b 1 is as diverse as 1.38 terms: u needs w, and v and x are then left over.
    assert math.exp(-(0.9 * math.log(0.9) + 0.1 * math.log(0.1))) == pytest.approx(1.384, abs=1e-3)
    assert groups_of(run(profiles, wordnet, l=2.0, **chosen)) == [{"u", "v", "w", "x"}]
    alone = groups_of(run(profiles, wordnet, l=1.38, **chosen))
    assert alone == [{"u", "x"}, {"v", "w"}]  # x is left over, and shares b with u


def test_closeness_to_everybody(wordnet: WordNet) -> None:
    # Everybody: a 1/2, b 1/2. One user is at distance 0.558, two users of a kind as well; a, a, b
    # is near enough, and the last b is left over.
    profiles = people(u="a", v="a", w="b", x="b")
    for t, sizes in ((0.56, [1, 1, 1, 1]), (0.55, [4])):
        found = run(profiles, wordnet, p=None, t=t, augment="none", first_seed="u")
        assert sorted(len(group) for group in groups_of(found)) == sizes


ROWS = st.lists(
    st.dictionaries(st.sampled_from("abcdefghij"), st.sampled_from([0.5, 1.0]), min_size=1),
    min_size=1,
    max_size=30,
)


@settings(max_examples=200, deadline=None)
@given(rows=ROWS, p=st.sampled_from([0.2, 0.3, 0.5, 0.7]), union=st.booleans())
def test_every_term_is_shared_by_few_enough(
    wordnet: WordNet, rows: list[dict[str, float]], p: float, union: bool
) -> None:
    named = {f"u{number}": row for number, row in enumerate(rows)}
    kind = "union" if union else "centroid"
    try:
        release = run(
            Profiles.from_rows(named),
            wordnet,
            p=p,
            guarantee="every-term",
            representative=kind,
            augment="none",
        )
    except Unsatisfiable:
        return
    average = Fraction(sum(map(len, rows)), len(rows))
    for number, group in enumerate(groups_of(release)):
        having: dict[str, int] = {}
        for user in group:
            for term in named[user]:
                having[term] = having.get(term, 0) + 1
        assert average / len(having) <= Fraction(str(p))
        allowed = {t for t, c in having.items() if Fraction(c, len(group)) <= Fraction(str(p))}
        assert release.rows.at(number).keys() == allowed


def test_every_term_leaves_out_what_more_than_p_share(wordnet: WordNet) -> None:
    profiles = people(u="a b", v="a c", w="d e", x="d f")
    release = run(profiles, wordnet, p=0.4, guarantee="every-term", augment="none", first_seed="u")
    assert groups_of(release) == [{"u", "v", "w", "x"}]  # a and d have two of four members
    assert release.rows.at(0) == {"b": 0.25, "c": 0.25, "e": 0.25, "f": 0.25}


def test_every_term_among_equal_users_can_not_be_had(wordnet: WordNet) -> None:
    # |U|avg = 20 / 8, so two users of four terms are a group; all of them are shared by all.
    lonely = {f"l{number}": "i" for number in range(4)}
    profiles = people(u="a b c d", v="a b c d", w="e f g h", x="e f g h", **lonely)
    with pytest.raises(Unsatisfiable, match=r"1 groups have no term that at most 0.7 of the mem"):
        run(profiles, wordnet, p=0.7, guarantee="every-term", augment="none", first_seed="u")


def test_every_term_needs_a_p(paper: Profiles, wordnet: WordNet) -> None:
    with pytest.raises(BadParameter, match="guarantee=every-term needs a p"):
        run(paper, wordnet, p=None, k=2, guarantee="every-term")


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


def test_a_network_that_is_not_handed_in_is_refused(paper: Profiles, wordnet: WordNet) -> None:
    with pytest.raises(BadParameter, match="network=index needs that network handed in"):
        run(paper, wordnet, p=0.7, augment="cooccurrence", network="index")


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
    assert release.parameters["augment"] == "none"
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
        run(paper, wordnet, p=0.7, **chosen)
    assert set(str(raised.value).split("; ")) == set(fault.split("; "))


def test_a_centroid_of_binary_profiles_is_the_share_to_the_last_bit(wordnet: WordNet) -> None:
    profiles = people(**{f"u{i}": f"a t{i}" for i in range(49)})
    release = run(profiles, wordnet, p=None, k=49, augment="none", first_seed="u0")
    shares = sorted(set(release.rows.at(0).values()))
    assert shares == [1 / 49, 1.0]  # 1 / 49 * 49 is 0.9999999999999999


WORDS = [
    "cat",
    "dog",
    "lion",
    "wolf",
    "tea",
    "cup",
    "mug",
    "java",
    "coffee",
    "ball",
    "game",
    "match",
    "pot",
    "bean",
    "club",
    "car",
    "road",
    "bus",
    "train",
    "ship",
    "river",
    "lake",
]


def crowd(users: int) -> Profiles:
    """Make people of a few words each."""
    rng = np.random.default_rng(4)
    return people(**{f"u{i}": " ".join(rng.choice(WORDS, 6)) for i in range(users)})


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


def test_the_sample_that_was_had_is_named(wordnet: WordNet) -> None:
    sample = Documents(csr_matrix(np.eye(2)), ("tea", "cup"))
    chosen = {"p": None, "k": 2, "similarity": "documents", "sample": sample}
    assert run(people(u="tea", v="cup"), wordnet, **chosen).parameters["documents"] == 2


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

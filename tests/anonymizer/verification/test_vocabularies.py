"""The judge of vocabularies: the paper's running example holds, and each forgery is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from anonymizer.terms.taxonomy import noun_taxonomy
from anonymizer.verification.vocabularies.network import network_of
from anonymizer.verification.vocabularies.wordnet_files import read_nouns

from ..small_release import SmallRelease, digits, together
from ..small_vocabulary import (
    CLUSTERS,
    EXAMPLE,
    GENERAL,
    MATCHED,
    SLOTS,
    TAXONOMY,
    facts_of,
    slots_of,
    vocabulary,
)
from .faults import breaches, judged

# LG and LG(bag) of the running example: t1 and t4 under Goods, the others under two kinds of goods.
LG_CLUSTERS = {"g0001": ["t1", "t4"], "g0002": ["t2", "t3", "t5"]}
LG_BAG = {
    "g0001": {"Goods": ["Boots Pure-milk", "Jackets Raw-milk", "Wine Raw-milk", "Wine Vino"]},
    "g0002": {
        "Groceries": ["Vino Raw-milk Pure-milk", "Vino Vino Pure-milk"],
        "Wear": ["Jackets Jackets Jackets", "Shoes Shoes Pants"],
    },
}


def example(**parameters: Any) -> SmallRelease:
    profiles = {user: {**row} for user, row in EXAMPLE.items()}
    slots = slots_of(CLUSTERS, SLOTS)
    if parameters.get("typical", "majority") != "majority":
        word = BAGS if parameters["typical"] == "bags" else ABOVE
        slots = sorted((row, word["-".join(p[1] for p in pairs)], pairs) for row, _, pairs in slots)
    return vocabulary(profiles, slots, {**MATCHED, **parameters}, TAXONOMY)


BAGS = {
    "Jackets-Jackets-Jackets": "Jackets",
    "Boots-Shoes-Shoes": "Boots|Shoes",
    "Wine-Vino-Vino": "Vino|Wine",
    "Wine-Vino-Wine": "Vino|Wine",
    "Pure-milk-Pure-milk": "Pure-milk",
    "Raw-milk-Raw-milk": "Raw-milk",
    "Raw-milk-Pure-milk": "Pure-milk|Raw-milk",
}
ABOVE = {**BAGS, "Boots-Shoes-Shoes": "Footwear", "Wine-Vino-Vino": "Alcohol"}
ABOVE |= {"Wine-Vino-Wine": "Alcohol", "Raw-milk-Pure-milk": "Milk"}


def general(*, bag: bool = True) -> SmallRelease:
    profiles = {user: {**row} for user, row in EXAMPLE.items()}
    slots = slots_of(LG_CLUSTERS, LG_BAG)
    if not bag:
        slots = [
            (row, node, [
                [user, term]
                for user in LG_CLUSTERS[row]
                for term, count in profiles[user].items()
                for _ in range(int(count))
                if node == "Goods" or (node == "Wear") == (term in WEAR)
            ])
            for row, nodes in LG_BAG.items()
            for node in nodes
        ]  # fmt: skip
    given = {**GENERAL, "bag": "true" if bag else "false"}
    return vocabulary(profiles, slots, given, TAXONOMY, "generalization")


WEAR = ("Jackets", "Pants", "Boots", "Shoes")


@pytest.mark.parametrize("typical", ["majority", "bags", "generalize"])
def test_the_running_example_holds(typical: str, tmp_path: Path) -> None:
    release = example(typical=typical)
    assert breaches(release, tmp_path) == []
    said = {finding.claim: finding.line for finding in judged(release, tmp_path).findings}
    assert said["eps"] == "any two occurrences of a slot are at most eps=4 apart"
    assert said["slots"] == (
        "each of 7 slots has exactly one occurrence of each member, none used twice"
    )
    assert said["k"] == "each row stands for k=2 people or more"


@pytest.mark.parametrize("bag", [True, False])
def test_the_running_example_generalized_holds(bag: bool, tmp_path: Path) -> None:
    assert breaches(general(bag=bag), tmp_path) == []


# -- forgeries -------------------------------------------------------------------------------------

Change = Callable[[SmallRelease], object]
# Lines of the example: 1 Jackets, 2 Shoes, 3 Vino, 4 Wine; 5 Pure-milk, 6 and 7 Raw-milk.


def slot(number: int, **new: Any) -> Change:
    return lambda release: release.slots[number - 1].update(new)


def pair(number: int, place: int, user: str | None = None, term: str | None = None) -> Change:
    def change(release: SmallRelease) -> None:
        old = release.slots[number - 1]["occurrences"][place]
        release.slots[number - 1]["occurrences"][place] = [user or old[0], term or old[1]]

    return change


def occurrences(number: int, *new: Any) -> Change:
    return slot(number, occurrences=[*new])


def cut(number: int, place: int) -> Change:
    return lambda release: release.slots[number - 1]["occurrences"].pop(place)


def swap_words(release: SmallRelease) -> None:
    """Publish Vino where Wine is typical, and Wine where Vino is."""
    release.slots[2]["occurrences"], release.slots[3]["occurrences"] = (
        release.slots[3]["occurrences"],
        release.slots[2]["occurrences"],
    )


def republish(release: SmallRelease, number: int, old: str, new: str) -> None:
    """Let a slot and its row publish another term, with facts that fit."""
    release.slots[number - 1]["term"] = new
    row = release.rows[0 if number < 5 else 1]
    row["terms"][old] -= 1
    row["terms"][new] = row["terms"].get(new, 0.0) + 1
    row["terms"] = {term: weight for term, weight in sorted(row["terms"].items()) if weight}
    release.slots.sort(key=lambda s: (s["row"], s["term"], s["occurrences"]))
    release.facts = facts_of(release)


def again(number: int) -> Change:
    """Publish a slot twice, with a weight and facts that fit."""

    def change(release: SmallRelease) -> None:
        same = release.slots[number - 1]
        release.slots.insert(number, {**same, "occurrences": [[*p] for p in same["occurrences"]]})
        release.rows[0 if number < 5 else 1]["terms"][same["term"]] += 1
        release.facts = facts_of(release)

    return change


def weigh(row: int, term: str, weight: float | None) -> Change:
    def change(release: SmallRelease) -> None:
        terms = {**release.rows[row]["terms"], term: weight}
        release.rows[row]["terms"] = {t: w for t, w in sorted(terms.items()) if w is not None}
        release.facts = facts_of(release)

    return change


def put(**given: Any) -> Change:
    return lambda release: release.parameters.update(given)


def off(name: str, by: float = 1) -> Change:
    return lambda release: release.facts.update({name: release.facts[name] + by})


def written(part: str, name: str, change: Callable[[str], str]) -> Change:
    def write(release: SmallRelease) -> None:
        content = release.of_vocabularies()[f"private/{name}"] or b""
        setattr(release, part, change(content.decode()).encode())

    return write


lines_as = partial(written, "slots", "slots.jsonl")
tree = partial(written, "taxonomy", "taxonomy.tsv")


def lose(name: str) -> Change:
    return lambda release: setattr(release, name, None)


def alone(release: SmallRelease) -> None:
    """Leave t5 out of the second row, as if a cluster were of one."""
    release.members.pop()
    release.rows[1]["users"] = 1
    for line in release.slots[4:]:
        line["occurrences"].pop()
    release.slots[6]["term"] = "Raw-milk"
    release.facts = facts_of(release)


def stranger(release: SmallRelease) -> None:
    release.members.append({"user": "t9", "row": "g0002"})


def moved(release: SmallRelease) -> None:
    release.members[2]["row"] = "g0002"
    release.rows[0]["users"], release.rows[1]["users"] = 2, 3


def unmembered(release: SmallRelease) -> None:
    release.members.pop(2)
    release.rows[0]["users"] = 2


def uneven(release: SmallRelease) -> None:
    release.profiles["t1"]["Wine"] = 2.5
    release.facts = facts_of(release)


IN_SLOTS = "private/slots.jsonl, line"
FORGERIES: list[tuple[str, Change, str, str]] = [
    ("k more than people", put(k=3), "k", "line 2: stands for fewer than k=3 people"),
    ("a row of one", alone, "k", "line 2: stands for fewer than k=2 people"),
    ("eps one less", put(eps=1.0), "eps", "4 of 7 slots: has two occurrences that are farther"),
    ("eps 0", put(eps=0.0), "eps", f"{IN_SLOTS} 2: 4 of 7 slots"),
    ("a pair beyond eps", pair(1, 2, term="Raw-milk"), "eps", f"{IN_SLOTS} 1: has two"),
    ("another typical word", lambda r: republish(r, 4, "Wine", "Vino"), "typical", "does not"),
    ("the later of equals", lambda r: republish(r, 7, "Raw-milk", "Pure-milk"), "typical",
     "does not publish its term that is closest to the others"),
    ("a word that is not its own", lambda r: republish(r, 1, "Jackets", "Pants"), "typical", "not"),
    ("the node above", lambda r: republish(r, 2, "Shoes", "Footwear"), "typical", "does not"),
    ("words exchanged", swap_words, "typical", "2 of 7 slots"),
    ("as bags", put(typical="bags"), "typical", "all of its terms, each once"),
    ("as generalized", put(typical="generalize"), "typical", "the closest word above all"),
    ("a slot twice", again(4), "slots", f"{IN_SLOTS} 3: 3 of 8 slots: uses an occurrence that"),
    ("an occurrence twice", pair(2, 2, term="Vino"), "slots", "2 of 7 slots: uses an occurrence"),
    ("somebody else's word", pair(1, 0, term="Pants"), "slots", f"{IN_SLOTS} 1: has an occurrence"),
    ("nobody's word", pair(1, 0, term="Coats"), "slots", "that no member of its row has"),
    ("another row's member", pair(1, 0, "t5"), "slots", "that no member of its row has"),
    ("a member for another", pair(1, 0, "t2"), "slots", "exactly one occurrence of each member"),
    ("a person unknown", pair(1, 0, "t9"), "slots", "that no member of its row has"),
    ("one too few", cut(1, 2), "slots", "has not exactly one occurrence of each member"),
    ("one too many", lambda r: r.slots[1]["occurrences"].append(["t1", "Wine"]), "slots",
     "has not exactly one occurrence of each member"),
    ("the same twice", lambda r: r.slots[1]["occurrences"].append(["t1", "Boots"]), "slots",
     "has not exactly one occurrence of each member"),
    ("a slot missing", lambda r: r.slots.pop(0), "terms", "line 1: has a term without a slot"),
    ("a further slot missing", lambda r: r.slots.pop(), "weights", "line 2: has a weight that"),
    ("a slot in another row", slot(4, row="g0002"), "slots", "that no member of its row has"),
    ("a slot of no row", slot(7, row="g0003"), "slots", f"{IN_SLOTS} 7: is of a row that there"),
    ("a slot of another word", slot(4, term="Vino"), "terms", "line 1: has a term without a slot"),
    ("a slot of a word not there", slot(1, term="Boots"), "terms", "publishes a term that its row"),
    ("slots out of order", lambda r: r.slots.reverse(), "slots", "6 of 7 slots: stands behind a"),
    ("members out of order", lambda r: r.slots[0]["occurrences"].reverse(), "order",
     "line 1: has slots that name its members in different orders"),
    ("a weight more", weigh(0, "Wine", 2.0), "weights", "is not the number of its slots"),
    ("a weight less", weigh(1, "Raw-milk", 1.0), "weights", "line 2: has a weight that is not"),
    ("a share", weigh(0, "Wine", 2 / 3), "weights", "is not the number of its slots"),
    ("a term more", weigh(0, "Boots", 1.0), "terms", "line 1: has a term without a slot"),
    ("a term less", weigh(0, "Wine", None), "terms", f"{IN_SLOTS} 4: publishes a term that its"),
    ("a member in another row", moved, "slots", "that no member of its row has"),
    ("a member without a row", unmembered, "slots", "that no member of its row has"),
    ("a member unknown", stranger, "partition", "line 6: its user has no profile"),
    ("a profile that shrank", lambda r: r.profiles["t1"].update(Wine=1.0), "slots", "uses an"),
    ("a profile of no counts", uneven, "weights", "are no counts"),
    ("too many counts", lambda r: r.profiles["t1"].update(Wine=1e300), "weights", "are no counts"),
    *((f"{name} off", off(name), "facts", f"{name} is not") for name in (
        "users", "groups", "single_person_rows", "smallest_group", "largest_group",
        "users_left_out", "kept_occurrences", "replaced_occurrences", "suppressed_occurrences",
        "terms_in_groups", "terms_released", "terms_suppressed")),
    *((f"{name} off", off(name, -0.01), "facts", f"{name} is not") for name in (
        "mean_group", "worst_linkability", "change_of_belief", "average_linkability")),
    ("a fact lost", lambda r: r.facts.pop("kept_occurrences"), "facts", "is missing"),
    ("a fact as a fraction", lambda r: r.facts.update(kept_occurrences=18.0), "facts", "is not 18"),
    ("a fact more", lambda r: r.facts.update(bLM=0.25), "facts", "1 facts are not known"),
    ("k 0", put(k=0), "parameters", "k must be a whole number from 1"),
    ("k true", put(k=True), "parameters", "k must be a whole number from 1"),
    ("eps below 0", put(eps=-1.0), "parameters", "eps must be from 0"),
    ("eps whole", put(eps=4), "parameters", "eps must be from 0"),
    ("eps an id", put(eps=4.417749), "parameters", "eps must have at most 6 digits"),
    ("omega 0", put(omega=0.0), "parameters", "omega must be above 0"),
    ("a model of its own", put(model=3), "parameters", "model must be 1 or 2"),
    ("a path", put(taxonomy="/home/t1/goods.tsv"), "parameters", "one of wordnet, given"),
    ("sessions as people", put(count="u1"), "parameters", "count must be one of people, voc"),
    ("a parameter lost", lambda r: r.parameters.pop("omega"), "parameters", "omega is missing"),
    ("a parameter more", put(m=2), "parameters", "there are more than"),
    ("no slots", lose("slots"), "slots", "is missing, so nobody can check"),
    ("slots cut", lines_as(lambda t: t[:-20]), "slots", f"{IN_SLOTS} 7: "),
    ("slots empty", lines_as(lambda _: ""), "terms", "2 of 2 rows: has a term without a slot"),
    ("a name twice", lines_as(lambda t: t.replace('{"row"', '{"row": "g0002", "row"', 1)), "slots",
     f"{IN_SLOTS} 1: a name occurs twice"),
    ("a name more", lines_as(lambda t: t.replace('{"row"', '{"x": 1, "row"', 1)), "slots", "names"),
    ("no pairs", occurrences(1, "t1", "t2", "t3"), "slots", "are not pairs of a user and a term"),
    ("triples", occurrences(1, ["t1", "Jackets", "x"]), "slots", "are not pairs"),
    ("numbers", occurrences(1, ["t1", 1]), "slots", "a user or a term is no text"),
    ("nobody", occurrences(1), "slots", "are not pairs"),
    ("no taxonomy", lose("taxonomy"), "taxonomy", "is missing, though a taxonomy was given"),
    ("a taxonomy with WordNet", put(taxonomy="wordnet"), "taxonomy", "though none was given"),
    ("a second parent", tree(lambda t: f"{t}Wine\tGoods\n"), "taxonomy", "line 15: its child has"),
    ("a cycle", tree(lambda t: f"{t}Goods\tWine\n"), "taxonomy", "so there is a cycle"),
    ("its own parent", tree(lambda t: f"{t}Beer\tBeer\n"), "taxonomy", "line 15: its way up never"),
    ("three columns", tree(lambda t: f"{t}Beer\tAlcohol\tx\n"), "taxonomy", "must be a child"),
    ("no parent", tree(lambda t: f"{t}Beer\n"), "taxonomy", "line 15: must be a child, a tab"),
    ("another taxonomy", tree(lambda t: t.replace("Vino\tAlc", "Vino\tWear\nX\tAlc")), "eps", ""),
    ("terms of rare people", put(min_users=2), "min_users", "fewer than min_users=2 people have"),
]  # fmt: skip


def some_match() -> SmallRelease:
    """Return the example with clusters of more than k, where t1 does not match Shoes."""
    release = example(members=3)
    release.slots[1]["occurrences"].pop(0)
    release.facts = facts_of(release)
    return release


def test_a_slot_may_lack_members_if_k_match(tmp_path: Path) -> None:
    release = some_match()
    assert breaches(release, tmp_path) == []
    said = [finding.line for finding in judged(release, tmp_path).findings]
    one = "exactly one occurrence of each of 2 members or more"
    assert f"each of 7 slots has {one}, none used twice" in said
    assert release.facts["own_share"] == digits((3 / 4 + 4) / 5)


def lonely(release: SmallRelease) -> None:
    """Let t3 stand in no slot of its row, with facts that fit."""
    for line in release.slots[:4]:
        line["occurrences"] = [one for one in line["occurrences"] if one[0] != "t3"]
    del release.slots[1], release.rows[0]["terms"]["Shoes"]
    release.facts = facts_of(release)


PARTIAL_FORGERIES: list[tuple[str, Change, str, str]] = [
    ("k - 1 occurrences", cut(2, 0), "slots",
     f"{IN_SLOTS} 2: has not exactly one occurrence of each of 2 members or more"),
    ("a member twice", pair(2, 0, "t3", "Raw-milk"), "slots", f"{IN_SLOTS} 2: has not exactly one"),
    ("a member once more", lambda r: r.slots[1]["occurrences"].append(["t3", "Wine"]), "slots",
     "2 of 7 slots: uses an occurrence that another slot uses"),
    ("a member in no slot", lonely, "slots", "line 1: has a member who stands in no slot"),
    ("somebody of no row", lambda r: r.slots[1]["occurrences"].append(["t5", "Pants"]), "slots",
     "that no member of its row has"),
    ("members out of order", lambda r: r.slots[1]["occurrences"].reverse(), "order",
     "line 1: has slots that name its members in different orders"),
    ("a pair beyond eps", pair(2, 1, term="Raw-milk"), "eps", f"{IN_SLOTS} 2: has two"),
    ("as if all matched", put(members=None), "slots", "exactly one occurrence of each member"),
    ("clusters of k", put(members=2), "parameters", "members must be more than k, or null"),
    ("clusters of nobody", put(members=0), "parameters", "members must be a whole number from 1"),
    ("own share off", off("own_share", -0.01), "facts", "own_share is not"),
    ("own share lost", lambda r: r.facts.pop("own_share"), "facts", "own_share is missing"),
]  # fmt: skip


GENERAL_FORGERIES: list[tuple[str, bool, Change, str, str]] = [
    ("a node above", True, lambda r: republish(r, 5, "Groceries", "Goods"), "terms", "above an"),
    ("not below", True, pair(5, 0, term="Jackets"), "terms", f"{IN_SLOTS} 5: has an occurrence"),
    ("less than all have", True, lambda r: (r.slots.pop(0), weigh(0, "Goods", 3.0)(r)), "slots",
     "is published more or less often than each member"),
    ("not all below", False, cut(2, 0), "slots", "does not hold all that its members have below"),
    ("a member left out", False, lambda r: r.slots[1].update(occurrences=[
        p for p in r.slots[1]["occurrences"] if p[0] != "t3"]), "slots", "one occurrence or more"),
    ("a set as a bag", False, put(bag="true"), "slots", "exactly one occurrence of each member"),
    ("a bag as a set", True, put(bag="false"), "slots", "does not hold all"),
    ("bag yes", True, put(bag="yes"), "parameters", "bag must be one of true, false"),
    ("senses all", True, put(senses="closest"), "parameters", "senses must be one of first"),
    ("k more", True, put(k=3), "k", "line 1: stands for fewer than k=3 people"),
    ("used twice", True, pair(1, 0, term="Wine"), "slots", "uses an occurrence that another slot"),
    ("weight of a set", False, weigh(0, "Goods", 4.0), "weights", "not the number of its slots"),
    ("kept off", False, off("kept_occurrences"), "facts", "kept_occurrences is not"),
]  # fmt: skip


ALL_FORGERIES = [
    *((name, example, *rest) for name, *rest in FORGERIES),
    *((f"some match: {name}", some_match, *rest) for name, *rest in PARTIAL_FORGERIES),
    *((f"{bag=}: {name}", partial(general, bag=bag), *rest)
      for name, bag, *rest in GENERAL_FORGERIES),
]  # fmt: skip


@pytest.mark.parametrize(
    ("_name", "make", "change", "claim", "line"), ALL_FORGERIES, ids=[f[0] for f in ALL_FORGERIES]
)
def test_a_forgery_is_refused(
    _name: str,
    make: Callable[[], SmallRelease],
    change: Change,
    claim: str,
    line: str,
    tmp_path: Path,
) -> None:
    release = make()
    change(release)
    found = breaches(release, tmp_path)
    assert any(claim == what and line in text for what, text in found), found


def test_a_part_of_vocabularies_belongs_to_them_alone(tmp_path: Path) -> None:
    release = example()
    release.method, release.parameters = "composition", {}
    found = breaches(release, tmp_path)
    for part in ("slots.jsonl", "taxonomy.tsv"):
        assert any(text.startswith(f"private/{part}: its method") for _, text in found), found


# -- people, sessions, and who comes and goes ------------------------------------------------------


def sessions(count: str, *names: str) -> SmallRelease:
    release = example(count=count)
    new = dict(zip(EXAMPLE, names, strict=True))
    release.profiles = {new[user]: row for user, row in release.profiles.items()}
    for member in release.members:
        member["user"] = new[member["user"]]
    for line in release.slots:
        line["occurrences"] = [[new[user], term] for user, term in line["occurrences"]]
    release.slots.sort(key=lambda s: (s["row"], s["term"], s["occurrences"]))
    release.choices = {"granularity": "session"}
    release.facts = facts_of(release)
    return release


def test_sessions_of_a_person_count_once(tmp_path: Path) -> None:
    apart = ("ann#1", "bob#1", "cid#1", "ann#2", "bob#2")
    close = ("ann#1", "ann#2", "bob#1", "cid#1", "dan#1")
    assert breaches(sessions("people", *apart), tmp_path) == []
    said = {f.claim: f.line for f in judged(sessions("people", *apart), tmp_path).findings}
    assert said["sessions"] == "users are 5 sessions of 3 people: the promise is about people"
    ((claim, line),) = breaches(sessions("people", *close), tmp_path)
    assert (claim, line) == ("k", "rows.jsonl, line 1: stands for two sessions of one person")
    assert breaches(sessions("vocabularies", *close), tmp_path) == []


def test_sessions_of_a_person_may_share_a_generalized_row(tmp_path: Path) -> None:
    release = general()
    release.profiles = {f"p{user[1]}#1": row for user, row in release.profiles.items()}
    for member in release.members:
        member["user"] = f"p{member['user'][1]}#1"
    for line in release.slots:
        line["occurrences"] = [[f"p{user[1]}#1", term] for user, term in line["occurrences"]]
    release.choices = {"granularity": "session"}
    lines = [finding.line for finding in judged(release, tmp_path).findings]
    assert "each row stands for k=2 people or more" in lines
    assert "no row has two sessions of a person" not in lines


def test_rows_stand_by_their_content(tmp_path: Path) -> None:
    names = {"g0001": "g0002", "g0002": "g0001"}
    people = {names[row]: members for row, members in CLUSTERS.items()}
    slots = slots_of(people, {names[row]: lines for row, lines in SLOTS.items()})
    found = breaches(vocabulary(EXAMPLE, slots, MATCHED, TAXONOMY), tmp_path)
    line = "line 1: stands before a row that must come first by its terms and their weights"
    assert found == [("order", f"rows.jsonl, {line}")]


def test_users_of_whom_nothing_is_published_have_no_row(tmp_path: Path) -> None:
    release = example()
    release.profiles["t6"] = {"Piano": 2.0}
    release.facts = facts_of(release)
    assert breaches(release, tmp_path) == []
    assert release.facts["users_left_out"] == 1
    assert judged(release, tmp_path).checked["users_left_out"] == 1
    release.members.append({"user": "t6", "row": "g0002"})
    release.rows[1]["users"], release.facts = 3, facts_of(release)
    assert ("slots", f"{IN_SLOTS} 5: 3 of 7 slots: has not exactly one occurrence of each member"
            ) in breaches(release, tmp_path)  # fmt: skip


def later() -> SmallRelease:
    """Return a cohort of other people, one of whom is left out."""
    profiles = {"n1": {"Wine": 1.0}, "n2": {"Vino": 1.0, "Boots": 1.0}, "n3": {"Piano": 1.0}}
    slots = [("g0001", "Wine", [["n1", "Wine"], ["n2", "Vino"]])]
    return vocabulary(profiles, slots, MATCHED, TAXONOMY)


def test_of_cohorts_users_left_out_wait(tmp_path: Path) -> None:
    release = together(example(), later())
    for line in release.cohorts[0].slots:
        line["row"] = "g0003"
    assert breaches(release, tmp_path) == []
    verdict = judged(release, tmp_path)
    assert verdict.checked["waiting"] == 1
    assert any(f.claim == "facts" and "of the making" in f.line.replace("at the making", "of the "
               "making") for f in verdict.findings)  # fmt: skip
    release.cohorts[0].slots[0]["occurrences"][0][1] = "Boots"
    assert {claim for claim, _ in breaches(release, tmp_path)} == {"slots"}


def test_of_a_cohort_without_rows_no_slot_stays(tmp_path: Path) -> None:
    release = together(example(), later())
    (cohort,) = release.cohorts
    slots, cohort.rows, cohort.members, cohort.slots = cohort.slots, [], [], None
    cohort.changes = {"withdrawn": 1, "left": 0, "stood": ["n1", "n2"], "edited": []}
    cohort.withdrawn = {"rows": 1}
    counts = ("users", "groups", "single_person_rows", "smallest_group", "largest_group")
    cohort.facts |= {**dict.fromkeys(counts, 0), "mean_group": 0.0}
    assert breaches(release, tmp_path) == []
    cohort.slots = slots
    ((claim, line),) = breaches(release, tmp_path)
    assert claim == "partition"
    assert line.endswith("a slot is of a row, but there is none")


def test_a_term_of_somebody_left_out_was_not_rare(tmp_path: Path) -> None:
    """Of u2 and u3 only it was two people's; once others came, nobody can tell u3 from them."""
    profiles = {
        "u1": {"Wine": 1.0},
        "u2": {"Vino": 1.0, "Wine": 1.0},
        "u3": {"Vino": 1.0},
    }
    slots = [("g0001", "Wine", [["u1", "Wine"], ["u2", "Vino"]])]
    release = vocabulary(profiles, slots, {**MATCHED, "min_users": 2}, TAXONOMY)
    assert breaches(release, tmp_path) == []
    release.changes = {"withdrawn": 0, "left": 0, "stood": [], "edited": []}
    release.newcomers = {"u4": {"Boots": 1.0}}
    assert breaches(release, tmp_path) == []
    release.parameters["min_users"] = 3
    assert [claim for claim, _ in breaches(release, tmp_path)] == ["min_users"]


def withdrawn() -> SmallRelease:
    """Return the example after t4 left with all of the second row; t5 stays without one."""
    release = example()
    del release.profiles["t4"]
    release.members = [one for one in release.members if one["row"] == "g0001"]
    release.rows, release.slots = release.rows[:1], release.slots[:4]
    release.changes = {"withdrawn": 1, "left": 1, "stood": ["t5"], "edited": []}
    release.withdrawn = {"rows": 1}
    sizes = {"users": 3, "groups": 1, "single_person_rows": 0}
    release.facts |= {**sizes, "smallest_group": 3, "mean_group": 3.0, "largest_group": 3}
    return release


def test_what_a_withdrawn_row_stood_for_is_gone_with_it(tmp_path: Path) -> None:
    assert breaches(withdrawn(), tmp_path) == []
    release = withdrawn()
    release.slots = [*release.slots, example().slots[6]]
    ((claim, line),) = breaches(release, tmp_path)
    assert (claim, line) == ("slots", f"{IN_SLOTS} 5: is of a row that there is not")


def test_of_a_row_whose_member_changed_slots_are_not_recounted(tmp_path: Path) -> None:
    release = example()
    del release.profiles["t1"]["Boots"]
    release.slots[1]["occurrences"].pop(0)
    release.changes = {"withdrawn": 0, "left": 0, "stood": [], "edited": ["g0001"]}
    assert breaches(release, tmp_path) == []
    release.slots[5]["occurrences"].pop()
    assert [claim for claim, _ in breaches(release, tmp_path)] == ["slots"]


# -- distances by WordNet --------------------------------------------------------------------------


def test_distances_are_those_of_wordnets_nouns() -> None:
    first = network_of({"taxonomy": "wordnet", "senses": "first"}, {})
    closest = network_of({"taxonomy": "wordnet", "senses": "closest"}, {})
    words = (("dog", "cat", 4), ("car", "automobile", 0), ("wine", "beer", 3), ("dog", "dog", 0))
    for one, other, steps in words:
        assert first.distance(one, other) == first.distance(other, one) == steps
    assert first.distance("java", "coffee") > closest.distance("java", "coffee") == 0
    assert first.distance("dog", "zzz") == float("inf")
    assert first.distance("zzz", "zzz") == 0
    assert first.closest(["dog", "cat", "cat"]) == "carnivore"
    assert first.closest(["zzz", "zzz"]) == "zzz"
    way = [first.word(node) for node in first.way_up("dog")]
    assert (way[0], way[-1], first.way_up("quickly")) == ("dog", "entity", [])


def test_wordnets_files_are_read_as_the_makers_read_them(wordnet: Any) -> None:
    """Of every tenth noun: its senses and what stands above, by their first words."""
    nouns, tree, seen = read_nouns(), noun_taxonomy(wordnet), 0
    for term in wordnet.terms[::10]:
        synsets = [one for one in wordnet.senses(term) if wordnet.pos(one) == "n"]
        mine = nouns.senses(term)
        assert len(mine) == len(synsets)
        for one, other in zip(mine, synsets, strict=True):
            seen += 1
            assert nouns.name(one) == tree.name_of(other)
            above = [tree.name_of(up) for up in wordnet.parents(other)]
            assert [nouns.name(up) for up in nouns.parents(one)] == above
    assert seen > 10_000


def test_a_release_by_wordnet_is_judged(tmp_path: Path) -> None:
    profiles = {"u1": {"dog": 2.0, "quickly": 1.0}, "u2": {"cat": 1.0, "quickly": 1.0, "dog": 1.0}}
    slots = [
        ("g0001", "dog", [["u1", "dog"], ["u2", "cat"]]),
        ("g0001", "dog", [["u1", "dog"], ["u2", "dog"]]),
        ("g0001", "quickly", [["u1", "quickly"], ["u2", "quickly"]]),
    ]
    given = {**MATCHED, "taxonomy": "wordnet"}
    assert breaches(vocabulary(profiles, slots, given, None), tmp_path) == []
    given["eps"] = 3.0  # a dog is 4 steps from a cat
    assert [c for c, _ in breaches(vocabulary(profiles, slots, given, None), tmp_path)] == ["eps"]


@pytest.mark.parametrize(("eps", "faults"), [(0.0, ["eps"]), (1.0, [])])
def test_at_0_only_identical_words_match(eps: float, faults: list[str], tmp_path: Path) -> None:
    """Two words of one synset are 0 steps apart, and still two words."""
    profiles = {"u1": {"automobile": 1.0}, "u2": {"car": 1.0}}
    slots = [("g0001", "automobile", [["u1", "automobile"], ["u2", "car"]])]
    given = {**MATCHED, "taxonomy": "wordnet", "eps": eps}
    release = vocabulary(profiles, slots, given, None)
    assert [claim for claim, _ in breaches(release, tmp_path)] == faults

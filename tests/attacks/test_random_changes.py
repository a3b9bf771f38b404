"""Random sequences of changes, watched by an outsider, a stranger and a co-member.

VEILSEARCH_SEED repeats a run. VEILSEARCH_CHANGES makes it longer: sequences for each method, and
changes in each sequence, such as 50x50. VEILSEARCH_METHODS names some methods only.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path

import pytest

from anonymizer.storage.profiles import read_profiles
from anonymizer.terms.wordnet import WordNet
from search_app.accounts import store
from search_app.cli import run as run_verb

from .served import METHODS, TERM, Served, served
from .watching import PAGES, Outsider, Visitor, difference, total

SEED = int(os.environ.get("VEILSEARCH_SEED") or 20_261_119)
SEQUENCES, CHANGES = map(int, (os.environ.get("VEILSEARCH_CHANGES") or "1x10").split("x"))
CHOSEN = (os.environ.get("VEILSEARCH_METHODS") or " ".join(METHODS)).split()
PEOPLE = 30
READ = 6  # pages that each visitor reads after each change
OFTEN = {
    "edit": 20,
    "forget": 7,
    "leave": 5,
    "publish": 6,
    "use": 2,
    "verify": 3,
    "join": 5,
    "admit": 4,
}


class Sequence:
    """Changes of one server, and all that is seen of it meanwhile."""

    def __init__(self, server: Served, chance: random.Random) -> None:
        self.server, self.world, self.chance = server, server.world, chance
        self.done: Counter[str] = Counter()
        self.outsider, self.rows = Outsider(), dict[str, bytes]()
        self.gone, self.stood = set[str](), dict[str, str]()
        self.public, self.published = set[str](), 0
        members = server.members()
        one = chance.choice(sorted(members))
        other = chance.choice(sorted(user for user in members if members[user] != members[one]))
        self.watchers = {one: Visitor(server.get(one), TERM)}
        self.watchers[other] = Visitor(server.get(other), TERM)

    def change(self) -> str:
        """Make a random change; return what it was."""
        people = sorted({*self.world.users()} - self.watchers.keys())
        what = self.chance.choices([*OFTEN], [*OFTEN.values()])[0]
        if what in ("edit", "forget", "leave") and people:
            self.person(what, self.chance.choice(people))
        elif what == "join":
            self.server.come(self.chance.randrange(3, 8))
        elif self.world.release.exists():
            self.operator(what)
        self.server.follow()
        self.done[what] += 1
        return what

    def person(self, what: str, user: str) -> None:
        """Let `user` edit the profile, leave the group, or be forgotten."""
        rows, members, means = {*self.server.names()}, self.server.members(), self.means()
        own = sorted(read_profiles(self.world.profiles).row(user))
        form = {"term": self.chance.choice(own)} if what == "edit" else {}
        self.server.does(user, f"/me/{'terms' if what == 'edit' else what}", **form)
        gone, row = rows - {*self.server.names()}, members.get(user, "")
        # A fallback row holds nothing of those it serves: it goes with the last of them.
        stays = what == "edit" or row in means
        assert stays or gone >= {row} - {""}, "a row of somebody who left"
        # It goes with the last group of its cohort, too.
        others = gone - {row}
        assert len(others) <= (row in gone and self.world.method == "pooled"), "another row went"

    def means(self) -> set[str]:
        """Return the names of the fallback rows, which are of fewer people than groups are."""
        if self.world.method != "pooled":
            return set()
        cohorts = [
            [json.loads(line) for line in (folder / "rows.jsonl").read_bytes().splitlines()]
            for folder in self.server.cohorts()
        ]
        return {
            rows[-1]["row"] for rows in cohorts if rows and rows[-1]["users"] < rows[0]["users"]
        }

    def operator(self, what: str) -> None:
        """Publish what there is, use the release that is used, or verify it."""
        root, release = self.world.root, self.world.release
        words: dict[str, list[object]] = {
            "publish": ["publish", release, "-o", root / "public.jsonl"],
            "use": ["use", release],
            "admit": ["admit"],
            "verify": ["verify", release, "--against", self.world.profiles],
        }
        words["verify"] += ["--since", self.world.first]
        code = run_verb(["--workspace", str(root), *map(str, words[what])])
        # Single-person rows are not published again after somebody left. Newcomers may be too few.
        single = self.world.method == "km-anonymity"
        assert code == 0 or what == "admit" or (what == "publish" and single)
        self.published += what == "publish" and code == 0

    def watch(self) -> None:
        """Check all that anybody can see now."""
        before = self.rows | {}
        names = self.server.names()
        lines = self.server.rows()
        for name, line in zip(names, lines, strict=True):
            assert self.rows.setdefault(name, line) == line, "a row has changed"
            assert name not in self.gone, "a row came back"
        self.gone |= before.keys() - {*names}
        for user, row in self.server.members().items():
            assert self.stood.setdefault(user, row) == row, "somebody stands in two rows"
        file = self.world.root / "public.jsonl"
        if file.exists():
            was = total(map(json.loads, self.outsider.now))
            old = {*self.outsider.now}
            self.outsider.sees(file.read_bytes())
            new = {*self.outsider.now}
            # Old minus new is a sum of whole rows: those that went, less those that came.
            whole = difference(total(map(json.loads, old - new)), total(map(json.loads, new - old)))
            assert difference(was, total(map(json.loads, new))) == pytest.approx(whole)
            assert {*self.outsider.rows.items()} <= {*self.rows.items()}
            assert new <= {*lines}, "a withdrawn row stands in a published file of the workspace"
            for line in new - old:
                self.public |= {*json.loads(line)["terms"]}
        # An empty cohort counts: what was published before it came is not all there is.
        state = (names, self.published, len(self.server.cohorts()))
        for user, visitor in self.watchers.items():
            pages = self.chance.sample(PAGES, READ)
            visitor.sees(pages, self.public, state)
            for name, row in visitor.own_rows.items():
                assert row == json.loads(self.rows[name]), "the own row is not the released one"
                assert self.stood.get(user, name) == name


def sequences(
    place: Path, index: Path, wordnet: WordNet, methods: list[str], count: int
) -> Counter[str]:
    """Watch `count` sequences for each of `methods` in the folder `place`; return what was."""
    done = Counter[str]()
    for method in methods:
        for number in range(count):
            chance = random.Random(f"{SEED} {method} {number}")  # noqa: S311
            with served(place / "w", index, wordnet, method, PEOPLE, SEED + number) as server:
                sequence, what, step = Sequence(server, chance), "nothing", 0
                try:
                    sequence.watch()
                    for step in range(CHANGES):  # noqa: B007
                        what = sequence.change()
                        sequence.watch()
                except Exception as fault:
                    case = f"seed {SEED}, {method}, sequence {number}, change {step}: {what}"
                    raise AssertionError(f"{case}: {fault}") from fault
                done += sequence.done
                done["sequences"] += 1
                done["rows"] += len(sequence.rows)
                done["rows withdrawn"] += len(sequence.gone)
    return done


def test_whatever_changes_only_whole_rows_come_and_go(
    tmp_path: Path, index: Path, wordnet: WordNet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "ORDERS", 10**9)  # the visitors read all day
    done = sequences(tmp_path, index, wordnet, CHOSEN, SEQUENCES)
    assert done["sequences"] == SEQUENCES * len(CHOSEN)
    assert done["rows withdrawn"]

"""Newcomers get a cohort of their own: old rows stay byte for byte, whenever it is killed."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Callable, Set
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize, promise_of
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, stacked
from anonymizer.publishing import Candidate
from anonymizer.similarity.documents import Documents
from anonymizer.storage import releases
from anonymizer.storage.profiles import fingerprint, read_profiles, write_profiles
from anonymizer.storage.releases import people_of, read_input_hash, read_release
from anonymizer.terms.taxonomy import taxonomy_of
from anonymizer.verification.judge import verify
from search_app.accounts.store import PeopleStore
from search_app.errors import UsageError
from search_app.forgetting import needles
from search_app.forgetting.person import UnknownPerson, forget, leave_group
from search_app.server.checkup import _waiting
from search_app.settings import Settings
from search_app.tasks import admitting, releasing
from search_app.tasks.adding import follow_profiles, profiles_of_searches
from search_app.tasks.admitting import TooFew, admit
from search_app.tasks.growth import laid_over, settle_growth
from search_app.workspace import replacing
from search_app.workspace.folder import Workspace
from search_app.workspace.ledger import ledger_path, publishing, read_ledger
from search_app.workspace.profile_choices import ProfilingChoices, fault_of_choices, write_choices
from search_app.workspace.replacing import Replacement

from ..conftest import Run, serve_release

WORDS = tuple(f"word{n:02}" for n in range(14))
SAMPLE = Documents(
    csr_matrix(np.random.default_rng(1).integers(0, 3, (6, len(WORDS))).astype(float)), WORDS
)
METHODS: dict[str, dict[str, Any]] = {
    "p-linkability": {"augment": "none", "k": 3},
    "composition": {"p": 0.4, "steps": 200},
    "pooled": {"p": 0.4, "steps": 200},
    "km-anonymity": {"k": 2, "m": 1},
    "vocabulary-k": {"k": 3, "eps": 2, "taxonomy": "tree.tsv"},
}


def people(first: int, count: int) -> Profiles:
    chance = random.Random(first)  # noqa: S311
    return Profiles.from_rows(
        {f"person-{n}": dict.fromkeys(chance.sample(WORDS, 5), 1.0) for n in range(first, count)}
    )


class Town:
    """A workspace that serves a release of 20 people."""

    def __init__(self, root: Path, method: str):
        self.root, self.workspace, self.method = root, Workspace(root), method
        profiles = people(0, 20)
        inputs = Inputs(profiles, sample=SAMPLE, key=b"k" * 32)
        if method == "vocabulary-k":
            inputs = replace(inputs, taxonomy=taxonomy_of((word, "over") for word in WORDS))
        release = anonymize(method, inputs, METHODS[method])
        serve_release(root, profiles, replace(release, facts=facts(profiles, release)))
        self.release, self.profiles = root / "release", root / "profiles.jsonl"

    def join(self, newcomers: Profiles) -> None:
        """Add profiles of `newcomers`, as `profiles --add` does."""
        known = read_profiles(self.profiles)
        everybody = stacked([known, newcomers])
        with Replacement(self.workspace) as replacement:
            write_profiles(everybody, replacement.place(self.profiles))
            now = fingerprint(everybody)
            follow_profiles(self.workspace, fingerprint(known), now, replacement)
            replacement.carry_out()

    def admit(self, **options: bool) -> admitting.Admission:
        with self.workspace.writing("admit"):
            return admit(self.workspace, Settings(workspace=self.root), **options)

    def state(self) -> dict[str, bytes]:
        paths = (path for path in self.root.rglob("*") if path.is_file())
        there = {path.relative_to(self.root).as_posix(): path for path in paths}
        return {name: path.read_bytes() for name, path in there.items() if name != ".lock"}


@pytest.fixture(params=METHODS)
def town(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    monkeypatch.setattr(releasing, "_forward", lambda _settings: None)
    monkeypatch.setattr(releasing, "sample_documents", lambda *_: SAMPLE)
    return Town(tmp_path / "w", request.param)


def against_all(town: Town) -> Any:
    """Return the largest distance of a group's share of a term from that of all: a naive twin."""
    if town.method not in ("composition", "pooled"):
        return None
    release = read_release(town.release, promise_of)
    sizes = release.grouping.sizes[: release.groups].tolist()
    rows = [release.rows.row(name) for name in release.rows.users[: release.groups]]
    shares = [
        (
            row.get(term, 0.0),
            sum(n * each.get(term, 0.0) for n, each in zip(sizes, rows, strict=True)),
        )
        for term in release.rows.terms
        for row in rows
    ]
    return pytest.approx(max(abs(share - having / sum(sizes)) for share, having in shares))


def test_newcomers_get_rows_of_their_own_and_no_old_row_moves(town: Town, tmp_path: Path) -> None:
    before, first = town.state(), read_release(town.release, promise_of)
    older = Path(shutil.copytree(town.release, tmp_path / "older"))
    coming = people(100, 112)
    town.join(coming)
    waiting = town.state()
    planned = town.admit(dry_run=True)
    assert town.state() == waiting
    done = town.admit()
    drawn = {"rows": 0, "against_all": None}  # each time by a fresh seed
    assert (done.waiting, done.cohort) == (12, 2)
    assert done._replace(**drawn) == planned._replace(**drawn)
    assert done.against_all == against_all(town)
    now = town.state()
    for name in ("release/rows.jsonl", "release/private/members.jsonl"):
        assert now[name] == before[name]
    release = read_release(town.release, promise_of)
    for user in first.users:
        assert release.row_for(user) == first.row_for(user)
    assert {*release.users} - {*first.users} <= {*coming.users}
    assert people_of(town.release) == {*people(0, 20).users, *coming.users}
    assert (len(release.users), len(release.rows)) == (
        len(first.users) + done.admitted,
        len(first.rows) + done.rows,
    )
    for since in (None, older):
        verdict = verify(town.release, town.profiles, since)
        assert verdict.holds, verdict.breaches
    line = read_ledger(town.workspace)[-1]
    assert (line.event, line.users, line.rows) == (
        "admitted",
        len(release.users),
        len(release.rows),
    )
    assert town.admit().waiting == 0
    town.join(people(200, 212))
    assert town.admit().cohort == 3
    assert verify(town.release, town.profiles).holds


def test_too_few_get_no_row(town: Town) -> None:
    town.join(people(100, 101))
    before = town.state()
    least = {"pooled": 6, "composition": 4, "vocabulary-k": 3}.get(town.method, 2)
    more = "1 more waits" if least == 2 else f"{least - 1} more wait"
    line = f"^1 person waits; {town.method} at [pk]=.* needs at least {least}. Run admit again "
    with pytest.raises(TooFew, match=f"{line}when {more}.$"):
        town.admit()
    assert town.state() == before


def test_who_stood_in_a_row_never_waits(town: Town) -> None:
    release = read_release(town.release, promise_of)
    user = next(one for one in release.users if not release.row_for(one).fallback)
    leave_group(town.workspace, {user})
    assert town.admit().waiting == 0
    town.join(people(100, 112))
    assert town.admit().waiting == 12
    release = read_release(town.release, promise_of)
    later = (one for one in release.users if int(one.split("-")[1]) >= 100)
    newcomer = next(one for one in later if not release.row_for(one).fallback)
    leave_group(town.workspace, {newcomer})
    assert town.admit().waiting == 0
    assert verify(town.release, town.profiles).holds


def test_who_stands_in_another_published_row_gets_none(groups: Town) -> None:
    # Somebody who was forgotten, and comes back by a later log.
    back, other = "person-3", "person-100"
    publication = {(b"row row ", back), (b"row row ", "person-4")}
    candidate = Candidate(publication, "ab", False, 2, 1, "p-linkability", {})
    forget(groups.workspace, Settings(workspace=groups.root), {back})
    with publishing(ledger_path(groups.workspace), candidate) as one:
        one.note()
    groups.join(Profiles.from_rows({back: dict.fromkeys(WORDS[:5], 1.0)}))
    done = groups.admit()
    assert (done.waiting, done.admitted, done.published) == (13, 12, 1)
    assert {back, other} & people_of(groups.release) == {other}
    again = groups.admit()
    assert (again.waiting, again.cohort, again.published) == (1, 0, 1)


@pytest.fixture
def groups(tmp_path: Path) -> Town:
    made = Town(tmp_path / "w", "p-linkability")
    made.join(people(100, 112))
    return made


def test_a_cohort_that_the_judge_refuses_is_not_served(
    groups: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoilt(*given: Any, **named: Any) -> Any:
        release = releasing.released(*given, **named)
        rows = release.rows.weights * 0.75
        return replace(release, rows=replace(release.rows, weights=rows))

    monkeypatch.setattr(admitting, "released", spoilt)
    before = groups.state()
    with pytest.raises(
        UsageError, match="the judge refuses the new cohort, so nothing was changed"
    ):
        groups.admit()
    assert groups.state() == before


def test_the_judge_sees_the_cohort_as_it_will_be_served(
    groups: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself a cohort may be numbered from 1, but not beside an earlier one."""
    real = releases.row_names
    monkeypatch.setattr(releases, "row_names", lambda count, taken, **_: real(count, taken))
    before = groups.state()
    with pytest.raises(UsageError, match=r"identity: .*is not named by its number"):
        groups.admit()
    assert groups.state() == before


def test_the_ledger_tells_of_nothing_that_never_happened(
    groups: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_self: object, **_current: str) -> None:
        raise UsageError("no space")

    before, user = groups.state(), people(0, 20).users[0]
    monkeypatch.setattr(Replacement, "carry_out", full)
    for act in (groups.admit, lambda: leave_group(groups.workspace, {user})):
        with pytest.raises(UsageError, match="no space"):
            act()
        assert groups.state() == before


@pytest.mark.parametrize("parameter", ["first_seed", "marketing"])
def test_what_a_release_does_not_name_is_not_repeated(parameter: str) -> None:
    manifest = {"method": "p-linkability", "parameters": {parameter: "given"}, "profiles": {}}
    with pytest.raises(UsageError, match=f"made with a {parameter} that it does not name"):
        admitting._cohort(people(100, 112), manifest, 0, Settings())


REPLACING = ("write_file", "sync_folder", "exchange", "_link", "_drop", "_clear")


def killed_at(step: int, act: Callable[[], object], **counting: Any) -> bool:
    """Call `act` in a process that is killed at a `step` of the replacement; return if it was.

    A step is a call of a function of that module, or of the functions that `counting` names.
    """
    child = os.fork()
    if not child:
        calls = 0
        try:

            def counted(real: Callable[..., Any]) -> Callable[..., Any]:
                def call(*given: Any, **named: Any) -> Any:
                    nonlocal calls
                    calls += 1
                    if calls == step:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return real(*given, **named)

                return call

            for name, place in (counting or dict.fromkeys(REPLACING, replacing)).items():
                setattr(place, name, counted(getattr(place, name)))
            os.rename = counted(os.rename)
            act()
            os._exit(0)
        finally:
            os._exit(3)  # a failed child must not go on as a second run of the tests
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0


def test_killed_at_step_1_2_4_and_on_all_is_old_or_all_is_new(groups: Town, tmp_path: Path) -> None:
    step, waiting = 1, list[int]()
    spare = Path(shutil.copytree(groups.root, tmp_path / "spare"))
    while killed_at(step, groups.admit):
        with groups.workspace.writing("admit"):
            pass  # the next owner of the lock finishes what was begun
        verdict = verify(groups.release, groups.profiles)
        assert verdict.holds, (step, verdict.breaches)
        assert not [*groups.root.glob(".repl*")]
        waiting.append(verdict.checked["waiting"])
        shutil.rmtree(groups.root)
        shutil.copytree(spare, groups.root)
        step *= 2
    assert (waiting[0], waiting[-1]) == (12, 0)
    assert waiting == sorted(waiting, reverse=True)
    assert groups.admit().waiting == 0


@pytest.fixture
def grown(groups: Town) -> Town:
    """Return a town where a member's searches have fed a profile that could be admitted."""
    profiles = read_profiles(groups.profiles)
    write_choices(groups.profiles, fingerprint(profiles), vars(ProfilingChoices()))
    store = PeopleStore(groups.root / "people.sqlite")
    store.choose("person-3", grow=True)
    store.grow("person-3", dict.fromkeys(WORDS[:6], 2))
    store.close()
    return groups


def test_whoever_is_forgotten_while_others_are_admitted_gets_no_second_row(
    grown: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = needles.files_with

    def admitted_meanwhile(root: Path, texts: Set[str]) -> tuple[str, ...]:
        assert grown.admit().waiting == 12  # the lock is free while files are looked through
        return real(root, texts)

    monkeypatch.setattr(needles, "files_with", admitted_meanwhile)
    done = forget(grown.workspace, Settings(workspace=grown.root), {"person-3"})
    assert "people.sqlite" in done.changed
    assert done.left == ()
    assert "person-3" not in people_of(grown.release)


def test_killed_at_any_step_of_forgetting_nobody_gets_a_second_row(
    grown: Town, tmp_path: Path
) -> None:
    def forgotten() -> None:
        forget(grown.workspace, Settings(workspace=grown.root), {"person-3"})

    step, rows, before = 1, list[bool](), read_release(grown.release, promise_of)
    spare = Path(shutil.copytree(grown.root, tmp_path / "spare"))
    while killed_at(step, forgotten):
        assert grown.admit().waiting == 12
        served = read_release(grown.release, promise_of)
        rows.append(served.serves("person-3"))
        assert not rows[-1] or served.row_for("person-3") == before.row_for("person-3")
        with suppress(UnknownPerson):
            forgotten()
        assert not any(b"person-3" in content for content in grown.state().values())
        shutil.rmtree(grown.root)
        shutil.copytree(spare, grown.root)
        step *= 3
    assert (rows[0], rows[-1]) == (True, False)


def test_people_without_a_past_are_admitted_by_what_grew(groups: Town) -> None:
    """What grew moves into the profiles, except of those who paused or searched too little."""
    choices = vars(ProfilingChoices())
    profiles = read_profiles(groups.profiles)
    write_choices(groups.profiles, fingerprint(profiles), choices)
    further = Path(shutil.copytree(groups.release, groups.root / "further"))
    before = (further / "rows.jsonl").read_bytes()
    store = PeopleStore(groups.root / "people.sqlite")
    for user, count in (("new", 6), ("short", 4), ("paused", 6), ("person-3", 6)):
        store.new_code(user)
        store.choose(user, grow=True)
        store.grow(user, dict.fromkeys(WORDS[:count], 2))
    store.choose("paused", paused=True)
    planned = groups.admit(dry_run=True)
    assert (planned.waiting, planned.gathering, planned.needed) == (13, 1, 5)
    assert store.grown("new")
    assert groups.admit().waiting == 13
    now = read_profiles(groups.profiles)
    assert {*now.users} == {*profiles.users, "new"}
    assert now.row("new") == dict.fromkeys(WORDS[:6], 1.0)
    assert read_release(groups.release, promise_of).serves("new")
    assert [len(store.grown(user)) for user in ("new", "short", "paused", "person-3")] == [
        0,
        4,
        6,
        6,
    ]
    store.close()
    for folder in (groups.release, further):
        assert read_input_hash(folder) == fingerprint(now)
        verdict = verify(folder, groups.profiles)
        assert verdict.holds, verdict.breaches
    assert (further / "rows.jsonl").read_bytes() == before
    assert not fault_of_choices(groups.profiles, fingerprint(now))
    assert groups.admit().waiting == 0


def test_who_paused_is_not_admitted_by_a_profile_of_a_log(groups: Town) -> None:
    with closing(PeopleStore(groups.root / "people.sqlite")) as store:
        store.choose("person-103", paused=True)
        assert groups.admit().admitted == 11
        assert not read_release(groups.release, promise_of).serves("person-103")
        store.choose("person-103", paused=False)
        with pytest.raises(TooFew, match="1 person waits"):
            groups.admit()


def test_what_grew_counts_once_whenever_admission_is_killed(groups: Town, tmp_path: Path) -> None:
    """With weights tf, a term that stood in the profile and in the store would count twice."""
    choices = {**vars(ProfilingChoices()), "weights": "tf"}
    write_choices(groups.profiles, fingerprint(read_profiles(groups.profiles)), choices)
    store = PeopleStore(groups.root / "people.sqlite")
    store.choose("new", grow=True)
    store.grow("new", dict.fromkeys(WORDS[:6], 2))
    store.close()
    spare = Path(shutil.copytree(groups.root, tmp_path / "spare"))
    counting = {"_changing": PeopleStore, "_wipe": PeopleStore}
    step, moved = 1, list[bool]()
    while killed_at(step, groups.admit, **counting):
        for _ in range(2):  # as a server sees it, and once the next owner of the lock was there
            now = read_profiles(groups.workspace.find("profiles"))
            past = now.row("new") if "new" in now.users else {}
            over = laid_over(groups.workspace, Settings(), now)("new", past)
            assert over == dict.fromkeys(WORDS[:6], 2.0), step
            with groups.workspace.writing("profiles"):
                settle_growth(groups.workspace, Settings())
        moved.append(bool(past))
        shutil.rmtree(groups.root)
        shutil.copytree(spare, groups.root)
        step += 1
    assert (moved[0], moved[-1], moved) == (False, True, sorted(moved))


def test_from_a_log_to_a_cohort_by_verbs(run: Run, tmp_path: Path) -> None:
    def log(name: str, users: range) -> Path:
        queries = ("kitten coffee", "java guitar", "volcano song", "dog espresso", "mocha cat")
        lines = (f"{user}\t{queries[(user + n) % 5]}\t{n}\n" for user in users for n in range(3))
        path = tmp_path / name
        path.write_text(f"user\tquery\ttime\n{''.join(lines)}")
        return path

    run("profiles", log("first.tsv", range(6)))
    assert "no release in" in run.refused("admit")
    run("anonymize", "--set", "augment=none", "--set", "p=0.9")
    rows = (run.workspace / "release/rows.jsonl").read_bytes()
    assert run("admit") == "Nobody waits.\n"
    looked = Workspace(run.workspace), Settings(workspace=run.workspace)
    assert "\n1 person added, 7 have a profile" in run(
        "profiles", log("one.tsv", range(6, 7)), "--add"
    )
    assert _waiting(*looked) == "1 person waits for a cohort"
    assert run("admit", code=1) == ""
    start = "veilsearch: 1 person waits; p-linkability at p=0.9 needs at least 2. Run admit again"
    assert run.talk.startswith(start)
    run("profiles", log("later.tsv", range(4, 9)), "--add")
    assert "users" in run("measure")
    assert "Some people have no row" in run.talk
    profiles = run.workspace / "profiles.jsonl"
    good = profiles.read_bytes()
    profiles.write_bytes(good.replace(b'"user": "0"', b'"user": "1000"'))
    assert "was made from other profiles than" in run.refused("admit")
    profiles.write_bytes(good)
    assert run("admit", "--dry-run").startswith("3 people wait\n3 would be admitted in 1 row: co")
    made = run.json("admit")
    assert made == {
        "release": str(run.workspace / "release"),
        "published": 0,
        "waiting": 3,
        "admitted": 3,
        "rows": 1,
        "cohort": 2,
        "gathering": 0,
        "needed": 0,
        "against_all": None,
        "dry_run": False,
    }
    assert (run.workspace / "release/rows.jsonl").read_bytes() == rows
    assert "holds" in run("verify")
    assert _waiting(*looked) == "nobody waits for a cohort"
    assert run("admit") == "Nobody waits.\n"


def test_first_profiles_are_only_of_people_who_want_them(tmp_path: Path) -> None:
    with closing(PeopleStore(tmp_path / "people.sqlite")) as store:
        for user in ("anna", "paused", "stopped", "forgotten"):
            store.choose(user, grow=True)
            store.grow(user, dict.fromkeys(WORDS[:5], 1))
        store.choose("paused", paused=True)
        store.choose("stopped", grow=False)
        store.forget("forgotten")
    workspace = Workspace(tmp_path)
    with workspace.writing("profiles"):
        assert profiles_of_searches(Settings(workspace=tmp_path))["added"] == 1
    assert read_profiles(tmp_path / "profiles.jsonl").users == ("anna",)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".sqlite"]
    assert not [path for path in files if b"paused" in path.read_bytes()]
